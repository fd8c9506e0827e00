//! Workbooks as Markdown: each sheet a heading and its rows below it.

use super::{Archive, Item, Items, XLSX, damaged, ordered_parts};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Empty cells between full ones are kept up to here; beyond it tables are drawings.
const COLUMNS_LIMIT: usize = 200;

/// Reads a workbook.
pub(in crate::read) fn xlsx(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
    let sheets = ordered_parts(&mut archive, XLSX, "sheet")?;
    if sheets.len() > limits.pages as usize {
        return Err(Unreadable::TooManyPages {
            limit: limits.pages,
        });
    }
    let strings = archive
        .text("xl/sharedStrings.xml")?
        .map(|xml| shared_strings(&xml))
        .transpose()?;
    let dates = archive
        .text("xl/styles.xml")?
        .map(|xml| date_styles(&xml))
        .transpose()?;
    let values = Values {
        strings: strings.unwrap_or_default(),
        dates: dates.unwrap_or_default(),
    };
    let mut text = String::new();
    for (name, part) in &sheets {
        let Some(xml) = archive.text(part)? else {
            continue;
        };
        text.push_str(&format!("## {name}\n\n"));
        write_sheet(&xml, &values, &mut text, limits)?;
        text.push('\n');
    }
    Ok(Document::of_markdown(text))
}

/// What cells refer to.
struct Values {
    strings: Vec<String>,
    /// Whether each style shows a date.
    dates: Vec<bool>,
}

fn shared_strings(xml: &str) -> Result<Vec<String>, Unreadable> {
    let mut strings = Vec::new();
    let (mut in_text, mut in_reading_aid) = (false, false);
    for item in Items::new(xml) {
        match item? {
            Item::Open(tag) => match tag.name.as_str() {
                "si" => strings.push(String::new()),
                "t" => in_text = true,
                "rPh" => in_reading_aid = true,
                _ => {}
            },
            Item::Text(text) if in_text && !in_reading_aid => {
                strings.last_mut().ok_or_else(damaged)?.push_str(&text);
            }
            Item::Text(_) => {}
            Item::Close(name) => match name.as_str() {
                "t" => in_text = false,
                "rPh" => in_reading_aid = false,
                _ => {}
            },
        }
    }
    Ok(strings)
}

fn date_styles(xml: &str) -> Result<Vec<bool>, Unreadable> {
    let mut dates = Vec::new();
    let mut in_cells = false;
    for item in Items::new(xml) {
        match item? {
            Item::Open(tag) if tag.name == "cellXfs" => in_cells = true,
            Item::Close(name) if name == "cellXfs" => in_cells = false,
            Item::Open(tag) if in_cells && tag.name == "xf" => {
                let format = tag
                    .attribute("numFmtId")
                    .and_then(|id| id.parse::<u32>().ok());
                // The built-in formats of dates.
                dates.push(format.is_some_and(|id| (14..=17).contains(&id) || id == 22));
            }
            _ => {}
        }
    }
    Ok(dates)
}

#[derive(Default)]
struct Cell {
    column: usize,
    kind: String,
    is_date: bool,
    raw: String,
}

fn write_sheet(
    xml: &str,
    values: &Values,
    text: &mut String,
    limits: &Limits,
) -> Result<(), Unreadable> {
    let mut row: Vec<String> = Vec::new();
    let mut cell = Cell::default();
    let mut in_value = false;
    for item in Items::new(xml) {
        match item? {
            Item::Open(tag) => match tag.name.as_str() {
                "row" => row.clear(),
                "c" => {
                    let style = tag
                        .attribute("s")
                        .and_then(|style| style.parse::<usize>().ok())
                        .unwrap_or(0);
                    cell = Cell {
                        column: tag
                            .attribute("r")
                            .and_then(|place| column(&place))
                            .unwrap_or(row.len()),
                        kind: tag.attribute("t").unwrap_or_default(),
                        is_date: values.dates.get(style).copied().unwrap_or(false),
                        raw: String::new(),
                    };
                }
                "v" | "t" => in_value = true,
                _ => {}
            },
            Item::Text(part) if in_value => cell.raw.push_str(&part),
            Item::Text(_) => {}
            Item::Close(name) => match name.as_str() {
                "v" | "t" => in_value = false,
                "c" => put(&mut row, &cell, values),
                "row" if row.iter().any(|cell| !cell.is_empty()) => {
                    text.push_str(&format!("| {} |\n", row.join(" | ")));
                    if text.len() as u64 > limits.text_bytes {
                        return Err(Unreadable::TooMuchText {
                            limit_bytes: limits.text_bytes,
                        });
                    }
                }
                _ => {}
            },
        }
    }
    Ok(())
}

fn put(row: &mut Vec<String>, cell: &Cell, values: &Values) {
    let shown = match cell.kind.as_str() {
        "s" => cell
            .raw
            .trim()
            .parse::<usize>()
            .ok()
            .and_then(|index| values.strings.get(index).cloned()),
        "b" => Some(
            if cell.raw.trim() == "1" {
                "TRUE"
            } else {
                "FALSE"
            }
            .to_owned(),
        ),
        "" | "n" if cell.is_date => cell.raw.trim().parse().ok().and_then(date),
        _ => None,
    };
    let shown = shown.unwrap_or_else(|| cell.raw.clone());
    let shown = shown.trim().replace('\n', " ").replace('|', "\\|");
    if shown.is_empty() {
        return;
    }
    if cell.column > row.len() && cell.column < COLUMNS_LIMIT {
        row.resize(cell.column, String::new());
    }
    row.push(shown);
}

/// The column of a place such as “AB12”, from 0.
fn column(place: &str) -> Option<usize> {
    let letters = place.trim_end_matches(|char: char| char.is_ascii_digit());
    let number = letters.bytes().take(4).try_fold(0, |number, letter| {
        letter
            .is_ascii_uppercase()
            .then(|| number * 26 + usize::from(letter - b'A') + 1)
    })?;
    number.checked_sub(1)
}

/// A day counted from the end of 1899, as Excel does, in the form 2026-11-23.
fn date(serial: f64) -> Option<String> {
    const DAYS_BEFORE_1970: i64 = 25_569;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it is within the range checked before"
    )]
    let days = (61.0..2_958_466.0)
        .contains(&serial)
        .then_some(serial as i64)?
        - DAYS_BEFORE_1970;
    // Howard Hinnant's civil_from_days.
    let shifted = days + 719_468;
    let (era, day_of_era) = (shifted.div_euclid(146_097), shifted.rem_euclid(146_097));
    let year_of_era =
        (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
    let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let shifted_month = (5 * day_of_year + 2) / 153;
    let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
    let month = if shifted_month < 10 {
        shifted_month + 3
    } else {
        shifted_month - 9
    };
    let year = year_of_era + era * 400 + i64::from(month <= 2);
    Some(format!("{year:04}-{month:02}-{day:02}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_and_dates_are_read() {
        assert_eq!(
            ["A1", "Z9", "AA10", "AB2"].map(column),
            [0, 25, 26, 27].map(Some)
        );
        assert_eq!(["", "12", "a1"].map(column), [None; 3]);
        assert_eq!(date(46_349.5).as_deref(), Some("2026-11-23"));
        assert_eq!(date(61.0).as_deref(), Some("1900-03-01"));
        assert_eq!([date(1e20), date(-1.0), date(f64::NAN)], [None, None, None]);
    }
}
