//! The Markdown written from an OpenDocument file, with the open paragraphs, notes and tables.

use std::mem;

use crate::{
    document::{Document, Page},
    read::table,
    unreadable::{Limits, Unreadable},
};

#[derive(Default)]
pub(super) struct Output {
    limits: Limits,
    text: String,
    pages: Vec<Page>,
    /// The open paragraphs: text boxes and notes are inside of others.
    paragraphs: Vec<Paragraph>,
    /// Text outside of paragraphs.
    loose: String,
    tables: Vec<Table>,
    notes: String,
    /// Nesting depth in notes.
    in_notes: u32,
    /// Depth and mark of the list item that begins with the next paragraph.
    list_mark: Option<(usize, String)>,
    /// Length of open tables, bytes.
    table_bytes: usize,
}

#[derive(Default)]
struct Paragraph {
    text: String,
    /// Level of a heading, otherwise 0.
    level: usize,
    was_raised: bool,
}

#[derive(Default)]
struct Table {
    rows: Vec<Vec<String>>,
    cells: Vec<String>,
    cell: Option<String>,
    /// For how many rows and cells the open ones stand.
    row_times: usize,
    cell_times: usize,
    /// Length of the open row, bytes.
    row_bytes: usize,
}

impl Table {
    fn open_bytes(&self) -> usize {
        self.row_bytes + self.cell.as_ref().map_or(0, String::len)
    }
}

/// How often something of this length is repeated: until the text is too long.
fn repeated(times: usize, bytes: usize, limits: &Limits) -> usize {
    let room = usize::try_from(limits.text_bytes).unwrap_or(usize::MAX) / bytes.max(1);
    times.clamp(1, room.saturating_add(1))
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
        let paragraph = self.paragraphs.last().map_or(0, |it| it.text.len());
        let table = self.tables.last().map_or(0, Table::open_bytes) + self.table_bytes;
        let all = self.text.len() + self.notes.len() + self.loose.len() + table + paragraph;
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
            ..Paragraph::default()
        });
    }

    pub(super) fn write(&mut self, text: &str) {
        self.write_styled(text, false);
    }

    /// Adds text to the open paragraph. Raised text is an exponent behind a number or a letter.
    pub(super) fn write_styled(&mut self, text: &str, is_raised: bool) {
        let Some(paragraph) = self.paragraphs.last_mut() else {
            self.loose.push_str(text);
            return;
        };
        if is_raised && !paragraph.was_raised && paragraph.text.ends_with(char::is_alphanumeric) {
            paragraph.text.push('^');
        }
        paragraph.was_raised = is_raised;
        paragraph.text.push_str(text);
    }

    pub(super) fn end_paragraph(&mut self) {
        let Some(paragraph) = self.paragraphs.pop() else {
            return;
        };
        let text = paragraph.text.trim();
        if text.is_empty() {
            return;
        }
        if self.in_notes > 0 {
            self.notes.push_str(text);
            self.notes.push_str("\n\n");
        } else if let Some(cell) = self.open_cell() {
            cell.push(' ');
            cell.push_str(text);
        } else if paragraph.level > 0 {
            let line = text.replace('\n', " ");
            self.text.push_str(&"#".repeat(paragraph.level));
            self.text.push_str(&format!(" {line}\n\n"));
        } else if let Some((depth, mark)) = self.list_mark.take() {
            self.text
                .push_str(&"  ".repeat(depth.saturating_sub(1).min(10)));
            self.text.push_str(&format!("{mark} {text}\n"));
        } else {
            self.text.push_str(text);
            self.text.push_str("\n\n");
        }
    }

    fn open_cell(&mut self) -> Option<&mut String> {
        self.tables.last_mut()?.cell.as_mut()
    }

    fn end_loose(&mut self) {
        let loose = mem::take(&mut self.loose);
        if !loose.trim().is_empty() {
            self.text.push_str(loose.trim());
            self.text.push_str("\n\n");
        }
    }

    pub(super) fn set_list_mark(&mut self, depth: usize, mark: String) {
        self.list_mark = Some((depth, mark));
    }

    /// Ends a list, which is in this many others.
    pub(super) fn end_list(&mut self, depth: usize) {
        self.list_mark = None;
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
        self.tables.push(Table::default());
    }

    pub(super) fn begin_row(&mut self, times: usize) {
        if let Some(table) = self.tables.last_mut() {
            table.row_times = times;
        }
    }

    pub(super) fn begin_cell(&mut self, times: usize) {
        if let Some(table) = self.tables.last_mut() {
            table.cell = Some(String::new());
            table.cell_times = times;
        }
    }

    pub(super) fn end_cell(&mut self) {
        if let Some(table) = self.tables.last_mut()
            && let Some(cell) = table.cell.take()
        {
            let bytes = cell.len() + 2;
            let times = repeated(table.cell_times, bytes, &self.limits);
            table.row_bytes += times * bytes;
            table.cells.extend(std::iter::repeat_n(cell, times));
        }
    }

    /// Rows are written without the empty cells at their end; empty ones are left out.
    pub(super) fn end_row(&mut self) {
        let Some(table) = self.tables.last_mut() else {
            return;
        };
        table.row_bytes = 0;
        let mut cells = mem::take(&mut table.cells);
        let filled = cells.iter().rposition(|cell| !cell.is_empty());
        cells.truncate(filled.map_or(0, |last| last + 1));
        if !cells.is_empty() {
            let bytes: usize = cells.iter().map(|cell| cell.len() + 2).sum();
            let times = repeated(table.row_times, bytes, &self.limits);
            self.table_bytes += times * bytes;
            table.rows.extend(std::iter::repeat_n(cells, times));
        }
    }

    pub(super) fn end_table(&mut self) {
        let Some(table) = self.tables.pop() else {
            return;
        };
        if let Some(cell) = self.open_cell() {
            let rows: Vec<String> = table.rows.iter().map(|row| row.join(" / ")).collect();
            cell.push_str(&rows.join(" / "));
            return;
        }
        self.table_bytes = 0;
        if !table.rows.is_empty() {
            self.text.push_str(&table::markdown(&table.rows));
            self.text.push('\n');
        }
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
