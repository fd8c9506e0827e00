//! Tests with PDF files written by hand.

use crate::{Limits, Unreadable, read};

/// A file with these streams as its pages, in Helvetica.
fn pdf(pages: &[&str]) -> Vec<u8> {
    let kids: Vec<String> = (0..pages.len())
        .map(|i| format!("{} 0 R", 4 + i * 2))
        .collect();
    let mut objects = vec![
        "<</Type/Catalog/Pages 2 0 R>>".to_owned(),
        format!(
            "<</Type/Pages/Kids[{}]/Count {}>>",
            kids.join(" "),
            pages.len()
        ),
        "<</Type/Font/Subtype/Type1/BaseFont/Helvetica/Encoding/WinAnsiEncoding>>".to_owned(),
    ];
    for (index, page) in pages.iter().enumerate() {
        objects.push(format!(
            "<</Type/Page/Parent 2 0 R/MediaBox[0 0 600 800]/Resources<</Font<</F 3 0 R>>>>/Contents {} 0 R>>",
            5 + index * 2
        ));
        objects.push(format!(
            "<</Length {}>>stream\n{page}\nendstream",
            page.len()
        ));
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
            .position(|window| window == b"5 0 ")
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
