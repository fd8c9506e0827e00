//! OpenDocument texts, spreadsheets and presentations as Markdown.

mod numbering;
mod output;
mod styles;

use std::collections::HashMap;

use self::{
    numbering::{Counts, EndedLists},
    output::Output,
    styles::{OUTLINE, Styles, TextStyle},
};
use super::{
    html,
    list::Label,
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
/// Maximum number of objects that are read.
const MAX_OBJECTS: usize = 1000;
/// Maximum number of cells or rows for which one that is repeated stands.
const MAX_REPEATED: usize = 1000;

/// Reads an OpenDocument file, which is a ZIP archive or a single XML file.
///
/// # Errors
/// If it is encrypted, damaged, or has too much text.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    if !bytes.starts_with(b"PK") {
        let xml = plain::decode(bytes)?;
        let parts = Parts {
            content: &xml,
            styles: "",
            meta: &xml,
            objects: HashMap::new(),
        };
        return parts.read(limits);
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
    let parts = Parts {
        content: &content,
        styles: &styles,
        meta: &meta,
        objects: objects(&mut archive, &content, limits)?,
    };
    parts.read(limits)
}

/// The parts of a file.
#[derive(Default)]
struct Parts<'a> {
    content: &'a str,
    styles: &'a str,
    meta: &'a str,
    objects: HashMap<String, Object>,
}

impl Parts<'_> {
    fn read(self, limits: &Limits) -> Result<Document, Unreadable> {
        let mut reader = Reader {
            styles: Styles::read([self.styles, self.content])?,
            output: Output::new(limits),
            objects: self.objects,
            ..Reader::default()
        };
        for item in Items::new(self.content) {
            match item? {
                Item::Open(tag) => reader.open(&tag),
                Item::Text(text) => reader.text(&text),
                Item::Close(name) => reader.close(&name),
            }
            reader.output.check()?;
        }
        let document = reader.output.finish();
        Ok(Document {
            title: title(self.meta).or(document.title),
            ..document
        })
    }
}

/// An object in a text that has a content of its own.
enum Object {
    /// An equation as plain text.
    Equation(String),
    /// A chart with its values, or another document, as Markdown.
    Document(String),
}

/// The objects to which a text refers, by their addresses. Damaged ones are left out, and those inside of them.
///
/// # Errors
/// If one cannot be unpacked, or has too much text.
fn objects(
    archive: &mut Archive<'_>,
    content: &str,
    limits: &Limits,
) -> Result<HashMap<String, Object>, Unreadable> {
    let mut objects = HashMap::new();
    let mut left = *limits;
    for item in Items::new(content).map_while(Result::ok) {
        let Item::Open(tag) = item else { continue };
        let Some(address) = tag.attribute("href").filter(|_| tag.name == "object") else {
            continue;
        };
        if objects.len() == MAX_OBJECTS || objects.contains_key(&address) {
            continue;
        }
        let folder = address.trim_start_matches("./").trim_end_matches('/');
        let Some(content) = archive.text(&format!("{folder}/content.xml"))? else {
            continue;
        };
        if let Some(equation) = html::math::of_file(&content) {
            objects.insert(address, Object::Equation(equation));
            continue;
        }
        let parts = Parts {
            content: &content,
            ..Parts::default()
        };
        match parts.read(&left) {
            Ok(Document { text, .. }) => {
                left.text_bytes = left.text_bytes.saturating_sub(text.len() as u64);
                objects.insert(address, Object::Document(text));
            }
            Err(Unreadable::Damaged { .. }) => {}
            Err(why) => return Err(why),
        }
    }
    Ok(objects)
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
    /// Styles of the open paragraphs and spans, each with those around it.
    spans: Vec<TextStyle>,
    /// The styles of the open lists.
    lists: Vec<String>,
    /// The ID of the outermost open list.
    list_id: String,
    counts: Counts,
    ended: EndedLists,
    /// The list item that begins with the next paragraph.
    item: Option<ListItem>,
    outline: Counts,
    objects: HashMap<String, Object>,
    is_spreadsheet: bool,
    is_title: bool,
}

