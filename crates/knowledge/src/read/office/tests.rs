//! Tests with Office documents built part by part, valid and invalid.

use super::*;
use crate::read::{
    read,
    zipped::{zip, zip_bytes},
};

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
        "# Отчёт\n\nSales & costs €5 x\n\nOn page two.\n\n## Parts\n\n- one\n\n| Name | a\\|b |\n| --- | --- |\n\nbox\n\nA note.\n\n"
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

/// The text of a Word document with this body, and these other parts.
fn word(body: &str, parts: &[(&str, &str)]) -> String {
    let document = document(body);
    let mut all = vec![(DOCX, document.as_str())];
    all.extend(parts);
    read("x.docx", &zip(&all), &Limits::default()).unwrap().text
}

fn runs(runs: &[(&str, &str)]) -> String {
    let run = |(properties, text): &(&str, &str)| {
        format!("<w:r><w:rPr>{properties}</w:rPr><w:t xml:space='preserve'>{text}</w:t></w:r>")
    };
    let runs: String = runs.iter().map(run).collect();
    format!("<w:p>{runs}</w:p>")
}

#[test]
fn text_that_is_not_valid_is_left_out_and_scripts_are_kept() {
    let styles = "<w:styles xmlns:w='w'><w:style w:styleId='Gone'><w:rPr><w:vanish/></w:rPr></w:style>\
        <w:style w:styleId='Up'><w:rPr><w:vertAlign w:val='superscript'/></w:rPr></w:style></w:styles>";
    for (body, expected) in [
        (
            runs(&[("", "5 x 10"), ("<w:vertAlign w:val='superscript'/>", "6"), ("", " m")]),
            "5 x 10^6 m\n\n",
        ),
        (
            runs(&[("", "H"), ("<w:vertAlign w:val='subscript'/>", "2"), ("", "O, x"), ("<w:rStyle w:val='Up'/>", "n+1")]),
            "H2O, x^(n+1)\n\n",
        ),
        (
            runs(&[("<w:strike/>", "900 "), ("<w:strike w:val='0'/>", "700 "), ("<w:dstrike/>", "x"), ("", "euros")]),
            "700 euros\n\n",
        ),
        (
            runs(&[("<w:vanish/>", "secret "), ("<w:rStyle w:val='Gone'/>", "secret "), ("", "seen")]),
            "seen\n\n",
        ),
        // Only the mark of the paragraph is hidden; the strike was removed.
        (
            "<w:p><w:pPr><w:rPr><w:vanish/></w:rPr></w:pPr><w:r><w:rPr><w:rPrChange><w:rPr><w:strike/></w:rPr></w:rPrChange>\
             </w:rPr><w:t>kept</w:t></w:r></w:p>"
                .into(),
            "kept\n\n",
        ),
        (
            "<w:p><w:pPr><w:pStyle w:val='Gone'/></w:pPr><w:r><w:t>no</w:t></w:r></w:p><w:p><w:r><w:t>yes</w:t></w:r></w:p>"
                .into(),
            "yes\n\n",
        ),
        // A paragraph whose end is deleted goes on in the next.
        (
            "<w:p><w:pPr><w:rPr><w:del/></w:rPr></w:pPr><w:r><w:t>one </w:t></w:r><w:del><w:r><w:t>no</w:t></w:r></w:del></w:p>\
             <w:p><w:r><w:t>two</w:t></w:r></w:p>"
                .into(),
            "one two\n\n",
        ),
    ] {
        assert_eq!(word(&body, &[("word/styles.xml", styles)]), expected, "{body}");
    }
}

