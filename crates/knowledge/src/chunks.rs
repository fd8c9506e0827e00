//! Splits a document into chunks, preferably at headings, paragraphs and sentences.

mod tables;

use std::{borrow::Cow, ops::Range};

use serde::{Deserialize, Serialize};

use self::tables::Tables;
use crate::document::{Document, Heading};

/// A chunk of a document.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Chunk {
    /// The position in the document's text, in bytes. The chunk's text is exactly this slice.
    pub bytes: Range<usize>,
    /// The same position, in characters.
    pub characters: Range<usize>,
    /// The page on which it begins.
    pub page: Option<u32>,
    /// The time in the recording at which it begins, in seconds.
    pub time: Option<u32>,
    /// The titles of the headings above it, outermost first.
    pub headings: Vec<String>,
    /// The header of the table whose rows it begins with, if it does not contain that header: its position, in bytes.
    pub header: Option<Range<usize>>,
    /// Estimated number of model tokens.
    pub tokens: usize,
}

impl Chunk {
    /// Its text in the document's `text`, below the header of the table that it goes on with.
    #[must_use]
    pub fn text<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let own = text.get(self.bytes.clone()).unwrap_or_default();
        match self.header(text) {
            Some(header) => Cow::Owned(format!("{header}\n{own}")),
            None => Cow::Borrowed(own),
        }
    }

    /// The header of the table that it goes on with.
    #[must_use]
    pub fn header<'t>(&self, text: &'t str) -> Option<&'t str> {
        text.get(self.header.clone()?)
    }
}

/// Chunk sizes, in characters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// Maximum length of a chunk.
    pub limit_chars: usize,
    /// Maximum length of the end of a chunk that is repeated in the next.
    pub overlap_chars: usize,
}

impl Default for Sizes {
    fn default() -> Self {
        // About 300 tokens, which small embedding models accept and which suffice to answer a question.
        Self {
            limit_chars: 1200,
            overlap_chars: 150,
        }
    }
}

/// Sections smaller than this fraction of a chunk are merged with the next.
const SMALL_SECTION: usize = 4;

/// Splits a document. Every word of it is in a chunk.
#[must_use]
pub fn cut(document: &Document, sizes: Sizes) -> Vec<Chunk> {
    let text = document.text.as_str();
    let limit_chars = sizes.limit_chars.max(1);
    let overlap_chars = sizes.overlap_chars.min(limit_chars / 2);
    let tables = Tables::of(text);
    let mut chunks = Vec::new();
    let mut walk = Walk::default();
    let mut start = skip_space(text, 0);
    // The text from here on is not in a chunk yet.
    let mut new = start;
    while new < text.len() {
        let (end, is_section_end) = end_of_chunk(document, start, new, limit_chars);
        let last = start + text[start..end].trim_end().len();
        let bytes = tables.row_start(text, start, new.min(last))..last;
        if !bytes.is_empty() {
            chunks.push(walk.chunk(document, bytes, tables.header(start)));
        }
        new = skip_space(text, end);
        start = if is_section_end {
            new
        } else {
            overlap_start(text, start, end, overlap_chars)
        };
        // If there is much white space in between, there is no room for the overlap.
        if forward(text, start, limit_chars) <= new {
            start = new;
        }
    }
    chunks
}

/// The end of the chunk that begins at `start`, which is after `new`, and whether a section ends there.
fn end_of_chunk(
    document: &Document,
    start: usize,
    new: usize,
    limit_chars: usize,
) -> (usize, bool) {
    let text = document.text.as_str();
    let end = forward(text, start, limit_chars);
    let smallest = forward(text, start, limit_chars / SMALL_SECTION);
    let first = document
        .headings
        .partition_point(|heading| heading.span.start <= smallest.max(new));
    if let Some(heading) = document.headings.get(first)
        && heading.span.start <= end
    {
        return (heading.span.start, true);
    }
    if end == text.len() {
        return (end, true);
    }
    let half = forward(text, start, limit_chars / 2).max(new);
    (best_break(text, half, end).unwrap_or(end), false)
}

/// The best place to split in the second half of a chunk: the end of a paragraph, line, sentence or word.
fn best_break(text: &str, from: usize, to: usize) -> Option<usize> {
    let window = &text[from..to];
    let after = |mark: &str| window.rfind(mark).map(|at| from + at + mark.len());
    let sentence = [". ", "! ", "? ", "。", "！", "？", "… "]
        .into_iter()
        .filter_map(after)
        .max();
    let word = || {
        let last = window
            .char_indices()
            .rev()
            .find(|(_, char)| char.is_whitespace());
        last.map(|(at, char)| from + at + char.len_utf8())
    };
    after("\n\n")
        .or_else(|| after("\n"))
        .or(sentence)
        .or_else(word)
        .filter(|at| *at > from)
}

