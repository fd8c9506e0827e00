//! Documents of Word 97 to 2003 as Markdown: the text, which is in pieces, with headings, lists and tables, then notes,
//! comments, text boxes, headers and footers.

use std::{collections::HashSet, ops::Range};

use encoding_rs::WINDOWS_1252;

use super::{
    OldProgram,
    bytes::{Bytes, at},
    formatting::{self, Characters, Paragraph, Ranges},
    lists::Lists,
};
use crate::{
    document::Document,
    read::{compound::Compound, line::Script, office::damaged, rtf::Output},
    unreadable::{Limits, Unreadable},
};

/// The first number of a document of Word 6 or later, of one of Word 97 or later, and the first version of these.
const WORD_6: u16 = 0xa5dc;
const WORD_97: u16 = 0xa5ec;
const FIRST_VERSION: u16 = 0x006a;
/// Flags of a document.
const ENCRYPTED: u16 = 1 << 8;
const SECOND_TABLE: u16 = 1 << 9;
/// Where the numbers of characters of the parts begin.
const COUNTS: usize = 0x4c;
/// Where the places of tables begin, and the numbers of some of these.
const TABLES: usize = 0x9a;
const CHARACTER_PAGES: usize = 12;
const PARAGRAPH_PAGES: usize = 13;
const PIECES: usize = 33;
const LIST_DEFINITIONS: usize = 73;
const LISTS: usize = 74;
/// A flag of a piece: its characters have one byte each.
const COMPRESSED: u32 = 1 << 30;
/// Maximum nesting depth of fields.
const MAX_FIELDS: usize = 100;

/// Reads a document.
///
/// # Errors
/// If it is encrypted, damaged, too old or too long.
pub(in crate::read) fn doc(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut file = Compound::open(bytes).ok_or_else(damaged)?;
    let stream = file.stream("/WordDocument").ok_or_else(damaged)?;
    let mut head = Bytes(&stream);
    let kind = head.u16().ok_or_else(damaged)?;
    let version = head.u16().unwrap_or(0);
    if kind == WORD_6 || kind == WORD_97 && version < FIRST_VERSION {
        return Err(OldProgram::Word.into());
    }
    let flags = at(&stream, 0x0a).u16().ok_or_else(damaged)?;
    if kind != WORD_97 {
        return Err(damaged());
    }
    if flags & ENCRYPTED != 0 {
        return Err(Unreadable::Encrypted);
    }
    let name = if flags & SECOND_TABLE == 0 {
        "/0Table"
    } else {
        "/1Table"
    };
    let tables = file.stream(name).ok_or_else(damaged)?;
    Word::of(&stream, &tables).ok_or_else(damaged)?.read(limits)
}

/// The parts of the text, in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Main,
    Footnotes,
    HeadersAndFooters,
    Macros,
    Comments,
    Endnotes,
    TextBoxes,
    HeaderTextBoxes,
}

const PARTS: [Part; 8] = [
    Part::Main,
    Part::Footnotes,
    Part::HeadersAndFooters,
    Part::Macros,
    Part::Comments,
    Part::Endnotes,
    Part::TextBoxes,
    Part::HeaderTextBoxes,
];

/// Characters that follow each other in the stream.
struct Piece {
    /// The number of the first character and the one after the last.
    chars: Range<u32>,
    /// Where they are.
    place: u32,
    is_compressed: bool,
}

/// A document.
struct Word<'a> {
    stream: &'a [u8],
    pieces: Vec<Piece>,
    /// The number of characters of each part.
    counts: [u32; PARTS.len()],
    paragraphs: Ranges<Paragraph>,
    characters: Ranges<Characters>,
    lists: Lists,
}

impl<'a> Word<'a> {
    fn of(stream: &'a [u8], tables: &[u8]) -> Option<Self> {
        let place = |number: usize| {
            let mut entry = at(stream, TABLES + number * 8);
            let start = entry.u32().unwrap_or(0) as usize;
            (start, entry.u32().unwrap_or(0) as usize)
        };
        let table = |number: usize| {
            let (start, size) = place(number);
            let end = start.saturating_add(size).min(tables.len());
            tables.get(start..end).unwrap_or_default()
        };
        let from = |number: usize| match place(number) {
            (_, 0) => &[],
            (start, _) => at(tables, start).0,
        };
        let mut counts = at(stream, COUNTS);
        let mut parts = [0; PARTS.len()];
        for part in &mut parts {
            *part = counts.u32()?;
        }
        Some(Self {
            stream,
            pieces: pieces(table(PIECES))?,
            counts: parts,
            paragraphs: formatting::paragraphs(stream, table(PARAGRAPH_PAGES)),
            characters: formatting::characters(stream, table(CHARACTER_PAGES)),
            // The levels of the definitions are behind their table.
            lists: Lists::of(from(LIST_DEFINITIONS), table(LISTS)),
        })
    }

