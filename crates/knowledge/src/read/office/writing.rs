//! Paragraphs, headings, lists and tables of Word documents and slides as Markdown; both use the same element names.

use std::{collections::HashMap, mem};

use super::{
    bullets::{Bullet, Shape},
    damaged,
    math::Math,
    numbering::{Counters, ListPosition, Numbering},
    styles::{ListReference, RunStyle, Styles, level_of_outline},
    symbols::{FormField, symbol},
    xml::{Item, Items, Tag},
};
use crate::{
    read::{
        line::{Line, Script},
        list::{Label, Nesting},
        table::{Merge, Table},
    },
    unreadable::{Limits, Unreadable},
};

/// Paragraphs, tables and equations may be nested to this depth.
const MAX_NESTING: usize = 200;
/// A line with a page number and fewer other letters than this says nothing else.
const PAGE_WORDS_CHARS: usize = 12;

/// What the parts of a Word document refer to.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    pub(super) styles: Styles,
    pub(super) numbering: Numbering,
}

/// The Markdown written so far.
pub(super) struct Writing<'a> {
    definitions: &'a Definitions,
    /// The charts, diagrams and imported documents of the part as Markdown, by ID.
    objects: HashMap<String, String>,
    content: Content,
    limit_bytes: u64,
    /// The text, and above it that of open text boxes and table cells.
    blocks: Vec<String>,
    /// The number of bytes in all blocks and paragraphs.
    size: usize,
    /// Positions of page breaks when the document was last rendered.
    breaks: Vec<usize>,
    /// The open paragraphs; text boxes have paragraphs in a paragraph.
    paragraphs: Vec<Paragraph>,
    runs: Vec<RunStyle>,
    tables: Vec<Table>,
    /// The list being written.
    list: Nesting,
    counters: Counters,
    shape: Shape,
    math: Math,
    /// The reading of characters.
    reading: Line,
    form: Option<FormField>,
    /// The text of a paragraph that goes on in the next.
    joined: Option<Line>,
    is_in_properties: bool,
    is_in_row_properties: bool,
    is_in_text: bool,
    is_in_instruction: bool,
    is_in_reading: bool,
    is_placeholder: bool,
}

/// Which content of a part is of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Content {
    All,
    /// What the speaker of a slide says.
    Notes,
    /// A header or a footer without page numbers.
    Margin,
}

#[derive(Default)]
struct Paragraph {
    line: Line,
    heading: u8,
    style: String,
    style_list: ListReference,
    /// The list that the paragraph states itself.
    list: Option<ListReference>,
    /// How its runs are shown unless they say otherwise.
    run: RunStyle,
    bullet: Bullet,
    level: usize,
    /// Charts, diagrams and text boxes in it.
    after: String,
    /// Whether the next paragraph goes on with it: its end is deleted, or it is a drop cap.
    is_joined: bool,
    has_page_number: bool,
}

impl Paragraph {
    fn list(&self) -> ListReference {
        match &self.list {
            None => self.style_list.clone(),
            Some(ListReference { list: None, level }) => ListReference {
                list: self.style_list.list.clone(),
                level: level.or(self.style_list.level),
            },
            Some(stated) => stated.clone(),
        }
    }
}

impl<'a> Writing<'a> {
    pub(super) fn new(definitions: &'a Definitions, limits: &Limits) -> Self {
        Self {
            definitions,
            objects: HashMap::new(),
            content: Content::All,
            limit_bytes: limits.text_bytes,
            blocks: vec![String::new()],
            size: 0,
            breaks: Vec::new(),
            paragraphs: Vec::new(),
            runs: Vec::new(),
            tables: Vec::new(),
            list: Nesting::default(),
            counters: Counters::default(),
            shape: Shape::default(),
            math: Math::default(),
            reading: Line::default(),
            form: None,
            joined: None,
            is_in_properties: false,
            is_in_row_properties: false,
            is_in_text: false,
            is_in_instruction: false,
            is_in_reading: false,
            is_placeholder: false,
        }
    }

