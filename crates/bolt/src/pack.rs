//! PackStream, Bolt's value encoding: a marker byte specifies the type and size of what follows.

/// A value in a query or in an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Null.
    Null,
    /// A boolean.
    Bool(bool),
    /// An integer.
    Int(i64),
    /// A floating-point number.
    Float(f64),
    /// Text.
    Text(String),
    /// A list of values.
    List(Vec<Self>),
    /// Values by name.
    Map(Vec<(String, Self)>),
    /// Types that are not needed here: nodes, dates, bytes.
    Other,
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

impl From<String> for Value {
    fn from(text: String) -> Self {
        Self::Text(text)
    }
}

impl From<u64> for Value {
    fn from(number: u64) -> Self {
        Self::Int(i64::try_from(number).unwrap_or(i64::MAX))
    }
}

impl<T: Into<Self>> From<Vec<T>> for Value {
    fn from(list: Vec<T>) -> Self {
        Self::List(list.into_iter().map(Into::into).collect())
    }
}

impl Value {
    /// A map from these entries.
    pub fn map<const N: usize>(entries: [(&str, Self); N]) -> Self {
        Self::Map(
            entries
                .into_iter()
                .map(|(name, value)| (name.to_owned(), value))
                .collect(),
        )
    }

    /// The text, if it is one.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        if let Self::Text(text) = self {
            Some(text)
        } else {
            None
        }
    }

    /// The number, if it is a non-negative integer.
    #[must_use]
    pub fn as_number(&self) -> Option<u64> {
        if let Self::Int(number) = self {
            u64::try_from(*number).ok()
        } else {
            None
        }
    }

    /// The value of a map's key.
    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        let Self::Map(entries) = self else {
            return None;
        };
        entries
            .iter()
            .find(|(known, _)| known == name)
            .map(|(_, value)| value)
    }
}

/// Maximum nesting depth of values; no legitimate answer is deeper.
const MAX_DEEP: u32 = 32;

/// The bytes are not a valid value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NotPacked;

/// Appends a value.
pub(crate) fn pack(value: &Value, to: &mut Vec<u8>) {
    match value {
        Value::Null | Value::Other => to.push(0xC0),
        Value::Bool(is) => to.push(if *is { 0xC3 } else { 0xC2 }),
        Value::Int(number) => {
            to.push(0xCB);
            to.extend(number.to_be_bytes());
        }
        Value::Float(number) => {
            to.push(0xC1);
            to.extend(number.to_be_bytes());
        }
        Value::Text(text) => pack_text(text, to),
        Value::List(list) => {
            pack_size(list.len(), [0x90, 0xD4, 0xD5, 0xD6], to);
            list.iter().for_each(|value| pack(value, to));
        }
        Value::Map(entries) => {
            pack_size(entries.len(), [0xA0, 0xD8, 0xD9, 0xDA], to);
            for (name, value) in entries {
                pack_text(name, to);
                pack(value, to);
            }
        }
    }
}

fn pack_text(text: &str, to: &mut Vec<u8>) {
    pack_size(text.len(), [0x80, 0xD0, 0xD1, 0xD2], to);
    to.extend_from_slice(text.as_bytes());
}

/// A size of up to 15 is part of the marker; otherwise it follows the marker in one, two or four bytes.
fn pack_size(size: usize, [tiny, one, two, four]: [u8; 4], to: &mut Vec<u8>) {
    // Sizes beyond four bytes would not fit into memory twice.
    let size = u32::try_from(size).unwrap_or(u32::MAX);
    match size {
        0..16 => to.push(tiny | size.to_be_bytes()[3]),
        16..0x100 => to.extend([one, size.to_be_bytes()[3]]),
        0x100..0x1_0000 => {
            to.push(two);
            to.extend_from_slice(&size.to_be_bytes()[2..]);
        }
        _ => {
            to.push(four);
            to.extend(size.to_be_bytes());
        }
    }
}

/// Decodes a message: its tag and its fields.
pub(crate) fn unpack_message(mut bytes: &[u8]) -> Result<(u8, Vec<Value>), NotPacked> {
    let [marker, kind] = take::<2>(&mut bytes)?;
    if marker & 0xF0 != 0xB0 {
        return Err(NotPacked);
    }
    let values: Result<Vec<Value>, NotPacked> =
        (0..marker & 0x0F).map(|_| unpack(&mut bytes, 0)).collect();
    Ok((kind, values?))
}

