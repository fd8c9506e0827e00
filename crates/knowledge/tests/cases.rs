//! Files as people have them: inputs of public bug reports, each with the text that a person would read in it.
#![expect(
    clippy::panic,
    clippy::unwrap_used,
    reason = "a test ends at the first surprise"
)]

use std::path::{Path, PathBuf};

use knowledge::{Document, Limits, Unreadable};
use proptest::prelude::*;

fn path(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/cases")
        .join(name)
}

fn read(name: &str) -> Document {
    let bytes = std::fs::read(path(name)).unwrap();
    knowledge::read(name, &bytes, &Limits::default()).unwrap_or_else(|why| panic!("{name}: {why}"))
}

/// Checks the whole text, except for the white space at its ends.
fn check(cases: &[(&str, &str)]) {
    for (name, expected) in cases {
        assert_eq!(read(name).text.trim(), *expected, "{name}");
    }
}

#[test]
fn text_is_read_in_its_encoding() {
    check(&[
        (
            "cp1250.txt",
            "Zażółć gęślą jaźń. Umowa morsa podpisana w piątek.",
        ),
        ("cp1253.txt", "Η σύμβαση του θαλάσσιου ίππου υπογράφηκε."),
        ("cp1255.txt", "החוזה נחתם ביום שישי על ידי שני הצדדים."),
        (
            "euckr.txt",
            "계약은 금요일에 체결되었습니다. 바다코끼리 계획.",
        ),
        (
            "koi8.txt",
            "Моржовый договор подписан в пятницу обеими сторонами.",
        ),
        ("sjis.txt", "契約は金曜日に署名されました。セイウチ計画。"),
        ("latin1.txt", "Überraschung: die Straße kostet fünf Euro."),
        ("utf32.txt", "walrus32 text"),
        (
            "pdfmagic.md",
            "# File types\n\nA PDF begins with the bytes %PDF-1.4 and a PNG with 89 50. walrusmd",
        ),
    ]);
}

#[test]
fn pages_are_read_in_the_encoding_that_they_declare() {
    let sentence = "合同已经签署，每月四百欧元，海象项目开始。";
    let page = read("meta-gbk.html");
    assert_eq!(page.title.as_deref(), Some("合同"));
    assert!(page.text.contains(sentence), "{}", page.text);
    let sentence = "日本語のページです。セイウチの契約は金曜日に署名されました。";
    let page = read("meta-iso2022.html");
    assert!(page.text.contains(sentence), "{}", page.text);
}

#[test]
fn a_pdf_may_have_other_data_before_it() {
    let text = read("junkbefore.pdf").text;
    assert!(text.contains("walrus"), "{text}");
}

/// The headers of the e-mails below.
fn mail(subject: &str, rest: &str) -> String {
    format!(
        "# {subject}\n\nFrom: Ann <ann@example.org>\nTo: bob@example.org\nDate: 2026-11-23T10:00:00Z\n\n{rest}"
    )
}

#[test]
fn emails_are_read_as_a_mail_program_shows_them() {
    let contract = "The walrusmail contract was signed on Friday by both sides and costs four hundred euros a month.";
    for (name, subject, rest) in [
        ("alt-emptyplain.eml", "Empty plain", contract),
        ("alt-spaceplain.eml", "Space plain", contract),
        ("alt-stubplain.eml", "Stub plain", contract),
        ("bom.eml", "Bom first", "walrusbombody text"),
        (
            "leading-blank.eml",
            "Leading blank",
            "walrusblank body here",
        ),
        ("lf.eml", "LF only", "walruslf body"),
        ("mboxfrom.eml", "Mbox line", "walrusmbox body"),
        ("iso2022jp.eml", "日本語", "日本語のメール本文です。"),
        ("koi8.eml", "Договор", "Моржовый договор подписан."),
        (
            "ics.eml",
            "Invite",
            "Attached: invite.ics\n\n## Attached: invite.ics\n\nBEGIN:VCALENDAR\nBEGIN:VEVENT\n\
             SUMMARY:walruscal meeting\nDTSTART:20261123T100000Z\nEND:VEVENT\nEND:VCALENDAR",
        ),
        (
            "rfc2231.eml",
            "2231",
            "see attachment\n\nAttached: Отчёт.txt\n\n## Attached: Отчёт.txt\n\nwalrusatt content",
        ),
    ] {
        assert_eq!(read(name).text.trim(), mail(subject, rest), "{name}");
    }
    let text = read("related.eml").text;
    let body = "The walrusrel picture is below, and it is really nice to look at.";
    assert!(text.starts_with(&mail("Related", body)), "{text}");
    assert!(text.trim().ends_with("Attached: picture.png"), "{text}");
}