/// A list item without a paragraph so far.
struct ListItem {
    start: Option<u32>,
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
            "h" => self.begin_heading(tag),
            "p" => {
                self.begin_item();
                self.spans.push(self.styles.of_text(&style_name(tag)));
                self.output
                    .begin_paragraph(if self.is_title { 2 } else { 0 });
            }
            "span" => {
                let outer = self.spans.last().copied().unwrap_or_default();
                let inner = self.styles.of_text(&style_name(tag));
                self.spans.push(outer.with(inner));
            }
            "s" => self.write(&" ".repeat(number(tag, "c").min(MAX_REPEATED))),
            "tab" => self.write(" "),
            "line-break" => self.write("\n"),
            "ruby-text" => self.write("("),
            "object" => self.add_object(tag),
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
            "list" => self.begin_list(tag),
            "list-item" => {
                let start = tag.attribute("start-value");
                let start = start.and_then(|start| start.parse().ok());
                self.item = Some(ListItem { start });
            }
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

    /// A list restarts its numbers unless it continues another.
    fn begin_list(&mut self, tag: &Tag) {
        self.item = None;
        let outer = self.lists.last().cloned();
        let style = tag.attribute("style-name").or(outer).unwrap_or_default();
        let continues = tag.attribute("continue-numbering").as_deref() == Some("true");
        if self.lists.is_empty() {
            self.counts = match tag.attribute("continue-list") {
                Some(id) => self.ended.get(&id),
                None if continues => self.ended.get(&style),
                None => Counts::default(),
            };
            self.list_id = tag.attribute("id").unwrap_or_default();
        } else if !continues {
            self.counts.restart(self.lists.len());
        }
        self.lists.push(style);
    }

    fn end_list(&mut self) {
        self.item = None;
        let style = self.lists.pop().unwrap_or_default();
        if self.lists.is_empty() {
            self.ended.add(&style, self.counts);
            self.ended.add(&self.list_id, self.counts);
        }
        self.output.end_list(self.lists.len());
    }

    /// Begins the list item of which this is the first paragraph.
    fn begin_item(&mut self) {
        let Some(item) = self.item.take() else {
            return;
        };
        if let Some(style) = self.lists.last() {
            let depth = self.lists.len() - 1;
            let levels = self.styles.levels(style);
            let label = self.counts.next(levels, depth, item.start);
            self.output.set_item(depth, label.unwrap_or(Label::Bullet));
        }
    }

    /// Adds an object where the text refers to it. The values of charts in a spreadsheet are in its cells.
    fn add_object(&mut self, tag: &Tag) {
        let object = tag
            .attribute("href")
            .and_then(|it| self.objects.remove(&it));
        match object {
            Some(Object::Equation(text)) => self.write(&text),
            Some(Object::Document(text)) if !self.is_spreadsheet => self.output.add_block(&text),
            Some(Object::Document(_)) | None => {}
        }
    }

    fn begin_heading(&mut self, tag: &Tag) {
        let level = number(tag, "outline-level");
        let style = style_name(tag);
        self.begin_item();
        if self.lists.is_empty()
            && tag.attribute("is-list-header").as_deref() != Some("true")
            && !self.styles.is_unnumbered(&style)
        {
            let restarts = tag.attribute("restart-numbering").as_deref() == Some("true");
            let start = tag.attribute("start-value").filter(|_| restarts);
            let start = start.and_then(|start| start.parse().ok());
            let levels = self.styles.levels(OUTLINE);
            let label = self.outline.next(levels, level.saturating_sub(1), start);
            if let Some(label) = label {
                self.output.set_item(0, label);
            }
        }
        self.spans.push(self.styles.of_text(&style));
        self.output.begin_paragraph(level.clamp(1, 6));
    }

    fn close(&mut self, name: &str) {
        if self.ignored > 0 {
            self.ignored -= u32::from(self.is_ignored(name));
            return;
        }
        match name {
            "h" | "p" => {
                self.spans.pop();
                self.output.end_paragraph();
            }
            "span" => _ = self.spans.pop(),
            "ruby-text" => self.write(")"),
            "frame" => self.is_title = false,
            "note-body" | "annotation" => self.output.end_note(),
            "list" => self.end_list(),
            "list-item" => self.item = None,
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

fn style_name(tag: &Tag) -> String {
    tag.attribute("style-name").unwrap_or_default()
}

/// A number in an attribute, 1 by default.
fn number(tag: &Tag, name: &str) -> usize {
    tag.attribute(name)
        .and_then(|value| value.parse().ok())
        .unwrap_or(1)
}

#[cfg(test)]
mod tests;
