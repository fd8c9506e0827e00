//! The records of an Excel workbook before 2007 (BIFF), and the strings in them, which may go on in further records.

use std::slice;

use encoding_rs::{Encoding, WINDOWS_1252};

use super::bytes::Bytes;

/// The type of a record that continues the one before it.
const CONTINUE: u16 = 0x003c;
/// Flags of a string: two bytes for each character, phonetic data behind it, and formats behind it.
const WIDE: u8 = 1;
const PHONETIC: u8 = 1 << 2;
const RICH: u8 = 1 << 3;

/// A record.
#[derive(Debug, Clone, Copy)]
pub(super) struct Record<'a> {
    pub(super) kind: u16,
    pub(super) data: &'a [u8],
}

/// The records from a place in the stream on, up to its end or to where it is damaged.
#[derive(Debug, Clone)]
pub(super) struct Records<'a> {
    rest: Bytes<'a>,
}

impl<'a> Records<'a> {
    pub(super) fn from(stream: &'a [u8], start: usize) -> Self {
        Self {
            rest: Bytes(stream.get(start..).unwrap_or_default()),
        }
    }

    /// The data of the records that continue the last one.
    pub(super) fn continued(&mut self) -> Vec<&'a [u8]> {
        let mut all = Vec::new();
        loop {
            let before = self.rest;
            match self.next() {
                Some(record) if record.kind == CONTINUE => all.push(record.data),
                _ => {
                    self.rest = before;
                    return all;
                }
            }
        }
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Record<'a>;

    fn next(&mut self) -> Option<Self::Item> {
        let kind = self.rest.u16()?;
        let size = self.rest.u16()?;
        let data = self.rest.take(usize::from(size))?;
        Some(Record { kind, data })
    }
}

/// How texts are encoded in a workbook.
#[derive(Debug, Clone, Copy)]
pub(super) enum Texts {
    /// Since Excel 97: each text says whether it is Latin-1 or UTF-16.
    Unicode,
    /// In Excel 5 and 95: in the code page of the workbook.
    CodePage(&'static Encoding),
}

impl Texts {
    /// A text whose length is in front of it, in one byte or in two.
    pub(super) fn read(self, bytes: &mut Bytes<'_>, has_long_length: bool) -> Option<String> {
        let length = if has_long_length {
            usize::from(bytes.u16()?)
        } else {
            usize::from(bytes.u8()?)
        };
        match self {
            Self::Unicode => {
                let flags = bytes.u8()?;
                let mut text = Vec::new();
                push_chars(bytes, length, flags, &mut text);
                Some(String::from_utf16_lossy(&text))
            }
            Self::CodePage(encoding) => {
                let bytes = bytes.take(length.min(bytes.0.len()))?;
                Some(encoding.decode_without_bom_handling(bytes).0.into_owned())
            }
        }
    }
}

/// Reads up to this many characters, and gives the number of those that are not there.
fn push_chars(bytes: &mut Bytes<'_>, count: usize, flags: u8, text: &mut Vec<u16>) -> usize {
    let width = if flags & WIDE == 0 { 1 } else { 2 };
    let there = count.min(bytes.0.len() / width);
    let chars = bytes.take(there * width).unwrap_or_default();
    if width == 2 {
        let (pairs, _) = chars.as_chunks::<2>();
        text.extend(pairs.iter().map(|pair| u16::from_le_bytes(*pair)));
    } else {
        text.extend(chars.iter().map(|byte| u16::from(*byte)));
    }
    count - there
}

/// The text of records that contain nothing else: in each, flags and characters.
pub(super) fn continued_text(parts: &[&[u8]], length: usize) -> String {
    let mut text = Vec::new();
    let mut left = length;
    for part in parts {
        let mut part = Bytes(part);
        let Some(flags) = part.u8().filter(|_| left > 0) else {
            break;
        };
        left = push_chars(&mut part, left, flags, &mut text);
    }
    String::from_utf16_lossy(&text)
}

/// Reads the table of the texts that cells share, from its record and those that continue it.
pub(super) fn shared_texts(first: &[u8], continued: &[&[u8]], limit_bytes: u64) -> Vec<String> {
    let mut parts = Parts {
        part: Bytes(first.get(8..).unwrap_or_default()),
        next: continued.iter(),
    };
    let mut texts = Vec::new();
    let mut left_bytes = limit_bytes;
    while let Some(text) = parts.text() {
        // An empty text takes memory, too.
        match left_bytes.checked_sub(text.len() as u64 + 1) {
            Some(left) => left_bytes = left,
            None => break,
        }
        texts.push(text);
    }
    texts
}

/// Data that is spread over several records.
struct Parts<'a> {
    part: Bytes<'a>,
    next: slice::Iter<'a, &'a [u8]>,
}

