//! Pre-scans a page before parsing, to refuse input that is disproportionately expensive to parse.

use std::ops::ControlFlow;

/// Maximum number of elements; pages with more are generated to attack parsers.
pub(super) const ELEMENTS_LIMIT: usize = 300_000;
/// Maximum nesting depth. Browsers stop at 512.
const DEPTH_LIMIT: usize = 2_000;
/// Maximum number of attributes of an element, since each is compared with all before it.
const ATTRIBUTES_LIMIT: usize = 1_000;

/// Elements without a required end tag, which do not count towards the depth.
const NO_END: [&str; 34] = [
    "area", "base", "body", "br", "caption", "col", "colgroup", "dd", "dt", "embed", "head", "hr",
    "html", "img", "input", "li", "link", "meta", "optgroup", "option", "p", "param", "path", "rb",
    "rp", "rt", "source", "tbody", "td", "tfoot", "th", "thead", "tr", "track",
];
/// Elements whose content is always text.
const RAW: [&str; 4] = ["script", "style", "textarea", "title"];

/// Whether this page is safe to parse.
pub(super) fn is_bearable(page: &str) -> bool {
    let mut scan = Scan {
        page,
        at: 0,
        elements: 0,
        depth: 0,
    };
    loop {
        match scan.next_tag() {
            ControlFlow::Continue(()) => {}
            ControlFlow::Break(is_bearable) => return is_bearable,
        }
    }
}

struct Scan<'a> {
    page: &'a str,
    at: usize,
    elements: usize,
    depth: usize,
}

impl<'a> Scan<'a> {
    /// Skips the next tag or comment; breaks at the end, and if a limit is exceeded.
    fn next_tag(&mut self) -> ControlFlow<bool> {
        let Some(begin) = self.rest().find('<') else {
            return ControlFlow::Break(true);
        };
        self.at += begin + 1;
        let rest = self.rest();
        if let Some(comment) = rest.strip_prefix("!--") {
            self.at =
                self.page.len() - comment.find("-->").map_or(0, |end| comment.len() - end - 3);
            return ControlFlow::Continue(());
        }
        let (is_end, name) = rest
            .strip_prefix('/')
            .map_or((false, rest), |rest| (true, rest));
        if !name.starts_with(|c: char| c.is_ascii_alphabetic()) {
            return ControlFlow::Continue(());
        }
        let ends_name = |c: char| matches!(c, ' ' | '\t' | '\n' | '\x0c' | '\r' | '/' | '>');
        let name = &name[..name.find(ends_name).unwrap_or(name.len())];
        self.at += usize::from(is_end) + name.len();
        let name = name.to_ascii_lowercase();
        let attributes = self.skip_attributes();
        if is_end {
            self.depth = self
                .depth
                .saturating_sub(usize::from(!NO_END.contains(&name.as_str())));
            return ControlFlow::Continue(());
        }
        self.elements += 1;
        self.depth += usize::from(!NO_END.contains(&name.as_str()));
        if self.elements > ELEMENTS_LIMIT
            || self.depth > DEPTH_LIMIT
            || attributes > ATTRIBUTES_LIMIT
        {
            return ControlFlow::Break(false);
        }
        if RAW.contains(&name.as_str()) {
            self.skip_raw(&name);
        }
        ControlFlow::Continue(())
    }

    /// Skips the tag. Returns an upper bound of its number of attributes.
    fn skip_attributes(&mut self) -> usize {
        let mut attributes = 0;
        let mut quote = None;
        let mut is_between = false;
        let mut is_value = false;
        for (at, byte) in self.rest().bytes().enumerate() {
            match (quote, byte) {
                (Some(open), _) if byte == open => (quote, is_between) = (None, true),
                (Some(_), _) => {}
                (None, b'>') => {
                    self.at += at + 1;
                    return attributes;
                }
                // A quote opens a value only where one begins.
                (None, b'"' | b'\'') if is_value => (quote, is_value) = (Some(byte), false),
                (None, b' ' | b'\t' | b'\n' | b'\x0c' | b'\r' | b'/') => is_between = true,
                (None, b'=') => (is_value, is_between) = (true, false),
                (None, _) => {
                    attributes += usize::from(is_between && !is_value);
                    (is_between, is_value) = (false, false);
                }
            }
        }
        self.at = self.page.len();
        attributes
    }

    /// Skips to the end tag of an element whose content is text.
    fn skip_raw(&mut self, name: &str) {
        let mut rest = self.rest();
        while let Some(begin) = rest.find("</") {
            rest = &rest[begin + 2..];
            if rest
                .get(..name.len())
                .is_some_and(|found| found.eq_ignore_ascii_case(name))
            {
                self.at = self.page.len() - rest.len() - 2;
                return;
            }
        }
        self.at = self.page.len();
    }

    fn rest(&self) -> &'a str {
        self.page.get(self.at..).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_that_people_write_are_bearable() {
        let row = "<tr><td class=a id='b' title=\"x > y\">1<br>2<td>3".repeat(40_000);
        let list = format!("<ul>{}</ul>", "<li>one <b>two</b>".repeat(20_000));
        let nested = "<div>".repeat(1_500);
        let data = format!("<div data-state='{}'>", "a=1 b/c ".repeat(100_000));
        let script = format!(
            "<script>{}</script><p>",
            "if (a<b) x=\"<div>\";".repeat(100_000)
        );
        let comment = format!("<!-- {} --><p>", "<div>".repeat(100_000));
        for page in [
            "",
            "a < b && c <",
            "<",
            "</",
            "<a",
            "<!--",
            "<p x='",
            "<script>",
            &row,
            &list,
            &nested,
            &data,
            &script,
            &comment,
        ] {
            assert!(is_bearable(page), "{:.60}", page);
        }
    }

    #[test]
    fn pages_against_parsers_are_not() {
        let attributes: String = (0..2_000).map(|n| format!(" a{n}=1")).collect();
        let slashes: String = (0..2_000).map(|n| format!("a{n}/")).collect();
        let quoted: String = (0..2_000).map(|n| format!("a{n}='x'")).collect();
        for page in [
            "<div>".repeat(2_001),
            "<DIV>".repeat(2_001),
            "<b x=1>".repeat(2_001),
            "<p>".repeat(300_001),
            format!("<div{attributes}>"),
            format!("<div {slashes}>"),
            format!("<div {quoted}>"),
            format!("<!-- <a ' -->{}", "<div>".repeat(2_001)),
            format!("<a \">{}", "<div>".repeat(2_001)),
            format!("<title><a '</title>{}", "<div>".repeat(2_001)),
        ] {
            assert!(!is_bearable(&page), "{page:.60}");
        }
    }
}
