//! Rich Text Format as Markdown: headings, lists, tables and notes, in any code page. A web page that Outlook converted is
//! restored and read.

mod output;
mod tokens;
mod words;

use std::{borrow::Cow, collections::HashMap, mem};

use encoding_rs::{Encoding, WINDOWS_1252};

pub(super) use self::output::Output;
use self::{
    tokens::{Token, Tokens},
    words::{Destination, destination, encoding_of_font, text_of},
};
use super::{charset::of_code_page, html, line::Script, table::Merge};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Maximum nesting depth of groups; real documents have some dozen.
const DEPTH_LIMIT: usize = 10_000;
/// Character set of symbol fonts, whose characters are bullets for the most part.
const SYMBOLS: i32 = 2;

/// Reads an RTF file.
///
/// # Errors
/// If it is nested too deeply, or has too much text.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut reader = Reader::default();
    for token in Tokens::new(bytes) {
        reader.take(&token);
        if reader.outer.len() > DEPTH_LIMIT {
            return Err(Unreadable::damaged("RTF"));
        }
        let page_bytes = reader.page.as_ref().map_or(0, String::len);
        if (reader.output.len() + page_bytes) as u64 > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
    }
    reader.flush();
    match reader.page {
        Some(page) => html::read_whole(&page).map(Document::of_markdown),
        None => Ok(reader.output.finish()),
    }
}

/// The state that ends with a group.
#[derive(Debug, Clone, Copy)]
struct Group {
    destination: Destination,
    font: i32,
    /// Number of characters after a Unicode character that stand for it in old programs.
    substitutes: usize,
    is_hidden: bool,
    is_struck: bool,
    is_deleted: bool,
    script: Script,
}

impl Default for Group {
    fn default() -> Self {
        Self {
            destination: Destination::Body,
            font: 0,
            substitutes: 1,
            is_hidden: false,
            is_struck: false,
            is_deleted: false,
            script: Script::Baseline,
        }
    }
}

impl Group {
    fn is_shown(&self) -> bool {
        !(self.is_hidden || self.is_struck || self.is_deleted)
    }
}

#[derive(Default)]
struct Reader {
    group: Group,
    outer: Vec<Group>,
    code_page: Option<&'static Encoding>,
    /// Character sets of the fonts, by number.
    fonts: HashMap<i32, i32>,
    /// Levels of the heading styles, by number.
    headings: HashMap<i32, u8>,
    style: i32,
    style_name: String,
    /// Bytes that are not decoded yet, since characters may have two.
    bytes: Vec<u8>,
    /// UTF-16 units that are not decoded yet.
    units: Vec<u16>,
    /// Number of characters to skip after a Unicode character.
    skipped: usize,
    /// Whether a group has just begun.
    is_beginning: bool,
    /// Whether the group is to be ignored if its control word, the next one, is unknown.
    is_optional: bool,
    /// The web page from which the file was converted.
    page: Option<String>,
    /// How the cell being defined is merged.
    merge: Merge,
    output: Output,
}

impl Reader {
    fn take(&mut self, token: &Token<'_>) {
        let is_beginning = mem::replace(&mut self.is_beginning, *token == Token::Open);
        match token {
            Token::Open => {
                self.flush();
                self.skipped = 0;
                self.outer.push(self.group);
            }
            Token::Close => {
                self.flush();
                self.skipped = 0;
                self.end_group();
            }
            Token::Text(text) => {
                let skipped = self.skipped.min(text.len());
                self.skipped -= skipped;
                self.add_bytes(&text[skipped..]);
            }
            Token::Word("u", Some(value)) => self.add_unit(*value),
            Token::Hex(_) | Token::Symbol(_) | Token::Word(..) if self.skipped > 0 => {
                self.skipped -= 1;
            }
            Token::Hex(byte) => self.add_bytes(&[*byte]),
            Token::Symbol(b'*') => self.is_optional = is_beginning,
            Token::Symbol(symbol) => self.symbol(*symbol),
            Token::Word(name, value) => {
                self.flush();
                let is_optional = mem::take(&mut self.is_optional);
                self.word(name, *value, is_optional);
            }
        }
    }

    fn add_bytes(&mut self, bytes: &[u8]) {
        if !bytes.is_empty() {
            self.flush_units();
            self.bytes.extend_from_slice(bytes);
        }
    }

    /// Adds a UTF-16 unit, which is written as a signed number.
    fn add_unit(&mut self, value: i32) {
        self.flush_bytes();
        let [low, high, ..] = value.to_le_bytes();
        self.units.push(u16::from_le_bytes([low, high]));
        self.skipped = self.group.substitutes;
    }

    fn flush(&mut self) {
        self.flush_units();
        self.flush_bytes();
    }

    fn flush_units(&mut self) {
        if !self.units.is_empty() {
            let text = String::from_utf16_lossy(&mem::take(&mut self.units));
            self.push(&text);
        }
    }

    fn flush_bytes(&mut self) {
        if self.bytes.is_empty() {
            return;
        }
        let bytes = mem::take(&mut self.bytes);
        let charset = self.fonts.get(&self.group.font).copied().unwrap_or(1);
        let text = if charset == SYMBOLS && !bytes.is_ascii() {
            Cow::Borrowed("•")
        } else {
            let encoding = encoding_of_font(charset).or(self.code_page);
            let encoding = encoding.unwrap_or(WINDOWS_1252);
            encoding.decode_without_bom_handling(&bytes).0
        };
        self.push(&text);
    }