#[test]
fn forms_show_their_values_without_placeholders() {
    let text = |text: &str| format!("<w:r><w:t>{text}</w:t></w:r>");
    let control = |properties: &str, content: &str| {
        format!(
            "<w:sdt><w:sdtPr>{properties}</w:sdtPr><w:sdtContent>{content}</w:sdtContent></w:sdt>"
        )
    };
    let old = |field: &str| {
        format!(
            "<w:r><w:fldChar w:fldCharType='begin'><w:ffData>{field}</w:ffData></w:fldChar></w:r>"
        )
    };
    let body = [
        text("Name: "),
        control("<w:showingPlcHdr/>", &text("Click here")),
        text("Colour: "),
        control(
            "<w:dropDownList><w:listItem w:value='red'/></w:dropDownList>",
            &text("blue"),
        ),
        text(" "),
        control(
            "<w14:checkbox xmlns:w14='w14'/>",
            "<w:r><w:sym w:font='MS Gothic' w:char='2612'/></w:r>",
        ),
        text(" yes "),
        "<w:r><w:sym w:font='Wingdings' w:char='F0A8'/></w:r>".into(),
        text(" no "),
        old("<w:checkBox><w:checked/></w:checkBox>"),
        old(
            "<w:ddList><w:result w:val='1'/><w:listEntry w:val='a'/><w:listEntry w:val='b'/></w:ddList>",
        ),
    ];
    assert_eq!(
        word(&format!("<w:p>{}</w:p>", body.concat()), &[]),
        "Name: Colour: blue ☒ yes ☐ no ☒b\n\n"
    );
}

#[test]
fn lists_and_headings_keep_their_numbers_and_nesting() {
    let numbering = "<w:numbering xmlns:w='w'><w:abstractNum w:abstractNumId='0'>\
        <w:lvl w:ilvl='0'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:pStyle w:val='1'/><w:lvlText w:val='%1'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:start w:val='1'/><w:numFmt w:val='decimal'/><w:pStyle w:val='Sub'/><w:lvlText w:val='%1.%2'/></w:lvl>\
        </w:abstractNum><w:abstractNum w:abstractNumId='1'>\
        <w:lvl w:ilvl='0'><w:numFmt w:val='decimal'/><w:lvlText w:val='%1)'/></w:lvl>\
        <w:lvl w:ilvl='1'><w:numFmt w:val='lowerLetter'/><w:lvlText w:val='(%2)'/></w:lvl>\
        <w:lvl w:ilvl='2'><w:numFmt w:val='bullet'/><w:lvlText w:val='o'/></w:lvl></w:abstractNum>\
        <w:num w:numId='1'><w:abstractNumId w:val='0'/></w:num><w:num w:numId='2'><w:abstractNumId w:val='1'/></w:num>\
        </w:numbering>";
    let styles = "<w:styles xmlns:w='w'><w:style w:styleId='1'><w:name w:val='heading 1'/><w:pPr><w:numPr><w:numId w:val='1'/>\
        </w:numPr></w:pPr></w:style><w:style w:styleId='Sub'><w:name w:val='heading 2'/><w:basedOn w:val='1'/></w:style>\
        </w:styles>";
    let item = |level: usize, text: &str| {
        format!(
            "<w:p><w:pPr><w:numPr><w:ilvl w:val='{level}'/><w:numId w:val='2'/></w:numPr></w:pPr><w:r><w:t>{text}</w:t></w:r></w:p>"
        )
    };
    let off = "<w:p><w:pPr><w:pStyle w:val='1'/><w:numPr><w:numId w:val='0'/></w:numPr></w:pPr><w:r><w:t>Annex</w:t></w:r></w:p>";
    let body = [
        paragraph("1", "Terms"),
        paragraph("Sub", "Scope"),
        paragraph("Sub", "Price"),
        item(0, "first"),
        item(1, "inner"),
        item(2, "deep"),
        item(1, "inner too"),
        item(0, "second"),
        paragraph("", "Text."),
        item(1, "alone"),
        paragraph("1", "More"),
        paragraph("Sub", "Last"),
        off.into(),
    ];
    let text = word(
        &body.concat(),
        &[
            ("word/styles.xml", styles),
            ("word/numbering.xml", numbering),
        ],
    );
    assert_eq!(
        text,
        "# 1 Terms\n\n## 1.1 Scope\n\n## 1.2 Price\n\n1) first\n    - (a) inner\n        - deep\n    - (b) inner too\n\
         2) second\n\nText.\n\n- (a) alone\n\n# 2 More\n\n## 2.1 Last\n\n# Annex\n\n"
    );
}

