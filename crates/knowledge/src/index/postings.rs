//! Postings lists: the chunks that contain a term with its frequencies, in a compact encoding.
//!
//! A list begins with the number of chunks. Short lists continue in bytes: each chunk is stored as the difference from
//! the previous one, doubled, plus one if the term occurs more than once, in which case the frequency follows. Long
//! lists use Golomb-Rice coding: of each difference, as many low bits are stored as the typical difference has, and the
//! rest in unary.

/// Minimum number of chunks of a list that is stored in bits.
const LONG: u32 = 3;
/// A number whose unary part is at least this large is stored in 32 bits instead.
const MAX_ONES: u32 = 24;

/// Encodes a list.
#[derive(Debug, Default)]
pub(super) struct PostingsWriter {
    bytes: Vec<u8>,
    pub(super) count: u32,
    next: u32,
}

impl PostingsWriter {
    /// Adds a chunk, in ascending order.
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
        if self.count < LONG {
            bytes.extend_from_slice(&self.bytes);
            return;
        }
        let low = low_bits(self.next, self.count);
        bytes.push(u8::try_from(low).unwrap_or(0));
        let mut bits = BitWriter {
            bytes,
            buffer: 0,
            filled: 0,
        };
        let mut next = 0;
        each_in_bytes(&self.bytes, self.count, |chunk, times| {
            bits.number(chunk - next, low);
            bits.number(times.saturating_sub(1), 0);
            next = chunk + 1;
        });
        bits.finish();
    }
}

/// The number of low bits that keeps differences short if `count` chunks out of `chunks` have the term.
fn low_bits(chunks: u32, count: u32) -> u32 {
    // Differences are distributed roughly at random, for which this is close to optimal.
    let usual = u64::from(chunks) * 7 / (u64::from(count) * 10);
    usual.checked_ilog2().unwrap_or(0).min(31)
}

struct BitWriter<'a> {
    bytes: &'a mut Vec<u8>,
    buffer: u64,
    filled: u32,
}

impl BitWriter<'_> {
    /// Writes at most 32 bits, lowest first.
    fn bits(&mut self, value: u64, count: u32) {
        self.buffer |= value << self.filled;
        self.filled += count;
        while self.filled >= 8 {
            self.bytes.push((self.buffer & 0xff) as u8);
            self.buffer >>= 8;
            self.filled -= 8;
        }
    }

    fn number(&mut self, number: u32, low: u32) {
        let ones = number >> low;
        if ones >= MAX_ONES {
            self.bits((1 << MAX_ONES) - 1, MAX_ONES);
            self.bits(number.into(), 32);
            return;
        }
        self.bits((1 << ones) - 1, ones + 1);
        self.bits(u64::from(number) & ((1 << low) - 1), low);
    }

    fn finish(self) {
        if self.filled > 0 {
            self.bytes.push((self.buffer & 0xff) as u8);
        }
    }
}

struct BitReader<'a> {
    bytes: &'a [u8],
    buffer: u64,
    filled: u32,
}

impl BitReader<'_> {
    /// Ensures that more than 56 bits are available; past the end they are zeros.
    #[inline]
    fn fill(&mut self) {
        if let Some((word, _)) = self.bytes.split_first_chunk::<8>() {
            self.buffer |= u64::from_le_bytes(*word) << self.filled;
            let taken = (63 - self.filled) / 8;
            self.bytes = self.bytes.get(taken as usize..).unwrap_or_default();
            self.filled += taken * 8;
            return;
        }
        while self.filled <= 56 {
            let byte = self.bytes.split_first().map_or(0, |(byte, rest)| {
                self.bytes = rest;
                *byte
            });
            self.buffer |= u64::from(byte) << self.filled;
            self.filled += 8;
        }
    }

    #[inline]
    fn skip(&mut self, count: u32) {
        self.buffer >>= count;
        self.filled -= count;
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "only 32 bits are kept")]
    fn number(&mut self, low: u32) -> u32 {
        self.fill();
        let ones = self.buffer.trailing_ones();
        if ones >= MAX_ONES {
            self.skip(MAX_ONES);
            let number = self.buffer as u32;
            self.skip(32);
            return number;
        }
        self.skip(ones + 1);
        let number = ones << low | (self.buffer & ((1 << low) - 1)) as u32;
        self.skip(low);
        number
    }
}

/// Decodes a list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Postings<'a> {
    bytes: &'a [u8],
    /// Number of chunks with the term.
    pub(crate) count: u32,
}

impl<'a> Postings<'a> {
    /// Starts at the beginning of a list.
    pub(super) fn new(mut bytes: &'a [u8]) -> Self {
        let count = u32::try_from(take(&mut bytes)).unwrap_or(u32::MAX);
        Self { bytes, count }
    }

    /// Calls `each` with each chunk and the term's frequency in it.
    pub(crate) fn each(self, mut each: impl FnMut(u32, u32)) {
        if self.count < LONG {
            return each_in_bytes(self.bytes, self.count, each);
        }
        let Some((low, bytes)) = self.bytes.split_first() else {
            return;
        };
        let low = u32::from(*low).min(31);
        let mut bits = BitReader {
            bytes,
            buffer: 0,
            filled: 0,
        };
        let mut next = 0_u32;
        for _ in 0..self.count {
            let chunk = next + bits.number(low);
            let times = bits.number(0) + 1;
            each(chunk, times);
            next = chunk + 1;
        }
    }
}

fn each_in_bytes(mut bytes: &[u8], count: u32, mut each: impl FnMut(u32, u32)) {
    let mut next = 0_u32;
    for _ in 0..count {
        let head = take(&mut bytes);
        #[expect(
            clippy::cast_possible_truncation,
            reason = "only what fitted was written"
        )]
        let chunk = next + (head >> 1) as u32;
        #[expect(
            clippy::cast_possible_truncation,
            reason = "only what fitted was written"
        )]
        let times = if head & 1 == 1 {
            take(&mut bytes) as u32
        } else {
            1
        };
        each(chunk, times);
        next = chunk + 1;
    }
}

/// Variable-length encoding: seven bits per byte, lowest first; the eighth is set if more follow.
pub(super) fn put(bytes: &mut Vec<u8>, mut number: u64) {
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
pub(super) fn take(bytes: &mut &[u8]) -> u64 {
    let mut number = 0;
    let mut shift = 0;
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

    /// Mostly short differences, and some that are stored in 32 bits.
    fn steps() -> impl Strategy<Value = u32> {
        prop_oneof![8 => 0_u32..20, 3 => 0_u32..3000, 1 => 0_u32..10_000_000]
    }

    proptest! {
        #[test]
        fn what_is_written_is_read(steps in prop::collection::vec((steps(), 1_u32..300), 0..200)) {
            let mut writer = PostingsWriter::default();
            let mut chunk = 0;
            let written: Vec<(u32, u32)> = steps.iter().map(|(step, times)| {
                chunk += step + 1;
                (chunk - 1, *times)
            }).collect();
            written.iter().for_each(|(chunk, times)| writer.add(*chunk, *times));
            let mut bytes = Vec::new();
            writer.write_to(&mut bytes);
            // Other data follows.
            bytes.extend_from_slice(&[0xff; 3]);
            let mut read = Vec::new();
            Postings::new(&bytes).each(|chunk, times| read.push((chunk, times)));
            prop_assert_eq!(read, written);
        }
    }
}
