//! The Markdown tables of a text, so that rows that are cut off from the header of their table still have it.

use std::ops::Range;

/// Headers longer than this are not repeated, in bytes: there would be more of the header than of the rows.
const MAX_HEADER_BYTES: usize = 600;

/// A table, in bytes of the text.
#[derive(Debug, PartialEq, Eq)]
struct Table {
    /// The first row and the line below it.
    header: Range<usize>,
    end: usize,
}

/// The tables of a text, in order.
#[derive(Debug, Default)]
pub(super) struct Tables(Vec<Table>);

impl Tables {
    pub(super) fn of(text: &str) -> Self {
        let mut tables = Vec::new();
        let mut open: Option<Table> = None;
        let mut before: Option<Range<usize>> = None;
        let mut start = 0;
        for line in text.split_inclusive('\n') {
            let end = start + line.len();
            let row = line.trim();
            if !row.starts_with('|') {
                tables.extend(open.take());
                before = None;
            } else if let Some(table) = &mut open {
                table.end = end;
            } else if let Some(first) = before.take().filter(|_| is_separator(row)) {
                open = Some(Table {
                    header: first.start..start + line.trim_end().len(),
                    end,
                });
            } else {
                before = Some(start..end);
            }
            start = end;
        }
        tables.extend(open);
        tables.retain(|table| text[table.header.clone()].contains(char::is_alphanumeric));
        Self(tables)
    }

    /// The table whose rows a position is among.
    fn at(&self, at: usize) -> Option<&Table> {
        let next = self.0.partition_point(|table| table.header.end <= at);
        let table = self.0.get(next.checked_sub(1)?)?;
        (at < table.end).then_some(table)
    }

    /// The header above a position among the rows of a table.
    pub(super) fn header(&self, at: usize) -> Option<Range<usize>> {
        let header = &self.at(at)?.header;
        (header.len() <= MAX_HEADER_BYTES).then(|| header.clone())
    }

    /// The start of the first whole row from `start` on, if that is within a row of which nothing is new before `new`.
    pub(super) fn row_start(&self, text: &str, start: usize, new: usize) -> usize {
        if self.at(start).is_none() || text[..start].ends_with('\n') {
            return start;
        }
        match text[start..new].find('\n') {
            Some(line_end) => {
                let row = start + line_end;
                row + (text[row..].len() - text[row..].trim_start().len())
            }
            None => start,
        }
    }
}

/// `| --- | :-: |`
fn is_separator(row: &str) -> bool {
    row.contains("--")
        && row
            .bytes()
            .all(|byte| matches!(byte, b'|' | b'-' | b':' | b' '))
}
