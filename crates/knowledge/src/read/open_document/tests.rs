//! Tests with OpenDocument files built part by part.

use proptest::prelude::*;

use super::*;
use crate::{
    document::Page,
    read::{Format, zipped::zip},
};

fn file(kind: &str, content: &str) -> Vec<u8> {
    let mimetype = format!("application/vnd.oasis.opendocument.{kind}");
    zip(&[
        ("mimetype", &mimetype),
        ("content.xml", content),
        (
            "meta.xml",
            "<office:document-meta><office:meta><dc:title>Plan</dc:title></office:meta></office:document-meta>",
        ),
    ])
}

fn text(body: &str) -> Document {
    let content = format!(
        "<office:document-content><office:automatic-styles>\
         <style:style style:name=\"T1\"><style:text-properties style:text-position=\"super 58%\"/></style:style>\
         <style:style style:name=\"T2\"><style:text-properties style:text-line-through-style=\"solid\"/></style:style>\
         <style:style style:name=\"T3\"><style:text-properties style:text-position=\"-33% 58%\"/></style:style>\
         <style:style style:name=\"T4\"><style:text-properties style:text-position=\"33% 58%\"/></style:style>\
         <style:style style:name=\"T5\"><style:text-properties style:text-position=\"0% 100%\"/></style:style>\
         <text:list-style style:name=\"L1\"><text:list-level-style-number text:level=\"1\" style:num-format=\"1\"/>\
         <text:list-level-style-bullet text:level=\"2\"/></text:list-style>\
         <number:text>ignored</number:text></office:automatic-styles>\
         <office:body><office:text>{body}</office:text></office:body></office:document-content>"
    );
    let bytes = file("text", &content);
    assert_eq!(Format::of("a", &bytes).unwrap(), Format::OpenDocument);
    read(&bytes, &Limits::default()).unwrap()
}

fn read_content(content: &str) -> Result<Document, Unreadable> {
    let parts = Parts {
        content,
        ..Parts::default()
    };
    parts.read(&Limits::default())
}

fn check(body: &str, expected: &str) {
    assert_eq!(text(body).text, expected, "{body}");
}

#[test]
fn a_text_is_read_with_its_structure() {
    check(
        "<text:h text:outline-level=\"2\">Costs</text:h><text:p>10<text:span text:style-name=\"T1\">6</text:span> \
         euros<text:span text:style-name=\"T2\"> gone</text:span>,<text:s text:c=\"2\"/>a<text:tab/>b<text:line-break/>c\
         </text:p>",
        "## Costs\n\n10^6 euros,  a b\nc\n\n",
    );
    check(
        "<text:p>H<text:span text:style-name=\"T3\">2</text:span>O in m<text:span text:style-name=\"T4\">3</text:span>, \
         M<text:span text:style-name=\"T1\">me<text:span text:style-name=\"T5\"> X</text:span></text:span></text:p>",
        "H2O in m^3, Mme X\n\n",
    );
    check(
        "<text:list text:style-name=\"L1\"><text:list-item><text:p>one</text:p><text:list><text:list-item><text:p>in\
         </text:p></text:list-item></text:list></text:list-item><text:list-item><text:p>two</text:p></text:list-item>\
         </text:list><text:p>after</text:p>",
        "1. one\n    - in\n2. two\n\nafter\n\n",
    );
    check(
        "<text:p>Sea<text:note><text:note-citation>1</text:note-citation><text:note-body><text:p>A note.</text:p>\
         </text:note-body></text:note> lion<draw:frame><draw:text-box><text:p>box</text:p></draw:text-box></draw:frame>\
         <office:annotation><dc:creator>Ann</dc:creator><dc:date>2026</dc:date><text:p>Really?</text:p>\
         </office:annotation></text:p>",
        "box\n\nSea lion\n\nA note.\n\nReally?\n\n",
    );
    check(
        "<text:tracked-changes><text:p>old</text:p></text:tracked-changes><text:p>on <text:date>23 May</text:date> \
         <text:ruby><text:ruby-base>漢字</text:ruby-base><text:ruby-text>かんじ</text:ruby-text></text:ruby></text:p>",
        "on 23 May 漢字(かんじ)\n\n",
    );
    assert_eq!(text("<text:p>x</text:p>").title.as_deref(), Some("Plan"));
}