    /// Reads only this content.
    pub(super) fn only(mut self, content: Content) -> Self {
        self.content = content;
        self
    }

    /// Shows these charts, diagrams and documents where the part refers to them.
    pub(super) fn with_objects(mut self, objects: HashMap<String, String>) -> Self {
        self.objects = objects;
        self
    }

    /// Adds a part's text.
    ///
    /// # Errors
    /// If the part is damaged, or the text too long.
    pub(super) fn read(&mut self, xml: &str) -> Result<(), Unreadable> {
        let mut items = Items::new(xml);
        while let Some(item) = items.next() {
            match item? {
                Item::Open(tag) if self.skips(&tag) => items.skip_element()?,
                Item::Open(tag) => self.open(&tag),
                Item::Text(text) if self.is_in_text => self.push(&text),
                Item::Text(text) if self.is_in_instruction => self.note_instruction(&text),
                Item::Text(_) => {}
                Item::Close(name) => self.close(&name),
            }
            self.check()?;
        }
        Ok(())
    }

    /// Adds a block of Markdown.
    pub(super) fn add(&mut self, block: &str) {
        self.leave_list();
        self.write(block);
    }

    /// The text, and the positions at which its pages begin.
    pub(super) fn finish(mut self) -> (String, Vec<usize>) {
        self.end_paragraph();
        if let Some(line) = self.joined.take() {
            self.paragraphs.push(Paragraph {
                line,
                ..Paragraph::default()
            });
            self.end_paragraph();
        }
        self.leave_list();
        (self.blocks.swap_remove(0), self.breaks)
    }

