//! Tests with files from public bug reports, in `tests/data/cases`.

use crate::{Limits, read};

/// The header of all Word documents among them.
const HEADER: &str = "Confidential header walrushead\n\n";

fn check(name: &str, bytes: &[u8], expected: &str) {
    let document = read(name, bytes, &Limits::default()).unwrap();
    assert_eq!(document.text, expected, "{name}");
}

macro_rules! case {
    ($name:literal) => {
        include_bytes!(concat!("../../../tests/data/cases/", $name))
    };
}

#[test]
fn word_documents_of_bug_reports_are_read() {
    for (name, bytes, expected) in [
        // The main part has another name, as in files of Word Online (mammoth.js#145).
        (
            "document2.docx",
            &case!("document2.docx")[..],
            "# Walrus guide\n\nThe walrus weighs 1200 kg.\n\n1. First step\n2. Second step\n\n\
             | Name | Kg |\n| --- | --- |\n| Ada | 1200 |\n\n",
        ),
        ("moved.docx", case!("moved.docx"), "walrusmoved text\n\n"),
        (
            "ruby.docx",
            case!("ruby.docx"),
            "漢字(かんじ) walrusruby\n\n",
        ),
        ("math.docx", case!("math.docx"), "walrusmath: a/b end\n\n"),
        (
            "gridspan.docx",
            case!("gridspan.docx"),
            "| Wide |  |\n| --- | --- |\n| walrusg | 2 |\n\n",
        ),
        (
            "textbox.docx",
            case!("textbox.docx"),
            "before  after\n\ninside walrusbox\n\n",
        ),
        (
            "tracked.docx",
            case!("tracked.docx"),
            "Price is 200 euros walrusfour.\n\n",
        ),
    ] {
        check(name, bytes, &format!("{HEADER}{expected}"));
    }
}

#[test]
fn workbooks_of_bug_reports_are_read() {
    check(
        "merged.xlsx",
        case!("merged.xlsx"),
        "## Sheet\n\n| Region | Q1 | Q2 |  |  |\n| --- | --- | --- | --- | --- |\n| North | 1 | 2 |\n| North | 3 | 4 |\n\
         |  |  |  |  | far away |\n\n",
    );
    check(
        "richtext.xlsx",
        case!("richtext.xlsx"),
        "## Лист 1\n\n| walrusthree |\n| --- |\n| [link text](https://example.org/a) |\n| cell |\n\n\
         A3: hidden note text\n\n",
    );
    check(
        "formula-nocache.xlsx",
        case!("formula-nocache.xlsx"),
        "## Sheet\n\n| sum |\n| --- |\n| =1+2 |\n\n",
    );
    check(
        "floats.xlsx",
        case!("floats.xlsx"),
        "## S\n\n| head |  |  |\n| --- | --- | --- |\n| 0.1 | 0.0012345678901235 | 45 |\n\n",
    );
    check(
        "prefix.xlsx",
        case!("prefix.xlsx"),
        "## Orders\n\n| Order | Delivered | At | Took | Share |\n| --- | --- | --- | --- | --- |\n\
         | walrusone | 2026-11-23 | 2026-11-23 14:30:00 | 08:15:00 | 25% |\n\n",
    );
}
