//! Workbooks of Excel 5 to 2003 as Markdown, like those of today: cells as displayed by their number formats.

use std::collections::HashMap;

use encoding_rs::WINDOWS_1252;

use super::{
    OldProgram,
    bytes::{Bytes, at},
    records::{Record, Records, Texts, code_page, continued_text, shared_texts},
};
use crate::{
    document::Document,
    read::{
        compound::Compound,
        office::{
            damaged,
            number_format::NumberFormat,
            sheet_details::{Merged, Place, SheetDetails},
            sheet_table::SheetTable,
        },
    },
    unreadable::{Limits, Unreadable},
};

/// Types of records, by their names in Microsoft's documentation.
mod kind {
    pub(super) const FORMULA: u16 = 0x0006;
    pub(super) const EOF: u16 = 0x000a;
    pub(super) const NOTE: u16 = 0x001c;
    pub(super) const DATE_1904: u16 = 0x0022;
    pub(super) const FILE_PASS: u16 = 0x002f;
    pub(super) const CODE_PAGE: u16 = 0x0042;
    pub(super) const OBJ: u16 = 0x005d;
    pub(super) const BOUND_SHEET: u16 = 0x0085;
    pub(super) const MUL_RK: u16 = 0x00bd;
    pub(super) const RSTRING: u16 = 0x00d6;
    pub(super) const XF: u16 = 0x00e0;
    pub(super) const MERGE_CELLS: u16 = 0x00e5;
    pub(super) const SST: u16 = 0x00fc;
    pub(super) const LABEL_SST: u16 = 0x00fd;
    pub(super) const TXO: u16 = 0x01b6;
    pub(super) const NUMBER: u16 = 0x0203;
    pub(super) const LABEL: u16 = 0x0204;
    pub(super) const BOOL_ERR: u16 = 0x0205;
    pub(super) const STRING: u16 = 0x0207;
    pub(super) const RK: u16 = 0x027e;
    pub(super) const FORMAT: u16 = 0x041e;
    pub(super) const BOF: u16 = 0x0809;
}

/// The version in the first record of a workbook of Excel 97 to 2003, and of Excel 5 and 95, in the upper byte.
const EXCEL_97: u16 = 6;
const EXCEL_5: u16 = 5;
/// The type of a sheet with cells.
const WORKSHEET: u8 = 0;
/// The type of objects on a sheet that are comments.
const COMMENT: u16 = 0x0019;
/// Maximum number of merged ranges of a sheet, and of objects with text.
const MAX_MERGED: usize = 20_000;
const MAX_OBJECTS: usize = 20_000;

/// Reads a workbook.
///
/// # Errors
/// If it is encrypted, damaged, too old or too long.
pub(in crate::read) fn xls(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut file = Compound::open(bytes).ok_or_else(damaged)?;
    let stream = ["/Workbook", "/Book"]
        .into_iter()
        .find_map(|name| file.stream(name))
        .ok_or_else(damaged)?;
    let workbook = Workbook::of(&stream, limits)?;
    if workbook.sheets.len() > limits.pages as usize {
        return Err(Unreadable::TooManyPages {
            limit: limits.pages,
        });
    }
    let mut text = String::new();
    for sheet in &workbook.sheets {
        text.push_str(&format!("## {}\n\n", sheet.name));
        let read = SheetContent::of(&workbook, Records::from(&stream, sheet.start), limits)?;
        let mut table = SheetTable::new(&read.details, &mut text, limits);
        for cell in &read.cells {
            let shown = workbook.shown(&cell.value, cell.style);
            table.put(cell.place, &shown)?;
        }
        table.finish()?;
    }
    Ok(Document::of_markdown(text))
}

struct Sheet {
    name: String,
    start: usize,
}

/// What all sheets share.
struct Workbook {
    texts: Texts,
    sheets: Vec<Sheet>,
    shared: Vec<String>,
    codes: HashMap<u16, NumberFormat>,
    /// The number format of each style.
    styles: Vec<u16>,
    is_1904: bool,
}

