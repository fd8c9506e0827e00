//! Tables as Markdown, with merged cells spread so that columns stay aligned.

/// Columns of a table; Word has at most 63.
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

/// A table being read.
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
        for _ in 0..columns.min(MAX_COLUMNS) {
            self.add(String::new(), Merge::None);
        }
    }

    pub(super) fn end_cell(&mut self, text: String) {
        let merge = self.merge;
        self.add(text, merge);
        for _ in 1..self.span.min(MAX_COLUMNS) {
            self.add(String::new(), Merge::Left);
        }
    }

    fn add(&mut self, text: String, merge: Merge) {
        // Cells beyond all columns keep their text.
        if self.row.len() < MAX_COLUMNS || !text.is_empty() {
            self.size += text.len() + SEPARATOR_BYTES;
            self.row.push(Cell { text, merge });
        }
    }

    pub(super) fn end_row(&mut self) {
        let cells = std::mem::take(&mut self.row);
        if self.is_row_deleted || cells.iter().all(|cell| cell.text.is_empty()) {
            let sizes = cells.iter().map(|cell| cell.text.len() + SEPARATOR_BYTES);
            self.size -= sizes.sum::<usize>();
            return;
        }
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
            let repeated = origin.filter(|text| cell.text.is_empty() && is_repeated(text));
            if let Some(repeated) = repeated {
                self.size += repeated.len();
            }
            row.push(repeated.cloned().unwrap_or(cell.text));
        }
        self.rows.push(row);
    }

    /// The table as Markdown, with its first row as the header.
    pub(super) fn markdown(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let mut text = String::new();
        for (number, row) in self.rows.iter().enumerate() {
            text.push_str(&format!("| {} |", row.join(" | ")));
            if number == 0 {
                text.push_str(&"  |".repeat(columns - row.len()));
                text.push('\n');
                text.push_str(&separator(columns));
            }
            text.push('\n');
        }
        text
    }

    /// The table in a line, for a cell of another one.
    pub(super) fn inline(&self) -> String {
        let rows: Vec<_> = self.rows.iter().map(|row| row.join(" / ")).collect();
        rows.join(" // ")
    }
}

/// The line below the header of a Markdown table.
pub(super) fn separator(columns: usize) -> String {
    format!("|{}", " --- |".repeat(columns))
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
}
