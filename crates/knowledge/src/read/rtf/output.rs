//! The Markdown written from RTF, with the open paragraph and table.

use std::mem;

use crate::{
    document::Document,
    read::{
        line::{Line, Script},
        list::{Label, Nesting},
        table::{Merge, Table},
    },
};

/// Maximum number of cells of a row whose definitions are kept; Word has at most 63.
const MAX_DEFINED: usize = 200;

#[derive(Default)]
pub(in crate::read) struct Output {
    text: String,
    paragraph: Line,
    /// Level of the open paragraph if it is a heading, otherwise 0.
    pub(in crate::read) level: u8,
    /// Number or bullet of the open paragraph, and the level of its list.
    pub(in crate::read) list_mark: String,
    pub(in crate::read) list_level: usize,
    pub(in crate::read) is_in_table: bool,
    pub(in crate::read) note: Line,
    pub(in crate::read) title: String,
    table: Table,
    /// How the cells of the open row are merged, as far as it is defined, and the column of the next cell.
    merges: Vec<Merge>,
    column: usize,
    notes: String,
    list: Nesting,
}

impl Output {
    /// Adds text to the open paragraph.
    pub(in crate::read) fn push(&mut self, text: &str, script: Script) {
        self.paragraph.push(text, script);
    }

    /// The total length, bytes.
    pub(in crate::read) fn len(&self) -> usize {
        let open = self.paragraph.size() + self.table.size + self.note.size();
        self.text.len() + self.notes.len() + open
    }

    pub(in crate::read) fn reset_paragraph(&mut self) {
        self.level = 0;
        self.list_level = 0;
        self.is_in_table = false;
    }

    /// Begins the definition of a row.
    pub(in crate::read) fn define_row(&mut self) {
        self.merges.clear();
    }

    /// Defines how the next cells of the row are merged.
    pub(in crate::read) fn define_cell(&mut self, merge: Merge) {
        if self.merges.len() < MAX_DEFINED {
            self.merges.push(merge);
        }
    }

    pub(in crate::read) fn end_paragraph(&mut self) {
        if self.is_in_table || self.table.is_in_row() {
            self.push(" ", Script::Baseline);
            return;
        }
        self.end_table();
        let paragraph = mem::take(&mut self.paragraph).finish();
        let mark = mem::take(&mut self.list_mark);
        let paragraph = paragraph.trim();
        if paragraph.is_empty() {
            return;
        }
        let label = label(&mark);
        if (1..=6).contains(&self.level) {
            self.end_list();
            let marks = "#".repeat(self.level.into());
            let line = paragraph.replace('\n', " ");
            self.text
                .push_str(&format!("{marks} {}{line}\n\n", label.heading()));
        } else if label == Label::None {
            self.end_list();
            self.text.push_str(paragraph);
            self.text.push_str("\n\n");
        } else {
            let depth = self.list.depth(self.list_level);
            self.text
                .push_str(&format!("{}{paragraph}\n", label.item(depth)));
        }
    }

    fn end_list(&mut self) {
        if self.list.end() {
            self.text.push('\n');
        }
    }

    pub(in crate::read) fn end_cell(&mut self) {
        let mark = mem::take(&mut self.list_mark);
        let cell = mem::take(&mut self.paragraph).finish();
        let cell = format!("{}{}", label(&mark).inline(), cell.trim());
        self.table.begin_cell();
        self.table.merge = self.merges.get(self.column).copied().unwrap_or_default();
        self.table.end_cell(cell.trim().to_owned());
        self.column += 1;
    }

    pub(in crate::read) fn end_row(&mut self) {
        self.table.end_row();
        self.column = 0;
    }

    fn end_table(&mut self) {
        self.end_row();
        let table = mem::take(&mut self.table).markdown();
        if table.is_empty() {
            return;
        }
        self.end_list();
        self.text.push_str(&table);
        self.text.push('\n');
    }

    pub(in crate::read) fn end_note(&mut self) {
        let note = mem::take(&mut self.note).finish();
        if !note.trim().is_empty() {
            self.notes.push_str(note.trim());
            self.notes.push_str("\n\n");
        }
    }

    pub(in crate::read) fn finish(mut self) -> Document {
        self.reset_paragraph();
        self.end_row();
        self.end_paragraph();
        self.end_table();
        self.end_note();
        self.end_list();
        let document = Document::of_markdown(self.text + &self.notes);
        let title = Some(self.title.trim().to_owned()).filter(|title| !title.is_empty());
        Document {
            title: title.or(document.title),
            ..document
        }
    }
}

/// What the number or bullet before a paragraph says. Word's bullet of the second level is a letter.
fn label(mark: &str) -> Label {
    match mark.trim() {
        "" => Label::None,
        mark if mark != "o" && mark.contains(char::is_alphanumeric) => {
            Label::Number(mark.to_owned())
        }
        _ => Label::Bullet,
    }
}
