//! Tests with Office documents built part by part, valid and invalid.

use std::io::Write;

use rawzip::{CompressionMethod, ZipArchiveWriter};

use super::*;
use crate::read;

fn zip(parts: &[(&str, &str)]) -> Vec<u8> {
    let parts: Vec<_> = parts
        .iter()
        .map(|(name, text)| (*name, text.as_bytes()))
        .collect();
    zip_bytes(&parts)
}

fn zip_bytes(parts: &[(&str, &[u8])]) -> Vec<u8> {
    let mut bytes = Vec::new();
    let mut archive = ZipArchiveWriter::new(&mut bytes);
    for (name, content) in parts {
        let entry = archive
            .new_file(name)
            .compression_method(CompressionMethod::DEFLATE);
        let (mut entry, config) = entry.start().unwrap();
        let mut writer = config.wrap(flate2::write::DeflateEncoder::new(
            &mut entry,
            flate2::Compression::default(),
        ));
        writer.write_all(content).unwrap();
        let (encoder, descriptor) = writer.finish().unwrap();
        encoder.finish().unwrap();
        entry.finish(descriptor).unwrap();
    }
    archive.finish().unwrap();
    bytes
}

fn document(body: &str) -> String {
    format!("<w:document xmlns:w=\"w\"><w:body>{body}</w:body></w:document>")
}

fn paragraph(style: &str, text: &str) -> String {
    format!("<w:p><w:pPr><w:pStyle w:val=\"{style}\"/></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>")
}

const STYLES: &str = "<w:styles xmlns:w=\"w\"><w:style w:styleId=\"1\"><w:name w:val=\"heading 1\"/></w:style>\
    <w:style w:styleId=\"Sub\"><w:name w:val=\"Own\"/><w:pPr><w:outlineLvl w:val=\"1\"/></w:pPr></w:style></w:styles>";

#[test]
fn a_word_document_is_read_with_headings_lists_tables_and_notes() {
    let body = [
        paragraph("1", "Отчёт"),
        "<w:p><w:r><w:t>Sales &amp; </w:t></w:r><w:r><w:t>costs &#8364;5</w:t><w:tab/><w:t>x</w:t></w:r></w:p>".into(),
        "<w:p><w:r><w:lastRenderedPageBreak/><w:t>On page two.</w:t></w:r></w:p>".into(),
        paragraph("Sub", "Parts"),
        "<w:p><w:pPr><w:numPr/></w:pPr><w:r><w:t>one</w:t></w:r></w:p>".into(),
        "<w:tbl><w:tr><w:tc><w:p><w:r><w:t>Name</w:t></w:r></w:p></w:tc><w:tc><w:p><w:r><w:t>a|b</w:t></w:r></w:p>\
         </w:tc></w:tr></w:tbl>"
            .into(),
        "<w:p><mc:AlternateContent xmlns:mc=\"mc\"><mc:Choice><w:t>box</w:t></mc:Choice><mc:Fallback><w:t>box</w:t>\
         </mc:Fallback></mc:AlternateContent><w:delText>gone</w:delText></w:p>"
            .into(),
    ];
    let notes = document("<w:footnote><w:p><w:r><w:t>A note.</w:t></w:r></w:p></w:footnote>");
    let file = zip(&[
        ("word/document.xml", &document(&body.concat())),
        ("word/styles.xml", STYLES),
        ("word/footnotes.xml", &notes),
    ]);
    let document = read("report.docx", &file, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "# Отчёт\n\nSales & costs €5 x\n\nOn page two.\n\n## Parts\n\n- one\n| Name | a\\|b |\n\nbox\n\nA note.\n\n"
    );
    assert_eq!(document.title.as_deref(), Some("Отчёт"));
    let levels: Vec<u8> = document.headings.iter().map(|it| it.level).collect();
    assert_eq!(levels, [1, 2]);
    assert_eq!(
        document.page_at(document.text.find("On page two").unwrap()),
        Some(2)
    );
    assert_eq!(
        document.page_at(document.text.find("costs").unwrap()),
        Some(1)
    );
}

