//! Workbooks as Markdown: each sheet is a heading with its rows below it, cells as displayed by their number formats.

use std::io::Cursor;

use calamine::{DataRef, Reader, Xlsx, XlsxError};

use super::{damaged, number_format::NumberFormat, package::Package};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Empty cells between others are kept up to this column; wider tables are drawings.
const COLUMNS_LIMIT: usize = 200;

type Workbook<'a> = Xlsx<Cursor<&'a [u8]>>;

/// Reads a workbook.
pub(in crate::read) fn xlsx(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let package = Package::of(bytes, limits)?;
    let mut workbook = Workbook::new(Cursor::new(&package.bytes)).map_err(|_| damaged())?;
    let mut formats = None;
    let mut text = String::new();
    for (at, name) in package.sheet_names.iter().enumerate() {
        text.push_str(&format!("## {name}\n\n"));
        write_sheet(
            &mut workbook,
            &at.to_string(),
            &mut formats,
            &mut text,
            limits,
        )?;
        text.push('\n');
    }
    Ok(Document::of_markdown(text))
}

/// Iterates over the existing cells, however far apart; a range of calamine would fill the gaps with empty ones.
fn write_sheet(
    workbook: &mut Workbook<'_>,
    name: &str,
    formats: &mut Option<Vec<NumberFormat>>,
    text: &mut String,
    limits: &Limits,
) -> Result<(), Unreadable> {
    let mut cells = match workbook.worksheet_cells_reader(name) {
        Ok(cells) => cells,
        // A chart sheet.
        Err(XlsxError::NotAWorksheet(_)) => return Ok(()),
        Err(_) => return Err(damaged()),
    };
    // The workbook's formats, which only the reader of a sheet exposes.
    let formats = formats.get_or_insert_with(|| {
        let code = |style: &calamine::Style| style.number_format.as_ref().map(NumberFormat::of);
        cells
            .styles()
            .iter()
            .map(|style| code(style).unwrap_or_default())
            .collect()
    });
    let mut row = Row::default();
    loop {
        let (cell, style) = match cells.next_cell_with_style_id() {
            Ok(Some(found)) => found,
            Ok(None) => break,
            Err(error) if is_of_one_cell(&error) => continue,
            Err(_) => return Err(damaged()),
        };
        let (number, column) = cell.get_position();
        if number != row.number {
            row.finish(text, limits)?;
            row.number = number;
        }
        let format = formats.get(style).copied().unwrap_or_default();
        row.put(column as usize, &shown(cell.get_value(), format));
    }
    row.finish(text, limits)
}

/// Whether only the value of a single cell cannot be read, such as a missing shared string or a custom entity, and the
/// cells after it can be.
fn is_of_one_cell(error: &XlsxError) -> bool {
    matches!(
        error,
        XlsxError::Unexpected(_)
            | XlsxError::UnexpectedNode(_)
            | XlsxError::Unrecognized { .. }
            | XlsxError::Xml(quick_xml::Error::Escape(_))
    )
}

fn shown(value: &DataRef<'_>, format: NumberFormat) -> String {
    match value {
        DataRef::Int(number) => number.to_string(),
        DataRef::Float(number) => format.number(*number),
        DataRef::String(text) => text.clone(),
        DataRef::SharedString(text) => (*text).to_owned(),
        DataRef::Bool(true) => "TRUE".to_owned(),
        DataRef::Bool(false) => "FALSE".to_owned(),
        DataRef::DateTime(date) => format.date_time(date),
        DataRef::DateTimeIso(text) | DataRef::DurationIso(text) => text.clone(),
        DataRef::Error(error) => error.to_string(),
        DataRef::Empty => String::new(),
    }
}

/// The cells of a row up to the last one with content.
#[derive(Default)]
struct Row {
    /// Counted from 0.
    number: u32,
    cells: Vec<String>,
}

impl Row {
    fn put(&mut self, column: usize, shown: &str) {
        let shown = shown.trim().replace(['\n', '\r'], " ").replace('|', "\\|");
        if shown.is_empty() {
            return;
        }
        if column > self.cells.len() && column < COLUMNS_LIMIT {
            self.cells.resize(column, String::new());
        }
        self.cells.push(shown);
    }

    /// Writes the row if it has any content, and begins the next.
    fn finish(&mut self, text: &mut String, limits: &Limits) -> Result<(), Unreadable> {
        if self.cells.is_empty() {
            return Ok(());
        }
        text.push_str(&format!("| {} |\n", self.cells.join(" | ")));
        self.cells.clear();
        if text.len() as u64 > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
        Ok(())
    }
}