impl Workbook {
    fn of(stream: &[u8], limits: &Limits) -> Result<Self, Unreadable> {
        let mut records = Records::from(stream, 0);
        let first = records.next().filter(|it| it.kind == kind::BOF);
        let version = first.and_then(|record| Bytes(record.data).u16().map(|it| it >> 8));
        let mut workbook = Self {
            texts: match version {
                Some(EXCEL_97) => Texts::Unicode,
                Some(EXCEL_5) => Texts::CodePage(WINDOWS_1252),
                Some(_) => return Err(OldProgram::Excel.into()),
                None => return Err(damaged()),
            },
            sheets: Vec::new(),
            shared: Vec::new(),
            codes: HashMap::new(),
            styles: Vec::new(),
            is_1904: false,
        };
        while let Some(record) = records.next() {
            match record.kind {
                kind::EOF => break,
                kind::FILE_PASS => return Err(Unreadable::Encrypted),
                kind::SST => {
                    let continued = records.continued();
                    // The file's size bounds the memory for texts, which are limited when they are shown.
                    workbook.shared = shared_texts(record.data, &continued, limits.unpacked_bytes);
                }
                // A damaged record concerns itself alone.
                _ => _ = workbook.note(record),
            }
        }
        Ok(workbook)
    }

    fn note(&mut self, record: Record<'_>) -> Option<()> {
        let mut data = Bytes(record.data);
        match record.kind {
            kind::CODE_PAGE => {
                if let Texts::CodePage(encoding) = &mut self.texts {
                    *encoding = code_page(data.u16()?);
                }
            }
            kind::DATE_1904 => self.is_1904 = data.u16()? == 1,
            kind::BOUND_SHEET => {
                let start = data.u32()? as usize;
                data.u8()?;
                if data.u8()? == WORKSHEET {
                    let name = self.texts.read(&mut data, false)?;
                    self.sheets.push(Sheet { name, start });
                }
            }
            kind::FORMAT => {
                let id = data.u16()?;
                let is_long = matches!(self.texts, Texts::Unicode);
                let code = self.texts.read(&mut data, is_long)?;
                self.codes.insert(id, NumberFormat::parse(&code));
            }
            kind::XF => {
                data.u16()?;
                self.styles.push(data.u16()?);
            }
            _ => {}
        }
        Some(())
    }

    fn shown(&self, value: &Value, style: u16) -> String {
        match value {
            Value::Number(number) => {
                let id = self.styles.get(usize::from(style)).copied().unwrap_or(0);
                match self.codes.get(&id) {
                    Some(format) => format.shown(*number, self.is_1904),
                    None => NumberFormat::parse(built_in_code(id)).shown(*number, self.is_1904),
                }
            }
            Value::Shared(index) => self
                .shared
                .get(*index as usize)
                .cloned()
                .unwrap_or_default(),
            Value::Text(text) => text.to_string(),
            Value::Bool(true) => "TRUE".to_owned(),
            Value::Bool(false) => "FALSE".to_owned(),
            Value::Error(code) => error_name(*code).to_owned(),
        }
    }
}

/// The codes of the number formats that are not in the file.
fn built_in_code(id: u16) -> &'static str {
    match id {
        1 => "0",
        2 => "0.00",
        3 => "#,##0",
        4 => "#,##0.00",
        5 | 6 | 37 | 38 => "#,##0 ;(#,##0)",
        7 | 8 | 39 | 40 => "#,##0.00;(#,##0.00)",
        9 => "0%",
        10 => "0.00%",
        11 => "0.00E+00",
        12 => "# ?/?",
        13 => "# ??/??",
        14 => "yyyy-mm-dd",
        15 => "d-mmm-yy",
        16 => "d-mmm",
        17 => "mmm-yy",
        18 => "h:mm AM/PM",
        19 => "h:mm:ss AM/PM",
        20 => "h:mm",
        21 => "h:mm:ss",
        22 => "yyyy-mm-dd h:mm",
        45 => "mm:ss",
        46 => "[h]:mm:ss",
        47 => "mm:ss.0",
        48 => "##0.0E+0",
        49 => "@",
        _ => "General",
    }
}

