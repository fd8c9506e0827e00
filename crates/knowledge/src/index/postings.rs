//! Lists of the chunks that have a term and how often, as bytes.
//!
//! A list begins with how many chunks it has. Each chunk is the step from the one before, doubled, and one more where the
//! term stands in it more than once; then the number of times follows. Most take one byte.

/// Writes a list.
#[derive(Debug, Default)]
pub(super) struct PostingsWriter {
    bytes: Vec<u8>,
    pub(super) count: u32,
    next: u32,
}

impl PostingsWriter {
    /// Adds a chunk. They come in ascending order.
    pub(super) fn add(&mut self, chunk: u32, times: u32) {
        let step = u64::from(chunk.saturating_sub(self.next));
        put(&mut self.bytes, step << 1 | u64::from(times > 1));
        if times > 1 {
            put(&mut self.bytes, times.into());
        }
        self.next = chunk + 1;
        self.count += 1;
    }

    /// Appends the whole list.
    pub(super) fn write_to(&self, bytes: &mut Vec<u8>) {
        put(bytes, self.count.into());
        bytes.extend_from_slice(&self.bytes);
    }
}

/// Reads a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    /// How many chunks have the term.
    pub(crate) count: u32,
}

impl<'a> Postings<'a> {
    /// At the beginning of a list.
    pub(super) fn new(mut bytes: &'a [u8]) -> Self {
        let count = u32::try_from(take(&mut bytes)).unwrap_or(u32::MAX);
        Self { bytes, count }
    }

    /// Each chunk with how often it has the term.
    pub(crate) fn each(self, mut each: impl FnMut(u32, u32)) {
        let mut bytes = self.bytes;
        let mut next = 0_u32;
        for _ in 0..self.count {
            let head = take(&mut bytes);
            #[expect(clippy::cast_possible_truncation, reason = "only what fitted was written")]
            let chunk = next + (head >> 1) as u32;
            #[expect(clippy::cast_possible_truncation, reason = "only what fitted was written")]
            let times = if head & 1 == 1 { take(&mut bytes) as u32 } else { 1 };
            each(chunk, times);
            next = chunk + 1;
        }
    }
}

/// Seven bits in a byte, the lowest first; the eighth says that more follow.
fn put(bytes: &mut Vec<u8>, mut number: u64) {
    loop {
        let low = (number & 0x7f) as u8;
        number >>= 7;
        if number == 0 {
            bytes.push(low);
            return;
        }
        bytes.push(low | 0x80);
    }
}

#[inline]
fn take(bytes: &mut &[u8]) -> u64 {
    let (mut number, mut shift) = (0, 0);
    while let Some((byte, rest)) = bytes.split_first() {
        *bytes = rest;
        number |= u64::from(byte & 0x7f) << shift;
        shift += 7;
        if byte & 0x80 == 0 || shift > 56 {
            break;
        }
    }
    number
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn what_is_written_is_read(steps in prop::collection::vec((0_u32..100_000, 1_u32..300), 0..200)) {
            let mut writer = PostingsWriter::default();
            let mut chunk = 0;
            let written: Vec<(u32, u32)> = steps.iter().map(|(step, times)| {
                chunk += step + 1;
                (chunk - 1, *times)
            }).collect();
            written.iter().for_each(|(chunk, times)| writer.add(*chunk, *times));
            let mut bytes = Vec::new();
            writer.write_to(&mut bytes);
            let mut read = Vec::new();
            Postings::new(&bytes).each(|chunk, times| read.push((chunk, times)));
            prop_assert_eq!(read, written);
        }
    }
}
