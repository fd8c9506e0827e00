//! Tests with PDF files written by hand.

use crate::{Limits, Unreadable, read};

/// A file with these streams as its pages. Font `F` is Helvetica, and in font `R` the letters from `a` are Hebrew.
fn pdf(pages: &[&str]) -> Vec<u8> {
    pdf_with(pages, "")
}

/// The same, with these entries in the dictionary of each page.
fn pdf_with(pages: &[&str], entries: &str) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len())
        .map(|i| format!("{} 0 R", 6 + i * 2))
        .collect();
    let hebrew = "begincmap 1 begincodespacerange <00> <ff> endcodespacerange \
        2 beginbfrange <20> <40> <0020> <61> <7b> <05d0> endbfrange endcmap";
    let font = "/Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding";
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!(
            "<</Type/Pages/Kids[{}]/Count {}>>",
            kids.join(" "),
            pages.len()
        ),
        format!("<<{font}>>"),
        format!("<<{font}/ToUnicode 5 0 R>>"),
        stream(hebrew),
    ];
    for (index, page) in pages.iter().enumerate() {
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R/R 4 0 R>>>>\
             /Contents {} 0 R{entries}>>",
            7 + index * 2
        ));
        objects.push(stream(page));
    }
    let mut file = b"%PDF-1.4\n".to_vec();
    let mut places = Vec::new();
    for (number, object) in (1..).zip(&objects) {
        places.push(file.len());
        file.extend(format!("{number} 0 obj{object}endobj\n").bytes());
    }
    let xref = file.len();
    file.extend(format!("xref\n0 {}\n0000000000 65535 f \n", places.len() + 1).bytes());
    file.extend(
        places
            .iter()
            .flat_map(|at| format!("{at:010} 00000 n \n").into_bytes()),
    );
    file.extend(
        format!(
            "trailer<</Size {}/Root 1 0 R>>\nstartxref\n{xref}\n%%EOF",
            places.len() + 1
        )
        .bytes(),
    );
    file
}

fn stream(content: &str) -> String {
    format!("<</Length {}>>stream\n{content}\nendstream", content.len())
}

/// The text of a page with this content.
#[track_caller]
fn check(content: &str, expected: &str) {
    check_with(content, "", expected);
}

/// The text of a page with this content and these entries in its dictionary.
#[track_caller]
fn check_with(content: &str, entries: &str, expected: &str) {
    let document = read("a.pdf", &pdf_with(&[content], entries), &Limits::default());
    let document = document.map(|document| document.text);
    assert_eq!(document.as_deref(), Ok(expected));
}

/// Draws texts in a font of 10 points at these places.
fn drawn(texts: &[(u32, u32, &str)]) -> String {
    let texts: Vec<String> = texts
        .iter()
        .map(|(x, y, text)| format!("BT /F 10 Tf {x} {y} Td ({text}) Tj ET"))
        .collect();
    texts.join("\n")
}

const FIRST: &str = "BT /F 24 Tf 50 700 Td (The Title) Tj /F 10 Tf 0 -40 Td (Some words, and [1] the exper-) Tj \
    0 -12 Td (iment was well done by all of us,) Tj 0 -12 Td [(spa)-20(ced)-400(out)] TJ ( caf\\351) Tj \
    0 -40 Td (Another paragraph.) Tj ET";

#[test]
fn lines_words_paragraphs_headings_and_pages_are_found() {
    let document = read(
        "a.pdf",
        &pdf(&[FIRST, "BT /F 10 Tf 50 700 Td (Second page.) Tj ET"]),
        &Limits::default(),
    );
    let document = document.unwrap();
    assert_eq!(
        document.text,
        "The Title\n\nSome words, and [1] the experiment was well done by all of us,\nspaced out café\n\n\
         Another paragraph.\n\nSecond page.\n\n"
    );
    assert_eq!(
        document.page_at(document.text.find("Second").unwrap()),
        Some(2)
    );
    let headings: Vec<&str> = document
        .headings
        .iter()
        .map(|it| it.title.as_str())
        .collect();
    assert_eq!(
        (headings, document.headings[0].level),
        (vec!["The Title"], 1)
    );
}

