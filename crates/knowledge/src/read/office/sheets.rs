//! Workbooks as Markdown: each sheet is a heading with its rows below it, cells as displayed by their number formats.

use std::{collections::HashMap, io::Cursor};

use calamine::{DataRef, Reader, Xlsx, XlsxCellReader, XlsxError};

use super::{
    damaged, number_format::NumberFormat, package::Package, sheet_details::Place,
    sheet_table::SheetTable,
};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

type Workbook<'a> = Xlsx<Cursor<&'a [u8]>>;
type Cells<'a, 'b> = XlsxCellReader<'a, Cursor<&'b [u8]>>;

/// Reads a workbook.
pub(in crate::read) fn xlsx(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let package = Package::of(bytes, limits)?;
    let mut workbook = Workbook::new(Cursor::new(&package.bytes)).map_err(|_| damaged())?;
    let mut formats = None;
    let mut text = String::new();
    for (at, sheet) in package.sheets.iter().enumerate() {
        text.push_str(&format!("## {}\n\n", sheet.name));
        let formulas = if sheet.has_unknown_results {
            formulas(&mut workbook, at, limits)?
        } else {
            HashMap::new()
        };
        let mut table = SheetTable::new(&sheet.details, &mut text, limits);
        if let Some(cells) = cells(&mut workbook, at)? {
            write_cells(cells, &mut formats, &formulas, &mut table)?;
        }
        table.finish()?;
    }
    Ok(Document::of_markdown(text))
}

/// The cells of a sheet, unless it is a chart.
fn cells<'a, 'b>(
    workbook: &'a mut Workbook<'b>,
    sheet: usize,
) -> Result<Option<Cells<'a, 'b>>, Unreadable> {
    match workbook.worksheet_cells_reader(&sheet.to_string()) {
        Ok(cells) => Ok(Some(cells)),
        Err(XlsxError::NotAWorksheet(_)) => Ok(None),
        Err(_) => Err(damaged()),
    }
}

/// Iterates over the existing cells, however far apart; a range of calamine would fill the gaps with empty ones.
fn write_cells(
    mut cells: Cells<'_, '_>,
    formats: &mut Option<Vec<NumberFormat>>,
    formulas: &HashMap<Place, String>,
    table: &mut SheetTable<'_>,
) -> Result<(), Unreadable> {
    // The workbook's formats, which only the reader of a sheet exposes.
    let formats = formats.get_or_insert_with(|| {
        let code = |style: &calamine::Style| style.number_format.as_ref().map(NumberFormat::of);
        cells
            .styles()
            .iter()
            .map(|style| code(style).unwrap_or_default())
            .collect()
    });
    let general = NumberFormat::General;
    loop {
        let (cell, style) = match cells.next_cell_with_style_id() {
            Ok(Some(found)) => found,
            Ok(None) => return Ok(()),
            Err(error) if is_of_one_cell(&error) => continue,
            Err(_) => return Err(damaged()),
        };
        let (row, column) = cell.get_position();
        let place = Place { row, column };
        let format = formats.get(style).unwrap_or(&general);
        match (cell.get_value(), formulas.get(&place)) {
            (DataRef::Empty, Some(formula)) => table.put(place, &format!("={formula}"))?,
            (value, _) => table.put(place, &shown(value, format))?,
        }
    }
}

/// The formulas of cells without a result, as files have them that no spreadsheet has computed.
fn formulas(
    workbook: &mut Workbook<'_>,
    sheet: usize,
    limits: &Limits,
) -> Result<HashMap<Place, String>, Unreadable> {
    let mut formulas = HashMap::new();
    let Some(mut cells) = cells(workbook, sheet)? else {
        return Ok(formulas);
    };
    // Formulas that cells share are written out for each, which may be much longer than the file.
    let mut left_bytes = limits.text_bytes;
    loop {
        let cell = match cells.next_cell_with_formula() {
            Ok(Some(cell)) => cell,
            Err(error) if is_of_one_cell(&error) => continue,
            // The reader of the values tells whether the sheet is damaged.
            Ok(None) | Err(_) => return Ok(formulas),
        };
        let Some(formula) = cell.formula.filter(|formula| !formula.is_empty()) else {
            continue;
        };
        match left_bytes.checked_sub(formula.len() as u64) {
            Some(left) => left_bytes = left,
            None => return Ok(formulas),
        }
        if matches!(cell.value, DataRef::Empty) {
            let (row, column) = cell.pos;
            formulas.insert(Place { row, column }, formula);
        }
    }
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

fn shown(value: &DataRef<'_>, format: &NumberFormat) -> String {
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