    fn check(&self) -> Result<(), Unreadable> {
        let tables: usize = self.tables.iter().map(|table| table.size).sum();
        if (self.size + tables) as u64 > self.limit_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: self.limit_bytes,
            });
        }
        let nesting = self.blocks.len() + self.paragraphs.len() + self.runs.len();
        if nesting + self.tables.len() + self.math.depth() > MAX_NESTING {
            return Err(damaged());
        }
        Ok(())
    }

    /// Whether an element repeats other text, or has text that is not valid (any more).
    fn skips(&mut self, tag: &Tag) -> bool {
        match tag.name.as_str() {
            "Fallback" | "pPrChange" | "rPrChange" | "tblPrChange" | "tblPrExChange"
            | "trPrChange" | "tcPrChange" | "sectPrChange" | "lstStyle" => true,
            "del" | "moveFrom" => {
                self.note_deletion();
                true
            }
            "sdtContent" => mem::take(&mut self.is_placeholder),
            "txBody" => match self.content {
                Content::Notes => !self.shape.is_notes(),
                Content::All | Content::Margin => self.shape.is_slide_number(),
            },
            _ => false,
        }
    }

    /// Notes that what the open properties belong to is deleted.
    fn note_deletion(&mut self) {
        if self.is_in_row_properties {
            if let Some(table) = self.tables.last_mut() {
                table.is_row_deleted = true;
            }
        } else if self.is_in_properties
            && let Some(paragraph) = self.paragraphs.last_mut()
        {
            paragraph.is_joined = true;
        }
    }

    fn open(&mut self, tag: &Tag) {
        self.math.open(tag);
        if let Some(form) = &mut self.form {
            form.note(tag);
        }
        match tag.name.as_str() {
            "p" => self.paragraphs.push(Paragraph {
                line: self.joined.take().unwrap_or_default(),
                ..Paragraph::default()
            }),
            "pPr" => {
                self.is_in_properties = true;
                self.note_slide_level(tag);
            }
            "sdtPr" => self.is_in_properties = true,
            "trPr" => self.is_in_row_properties = true,
            "comment" => self.begin_comment(tag),
            "r" | "fld" => {
                if tag.attribute("type").as_deref() == Some("slidenum")
                    && let Some(paragraph) = self.paragraphs.last_mut()
                {
                    paragraph.has_page_number = true;
                }
                let run = self.paragraphs.last().map(|it| it.run).unwrap_or_default();
                self.runs.push(run);
            }
            "t" => self.is_in_text = true,
            "instrText" => self.is_in_instruction = true,
            "fldSimple" => self.note_instruction(&tag.attribute("instr").unwrap_or_default()),
            "sdt" => self.is_placeholder = false,
            "showingPlcHdr" => self.is_placeholder = tag.is_on(),
            "sp" | "graphicFrame" => self.shape = Shape::default(),
            "ph" => self.shape.note_placeholder(tag),
            "tbl" => self.tables.push(Table::default()),
            "txbxContent" => self.blocks.push(String::new()),
            "rt" => self.is_in_reading = true,
            "ffData" => self.form = Some(FormField::default()),
            "chart" | "altChunk" => self.add_object(tag.prefixed_attribute("id")),
            "relIds" => self.add_object(tag.prefixed_attribute("dm")),
            "lastRenderedPageBreak" => self.break_page(),
            _ if self.is_in_properties => self.note_of_paragraph(tag),
            "tab" => self.push(" "),
            "br" | "cr" => self.push("\n"),
            "noBreakHyphen" => self.push("-"),
            "sym" => {
                if let Some(char) = symbol(tag) {
                    self.push(char.encode_utf8(&mut [0; 4]));
                }
            }
            _ => {
                self.note_of_run(tag);
                self.note_of_table(tag);
            }
        }
    }

    fn close(&mut self, name: &str) {
        if let Some(equation) = self.math.close(name) {
            self.push(&equation);
        }
        match name {
            "t" => self.is_in_text = false,
            "instrText" => self.is_in_instruction = false,
            "pPr" | "sdtPr" => self.is_in_properties = false,
            "trPr" => self.is_in_row_properties = false,
            "r" | "fld" => _ = self.runs.pop(),
            "p" => self.end_paragraph(),
            "sp" | "graphicFrame" => self.shape = Shape::default(),
            "txbxContent" => self.end_text_box(),
            "rt" => self.is_in_reading = false,
            "tc" => self.end_cell(),
            "tr" => {
                if let Some(table) = self.tables.last_mut() {
                    table.end_row();
                }
            }
            "tbl" => self.end_table(),
            "ruby" => self.end_ruby(),
            "ffData" => {
                if let Some(shown) = self.form.take().and_then(|form| form.shown()) {
                    self.push(&shown);
                }
            }
            _ => {}
        }
    }

    /// The comment's text begins with its author.
    fn begin_comment(&mut self, tag: &Tag) {
        let author = tag.attribute("author").unwrap_or_default();
        if !author.trim().is_empty() {
            let mut line = Line::default();
            line.push(&format!("{}: ", author.trim()), Script::Baseline);
            self.joined = Some(line);
        }
    }

    fn note_slide_level(&mut self, tag: &Tag) {
        if let Some(paragraph) = self.paragraphs.last_mut()
            && let Some(level) = tag.attribute("lvl").and_then(|level| level.parse().ok())
        {
            paragraph.level = level;
        }
    }

    fn note_of_paragraph(&mut self, tag: &Tag) {
        let Some(paragraph) = self.paragraphs.last_mut() else {
            return;
        };
        let value = || tag.attribute("val").unwrap_or_default();
        match tag.name.as_str() {
            "pStyle" => {
                paragraph.style = value();
                let style = self.definitions.styles.get(&paragraph.style);
                paragraph.heading = style.heading.unwrap_or(0);
                paragraph.style_list = style.list;
                paragraph.run = style.run;
            }
            "outlineLvl" => paragraph.heading = level_of_outline(&value()),
            "framePr" => {
                let drop_cap = tag.attribute("dropCap");
                paragraph.is_joined |= matches!(drop_cap.as_deref(), Some("drop" | "margin"));
            }
            "numPr" => paragraph.list = Some(ListReference::default()),
            "numId" | "ilvl" => {
                if let Some(list) = &mut paragraph.list {
                    list.note(tag);
                }
            }
            _ => paragraph.bullet.note(tag),
        }
    }

    fn note_of_run(&mut self, tag: &Tag) {
        let Some(run) = self.runs.last_mut() else {
            return;
        };
        if tag.name == "rStyle" {
            let style = tag.attribute("val").unwrap_or_default();
            *run = self.definitions.styles.get(&style).run.over(*run);
        } else {
            run.note(tag);
        }
    }

    fn note_of_table(&mut self, tag: &Tag) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        let number = || tag.attribute("val").and_then(|value| value.parse().ok());
        let is = |name: &str| matches!(tag.attribute(name).as_deref(), Some("1" | "true"));
        match tag.name.as_str() {
            "tr" => table.begin_row(),
            "gridBefore" => table.indent(number().unwrap_or(0)),
            "tc" => {
                table.begin_cell();
                table.merge = match (is("hMerge"), is("vMerge")) {
                    (true, _) => Merge::Left,
                    (_, true) => Merge::Above,
                    _ => Merge::None,
                };
                self.blocks.push(String::new());
            }
            "gridSpan" => table.span = number().unwrap_or(1),
            "vMerge" | "hMerge" if tag.attribute("val").as_deref() != Some("restart") => {
                let is_vertical = tag.name == "vMerge";
                table.merge = if is_vertical {
                    Merge::Above
                } else {
                    Merge::Left
                };
            }
            _ => {}
        }
    }

    fn note_instruction(&mut self, field: &str) {
        let name = field.split_whitespace().next().unwrap_or_default();
        if matches!(name, "PAGE" | "NUMPAGES" | "SECTIONPAGES")
            && let Some(paragraph) = self.paragraphs.last_mut()
        {
            paragraph.has_page_number = true;
        }
    }

    /// Adds text to the open run.
    fn push(&mut self, text: &str) {
        let run = self.runs.last().copied().unwrap_or_default();
        if !run.is_valid() {
            return;
        }
        self.size += text.len();
        if self.math.depth() > 0 {
            self.math.push(text);
        } else if self.is_in_reading {
            self.reading.push(text, Script::Baseline);
        } else if let Some(paragraph) = self.paragraphs.last_mut() {
            paragraph.line.push(text, run.script());
        }
    }

    /// Writes the reading of characters behind them.
    fn end_ruby(&mut self) {
        let reading = mem::take(&mut self.reading).finish();
        if !reading.trim().is_empty() {
            self.push(&format!("({})", reading.trim()));
        }
    }

    fn add_object(&mut self, id: Option<String>) {
        let Some(object) = id.and_then(|id| self.objects.remove(&id)) else {
            return;
        };
        match self.paragraphs.last_mut() {
            Some(paragraph) => {
                self.size += object.len();
                paragraph.after.push_str(&object);
            }
            None => self.add(&object),
        }
    }

    /// The page begins with the paragraph, or with the part of it already written.
    fn break_page(&mut self) {
        let text = &self.blocks[0];
        let has_begun = |paragraph: &Paragraph| !paragraph.line.is_empty();
        if self.blocks.len() == 1
            && (!text.is_empty() || self.paragraphs.iter().any(has_begun))
            && self.breaks.last() != Some(&text.len())
        {
            self.breaks.push(text.len());
        }
    }

    fn end_paragraph(&mut self) {
        let Some(mut paragraph) = self.paragraphs.pop() else {
            return;
        };
        if paragraph.is_joined {
            self.joined = Some(paragraph.line);
            return;
        }
        self.size = self.size.saturating_sub(paragraph.line.size());
        let text = mem::take(&mut paragraph.line).finish();
        let text = text.trim();
        // Word numbers empty paragraphs too.
        let position = self.list_position(&paragraph, text);
        if !text.is_empty() && !self.is_page_number(&paragraph, text) {
            if self.tables.is_empty() {
                self.write_paragraph(text, paragraph.heading, position);
            } else {
                self.write_in_cell(text, position);
            }
        }
        if !paragraph.after.is_empty() {
            self.size = self.size.saturating_sub(paragraph.after.len());
            self.add(&paragraph.after);
        }
    }

    fn is_page_number(&self, paragraph: &Paragraph, text: &str) -> bool {
        let letters = text.chars().filter(|char| char.is_alphabetic()).count();
        let most = match self.content {
            Content::Margin => PAGE_WORDS_CHARS,
            Content::All | Content::Notes => 0,
        };
        paragraph.has_page_number && letters <= most
    }

    fn list_position(&mut self, paragraph: &Paragraph, text: &str) -> Option<ListPosition> {
        let list = paragraph.list();
        if list.list.is_none() && paragraph.list.is_some() {
            return Some(ListPosition {
                label: Label::Bullet,
                level: list.level.unwrap_or(0),
            });
        }
        let Definitions { styles, numbering } = self.definitions;
        let of_word = self
            .counters
            .next(numbering, styles, &list, &paragraph.style);
        let has_bullet = paragraph.bullet != Bullet::Inherited || self.tables.is_empty();
        match of_word {
            None if has_bullet && !text.is_empty() => {
                self.shape.list_position(&paragraph.bullet, paragraph.level)
            }
            of_word => of_word,
        }
    }

    fn write_paragraph(&mut self, text: &str, heading: u8, position: Option<ListPosition>) {
        let heading = if self.shape.is_title() { 2 } else { heading };
        if heading > 0 {
            let marks = "#".repeat(heading.into());
            let number = position.map(|position| position.label.heading());
            let number = number.unwrap_or_default();
            self.add(&format!("{marks} {number}{}\n\n", text.replace('\n', " ")));
            return;
        }
        let Some(ListPosition { label, level }) = position else {
            self.add(text);
            self.write("\n\n");
            return;
        };
        let depth = self.list.depth(level);
        let text = text.replace('\n', " ");
        self.write(&format!("{}{text}\n", label.item(depth)));
    }

    fn write_in_cell(&mut self, text: &str, position: Option<ListPosition>) {
        let label = position.map(|position| position.label.inline());
        let label = label.unwrap_or_default();
        let is_first = self.blocks.last().is_none_or(String::is_empty);
        let space = if is_first { "" } else { " " };
        self.write(&format!("{space}{label}{text}"));
    }

    fn leave_list(&mut self) {
        if self.list.end() {
            self.write("\n");
        }
    }

    fn write(&mut self, text: &str) {
        if let Some(block) = self.blocks.last_mut() {
            self.size += text.len();
            block.push_str(text);
        }
    }

    /// Ends the innermost block above the text.
    fn end_block(&mut self) -> Option<String> {
        if self.blocks.len() < 2 {
            return None;
        }
        let block = self.blocks.pop()?;
        self.size = self.size.saturating_sub(block.len());
        Some(block)
    }

    fn end_text_box(&mut self) {
        self.leave_list();
        let Some(text) = self.end_block() else { return };
        match self.paragraphs.last_mut() {
            Some(paragraph) => {
                self.size += text.len();
                paragraph.after.push_str(&text);
            }
            None => self.write(&text),
        }
    }

    fn end_cell(&mut self) {
        if self.tables.is_empty() {
            return;
        }
        let text = self.end_block().unwrap_or_default();
        if let Some(table) = self.tables.last_mut() {
            table.end_cell(text.trim().to_owned());
        }
    }

    fn end_table(&mut self) {
        let Some(table) = self.tables.pop() else {
            return;
        };
        if !self.tables.is_empty() {
            let is_first = self.blocks.last().is_none_or(String::is_empty);
            self.write(if is_first { "" } else { " " });
            self.write(&table.inline());
            return;
        }
        self.add(&table.markdown());
        self.write("\n");
    }
}
