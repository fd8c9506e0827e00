//! Answers of Apache Tika 2.6 and of docling-serve, as they came, and made-up ones.

use serde_json::json;

use super::*;

fn read(converter: Converter, answer: &[u8]) -> Result<Document, Unreadable> {
    read_converted(converter, answer, &Limits::default())
}

fn tika(answer: &[u8]) -> Result<Document, Unreadable> {
    read(Converter::Tika, answer)
}

fn tika_content(content: &str) -> Result<Document, Unreadable> {
    tika(
        json!([{ "X-TIKA:content": content }])
            .to_string()
            .as_bytes(),
    )
}

fn numbers(document: &Document) -> Vec<u32> {
    document.pages.iter().map(|page| page.number).collect()
}

#[test]
fn pages_of_a_pdf_keep_their_numbers() {
    let answer = include_bytes!("../../../tests/data/converted/tika-three-pages.json");
    let document = tika(answer).unwrap();
    assert_eq!(
        document.text.trim_end(),
        "The walrus sleeps until noon & later \\<soon>.\n\nIt eats 400 clams."
    );
    assert_eq!(numbers(&document), [1, 2, 3]);
    let at = |words: &str| document.page_at(document.text.find(words).unwrap());
    assert_eq!((at("walrus"), at("clams")), (Some(1), Some(3)));
}

#[test]
fn sheets_are_tables_and_no_pages() {
    let answer = include_bytes!("../../../tests/data/converted/tika-walruses.json");
    let document = tika(answer).unwrap();
    assert!(document.pages.is_empty());
    let titles: Vec<&str> = document
        .headings
        .iter()
        .map(|it| it.title.as_str())
        .collect();
    assert_eq!(titles, ["Walruses", "Clams"]);
    assert!(
        document
            .text
            .lines()
            .any(|line| line.contains("Odobena") && line.contains("| 1,200")),
        "{}",
        document.text
    );
}

#[test]
fn slides_are_pages() {
    let answer = include_bytes!("../../../tests/data/converted/tika-harbour.json");
    let document = tika(answer).unwrap();
    assert_eq!(numbers(&document), [1, 2]);
    let at = |words: &str| document.page_at(document.text.find(words).unwrap());
    assert_eq!(at("Opens at 6:30 & closes"), Some(1));
    assert_eq!(at("Sleeps until noon"), Some(2));
}

#[test]
fn files_in_a_file_follow_it() {
    let answer = json!([
        {"X-TIKA:content": "<body><div class=\"page\"><p>Main</p></div></body>", "dc:title": ["A title", "Titel"]},
        {"X-TIKA:content": "<p>Inside</p>", "resourceName": "plan\n.doc", "embeddedResourceType": "ATTACHMENT"},
        {"X-TIKA:content": "<p>In a picture</p>", "resourceName": "image1.png", "embeddedResourceType": "INLINE"},
        {"X-TIKA:content": "<p></p>", "resourceName": "empty.png"},
        {"resourceName": "none.bin"},
    ]);
    let document = tika(answer.to_string().as_bytes()).unwrap();
    assert_eq!(
        document.text,
        "Main\n\n## plan .doc\n\nInside\n\nIn a picture"
    );
    assert_eq!(document.title.as_deref(), Some("A title"));
}

#[test]
fn failures_of_tika_are_reasons() {
    let protected = include_bytes!("../../../tests/data/converted/tika-protected.json");
    assert_eq!(tika(protected), Err(Unreadable::Encrypted));
    let failed = json!([{"X-TIKA:EXCEPTION:container_exception": "org.apache.tika.exception.TikaException: x"}]);
    assert_eq!(
        tika(failed.to_string().as_bytes()),
        Err(Unreadable::NotConverted)
    );
    // What was read before the failure remains.
    let half = json!([{
        "X-TIKA:content": "<p>Half</p>",
        "X-TIKA:EXCEPTION:container_exception": "java.io.EOFException"
    }]);
    assert_eq!(tika(half.to_string().as_bytes()).unwrap().text, "Half");
    assert_eq!(tika_content("<p> </p>"), Err(Unreadable::NoText));
    for bad in ["", "{}", "[]", "<html>", "null"] {
        assert_eq!(tika(bad.as_bytes()), Err(Unreadable::NotConverted), "{bad}");
    }
}