#[test]
fn merged_cells_of_word_tables_keep_columns_aligned() {
    let cell = |properties: &str, text: &str| {
        format!("<w:tc><w:tcPr>{properties}</w:tcPr><w:p><w:r><w:t>{text}</w:t></w:r></w:p></w:tc>")
    };
    let row = |cells: &[String]| format!("<w:tr>{}</w:tr>", cells.concat());
    let body = [
        row(&[cell("<w:vMerge w:val='restart'/>", "Region"), cell("<w:gridSpan w:val='2'/>", "2026")]),
        row(&[cell("<w:vMerge/>", ""), cell("", "Q1"), cell("", "Q2")]),
        "<w:tr><w:trPr><w:del/></w:trPr><w:tc><w:p><w:r><w:t>gone</w:t></w:r></w:p></w:tc></w:tr>".into(),
        "<w:tr><w:trPr><w:gridBefore w:val='1'/></w:trPr><w:tc><w:tbl><w:tr><w:tc><w:p><w:r><w:t>in</w:t></w:r></w:p></w:tc>\
         <w:tc><w:p><w:r><w:t>ner</w:t></w:r></w:p></w:tc></w:tr></w:tbl><w:p/></w:tc></w:tr>"
            .into(),
    ];
    assert_eq!(
        word(&format!("<w:tbl>{}</w:tbl>", body.concat()), &[]),
        "| Region | 2026 | 2026 |\n| --- | --- | --- |\n| Region | Q1 | Q2 |\n|  | in / ner |\n\n"
    );
}

fn typed_relations(targets: &[(&str, &str, &str)]) -> String {
    let one = |(id, kind, target): &(&str, &str, &str)| {
        format!("<Relationship Id=\"{id}\" Type=\"http://x/{kind}\" Target=\"{target}\"/>")
    };
    format!(
        "<Relationships>{}</Relationships>",
        targets.iter().map(one).collect::<String>()
    )
}

const CHART: &str = "<c:chartSpace xmlns:c='c'><c:ser><c:tx><c:v>Ducks</c:v></c:tx><c:cat><c:pt idx='0'><c:v>May</c:v></c:pt></c:cat>\
    <c:val><c:pt idx='0'><c:v>7</c:v></c:pt></c:val></c:ser></c:chartSpace>";

#[test]
fn headers_footers_comments_and_charts_of_word_are_read() {
    let margin = |text: &str| format!("<w:hdr xmlns:w='w'>{text}</w:hdr>");
    let page = "<w:p><w:r><w:t>Page </w:t></w:r><w:r><w:instrText> PAGE </w:instrText></w:r><w:r><w:t>1</w:t></w:r></w:p>";
    let header = margin(&format!("{}{page}", runs(&[("", "Invoice 4711")])));
    let body = "<w:p><w:r><w:t>Body.</w:t></w:r><w:r><c:chart xmlns:c='c' xmlns:r='r' r:id='c1'/></w:r></w:p>\
        <w:p><w:r><w:lastRenderedPageBreak/><w:t>Two.</w:t></w:r></w:p>";
    let file = zip(&[
        (DOCX, &document(body)),
        (
            "word/_rels/document.xml.rels",
            &typed_relations(&[
                ("h1", "header", "header1.xml"),
                ("h2", "header", "header2.xml"),
                ("f1", "footer", "/word/footer1.xml"),
                ("c1", "chart", "charts/chart1.xml"),
                ("k", "comments", "remarks.xml"),
            ]),
        ),
        ("word/header1.xml", &header),
        ("word/header2.xml", &header),
        ("word/footer1.xml", &margin(&runs(&[("", "IBAN DE02")]))),
        ("word/charts/chart1.xml", CHART),
        (
            "word/remarks.xml",
            &margin(&format!(
                "<w:comment w:author='Ann'>{}</w:comment>",
                runs(&[("", "Too high?")])
            )),
        ),
    ]);
    let document = read("x.docx", &file, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "Invoice 4711\n\nBody.\n\n|  | Ducks |\n| --- | --- |\n| May | 7 |\n\nTwo.\n\nIBAN DE02\n\nAnn: Too high?\n\n"
    );
    let page_of = |text: &str| document.page_at(document.text.find(text).unwrap());
    assert_eq!(
        [page_of("Invoice"), page_of("Body"), page_of("Two")],
        [1, 1, 2].map(Some)
    );
}

