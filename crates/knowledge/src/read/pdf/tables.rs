//! Finds tables: lines in succession whose cells are separated by the same gaps.

use super::{glyphs::Glyph, lines::Line, spacing::text};

/// Minimum number of lines with several cells.
const MIN_ROWS: usize = 3;
/// Maximum distance between the lines of a table, relative to the font size.
const MAX_ROW_STEP: f64 = 4.0;
/// The gap that remains between columns, relative to the font size.
const COLUMN_GAP: f64 = 0.5;
/// Maximum number of columns.
const MAX_COLUMNS: usize = 100;
/// Cells of more words than this on average are columns of prose.
const PROSE_WORDS: usize = 4;
/// Maximum length of the mark or number of a list item.
const MARK_CHARS: usize = 5;
/// Dots in succession that lead to a page number, without the spaces between them.
const LEADER: &str = "....";

/// What successive lines form.
#[derive(Debug)]
pub(super) enum Block {
    Line(Line),
    /// The rows of a table. All have the same number of cells, and some are empty.
    Table {
        rows: Vec<Vec<String>>,
        size: f64,
    },
    /// Columns of prose that were drawn line by line across the page.
    Columns(Vec<Vec<Line>>),
}

/// Separates the tables from the other lines of a page.
pub(super) fn find(lines: Vec<Line>) -> Vec<Block> {
    let cells: Vec<Vec<Span>> = lines.iter().map(spans).collect();
    let mut blocks = Vec::new();
    let mut start = 0;
    let mut lines = lines.into_iter();
    while start < cells.len() {
        let grid = Grid::starting_at(lines.as_slice(), cells.get(start..).unwrap_or_default());
        let taken: Vec<Line> = lines.by_ref().take(grid.rows).collect();
        start += grid.rows;
        match grid.kind(&taken) {
            Kind::Lines => blocks.extend(taken.into_iter().map(Block::Line)),
            Kind::Table => blocks.push(grid.table(&taken)),
            Kind::Columns => blocks.push(grid.columns(&taken)),
        }
    }
    blocks
}

/// From where to where a cell or a column extends along the line.
#[derive(Debug, Clone, Copy)]
struct Span {
    from: f64,
    to: f64,
}

impl Span {
    fn of(glyphs: &[Glyph]) -> Self {
        let letters = glyphs.iter().filter(|glyph| !glyph.is_space());
        letters.fold(
            Self {
                from: f64::INFINITY,
                to: f64::NEG_INFINITY,
            },
            |span, glyph| Self {
                from: span.from.min(glyph.from()),
                to: span.to.max(glyph.to()),
            },
        )
    }

    fn touches(&self, other: &Self, gap: f64) -> bool {
        self.from < other.to + gap && other.from < self.to + gap
    }
}

fn spans(line: &Line) -> Vec<Span> {
    line.cells().into_iter().map(Span::of).collect()
}

enum Kind {
    Lines,
    Table,
    Columns,
}

/// The columns that some lines share.
struct Grid {
    columns: Vec<Span>,
    /// Number of lines.
    rows: usize,
    /// Number of lines that have several cells.
    full_rows: usize,
}

impl Grid {
    /// The longest grid that begins with the first line, or this line alone.
    fn starting_at(lines: &[Line], cells: &[Vec<Span>]) -> Self {
        let mut columns = cells.first().cloned().unwrap_or_default();
        let mut grid = Self {
            columns: columns.clone(),
            rows: 1,
            full_rows: 1,
        };
        if !(2..=MAX_COLUMNS).contains(&columns.len()) {
            return grid;
        }
        let mut full_rows = 1;
        for (row, pair) in (2..).zip(lines.windows(2)) {
            let [above, below] = pair else { break };
            let Some(spans) = cells.get(row - 1) else {
                break;
            };
            if !follows(above, below) || !join(&mut columns, spans, COLUMN_GAP * size(below)) {
                break;
            }
            if spans.len() > 1 {
                full_rows += 1;
                grid = Self {
                    columns: columns.clone(),
                    rows: row,
                    full_rows,
                };
            } else if row > full_rows * 2 {
                break;
            }
        }
        if grid.full_rows < MIN_ROWS {
            grid.rows = 1;
        }
        grid
    }

    fn kind(&self, lines: &[Line]) -> Kind {
        if lines.len() < MIN_ROWS {
            return Kind::Lines;
        }
        let rows = self.cells(lines);
        let is_contents = rows.iter().filter(|row| has_leader(row)).count() * 2 > rows.len();
        if is_contents || has_few_words(&rows) {
            return Kind::Lines;
        }
        let is_prose: Vec<bool> = (0..self.columns.len())
            .map(|column| is_prose(&rows, column))
            .collect();
        match is_prose.as_slice() {
            prose if prose.iter().all(|is_prose| *is_prose) => Kind::Columns,
            [_, true] if is_column_of(&rows, is_mark_or_number) => Kind::Lines,
            [_, _] if is_column_of(&rows, is_mark) => Kind::Lines,
            _ => Kind::Table,
        }
    }