    fn read(mut self, limits: &Limits) -> Result<Document, Unreadable> {
        let mut lists = std::mem::take(&mut self.lists);
        let mut text = Text::new(limits.text_bytes);
        let mut start = 0_u32;
        let mut repeated = Vec::new();
        for (part, count) in PARTS.into_iter().zip(self.counts) {
            let chars = start..start.saturating_add(count);
            start = chars.end;
            match part {
                Part::Macros => {}
                // Those of each section, and of first, odd and even pages.
                Part::HeadersAndFooters | Part::HeaderTextBoxes => repeated.push(chars),
                _ => self.read_part(&chars, &mut lists, &mut text)?,
            }
        }
        text.is_each_once = true;
        for chars in repeated {
            self.read_part(&chars, &mut lists, &mut text)?;
        }
        Ok(text.output.finish())
    }

    fn read_part(
        &self,
        chars: &Range<u32>,
        lists: &mut Lists,
        text: &mut Text,
    ) -> Result<(), Unreadable> {
        for piece in &self.pieces {
            let first = piece.chars.start.max(chars.start);
            let last = piece.chars.end.min(chars.end);
            if first >= last {
                continue;
            }
            let width = if piece.is_compressed { 1 } else { 2 };
            let skipped = u64::from(first - piece.chars.start) * width;
            let Ok(place) = u32::try_from(u64::from(piece.place) + skipped) else {
                continue;
            };
            let bytes = at(self.stream, place as usize).0;
            let count = (last - first) as usize;
            if piece.is_compressed {
                let bytes = &bytes[..count.min(bytes.len())];
                let decoded = WINDOWS_1252.decode_without_bom_handling(bytes).0;
                for (char, at) in decoded.chars().zip(place..) {
                    self.read_char(char, at, lists, text)?;
                }
            } else {
                let (units, _) = bytes.as_chunks::<2>();
                let units = units
                    .iter()
                    .take(count)
                    .map(|unit| u16::from_le_bytes(*unit));
                let mut at = place;
                for char in char::decode_utf16(units) {
                    let char = char.unwrap_or(char::REPLACEMENT_CHARACTER);
                    self.read_char(char, at, lists, text)?;
                    at = at.saturating_add(u32::try_from(char.len_utf16() * 2).unwrap_or(2));
                }
            }
        }
        text.end_part();
        Ok(())
    }

    fn read_char(
        &self,
        char: char,
        place: u32,
        lists: &mut Lists,
        text: &mut Text,
    ) -> Result<(), Unreadable> {
        match char {
            '\r' | '\u{c}' | '\u{7}' => {
                let paragraph = self.paragraphs.at(place);
                text.end_paragraph(char, paragraph, lists);
            }
            '\u{13}' => text.begin_field(),
            '\u{14}' => text.begin_result(),
            '\u{15}' => text.end_field(),
            _ => text.push(char, self.characters.at(place)),
        }
        text.check()
    }
}

/// The pieces, which follow formatting that is not needed.
fn pieces(table: &[u8]) -> Option<Vec<Piece>> {
    const FORMATTING: u8 = 1;
    const TABLE: u8 = 2;
    let mut rest = Bytes(table);
    loop {
        match rest.u8()? {
            FORMATTING => {
                let size = rest.u16()?;
                rest.take(usize::from(size))?;
            }
            TABLE => break,
            _ => return None,
        }
    }
    let size = rest.u32()? as usize;
    let table = rest.take(size.min(rest.0.len()))?;
    // The numbers of the first characters and one more, then eight bytes for each piece.
    let count = table.len().checked_sub(4)? / 12;
    let mut numbers = Bytes(table);
    let mut entries = at(table, (count + 1) * 4);
    let mut start = numbers.u32()?;
    let mut pieces = Vec::with_capacity(count);
    for _ in 0..count {
        let end = numbers.u32()?;
        entries.u16()?;
        let place = entries.u32()?;
        entries.u16()?;
        let is_compressed = place & COMPRESSED != 0;
        let place = place & (COMPRESSED - 1);
        pieces.push(Piece {
            chars: start..end,
            place: if is_compressed { place / 2 } else { place },
            is_compressed,
        });
        start = end;
    }
    Some(pieces)
}