#[test]
fn slides_have_bullets_charts_and_notes() {
    let shape = |placeholder: &str, paragraphs: &str| {
        format!(
            "<p:sp><p:nvPr><p:ph {placeholder}/></p:nvPr><p:txBody>{paragraphs}</p:txBody></p:sp>"
        )
    };
    let paragraph = |properties: &str, text: &str| {
        format!("<a:p><a:pPr {properties}</a:pPr><a:r><a:t>{text}</a:t></a:r></a:p>")
    };
    let slide = [
        shape("type='title'", &paragraph(">", "Plan")),
        shape(
            "idx='1'",
            &[
                paragraph(">", "one"),
                paragraph("lvl='1'>", "inner"),
                paragraph("><a:buNone/>", "plain"),
                paragraph("><a:buAutoNum type='alphaLcParenR'/>", "step"),
                paragraph("><a:buAutoNum type='alphaLcParenR'/>", "next"),
            ]
            .concat(),
        ),
        "<p:sp><p:txBody><a:p><a:r><a:t>10</a:t></a:r><a:r><a:rPr baseline='30000'/><a:t>6</a:t></a:r><a:r>\
         <a:rPr strike='sngStrike'/><a:t>old</a:t></a:r></a:p></p:txBody></p:sp>"
            .into(),
        shape("type='sldNum'", &paragraph(">", "1")),
        "<p:graphicFrame><c:chart xmlns:c='c' r:id='c'/></p:graphicFrame>".into(),
        "<p:graphicFrame><d:relIds xmlns:d='d' r:dm='d' r:lo='c'/></p:graphicFrame>".into(),
        "<p:sp><p:txBody><a:p><a:r><a:t>end</a:t></a:r></a:p></p:txBody></p:sp>".into(),
    ];
    let of =
        |content: &str| format!("<p:sld xmlns:p='p' xmlns:a='a' xmlns:r='r'>{content}</p:sld>");
    let notes = [
        shape("type='sldImg'", ""),
        shape("type='body' idx='1'", &paragraph(">", "Say it.")),
        shape("type='ftr'", &paragraph(">", "Footer")),
        format!(
            "<p:sp><p:txBody>{}<a:p><a:fld type='slidenum'><a:t>1</a:t></a:fld></a:p></p:txBody></p:sp>",
            paragraph(">", "Slowly.")
        ),
        shape("type='sldNum'", &paragraph(">", "1")),
    ];
    let file = zip(&[
        (
            "_rels/.rels",
            &typed_relations(&[("a", "officeDocument", "/ppt/main.xml")]),
        ),
        (
            "ppt/main.xml",
            "<p:presentation xmlns:p='p' xmlns:r='r'><p:sldId id='1' r:id='s'/></p:presentation>",
        ),
        (
            "ppt/_rels/main.xml.rels",
            &typed_relations(&[
                ("s", "slide", "slides/a.xml"),
                ("b", "commentAuthors", "old.xml"),
                ("c", "authors", "new.xml"),
            ]),
        ),
        ("ppt/slides/a.xml", &of(&slide.concat())),
        (
            "ppt/slides/_rels/a.xml.rels",
            &typed_relations(&[
                ("n", "notesSlide", "../notesSlides/n.xml"),
                ("c", "chart", "../charts/c.xml"),
                ("d", "diagramData", "../diagrams/d.xml"),
                ("o", "comments", "old.xml"),
                ("p", "comments", "new.xml"),
            ]),
        ),
        (
            "ppt/diagrams/d.xml",
            "<d:dataModel xmlns:d='d' xmlns:a='a'><d:pt><d:t><a:p><a:r><a:t>Hatch</a:t></a:r></a:p></d:t></d:pt>\
             <d:pt><d:t><a:p><a:r><a:t>Fledge</a:t></a:r></a:p></d:t></d:pt></d:dataModel>",
        ),
        (
            "ppt/old.xml",
            "<p:cmAuthorLst xmlns:p='p'><p:cmAuthor id='0' name='Ann'/></p:cmAuthorLst>",
        ),
        (
            "ppt/new.xml",
            "<n:authorLst xmlns:n='n'><n:author id='{B}' name='Bob'/></n:authorLst>",
        ),
        (
            "ppt/slides/old.xml",
            "<p:cmLst xmlns:p='p'><p:cm authorId='0'><p:text>Which ducks?</p:text></p:cm></p:cmLst>",
        ),
        (
            "ppt/slides/new.xml",
            "<n:cmLst xmlns:n='n' xmlns:a='a'><n:cm authorId='{B}'><n:replyLst><n:reply authorId='?'><n:txBody><a:p><a:r>\
             <a:t>All of</a:t></a:r></a:p><a:p><a:r><a:t>them.</a:t></a:r></a:p></n:txBody></n:reply></n:replyLst>\
             <n:txBody><a:p><a:r><a:t>Which then?</a:t></a:r></a:p></n:txBody></n:cm></n:cmLst>",
        ),
        ("ppt/notesSlides/n.xml", &of(&notes.concat())),
        ("ppt/charts/c.xml", CHART),
    ]);
    let document = read("x.pptx", &file, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## Plan\n\n- one\n    - inner\n\nplain\n\n- a) step\n- b) next\n\n10^6\n\n\
         |  | Ducks |\n| --- | --- |\n| May | 7 |\n\nHatch\n\nFledge\n\nend\n\nSay it.\n\nSlowly.\n\n\
         Ann: Which ducks?\n\nBob: Which then?\n\nAll of them.\n\n"
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
        "## Лист\n\n| one |  | in |\n| --- | --- | --- |\n| 4.5 | 2026-11-23 | TRUE |\n\n"
    );
}

