//! The Markdown written from an OpenDocument file, with the open paragraphs, notes and tables.

use std::mem;

use crate::{
    document::{Document, Page},
    read::{
        line::{Line, Script},
        list::Label,
        table::{Merge, Table},
    },
    unreadable::{Limits, Unreadable},
};

/// Paragraphs and tables may be nested to this depth.
const MAX_NESTING: usize = 200;

#[derive(Default)]
pub(super) struct Output {
    limits: Limits,
    text: String,
    pages: Vec<Page>,
    /// The open paragraphs: text boxes and notes are inside of others.
    paragraphs: Vec<Paragraph>,
    /// Text outside of paragraphs.
    loose: String,
    tables: Vec<OpenTable>,
    notes: String,
    /// Nesting depth in notes.
    in_notes: u32,
    /// Depth and label of the list item that begins with the next paragraph.
    item: Option<(usize, Label)>,
}

#[derive(Default)]
struct Paragraph {
    line: Line,
    /// Level of a heading, otherwise 0.
    level: usize,
    /// Depth and label of the list item that begins with it, or the label of the heading.
    item: Option<(usize, Label)>,
    /// Charts and documents in it.
    after: String,
}

#[derive(Default)]
struct OpenTable {
    table: Table,
    cell: Option<Cell>,
    /// For how many rows the open one stands.
    row_times: usize,
    /// The number of next cells that the last one covers.
    covered: usize,
}

impl OpenTable {
    fn size(&self) -> usize {
        self.table.size + self.cell.as_ref().map_or(0, |cell| cell.text.len())
    }
}

/// The open cell of a table.
struct Cell {
    text: String,
    /// For how many cells it stands.
    times: usize,
    /// The number of columns over which it extends, or `None` if another cell covers it.
    columns: Option<usize>,
}

impl Output {
    pub(super) fn new(limits: &Limits) -> Self {
        Self {
            limits: *limits,
            ..Self::default()
        }
    }

