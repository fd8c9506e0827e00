//! Delimited text, such as CSV, as a Markdown table. The delimiter is declared, or the one that gives most lines the
//! same number of fields.

use std::{borrow::Cow, collections::HashMap};

use super::{
    plain,
    table::{write_header, write_row},
};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Delimiters, the preferred first: a comma may also be in numbers.
const DELIMITERS: [char; 4] = ['\t', ';', '|', ','];
/// Number of records from which the delimiter is detected.
const SAMPLED_RECORDS: usize = 200;
/// Number of bytes from which the delimiter is detected.
const SAMPLED_BYTES: usize = 256 * 1024;

/// Reads delimited text. If no delimiter is found, it is text like any other.
///
/// # Errors
/// If it is not text, or there is too much.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let text = plain::decode(bytes)?;
    let (declared, content) = declared(&text);
    let detected = declared.map_or_else(|| detected(content), |it| shape(content, it));
    let Some(shape) = detected else {
        return Ok(Document {
            text,
            ..Document::default()
        });
    };
    Ok(Document {
        text: shape.markdown(content, limits)?,
        ..Document::default()
    })
}

/// The delimiter that Excel declares in the first line, and the text after it.
fn declared(text: &str) -> (Option<char>, &str) {
    let (line, rest) = text.split_once('\n').unwrap_or((text, ""));
    let value = line.trim_matches('"').strip_prefix("sep=");
    let mut chars = value.unwrap_or_default().chars();
    match (chars.next(), chars.next()) {
        (Some(delimiter), None) if delimiter != '"' => (Some(delimiter), rest),
        _ => (None, text),
    }
}

/// The delimiter of a table, and its usual number of fields.
struct Shape {
    delimiter: char,
    fields: usize,
    /// Number of sampled records with this number of fields.
    records: usize,
}

fn detected(text: &str) -> Option<Shape> {
    let shapes = DELIMITERS.iter().filter_map(|it| shape(text, *it));
    // The first of the best.
    shapes.reduce(|best, other| {
        if other.records > best.records {
            other
        } else {
            best
        }
    })
}

/// The shape of the table, if most records have the same number of fields.
fn shape(text: &str, delimiter: char) -> Option<Shape> {
    let sample = &text[..text.floor_char_boundary(SAMPLED_BYTES)];
    let mut counts: HashMap<usize, usize> = HashMap::new();
    let mut all = 0;
    for record in Records::new(sample, delimiter).take(SAMPLED_RECORDS) {
        if !is_blank(&record) {
            *counts.entry(record.len()).or_default() += 1;
            all += 1;
        }
    }
    let (fields, records) = counts
        .into_iter()
        .filter(|(fields, _)| *fields > 1)
        .max_by_key(|(fields, records)| (*records, *fields))?;
    (records * 2 > all).then_some(Shape {
        delimiter,
        fields,
        records,
    })
}

impl Shape {
    /// The table, below the lines that come before its header.
    fn markdown(&self, content: &str, limits: &Limits) -> Result<String, Unreadable> {
        let width = self.width(content);
        let mut text = String::new();
        let mut is_in_table = false;
        for record in Records::new(content, self.delimiter) {
            if is_blank(&record) {
                continue;
            }
            if is_in_table {
                write_row(&mut text, &record, width);
            } else if record.len() == self.fields {
                write_header(&mut text, &record, width);
                is_in_table = true;
            } else {
                text.push_str(record.join(" ").trim());
                text.push_str("\n\n");
            }
            if text.len() as u64 > limits.text_bytes {
                return Err(Unreadable::TooMuchText {
                    limit_bytes: limits.text_bytes,
                });
            }
        }
        Ok(text)
    }

    /// The number of columns with content.
    fn width(&self, content: &str) -> usize {
        let filled = |record: Vec<Cow<'_, str>>| {
            let last = record.iter().rposition(|field| !field.trim().is_empty());
            last.map_or(0, |last| last + 1)
        };
        Records::new(content, self.delimiter)
            .map(filled)
            .max()
            .unwrap_or_default()
    }
}

