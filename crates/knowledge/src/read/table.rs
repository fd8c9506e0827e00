//! Writes tables as Markdown, for all formats: the header, the rows with their cells escaped, and merged cells spread so
//! that columns stay aligned.

use std::mem;

/// Columns that spans may add, and in which texts are repeated; Word has at most 63.
const MAX_COLUMNS: usize = 200;
/// Longer texts are not repeated in the cells merged with theirs.
const REPEATED_CHARS: usize = 100;
/// What separates a cell from the next.
const SEPARATOR_BYTES: usize = 3;

/// Whether a merged cell's text is short enough to be repeated, such as in a header.
pub(super) fn is_repeated(text: &str) -> bool {
    text.chars().nth(REPEATED_CHARS).is_none()
}

/// Which cell a cell is merged with.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Merge {
    #[default]
    None,
    Left,
    Above,
}

#[derive(Debug)]
struct Cell {
    text: String,
    merge: Merge,
}

/// A table being read. Its cells are plain text.
#[derive(Debug, Default)]
pub(super) struct Table {
    rows: Vec<Vec<String>>,
    row: Vec<Cell>,
    /// What the open cell states.
    pub(super) merge: Merge,
    pub(super) span: usize,
    pub(super) is_row_deleted: bool,
    /// The number of bytes that it takes so far.
    pub(super) size: usize,
}

impl Table {
    pub(super) fn begin_row(&mut self) {
        self.row.clear();
        self.is_row_deleted = false;
    }

    pub(super) fn begin_cell(&mut self) {
        self.merge = Merge::None;
        self.span = 1;
    }

    /// Leaves out cells at the beginning of the row.
    pub(super) fn indent(&mut self, columns: usize) {
        self.fill(columns, Merge::None);
    }

    pub(super) fn end_cell(&mut self, text: String) {
        self.add(text, self.merge);
        self.fill(self.span.saturating_sub(1), Merge::Left);
    }

    fn fill(&mut self, columns: usize, merge: Merge) {
        let free = MAX_COLUMNS.saturating_sub(self.row.len());
        for _ in 0..columns.min(free) {
            self.add(String::new(), merge);
        }
    }

    fn add(&mut self, text: String, merge: Merge) {
        self.size += text.len() + SEPARATOR_BYTES;
        self.row.push(Cell { text, merge });
    }

    /// Whether a row with cells is open.
    pub(super) fn is_in_row(&self) -> bool {
        !self.row.is_empty()
    }

    /// Ends a row. Those without text are left out.
    pub(super) fn end_row(&mut self) {
        self.end_rows(1, usize::MAX);
    }

    /// Ends a row without the empty cells at its end.
    pub(super) fn end_trimmed_rows(&mut self, times: usize, limit_bytes: usize) {
        let is_blank = |cell: &mut Cell| cell.text.is_empty() && cell.merge == Merge::None;
        while self.row.pop_if(is_blank).is_some() {
            self.size -= SEPARATOR_BYTES;
        }
        self.end_rows(times, limit_bytes);
    }

    /// Ends a row that stands for this many, unless the table becomes larger than the limit.
    fn end_rows(&mut self, times: usize, limit_bytes: usize) {
        let cells = mem::take(&mut self.row);
        let bytes: usize = cells.iter().map(|it| it.text.len() + SEPARATOR_BYTES).sum();
        if self.is_row_deleted || cells.iter().all(|cell| cell.text.is_empty()) {
            self.size -= bytes;
            return;
        }
        let row = self.spread(cells);
        let spread: usize = row.iter().map(|text| text.len() + SEPARATOR_BYTES).sum();
        self.size += spread - bytes;
        for _ in 1..times {
            if self.size > limit_bytes {
                break;
            }
            self.size += spread;
            self.rows.push(row.clone());
        }
        self.rows.push(row);
    }

    /// The texts of a row's cells, repeated in those merged with them.
    fn spread(&self, cells: Vec<Cell>) -> Vec<String> {
        // A title above all columns stands once.
        let is_title = cells.iter().filter(|it| it.merge != Merge::Left).count() == 1;
        let above = self.rows.last();
        let mut row: Vec<String> = Vec::with_capacity(cells.len());
        for cell in cells {
            let origin = match cell.merge {
                Merge::Left if !is_title => row.last(),
                Merge::Above => above.and_then(|above| above.get(row.len())),
                Merge::None | Merge::Left => None,
            };
            let repeated = origin.filter(|text| {
                cell.text.is_empty() && row.len() < MAX_COLUMNS && is_repeated(text)
            });
            row.push(repeated.cloned().unwrap_or(cell.text));
        }
        row
    }

    /// The table as Markdown, with its first row as the header.
    pub(super) fn markdown(&self) -> String {
        markdown(&self.rows)
    }