fn relations(targets: &[(&str, &str)]) -> String {
    let one =
        |(id, target): &(&str, &str)| format!("<Relationship Id=\"{id}\" Target=\"{target}\"/>");
    format!(
        "<Relationships>{}</Relationships>",
        targets.iter().map(one).collect::<String>()
    )
}

#[test]
fn slides_are_pages_in_the_order_of_the_presentation() {
    let slide = |title: &str, text: &str| {
        format!(
            "<p:sld xmlns:p=\"p\" xmlns:a=\"a\"><p:sp><p:nvPr><p:ph type=\"title\"/></p:nvPr><a:p><a:r><a:t>{title}\
             </a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:t>{text}</a:t></a:r></a:p></p:sp></p:sld>"
        )
    };
    let file = zip(&[
        (
            "ppt/presentation.xml",
            "<p:presentation xmlns:p=\"p\" xmlns:r=\"r\"><p:sldId id=\"1\" r:id=\"rId2\"/><p:sldId id=\"2\" r:id=\"rId1\"/>\
             </p:presentation>",
        ),
        (
            "ppt/_rels/presentation.xml.rels",
            &relations(&[("rId1", "slides/slide1.xml"), ("rId2", "/ppt/slides/b.xml")]),
        ),
        ("ppt/slides/slide1.xml", &slide("Second", "beta")),
        ("ppt/slides/b.xml", &slide("First", "alpha")),
    ]);
    let document = read("x", &file, &Limits::default()).unwrap();
    assert_eq!(document.text, "## First\n\nalpha\n\n## Second\n\nbeta\n\n");
    assert_eq!(
        document.page_at(document.text.find("beta").unwrap()),
        Some(2)
    );
}

/// A minimal workbook with one sheet.
fn workbook(name: &str, sheet: &str, strings: &str, styles: &str) -> Vec<u8> {
    zip(&[
        (
            "xl/workbook.xml",
            &format!(
                "<workbook xmlns:r=\"r\"><sheets><sheet name=\"{name}\" r:id=\"a\"/></sheets></workbook>"
            ),
        ),
        (
            "xl/_rels/workbook.xml.rels",
            &relations(&[("a", "worksheets/sheet1.xml")]),
        ),
        ("xl/worksheets/sheet1.xml", sheet),
        ("xl/sharedStrings.xml", strings),
        ("xl/styles.xml", styles),
    ])
}

const STRINGS: &str =
    "<sst><si><t>zero</t></si><si><r><t>on</t></r><r><t>e</t></r><rPh><t>aid</t></rPh></si></sst>";
const CELL_STYLES: &str =
    "<styleSheet><cellXfs><xf numFmtId=\"0\"/><xf numFmtId=\"14\"/></cellXfs></styleSheet>";

#[test]
fn sheets_are_tables_with_texts_dates_and_gaps() {
    let sheet = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\" t=\"s\"><v>1</v></c><c r=\"C1\" t=\"inlineStr\"><is><t>in\
        </t></is></c></row><row/><row r=\"3\"><c r=\"A3\"><v>4.5</v></c><c r=\"B3\" s=\"1\"><v>46349</v></c><c t=\"b\"><v>1</v>\
        </c></row></sheetData></worksheet>";
    let file = workbook("Лист", sheet, STRINGS, CELL_STYLES);
    let document = read("x.xlsx", &file, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## Лист\n\n| one |  | in |\n| 4.5 | 2026-11-23 | TRUE |\n\n"
    );
}

#[test]
fn a_cell_that_is_not_understood_leaves_the_others() {
    let sheet = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\" t=\"e\"><v>#SPILL!</v></c>\
        <c r=\"C1\" t=\"s\"><v>99</v></c><c r=\"D1\" t=\"new\"><v>x</v></c><c r=\"E1\"><v>5</v></c></row></sheetData></worksheet>";
    let file = workbook("S", sheet, STRINGS, CELL_STYLES);
    let document = read("x.xlsx", &file, &Limits::default()).unwrap();
    assert_eq!(document.text, "## S\n\n| 1 | #SPILL! |  | x | 5 |\n\n");
}

