//! Tables of a page: every row gets the same number of cells, since Markdown has no cells that span others.

use dom_query::{NodeRef, Selection};

use crate::read::table::is_repeated;

/// The most columns that a table of data has.
const COLUMNS_LIMIT: usize = 200;
/// The most cells that a table is filled up to.
const CELLS_LIMIT: usize = 100_000;

/// Marks the cells that were added.
const FILLER: &str = "data-filler";
const FILLERS: &str = "[data-filler]";

/// Repeats the texts of cells that span others, and fills rows that are shorter than others. The caption becomes a
/// paragraph before the table. A table around other tables, or of one column, is layout, and its cells become blocks.
pub(super) fn normalize(table: &NodeRef<'_>) {
    for caption in table.element_children() {
        if caption.has_name("caption") {
            caption.rename("p");
            table.insert_before(&caption);
        }
    }
    let inside = Selection::from(*table);
    if inside.select("table").exists() {
        as_blocks(table);
        return;
    }
    let rows = inside.select("tr");
    let (rows, empty): (Vec<NodeRef<'_>>, Vec<NodeRef<'_>>) =
        rows.nodes().iter().partition(|row| !cells(row).is_empty());
    empty.iter().for_each(NodeRef::remove_from_parent);
    let has_columns = rows.iter().any(|row| cells(row).len() > 1);
    if !has_columns || !level(&rows) {
        as_blocks(table);
    }
}

fn cells<'a>(row: &NodeRef<'a>) -> Vec<NodeRef<'a>> {
    let mut cells = row.element_children();
    cells.retain(|cell| cell.has_name("td") || cell.has_name("th"));
    cells
}

/// Turns the rows and cells of a table into blocks. Tables inside are left alone.
fn as_blocks(table: &NodeRef<'_>) {
    Selection::from(*table).select(FILLERS).remove();
    for part in table.element_children() {
        let rows = match part.has_name("tr") {
            true => vec![part],
            false => part.element_children(),
        };
        for row in rows {
            cells(&row).iter().for_each(|cell| cell.rename("div"));
            row.rename("div");
        }
        part.rename("div");
    }
    table.rename("div");
}

/// What a cell puts into the cells that it spans in the next rows.
#[derive(Clone, Default)]
struct Span {
    rows: usize,
    text: String,
}

/// Gives all rows the same number of cells. Returns whether the table is within the limits.
fn level(rows: &[NodeRef<'_>]) -> bool {
    let mut spans: Vec<Span> = Vec::new();
    let mut widths = Vec::with_capacity(rows.len());
    let mut added = 0;
    for row in rows {
        let mut column = 0;
        for cell in cells(row) {
            column += fill(&mut spans, column, |text| {
                cell.insert_before(&filler(row, text))
            });
            let span = Span {
                rows: spanned(&cell, "rowspan", rows.len()),
                text: repeated(&cell),
            };
            let columns = spanned(&cell, "colspan", COLUMNS_LIMIT);
            if column + columns > COLUMNS_LIMIT {
                return false;
            }
            spans.resize(spans.len().max(column + columns), Span::default());
            for _ in 1..columns {
                cell.insert_after(&filler(row, &span.text));
            }
            added += columns - 1;
            spans[column..column + columns].fill(Span {
                rows: span.rows - 1,
                text: span.text,
            });
            column += columns;
        }
        column += fill(&mut spans, column, |text| {
            row.append_child(&filler(row, text))
        });
        widths.push(column);
        added += column;
        if added > CELLS_LIMIT {
            return false;
        }
    }
    let width = widths.iter().copied().max().unwrap_or_default();
    if width * rows.len() > CELLS_LIMIT {
        return false;
    }
    for (row, width_of_row) in rows.iter().zip(widths) {
        for _ in width_of_row..width {
            row.append_child(&filler(row, ""));
        }
    }
    true
}

/// Adds a cell for each span from above that covers the next columns. Returns their number.
fn fill(spans: &mut [Span], column: usize, add: impl Fn(&str)) -> usize {
    let covered = spans
        .iter_mut()
        .skip(column)
        .take_while(|span| span.rows > 0);
    covered.fold(0, |count, span| {
        span.rows -= 1;
        add(&span.text);
        count + 1
    })
}

/// A cell like the others of its row.
fn filler<'a>(row: &NodeRef<'a>, text: &str) -> NodeRef<'a> {
    let is_head = cells(row).iter().all(|cell| cell.has_name("th"));
    let cell = row.tree.new_element(if is_head { "th" } else { "td" });
    cell.set_attr(FILLER, "");
    cell.append_child(&row.tree.new_text(text));
    cell
}

fn repeated(cell: &NodeRef<'_>) -> String {
    let text = cell.text().trim().to_owned();
    if is_repeated(&text) {
        text
    } else {
        String::new()
    }
}

/// How many rows or columns a cell covers. `rowspan=0` means all that follow.
fn spanned(cell: &NodeRef<'_>, name: &str, most: usize) -> usize {
    let value = cell.attr(name).and_then(|value| value.trim().parse().ok());
    match (value, name) {
        (Some(0), "rowspan") => most,
        (value, _) => value.unwrap_or(1).clamp(1, most.max(1)),
    }
}