fn is_blank(record: &[Cow<'_, str>]) -> bool {
    record.iter().all(|field| field.trim().is_empty())
}

/// Iterates over the records, each a list of fields.
struct Records<'a> {
    rest: &'a str,
    delimiter: char,
    /// Whether a quotation mark may begin a field: one that is never closed is part of the text, as are all after it.
    quotes: bool,
}

impl<'a> Records<'a> {
    fn new(text: &'a str, delimiter: char) -> Self {
        Self {
            rest: text,
            delimiter,
            quotes: true,
        }
    }

    /// Takes a field, without the delimiter or line feed after it.
    fn field(&mut self) -> Cow<'a, str> {
        let Some(quoted) = self.quoted() else {
            return Cow::Borrowed(self.unquoted());
        };
        let after = self.unquoted();
        if after.is_empty() {
            quoted
        } else {
            Cow::Owned(quoted.into_owned() + after)
        }
    }

    fn unquoted(&mut self) -> &'a str {
        let end = self.rest.find([self.delimiter, '\n']);
        let (field, rest) = self.rest.split_at(end.unwrap_or(self.rest.len()));
        self.rest = rest;
        field
    }

    /// Takes a quoted field, in which a doubled quotation mark stands for one.
    fn quoted(&mut self) -> Option<Cow<'a, str>> {
        let inside = self.rest.strip_prefix('"').filter(|_| self.quotes)?;
        let mut end = 0;
        loop {
            let Some(mark) = inside[end..].find('"') else {
                self.quotes = false;
                return None;
            };
            end += mark;
            if !inside[end + 1..].starts_with('"') {
                break;
            }
            end += 2;
        }
        self.rest = &inside[end + 1..];
        let field = &inside[..end];
        Some(if field.contains('"') {
            Cow::Owned(field.replace("\"\"", "\""))
        } else {
            Cow::Borrowed(field)
        })
    }
}

impl<'a> Iterator for Records<'a> {
    type Item = Vec<Cow<'a, str>>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.rest.is_empty() {
            return None;
        }
        let mut record = vec![self.field()];
        while let Some(rest) = self.rest.strip_prefix(self.delimiter) {
            self.rest = rest;
            record.push(self.field());
        }
        self.rest = self.rest.strip_prefix('\n').unwrap_or(self.rest);
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: &str) {
        let document = read(text.as_bytes(), &Limits::default()).unwrap();
        assert_eq!(document.text, expected, "{text}");
    }

    #[test]
    fn tables_of_any_delimiter_are_read() {
        let expected = "| name | price |\n| --- | --- |\n| walrus | 400 |\n";
        for delimiter in [",", ";", "\t", "|"] {
            check(
                &format!("name{delimiter}price\r\nwalrus{delimiter}400\r\n"),
                expected,
            );
            check(
                &format!("\u{feff}name{delimiter}price\nwalrus{delimiter}400"),
                expected,
            );
        }
        check("sep=:\r\nname:price\r\nwalrus:400", expected);
        check("\"sep=;\"\nname;price\nwalrus;400", expected);
    }

    #[test]
    fn quoted_fields_may_hold_anything() {
        check(
            "name,note\n\"a, b\",\"two\nlines and \"\"quotes\"\"\"\n",
            "| name | note |\n| --- | --- |\n| a, b | two lines and \"quotes\" |\n",
        );
        check(
            "size,item\n\"5,pipe\n6,tube\n",
            "| size | item |\n| --- | --- |\n| \"5 | pipe |\n| 6 | tube |\n",
        );
    }

    #[test]
    fn commas_in_numbers_are_no_delimiters() {
        check(
            "1,5;2,5\n3,5;4,5\n",
            "| 1,5 | 2,5 |\n| --- | --- |\n| 3,5 | 4,5 |\n",
        );
    }

    #[test]
    fn uneven_tables_keep_every_field() {
        check(
            "Report of May\n\nid;name;;\n1;a;;\n2;b;c;\n;;;\n",
            "Report of May\n\n| id | name |  |\n| --- | --- | --- |\n| 1 | a |  |\n| 2 | b | c |\n",
        );
        check(
            "a line\nof text, and another\n",
            "a line\nof text, and another\n",
        );
        check("", "");
    }
}
