//! The formatting in a Word document before 2007: for ranges of the stream of characters, pages with the properties of
//! paragraphs and of characters as far as they concern the text.

use super::bytes::{Bytes, at};
use crate::read::line::Script;

/// The size of a page with properties.
const PAGE_BYTES: usize = 512;
/// The size of an entry of a page of paragraphs, and of characters.
const PARAGRAPH_ENTRY: usize = 13;
const CHARACTER_ENTRY: usize = 1;
/// The styles of headings have fixed numbers.
const LAST_HEADING: u16 = 9;

/// Properties, by their names in Microsoft's documentation.
mod property {
    pub(super) const P_ISTD: u16 = 0x4600;
    pub(super) const P_ILVL: u16 = 0x260a;
    pub(super) const P_ILFO: u16 = 0x460b;
    pub(super) const P_IN_TABLE: u16 = 0x2416;
    pub(super) const P_ROW_END: u16 = 0x2417;
    pub(super) const P_INNER_CELL: u16 = 0x244b;
    pub(super) const P_INNER_ROW_END: u16 = 0x244c;
    pub(super) const P_DEPTH: u16 = 0x6649;
    pub(super) const P_CHANGE_TABS: u16 = 0xc615;
    pub(super) const T_DEFINE_TABLE: u16 = 0xd608;
    pub(super) const C_DELETED: u16 = 0x0800;
    pub(super) const C_STRIKE: u16 = 0x0837;
    pub(super) const C_HIDDEN: u16 = 0x083c;
    pub(super) const C_SPECIAL: u16 = 0x0855;
    pub(super) const C_SCRIPT: u16 = 0x2a48;
    pub(super) const C_DOUBLE_STRIKE: u16 = 0x2a53;
    pub(super) const C_SYMBOL: u16 = 0x6a09;
}

/// What concerns a paragraph's text.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Paragraph {
    /// Its level if it is a heading, otherwise 0.
    pub(super) level: u8,
    /// The number of its list, 0 if there is none, and its level there.
    pub(super) list: u16,
    pub(super) list_level: u8,
    /// How many tables it is in.
    pub(super) depth: u8,
    /// Whether it is not a paragraph, but the end of a row.
    pub(super) is_row_end: bool,
    pub(super) is_inner_cell: bool,
    pub(super) is_inner_row_end: bool,
}

/// What concerns the text of characters.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Characters {
    /// Whether it is deleted, struck out or not shown.
    pub(super) is_left_out: bool,
    /// Whether a control character stands for something else.
    pub(super) is_special: bool,
    pub(super) script: Script,
    /// A character of a font for symbols.
    pub(super) symbol: Option<char>,
}

/// Properties of ranges of the stream, in order.
#[derive(Debug, Default)]
pub(super) struct Ranges<T> {
    ranges: Vec<Range<T>>,
}

#[derive(Debug)]
struct Range<T> {
    start: u32,
    end: u32,
    properties: T,
}

impl<T: Copy + Default> Ranges<T> {
    /// The properties at this place in the stream.
    pub(super) fn at(&self, place: u32) -> T {
        let after = self.ranges.partition_point(|range| range.start <= place);
        let range = after.checked_sub(1).and_then(|it| self.ranges.get(it));
        let range = range.filter(|range| place < range.end);
        range.map_or_else(T::default, |range| range.properties)
    }

    /// Reads the pages that are listed in `list`.
    fn read(
        stream: &[u8],
        list: &[u8],
        entry_bytes: usize,
        properties: impl Fn(&[u8], usize) -> Option<T>,
    ) -> Self {
        // The places where the pages begin and where the last one ends, then the numbers of the pages.
        let count = (list.len().saturating_sub(4) / 8).min(stream.len() / PAGE_BYTES);
        let mut numbers = at(list, (list.len().saturating_sub(4) / 8 + 1) * 4);
        let mut ranges = Vec::new();
        for _ in 0..count {
            let Some(number) = numbers.u32() else { break };
            let start = (number & 0x3f_ffff) as usize * PAGE_BYTES;
            let Some(page) = stream.get(start..start + PAGE_BYTES) else {
                continue;
            };
            let runs = usize::from(page.last().copied().unwrap_or(0));
            let mut places = Bytes(page);
            let mut entries = at(page, (runs + 1) * 4);
            let Some(mut from) = places.u32() else {
                continue;
            };
            for _ in 0..runs {
                let (Some(to), Some(entry)) = (places.u32(), entries.take(entry_bytes)) else {
                    break;
                };
                let offset = usize::from(entry.first().copied().unwrap_or(0)) * 2;
                if let Some(properties) = properties(page, offset).filter(|_| from < to) {
                    ranges.push(Range {
                        start: from,
                        end: to,
                        properties,
                    });
                }
                from = to;
            }
        }
        ranges.sort_by_key(|range| range.start);
        Self { ranges }
    }
}

/// The properties of paragraphs.
pub(super) fn paragraphs(stream: &[u8], list: &[u8]) -> Ranges<Paragraph> {
    Ranges::read(stream, list, PARAGRAPH_ENTRY, |page, offset| {
        let mut rest = at(page, offset);
        let size = match rest.u8().filter(|_| offset > 0)? {
            0 => usize::from(rest.u8()?) * 2,
            size => usize::from(size) * 2 - 1,
        };
        let mut rest = Bytes(rest.take(size)?);
        let mut paragraph = Paragraph::default();
        paragraph.set_style(rest.u16()?);
        each(rest, |property, value| paragraph.set(property, value));
        Some(paragraph)
    })
}