#[test]
fn what_cannot_be_read_is_told() {
    let limits = Limits {
        pages: 2,
        text_bytes: 100,
        ..Limits::default()
    };
    let refusal = |file: &[u8]| read("a.pdf", file, &limits).unwrap_err();
    assert_eq!(
        refusal(&pdf(&["", "", ""])),
        Unreadable::TooManyPages { limit: 2 }
    );
    assert_eq!(refusal(&pdf(&["BT ET"])), Unreadable::NoText);
    let long = format!("BT /F 10 Tf ({}) Tj ET", "word ".repeat(100));
    assert_eq!(
        refusal(&pdf(&[&long])),
        Unreadable::TooMuchText { limit_bytes: 100 }
    );
    assert_eq!(
        refusal(b"%PDF-1.7 and nothing more"),
        Unreadable::damaged("PDF")
    );
}

#[test]
fn a_locked_file_is_told_from_a_damaged_one() {
    let file = String::from_utf8(pdf(&[FIRST])).unwrap();
    let lock = format!(
        "/ID[<00><00>]/Encrypt<</Filter/Standard/V 1/R 2/P -4/O<{0}>/U<{0}>>>/Root",
        "00".repeat(32)
    );
    let locked = file.replace("/Root", &lock);
    assert_eq!(
        read("a.pdf", locked.as_bytes(), &Limits::default()).unwrap_err(),
        Unreadable::Encrypted
    );
}

#[test]
fn a_cut_file_without_words_is_damaged_and_no_scan() {
    let file = pdf(&[FIRST]);
    let text = |file: &[u8]| {
        file.windows(4)
            .position(|window| window == b"7 0 ")
            .unwrap()
    };
    let cut = &file[..text(&file)];
    assert_eq!(
        read("a.pdf", cut, &Limits::default()).unwrap_err(),
        Unreadable::damaged("PDF")
    );
    // Mail and web servers append data after the end.
    let mut scan = pdf(&[""]);
    scan.extend(b"\r\n\r\n");
    assert_eq!(
        read("a.pdf", &scan, &Limits::default()).unwrap_err(),
        Unreadable::NoText
    );
}

#[test]
fn a_cut_file_gives_its_pages_or_a_sentence() {
    let file = pdf(&[FIRST, FIRST]);
    for end in (0..file.len()).step_by(37) {
        if let Ok(document) = read("a.pdf", &file[..end], &Limits::default()) {
            assert!(!document.text.trim().is_empty());
        }
    }
}

#[test]
fn right_to_left_lines_are_in_reading_order() {
    check(
        "BT /R 10 Tf 50 700 Td (.ed 250 cba) Tj ET",
        "אבג 250 דה.\n\n",
    );
    // The same, drawn letter by letter from the right.
    check(
        "BT /R 10 Tf 100 700 Td (a) Tj -6 0 Td (b) Tj -6 0 Td (c) Tj -9 0 Td (d) Tj -6 0 Td (e) Tj ET",
        "אבג דה\n\n",
    );
    // Word by word.
    check(
        "BT /R 10 Tf 100 700 Td (cba) Tj -20 0 Td (ed) Tj -20 0 Td (gf) Tj ET",
        "אבג דה וז\n\n",
    );
    // A space at the end of the line is drawn under its last letter.
    check("BT /R 10 Tf 50 700 Td [( )324(?cba)] TJ ET", "אבג?\n\n");
    check(
        "BT /F 10 Tf 50 700 Td (The word ) Tj /R 10 Tf (ed cba) Tj /F 10 Tf ( means peace.) Tj ET",
        "The word אבג דה means peace.\n\n",
    );
}

#[test]
fn rows_are_in_visual_order() {
    let rows = [
        (300, 700, "21,000.00"),
        (50, 700, "SMITH"),
        (300, 688, "4,500.00"),
        (50, 688, "BAIN"),
    ];
    check(&drawn(&rows), "SMITH 21,000.00\nBAIN 4,500.00\n\n");
}