#[test]
fn lists_and_headings_are_numbered_as_their_styles_say() {
    let styles = "<office:styles><text:outline-style><text:outline-level-style text:level=\"1\" style:num-format=\"I\" \
        style:num-suffix=\".\"/><text:outline-level-style text:level=\"2\" style:num-format=\"1\" text:display-levels=\"2\"/>\
        </text:outline-style><style:style style:name=\"Off\" style:list-style-name=\"\"/>\
        <text:list-style style:name=\"L\"><text:list-level-style-number text:level=\"1\" style:num-format=\"1\" \
        style:num-suffix=\".\" text:start-value=\"3\"/><text:list-level-style-number text:level=\"2\" style:num-format=\"a\" \
        style:num-prefix=\"(\" style:num-suffix=\")\"/></text:list-style></office:styles>";
    let numbered = |body: &str| {
        let content = format!("<x>{styles}<office:body>{body}</office:body></x>");
        read_content(&content).unwrap().text
    };
    let item = |text: &str| format!("<text:list-item><text:p>{text}</text:p></text:list-item>");
    let list =
        |attributes: &str, items: &str| format!("<text:list {attributes}>{items}</text:list>");
    let inner = |text: &str| format!("<text:list-item>{}</text:list-item>", list("", &item(text)));
    assert_eq!(
        numbered(&[
            list("text:style-name=\"L\" xml:id=\"a\"", &[item("three"), inner("in"), item("four"), inner("in")].concat()),
            "<text:p>between</text:p>".to_owned(),
            list("text:style-name=\"L\" text:continue-numbering=\"true\"", &item("five")),
            list("text:style-name=\"L\"", &[item("three"),
                "<text:list-item text:start-value=\"9\"><text:p/><text:p>nine</text:p><text:p>more</text:p></text:list-item>".to_owned()].concat()),
            list("text:style-name=\"L\" text:continue-list=\"a\"", &item("five")),
            list("", "<text:list-header><text:p>head</text:p></text:list-header>"),
        ].concat()),
        "3. three\n    - (a) in\n4. four\n    - (a) in\n\nbetween\n\n5. five\n\n3. three\n9. nine\nmore\n\n5. five\n\nhead\n\n"
    );
    let heading = |attributes: &str, text: &str| format!("<text:h {attributes}>{text}</text:h>");
    assert_eq!(
        numbered(&[
            heading("text:outline-level=\"1\"", "One"),
            heading("text:outline-level=\"2\"", "Part"),
            heading("text:outline-level=\"1\" text:style-name=\"Off\"", "Thanks"),
            heading("text:outline-level=\"1\"", ""),
            heading("text:outline-level=\"1\" text:is-list-header=\"true\"", "Aside"),
            heading("text:outline-level=\"2\"", "Part"),
            heading("text:outline-level=\"2\" text:restart-numbering=\"true\" text:start-value=\"7\"", "Part"),
            "<text:p>text</text:p>".to_owned(),
        ].concat()),
        "# I. One\n\n## I.1 Part\n\n# Thanks\n\n# Aside\n\n## II.1 Part\n\n## II.7 Part\n\ntext\n\n"
    );
}