/// The start of the next chunk, which repeats the end of this one. It is at a word, and always further on.
fn overlap_start(text: &str, start: usize, end: usize, overlap_chars: usize) -> usize {
    let from = back(text, end, overlap_chars).max(start);
    let window = &text[from..end];
    let sentence = window.find(". ").map(|at| at + 2);
    let word = || {
        let is_word = text[..from].ends_with(char::is_whitespace);
        if is_word {
            Some(0)
        } else {
            window.find(char::is_whitespace)
        }
    };
    let begin = skip_space(text, from + sentence.or_else(word).unwrap_or(window.len()));
    if begin > start && begin < end {
        begin
    } else {
        skip_space(text, end)
    }
}

/// The position this many characters ahead, or the end.
fn forward(text: &str, from: usize, chars: usize) -> usize {
    text[from..]
        .char_indices()
        .nth(chars)
        .map_or(text.len(), |(at, _)| from + at)
}

/// The position this many characters back, or the beginning.
fn back(text: &str, from: usize, chars: usize) -> usize {
    let Some(last) = chars.checked_sub(1) else {
        return from;
    };
    text[..from]
        .char_indices()
        .rev()
        .nth(last)
        .map_or(0, |(at, _)| at)
}

fn skip_space(text: &str, from: usize) -> usize {
    text.len() - text[from..].trim_start().len()
}

/// Walks through a document once, although chunks overlap: the state before the latest chunk.
#[derive(Default)]
struct Walk<'a> {
    byte: usize,
    characters: usize,
    /// The number of headings passed, and those of them that apply at this position.
    headings: usize,
    path: Vec<&'a Heading>,
}

impl<'a> Walk<'a> {
    /// The chunk at a position that is not before the latest one.
    fn chunk(
        &mut self,
        document: &'a Document,
        bytes: Range<usize>,
        header: Option<Range<usize>>,
    ) -> Chunk {
        let text = &document.text[bytes.clone()];
        self.characters += document.text[self.byte..bytes.start].chars().count();
        self.byte = bytes.start;
        // A heading at the beginning of a chunk belongs to it.
        while let Some(heading) = document
            .headings
            .get(self.headings)
            .filter(|it| it.span.start <= bytes.start)
        {
            self.path.retain(|above| above.level < heading.level);
            self.path.push(heading);
            self.headings += 1;
        }
        Chunk {
            characters: self.characters..self.characters + text.chars().count(),
            page: document.page_at(bytes.start),
            time: document.time_at(bytes.start),
            headings: self
                .path
                .iter()
                .map(|heading| heading.title.clone())
                .collect(),
            tokens: estimated_tokens(text),
            bytes,
            header,
        }
    }
}