impl<'a> Parts<'a> {
    /// Goes on to the next record if this one is at its end.
    fn refill(&mut self) -> Option<()> {
        while self.part.0.is_empty() {
            self.part = Bytes(self.next.next()?);
        }
        Some(())
    }

    fn text(&mut self) -> Option<String> {
        self.refill()?;
        let length = usize::from(self.part.u16()?);
        let mut flags = self.part.u8()?;
        let formats = if flags & RICH == 0 {
            0
        } else {
            usize::from(self.part.u16()?) * 4
        };
        let phonetic = if flags & PHONETIC == 0 {
            0
        } else {
            self.part.u32()? as usize
        };
        let mut text = Vec::new();
        let mut left = push_chars(&mut self.part, length, flags, &mut text);
        while left > 0 {
            // The characters go on in the next record, perhaps with another width.
            self.part = Bytes(self.next.next()?);
            flags = self.part.u8()?;
            left = push_chars(&mut self.part, left, flags, &mut text);
        }
        self.skip(formats + phonetic);
        Some(String::from_utf16_lossy(&text))
    }

    fn skip(&mut self, mut count: usize) {
        while count > 0 && self.refill().is_some() {
            let here = count.min(self.part.0.len());
            self.part.take(here);
            count -= here;
        }
    }
}

/// The encoding of a workbook of Excel 5 or 95. These have their own number for the one of Windows.
pub(super) fn code_page(number: u16) -> &'static Encoding {
    let number = match number {
        0x8000 => 10_000,
        0x8001 => 1252,
        number => number,
    };
    crate::read::charset::of_code_page(number).unwrap_or(WINDOWS_1252)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_are_read_up_to_damage() {
        let stream = [1, 0, 2, 0, 7, 8, 0x3c, 0, 1, 0, 9, 5, 0, 255, 0, 1];
        let mut records = Records::from(&stream, 0);
        let first = records.next().unwrap();
        assert_eq!((first.kind, first.data), (1, &[7, 8][..]));
        assert_eq!(records.continued(), [&[9][..]]);
        assert!(records.next().is_none());
        assert!(Records::from(&stream, 100).next().is_none());
    }

    #[test]
    fn shared_texts_go_on_in_further_records() {
        // Two texts: one in Latin-1 that goes on in UTF-16, and one with formats behind it.
        let first = [
            [2, 0, 0, 0, 2, 0, 0, 0].as_slice(),
            &[5, 0, 0, b'c', b'a', b'f'],
        ]
        .concat();
        let second = [1, 0xe9, 0, 0x16, 0x04, 2, 0, RICH, 1, 0, b'o', b'k', 0];
        let third = [0, 0, 0];
        assert_eq!(
            shared_texts(&first, &[&second, &third], 1000),
            ["caf\u{e9}\u{416}", "ok"]
        );
        assert_eq!(
            shared_texts(&first, &[], 1000),
            [""; 0],
            "a text without its end"
        );
        assert_eq!(shared_texts(&first, &[&second], 7).len(), 0);
    }

    #[test]
    fn texts_are_in_unicode_or_in_a_code_page() {
        let read = |texts: Texts, bytes: &[u8]| texts.read(&mut Bytes(bytes), true);
        assert_eq!(
            read(Texts::Unicode, &[2, 0, 1, 0x16, 4, 0x17, 4]).as_deref(),
            Some("ЖЗ")
        );
        assert_eq!(
            read(Texts::CodePage(code_page(1251)), &[2, 0, 0xc6, 0xc7]).as_deref(),
            Some("ЖЗ")
        );
        assert_eq!(read(Texts::Unicode, &[2]), None);
    }
}
