//! Notion's blocks as Markdown.

use serde_json::{Value, json};

use super::text;

/// A block with the blocks in it.
pub(super) struct Block {
    pub(super) value: Value,
    pub(super) children: Vec<Block>,
}

impl Block {
    /// Stands for blocks that cannot be read.
    pub(super) fn omission() -> Self {
        let text = json!({ "rich_text": [{ "plain_text": "…" }] });
        let value = json!({ "type": "paragraph", "paragraph": text });
        let children = Vec::new();
        Self { value, children }
    }

    fn kind(&self) -> &str {
        self.value["type"].as_str().unwrap_or_default()
    }

    /// What is specific to the type.
    fn own(&self) -> &Value {
        &self.value[self.kind()]
    }

    fn text(&self) -> String {
        text::markdown(&self.own()["rich_text"])
    }
}

/// A whole page.
pub(super) fn page(title: &str, properties: Option<&str>, blocks: &[Block]) -> String {
    let mut page = format!(
        "# {}\n",
        title.split_whitespace().collect::<Vec<_>>().join(" ")
    );
    if let Some(properties) = properties.filter(|properties| !properties.is_empty()) {
        page += &format!("\n{properties}");
    }
    let body = body(blocks);
    if !body.is_empty() {
        page += &format!("\n{body}\n");
    }
    page
}

/// Blocks with an empty line between them, except between items of a list.
fn body(blocks: &[Block]) -> String {
    let mut body = String::new();
    let mut before = "";
    let mut number = 0;
    for block in blocks {
        let kind = block.kind();
        number = if kind == "numbered_list_item" {
            number + 1
        } else {
            0
        };
        let text = one(block, number);
        if text.is_empty() {
            continue;
        }
        if !body.is_empty() {
            let is_same_list = list_of(kind).is_some() && list_of(kind) == list_of(before);
            body += if is_same_list { "\n" } else { "\n\n" };
        }
        body += &text;
        before = kind;
    }
    body
}

/// Which kind of list a block is an item of.
fn list_of(kind: &str) -> Option<&'static str> {
    match kind {
        "bulleted_list_item" | "toggle" | "to_do" => Some("-"),
        "numbered_list_item" => Some("1."),
        _ => None,
    }
}

fn one(block: &Block, number: usize) -> String {
    let own = block.own();
    match block.kind() {
        "bulleted_list_item" | "toggle" => item("- ", block),
        "numbered_list_item" => item(&format!("{number}. "), block),
        "to_do" if own["checked"] == true => item("- [x] ", block),
        "to_do" => item("- [ ] ", block),
        "heading_1" => heading("#", block),
        "heading_2" => heading("##", block),
        "heading_3" => heading("###", block),
        "heading_4" => heading("####", block),
        "quote" => quoted(&with_children(block.text(), block)),
        "callout" => {
            let icon = own["icon"]["emoji"].as_str().unwrap_or_default();
            let text = format!("{icon} {}", block.text());
            quoted(&with_children(text.trim().to_owned(), block))
        }
        "code" => code(own),
        "equation" => format!("$$\n{}\n$$", own["expression"].as_str().unwrap_or_default()),
        "divider" => "---".to_owned(),
        "table" => table(block),
        "image" | "video" | "file" | "pdf" | "audio" => file(own),
        "bookmark" | "embed" | "link_preview" => {
            let url = own["url"].as_str().unwrap_or_default();
            linked(&text::plain(&own["caption"]), url)
        }
        kind @ ("child_page" | "child_database") => {
            let title = own["title"].as_str().unwrap_or_default();
            let title = if title.is_empty() { kind } else { title };
            let id = block.value["id"].as_str().unwrap_or_default();
            format!("[{title}]({})", text::page_link(id))
        }
        "link_to_page" => {
            let id = ["page_id", "database_id"]
                .iter()
                .find_map(|name| own[name].as_str());
            id.map(|id| format!("<{}>", text::page_link(id)))
                .unwrap_or_default()
        }
        "table_of_contents" | "breadcrumb" | "unsupported" => String::new(),
        // Paragraphs; columns, synchronized blocks and whatever else only has others in it.
        _ => with_children(block.text(), block),
    }
}

fn with_children(text: String, block: &Block) -> String {
    let children = body(&block.children);
    match (text.trim().is_empty(), children.is_empty()) {
        (true, _) => children,
        (false, true) => text,
        (false, false) => format!("{text}\n\n{children}"),
    }
}

fn heading(marks: &str, block: &Block) -> String {
    let text = block.text().replace('\n', " ");
    with_children(format!("{marks} {}", text.trim()), block)
}

