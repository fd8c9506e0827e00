//! Rewrites URLs of links and images in streamed Markdown, except inside code.

use super::code_spans::CodeSpans;

/// Maximum length of a file URL; longer ones are left unchanged.
const MAX_ADDRESS_BYTES: usize = 1_024;
/// Prefixes of URLs that are never files.
const ELSEWHERE: [&str; 5] = ["http:", "https:", "mailto:", "data:", "#"];

/// A streamed text: what may be the start of a URL is held back until it is complete.
#[derive(Debug, Default)]
pub(crate) struct LinkText {
    held: String,
    code: CodeSpans,
}

impl LinkText {
    /// Whether `more` can be shown unchanged, which also processes it. That is so for most chunks.
    pub(crate) fn passes(&mut self, more: &str) -> bool {
        let passes = self.held.is_empty() && !more.contains(']');
        if passes {
            self.code.read(more);
        }
        passes
    }

    /// Adds text and returns what can be shown now. `find` returns the replacement of a URL.
    pub(crate) fn push(&mut self, more: &str, find: impl Fn(&str) -> Option<String>) -> String {
        self.held.push_str(more);
        let text = std::mem::take(&mut self.held);
        let mut shown = String::with_capacity(text.len());
        let mut rest = text.as_str();
        while let Some(at) = rest.find("](") {
            let (before, address) = rest.split_at(at + 2);
            self.code.read(&before[..=at]);
            let end = address.find(|c: char| c == ')' || c.is_whitespace());
            match end.filter(|_| !self.code.is_open()) {
                Some(end) => {
                    shown.push_str(before);
                    let (address, after) = address.split_at(end);
                    shown.push_str(&find(address).unwrap_or_else(|| address.to_owned()));
                    rest = after;
                }
                None if !self.code.is_open() && may_be_of_file(address) => {
                    shown.push_str(&before[..at]);
                    self.held.push_str(&rest[at..]);
                    return shown;
                }
                None => {
                    shown.push_str(before);
                    rest = address;
                }
            }
        }
        let end = rest.len() - usize::from(rest.ends_with(']'));
        shown.push_str(&rest[..end]);
        self.code.read(&rest[..end]);
        self.held.push_str(&rest[end..]);
        shown
    }

    /// Rewrites a complete text.
    pub(crate) fn whole(text: &str, find: impl Fn(&str) -> Option<String>) -> String {
        let mut whole = Self::default();
        let mut shown = whole.push(text, find);
        shown.push_str(&whole.held);
        shown
    }
}

/// Whether the start of a URL may become that of a file.
fn may_be_of_file(address: &str) -> bool {
    address.len() <= MAX_ADDRESS_BYTES && !ELSEWHERE.iter().any(|start| address.starts_with(start))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn find(address: &str) -> Option<String> {
        (address == "/pic.png" || address == "a.csv").then(|| format!("https://x{address}"))
    }

    fn check(text: &str, expected: &str) {
        assert_eq!(LinkText::whole(text, find), expected);
        // Any way to split the text gives the same result, and never takes anything back.
        for size in 1..text.len() {
            let mut rewriter = LinkText::default();
            let mut shown = String::new();
            let mut piece = String::new();
            for c in text.chars() {
                piece.push(c);
                if piece.len() >= size {
                    shown.push_str(&rewriter.push(&piece, find));
                    assert!(expected.starts_with(&shown), "{size}: {shown}");
                    piece.clear();
                }
            }
            shown.push_str(&rewriter.push(&piece, find));
            assert!(
                format!("{shown}{}", rewriter.held) == expected,
                "{size}: {shown} and {}",
                rewriter.held
            );
        }
    }

    #[test]
    fn addresses_of_files_are_rewritten_in_any_pieces() {
        check(
            "See ![a plot](/pic.png) here.",
            "See ![a plot](https://x/pic.png) here.",
        );
        check(
            "[table](a.csv \"a title\") and ![](/pic.png)",
            "[table](https://xa.csv \"a title\") and ![](https://x/pic.png)",
        );
        check(
            "[x](https://example.org/pic.png) [y](/other.png)",
            "[x](https://example.org/pic.png) [y](/other.png)",
        );
        check("a[0](1) ]( ](/pic.png", "a[0](1) ]( ](/pic.png");
        check("ends with a bracket]", "ends with a bracket]");
        check("ё](/pic.png)ё](ё)]", "ё](https://x/pic.png)ё](ё)]");
    }

    #[test]
    fn code_stays_as_it_is() {
        for code in [
            "```md\n![p](/pic.png)\n```",
            "~~~\n[p](/pic.png)\n```\n[p](/pic.png)\n~~~",
            "````\n```\n[p](/pic.png)\n```\n````",
            "- ```\n  [p](/pic.png)\n  ```",
            "> ```\n> [p](/pic.png)\n> ```",
            "`[p](/pic.png)`",
            "`` ` [p](/pic.png) ``",
            "```[p](/pic.png)```",
            "```not closed\n[p](/pic.png)",
        ] {
            check(code, code);
            check(
                &format!("[a](/pic.png) and\n{code}"),
                &format!("[a](https://x/pic.png) and\n{code}"),
            );
        }
        for (before, after) in [
            ("```\nx\n```\n", ""),
            ("`x` ", ""),
            ("```x``` ", " `y`"),
            ("a ~~b~~ ", ""),
            ("a \\` ", " `"),
            ("a stray ` here\n", ""),
            ("[`x`", ""),
            ("x ```` y ```` ", ""),
            ("```\n``` x\n```\n", ""),
        ] {
            let text = format!("{before}[p](/pic.png){after}");
            check(&text, &format!("{before}[p](https://x/pic.png){after}"));
        }
    }

    #[test]
    fn nothing_is_held_back_for_long() {
        let mut text = LinkText::default();
        assert!(text.passes("plain text (with brackets)"));
        assert_eq!(text.push("[x](https://exam", find), "[x](https://exam");
        assert_eq!(
            text.push(&format!("[y](/{}", "a".repeat(MAX_ADDRESS_BYTES)), find)
                .len(),
            MAX_ADDRESS_BYTES + 5
        );
        assert_eq!(text.push("[z](/pi", find), "[z");
        assert!(!text.passes("more"));
    }
}
