//! Notion's rich text as Markdown or without marks.

use serde_json::Value;

/// The text without marks.
pub(super) fn plain(rich: &Value) -> String {
    let parts = rich.as_array().into_iter().flatten();
    parts
        .filter_map(|part| part["plain_text"].as_str())
        .collect()
}

/// The text with its marks and links.
pub(super) fn markdown(rich: &Value) -> String {
    let parts = rich.as_array().into_iter().flatten();
    parts.map(part).collect()
}

fn part(part: &Value) -> String {
    let text = part["plain_text"].as_str().unwrap_or_default();
    if part["type"] == "equation" {
        let expression = part["equation"]["expression"].as_str().unwrap_or(text);
        return format!("${expression}$");
    }
    let inner = text.trim();
    if inner.is_empty() {
        return text.to_owned();
    }
    // Marks must touch the text.
    let before = &text[..text.len() - text.trim_start().len()];
    let after = &text[text.trim_end().len()..];
    let has = |name: &str| part["annotations"][name] == true;
    let mut marked = match has("code") {
        true => code(inner),
        false => inner.to_owned(),
    };
    for (name, mark) in [("bold", "**"), ("italic", "*"), ("strikethrough", "~~")] {
        if has(name) {
            marked = format!("{mark}{marked}{mark}");
        }
    }
    if let Some(link) = part["href"].as_str().and_then(link) {
        marked = format!("[{marked}]({link})");
    }
    format!("{before}{marked}{after}")
}

fn code(text: &str) -> String {
    let fence = "`".repeat(longest_run(text) + 1);
    let space = if fence.len() > 1 { " " } else { "" };
    format!("{fence}{space}{text}{space}{fence}")
}

/// The length of the longest sequence of backticks.
pub(super) fn longest_run(text: &str) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == '`' { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// An address that may be linked to. Those of pages have no host.
pub(super) fn link(href: &str) -> Option<String> {
    let href = match href.strip_prefix('/') {
        Some(path) if !path.starts_with('/') => format!("https://www.notion.so/{path}"),
        _ => href.to_owned(),
    };
    let is_one = ["https://", "http://", "mailto:"]
        .iter()
        .any(|start| href.starts_with(start));
    let is_plain = !href.contains(|c: char| c.is_whitespace() || c.is_control());
    (is_one && is_plain).then(|| href.replace('(', "%28").replace(')', "%29"))
}

/// The address of a page.
pub(super) fn page_link(id: &str) -> String {
    let id = id.chars().filter(char::is_ascii_alphanumeric);
    format!("https://www.notion.so/{}", id.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// After the reference of Notion's API, object “rich text”.
    #[test]
    fn marks_touch_the_text() {
        let text = |text: &str, annotations: Value| json!({ "type": "text", "text": { "content": text, "link": null }, "annotations": annotations, "plain_text": text });
        let with_link = |href: &str| {
            let mut part = text("a", json!({}));
            part["href"] = json!(href);
            part
        };
        for (part, expected) in [
            (text("a", json!({ "bold": false, "color": "default" })), "a"),
            (text(" a b ", json!({ "bold": true })), " **a b** "),
            (
                text(
                    "a",
                    json!({ "bold": true, "italic": true, "strikethrough": true }),
                ),
                "~~***a***~~",
            ),
            (text("  ", json!({ "bold": true })), "  "),
            (text("a", json!({ "code": true })), "`a`"),
            (text("a`b", json!({ "code": true })), "`` a`b ``"),
            (
                with_link("https://a.example/x(1)"),
                "[a](https://a.example/x%281%29)",
            ),
            (with_link("/0123"), "[a](https://www.notion.so/0123)"),
            (with_link("javascript:alert(1)"), "a"),
            (with_link("https://a b"), "a"),
            (
                json!({ "type": "equation", "equation": { "expression": "E=mc^2" }, "plain_text": "E=mc^2" }),
                "$E=mc^2$",
            ),
            (json!({ "type": "mention", "plain_text": "@Ann" }), "@Ann"),
            (json!(7), ""),
        ] {
            assert_eq!(markdown(&json!([part])), expected, "{part}");
        }
        assert_eq!(markdown(&Value::Null), "");
        assert_eq!(
            plain(&json!([
                text("a ", json!({ "bold": true })),
                text("b", json!({}))
            ])),
            "a b"
        );
    }
}