fn error_name(code: u8) -> &'static str {
    match code {
        0x00 => "#NULL!",
        0x07 => "#DIV/0!",
        0x0f => "#VALUE!",
        0x17 => "#REF!",
        0x1d => "#NAME?",
        0x24 => "#NUM!",
        _ => "#N/A",
    }
}

enum Value {
    Number(f64),
    Shared(u32),
    Text(Box<str>),
    Bool(bool),
    Error(u8),
}

struct Cell {
    place: Place,
    style: u16,
    value: Value,
}

/// A text drawn over the sheet.
struct Object {
    id: u16,
    is_comment: bool,
    text: String,
}

/// The cells of a sheet, by row and column.
#[derive(Default)]
struct SheetContent {
    cells: Vec<Cell>,
    details: SheetDetails,
    objects: Vec<Object>,
    /// The object whose text comes next.
    drawn: Option<(u16, u16)>,
    /// The cell whose formula has a text as its result, which comes next.
    result: Option<(Place, u16)>,
}

impl SheetContent {
    fn of(
        workbook: &Workbook,
        mut records: Records<'_>,
        limits: &Limits,
    ) -> Result<Self, Unreadable> {
        let mut content = Self::default();
        let mut notes = Vec::new();
        // Charts on the sheet have records of their own.
        let mut depth = 0_u32;
        let mut left_bytes = limits.text_bytes;
        while let Some(record) = records.next() {
            match record.kind {
                kind::BOF => depth += 1,
                kind::EOF if depth <= 1 => break,
                kind::EOF => depth -= 1,
                _ if depth != 1 => {}
                kind::TXO => {
                    let length = at(record.data, 10).u16().unwrap_or(0);
                    let text = continued_text(&records.continued(), usize::from(length));
                    left_bytes = left_bytes.saturating_sub(text.len() as u64);
                    content.add_object(text);
                }
                kind::NOTE => notes.extend(comment_place(record.data)),
                _ => _ = content.note(workbook.texts, record),
            }
            if left_bytes == 0 {
                return Err(Unreadable::TooMuchText {
                    limit_bytes: limits.text_bytes,
                });
            }
        }
        content.cells.sort_by_key(|cell| cell.place);
        content.cells.dedup_by_key(|cell| cell.place);
        content.details.merged.sort_by_key(|merged| merged.first);
        content.write_objects(&notes);
        Ok(content)
    }

    fn note(&mut self, texts: Texts, record: Record<'_>) -> Option<()> {
        let mut data = Bytes(record.data);
        match record.kind {
            kind::MERGE_CELLS => self.note_merged(&mut data),
            kind::OBJ => {
                // The first part of the record is always the same: its type, its size, and those of the object.
                let mut object = at(record.data, 4);
                self.drawn = Some((object.u16()?, object.u16()?));
                Some(())
            }
            kind::STRING => {
                let (place, style) = self.result.take()?;
                let text = texts.read(&mut data, true)?.into_boxed_str();
                self.push(place, style, Value::Text(text));
                Some(())
            }
            _ => self.note_cell(texts, record.kind, &mut data),
        }
    }

