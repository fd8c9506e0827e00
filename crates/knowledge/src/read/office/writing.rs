//! Paragraphs, headings, lists and tables of Word documents and slides as Markdown; both use the same element names.

use std::{collections::HashMap, mem};

use super::xml::{Item, Items, Tag};
use crate::unreadable::{Limits, Unreadable};

/// The paragraph styles that are headings, by id.
#[derive(Debug, Default)]
pub(super) struct Styles(HashMap<String, u8>);

impl Styles {
    /// Parses the styles of a Word document. If they are damaged, only headings are lost.
    pub(super) fn read(xml: &str) -> Self {
        let mut levels = HashMap::new();
        let mut style = String::new();
        for item in Items::new(xml) {
            let Ok(item) = item else { break };
            let Item::Open(tag) = item else { continue };
            let value = tag.attribute("val").unwrap_or_default();
            match tag.name.as_str() {
                "style" => style = tag.attribute("styleId").unwrap_or_default(),
                "name" => {
                    if let Some(level) = level_of_name(&value) {
                        levels.insert(style.clone(), level);
                    }
                }
                "outlineLvl" => {
                    if let Some(level) = level_of_outline(&value) {
                        levels.insert(style.clone(), level);
                    }
                }
                _ => {}
            }
        }
        Self(levels)
    }
}

/// Word's built-in styles have English names in every language.
fn level_of_name(name: &str) -> Option<u8> {
    let name = name.to_ascii_lowercase();
    match name.strip_prefix("heading ") {
        Some(level) => level.parse().ok().filter(|level| (1..=6).contains(level)),
        None => (name == "title").then_some(1),
    }
}

fn level_of_outline(level: &str) -> Option<u8> {
    level
        .parse::<u8>()
        .ok()
        .filter(|level| *level < 6)
        .map(|level| level + 1)
}

/// The Markdown written so far.
pub(super) struct Writing<'a> {
    styles: &'a Styles,
    limit_bytes: u64,
    text: String,
    /// Positions of page breaks when the document was last rendered.
    breaks: Vec<usize>,
    paragraph: Paragraph,
    /// The cells of the open rows; tables can be nested in cells.
    rows: Vec<Vec<String>>,
    /// Nesting depth in content that repeats the text for old programs.
    skipped: u32,
    in_text: bool,
    is_title: bool,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    level: u8,
    is_listed: bool,
}

impl<'a> Writing<'a> {
    pub(super) fn new(styles: &'a Styles, limits: &Limits) -> Self {
        Self {
            styles,
            limit_bytes: limits.text_bytes,
            text: String::new(),
            breaks: Vec::new(),
            paragraph: Paragraph::default(),
            rows: Vec::new(),
            skipped: 0,
            in_text: false,
            is_title: false,
        }
    }

    /// Adds a part's text.
    ///
    /// # Errors
    /// If the part is damaged, or the text too long.
    pub(super) fn read(&mut self, xml: &str) -> Result<(), Unreadable> {
        for item in Items::new(xml) {
            match item? {
                Item::Open(tag) if tag.name == "Fallback" => self.skipped += 1,
                Item::Close(name) if name == "Fallback" => {
                    self.skipped = self.skipped.saturating_sub(1)
                }
                _ if self.skipped > 0 => {}
                Item::Open(tag) => self.open(&tag),
                Item::Text(text) if self.in_text => self.paragraph.text.push_str(&text),
                Item::Text(_) => {}
                Item::Close(name) => self.close(&name),
            }
            if (self.text.len() + self.paragraph.text.len()) as u64 > self.limit_bytes {
                return Err(Unreadable::TooMuchText {
                    limit_bytes: self.limit_bytes,
                });
            }
        }
        Ok(())
    }

    fn open(&mut self, tag: &Tag) {
        let value = || tag.attribute("val").unwrap_or_default();
        match tag.name.as_str() {
            "t" => self.in_text = true,
            "tab" => self.paragraph.text.push(' '),
            "br" | "cr" => self.paragraph.text.push('\n'),
            "noBreakHyphen" => self.paragraph.text.push('-'),
            "lastRenderedPageBreak" => self.break_page(),
            "pStyle" => self.paragraph.level = self.styles.0.get(&value()).copied().unwrap_or(0),
            "outlineLvl" => self.paragraph.level = level_of_outline(&value()).unwrap_or(0),
            "numPr" => self.paragraph.is_listed = true,
            "sp" => self.is_title = false,
            "ph" => {
                self.is_title = tag
                    .attribute("type")
                    .is_some_and(|it| it == "title" || it == "ctrTitle")
            }
            "tr" => self.rows.push(Vec::new()),
            "tc" => {
                if let Some(row) = self.rows.last_mut() {
                    row.push(String::new());
                }
            }
            _ => {}
        }
    }

    fn close(&mut self, name: &str) {
        match name {
            "t" => self.in_text = false,
            "p" => self.end_paragraph(),
            "sp" => self.is_title = false,
            "tr" => self.end_row(),
            "tbl" => self.text.push('\n'),
            _ => {}
        }
    }

    /// The page begins with the paragraph, or with the part of it already written.
    fn break_page(&mut self) {
        if self.rows.is_empty() && (!self.text.is_empty() || !self.paragraph.text.is_empty()) {
            let start = self.text.len();
            if self.breaks.last() != Some(&start) {
                self.breaks.push(start);
            }
        }
    }

    fn end_paragraph(&mut self) {
        let Paragraph {
            text,
            level,
            is_listed,
        } = mem::take(&mut self.paragraph);
        let text = text.trim();
        if text.is_empty() {
            return;
        }
        if let Some(cell) = self.rows.last_mut().and_then(|row| row.last_mut()) {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&text.replace('\n', " ").replace('|', "\\|"));
            return;
        }
        let level = if self.is_title { 2 } else { level };
        if level > 0 {
            self.text.extend(std::iter::repeat_n('#', level.into()));
            self.text.push(' ');
            self.text.push_str(&text.replace('\n', " "));
        } else {
            self.text.push_str(if is_listed { "- " } else { "" });
            self.text.push_str(text);
        }
        self.text.push_str(if is_listed { "\n" } else { "\n\n" });
    }

    fn end_row(&mut self) {
        let Some(cells) = self.rows.pop() else { return };
        if cells.iter().all(String::is_empty) {
            return;
        }
        let row = format!("| {} |", cells.join(" | "));
        match self.rows.last_mut().and_then(|outer| outer.last_mut()) {
            Some(cell) => cell.push_str(&row.replace('|', "/")),
            None => {
                self.text.push_str(&row);
                self.text.push('\n');
            }
        }
    }

    /// The text, and the positions at which its pages begin.
    pub(super) fn finish(mut self) -> (String, Vec<usize>) {
        self.end_paragraph();
        (self.text, self.breaks)
    }
}