#[test]
fn equations_and_charts_stand_in_their_texts() {
    let object = |address: &str| {
        format!("<draw:frame><draw:object xlink:href=\"./{address}\"/></draw:frame>")
    };
    let content = format!(
        "<x><office:body><text:p>Energy: {}!</text:p><text:p>Costs{}</text:p><text:p>end{}</text:p></office:body></x>",
        object("Object 1"),
        object("Object 2"),
        object("gone")
    );
    let equation = "<math><mi>E</mi><mo>=</mo><mi>m</mi><msup><mi>c</mi><mn>2</mn></msup></math>";
    let cell = |text: &str| format!("<table:table-cell><text:p>{text}</text:p></table:table-cell>");
    let row = |cells: [&str; 2]| {
        format!(
            "<table:table-row>{}</table:table-row>",
            cells.map(cell).concat()
        )
    };
    let chart = format!(
        "<x><office:body><chart:title><text:p>Prices</text:p></chart:title><table:table>{}{}</table:table>\
         </office:body></x>",
        row(["", "Euro"]),
        row(["May", "7"])
    );
    let bytes = zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        ("content.xml", &content),
        ("Object 1/content.xml", equation),
        ("Object 2/content.xml", &chart),
    ]);
    assert_eq!(
        read(&bytes, &Limits::default()).unwrap().text,
        "Energy: E = mc^2!\n\nCosts\n\nPrices\n\n|  | Euro |\n| --- | --- |\n| May | 7 |\n\nend\n\n"
    );
}

#[test]
fn styles_of_paragraphs_hide_their_text() {
    let content = "<x><style:style style:name=\"H\"><style:text-properties text:display=\"none\"/></style:style>\
        <style:style style:name=\"P1\" style:parent-style-name=\"H\"/><style:style style:name=\"P2\" style:parent-style-name=\"P2\"/>\
        <office:body><text:p text:style-name=\"P1\">hidden <text:span>too</text:span></text:p>\
        <text:p text:style-name=\"P2\">shown</text:p></office:body></x>";
    let document = read_content(content).unwrap();
    assert_eq!(document.text, "shown\n\n");
}

#[test]
fn merged_cells_are_repeated() {
    let cell = |attributes: &str, text: &str| {
        format!("<table:table-cell {attributes}><text:p>{text}</text:p></table:table-cell>")
    };
    let row = |cells: &[String]| format!("<table:table-row>{}</table:table-row>", cells.concat());
    let covered = "<table:covered-table-cell/>".to_owned();
    let rows = [
        row(&[
            cell("table:number-columns-spanned=\"3\"", "Sales"),
            "<table:covered-table-cell table:number-columns-repeated=\"2\"/>".to_owned(),
        ]),
        row(&[
            cell("table:number-rows-spanned=\"2\"", "Region"),
            cell("table:number-columns-spanned=\"2\"", "2026"),
            covered.clone(),
        ]),
        row(&[covered.clone(), cell("", "Q1"), cell("", "Q2")]),
        row(&[
            cell(
                "table:number-columns-spanned=\"2\" table:number-rows-spanned=\"2\"",
                "North",
            ),
            covered.clone(),
            cell("", "5"),
        ]),
        row(&[covered.clone(), covered, cell("", "7")]),
    ];
    check(
        &format!("<table:table>{}</table:table>", rows.concat()),
        "| Sales |  |  |\n| --- | --- | --- |\n| Region | 2026 | 2026 |\n| Region | Q1 | Q2 |\n\
         | North | North | 5 |\n| North | North | 7 |\n\n",
    );
}

#[test]
fn pages_begin_at_page_breaks() {
    let document = text("<text:p>one</text:p><text:soft-page-break/><text:p>two</text:p>");
    let pages: Vec<_> = document
        .pages
        .iter()
        .map(|it| (it.number, it.start))
        .collect();
    assert_eq!(pages, [(1, 0), (2, 5)]);
}

