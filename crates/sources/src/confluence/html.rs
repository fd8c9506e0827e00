//! Turns Confluence's storage format, XHTML with elements of its own, into an HTML page.

/// A whole page.
pub(super) fn page(title: &str, storage: &str) -> String {
    let mut html = String::with_capacity(storage.len() + 2 * title.len() + 100);
    html += "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>";
    push_escaped(title, &mut html);
    html += "</title></head>\n<body><h1>";
    push_escaped(title, &mut html);
    html += "</h1>\n";
    push_body(storage, &mut html);
    html += "\n</body></html>\n";
    html
}

/// Keeps the elements of HTML and the text in others. Character data is not known to HTML, and would be lost.
fn push_body(storage: &str, html: &mut String) {
    let mut rest = storage;
    while let Some((before, at)) = rest.find('<').map(|at| rest.split_at(at)) {
        html.push_str(before);
        rest = at;
        if let Some(data) = rest.strip_prefix("<![CDATA[") {
            let (text, after) = data.split_once("]]>").unwrap_or((data, ""));
            // The text of a link; otherwise code or other text with line breaks.
            let is_inline = after.starts_with("</ac:plain-text-link-body");
            html.push_str(if is_inline { "" } else { "<pre>" });
            push_escaped(text, html);
            html.push_str(if is_inline { "" } else { "</pre>" });
            rest = after;
            continue;
        }
        let Some(end) = rest.find('>') else {
            return push_escaped(rest, html);
        };
        let (tag, after) = rest.split_at(end + 1);
        rest = after;
        if tag.starts_with("<ac:parameter") && !tag.ends_with("/>") {
            // The options of a macro.
            rest = after
                .split_once("</ac:parameter>")
                .map_or("", |(_, after)| after);
        } else if tag.starts_with("<ri:") {
            if after.starts_with("</ac:link>") {
                html.push_str(referred(tag));
            }
        } else if tag.starts_with("<ac:task>") {
            html.push_str("<p>");
        } else if tag.starts_with("</ac:task>") {
            html.push_str("</p>");
        } else if tag.starts_with("<ac:task-id>") || tag.starts_with("<ac:task-status>") {
            push_task(tag, &mut rest, html);
        } else if !tag.starts_with("<ac:") && !tag.starts_with("</ac:") && !tag.starts_with("</ri:")
        {
            html.push_str(tag);
        }
    }
    html.push_str(rest);
}

/// The ID of a task is dropped; its status becomes a box.
fn push_task(tag: &str, rest: &mut &str, html: &mut String) {
    let (text, after) = rest
        .split_once('<')
        .map_or((*rest, ""), |(text, _)| (text, &rest[text.len()..]));
    *rest = after;
    if tag.starts_with("<ac:task-status>") {
        html.push_str(if text.trim() == "complete" {
            "[x] "
        } else {
            "[ ] "
        });
    }
}

/// The name of what a link without a text leads to, as it is in the attribute: escaped.
fn referred(tag: &str) -> &str {
    let names = ["ri:content-title=\"", "ri:filename=\"", "ri:space-key=\""];
    let mut names = names.iter().filter_map(|name| tag.split_once(name));
    let value = names.next().and_then(|(_, value)| value.split_once('"'));
    value.map_or("", |(value, _)| value)
}

fn push_escaped(text: &str, html: &mut String) {
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            c => html.push(c),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn titles_are_escaped() {
        let expected = "<!DOCTYPE html>\n<html><head><meta charset=\"utf-8\"><title>A &lt;b&gt; &amp; c</title></head>\n\
                        <body><h1>A &lt;b&gt; &amp; c</h1>\n<p>x</p>\n</body></html>\n";
        assert_eq!(page("A <b> & c", "<p>x</p>"), expected);
    }

    /// After Atlassian's description of the storage format.
    #[test]
    fn text_of_other_elements_is_kept() {
        for (storage, expected) in [
            (
                "<p>a&nbsp;<strong>b</strong><br /></p>",
                "<p>a&nbsp;<strong>b</strong><br /></p>",
            ),
            (
                "<ac:structured-macro ac:name=\"code\" ac:schema-version=\"1\"><ac:parameter ac:name=\"language\">rust\
                 </ac:parameter><ac:plain-text-body><![CDATA[if a < b && c {\n}]]></ac:plain-text-body>\
                 </ac:structured-macro>",
                "<pre>if a &lt; b &amp;&amp; c {\n}</pre>",
            ),
            (
                "<ac:structured-macro ac:name=\"info\"><ac:rich-text-body><p>Note</p></ac:rich-text-body>\
                 </ac:structured-macro>",
                "<p>Note</p>",
            ),
            (
                "see <ac:link><ri:page ri:content-title=\"Page &amp; Title\" /></ac:link>.",
                "see Page &amp; Title.",
            ),
            (
                "<ac:link ac:anchor=\"x\"><ri:page ri:content-title=\"T\" /><ac:plain-text-link-body>\
                 <![CDATA[Text <1>]]></ac:plain-text-link-body></ac:link>",
                "Text &lt;1&gt;",
            ),
            (
                "<ac:task-list><ac:task><ac:task-id>7</ac:task-id><ac:task-status>complete</ac:task-status>\
                 <ac:task-body>Done</ac:task-body></ac:task><ac:task><ac:task-id>8</ac:task-id>\
                 <ac:task-status>incomplete</ac:task-status><ac:task-body>Open</ac:task-body></ac:task></ac:task-list>",
                "<p>[x] Done</p><p>[ ] Open</p>",
            ),
            (
                "<ac:image><ri:attachment ri:filename=\"a.png\" /></ac:image>",
                "",
            ),
            // Broken.
            ("a <b", "a &lt;b"),
            ("<![CDATA[x", "<pre>x</pre>"),
            ("<ac:parameter>x", ""),
            ("<ac:task-status>", "[ ] "),
            ("<ri:page ri:content-title=\"x></ac:link>", ""),
        ] {
            let mut html = String::new();
            push_body(storage, &mut html);
            assert_eq!(html, expected, "{storage}");
        }
    }

    /// All short sequences of what has a meaning.
    #[test]
    fn hostile_storage_is_bounded() {
        let tokens = [
            "<![CDATA[",
            "]]>",
            "<ac:parameter",
            ">",
            "</ac:parameter>",
            "<ri:page ri:content-title=\"",
            "\"",
            "<ac:task-status>",
            "<ac:task-id>",
            "</ac:link>",
            "<",
            "ä",
        ];
        let count = tokens.len().pow(4);
        for mut at in 0..count {
            let mut storage = String::new();
            for _ in 0..4 {
                storage += tokens[at % tokens.len()];
                at /= tokens.len();
            }
            let mut html = String::new();
            push_body(&storage, &mut html);
            assert!(html.len() <= 20 + 4 * storage.len(), "{storage}");
        }
    }
}