fn unpack(from: &mut &[u8], deep: u32) -> Result<Value, NotPacked> {
    if deep > MAX_DEEP {
        return Err(NotPacked);
    }
    let [marker] = take::<1>(from)?;
    let tiny = usize::from(marker & 0x0F);
    Ok(match marker {
        0xC0 => Value::Null,
        0xC2 => Value::Bool(false),
        0xC3 => Value::Bool(true),
        0x00..0x80 | 0xF0..=0xFF => Value::Int(i64::from(marker.cast_signed())),
        0xC8 => Value::Int(i64::from(i8::from_be_bytes(take(from)?))),
        0xC9 => Value::Int(i64::from(i16::from_be_bytes(take(from)?))),
        0xCA => Value::Int(i64::from(i32::from_be_bytes(take(from)?))),
        0xCB => Value::Int(i64::from_be_bytes(take(from)?)),
        0xC1 => Value::Float(f64::from_be_bytes(take(from)?)),
        0x80..0x90 => text(from, tiny)?,
        0xD0..=0xD2 => {
            let size = size(from, marker - 0xD0)?;
            text(from, size)?
        }
        0xCC..=0xCE => {
            let size = size(from, marker - 0xCC)?;
            bytes(from, size)?;
            Value::Other
        }
        0x90..0xA0 => list(from, tiny, deep)?,
        0xD4..=0xD6 => {
            let size = size(from, marker - 0xD4)?;
            list(from, size, deep)?
        }
        0xA0..0xB0 => map(from, tiny, deep)?,
        0xD8..=0xDA => {
            let size = size(from, marker - 0xD8)?;
            map(from, size, deep)?
        }
        0xB0..0xC0 => {
            take::<1>(from)?;
            list(from, tiny, deep)?;
            Value::Other
        }
        _ => return Err(NotPacked),
    })
}

fn take<const N: usize>(from: &mut &[u8]) -> Result<[u8; N], NotPacked> {
    let (first, rest) = from.split_first_chunk::<N>().ok_or(NotPacked)?;
    *from = rest;
    Ok(*first)
}

fn bytes<'a>(from: &mut &'a [u8], size: usize) -> Result<&'a [u8], NotPacked> {
    let (first, rest) = from.split_at_checked(size).ok_or(NotPacked)?;
    *from = rest;
    Ok(first)
}

/// A size of one, two or four bytes.
fn size(from: &mut &[u8], doublings: u8) -> Result<usize, NotPacked> {
    let size = match doublings {
        0 => u32::from(u8::from_be_bytes(take(from)?)),
        1 => u32::from(u16::from_be_bytes(take(from)?)),
        _ => u32::from_be_bytes(take(from)?),
    };
    usize::try_from(size).map_err(|_| NotPacked)
}

fn text(from: &mut &[u8], size: usize) -> Result<Value, NotPacked> {
    let text = std::str::from_utf8(bytes(from, size)?).map_err(|_| NotPacked)?;
    Ok(Value::from(text))
}

/// Each value takes at least one byte, so memory is not reserved based on the size alone.
fn list(from: &mut &[u8], size: usize, deep: u32) -> Result<Value, NotPacked> {
    if size > from.len() {
        return Err(NotPacked);
    }
    let values: Result<Vec<Value>, NotPacked> = (0..size).map(|_| unpack(from, deep + 1)).collect();
    Ok(Value::List(values?))
}

fn map(from: &mut &[u8], size: usize, deep: u32) -> Result<Value, NotPacked> {
    if size > from.len() {
        return Err(NotPacked);
    }
    let mut entries = Vec::new();
    for _ in 0..size {
        let Value::Text(name) = unpack(from, deep + 1)? else {
            return Err(NotPacked);
        };
        entries.push((name, unpack(from, deep + 1)?));
    }
    Ok(Value::Map(entries))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::Bool),
            any::<i64>().prop_map(Value::Int),
            (-1e9..1e9).prop_map(Value::Float),
            ".{0,300}".prop_map(Value::Text),
        ];
        leaf.prop_recursive(4, 64, 20, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..20).prop_map(Value::List),
                prop::collection::vec((".{0,9}", inner), 0..20).prop_map(Value::Map),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_packed_is_unpacked(value in values()) {
            let mut packed = Vec::new();
            pack(&value, &mut packed);
            let mut rest = packed.as_slice();
            prop_assert_eq!(unpack(&mut rest, 0), Ok(value));
            prop_assert!(rest.is_empty());
        }

        #[test]
        fn whatever_comes_is_refused_or_read(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
            let _ = unpack_message(&bytes);
        }
    }

    #[test]
    fn what_others_pack_is_read() {
        let check = |bytes: &[u8], expected| assert_eq!(unpack(&mut &*bytes, 0), expected);
        check(&[0x2A], Ok(Value::Int(42)));
        check(&[0xF0], Ok(Value::Int(-16)));
        check(&[0xC8, 0x80], Ok(Value::Int(-128)));
        check(&[0xC9, 0x04, 0xD2], Ok(Value::Int(1234)));
        check(&[0xCA, 0xFF, 0xFF, 0xFF, 0xFE], Ok(Value::Int(-2)));
        // A node is skipped completely.
        check(
            &[0x92, 0xB3, 0x4E, 0x01, 0x91, 0x81, b'A', 0xA0, 0x07],
            Ok(Value::List(vec![Value::Other, Value::Int(7)])),
        );
        check(
            &[0x92, 0xCC, 0x02, 0xFF, 0xFF, 0xC3],
            Ok(Value::List(vec![Value::Other, Value::Bool(true)])),
        );
        for bad in [
            &[][..],
            &[0xD6, 0xFF, 0xFF, 0xFF, 0xFF],
            &[0x82, b'a'],
            &[0xA1, 0x01, 0x01],
            &[0xDF],
            &[0x81, 0xFF],
        ] {
            check(bad, Err(NotPacked));
        }
        check(&[0x91; 200], Err(NotPacked));
        assert_eq!(
            unpack_message(&[0xB1, 0x70, 0xA0]),
            Ok((0x70, vec![Value::Map(Vec::new())]))
        );
    }
}
