//! OpenDocument texts, spreadsheets and presentations as Markdown.

mod output;
mod styles;

use self::{
    output::Output,
    styles::{Styles, TextStyle},
};
use super::{
    office::{Archive, Item, Items, Tag},
    plain,
};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Elements whose text is not part of the document.
const IGNORED: [&str; 11] = [
    "automatic-styles",
    "binary-data",
    "font-face-decls",
    "master-styles",
    "meta",
    "note-citation",
    "page-number",
    "scripts",
    "settings",
    "styles",
    "tracked-changes",
];
/// Elements of a comment that say who wrote it when.
const AUTHORSHIP: [&str; 4] = ["creator", "creator-initials", "date", "date-string"];
/// Maximum number of cells or rows for which one that is repeated stands.
const MAX_REPEATED: usize = 1000;

/// Reads an OpenDocument file, which is a ZIP archive or a single XML file.
///
/// # Errors
/// If it is encrypted, damaged, or has too much text.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    if !bytes.starts_with(b"PK") {
        let xml = plain::decode(bytes)?;
        return read_parts(&xml, "", &xml, limits);
    }
    let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
    let manifest = archive.text("META-INF/manifest.xml")?.unwrap_or_default();
    if manifest.contains("encryption-data") {
        return Err(Unreadable::Encrypted);
    }
    let damaged = || Unreadable::damaged("an Office document");
    let content = archive.text("content.xml")?.ok_or_else(damaged)?;
    let styles = archive.text("styles.xml")?.unwrap_or_default();
    let meta = archive.text("meta.xml")?.unwrap_or_default();
    read_parts(&content, &styles, &meta, limits)
}

fn read_parts(
    content: &str,
    styles: &str,
    meta: &str,
    limits: &Limits,
) -> Result<Document, Unreadable> {
    let mut reader = Reader {
        styles: Styles::read([styles, content])?,
        output: Output::new(limits),
        ..Reader::default()
    };
    for item in Items::new(content) {
        match item? {
            Item::Open(tag) => reader.open(&tag),
            Item::Text(text) => reader.text(&text),
            Item::Close(name) => reader.close(&name),
        }
        reader.output.check()?;
    }
    let document = reader.output.finish();
    Ok(Document {
        title: title(meta).or(document.title),
        ..document
    })
}

/// The title among the properties of the file. Damaged properties only lose it.
fn title(meta: &str) -> Option<String> {
    let mut is_in_meta = false;
    let mut is_title = false;
    for item in Items::new(meta) {
        match item.ok()? {
            Item::Open(tag) => {
                is_title = is_in_meta && tag.name == "title";
                is_in_meta |= tag.name == "meta";
            }
            Item::Text(text) if is_title && !text.trim().is_empty() => {
                return Some(text.trim().to_owned());
            }
            Item::Close(name) if name == "meta" => return None,
            Item::Text(_) | Item::Close(_) => {}
        }
    }
    None
}

#[derive(Default)]
struct Reader {
    styles: Styles,
    output: Output,
    /// Nesting depth in ignored elements.
    ignored: u32,
    /// Styles of the open spans, each with those around it.
    spans: Vec<TextStyle>,
    /// The open lists: the style, and the number of the latest item.
    lists: Vec<(String, usize)>,
    is_spreadsheet: bool,
    is_title: bool,
}

impl Reader {
    fn open(&mut self, tag: &Tag) {
        let name = tag.name.as_str();
        if self.ignored > 0 || self.is_ignored(name) {
            self.ignored += u32::from(self.is_ignored(name));
            return;
        }
        match name {
            "spreadsheet" => self.is_spreadsheet = true,
            "page" => self.output.begin_page(),
            "soft-page-break" => self.output.break_page(),
            "h" => self
                .output
                .begin_paragraph(number(tag, "outline-level").clamp(1, 6)),
            "p" => self
                .output
                .begin_paragraph(if self.is_title { 2 } else { 0 }),
            "span" => {
                let outer = self.spans.last().copied().unwrap_or_default();
                let style = tag.attribute("style-name").unwrap_or_default();
                self.spans.push(outer.with(self.styles.of_text(&style)));
            }
            "s" => self.write(&" ".repeat(number(tag, "c").min(MAX_REPEATED))),
            "tab" => self.write(" "),
            "line-break" => self.write("\n"),
            "ruby-text" => self.write("("),
            "frame" => {
                self.is_title = tag.attribute("class").is_some_and(|it| it == "title");
            }
            "note-body" | "annotation" => self.output.begin_note(),
            _ => self.open_structure(tag),
        }
    }