#[test]
fn limits_apply_to_converted_files() {
    let pages = "<div class=\"page\"><p>a</p></div>".repeat(4);
    let answer = json!([{ "X-TIKA:content": pages }]).to_string();
    let limits = Limits {
        pages: 3,
        ..Limits::default()
    };
    let read = |limits: &Limits| read_converted(Converter::Tika, answer.as_bytes(), limits);
    assert_eq!(read(&limits), Err(Unreadable::TooManyPages { limit: 3 }));
    let limits = Limits {
        text_bytes: 3,
        ..Limits::default()
    };
    assert_eq!(
        read(&limits),
        Err(Unreadable::TooMuchText { limit_bytes: 3 })
    );
    let nested = "<div>".repeat(100_000);
    assert!(tika_content(&nested).is_err());
}

fn docling(markdown: &str, items: &Value) -> Result<Document, Unreadable> {
    let answer = json!({
        "document": {"filename": "file.pdf", "md_content": markdown, "json_content": items, "html_content": null},
        "status": "success", "errors": [], "processing_time": 1.5, "timings": {}
    });
    read(Converter::Docling, answer.to_string().as_bytes())
}

#[test]
fn slides_of_docling_keep_their_numbers() {
    let answer = include_bytes!("../../../tests/data/converted/docling-slides.json");
    let document = read(Converter::Docling, answer).unwrap();
    assert!(
        document
            .text
            .contains("closes at 22:00 <daily>; see plan_b"),
        "{}",
        document.text
    );
    // The second slide is blank.
    assert_eq!(numbers(&document), [1, 3]);
    let at = |words: &str| document.page_at(document.text.find(words).unwrap());
    assert_eq!((at("plan_b"), at("# The walrus")), (Some(1), Some(3)));
}

#[test]
fn pages_of_docling_begin_with_their_first_item() {
    let text = |text: &str, page: u32, layer: &str| json!({"text": text, "content_layer": layer, "prov": [{"page_no": page}]});
    let refer = |to: &str| json!({"$ref": to});
    let items = json!({
        "body": {"children": [refer("#/texts/0"), refer("#/pictures/0"), refer("#/groups/0"), refer("#/tables/0"), refer("#/body"),
            refer("#/groups/0"), refer("#/texts/99"), refer("x")]},
        "groups": [{"children": [refer("#/texts/1"), refer("#/texts/2"), refer("#/texts/3"), refer("#/groups/0")]}],
        "texts": [text("Walrus_s", 1, "body"), text("400 clams", 1, "body"), text("400 clams more", 2, "body"),
            text("Page 2", 3, "furniture")],
        "tables": [{"prov": [{"page_no": 5}], "data": {"table_cells": [{"text": ""}, {"text": "Кг"}]}}],
        "pictures": [{"prov": [{"page_no": 1}]}],
    });
    let markdown = "## Walrus\\_s\n\n<!-- image -->\n\n- 400 clams\n- 400 clams more\n\n|  | Кг |\n|---|---|\n| A | 3 |\n";
    let document = docling(markdown, &items).unwrap();
    let pages: Vec<(u32, &str)> = document
        .pages
        .iter()
        .map(|page| {
            (
                page.number,
                document.text[page.start..].lines().next().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        pages,
        [
            (1, "## Walrus_s"),
            (2, "- 400 clams more"),
            (5, "|  | Кг |")
        ]
    );
    assert_eq!(document.headings[0].title, "Walrus_s");
    // Other formats have none.
    let document = docling(
        "Just text",
        &json!({"texts": [{"text": "Just text", "prov": []}]}),
    )
    .unwrap();
    assert!(document.pages.is_empty());
}

#[test]
fn failures_of_docling_are_reasons() {
    let failed = json!({"document": {"md_content": ""}, "status": "failure", "errors": [{"error_message": "x"}]});
    assert_eq!(
        read(Converter::Docling, failed.to_string().as_bytes()),
        Err(Unreadable::NotConverted)
    );
    let none = json!({"document": {}, "status": "success"});
    assert_eq!(
        read(Converter::Docling, none.to_string().as_bytes()),
        Err(Unreadable::NotConverted)
    );
    let none = json!({"status": "failure", "failure": {"message": "x"}});
    assert_eq!(
        read(Converter::Docling, none.to_string().as_bytes()),
        Err(Unreadable::NotConverted)
    );
    assert_eq!(
        docling("<!-- image -->\n", &json!({})),
        Err(Unreadable::NoText)
    );
}