#[test]
fn tables_keep_their_empty_cells() {
    let table = [
        (50, 740, "Paid in the last quarter"),
        (50, 700, "Name"),
        (200, 700, "Due"),
        (300, 700, "Paid"),
        (50, 688, "ARMER"),
        (300, 688, "12,111.06"),
        (50, 676, "BAIN | SON"),
        (200, 676, "3.50"),
        (50, 664, "COLE"),
        (200, 664, "7"),
        (300, 664, "7"),
        (50, 620, "All amounts in euros"),
    ];
    check(
        &drawn(&table),
        "Paid in the last quarter\n\n| Name | Due | Paid |\n| --- | --- | --- |\n| ARMER |  | 12,111.06 |\n\
         | BAIN \\| SON | 3.50 |  |\n| COLE | 7 | 7 |\n\nAll amounts in euros\n\n",
    );
}

#[test]
fn columns_of_prose_and_lists_are_not_tables() {
    let columns: Vec<(u32, u32, &str)> = (0..4)
        .flat_map(|row| {
            let y = 700 - row * 12;
            [
                (50, y, "the left side goes on"),
                (300, y, "and so does the right"),
            ]
        })
        .collect();
    let left = ["the left side goes on"; 4].join("\n");
    let right = ["and so does the right"; 4].join("\n");
    check(&drawn(&columns), &format!("{left}\n\n{right}\n\n"));
    let list = [
        (50, 700, "1."),
        (80, 700, "One"),
        (50, 688, "2."),
        (80, 688, "Two"),
        (50, 676, "3."),
        (80, 676, "Three"),
    ];
    check(&drawn(&list), "1. One\n2. Two\n3. Three\n\n");
}

#[test]
fn text_printed_twice_is_read_once() {
    check(
        "BT /F 10 Tf 50 700 Td (Bold title) Tj 0.3 0 Td (Bold title) Tj 0 -12 Td (ill) Tj ET",
        "Bold title\nill\n\n",
    );
}

#[test]
fn narrow_letters_of_text_printed_twice_are_read_once() {
    // The second print is a tenth of the font size to the right.
    check(
        "BT /F 10 Tf 50 700 Td (Municipality) Tj 1 0 Td (Municipality) Tj 0 -12 Td (ill) Tj ET",
        "Municipality\nill\n\n",
    );
}

#[test]
fn text_beside_the_page_is_not_read() {
    check(
        "BT /F 10 Tf -80 700 Td (draft) Tj 130 0 Td (shown) Tj 0 200 Td (draft) Tj ET",
        "shown\n\n",
    );
}

#[test]
fn text_that_the_file_gives_for_glyphs_is_read() {
    // As browsers write ligatures, whose glyphs have no character.
    check(
        "BT /F 10 Tf 50 700 Td (of) Tj /Span<</ActualText <FEFF00660069>>>BDC (\\001) Tj EMC (ce work) Tj ET",
        "office work\n\n",
    );
    // Marked content inside, glyphs that are not to be read, and a sequence that does not end.
    check(
        "BT /F 10 Tf 50 700 Td /Span<</ActualText (one)>>BDC (1) Tj /P BMC (1) Tj EMC EMC ( and) Tj \
         /Span<</ActualText ()>>BDC (----) Tj EMC /Span<</ActualText (two)>>BDC (2) Tj ET",
        "one and two\n\n",
    );
}

#[test]
fn codes_of_fonts_may_be_characters() {
    let file = String::from_utf8(pdf(&["BT /R 10 Tf 50 700 Td <041600200041> Tj ET"])).unwrap();
    let simple =
        "/Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding/ToUnicode 5 0 R";
    let composite = "/Type/Font/Subtype/Type0/BaseFont/Arial/Encoding/Identity-H/ToUnicode/Identity-H\
        /DescendantFonts[<</Type/Font/Subtype/CIDFontType2/BaseFont/Arial\
        /CIDSystemInfo<</Registry(Adobe)/Ordering(Identity)/Supplement 0>>>>]";
    // The places of the objects are wrong then, so that they are searched.
    let file = file.replace(simple, composite);
    let document = read("a.pdf", file.as_bytes(), &Limits::default()).unwrap();
    assert_eq!(document.text, "Ж A\n\n");
}