    /// # Errors
    /// If there is too much text, or there are too many pages.
    pub(super) fn check(&self) -> Result<(), Unreadable> {
        if self.paragraphs.len() + self.tables.len() > MAX_NESTING {
            return Err(Unreadable::damaged("an Office document"));
        }
        let sizes = self
            .paragraphs
            .iter()
            .map(|it| it.line.size() + it.after.len());
        let paragraphs: usize = sizes.sum();
        let tables: usize = self.tables.iter().map(OpenTable::size).sum();
        let all = self.text.len() + self.notes.len() + self.loose.len() + tables + paragraphs;
        if all as u64 > self.limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: self.limits.text_bytes,
            });
        }
        if self.pages.len() > self.limits.pages as usize {
            return Err(Unreadable::TooManyPages {
                limit: self.limits.pages,
            });
        }
        Ok(())
    }

    pub(super) fn begin_page(&mut self) {
        self.pages.push(Page {
            number: u32::try_from(self.pages.len() + 1).unwrap_or(u32::MAX),
            start: self.text.len(),
        });
    }

    /// Begins a page of a text, of which the first begins with the text.
    pub(super) fn break_page(&mut self) {
        if self.tables.is_empty() {
            if self.pages.is_empty() {
                self.pages.push(Page {
                    number: 1,
                    start: 0,
                });
            }
            self.begin_page();
        }
    }

    pub(super) fn begin_paragraph(&mut self, level: usize) {
        self.end_loose();
        self.paragraphs.push(Paragraph {
            level,
            item: self.item.take(),
            ..Paragraph::default()
        });
    }

    pub(super) fn write(&mut self, text: &str) {
        self.write_script(text, Script::Baseline);
    }

    /// Adds text to the open paragraph.
    pub(super) fn write_script(&mut self, text: &str, script: Script) {
        match self.paragraphs.last_mut() {
            Some(paragraph) => paragraph.line.push(text, script),
            None => self.loose.push_str(text),
        }
    }

    pub(super) fn end_paragraph(&mut self) {
        let Some(mut paragraph) = self.paragraphs.pop() else {
            return;
        };
        let after = mem::take(&mut paragraph.after);
        self.write_paragraph(paragraph);
        let output = match self.tables.last_mut().and_then(|open| open.cell.as_mut()) {
            Some(cell) => &mut cell.text,
            None => &mut self.text,
        };
        output.push_str(&after);
    }

    /// Adds blocks of Markdown after the open paragraph.
    pub(super) fn add_block(&mut self, text: &str) {
        match self.paragraphs.last_mut() {
            Some(paragraph) => paragraph.after.push_str(text),
            None => self.text.push_str(text),
        }
    }

    fn write_paragraph(&mut self, paragraph: Paragraph) {
        let text = paragraph.line.finish();
        let text = text.trim();
        if text.is_empty() {
            // The item may begin with the next paragraph.
            self.item = paragraph.item.filter(|_| paragraph.level == 0);
            return;
        }
        if self.in_notes > 0 {
            self.notes.push_str(text);
            self.notes.push_str("\n\n");
            return;
        }
        let item = paragraph.item;
        if let Some(cell) = self.open_cell() {
            let label = item.map(|(_, label)| label.inline()).unwrap_or_default();
            cell.push_str(&format!(" {label}{text}"));
        } else if paragraph.level > 0 {
            let marks = "#".repeat(paragraph.level);
            let number = item.map(|(_, label)| label.heading()).unwrap_or_default();
            let line = text.replace('\n', " ");
            self.text.push_str(&format!("{marks} {number}{line}\n\n"));
        } else if let Some((depth, label)) = item {
            self.text
                .push_str(&format!("{}{text}\n", label.item(depth)));
        } else {
            self.text.push_str(text);
            self.text.push_str("\n\n");
        }
    }

    fn open_cell(&mut self) -> Option<&mut String> {
        Some(&mut self.tables.last_mut()?.cell.as_mut()?.text)
    }

    fn end_loose(&mut self) {
        let loose = mem::take(&mut self.loose);
        if !loose.trim().is_empty() {
            self.text.push_str(loose.trim());
            self.text.push_str("\n\n");
        }
    }

    /// Begins the next paragraph as a list item or a numbered heading.
    pub(super) fn set_item(&mut self, depth: usize, label: Label) {
        self.item = Some((depth, label));
    }

    /// Ends a list, which is in this many others.
    pub(super) fn end_list(&mut self, depth: usize) {
        self.item = None;
        if depth == 0
            && self.tables.is_empty()
            && self.text.ends_with('\n')
            && !self.text.ends_with("\n\n")
        {
            self.text.push('\n');
        }
    }

    pub(super) fn begin_note(&mut self) {
        self.in_notes += 1;
    }

    pub(super) fn is_in_note(&self) -> bool {
        self.in_notes > 0
    }

    pub(super) fn end_note(&mut self) {
        self.in_notes = self.in_notes.saturating_sub(1);
    }

    pub(super) fn begin_table(&mut self) {
        self.tables.push(OpenTable::default());
    }

    pub(super) fn begin_row(&mut self, times: usize) {
        if let Some(open) = self.tables.last_mut() {
            open.row_times = times;
            open.covered = 0;
        }
    }

    /// Begins a cell that stands for this many and extends over these columns, or is covered by another.
    pub(super) fn begin_cell(&mut self, times: usize, columns: Option<usize>) {
        if let Some(open) = self.tables.last_mut() {
            open.cell = Some(Cell {
                text: String::new(),
                times,
                columns,
            });
        }
    }

    pub(super) fn end_cell(&mut self) {
        let limit_bytes = self.limit_bytes();
        let Some(open) = self.tables.last_mut() else {
            return;
        };
        let Some(cell) = open.cell.take() else {
            return;
        };
        for _ in 0..cell.times.max(1) {
            if open.table.size > limit_bytes {
                break;
            }
            open.table.begin_cell();
            open.table.merge = match cell.columns {
                Some(_) => Merge::None,
                // A cell covers those to its right in its own row, and then those below.
                None if open.covered > 0 => Merge::Left,
                None => Merge::Above,
            };
            open.covered = match cell.columns {
                Some(columns) => columns.saturating_sub(1),
                None => open.covered.saturating_sub(1),
            };
            open.table.end_cell(cell.text.trim().to_owned());
        }
    }

    /// Rows are written without the empty cells at their end; empty ones are left out.
    pub(super) fn end_row(&mut self) {
        let limit_bytes = self.limit_bytes();
        if let Some(open) = self.tables.last_mut() {
            open.table.end_trimmed_rows(open.row_times, limit_bytes);
        }
    }

    pub(super) fn end_table(&mut self) {
        let Some(OpenTable { table, .. }) = self.tables.pop() else {
            return;
        };
        if let Some(cell) = self.open_cell() {
            if !cell.is_empty() {
                cell.push(' ');
            }
            cell.push_str(&table.inline());
            return;
        }
        let table = table.markdown();
        if !table.is_empty() {
            self.text.push_str(&table);
            self.text.push('\n');
        }
    }

    fn limit_bytes(&self) -> usize {
        usize::try_from(self.limits.text_bytes).unwrap_or(usize::MAX)
    }

    pub(super) fn finish(mut self) -> Document {
        while !self.paragraphs.is_empty() {
            self.end_paragraph();
        }
        self.end_loose();
        while !self.tables.is_empty() {
            self.end_cell();
            self.end_row();
            self.end_table();
        }
        Document {
            pages: self.pages,
            ..Document::of_markdown(self.text + &self.notes)
        }
    }
}