    /// The table in a line, for a cell of another one.
    pub(super) fn inline(&self) -> String {
        let rows: Vec<_> = self.rows.iter().map(|row| row.join(" / ")).collect();
        rows.join(" // ")
    }
}

/// A table as Markdown. Its first row is the header, which gets a cell for each column. Other rows may be shorter, so that
/// one wide row does not make all of them long.
pub(super) fn markdown(rows: &[Vec<String>]) -> String {
    let width = rows.iter().map(Vec::len).max().unwrap_or_default();
    let mut text = String::new();
    for (at, row) in rows.iter().enumerate() {
        if at == 0 {
            write_header(&mut text, row, width);
        } else {
            write_row(&mut text, row, width);
        }
    }
    text
}

/// Writes the first row and the line below it.
pub(super) fn write_header(text: &mut String, cells: &[impl AsRef<str>], width: usize) {
    write_row(text, cells, width);
    text.pop();
    for _ in cells.len()..width {
        text.push_str("  |");
    }
    text.push_str("\n|");
    for _ in 0..width {
        text.push_str(" --- |");
    }
    text.push('\n');
}

/// Writes a row. Cells beyond the width are empty and left out.
pub(super) fn write_row(text: &mut String, cells: &[impl AsRef<str>], width: usize) {
    text.push('|');
    for cell in cells.iter().take(width) {
        text.push(' ');
        write_escaped(text, cell.as_ref());
        text.push_str(" |");
    }
    text.push('\n');
}

/// Writes the text of a cell, on one line.
fn write_escaped(text: &mut String, cell: &str) {
    for (at, word) in cell.split_whitespace().enumerate() {
        if at > 0 {
            text.push(' ');
        }
        for (at, part) in word.split('|').enumerate() {
            if at > 0 {
                text.push_str("\\|");
            }
            text.push_str(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(rows: &[&[(&str, Merge, usize)]], expected: &str) {
        let mut table = Table::default();
        for row in rows {
            table.begin_row();
            for (text, merge, span) in *row {
                table.begin_cell();
                table.merge = *merge;
                table.span = *span;
                table.end_cell((*text).to_owned());
            }
            table.end_row();
        }
        assert_eq!(table.markdown(), expected);
    }

    #[test]
    fn merged_cells_keep_columns_aligned() {
        use Merge::{Above, Left, None};
        check(&[], "");
        check(
            &[
                &[("Sales", None, 3)],
                &[("Region", None, 1), ("2026", None, 2)],
                &[("", Above, 1), ("Q1", None, 1), ("Q2", None, 1)],
                &[("North", None, 1), ("5", None, 1)],
            ],
            "| Sales |  |  |\n| --- | --- | --- |\n| Region | 2026 | 2026 |\n| Region | Q1 | Q2 |\n| North | 5 |\n",
        );
        check(
            &[
                &[("a", None, 1), ("", Left, 1), ("b", None, 1)],
                &[("", Above, 1)],
            ],
            "| a | a | b |\n| --- | --- | --- |\n",
        );
        let long = "x".repeat(101);
        check(
            &[&[(long.as_str(), None, 2), ("b", None, 1)]],
            &format!("| {long} |  | b |\n| --- | --- | --- |\n"),
        );
    }

    #[test]
    fn spans_beyond_all_columns_are_cut() {
        let mut table = Table::default();
        table.begin_row();
        table.indent(usize::MAX);
        table.begin_cell();
        table.span = usize::MAX;
        table.end_cell("end".to_owned());
        table.end_row();
        assert_eq!(table.size, 201 * SEPARATOR_BYTES + 3);
    }

    #[test]
    fn rows_are_repeated_up_to_the_limit() {
        let rows = |times, limit| {
            let mut table = Table::default();
            table.begin_cell();
            table.end_cell("walrus".to_owned());
            table.begin_cell();
            table.end_cell(String::new());
            table.end_trimmed_rows(times, limit);
            assert_eq!(
                table.size,
                table.rows.len() * ("walrus".len() + SEPARATOR_BYTES)
            );
            table.rows.len()
        };
        assert_eq!(rows(3, usize::MAX), 3);
        assert_eq!(rows(1_000_000, 20), 3);
    }

    #[test]
    fn rows_have_one_line() {
        let row = |cells: &[&str]| cells.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        let rows = [
            row(&["a", "|b|c"]),
            row(&["two\n lines"]),
            row(&["1", "2", "3"]),
        ];
        assert_eq!(
            markdown(&rows),
            "| a | \\|b\\|c |  |\n| --- | --- | --- |\n| two lines |\n| 1 | 2 | 3 |\n"
        );
        assert_eq!(markdown(&[]), "");
    }
}