    fn note_cell(&mut self, texts: Texts, kind: u16, data: &mut Bytes<'_>) -> Option<()> {
        let is_cell = matches!(
            kind,
            kind::NUMBER
                | kind::RK
                | kind::MUL_RK
                | kind::LABEL_SST
                | kind::LABEL
                | kind::RSTRING
                | kind::BOOL_ERR
                | kind::FORMULA
        );
        if !is_cell {
            return None;
        }
        let mut place = Place {
            row: u32::from(data.u16()?),
            column: u32::from(data.u16()?),
        };
        if kind == kind::MUL_RK {
            // At the end is the number of the last column.
            while data.0.len() >= 6 {
                let style = data.u16()?;
                let number = compact_number(data.u32()?);
                self.push(place, style, Value::Number(number));
                place.column += 1;
            }
            return Some(());
        }
        let style = data.u16()?;
        let value = match kind {
            kind::NUMBER => Value::Number(data.f64()?),
            kind::RK => Value::Number(compact_number(data.u32()?)),
            kind::LABEL_SST => Value::Shared(data.u32()?),
            kind::LABEL | kind::RSTRING => Value::Text(texts.read(data, true)?.into_boxed_str()),
            kind::BOOL_ERR => {
                let value = data.u8()?;
                match data.u8()? {
                    0 => Value::Bool(value != 0),
                    _ => Value::Error(value),
                }
            }
            _ => match *data.0.first_chunk::<8>()? {
                [0, .., 0xff, 0xff] => {
                    self.result = Some((place, style));
                    return Some(());
                }
                [1, _, value, .., 0xff, 0xff] => Value::Bool(value != 0),
                [2, _, code, .., 0xff, 0xff] => Value::Error(code),
                // No result, or an empty text.
                [.., 0xff, 0xff] => return Some(()),
                number => Value::Number(f64::from_le_bytes(number)),
            },
        };
        self.push(place, style, value);
        Some(())
    }

    fn push(&mut self, place: Place, style: u16, value: Value) {
        self.cells.push(Cell {
            place,
            style,
            value,
        });
    }

    fn note_merged(&mut self, data: &mut Bytes<'_>) -> Option<()> {
        for _ in 0..data.u16()? {
            let mut number = || data.u16().map(u32::from);
            let [first_row, last_row, first_column, last_column] =
                [number()?, number()?, number()?, number()?];
            let is_range = first_row <= last_row && first_column <= last_column;
            if is_range && self.details.merged.len() < MAX_MERGED {
                self.details.merged.push(Merged {
                    first: Place {
                        row: first_row,
                        column: first_column,
                    },
                    last: Place {
                        row: last_row,
                        column: last_column,
                    },
                });
            }
        }
        Some(())
    }

    fn add_object(&mut self, text: String) {
        let words: Vec<&str> = text.split_whitespace().collect();
        if let Some((kind, id)) = self.drawn.take()
            && !words.is_empty()
            && self.objects.len() < MAX_OBJECTS
        {
            self.objects.push(Object {
                id,
                is_comment: kind == COMMENT,
                text: words.join(" "),
            });
        }
    }

    /// Puts the texts of comments and of text boxes below the cells.
    fn write_objects(&mut self, notes: &[(Place, u16)]) {
        let mut places: HashMap<u16, Place> =
            notes.iter().map(|(place, id)| (*id, *place)).collect();
        for object in std::mem::take(&mut self.objects) {
            match places.remove(&object.id).filter(|_| object.is_comment) {
                Some(place) => {
                    let line = format!("{}: {}", place.reference(), object.text);
                    self.details.comments.push(line);
                }
                None => self.details.drawn += &format!("{}\n\n", object.text),
            }
        }
    }
}

/// The cell of a comment, and the number of the object with its text.
fn comment_place(data: &[u8]) -> Option<(Place, u16)> {
    let mut data = Bytes(data);
    let place = Place {
        row: u32::from(data.u16()?),
        column: u32::from(data.u16()?),
    };
    data.u16()?;
    Some((place, data.u16()?))
}

/// A number in four bytes: an integer, or the beginning of a floating point number, either perhaps times 100.
fn compact_number(bits: u32) -> f64 {
    let number = if bits & 2 == 0 {
        f64::from_bits(u64::from(bits & !3) << 32)
    } else {
        f64::from(bits.cast_signed() >> 2)
    };
    if bits & 1 == 0 {
        number
    } else {
        number / 100.0
    }
}
