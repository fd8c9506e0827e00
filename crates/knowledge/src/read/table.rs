//! Writes tables as Markdown.

use std::fmt::Write;

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
        _ = write!(text, " {} |", escaped(cell.as_ref()));
    }
    text.push('\n');
}

/// The text of a cell, on one line.
fn escaped(cell: &str) -> String {
    let words: Vec<&str> = cell.split_whitespace().collect();
    words.join(" ").replace('|', "\\|")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_have_one_line() {
        let row = |cells: &[&str]| cells.iter().map(|&it| it.to_owned()).collect::<Vec<_>>();
        let rows = [
            row(&["a", "b|c"]),
            row(&["two\n lines"]),
            row(&["1", "2", "3"]),
        ];
        assert_eq!(
            markdown(&rows),
            "| a | b\\|c |  |\n| --- | --- | --- |\n| two lines |\n| 1 | 2 | 3 |\n"
        );
        assert_eq!(markdown(&[]), "");
    }
}