/// See `workbooks.py` next to the files for how they were made.
#[test]
fn workbooks_of_other_programs_are_read() {
    let openpyxl = include_bytes!("../../../tests/data/openpyxl.xlsx");
    let document = read("x.xlsx", openpyxl, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## Zahlen & Daten\n\n| date | 2024-01-01 |\n| own date | 2026-11-23 |\n| moment | 2026-11-23 14:30:05 |\n\
         | time | 08:15 |\n| duration | 26:30:00 |\n| share | 25.6% |\n| sum | 0.3 |\n| price | 1234.5 |\n\
         | merged \\| cell |  | two lines |\n| TRUE |\n| far away |\n\n## Empty\n\n\n## Chart\n\n\n"
    );
    let xlsxwriter = include_bytes!("../../../tests/data/xlsxwriter.xlsx");
    let document = read("x.xlsx", xlsxwriter, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## 1904\n\n| date | 2024-01-01 |\n| own date | 2026-11-23 |\n| moment | 2026-11-23 14:30:05 |\n\
         | time | 08:15 |\n| duration | 26:30:00 |\n| share | 25.6% |\n| sum | 0.3 |\n| price | 1234.5 |\n\
         | 2026-11-23 14:30 | 0.6 | dateown date | #DIV/0! | TRUE |\n| rich text |\n\n"
    );
}

/// From public reports about openpyxl and calamine.
#[test]
fn workbooks_that_stray_from_the_standard_are_read() {
    let check = |rows: &str, expected: &str| {
        let sheet = format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
        let file = workbook("S", &sheet, STRINGS, CELL_STYLES);
        let document = read("x.xlsx", &file, &Limits::default()).unwrap();
        assert_eq!(document.text, format!("## S\n\n{expected}\n"), "{rows}");
    };
    check(
        "<row r='1'><c t='inlineStr'><is><r><t>one</t></r><r><t xml:space='preserve'> cell</t></r></is></c>\
         <c t='d'><v>2026-11-23T00:00:00</v></c><c t='e'><v>#N/A</v></c></row>",
        "| one cell | 2026-11-23T00:00:00 | #N/A |\n",
    );
    check(
        "<row><c t='str'><v>two_x000D_\nlines</v></c><c><v>4.5000000000000002E+1</v></c></row>",
        "| two  lines | 45 |\n",
    );
    check(
        "<row><c t='str'><v>&own;</v></c><c><v>5</v></c></row>",
        "| 5 |\n",
    );
    check(
        "<row r='?'><c r='AAAAAAAAA1'><v>1</v></c><c r='B99999999999'><v>2</v></c><c r='A0' s='9'><v>3</v></c></row>",
        "| 1 | 2 | 3 |\n",
    );
}

#[test]
fn what_a_workbook_says_of_its_sizes_is_not_believed() {
    let sheet = "<worksheet><dimension ref=\"XFD1048576:A1\"/><sheetData><row><c t=\"s\"><v>0</v></c></row></sheetData></worksheet>";
    let strings = "<sst uniqueCount=\"99999999999999\"><si><t>text</t></si></sst>";
    let file = workbook("S", sheet, strings, CELL_STYLES);
    let document = read("x.xlsx", &file, &Limits::default()).unwrap();
    assert_eq!(document.text, "## S\n\n| text |\n\n");
}