#[test]
fn tables_of_any_delimiter_are_markdown_tables() {
    for name in ["utf16bom.csv", "utf16nobom.csv"] {
        let text = read(name).text;
        let walrus = if name == "utf16bom.csv" {
            "walrus16"
        } else {
            "walrus"
        };
        assert_eq!(
            text,
            format!("| name | price |\n| --- | --- |\n| {walrus} | 400 |\n")
        );
    }
    let text = read("big.csv").text;
    let beginning = "| order_id | customer | amount_eur | status |\n| --- | --- | --- | --- |\n\
        | 1 | cust1 | 7 | open |\n| 2 | cust2 | 14 | open |\n| 3 | cust3 | 21 | closed |\n";
    assert!(text.starts_with(beginning), "{text}");
    assert_eq!(text.lines().count(), 401);
}

#[test]
fn other_formats_are_read() {
    check(&[
        ("rtf.rtf", "The walrusrtf contract costs 400 euros."),
        ("a.ipynb", "# walrusnb\n\n```\nprint(1)\n```"),
        ("a.mht", "walrusmht café"),
        ("a.odt", "walrusodt"),
    ]);
}

#[test]
fn word_documents_are_read() {
    for (name, expected) in [
        // The main part has another name, as in files of Word Online (mammoth.js#145).
        (
            "document2.docx",
            "# Walrus guide\n\nThe walrus weighs 1200 kg.\n\n1. First step\n2. Second step\n\n\
             | Name | Kg |\n| --- | --- |\n| Ada | 1200 |",
        ),
        ("moved.docx", "walrusmoved text"),
        ("ruby.docx", "漢字(かんじ) walrusruby"),
        ("math.docx", "walrusmath: a/b end"),
        (
            "gridspan.docx",
            "| Wide |  |\n| --- | --- |\n| walrusg | 2 |",
        ),
        ("textbox.docx", "before  after\n\ninside walrusbox"),
        ("tracked.docx", "Price is 200 euros walrusfour."),
    ] {
        let header = "Confidential header walrushead";
        let text = read(name).text;
        assert_eq!(text.trim(), format!("{header}\n\n{expected}"), "{name}");
    }
}

#[test]
fn documents_of_old_programs_are_read() {
    check(&[
        (
            "contract.doc",
            "# Walrus contract\n\n\
             The harbour master – Jiří Żuk – signed on Friday. It holds 5 x 10^6 litres.\n\n\
             The price is 700 euros.\n\n\
             ## Duties\n\n\
             1. Feed the walrus\n2. Clean the pool\n- Herring\n- Договор\n\n\
             | Item | Due | Paid |\n| --- | --- | --- |\n| Herring | 12.50 |  |\n| Ice |  | 3.00 |\n\n\
             End of the contract.\n\n\
             Harbour office, invoice 4711",
        ),
        (
            "prices.xls",
            "## Prices\n\n\
             | Item | Sold | Share | Price | Code | When |\n| --- | --- | --- | --- | --- | --- |\n\
             | Herring | 2003-03-15 | 25.6% | 1,234.50 | 00042 | 2003-03-15 14:30 |\n\
             | Walrus Żuk | 2 | yes | TRUE | #DIV/0! |\n\
             | Total | Total | Total | 99 |\n| x |\n\n\
             A2: fresh only\n\n\
             ## Договор\n\n| Лёд |  |  |\n| --- | --- | --- |\n|  |  | 3.7 |",
        ),
    ]);
}