#[test]
fn a_cell_that_is_not_understood_leaves_the_others() {
    let sheet = "<worksheet><sheetData><row r=\"1\"><c r=\"A1\"><v>1</v></c><c r=\"B1\" t=\"e\"><v>#SPILL!</v></c>\
        <c r=\"C1\" t=\"s\"><v>99</v></c><c r=\"D1\" t=\"new\"><v>x</v></c><c r=\"E1\"><v>5</v></c></row></sheetData></worksheet>";
    let file = workbook("S", sheet, STRINGS, CELL_STYLES);
    let document = read("x.xlsx", &file, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## S\n\n| 1 | #SPILL! |  | x | 5 |\n| --- | --- | --- | --- | --- |\n\n"
    );
}

/// See `workbooks.py` next to the files for how they were made.
#[test]
fn workbooks_of_other_programs_are_read() {
    let openpyxl = include_bytes!("../../../tests/data/openpyxl.xlsx");
    let document = read("x.xlsx", openpyxl, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## Zahlen & Daten\n\n| date | 2024-01-01 |  |\n| --- | --- | --- |\n| own date | 2026-11-23 |\n| moment | 2026-11-23 14:30:05 |\n\
         | time | 08:15 |\n| duration | 26:30:00 |\n| share | 25.6% |\n| sum | 0.3 |\n| price | 1,234.50 € |\n\
         | merged \\| cell | merged \\| cell | two lines |\n| TRUE |\n\nXFD1048576: far away\n\n## Empty\n\n\n## Chart\n\n\n"
    );
    let xlsxwriter = include_bytes!("../../../tests/data/xlsxwriter.xlsx");
    let document = read("x.xlsx", xlsxwriter, &Limits::default()).unwrap();
    assert_eq!(
        document.text,
        "## 1904\n\n| date | 2024-01-01 |  |  |  |\n| --- | --- | --- | --- | --- |\n| own date | 2026-11-23 |\n| moment | 2026-11-23 14:30:05 |\n\
         | time | 08:15 |\n| duration | 26:30:00 |\n| share | 25.6% |\n| sum | 0.3 |\n| price | 1,234.50 € |\n\
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
        "| one cell | 2026-11-23T00:00:00 | #N/A |\n| --- | --- | --- |\n",
    );
    check(
        "<row><c t='str'><v>two_x000D_\nlines</v></c><c><v>4.5000000000000002E+1</v></c></row>",
        "| two lines | 45 |\n| --- | --- |\n",
    );
    check(
        "<row><c t='str'><v>&own;</v></c><c><v>5</v></c></row>",
        "| 5 |\n| --- |\n",
    );
    check(
        "<row r='?'><c r='AAAAAAAAA1'><v>1</v></c><c r='B99999999999'><v>2</v></c><c r='A0' s='9'><v>3</v></c></row>",
        "| 1 | 2 | 3 |\n| --- | --- | --- |\n",
    );
}