/// Four letters of English make a token; in most other scripts, two.
fn estimated_tokens(text: &str) -> usize {
    let all = text.chars().count();
    let ascii = text.bytes().filter(u8::is_ascii).count();
    (ascii.div_ceil(4) + (all - ascii).div_ceil(2)).max(1)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn texts(text: &str, limit_chars: usize, overlap_chars: usize) -> Vec<String> {
        let document = Document::of_markdown(text.to_owned());
        let chunks = cut(
            &document,
            Sizes {
                limit_chars,
                overlap_chars,
            },
        );
        chunks
            .iter()
            .map(|chunk| text[chunk.bytes.clone()].to_owned())
            .collect()
    }

    #[test]
    fn texts_are_cut_where_readers_would() {
        assert_eq!(
            texts("One two. Three four. Five six.", 22, 0),
            ["One two. Three four.", "Five six."]
        );
        assert_eq!(
            texts("First paragraph.\n\nSecond one is here.", 30, 0),
            ["First paragraph.", "Second one is here."]
        );
        assert_eq!(
            texts("# A\nalpha beta gamma\n# B\ndelta", 60, 0),
            ["# A\nalpha beta gamma", "# B\ndelta"]
        );
        assert_eq!(texts("# A\n# B\ndelta", 60, 0), ["# A\n# B\ndelta"]);
        assert_eq!(texts("ⅠⅡⅢⅣⅤ", 2, 0), ["ⅠⅡ", "ⅢⅣ", "Ⅴ"]);
        assert_eq!(texts(" \n ", 10, 2), [""; 0]);
        assert_eq!(
            texts("one two three four five", 14, 6),
            ["one two three", "three four", "four five"]
        );
    }

    #[test]
    fn chunks_know_their_headings_and_pages() {
        let text = format!(
            "# Guide\n{}\n## Setup\n{}",
            "alpha ".repeat(20),
            "beta ".repeat(40)
        );
        let mut document = Document::of_markdown(text);
        let second = document.text.find("## Setup").unwrap();
        document.pages = vec![
            crate::document::Page {
                number: 1,
                start: 0,
            },
            crate::document::Page {
                number: 2,
                start: second,
            },
        ];
        let chunks = cut(
            &document,
            Sizes {
                limit_chars: 150,
                overlap_chars: 20,
            },
        );
        assert_eq!(
            (chunks[0].headings.as_slice(), chunks[0].page),
            (&["Guide".to_owned()][..], Some(1))
        );
        let last = chunks.last().unwrap();
        assert_eq!(
            (last.headings.join("/"), last.page),
            ("Guide/Setup".into(), Some(2))
        );
    }

    #[test]
    fn rows_are_below_the_header_of_their_table() {
        let rows = |from: u32, to: u32| -> String {
            let rows: Vec<String> = (from..to)
                .map(|row| format!("| Anna {row} | {row} |"))
                .collect();
            rows.join("\n")
        };
        let header = "| Name | Umsatz |\n| --- | --- |";
        let text = format!(
            "Before.\n\n{header}\n{}\n\nAfter it, no table.",
            rows(10, 40)
        );
        let document = Document::of_markdown(text.clone());
        let sizes = Sizes {
            limit_chars: 120,
            overlap_chars: 24,
        };
        let chunks = cut(&document, sizes);
        let texts: Vec<_> = chunks.iter().map(|chunk| chunk.text(&text)).collect();
        assert_eq!(texts[0], format!("Before.\n\n{header}\n{}", rows(10, 14)));
        assert_eq!(chunks[0].header, None, "it has the header itself");
        // A row that would be cut is left out, as the chunk before ends with it.
        assert_eq!(texts[1], format!("{header}\n{}", rows(13, 19)));
        assert_eq!(chunks[1].header(&text), Some(header));
        assert!(texts.last().unwrap().ends_with("After it, no table."));

        for no_table in [
            "| a |\n| b |\n",
            "| a\n--- | ---\n",
            "|  |  |\n| --- | --- |\n",
        ] {
            let text = format!("{no_table}{}", rows(10, 40));
            let document = Document::of_markdown(text);
            let chunks = cut(&document, sizes);
            assert!(
                chunks.iter().all(|chunk| chunk.header.is_none()),
                "{no_table}"
            );
        }
    }

    fn check(text: &str, sizes: Sizes) -> Result<(), TestCaseError> {
        let document = Document::of_markdown(text.to_owned());
        let chunks = cut(&document, sizes);
        let characters: Vec<char> = text.chars().collect();
        let mut covered = 0;
        for chunk in &chunks {
            let shown = &text[chunk.bytes.clone()];
            prop_assert_eq!(
                shown,
                characters[chunk.characters.clone()]
                    .iter()
                    .collect::<String>()
            );
            prop_assert!(shown.chars().count() <= sizes.limit_chars.max(1) && !shown.is_empty());
            prop_assert!(chunk.tokens > 0 && shown.trim() == shown);
            prop_assert!(
                text.get(covered..chunk.bytes.start)
                    .unwrap_or("")
                    .trim()
                    .is_empty()
            );
            prop_assert!(chunk.bytes.end > covered);
            covered = chunk.bytes.end;
        }
        prop_assert!(text[covered..].trim().is_empty());
        Ok(())
    }

    proptest! {
        #[test]
        fn chunks_are_exactly_their_places_and_leave_nothing_out(
            text in "(\\| a \\| b \\|\n\\|--\\|--\\|\n|\\| [a-z]{0,9} \\| é \\|\n|\\PC{0,12}|[a-я ]{1,30}|\n\n|\n# |\\. |[0-9a-zA-Zа-я🦀é\u{301}]{1,40} ){0,60}",
            limit_chars in 0_usize..80,
            overlap_chars in 0_usize..60,
        ) {
            check(&text, Sizes { limit_chars, overlap_chars })?;
        }
    }
}