    fn is_ignored(&self, name: &str) -> bool {
        IGNORED.contains(&name) || self.output.is_in_note() && AUTHORSHIP.contains(&name)
    }

    /// Opens a list, a table, or a part of them.
    fn open_structure(&mut self, tag: &Tag) {
        match tag.name.as_str() {
            "list" => {
                let style = tag.attribute("style-name");
                let outer = self.lists.last().map(|(style, _)| style.clone());
                self.lists.push((style.or(outer).unwrap_or_default(), 0));
            }
            "list-item" => self.begin_item(),
            "table" => {
                if self.is_spreadsheet {
                    let name = tag.attribute("name").unwrap_or_default();
                    self.output.begin_paragraph(2);
                    self.output.write(&name);
                    self.output.end_paragraph();
                }
                self.output.begin_table();
            }
            "table-row" => {
                let times = number(tag, "number-rows-repeated").min(MAX_REPEATED);
                self.output.begin_row(times);
            }
            "table-cell" | "covered-table-cell" => {
                let times = number(tag, "number-columns-repeated").min(MAX_REPEATED);
                let columns = number(tag, "number-columns-spanned");
                let is_covered = tag.name == "covered-table-cell";
                self.output
                    .begin_cell(times, (!is_covered).then_some(columns));
            }
            _ => {}
        }
    }

    fn begin_item(&mut self) {
        let depth = self.lists.len();
        if let Some((style, count)) = self.lists.last_mut() {
            *count += 1;
            let mark = if self.styles.is_numbered(style, depth) {
                format!("{count}.")
            } else {
                "-".to_owned()
            };
            self.output.set_list_mark(depth, mark);
        }
    }

    fn close(&mut self, name: &str) {
        if self.ignored > 0 {
            self.ignored -= u32::from(self.is_ignored(name));
            return;
        }
        match name {
            "h" | "p" => self.output.end_paragraph(),
            "span" => _ = self.spans.pop(),
            "ruby-text" => self.write(")"),
            "frame" => self.is_title = false,
            "note-body" | "annotation" => self.output.end_note(),
            "list" => {
                self.lists.pop();
                self.output.end_list(self.lists.len());
            }
            "table" => self.output.end_table(),
            "table-row" => self.output.end_row(),
            "table-cell" | "covered-table-cell" => self.output.end_cell(),
            _ => {}
        }
    }

    fn text(&mut self, text: &str) {
        if self.ignored == 0 {
            self.write(&collapsed(text));
        }
    }

    fn write(&mut self, text: &str) {
        let style = self.spans.last().copied().unwrap_or_default();
        if !style.is_hidden {
            self.output
                .write_script(text, style.script.unwrap_or_default());
        }
    }
}

/// Text in which white space, such as the indentation of the XML, is single spaces.
fn collapsed(text: &str) -> String {
    let mut collapsed = String::with_capacity(text.len());
    for char in text.chars() {
        if !matches!(char, ' ' | '\n' | '\t' | '\r') {
            collapsed.push(char);
        } else if !collapsed.ends_with(' ') {
            collapsed.push(' ');
        }
    }
    collapsed
}

/// A number in an attribute, 1 by default.
fn number(tag: &Tag, name: &str) -> usize {
    tag.attribute(name)
        .and_then(|value| value.parse().ok())
        .unwrap_or(1)
}

#[cfg(test)]
mod tests;