/// An item of a list. What is in it is indented like its text.
fn item(mark: &str, block: &Block) -> String {
    let indent = if mark.starts_with("- ") {
        2
    } else {
        mark.len()
    };
    let text = block.text();
    let children = body(&block.children);
    let is_list = block
        .children
        .first()
        .is_some_and(|child| list_of(child.kind()).is_some());
    let between = match (children.is_empty(), is_list) {
        (true, _) => "",
        (false, true) => "\n",
        (false, false) => "\n\n",
    };
    let all = format!("{text}{between}{children}");
    let indent = " ".repeat(indent);
    let lines = all.lines().enumerate().map(|(at, line)| match (at, line) {
        (0, line) => format!("{mark}{line}"),
        (_, "") => String::new(),
        (_, line) => format!("{indent}{line}"),
    });
    let lines: Vec<_> = lines.collect();
    if lines.is_empty() {
        mark.trim_end().to_owned()
    } else {
        lines.join("\n")
    }
}

fn quoted(text: &str) -> String {
    let lines = text.lines().map(|line| format!("> {line}"));
    lines
        .map(|line| line.trim_end().to_owned())
        .collect::<Vec<_>>()
        .join("\n")
}

fn code(own: &Value) -> String {
    let text = text::plain(&own["rich_text"]);
    let fence = "`".repeat((text::longest_run(&text) + 1).max(3));
    let language = own["language"].as_str().unwrap_or_default();
    let language = if language == "plain text" {
        ""
    } else {
        language
    };
    let caption = text::markdown(&own["caption"]);
    let caption = if caption.is_empty() {
        caption
    } else {
        format!("\n\n{caption}")
    };
    format!("{fence}{language}\n{text}\n{fence}{caption}")
}

fn table(block: &Block) -> String {
    let rows = block
        .children
        .iter()
        .filter(|row| row.kind() == "table_row");
    let rows: Vec<Vec<String>> = rows
        .map(|row| {
            let cells = row.own()["cells"].as_array().into_iter().flatten();
            let cell = |cell: &Value| text::markdown(cell).replace('|', "\\|").replace('\n', " ");
            cells.map(cell).collect()
        })
        .collect();
    let width = rows.iter().map(Vec::len).max().unwrap_or(0);
    if width == 0 {
        return String::new();
    }
    let line = |row: &[String]| {
        let cells = (0..width).map(|at| row.get(at).map_or("", |cell| cell.trim()));
        format!("| {} |", cells.collect::<Vec<_>>().join(" | "))
    };
    let mut lines = vec![line(&rows[0]), format!("|{}", " --- |".repeat(width))];
    lines.extend(rows[1..].iter().map(|row| line(row)));
    lines.join("\n")
}

/// A file. The addresses of files at Notion have a signature that expires, and is left out.
fn file(own: &Value) -> String {
    let (url, is_own) = match own["file"]["url"].as_str() {
        Some(url) => (url, true),
        None => (own["external"]["url"].as_str().unwrap_or_default(), false),
    };
    let url = match url.split_once('?') {
        Some((url, _)) if is_own => url,
        _ => url,
    };
    let name = own["name"].as_str().unwrap_or_default();
    let caption = text::plain(&own["caption"]);
    let last = url.rsplit('/').next().unwrap_or_default();
    let texts = [&*caption, name, last];
    let text = texts.into_iter().find(|text| !text.is_empty());
    linked(text.unwrap_or_default(), url)
}

