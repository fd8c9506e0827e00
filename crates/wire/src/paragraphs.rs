//! Joins the texts of one agent to one text with a paragraph for each.

use std::{borrow::Cow, collections::HashMap};

/// Separates two paragraphs.
pub(crate) const PARAGRAPH_BREAK: &str = "\n\n";

/// Joins texts as they come.
#[derive(Debug, Default)]
pub(crate) struct Paragraphs {
    open: HashMap<String, Open>,
    /// Total length sent, characters.
    chars: usize,
}

/// A text that has not ended.
#[derive(Debug)]
struct Open {
    /// Bytes of it that were sent.
    sent_bytes: usize,
    /// Its start in the joined text, characters.
    start: usize,
}

impl Paragraphs {
    /// The text to send for more of `item`.
    pub(crate) fn more<'d>(&mut self, item: &str, delta: &'d str) -> Cow<'d, str> {
        if delta.is_empty() {
            return Cow::Borrowed(delta);
        }
        let chars = delta.chars().count();
        if let Some(open) = self.open.get_mut(item) {
            open.sent_bytes += delta.len();
            self.chars += chars;
            return Cow::Borrowed(delta);
        }
        let begun = if self.chars > 0 { PARAGRAPH_BREAK } else { "" };
        let start = self.chars + begun.len();
        self.open.insert(
            item.to_owned(),
            Open {
                sent_bytes: delta.len(),
                start,
            },
        );
        self.chars = start + chars;
        if begun.is_empty() {
            Cow::Borrowed(delta)
        } else {
            Cow::Owned(format!("{begun}{delta}"))
        }
    }

    /// The unsent rest of a complete text, and its start in the joined text, in characters.
    pub(crate) fn rest<'d>(&mut self, item: &str, text: &'d str) -> (Cow<'d, str>, usize) {
        let sent = self.open.get(item).map_or(0, |open| open.sent_bytes);
        let rest = self.more(item, text.get(sent..).unwrap_or_default());
        let start = self.open.remove(item).map_or(self.chars, |open| open.start);
        (rest, start)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_may_end_after_the_next_has_begun() {
        let mut texts = Paragraphs::default();
        assert_eq!(texts.more("t1", "Né"), "Né");
        assert_eq!(texts.more("t2", "So"), "\n\nSo");
        assert_eq!(texts.rest("t1", "Né"), ("".into(), 0));
        assert_eq!(texts.rest("t2", "So it is."), (" it is.".into(), 4));
        assert_eq!(texts.rest("t3", "Whole"), ("\n\nWhole".into(), 15));
    }
}