#[test]
fn a_spreadsheet_is_read_as_tables() {
    let content = "<office:document-content><office:body><office:spreadsheet><table:table table:name=\"May\">\
        <table:table-row><table:table-cell><text:p>name</text:p></table:table-cell><table:table-cell><text:p>price</text:p>\
        </table:table-cell><table:table-cell table:number-columns-repeated=\"16382\"/></table:table-row>\
        <table:table-row table:number-rows-repeated=\"2\"><table:table-cell table:number-columns-repeated=\"2\">\
        <text:p>a|b</text:p><text:p>c</text:p></table:table-cell></table:table-row>\
        <table:table-row table:number-rows-repeated=\"1048000\"><table:table-cell/></table:table-row></table:table>\
        </office:spreadsheet></office:body></office:document-content>";
    let document = read(&file("spreadsheet", content), &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## May\n\n| name | price |\n| --- | --- |\n| a\\|b c | a\\|b c |\n| a\\|b c | a\\|b c |\n\n"
    );
}

#[test]
fn each_slide_is_a_page() {
    let content = "<office:document-content><office:body><office:presentation><draw:page><draw:frame \
        presentation:class=\"title\"><draw:text-box><text:p>Walruses</text:p></draw:text-box></draw:frame><draw:frame>\
        <draw:text-box><text:p>live in the north</text:p></draw:text-box></draw:frame><presentation:notes><draw:frame>\
        <draw:text-box><text:p>Speak slowly.</text:p></draw:text-box></draw:frame></presentation:notes></draw:page>\
        <draw:page><draw:frame><draw:text-box><text:p>End</text:p></draw:text-box></draw:frame></draw:page>\
        </office:presentation></office:body></office:document-content>";
    let document = read(&file("presentation", content), &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## Walruses\n\nlive in the north\n\nSpeak slowly.\n\nEnd\n\n"
    );
    assert_eq!(
        document.pages,
        [
            Page {
                number: 1,
                start: 0
            },
            Page {
                number: 2,
                start: 47
            }
        ]
    );
}

#[test]
fn flat_files_are_read_and_encrypted_ones_refused() {
    let flat = "<?xml version=\"1.0\"?><office:document><office:meta><dc:title>Plan</dc:title></office:meta>\
        <office:body><office:text><text:p>flat</text:p></office:text></office:body></office:document>";
    let document = read(flat.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(
        (document.text.as_str(), document.title.as_deref()),
        ("flat\n\n", Some("Plan"))
    );
    let bytes = zip(&[
        ("mimetype", "application/vnd.oasis.opendocument.text"),
        (
            "META-INF/manifest.xml",
            "<manifest:file-entry><manifest:encryption-data/></manifest:file-entry>",
        ),
        ("content.xml", "\u{1}"),
    ]);
    assert_eq!(read(&bytes, &Limits::default()), Err(Unreadable::Encrypted));
}

#[test]
fn repeated_cells_end_at_the_limit() {
    let row = format!(
        "<table:table-row table:number-rows-repeated=\"1000\"><table:table-cell table:number-columns-repeated=\"1000\">\
         <text:p>{}</text:p></table:table-cell></table:table-row>",
        "x".repeat(100_000)
    );
    let content = format!("<x><table:table>{}</table:table></x>", row.repeat(3));
    let refusal = read(&file("spreadsheet", &content), &Limits::default());
    assert!(matches!(refusal, Err(Unreadable::TooMuchText { .. })));
}

proptest! {
    #[test]
    fn any_nesting_is_read_or_refused(
        parts in prop::collection::vec(
            prop::sample::select(vec![
                "<text:p>", "</text:p>", "<table:table>", "</table:table>", "<table:table-row>", "</table:table-row>",
                "<table:table-cell table:number-columns-repeated=\"9\">", "</table:table-cell>", "<text:list>",
                "</text:list>", "<text:list-item>", "</text:list-item>", "<text:note-body>", "</text:note-body>",
                "<text:s text:c=\"99999999999\"/>", "<text:h text:outline-level=\"99\">", "</text:h>", "walrus", "<draw:page/>",
                "<text:soft-page-break/>", "<text:span>", "</text:span>", "<office:meta>", "</office:meta>",
            ]),
            0..40,
        )
    ) {
        let _ = read_content(&parts.concat());
    }
}
