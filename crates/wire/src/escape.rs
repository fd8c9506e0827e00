//! Escapes foreign text for HTML and Markdown.

/// Maximum number of characters of a result's preview.
const PREVIEW_CHARS: usize = 200;

/// The text with `& < > " '` written as entities.
pub(crate) fn html(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#x27;"),
            letter => escaped.push(letter),
        }
    }
    escaped
}

/// At most `limit` characters of the text, with `...` if it was cut.
pub(crate) fn cut(text: &str, limit: usize) -> String {
    match text.char_indices().nth(limit) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Foreign text as one line of Markdown: no line breaks or control characters, no HTML, and no link or picture, which a
/// client might load by itself.
pub(crate) fn markdown_line(text: &str) -> String {
    let words: Vec<&str> = text
        .split(|c: char| c.is_whitespace() || c.is_control())
        .filter(|word| !word.is_empty())
        .collect();
    html(&words.join(" "))
        .replace("](", "]&#40;")
        .replace("![", "!&#91;")
}

/// The beginning of a result as one line of Markdown.
pub(crate) fn preview(text: &str) -> String {
    // A preview does not need the end of a long text; white space takes up little.
    let start: String = text.chars().take(PREVIEW_CHARS * 20).collect();
    let words: Vec<&str> = start.split_whitespace().collect();
    let mut line = cut(&words.join(" "), PREVIEW_CHARS);
    if !line.ends_with("...") && start.len() < text.len() {
        line.push_str("...");
    }
    markdown_line(&line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_is_left_to_run_or_load() {
        assert_eq!(
            html(r#"<a b="c">'&"#),
            "&lt;a b=&quot;c&quot;&gt;&#x27;&amp;"
        );
        assert_eq!(
            markdown_line("a\n\n![x](http://e)\u{0}b\t[y](z)"),
            "a !&#91;x]&#40;http://e) b [y]&#40;z)"
        );
    }

    #[test]
    fn cuts_at_characters() {
        assert_eq!(cut("äöü", 3), "äöü");
        assert_eq!(cut("äöü", 2), "äö...");
        assert_eq!(preview(&"x".repeat(201)), format!("{}...", "x".repeat(200)));
        assert_eq!(preview(&"x".repeat(200)), "x".repeat(200));
        assert_eq!(preview(&" ".repeat(1_000_000)), "...");
        assert_eq!(preview("a\nb"), "a b");
    }
}
