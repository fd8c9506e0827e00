//! A CBOR reader (RFC 8949) for the canonical form of authenticators: definite lengths in their shortest form, no tags,
//! no floats. Any other encoding is rejected.

/// The maximum nesting of arrays and maps; authenticators need four levels.
const DEEPEST: u8 = 8;

/// The data is not what is expected.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Malformed;

/// The bytes that have not been read yet.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a>(&'a [u8]);

/// The head of an item: its major type and argument, which is a value or a length.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Head {
    kind: u8,
    number: u64,
}

/// A value in the map of a key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Value<'a> {
    Integer(i64),
    Bytes(&'a [u8]),
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }

    /// The remaining bytes.
    pub(super) fn rest(&self) -> &'a [u8] {
        self.0
    }

    /// The next `count` bytes, uninterpreted.
    pub(super) fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    /// Fails unless everything has been read.
    pub(super) fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() {
            Ok(())
        } else {
            Err(Malformed)
        }
    }

    fn head(&mut self) -> Result<Head, Malformed> {
        let &[first] = self.take(1)? else {
            return Err(Malformed);
        };
        let kind = first >> 5;
        let short = first & 31;
        let width = match short {
            0..24 => {
                return Ok(Head {
                    kind,
                    number: short.into(),
                });
            }
            24..28 => 1_usize << (short - 24),
            _ => return Err(Malformed),
        };
        let number = self
            .take(width)?
            .iter()
            .fold(0, |number, &byte| number << 8 | u64::from(byte));
        let is_minimal = match width {
            1 => number >= 24,
            _ => number >> (width * 4) != 0,
        };
        if is_minimal {
            Ok(Head { kind, number })
        } else {
            Err(Malformed)
        }
    }

    fn length(number: u64) -> Result<usize, Malformed> {
        usize::try_from(number).map_err(|_| Malformed)
    }

    /// The number of pairs in the map that begins here.
    pub(super) fn map(&mut self) -> Result<u64, Malformed> {
        match self.head()? {
            Head { kind: 5, number } => Ok(number),
            _ => Err(Malformed),
        }
    }

    pub(super) fn integer(&mut self) -> Result<i64, Malformed> {
        match self.value()? {
            Value::Integer(number) => Ok(number),
            Value::Bytes(_) => Err(Malformed),
        }
    }

    pub(super) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        match self.value()? {
            Value::Bytes(bytes) => Ok(bytes),
            Value::Integer(_) => Err(Malformed),
        }
    }

    /// An integer or a byte string.
    pub(super) fn value(&mut self) -> Result<Value<'a>, Malformed> {
        let Head { kind, number } = self.head()?;
        let small = || i64::try_from(number).map_err(|_| Malformed);
        match kind {
            0 => Ok(Value::Integer(small()?)),
            1 => Ok(Value::Integer(-1 - small()?)),
            2 => Ok(Value::Bytes(self.take(Self::length(number)?)?)),
            _ => Err(Malformed),
        }
    }

    pub(super) fn text(&mut self) -> Result<&'a str, Malformed> {
        match self.head()? {
            Head { kind: 3, number } => {
                std::str::from_utf8(self.take(Self::length(number)?)?).map_err(|_| Malformed)
            }
            _ => Err(Malformed),
        }
    }

    /// Skips one item of any type.
    pub(super) fn skip(&mut self) -> Result<(), Malformed> {
        self.skip_at(0)
    }

    fn skip_at(&mut self, depth: u8) -> Result<(), Malformed> {
        if depth > DEEPEST {
            return Err(Malformed);
        }
        let before = self.clone();
        let Head { kind, number } = self.head()?;
        match kind {
            0 | 1 => Ok(()),
            2 => self.take(Self::length(number)?).map(drop),
            3 => {
                *self = before;
                self.text().map(drop)
            }
            // Each item takes at least a byte, so a huge count soon fails at the end of the data.
            4 => (0..number).try_for_each(|_| self.skip_at(depth + 1)),
            5 => (0..number).try_for_each(|_| {
                self.skip_at(depth + 1)?;
                self.skip_at(depth + 1)
            }),
            7 if matches!(number, 20..=22) => Ok(()),
            _ => Err(Malformed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_one_form() {
        for (bytes, expected) in [
            (&[0x00][..], Some(0)),
            (&[0x17], Some(23)),
            (&[0x18, 24], Some(24)),
            (&[0x18, 23], None),
            (&[0x19, 1, 0], Some(256)),
            (&[0x19, 0, 255], None),
            (&[0x1a, 0, 1, 0, 0], Some(65_536)),
            (&[0x1a, 0, 0, 255, 255], None),
            (&[0x1b, 0, 0, 0, 1, 0, 0, 0, 0], Some(1 << 32)),
            (&[0x1b, 0, 0, 0, 0, 255, 255, 255, 255], None),
            (&[0x1b, 255, 255, 255, 255, 255, 255, 255, 255], None),
            (&[0x26], Some(-7)),
            (&[0x39, 1, 0], Some(-257)),
            (
                &[0x3b, 127, 255, 255, 255, 255, 255, 255, 255],
                Some(i64::MIN),
            ),
            (&[0x3b, 128, 0, 0, 0, 0, 0, 0, 0], None),
            (&[0x1c], None),
            (&[0x1f], None),
            (&[], None),
            (&[0x19, 1], None),
        ] {
            assert_eq!(Reader::new(bytes).integer().ok(), expected, "{bytes:?}");
        }
    }

    #[test]
    fn what_is_passed_over_is_whole() {
        for (bytes, left) in [
            (
                &[0xa2, 0x01, 0x42, 1, 2, 0x61, b'a', 0x81, 0xf6, 7][..],
                Some(1),
            ),
            (&[0xf5, 1], Some(1)),
            (&[0x80], Some(0)),
            // Truncated, longer than the data, and of indefinite length.
            (&[0xa2, 0x01, 0x42, 1], None),
            (&[0x5b, 127, 255, 255, 255, 255, 255, 255, 255, 0], None),
            (&[0x9b, 127, 255, 255, 255, 255, 255, 255, 255, 0, 0], None),
            (&[0xbb, 127, 255, 255, 255, 255, 255, 255, 255, 0, 0], None),
            (&[0x9f, 0x01, 0xff], None),
            (&[0x5f, 0x41, 1, 0xff], None),
            // Invalid UTF-8, a tag, a float, undefined, and a break.
            (&[0x62, 0xc3, 0x28], None),
            (&[0xc0, 0x01], None),
            (&[0xfa, 0, 0, 0, 0], None),
            (&[0xf7], None),
            (&[0xff], None),
        ] {
            let mut reader = Reader::new(bytes);
            let passed = reader.skip().ok().map(|()| reader.rest().len());
            assert_eq!(passed, left, "{bytes:?}");
        }
        let nested = |depth: usize| [vec![0x81; depth], vec![0x00]].concat();
        assert_eq!(Reader::new(&nested(8)).skip(), Ok(()));
        assert_eq!(Reader::new(&nested(9)).skip(), Err(Malformed));
        assert_eq!(Reader::new(&nested(1_000_000)).skip(), Err(Malformed));
    }

    #[test]
    fn nothing_makes_it_stumble() {
        for beginning in 0..=u16::MAX {
            let [first, second] = beginning.to_be_bytes();
            for rest in [&[][..], &[0; 20], &[0x81; 20], &[0xbb; 20], &[0xff; 20]] {
                let bytes = [&[first, second], rest].concat();
                let mut reader = Reader::new(&bytes);
                while reader.skip().is_ok() {}
                assert!(reader.rest().len() <= bytes.len());
            }
        }
    }
}