#[test]
fn workbooks_are_read() {
    check(&[
        (
            "merged.xlsx",
            "## Sheet\n\n| Region | Q1 | Q2 |  |  |\n| --- | --- | --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |\n\
             |  |  |  |  | far away |",
        ),
        (
            "richtext.xlsx",
            "## Лист 1\n\n| walrusthree |\n| --- |\n| [link text](https://example.org/a) |\n| cell |\n\n\
             A3: hidden note text",
        ),
        (
            "formula-nocache.xlsx",
            "## Sheet\n\n| sum |\n| --- |\n| =1+2 |",
        ),
        (
            "floats.xlsx",
            "## S\n\n| head |  |  |\n| --- | --- | --- |\n| 0.1 | 0.0012345678901235 | 45 |",
        ),
        (
            "prefix.xlsx",
            "## Orders\n\n| Order | Delivered | At | Took | Share |\n| --- | --- | --- | --- | --- |\n\
             | walrusone | 2026-11-23 | 2026-11-23 14:30:00 | 08:15:00 | 25% |",
        ),
    ]);
}

#[test]
fn pdf_files_of_other_programs_are_read() {
    check(&[
        ("cjk.pdf", "契約は金曜日に署名されました\n\n合同已经签署"),
        ("form.pdf", "Name of the applicant: walrusform Ada"),
        (
            "spaced.pdf",
            "walrusspaced letters\n\nkerned word walruskern",
        ),
        (
            "hyphen.pdf",
            "The well-known walrus and the international walrushy law.",
        ),
        (
            "invisible.pdf",
            "Visible walrusvis\n\ninvisible ocr layer walrusocr\n\nwhite walruswhite",
        ),
        ("liga.pdf", "The office finds walruslig flow"),
        ("ownerpw.pdf", "Owner protected walrusown text"),
        (
            "rotated.pdf",
            "Rotated walrusrot text line\nsecond rotated line",
        ),
        (
            "table.pdf",
            "| Item | Qty | Price |\n| --- | --- | --- |\n| walruspen | 3 | 4.50 |\n| ink | 10 | 12.00 |",
        ),
    ]);
    let truncated = std::fs::read(path("trunc.pdf")).unwrap();
    let format = "PDF".to_owned();
    assert_eq!(
        knowledge::read("trunc.pdf", &truncated, &Limits::default()),
        Err(Unreadable::Damaged { format })
    );
}

#[test]
fn two_columns_are_read_one_after_the_other() {
    let text = read("twocol.pdf").text;
    let numbers: Vec<u32> = text
        .split("Sentence ")
        .skip(1)
        .map(|rest| rest.split_once(' ').unwrap().0.parse().unwrap())
        .collect();
    let expected: Vec<u32> = (0..u32::try_from(numbers.len()).unwrap()).collect();
    assert_eq!(numbers, expected);
    assert!(!text.contains('|'));
}

/// Endings of all formats whose parsers are ours, or take untrusted input in this process.
const ENDINGS: [&str; 15] = [
    "csv", "doc", "eml", "epub", "fodt", "html", "ipynb", "mht", "msg", "odt", "ppt", "rtf", "txt",
    "xls", "xml",
];

proptest! {
    #[test]
    fn any_bytes_are_read_or_refused(
        beginning in prop::sample::select(vec![
            &b""[..], b"{\\rtf1", b"PK\x03\x04", b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", b"From: a\n\n", b"\xff\xfe",
            b"{\"cells\":[", b"sep=;\n", b"<?xml version='1.0' encoding='", b"\x1b$B",
        ]),
        rest in prop::collection::vec(any::<u8>(), 0..300),
        ending in prop::sample::select(ENDINGS.to_vec()),
    ) {
        let bytes = [beginning, &rest].concat();
        let _ = knowledge::read(&format!("a.{ending}"), &bytes, &Limits::default());
    }
}

#[test]
fn damaged_files_are_read_or_refused() {
    for entry in std::fs::read_dir(path("")).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap();
        if name.ends_with(".pdf") {
            continue;
        }
        let bytes = std::fs::read(&path).unwrap();
        let step = bytes.len() / 25 + 1;
        for at in (0..bytes.len()).step_by(step) {
            let mut changed = bytes.clone();
            changed[at] ^= 0xff;
            let _ = knowledge::read(name, &bytes[..at], &Limits::default());
            let _ = knowledge::read(name, &changed, &Limits::default());
        }
    }
}