/// The properties of characters.
pub(super) fn characters(stream: &[u8], list: &[u8]) -> Ranges<Characters> {
    Ranges::read(stream, list, CHARACTER_ENTRY, |page, offset| {
        let mut rest = at(page, offset);
        let size = usize::from(rest.u8().filter(|_| offset > 0)?);
        let mut characters = Characters::default();
        each(Bytes(rest.take(size)?), |property, value| {
            characters.set(property, value);
        });
        Some(characters)
    })
}

/// Calls this with each property and its value, up to where they are damaged.
fn each(mut properties: Bytes<'_>, mut note: impl FnMut(u16, &[u8])) {
    while let Some(property) = properties.u16() {
        let size = match property >> 13 {
            0 | 1 => Some(1),
            2 | 4 | 5 => Some(2),
            3 => Some(4),
            7 => Some(3),
            _ if property == property::T_DEFINE_TABLE => properties
                .u16()
                .map(|size| usize::from(size).saturating_sub(1)),
            // This one may be longer than its length can tell, which is then in its value.
            _ if property == property::P_CHANGE_TABS => {
                properties.u8().filter(|size| *size < 255).map(usize::from)
            }
            _ => properties.u8().map(usize::from),
        };
        let Some(value) = size.and_then(|size| properties.take(size)) else {
            return;
        };
        note(property, value);
    }
}

impl Paragraph {
    fn set_style(&mut self, style: u16) {
        self.level = match style {
            1..=LAST_HEADING => u8::try_from(style.min(6)).unwrap_or(0),
            _ => 0,
        };
    }

    fn set(&mut self, property: u16, value: &[u8]) {
        let byte = value.first().copied().unwrap_or(0);
        let number = Bytes(value).u16().unwrap_or(0);
        match property {
            property::P_ISTD => self.set_style(number),
            property::P_ILVL => self.list_level = byte,
            property::P_ILFO => self.list = number,
            property::P_IN_TABLE => self.depth = self.depth.max(u8::from(byte != 0)),
            property::P_ROW_END => self.is_row_end = byte != 0,
            property::P_INNER_CELL => self.is_inner_cell = byte != 0,
            property::P_INNER_ROW_END => self.is_inner_row_end = byte != 0,
            property::P_DEPTH => self.depth = byte,
            _ => {}
        }
    }
}

impl Characters {
    fn set(&mut self, property: u16, value: &[u8]) {
        let byte = value.first().copied().unwrap_or(0);
        // 128 and 129 refer to the style, which is seldom struck out or hidden.
        let is_on = byte == 1;
        match property {
            property::C_DELETED
            | property::C_STRIKE
            | property::C_DOUBLE_STRIKE
            | property::C_HIDDEN => self.is_left_out |= is_on,
            property::C_SPECIAL => self.is_special = is_on,
            property::C_SCRIPT => {
                self.script = match byte {
                    1 => Script::Super,
                    2 => Script::Sub,
                    _ => Script::Baseline,
                };
            }
            property::C_SYMBOL => {
                let code = at(value, 2).u16().map(u32::from);
                self.symbol = code.and_then(char::from_u32);
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A stream with one page of these runs, each from where the one before it ends, and its list.
    fn page(ends: &[u32], entry_bytes: usize, properties: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let mut page = vec![0; PAGE_BYTES];
        let mut head: Vec<u8> = 100_u32.to_le_bytes().to_vec();
        ends.iter().for_each(|end| head.extend(end.to_le_bytes()));
        for _ in ends {
            head.push(200);
            head.resize(head.len() + entry_bytes - 1, 0);
        }
        page[..head.len()].copy_from_slice(&head);
        page[400..400 + properties.len()].copy_from_slice(properties);
        page[PAGE_BYTES - 1] = ends.len() as u8;
        let list = [100_u32, 300, 0].map(u32::to_le_bytes).concat();
        (page, list)
    }

    #[test]
    fn properties_are_found_by_place() {
        let properties = [5, 2, 0, 0x16, 0x24, 1, 0x0b, 0x46, 7, 0];
        let (stream, list) = page(&[120, 130], PARAGRAPH_ENTRY, &properties);
        let found = paragraphs(&stream, &list);
        let expected = Paragraph {
            level: 2,
            list: 7,
            depth: 1,
            ..Paragraph::default()
        };
        assert_eq!(found.at(99), Paragraph::default());
        assert_eq!([found.at(100), found.at(129)], [expected, expected]);
        assert_eq!(found.at(130), Paragraph::default());
    }

    #[test]
    fn properties_of_characters_are_read_up_to_damage() {
        let properties = [9, 0x3c, 0x08, 1, 0x48, 0x2a, 1, 0x09, 0x6a, 9];
        let (stream, list) = page(&[120], CHARACTER_ENTRY, &properties);
        let found = characters(&stream, &list).at(110);
        assert!(found.is_left_out && found.symbol.is_none());
        assert_eq!(found.script, Script::Super);
        assert_eq!(
            characters(&stream[..100], &list).at(110),
            Characters::default()
        );
    }
}
