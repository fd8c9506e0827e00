//! Repacks a workbook into a minimal package that calamine can read: valid relationships, UTF-8, and sheets without
//! attributes at which it would fail.

use std::io::Write;

use flate2::{Compression, write::DeflateEncoder};
use memchr::memmem;
use rawzip::{CompressionMethod, ZipArchiveWriter};

use super::{Archive, Item, Items, XLSX, damaged, ordered_parts};
use crate::unreadable::{Limits, Unreadable};

const STRINGS: &str = "xl/sharedStrings.xml";
const STYLES: &str = "xl/styles.xml";
const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook for calamine, with numbered sheet names, since names in the file may be missing or duplicated.
pub(super) struct Package {
    pub(super) bytes: Vec<u8>,
    /// The names shown to people.
    pub(super) sheet_names: Vec<String>,
}

impl Package {
    /// Extracts what calamine needs from a workbook.
    ///
    /// # Errors
    /// If it is damaged, or exceeds a limit.
    pub(super) fn of(bytes: &[u8], limits: &Limits) -> Result<Self, Unreadable> {
        let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
        let sheets = ordered_parts(&mut archive, XLSX, "sheet")?;
        if sheets.len() > limits.pages as usize {
            return Err(Unreadable::TooManyPages {
                limit: limits.pages,
            });
        }
        let is_1904 = counts_from_1904(&archive.text(XLSX)?.ok_or_else(damaged)?)?;
        let mut package = Writer::default();
        if let Some(strings) = archive.text(STRINGS)? {
            package.put(STRINGS, without_string_count(strings).as_bytes())?;
        }
        if let Some(styles) = archive.text(STYLES)? {
            package.put(STYLES, styles.as_bytes())?;
        }
        let mut sheet_names = Vec::new();
        for (name, part) in sheets {
            if let Some(sheet) = archive.text(&part)? {
                let sheet = with_readable_cells(sheet);
                package.put(&format!("xl/{}.xml", sheet_names.len()), &sheet)?;
                sheet_names.push(name);
            }
        }
        Ok(Self {
            bytes: package.finish(sheet_names.len(), is_1904)?,
            sheet_names,
        })
    }
}

/// Writes the parts.
struct Writer {
    archive: ZipArchiveWriter<Vec<u8>>,
}

impl Default for Writer {
    fn default() -> Self {
        Self {
            archive: ZipArchiveWriter::new(Vec::new()),
        }
    }
}

impl Writer {
    /// Compressed, since all sheets of a large workbook would take much memory.
    fn put(&mut self, name: &str, content: &[u8]) -> Result<(), Unreadable> {
        let mut write = || {
            let entry = self
                .archive
                .new_file(name)
                .compression_method(CompressionMethod::DEFLATE);
            let (mut entry, config) = entry.start()?;
            let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
            writer.write_all(content)?;
            let (encoder, descriptor) = writer.finish()?;
            encoder.finish()?;
            entry.finish(descriptor)
        };
        write().map(|_| ()).map_err(|_| damaged())
    }

    /// Adds the parts that list the sheets.
    fn finish(mut self, sheets: usize, is_1904: bool) -> Result<Vec<u8>, Unreadable> {
        let list = |one: &dyn Fn(usize) -> String| (0..sheets).map(one).collect::<String>();
        let workbook = list(&|at| format!("<sheet name=\"{at}\" id=\"{at}\"/>"));
        let relationships = list(&|at| relationship(&at.to_string(), "worksheet", at));
        self.put(
            XLSX,
            format!("<workbook><workbookPr date1904=\"{is_1904}\"/>{workbook}</workbook>")
                .as_bytes(),
        )?;
        self.put(
            "xl/_rels/workbook.xml.rels",
            format!("<Relationships>{relationships}</Relationships>").as_bytes(),
        )?;
        let document = relationship("0", "officeDocument", "xl/workbook");
        self.put(
            "_rels/.rels",
            format!("<Relationships>{document}</Relationships>").as_bytes(),
        )?;
        self.archive.finish().map_err(|_| damaged())
    }
}

fn relationship(id: &str, kind: &str, target: impl std::fmt::Display) -> String {
    format!("<Relationship Id=\"{id}\" Type=\"{TYPES}/{kind}\" Target=\"{target}.xml\"/>")
}

fn counts_from_1904(workbook: &str) -> Result<bool, Unreadable> {
    for item in Items::new(workbook) {
        if let Item::Open(tag) = item?
            && tag.name == "workbookPr"
            && let Some(value) = tag.attribute("date1904")
        {
            return Ok(matches!(value.as_str(), "1" | "true"));
        }
    }
    Ok(false)
}

