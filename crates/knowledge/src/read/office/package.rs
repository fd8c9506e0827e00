//! Repacks a workbook into a minimal package that calamine can read: valid relationships, UTF-8, and sheets without
//! attributes at which it would fail.

use std::io::Write;

use flate2::{Compression, write::DeflateEncoder};
use memchr::memmem;
use rawzip::{CompressionMethod, ZipArchiveWriter};

use super::{Archive, Item, Items, Main, XLSX, check_pages, damaged, sheet_details::SheetDetails};
use crate::unreadable::{Limits, Unreadable};

const STRINGS: &str = "xl/sharedStrings.xml";
const STYLES: &str = "xl/styles.xml";
const TYPES: &str = "http://schemas.openxmlformats.org/officeDocument/2006/relationships";

/// A workbook for calamine, with numbered sheet names, since names in the file may be missing or duplicated.
pub(super) struct Package {
    pub(super) bytes: Vec<u8>,
    pub(super) sheets: Vec<Sheet>,
}

/// A sheet of the package.
pub(super) struct Sheet {
    /// The name shown to people.
    pub(super) name: String,
    pub(super) details: SheetDetails,
    /// Whether a formula has no result.
    pub(super) has_unknown_results: bool,
}

impl Package {
    /// Extracts what calamine needs from a workbook.
    ///
    /// # Errors
    /// If it is damaged, or exceeds a limit.
    pub(super) fn of(bytes: &[u8], limits: &Limits) -> Result<Self, Unreadable> {
        let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
        let main = Main::of(&mut archive)?;
        let parts = main.ordered_parts("sheet")?;
        check_pages(parts.len(), limits)?;
        let is_1904 = counts_from_1904(&main.xml)?;
        let mut package = Writer::default();
        if let Some(strings) = archive.text(main.part("sharedStrings", STRINGS))? {
            package.put(STRINGS, without_string_count(strings).as_bytes())?;
        }
        if let Some(styles) = archive.text(main.part("styles", STYLES))? {
            package.put(STYLES, styles.as_bytes())?;
        }
        let mut sheets: Vec<Sheet> = Vec::new();
        for (name, part) in parts {
            let Some(xml) = archive.text(&part)? else {
                continue;
            };
            let details = SheetDetails::of(&mut archive, &part, &xml, limits)?;
            let cells = with_readable_cells(xml);
            package.put(&format!("xl/{}.xml", sheets.len()), &cells.xml)?;
            sheets.push(Sheet {
                name,
                details,
                has_unknown_results: cells.has_unknown_results,
            });
        }
        Ok(Self {
            bytes: package.finish(sheets.len(), is_1904)?,
            sheets,
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

/// A sheet that calamine can read.
struct ReadableCells {
    xml: Vec<u8>,
    has_unknown_results: bool,
}

/// What a cell has.
#[derive(Default)]
struct CellParts {
    has_formula: bool,
    has_value: bool,
}

/// Blanks out, in the tags of a sheet, what calamine would reject: the sheet's dimensions, invalid cell references, and
/// unknown cell types. A cell without a reference is the next in its row; one without a type is a number or a text.
fn with_readable_cells(sheet: String) -> ReadableCells {
    let mut xml = sheet.into_bytes();
    let mut cell = CellParts::default();
    let mut has_unknown_results = false;
    let mut at = 0;
    while let Some(start) = memchr::memchr(b'<', &xml[at..]).map(|found| at + found + 1) {
        let Some(length) = memchr::memchr(b'>', &xml[start..]) else {
            break;
        };
        at = start + length + 1;
        let has_content = xml.get(at).is_some_and(|byte| *byte != b'<');
        let tag = &mut xml[start..start + length];
        match local_name(tag) {
            b"c" => {
                blank_unless(tag, b"r", is_cell_place);
                blank_unless(tag, b"t", |kind| {
                    matches!(kind, b"s" | b"b" | b"d" | b"str" | b"inlineStr" | b"is")
                });
                // The result of a formula may be an empty text.
                let is_text = attribute(tag, b"t").is_some_and(|(_, kind)| &tag[kind] == b"str");
                cell = CellParts {
                    has_formula: false,
                    has_value: is_text,
                };
            }
            b"f" => cell.has_formula = true,
            b"v" => cell.has_value |= has_content && !tag.ends_with(b"/"),
            b"row" => blank_unless(tag, b"r", is_row_number),
            b"dimension" => xml[start - 1..=start + length].fill(b' '),
            _ if is_end(tag, b"c") => has_unknown_results |= cell.has_formula && !cell.has_value,
            _ => {}
        }
    }
    ReadableCells {
        xml,
        has_unknown_results,
    }
}

/// Whether the tag ends an element of this name.
fn is_end(tag: &[u8], name: &[u8]) -> bool {
    tag.strip_prefix(b"/")
        .is_some_and(|tag| local_name(tag) == name)
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
        let readable = String::from_utf8(with_readable_cells(sheet.to_owned()).xml).unwrap();
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
    fn formulas_without_a_result_are_seen() {
        for (cell, expected) in [
            ("<c><f>1+2</f><v></v></c>", true),
            ("<c><f>1+2</f><v/></c>", true),
            ("<x:c><x:f>1+2</x:f></x:c>", true),
            ("<c><f>1+2</f><v>3</v></c>", false),
            ("<c t=\"str\"><f>A1</f><v></v></c>", false),
            ("<c><v></v></c>", false),
        ] {
            let cells = with_readable_cells(cell.to_owned());
            assert_eq!(cells.has_unknown_results, expected, "{cell}");
        }
    }

    #[test]
    fn a_count_of_strings_is_not_believed() {
        let strings = "<sst uniqueCount=\"99\"><si><t>uniqueCount</t></si></sst>";
        let expected = "<sst ignored=\"99\"><si><t>uniqueCount</t></si></sst>";
        assert_eq!(without_string_count(strings.to_owned()), expected);
    }
}