/// The text that is being written.
struct Text {
    output: Output,
    /// The open paragraph, as its kind is known at its end.
    open: Vec<(char, Characters)>,
    /// For each open field, whether its instructions are over.
    fields: Vec<bool>,
    /// Whether a paragraph is only written once.
    is_each_once: bool,
    written: HashSet<String>,
    limit_bytes: u64,
    /// Characters that may still be read: pieces of a damaged file may overlap.
    left_chars: u64,
}

impl Text {
    fn new(limit_bytes: u64) -> Self {
        Self {
            output: Output::default(),
            open: Vec::new(),
            fields: Vec::new(),
            is_each_once: false,
            written: HashSet::new(),
            limit_bytes,
            left_chars: limit_bytes.saturating_mul(4),
        }
    }

    fn check(&mut self) -> Result<(), Unreadable> {
        self.left_chars = self.left_chars.saturating_sub(1);
        let size = self.output.len() + self.open.len();
        if size as u64 > self.limit_bytes || self.left_chars == 0 {
            return Err(Unreadable::TooMuchText {
                limit_bytes: self.limit_bytes,
            });
        }
        Ok(())
    }

    fn begin_field(&mut self) {
        if self.fields.len() < MAX_FIELDS {
            self.fields.push(false);
        }
    }

    fn begin_result(&mut self) {
        if let Some(field) = self.fields.last_mut() {
            *field = true;
        }
    }

    fn end_field(&mut self) {
        self.fields.pop();
    }

    fn push(&mut self, char: char, formatting: Characters) {
        let is_instruction = self.fields.contains(&false);
        if !is_instruction && !formatting.is_left_out {
            self.open.push((char, formatting));
        }
    }

    fn end_paragraph(&mut self, char: char, paragraph: Paragraph, lists: &mut Lists) {
        let is_cell_end = char == '\u{7}';
        if is_cell_end && paragraph.is_row_end {
            self.open.clear();
            self.output.end_row();
            return;
        }
        // The end of an inner row.
        if paragraph.is_inner_row_end {
            self.open.clear();
            self.output.push(" // ", Script::Baseline);
            return;
        }
        if self.is_each_once && !is_cell_end && paragraph.depth == 0 {
            let shown: String = self.open.iter().map(|(char, _)| *char).collect();
            if !self.written.insert(shown) {
                self.open.clear();
                return;
            }
        }
        self.write_open();
        self.output.level = paragraph.level;
        self.output.is_in_table = paragraph.depth > 0;
        self.output.list_level = usize::from(paragraph.list_level);
        let mark = lists.next(paragraph.list, paragraph.list_level);
        self.output.list_mark = mark.unwrap_or_default();
        if is_cell_end {
            self.output.end_cell();
        } else if paragraph.is_inner_cell {
            self.output.push(" / ", Script::Baseline);
        } else {
            self.output.end_paragraph();
        }
    }

    fn write_open(&mut self) {
        for (char, formatting) in std::mem::take(&mut self.open) {
            let shown = match formatting.symbol.unwrap_or(char) {
                '\u{b}' => '\n',
                '\t' | '\u{a0}' => ' ',
                '\u{1e}' => '-',
                // Soft hyphens, pictures, the marks of notes and what has no meaning.
                '\u{1f}' | '\u{ad}' | '\u{e000}'..='\u{f8ff}' | '\u{fffc}' | '\u{feff}' => continue,
                char if char.is_control()
                    || formatting.is_special && formatting.symbol.is_none() =>
                {
                    continue;
                }
                char => char,
            };
            let mut buffer = [0; 4];
            self.output
                .push(shown.encode_utf8(&mut buffer), formatting.script);
        }
    }

    /// Ends what the part has left open.
    fn end_part(&mut self) {
        self.fields.clear();
        if !self.open.is_empty() {
            self.end_paragraph('\r', Paragraph::default(), &mut Lists::default());
        }
        self.output.reset_paragraph();
        self.output.end_row();
    }
}
