//! The rows of a sheet as a Markdown table, with merged cells filled in, and comments and texts drawn over it below.

use super::sheet_details::{Merged, Place, SheetDetails};
use crate::{
    read::table::{is_repeated, write_header, write_row},
    unreadable::{Limits, Unreadable},
};

/// Empty cells between others are kept up to this number; what is farther away stands below the table.
const MAX_GAP: usize = 200;
/// Maximum number of merged ranges that cover cells of a row.
const MAX_MERGED_IN_ROW: usize = 200;

/// Writes the rows of a sheet.
pub(super) struct SheetTable<'a> {
    details: &'a SheetDetails,
    text: &'a mut String,
    limit_bytes: u64,
    row: u32,
    /// The cells of the row up to the last one with content.
    cells: Vec<String>,
    /// The number of merged ranges that began in the rows so far, and those that cover this one.
    begun: usize,
    merged: Vec<MergedText>,
    /// The first row, which is written last, since it has a cell for each column.
    header: Option<Header>,
    /// The number of columns of the widest row.
    columns: usize,
    notes: String,
}

struct Header {
    start: usize,
    cells: Vec<String>,
}

struct MergedText {
    range: Merged,
    text: String,
}

impl<'a> SheetTable<'a> {
    pub(super) fn new(details: &'a SheetDetails, text: &'a mut String, limits: &Limits) -> Self {
        Self {
            details,
            text,
            limit_bytes: limits.text_bytes,
            row: 0,
            cells: Vec::new(),
            begun: 0,
            merged: Vec::new(),
            header: None,
            columns: 0,
            notes: String::new(),
        }
    }

    /// Adds the next cell.
    ///
    /// # Errors
    /// If the text is too long.
    pub(super) fn put(&mut self, place: Place, shown: &str) -> Result<(), Unreadable> {
        if place.row != self.row {
            self.end_row()?;
            self.row = place.row;
        }
        let shown = shown.trim().replace(['\n', '\r'], " ");
        if shown.is_empty() {
            return Ok(());
        }
        let shown = match self.details.links.get(&place) {
            Some(address) if !address.contains(&shown) => format!("[{shown}]({address})"),
            _ => shown,
        };
        let column = place.column as usize;
        if column > self.cells.len() + MAX_GAP {
            self.notes
                .push_str(&format!("{}: {shown}\n", place.reference()));
            return Ok(());
        }
        if column > self.cells.len() {
            self.cells.resize(column, String::new());
        }
        self.cells.push(shown);
        Ok(())
    }

    /// Writes the row if it has any content.
    fn end_row(&mut self) -> Result<(), Unreadable> {
        self.fill_merged();
        let cells = std::mem::take(&mut self.cells);
        if !cells.is_empty() {
            self.columns = self.columns.max(cells.len());
            if self.header.is_some() {
                write_row(self.text, &cells, cells.len());
            } else {
                let start = self.text.len();
                self.header = Some(Header { start, cells });
            }
        }
        self.check()
    }

    fn check(&self) -> Result<(), Unreadable> {
        if (self.text.len() + self.notes.len()) as u64 > self.limit_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: self.limit_bytes,
            });
        }
        Ok(())
    }

    /// Repeats the text of merged cells in each of them, except for a title above all columns.
    fn fill_merged(&mut self) {
        self.begin_merged();
        let filled = self.cells.iter().filter(|cell| !cell.is_empty()).count();
        for MergedText { range, text } in &self.merged {
            let is_title = range.first.row == self.row && filled == 1;
            if is_title || filled == 0 {
                continue;
            }
            let first = range.first.column as usize;
            let last = (range.last.column as usize).min(first + MAX_GAP);
            for column in first..=last {
                if column >= self.cells.len() + MAX_GAP {
                    break;
                }
                if column >= self.cells.len() {
                    self.cells.resize(column + 1, String::new());
                }
                if let Some(cell) = self.cells.get_mut(column).filter(|cell| cell.is_empty()) {
                    cell.push_str(text);
                }
            }
        }
    }

    /// Updates the merged ranges that cover the row.
    fn begin_merged(&mut self) {
        let row = self.row;
        self.merged.retain(|merged| merged.range.last.row >= row);
        while let Some(range) = self.details.merged.get(self.begun) {
            if range.first.row > row {
                break;
            }
            self.begun += 1;
            let text = self.cells.get(range.first.column as usize);
            if let Some(text) = text.filter(|text| !text.is_empty() && is_repeated(text))
                && range.first.row == row
                && self.merged.len() < MAX_MERGED_IN_ROW
            {
                let text = text.clone();
                self.merged.push(MergedText {
                    range: *range,
                    text,
                });
            }
        }
    }

    /// Ends the table.
    ///
    /// # Errors
    /// If the text is too long.
    pub(super) fn finish(mut self) -> Result<(), Unreadable> {
        self.end_row()?;
        if let Some(Header { start, cells }) = self.header.take() {
            let mut header = String::new();
            write_header(&mut header, &cells, self.columns);
            self.text.insert_str(start, &header);
        }
        self.text.push('\n');
        for comment in &self.details.comments {
            self.notes.push_str(comment);
            self.notes.push('\n');
        }
        if !self.notes.is_empty() {
            self.text.push_str(&self.notes);
            self.text.push('\n');
        }
        self.notes.clear();
        self.text.push_str(&self.details.drawn);
        self.check()
    }
}