#[test]
fn sheets_in_any_unicode_encoding_and_under_one_name_are_read() {
    let sheet = |text: &str| {
        format!(
            "<?xml version='1.0' encoding='utf-16'?><worksheet><sheetData><row><c t='str'><v>{text}</v></c></row></sheetData>\
             </worksheet>"
        )
    };
    let utf16: Vec<u8> = "\u{feff}"
        .encode_utf16()
        .chain(sheet("Zürich").encode_utf16())
        .flat_map(u16::to_be_bytes)
        .collect();
    let file = zip_bytes(&[
        (
            "xl/workbook.xml",
            b"<x:workbook xmlns:x=\"x\" xmlns:d3p1=\"r\"><x:sheet name=\"S\" d3p1:id=\"a\"/>\
              <x:sheet name=\"S\" state=\"new\" d3p1:id=\"b\"/><x:sheet name=\"gone\" d3p1:id=\"c\"/></x:workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            relations(&[("a", "a.xml"), ("b", "/xl/b.xml")]).as_bytes(),
        ),
        ("xl/a.xml", &utf16),
        ("xl/b.xml", format!("\u{feff}{}", sheet("Genève")).as_bytes()),
    ]);
    let document = read("x.xlsx", &file, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## S\n\n| Zürich |\n\n## S\n\n| Genève |\n\n"
    );
}

#[test]
fn workbooks_beyond_a_limit_are_refused() {
    let refusal = |sheet: &str, limits: Limits| {
        let file = workbook("S", sheet, STRINGS, CELL_STYLES);
        read("x.xlsx", &file, &limits).unwrap_err()
    };
    let sheet = |rows: &str| format!("<worksheet><sheetData>{rows}</sheetData></worksheet>");
    let unpacked_bytes = 10_000;
    assert_eq!(
        refusal(
            &sheet(&" ".repeat(1_000_000)),
            Limits {
                unpacked_bytes,
                ..Limits::default()
            }
        ),
        Unreadable::UnpacksTooLarge {
            limit_bytes: unpacked_bytes
        }
    );
    assert_eq!(
        refusal(
            &sheet(&"<row><c><v>1234</v></c></row>".repeat(1000)),
            Limits {
                text_bytes: 1000,
                ..Limits::default()
            }
        ),
        Unreadable::TooMuchText { limit_bytes: 1000 }
    );
    assert_eq!(
        refusal(
            &sheet(""),
            Limits {
                pages: 0,
                ..Limits::default()
            }
        ),
        Unreadable::TooManyPages { limit: 0 }
    );
    for bad in ["<row><c><v>1</v></row>", "<row><c><v>1</v></c>"] {
        assert_eq!(
            refusal(&format!("<worksheet><sheetData>{bad}"), Limits::default()),
            damaged()
        );
    }
}

fn refusal(file: &[u8], limits: Limits) -> Unreadable {
    read("x.docx", file, &limits).unwrap_err()
}

#[test]
fn bombs_and_damage_are_refused() {
    let limits = Limits {
        unpacked_bytes: 10_000,
        text_bytes: 1000,
        ..Limits::default()
    };
    let spaces = document(&" ".repeat(1_000_000));
    assert!(spaces.len() > 20 * zip(&[(DOCX, &spaces)]).len());
    assert_eq!(
        refusal(&zip(&[(DOCX, &spaces)]), limits),
        Unreadable::UnpacksTooLarge {
            limit_bytes: 10_000
        }
    );
    let long = document(&paragraph("x", &"long ".repeat(300)));
    assert_eq!(
        refusal(&zip(&[(DOCX, &long)]), limits),
        Unreadable::TooMuchText { limit_bytes: 1000 }
    );
    let file = zip(&[(DOCX, &document("<w:p><w:t>x</w:t></w:p>"))]);
    for bad in [
        &file[..file.len() / 2],
        &file[..10],
        &zip(&[(DOCX, "<w:p><w:t>x</w:q>")])[..],
    ] {
        assert_eq!(refusal(bad, limits), damaged());
    }
    assert_eq!(
        refusal(&zip(&[("other", "")]), limits),
        Unreadable::UnknownFormat
    );
}

#[test]
fn entities_are_neither_expanded_nor_fetched() {
    let bomb = "<!DOCTYPE d [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\"><!ENTITY f SYSTEM \"file:///etc/passwd\">]>\
        <w:document xmlns:w=\"w\"><w:p><w:t>before &b;&f; after</w:t></w:p></w:document>";
    let document = read("x.docx", &zip(&[(DOCX, bomb)]), &Limits::default()).unwrap();
    assert_eq!(document.text, "before  after\n\n");
}
