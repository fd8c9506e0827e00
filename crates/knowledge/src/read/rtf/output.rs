//! The Markdown written from RTF, with the open paragraph and table.

use std::mem;

use crate::{document::Document, read::table};

#[derive(Default)]
pub(super) struct Output {
    text: String,
    paragraph: String,
    /// Level of the open paragraph if it is a heading, otherwise 0.
    pub(super) level: u8,
    /// Number or bullet of the open paragraph.
    pub(super) list_mark: String,
    pub(super) is_in_table: bool,
    pub(super) note: String,
    pub(super) title: String,
    cells: Vec<String>,
    rows: Vec<Vec<String>>,
    /// Length of the open table, bytes.
    table_bytes: usize,
    notes: String,
    was_raised: bool,
    was_listed: bool,
}

impl Output {
    /// Adds text to the open paragraph. Raised text is an exponent behind a number or a letter.
    pub(super) fn push(&mut self, text: &str, is_raised: bool) {
        let begins_raised = is_raised && !self.was_raised;
        if begins_raised && self.paragraph.ends_with(char::is_alphanumeric) {
            self.paragraph.push('^');
        }
        self.was_raised = is_raised;
        self.paragraph.push_str(text);
    }

    /// The total length, bytes.
    pub(super) fn len(&self) -> usize {
        let open = self.paragraph.len() + self.table_bytes + self.note.len();
        self.text.len() + self.notes.len() + open
    }

    pub(super) fn reset_paragraph(&mut self) {
        self.level = 0;
        self.is_in_table = false;
    }

    pub(super) fn end_paragraph(&mut self) {
        self.was_raised = false;
        if self.is_in_table || !self.cells.is_empty() {
            self.paragraph.push(' ');
            return;
        }
        self.end_table();
        let paragraph = mem::take(&mut self.paragraph);
        let mark = mem::take(&mut self.list_mark);
        let paragraph = paragraph.trim();
        if paragraph.is_empty() {
            return;
        }
        let mark = mark.trim();
        let is_listed = !mark.is_empty();
        if self.was_listed && !is_listed {
            self.text.push('\n');
        }
        self.was_listed = is_listed;
        if is_listed {
            let is_number = mark.contains(char::is_alphanumeric);
            self.text.push_str(if is_number { mark } else { "-" });
            self.text.push(' ');
        } else if (1..=6).contains(&self.level) {
            self.text
                .extend(std::iter::repeat_n('#', self.level.into()));
            self.text.push(' ');
        }
        let is_heading = !is_listed && self.level > 0;
        let paragraph = if is_heading {
            paragraph.replace('\n', " ")
        } else {
            paragraph.to_owned()
        };
        self.text.push_str(&paragraph);
        self.text.push_str(if is_listed { "\n" } else { "\n\n" });
    }

    pub(super) fn end_cell(&mut self) {
        let mark = mem::take(&mut self.list_mark);
        let cell = mem::take(&mut self.paragraph);
        let cell = format!("{} {}", mark.trim(), cell.trim());
        // Each cell takes a mark even if it is empty.
        self.table_bytes += cell.len() + 2;
        self.cells.push(cell);
        self.was_raised = false;
    }

    pub(super) fn end_row(&mut self) {
        let cells = mem::take(&mut self.cells);
        if !cells.is_empty() {
            self.rows.push(cells);
        }
    }

    fn end_table(&mut self) {
        self.end_row();
        let rows = mem::take(&mut self.rows);
        self.table_bytes = 0;
        if rows.is_empty() {
            return;
        }
        if mem::take(&mut self.was_listed) {
            self.text.push('\n');
        }
        self.text.push_str(&table::markdown(&rows));
        self.text.push('\n');
    }

    pub(super) fn end_note(&mut self) {
        let note = mem::take(&mut self.note);
        if !note.trim().is_empty() {
            self.notes.push_str(note.trim());
            self.notes.push_str("\n\n");
        }
    }

    pub(super) fn finish(mut self) -> Document {
        self.reset_paragraph();
        self.end_row();
        self.end_paragraph();
        self.end_table();
        self.end_note();
        if self.was_listed {
            self.text.push('\n');
        }
        let document = Document::of_markdown(self.text + &self.notes);
        let title = Some(self.title.trim().to_owned()).filter(|title| !title.is_empty());
        Document {
            title: title.or(document.title),
            ..document
        }
    }
}
