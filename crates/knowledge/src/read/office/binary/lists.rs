//! The lists of a Word document before 2007: the numbers and bullets in front of paragraphs, as Word counts them.

use std::collections::HashMap;

use super::bytes::{Bytes, at};
use crate::read::list::formatted;

/// Word's lists have nine levels, or one.
const LEVELS: usize = 9;
/// The sizes of a definition and of a list.
const DEFINITION_BYTES: usize = 28;
const LIST_BYTES: usize = 16;
/// A flag of a definition: it has one level.
const IS_SIMPLE: u8 = 1;
/// Maximum length of the text of a level.
const MAX_TEXT: u16 = 100;
/// The number format of bullets.
const BULLET: u8 = 23;

#[derive(Debug, Clone, Default)]
struct Level {
    start: u32,
    format: u8,
    /// Its text, in which the first characters stand for the numbers of the levels.
    text: Vec<u16>,
}

/// The lists of a document, and the numbers used so far.
#[derive(Debug, Default)]
pub(super) struct Lists {
    definitions: HashMap<u32, Vec<Level>>,
    /// The definition of each list. Lists with the same one count on.
    lists: Vec<u32>,
    counts: HashMap<u32, [Option<u32>; LEVELS]>,
}

impl Lists {
    /// Reads the table with the definitions, behind which are their levels, and the table with the lists. What is behind
    /// damage is left out.
    pub(super) fn of(definitions: &[u8], lists: &[u8]) -> Self {
        let mut read = Self::default();
        read.read_definitions(Bytes(definitions));
        read.read_lists(Bytes(lists));
        read
    }

    fn read_definitions(&mut self, mut table: Bytes<'_>) -> Option<()> {
        let count = usize::from(table.u16()?);
        let (heads, _) = table
            .take(count * DEFINITION_BYTES)?
            .as_chunks::<DEFINITION_BYTES>();
        for head in heads {
            let id = Bytes(head).u32()?;
            let count = match at(head, 26).u8()? & IS_SIMPLE {
                0 => LEVELS,
                _ => 1,
            };
            let mut levels = Vec::with_capacity(count);
            for _ in 0..count {
                levels.push(level(&mut table)?);
            }
            self.definitions.insert(id, levels);
        }
        Some(())
    }

    fn read_lists(&mut self, mut table: Bytes<'_>) -> Option<()> {
        let count = table.u32()? as usize;
        let size = count.min(table.0.len() / LIST_BYTES) * LIST_BYTES;
        let (lists, _) = table.take(size)?.as_chunks::<LIST_BYTES>();
        self.lists = lists.iter().filter_map(|list| Bytes(list).u32()).collect();
        Some(())
    }

    /// What is in front of the next paragraph in a list, which is given by its number from 1.
    pub(super) fn next(&mut self, list: u16, level: u8) -> Option<String> {
        let definition = *self.lists.get(usize::from(list).checked_sub(1)?)?;
        let Some(levels) = self.definitions.get(&definition) else {
            return Some("•".to_owned());
        };
        let index = usize::from(level).min(levels.len().min(LEVELS).checked_sub(1)?);
        let counts = self.counts.entry(definition).or_default();
        let (counted, below) = counts.split_at_mut_checked(index + 1)?;
        below.fill(None);
        let start = |at: usize| levels.get(at).map_or(1, |level| level.start);
        for (at, count) in counted.iter_mut().enumerate() {
            *count = Some(match *count {
                Some(count) if at == index => count.saturating_add(1),
                Some(count) => count,
                None => start(at),
            });
        }
        let level = levels.get(index)?;
        if level.format == BULLET {
            return Some("•".to_owned());
        }
        let mut text = String::new();
        for unit in char::decode_utf16(level.text.iter().copied()) {
            let char = unit.unwrap_or(char::REPLACEMENT_CHARACTER);
            let at = char as usize;
            match counted.get(at).copied().flatten() {
                Some(count) => {
                    let format = levels.get(at).map_or(0, |level| level.format);
                    text.push_str(&formatted(count, format_name(format)));
                }
                None if char.is_control() => {}
                None => text.push(char),
            }
        }
        Some(text.trim().to_owned())
    }
}

fn level(table: &mut Bytes<'_>) -> Option<Level> {
    let start = table.u32()?;
    let format = table.u8()?;
    table.take(19)?;
    let formatting = usize::from(table.u8()?) + usize::from(table.u8()?);
    table.take(2 + formatting)?;
    let length = table.u16()?;
    let (units, _) = table.take(usize::from(length) * 2)?.as_chunks::<2>();
    let units = units.iter().take(usize::from(length.min(MAX_TEXT)));
    Some(Level {
        start,
        format,
        text: units.map(|unit| u16::from_le_bytes(*unit)).collect(),
    })
}

/// The name of a number format in documents of today.
fn format_name(format: u8) -> &'static str {
    match format {
        1 => "upperRoman",
        2 => "lowerRoman",
        3 => "upperLetter",
        4 => "lowerLetter",
        5 => "ordinal",
        22 => "decimalZero",
        58 => "russianLower",
        59 => "russianUpper",
        255 => "none",
        _ => "decimal",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn level(start: u32, format: u8, text: &str) -> Vec<u8> {
        let mut bytes = start.to_le_bytes().to_vec();
        bytes.push(format);
        bytes.resize(24, 0);
        // Two bytes of formatting of characters, and one of paragraphs.
        bytes.extend([2, 1, 0, 0, 9, 9, 9]);
        let units: Vec<u16> = text.encode_utf16().collect();
        bytes.extend((units.len() as u16).to_le_bytes());
        bytes.extend(units.iter().flat_map(|unit| unit.to_le_bytes()));
        bytes
    }

    fn lists() -> Lists {
        let mut definitions = vec![2, 0];
        for (id, is_simple) in [(70_u8, 0), (71, 1)] {
            let mut head = [0; DEFINITION_BYTES];
            head[0] = id;
            head[26] = is_simple;
            definitions.extend(head);
        }
        definitions.extend(level(1, 0, "\0."));
        definitions.extend(level(1, 0, "\0.\u{1}"));
        definitions.extend(level(1, 4, "(\u{2})"));
        (3..LEVELS).for_each(|_| definitions.extend(level(1, 0, "")));
        definitions.extend(level(1, BULLET, "\u{f0b7}"));
        let mut lists = vec![2, 0, 0, 0];
        for id in [70, 71] {
            let mut list = [0; LIST_BYTES];
            list[0] = id;
            lists.extend(list);
        }
        Lists::of(&definitions, &lists)
    }

    #[test]
    fn levels_are_counted() {
        let mut lists = lists();
        let mut next = |list, level| lists.next(list, level).unwrap_or_default();
        let marks = [
            (1, 0),
            (1, 0),
            (1, 1),
            (1, 2),
            (1, 2),
            (1, 0),
            (1, 1),
            (2, 0),
            (2, 5),
            (0, 0),
            (9, 0),
        ]
        .map(|(list, level)| next(list, level));
        assert_eq!(
            marks,
            [
                "1.", "2.", "2.1", "(a)", "(b)", "3.", "3.1", "•", "•", "", ""
            ]
        );
    }

    #[test]
    fn damaged_lists_are_left_out() {
        assert!(
            Lists::of(&[255, 255, 1], &[255, 255, 255, 255, 1])
                .next(1, 0)
                .is_none()
        );
        let mut list = [0; 20];
        list[0] = 1;
        assert_eq!(Lists::of(&[], &list).next(1, 3).as_deref(), Some("•"));
    }
}