/// calamine reserves memory for as many strings as the part claims to have.
fn without_string_count(mut strings: String) -> String {
    const COUNT: &str = "uniqueCount";
    let end = strings.find("si>").unwrap_or(strings.len());
    if let Some(start) = strings[..end].find(COUNT) {
        strings.replace_range(start..start + COUNT.len(), "ignored");
    }
    strings
}

/// Blanks out, in the tags of a sheet, what calamine would reject: the sheet's dimensions, invalid cell references, and
/// unknown cell types. A cell without a reference is the next in its row; one without a type is a number or a text.
fn with_readable_cells(sheet: String) -> Vec<u8> {
    let mut xml = sheet.into_bytes();
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'<', &xml[at..]).map(|found| at + found + 1) {
        let Some(length) = memchr::memchr(b'>', &xml[start..]) else {
            break;
        };
        let tag = &mut xml[start..start + length];
        match local_name(tag) {
            b"c" => {
                blank_unless(tag, b"r", is_cell_place);
                blank_unless(tag, b"t", |kind| {
                    matches!(kind, b"s" | b"b" | b"d" | b"str" | b"inlineStr" | b"is")
                });
            }
            b"row" => blank_unless(tag, b"r", is_row_number),
            b"dimension" => xml[start - 1..=start + length].fill(b' '),
            _ => {}
        }
        at = start + length + 1;
    }
    xml
}

fn local_name(tag: &[u8]) -> &[u8] {
    let end = tag
        .iter()
        .position(|byte| byte.is_ascii_whitespace() || *byte == b'/');
    let name = &tag[..end.unwrap_or(tag.len())];
    name.rsplit(|byte| *byte == b':').next().unwrap_or(name)
}

/// Overwrites an attribute with spaces if its value is not accepted.
fn blank_unless(tag: &mut [u8], name: &[u8], accepts: impl Fn(&[u8]) -> bool) {
    let Some((whole, value)) = attribute(tag, name) else {
        return;
    };
    if !accepts(&tag[value]) {
        tag[whole].fill(b' ');
    }
}

/// The byte ranges in the tag of an attribute and of its value.
fn attribute(tag: &[u8], name: &[u8]) -> Option<(std::ops::Range<usize>, std::ops::Range<usize>)> {
    memmem::find_iter(tag, name).find_map(|start| {
        let is_after_space = start > 0 && tag[start - 1].is_ascii_whitespace();
        let after = tag[start + name.len()..].trim_ascii_start();
        let after = after.strip_prefix(b"=")?.trim_ascii_start();
        let quote = *after.first().filter(|byte| matches!(byte, b'"' | b'\''))?;
        let value_start = tag.len() - after.len() + 1;
        let value_end = value_start + memchr::memchr(quote, &after[1..])?;
        is_after_space.then_some((start..value_end + 1, value_start..value_end))
    })
}

/// Whether it is a cell reference such as “AB12”. Excel has 16,384 columns and 1,048,576 rows.
fn is_cell_place(place: &[u8]) -> bool {
    let letters = place.iter().take_while(|byte| byte.is_ascii_alphabetic());
    let letters = letters.count();
    (1..=3).contains(&letters) && is_row_number(&place[letters..])
}

fn is_row_number(number: &[u8]) -> bool {
    (1..=7).contains(&number.len())
        && number.iter().all(u8::is_ascii_digit)
        && number.iter().any(|digit| *digit != b'0')
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `expected` has one space for each blanked stretch.
    fn check(sheet: &str, expected: &str) {
        let readable = String::from_utf8(with_readable_cells(sheet.to_owned())).unwrap();
        assert_eq!(readable.len(), sheet.len());
        let words: Vec<_> = readable.split(' ').filter(|it| !it.is_empty()).collect();
        assert_eq!(words.join(" "), expected, "{sheet}");
    }

    #[test]
    fn attributes_that_calamine_refuses_are_blanked() {
        check("<a/><dimension ref=\"B9:A1\"/><b/>", "<a/> <b/>");
        check("<x:c r=\"A1\" t=\"s\">", "<x:c r=\"A1\" t=\"s\">");
        check("<c r='1A' t = 'e' s='t=\"e\"'>", "<c s='t=\"e\"'>");
        check("<c r=\"ABCD1\" t=\"n\"/>", "<c />");
        check("<c ar=\"x\" r=\"A0\">", "<c ar=\"x\" >");
        check("<row r=\"99999999\">", "<row >");
        check("<v>r=\"?\"</v><c r=\"A1", "<v>r=\"?\"</v><c r=\"A1");
        let known = "<row spans=\"1:2\" r=\"12\"/>";
        check(known, known);
    }

    #[test]
    fn a_count_of_strings_is_not_believed() {
        let strings = "<sst uniqueCount=\"99\"><si><t>uniqueCount</t></si></sst>";
        let expected = "<sst ignored=\"99\"><si><t>uniqueCount</t></si></sst>";
        assert_eq!(without_string_count(strings.to_owned()), expected);
    }
}