#[test]
fn what_a_workbook_says_of_its_sizes_is_not_believed() {
    let sheet = "<worksheet><dimension ref=\"XFD1048576:A1\"/><sheetData><row><c t=\"s\"><v>0</v></c></row></sheetData></worksheet>";
    let strings = "<sst uniqueCount=\"99999999999999\"><si><t>text</t></si></sst>";
    let file = workbook("S", sheet, strings, CELL_STYLES);
    let document = read("x.xlsx", &file, &Limits::default()).unwrap();
    assert_eq!(document.text, "## S\n\n| text |\n| --- |\n\n");
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
        "## S\n\n| Zürich |\n| --- |\n\n## S\n\n| Genève |\n| --- |\n\n"
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

/// The text of a workbook whose sheet has these rows and what follows them, with relationships of the sheet.
fn sheet(rows: &str, rest: &str, parts: &[(&str, &str)]) -> String {
    let sheet = format!("<worksheet xmlns:r='r'><sheetData>{rows}</sheetData>{rest}</worksheet>");
    let mut all = vec![
        (
            "xl/workbook.xml",
            "<workbook xmlns:r='r'><sheet name='S' r:id='a'/></workbook>",
        ),
        (
            "xl/_rels/workbook.xml.rels",
            "<Relationships><Relationship Id='a' Target='sheets/s.xml'/><Relationship Id='b' Type='x/styles' Target='look.xml'/>\
             </Relationships>",
        ),
        ("xl/sheets/s.xml", sheet.as_str()),
    ];
    all.extend(parts);
    let document = read("x.xlsx", &zip(&all), &Limits::default()).unwrap();
    document.text.strip_prefix("## S\n\n").unwrap().to_owned()
}

#[test]
fn cells_are_shown_by_their_number_formats() {
    let styles = "<styleSheet><numFmts><numFmt numFmtId='170' formatCode='00000'/>\
        <numFmt numFmtId='171' formatCode='#,##0.00\\ &quot;€&quot;;(#,##0.00)'/></numFmts><cellXfs><xf numFmtId='0'/>\
        <xf numFmtId='170'/><xf numFmtId='171'/><xf numFmtId='10'/><xf numFmtId='4'/></cellXfs></styleSheet>";
    let rows = "<row><c s='1'><v>42</v></c><c s='2'><v>1234.5</v></c><c s='2'><v>-1234.5</v></c><c s='3'><v>0.256</v></c>\
        <c s='4'><v>12345.678</v></c><c><v>0.30000000000000004</v></c></row>";
    assert_eq!(
        sheet(rows, "", &[("xl/look.xml", styles)]),
        "| 00042 | 1,234.50 € | (1,234.50) | 25.60% | 12,345.68 | 0.3 |\n| --- | --- | --- | --- | --- | --- |\n\n"
    );
}

#[test]
fn merged_headers_stand_above_each_of_their_columns() {
    let text = |place: &str, text: &str| format!("<c r='{place}' t='str'><v>{text}</v></c>");
    let row = |cells: &[String]| format!("<row>{}</row>", cells.concat());
    let rows = [
        row(&[text("A1", "Sales")]),
        row(&[text("A2", "Region"), text("B2", "2026")]),
        row(&[text("B3", "Q1"), text("C3", "Q2")]),
        row(&[text("A4", "North"), text("B4", "1")]),
        row(&[text("B5", "2")]),
    ];
    let merged = "<mergeCells><mergeCell ref='A1:C1'/><mergeCell ref='B2:C2'/><mergeCell ref='A2:A3'/><mergeCell ref='A4:A5'/>\
        <mergeCell ref='bad'/></mergeCells>";
    assert_eq!(
        sheet(&rows.concat(), merged, &[]),
        "| Sales |  |  |\n| --- | --- | --- |\n| Region | 2026 | 2026 |\n| Region | Q1 | Q2 |\n| North | 1 |\n| North | 2 |\n\n"
    );
}

#[test]
fn columns_stay_aligned_far_to_the_right() {
    let row = |columns: &[&str]| {
        let cell = |column: &&str| format!("<c r='{column}1'><v>1</v></c>");
        format!(
            "<row>{}</row>",
            columns.iter().map(cell).collect::<String>()
        )
    };
    // HA is the 209th column, and XFD the last.
    let text = sheet(&row(&["A", "GR", "HA", "HC", "XFD"]), "", &[]);
    let first = text.lines().next().unwrap();
    let cells: Vec<&str> = first.trim_matches('|').split('|').map(str::trim).collect();
    let filled = cells
        .iter()
        .enumerate()
        .filter(|(_, cell)| !cell.is_empty());
    let places: Vec<usize> = filled.map(|(at, _)| at + 1).collect();
    assert_eq!(places, [1, 200, 209, 211]);
    assert!(text.ends_with("|\n\nXFD1: 1\n\n"));
}

#[test]
fn comments_and_threads_stand_below_the_sheet() {
    let rows = "<row><c r='A1'><v>1</v></c></row>";
    let comments = "<comments><comment ref='A1'><text><r><t>Note</t></r><r><t>d\n here</t></r></text></comment>\
        <comment ref='B2'><text><t>[Threaded comment] Get a new version.</t></text></comment></comments>";
    let threads = "<ThreadedComments><threadedComment ref='B2' id='1'><text>Why?</text></threadedComment>\
        <threadedComment ref='B2' parentId='1'><text>Because.</text></threadedComment></ThreadedComments>";
    let parts = [
        (
            "xl/sheets/_rels/s.xml.rels",
            &*typed_relations(&[
                ("a", "comments", "../comments1.xml"),
                ("b", "threadedComment", "/xl/threads.xml"),
            ]),
        ),
        ("xl/comments1.xml", comments),
        ("xl/threads.xml", threads),
    ];
    assert_eq!(
        sheet(rows, "", &parts),
        "| 1 |\n| --- |\n\nA1: Noted here\nB2: Why?\nB2: Because.\n\n"
    );
}

#[test]
fn texts_drawn_over_a_sheet_stand_below_it() {
    let drawing = "<x:wsDr xmlns:x='x' xmlns:a='a' xmlns:r='r' xmlns:c='c'><x:sp><x:txBody><a:p><a:r><a:t>Fill in</a:t></a:r>\
        </a:p><a:p><a:pPr lvl='1'/><a:r><a:t>all cells</a:t></a:r></a:p></x:txBody></x:sp>\
        <x:graphicFrame><c:chart r:id='c'/></x:graphicFrame></x:wsDr>";
    let chart = "<c:chart xmlns:c='c' xmlns:a='a'><c:title><c:tx><a:p><a:t>Ducks</a:t></a:p></c:tx></c:title></c:chart>";
    let of_sheet = typed_relations(&[("d", "drawing", "../d.xml"), ("e", "drawing", "../e.xml")]);
    let of_drawing = typed_relations(&[("c", "chart", "c.xml")]);
    let parts = [
        ("xl/sheets/_rels/s.xml.rels", of_sheet.as_str()),
        ("xl/_rels/d.xml.rels", of_drawing.as_str()),
        ("xl/d.xml", drawing),
        ("xl/e.xml", "<x:wsDr xmlns:x='x'><x:sp>damaged</x:wsDr>"),
        ("xl/c.xml", chart),
    ];
    assert_eq!(
        sheet("<row><c r='A1'><v>1</v></c></row>", "", &parts),
        "| 1 |\n| --- |\n\nFill in\n\n- all cells\n\nDucks\n\n"
    );
}

#[test]
fn documents_that_word_imports_stand_in_their_place() {
    let chunk = |id: &str| format!("<w:altChunk xmlns:r='r' r:id='{id}'/>");
    let body = format!(
        "{}{}{}{}{}{}",
        runs(&[("", "before")]),
        chunk("h"),
        chunk("m"),
        chunk("d"),
        chunk("gone"),
        runs(&[("", "after")])
    );
    let relations = typed_relations(&[
        ("h", "aFChunk", "chunk.htm"),
        ("m", "aFChunk", "/word/chunk.mht"),
        ("d", "aFChunk", "chunk.bin"),
    ]);
    let page = "MIME-Version: 1.0\nContent-Type: text/html; charset=utf-8\n\n<html><body><p>Über uns</p></body></html>";
    let parts = [
        ("word/_rels/document.xml.rels", relations.as_str()),
        (
            "word/chunk.htm",
            "<html><body><h2>Offer</h2><ul><li>10<sup>6</sup></ul></body></html>",
        ),
        ("word/chunk.mht", page),
        ("word/chunk.bin", "\u{1}\u{2}\0"),
    ];
    assert_eq!(
        word(&body, &parts),
        "before\n\n## Offer\n\n- 10^6\n\nÜber uns\n\nafter\n\n"
    );
}

#[test]
fn drop_caps_begin_their_words() {
    let cap = "<w:p><w:pPr><w:framePr w:dropCap='drop'/></w:pPr><w:r><w:t>D</w:t></w:r></w:p>";
    let frame =
        "<w:p><w:pPr><w:framePr w:dropCap='none'/></w:pPr><w:r><w:t>Aside.</w:t></w:r></w:p>";
    let body = format!("{cap}{}{frame}", runs(&[("", "ucks swim.")]));
    assert_eq!(word(&body, &[]), "Ducks swim.\n\nAside.\n\n");
}

#[test]
fn nesting_without_end_is_refused() {
    let deep = format!("{}{}", "<w:p><w:r>".repeat(500), "</w:r></w:p>".repeat(500));
    assert_eq!(
        refusal(&zip(&[(DOCX, &document(&deep))]), Limits::default()),
        damaged()
    );
    let wide = "<w:tr><w:tc><w:tcPr><w:gridSpan w:val='9999999'/></w:tcPr><w:p><w:t>x</w:t></w:p></w:tc></w:tr>".repeat(100);
    let limits = Limits {
        text_bytes: 10_000,
        ..Limits::default()
    };
    assert_eq!(
        refusal(
            &zip(&[(DOCX, &document(&format!("<w:tbl>{wide}</w:tbl>")))]),
            limits
        ),
        Unreadable::TooMuchText {
            limit_bytes: 10_000
        }
    );
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
