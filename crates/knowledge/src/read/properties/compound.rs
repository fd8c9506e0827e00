//! Properties of Office files before 2007, from the stream of their summary, as [MS-OLEPS] describes it.
//!
//! [MS-OLEPS]: https://learn.microsoft.com/openspecs/windows_protocols/ms-oleps

use encoding_rs::{Encoding, WINDOWS_1252};
use mail_parser::DateTime;

use super::super::{charset::of_code_page, compound::Compound};
use crate::properties::Properties;

/// The stream of the summary.
const SUMMARY: &str = "/\u{5}SummaryInformation";
/// The number of the property with the code page of the others.
const CODE_PAGE: u32 = 1;
/// The numbers of properties, and the keys that they have here.
const NAMES: [(u32, &str); 7] = [
    (2, "title"),
    (3, "subject"),
    (4, "author"),
    (6, "description"),
    (8, "modified by"),
    (12, "created"),
    (13, "modified"),
];
const KEYWORDS: u32 = 5;
/// Where the place of the first set of properties is.
const FIRST_SET: usize = 44;
/// Maximum number of properties.
const MAX_PROPERTIES: u32 = 1000;
/// Seconds from 1601, from which times are counted, to 1970.
const EPOCH_SECONDS: i64 = 11_644_473_600;
/// The beginning of the year 10000, Unix seconds.
const YEAR_10000: i64 = 253_402_300_800;

/// The summary of a Word, Excel or PowerPoint file.
pub(super) fn read(bytes: &[u8]) -> Option<Properties> {
    let summary = Compound::open(bytes)?.stream(SUMMARY)?;
    let set = summary.get(u32_at(&summary, FIRST_SET)? as usize..)?;
    let count = u32_at(set, 4)?.min(MAX_PROPERTIES) as usize;
    let places: Vec<(u32, usize)> = (0..count)
        .map_while(|index| {
            let entry = 8 + 8 * index;
            Some((u32_at(set, entry)?, u32_at(set, entry + 4)? as usize))
        })
        .collect();
    let code_page = places.iter().find(|(id, _)| *id == CODE_PAGE);
    let encoding = code_page
        .and_then(|(_, place)| u32_at(set, place + 4))
        .and_then(|number| of_code_page(u16::try_from(number & 0xffff).ok()?))
        .unwrap_or(WINDOWS_1252);
    let mut properties = Properties::default();
    for (id, place) in places {
        let Some(text) = set.get(place..).and_then(|value| text(value, encoding)) else {
            continue;
        };
        if id == KEYWORDS {
            properties.add_keywords(&text);
        } else if let Some((_, key)) = NAMES.iter().find(|(number, _)| *number == id) {
            properties.add(key, &text);
        }
    }
    Some(properties)
}

/// A text, or a time as text; `None` for other types.
fn text(value: &[u8], encoding: &'static Encoding) -> Option<String> {
    let length = u32_at(value, 4)? as usize;
    let content = value.get(8..)?;
    let text = match u32_at(value, 0)? {
        // In the code page.
        0x1e => encoding
            .decode_without_bom_handling(content.get(..length)?)
            .0
            .into_owned(),
        // In UTF-16.
        0x1f => {
            let units = content.get(..length.checked_mul(2)?)?.chunks_exact(2);
            let units: Vec<u16> = units
                .map(|unit| u16::from_le_bytes([unit[0], unit[1]]))
                .collect();
            String::from_utf16_lossy(&units)
        }
        // Tenths of a microsecond.
        0x40 => time(value.get(4..)?)?,
        _ => return None,
    };
    Some(text.trim_end_matches('\0').to_owned())
}

fn time(value: &[u8]) -> Option<String> {
    let ticks = u64::from_le_bytes(*value.first_chunk()?);
    let seconds = i64::try_from(ticks / 10_000_000).ok()? - EPOCH_SECONDS;
    // Zero is a date that was never set.
    let is_date = ticks > 0 && (0..YEAR_10000).contains(&seconds);
    is_date.then(|| DateTime::from_timestamp(seconds).to_rfc3339())
}

fn u32_at(bytes: &[u8], place: usize) -> Option<u32> {
    let four = bytes.get(place..)?.first_chunk()?;
    Some(u32::from_le_bytes(*four))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write};

    use cfb::CompoundFile;
    use serde_json::json;

    use super::*;

    /// A value with its type: a length, then its bytes.
    fn value(kind: u32, length: usize, content: &[u8]) -> Vec<u8> {
        [
            &kind.to_le_bytes()[..],
            &(length as u32).to_le_bytes(),
            content,
        ]
        .concat()
    }

    fn file(values: &[(u32, Vec<u8>)]) -> Vec<u8> {
        let mut set = vec![0; 4];
        set.extend((values.len() as u32).to_le_bytes());
        let mut place = 8 + 8 * values.len();
        for (id, value) in values {
            set.extend(id.to_le_bytes());
            set.extend((place as u32).to_le_bytes());
            place += value.len();
        }
        set.extend(values.iter().flat_map(|(_, value)| value.clone()));
        let mut summary = vec![0; 48];
        summary[FIRST_SET..].copy_from_slice(&48_u32.to_le_bytes());
        summary.extend(set);
        let mut file = CompoundFile::create(Cursor::new(Vec::new())).unwrap();
        let mut stream = file.create_stream(SUMMARY).unwrap();
        stream.write_all(&summary).unwrap();
        stream.flush().unwrap();
        drop(stream);
        file.into_inner().into_inner()
    }

    #[test]
    fn the_summary_is_in_its_code_page() {
        let utf16: Vec<u8> = "Zoë\0".encode_utf16().flat_map(u16::to_le_bytes).collect();
        // 2024-02-29 12:00:00 UTC.
        let ticks = (1_709_208_000_u64 + EPOCH_SECONDS as u64) * 10_000_000;
        let found = read(&file(&[
            (
                1,
                [&2_u32.to_le_bytes()[..], &1251_u32.to_le_bytes()].concat(),
            ),
            (2, value(0x1e, 6, b"\xc4\xee\xec\0\0\0")),
            (4, value(0x1f, 4, &utf16)),
            (5, value(0x1e, 6, b"a, b\0\0")),
            (
                12,
                [&0x40_u32.to_le_bytes()[..], &ticks.to_le_bytes()].concat(),
            ),
            (13, [&0x40_u32.to_le_bytes()[..], &[0; 8]].concat()),
        ]))
        .unwrap();
        assert_eq!(found.tags, ["a", "b"]);
        assert_eq!(
            json!(found.fields),
            json!({"title": "Дом", "author": "Zoë", "created": "2024-02-29T12:00:00Z"})
        );
    }

    #[test]
    fn damaged_summaries_give_what_can_be_read() {
        let whole = file(&[
            (2, value(0x1e, 4, b"Good")),
            (4, value(0x1e, usize::MAX, b"x")),
            (6, value(0x1f, usize::MAX / 2, b"x")),
            (8, vec![0x1e]),
        ]);
        let found = read(&whole).unwrap();
        assert_eq!(json!(found.fields), json!({"title": "Good"}));
        assert_eq!(read(b"no file"), None);
    }
}