    fn push(&mut self, text: &str) {
        if !self.group.is_shown() {
            return;
        }
        match (self.group.destination, &mut self.page) {
            (Destination::Body, Some(page)) => page.push_str(&escaped(text)),
            (Destination::HtmlTag, Some(page)) => page.push_str(text),
            (destination, _) => self.push_shown(destination, text),
        }
    }

    fn push_shown(&mut self, destination: Destination, text: &str) {
        match destination {
            Destination::Body => self.output.push(text, self.group.script),
            Destination::ListMark => self.output.list_mark.push_str(text),
            Destination::Note => self.output.note.push(text, self.group.script),
            Destination::Title => self.output.title.push_str(text),
            Destination::Styles => self.style_name.push_str(text),
            Destination::Fonts | Destination::HtmlTag | Destination::Ignored => {}
        }
    }

    fn end_group(&mut self) {
        if self.group.destination == Destination::Styles {
            let name = mem::take(&mut self.style_name).to_lowercase();
            let level = name.trim_end_matches(';').trim().strip_prefix("heading ");
            if let Some(level) = level.and_then(|level| level.parse().ok()) {
                self.headings.insert(self.style, level);
            }
        }
        let inner = self.group.destination;
        self.group = self.outer.pop().unwrap_or_default();
        if inner == Destination::Note && self.group.destination != Destination::Note {
            self.output.end_note();
        }
    }

    fn symbol(&mut self, symbol: u8) {
        self.flush();
        match symbol {
            b'~' => self.push("\u{a0}"),
            b'_' => self.push("-"),
            b'\\' | b'{' | b'}' => self.push(char::from(symbol).encode_utf8(&mut [0; 4])),
            b'\r' | b'\n' => self.end_paragraph(),
            _ => {}
        }
    }

    fn word(&mut self, name: &str, value: Option<i32>, is_optional: bool) {
        if let Some(destination) = destination(self.group.destination, name) {
            self.group.destination = destination;
        } else if is_optional && !matches!(name, "shpinst" | "shptxt") {
            self.group.destination = Destination::Ignored;
        }
        if let Some(text) = text_of(name) {
            self.push(text);
            return;
        }
        let number = value.unwrap_or(1);
        let is_on = number != 0;
        match name {
            "ansicpg" => self.code_page = u16::try_from(number).ok().and_then(of_code_page),
            "f" => self.group.font = number,
            "fcharset" if self.group.destination == Destination::Fonts => {
                self.fonts.insert(self.group.font, number);
            }
            "uc" => self.group.substitutes = usize::try_from(number).unwrap_or_default(),
            "plain" => {
                self.group = Group {
                    destination: self.group.destination,
                    substitutes: self.group.substitutes,
                    ..Group::default()
                }
            }
            "v" | "htmlrtf" => self.group.is_hidden = is_on,
            "strike" | "strikedl" | "striked" => self.group.is_struck = is_on,
            "deleted" => self.group.is_deleted = is_on,
            "super" | "sub" | "nosupersub" => {
                self.group.script = match name {
                    "super" if is_on => Script::Super,
                    "sub" if is_on => Script::Sub,
                    _ => Script::Baseline,
                };
            }
            "s" => self.set_style(number),
            "fromhtml" if is_on => self.page = Some(String::new()),
            "par" | "line" if self.page.is_some() => self.push("\n"),
            _ if self.group.destination == Destination::Body => self.layout(name, number),
            "par" | "line" => self.push(" "),
            _ => {}
        }
    }

    /// Control words for paragraphs and tables.
    fn layout(&mut self, name: &str, number: i32) {
        match name {
            "pard" => self.output.reset_paragraph(),
            "outlinelevel" => {
                self.output.level = u8::try_from(number.saturating_add(1)).unwrap_or_default()
            }
            "ilvl" => self.output.list_level = usize::try_from(number).unwrap_or_default(),
            "intbl" => self.output.is_in_table = true,
            "par" | "sect" | "page" => self.end_paragraph(),
            "trowd" => {
                self.merge = Merge::None;
                self.output.define_row();
            }
            "clmrg" => self.merge = Merge::Left,
            "clvmrg" => self.merge = Merge::Above,
            "cellx" => self.output.define_cell(mem::take(&mut self.merge)),
            "cell" => self.output.end_cell(),
            "nestcell" => self.push(" / "),
            "row" => self.output.end_row(),
            _ => {}
        }
    }

    fn end_paragraph(&mut self) {
        if self.group.destination == Destination::Body {
            self.output.end_paragraph();
        }
    }

    fn set_style(&mut self, style: i32) {
        match self.group.destination {
            Destination::Styles => self.style = style,
            Destination::Body => {
                self.output.level = self.headings.get(&style).copied().unwrap_or_default();
            }
            _ => {}
        }
    }
}

/// Text as a web page has it.
fn escaped(text: &str) -> String {
    let text = text.replace('&', "&amp;");
    text.replace('<', "&lt;").replace('>', "&gt;")
}

#[cfg(test)]
mod tests;