    /// The text of each cell.
    fn cells(&self, lines: &[Line]) -> Vec<Vec<String>> {
        let row = |line: &Line| {
            let mut row = vec![String::new(); self.columns.len()];
            for (column, cell) in self.placed(line) {
                if let Some(shown) = row.get_mut(column) {
                    if !shown.is_empty() {
                        shown.push(' ');
                    }
                    shown.push_str(&text(cell));
                }
            }
            row
        };
        lines.iter().map(row).collect()
    }

    /// The cells of a line, with the columns in which they are.
    fn placed<'a>(&self, line: &'a Line) -> impl Iterator<Item = (usize, &'a [Glyph])> {
        line.cells().into_iter().map(|cell| {
            let span = Span::of(cell);
            let column = self.columns.iter().position(|it| it.touches(&span, 0.0));
            (column.unwrap_or(0), cell)
        })
    }

    fn table(&self, lines: &[Line]) -> Block {
        let mut rows = self.cells(lines);
        let rtl = rows.iter().flatten().flat_map(|cell| cell.chars());
        let letters = rtl.clone().filter(|char| char.is_alphabetic()).count();
        if letters > 0 && rtl.filter(|char| super::bidi::is_rtl(*char)).count() * 2 > letters {
            rows.iter_mut().for_each(|row| row.reverse());
        }
        Block::Table {
            rows,
            size: lines.first().map_or(0.0, size),
        }
    }

    fn columns(&self, lines: &[Line]) -> Block {
        let mut columns: Vec<Vec<Line>> = self.columns.iter().map(|_| Vec::new()).collect();
        for line in lines {
            for (column, cell) in self.placed(line) {
                if let Some(column) = columns.get_mut(column) {
                    column.push(Line {
                        glyphs: cell.to_vec(),
                        begins_paragraph: line.begins_paragraph || column.is_empty(),
                    });
                }
            }
        }
        Block::Columns(columns)
    }
}

/// Whether a line is below another at the distance of rows.
fn follows(above: &Line, below: &Line) -> bool {
    let (Some(first), Some(next)) = (above.glyphs.first(), below.glyphs.first()) else {
        return false;
    };
    let down = (next.start - first.start).cross(first.direction) / first.size.max(0.1);
    first.direction.dot(next.direction) > 0.9 && (0.0..MAX_ROW_STEP).contains(&down)
}

/// The font size at the beginning of the line.
pub(super) fn size(line: &Line) -> f64 {
    let letter = line.glyphs.iter().find(|glyph| !glyph.is_space());
    letter.map_or(0.0, |glyph| glyph.size)
}

/// Extends the columns by the cells of a line, unless a cell would close a gap between columns, or two cells of the
/// line are in one column.
fn join(columns: &mut Vec<Span>, cells: &[Span], gap: f64) -> bool {
    if cells.len() > MAX_COLUMNS || columns.len() > MAX_COLUMNS {
        return false;
    }
    let mut joined = columns.clone();
    let mut next = 0;
    for cell in cells {
        let touches = |(index, column): (usize, &Span)| column.touches(cell, gap).then_some(index);
        let mut touched = joined.iter().enumerate().filter_map(touches);
        let first = touched.next();
        if touched.next().is_some() {
            return false;
        }
        let index = first.unwrap_or_else(|| joined.partition_point(|it| it.from < cell.from));
        match joined.get_mut(index) {
            Some(column) if first.is_some() => {
                column.from = column.from.min(cell.from);
                column.to = column.to.max(cell.to);
            }
            _ => joined.insert(index, *cell),
        }
        if index < next {
            return false;
        }
        next = index + 1;
    }
    *columns = joined;
    true
}

/// Whether a row is an entry of a table of contents.
fn has_leader(row: &[String]) -> bool {
    row.iter()
        .any(|cell| cell.replace(' ', "").contains(LEADER))
}

/// Whether most cells have neither letters nor digits, as in formulas and in text in unknown encodings.
fn has_few_words(rows: &[Vec<String>]) -> bool {
    let cells = rows.iter().flatten().filter(|cell| !cell.is_empty());
    let words = cells
        .clone()
        .filter(|cell| cell.contains(char::is_alphanumeric));
    words.count() * 2 < cells.count()
}

fn is_prose(rows: &[Vec<String>], column: usize) -> bool {
    let cells = rows.iter().filter_map(|row| row.get(column));
    let filled = cells.clone().filter(|cell| !cell.is_empty()).count();
    let words: usize = cells.map(|cell| cell.split_whitespace().count()).sum();
    words > filled * PROSE_WORDS
}

/// Whether all of the first column is like this.
fn is_column_of(rows: &[Vec<String>], is_such: fn(&str) -> bool) -> bool {
    let mut cells = rows.iter().filter_map(|row| row.first());
    cells.all(|cell| cell.is_empty() || is_such(cell))
}

/// Whether it is the mark of a list item, such as a bullet or `1.`
fn is_mark(cell: &str) -> bool {
    cell.chars().count() <= MARK_CHARS
        && (cell.ends_with(['.', ')', ':', ']']) || !cell.contains(char::is_alphanumeric))
}

fn is_mark_or_number(cell: &str) -> bool {
    cell.chars().count() <= MARK_CHARS
        && (is_mark(cell) || cell.starts_with(char::is_numeric) || cell.chars().count() == 1)
}