#[test]
fn spaced_letters_are_joined_to_words() {
    check(
        "BT /F 10 Tf 3 Tc 50 700 Td (COMIT\\311 DE) Tj ET",
        "COMITÉ DE\n\n",
    );
    check(
        "BT /F 10 Tf 50 700 Td (C O M I T \\311   D E) Tj ET",
        "COMITÉ DE\n\n",
    );
    check("BT /F 10 Tf 50 700 Td (a b c) Tj ET", "a b c\n\n");
    // Only some letters are apart, and less than words.
    check(
        "BT /F 10 Tf 3 Tw 50 700 Td [(COMIT)-210(\\311)-150( DE D)-100(\\311)-190(MOL)-210(IT)-210(ION)] TJ ET",
        "COMITÉ DE DÉMOLITION\n\n",
    );
}

#[test]
fn accents_drawn_over_letters_are_joined_with_them() {
    check(
        "BT /F 10 Tf 50 700 Td (caf\\264) Tj ET BT /F 10 Tf 63.34 700 Td (e) Tj ET",
        "café\n\n",
    );
}

#[test]
fn real_hyphens_at_line_ends_stay() {
    let hyphenated = |text: &str| {
        let lines = text.replace('/', ") Tj T* (");
        format!("BT /F 10 Tf 12 TL 50 700 Td ({lines}) Tj ET")
    };
    check(
        &hyphenated("a well-/known exper-/iment"),
        "a well-known experiment\n\n",
    );
    check(
        &hyphenated("a state-of-the-/art form"),
        "a state-of-the-art form\n\n",
    );
    check(
        &hyphenated("two low-/energy and high-energy/or low-energy re-/actors"),
        "two low-energy and high-energy\nor low-energy reactors\n\n",
    );
    check(
        &hyphenated("no non-/sense, as nonsense is"),
        "no nonsense, as nonsense is\n\n",
    );
}

/// A form field at this place.
fn field(rect: [u32; 4], entries: &str) -> String {
    format!("<</Subtype/Widget/Rect{rect:?}{entries}>>").replace(',', " ")
}

#[test]
fn values_of_form_fields_stand_beside_their_labels() {
    let labels = [
        (50, 700, "Surname:"),
        (300, 700, "First name: ........"),
        (50, 680, "Country"),
        (80, 650, "Married"),
        (180, 650, "Single"),
        (50, 620, "Remarks"),
    ];
    let fields = [
        field([100, 695, 250, 710], "/FT/Tx/V(Kowalska)"),
        field([350, 695, 450, 710], "/FT/Tx/V<feff017b00f30142>"),
        field(
            [100, 675, 250, 690],
            "/FT/Ch/V(pl)/Opt[[(de)(Germany)][(pl)(Poland)]]",
        ),
        field([60, 647, 72, 659], "/FT/Btn/AS/Yes"),
        field([160, 647, 172, 659], "/FT/Btn/AS/Off"),
        field([50, 560, 400, 615], "/Parent<</FT/Tx/V(none\r\nat all)>>"),
        field([100, 500, 250, 510], "/FT/Tx/F 2/V(hidden)"),
        field([100, 500, 250, 510], "/FT/Tx/Ff 8192/V(secret)"),
    ];
    check_with(
        &drawn(&labels),
        &format!("/Annots[{}]", fields.concat()),
        "Surname: Kowalska First name: Żół\n\nCountry Poland\n\n[x] Married [ ] Single\n\nRemarks\nnone at all\n\n",
    );
    check_with(
        "",
        &format!("/Annots[{}]", field([10, 10, 90, 20], "/FT/Tx/V(alone)")),
        "alone\n\n",
    );
}

#[test]
fn ticks_alone_are_no_text() {
    let box_ = field([10, 10, 20, 20], "/FT/Btn/AS/Yes");
    let file = pdf_with(&[""], &format!("/Annots[{box_}]"));
    assert_eq!(
        read("a.pdf", &file, &Limits::default()).unwrap_err(),
        Unreadable::NoText
    );
}