fn linked(text: &str, url: &str) -> String {
    let text = if text.is_empty() { url } else { text };
    match text::link(url) {
        Some(link) => format!("[{}]({link})", text.replace(['[', ']', '\n'], " ").trim()),
        None => text.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(kind: &str, own: Value, children: Vec<Block>) -> Block {
        let value = json!({ "object": "block", "id": "0000-1", "type": kind, kind: own });
        Block { value, children }
    }

    fn rich(text: &str) -> Value {
        json!([{ "type": "text", "plain_text": text, "annotations": {} }])
    }

    fn text(kind: &str, text: &str, children: Vec<Block>) -> Block {
        block(kind, json!({ "rich_text": rich(text) }), children)
    }

    fn check(blocks: &[Block], expected: &str) {
        assert_eq!(body(blocks), expected);
    }

    /// After the reference of Notion's API, object “block”.
    #[test]
    fn text_and_lists() {
        let nested = vec![
            text("bulleted_list_item", "deep\nline", Vec::new()),
            text("paragraph", "more", Vec::new()),
        ];
        let numbered = vec![text("numbered_list_item", "b", Vec::new())];
        check(
            &[
                text("heading_1", "One", Vec::new()),
                text("paragraph", "A", Vec::new()),
                text("paragraph", " ", Vec::new()),
                text(
                    "heading_2",
                    "Two",
                    vec![text("paragraph", "in it", Vec::new())],
                ),
                text("bulleted_list_item", "x", nested),
                text("toggle", "y", vec![text("paragraph", "hidden", Vec::new())]),
                text("numbered_list_item", "a", numbered),
                text("numbered_list_item", "c", Vec::new()),
                text("paragraph", "between", Vec::new()),
                text("numbered_list_item", "again", Vec::new()),
                block(
                    "to_do",
                    json!({ "rich_text": rich("done"), "checked": true }),
                    Vec::new(),
                ),
                block(
                    "to_do",
                    json!({ "rich_text": rich("open"), "checked": false }),
                    Vec::new(),
                ),
                text("to_do", "", Vec::new()),
            ],
            "# One\n\nA\n\n## Two\n\nin it\n\n- x\n  - deep\n    line\n\n  more\n- y\n\n  hidden\n\n1. a\n   1. b\n2. c\n\n\
             between\n\n1. again\n\n- [x] done\n- [ ] open\n- [ ]",
        );
    }

    #[test]
    fn quotes_code_and_equations() {
        let callout =
            json!({ "rich_text": rich("Note"), "icon": { "type": "emoji", "emoji": "💡" } });
        check(
            &[
                text("quote", "a\nb", vec![text("paragraph", "c", Vec::new())]),
                block("callout", callout, Vec::new()),
                block(
                    "code",
                    json!({ "rich_text": rich("a ``` b"), "language": "rust", "caption": rich("Cap") }),
                    Vec::new(),
                ),
                block(
                    "code",
                    json!({ "rich_text": rich("x"), "language": "plain text" }),
                    Vec::new(),
                ),
                block("equation", json!({ "expression": "a^2" }), Vec::new()),
                block("divider", json!({}), Vec::new()),
            ],
            "> a\n> b\n>\n> c\n\n> 💡 Note\n\n````rust\na ``` b\n````\n\nCap\n\n```\nx\n```\n\n$$\na^2\n$$\n\n---",
        );
    }

    #[test]
    fn tables_have_all_cells() {
        let row = |cells: &[&str]| {
            let cells: Vec<_> = cells.iter().map(|cell| rich(cell)).collect();
            block("table_row", json!({ "cells": cells }), Vec::new())
        };
        let own = json!({ "table_width": 2, "has_column_header": true });
        let table = block(
            "table",
            own.clone(),
            vec![row(&["a", "b|c"]), row(&["d\ne"])],
        );
        check(&[table], "| a | b\\|c |\n| --- | --- |\n| d e |  |");
        check(&[block("table", own, Vec::new())], "");
    }

    #[test]
    fn files_and_links() {
        let hosted = json!({ "type": "file", "name": "a [1].pdf", "caption": [],
            "file": { "url": "https://prod-files.example/w/a.pdf?X-Amz-Signature=secret", "expiry_time": "x" } });
        let external = json!({ "type": "external", "caption": rich("Picture"), "external": { "url": "https://a.example/p.png?v=1" } });
        check(
            &[
                block("pdf", hosted, Vec::new()),
                block("image", external, Vec::new()),
                block("image", json!({ "type": "file_upload" }), Vec::new()),
                block(
                    "bookmark",
                    json!({ "url": "https://a.example", "caption": [] }),
                    Vec::new(),
                ),
                block("embed", json!({ "url": "javascript:x" }), Vec::new()),
                block("child_page", json!({ "title": "Child" }), Vec::new()),
                block("child_database", json!({ "title": "" }), Vec::new()),
                block(
                    "link_to_page",
                    json!({ "type": "page_id", "page_id": "ab-cd" }),
                    Vec::new(),
                ),
                block(
                    "column_list",
                    json!({}),
                    vec![block(
                        "column",
                        json!({}),
                        vec![text("paragraph", "in a column", Vec::new())],
                    )],
                ),
                block(
                    "synced_block",
                    json!({ "synced_from": null }),
                    vec![text("paragraph", "synced", Vec::new())],
                ),
                block("unsupported", json!({}), Vec::new()),
                block("hologram", json!(7), Vec::new()),
                Block {
                    value: json!([]),
                    children: Vec::new(),
                },
            ],
            "[a  1 .pdf](https://prod-files.example/w/a.pdf)\n\n[Picture](https://a.example/p.png?v=1)\n\n\
             [https://a.example](https://a.example)\n\njavascript:x\n\n[Child](https://www.notion.so/00001)\n\n\
             [child_database](https://www.notion.so/00001)\n\n<https://www.notion.so/abcd>\n\nin a column\n\nsynced",
        );
    }

    #[test]
    fn pages_have_a_title_and_properties() {
        let blocks = [text("paragraph", "Text", Vec::new())];
        assert_eq!(page("A\nB", None, &blocks), "# A B\n\nText\n");
        assert_eq!(
            page("A", Some("- **X:** 1\n"), &blocks),
            "# A\n\n- **X:** 1\n\nText\n"
        );
        assert_eq!(page("A", Some(""), &[]), "# A\n");
    }
}
