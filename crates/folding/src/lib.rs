//! Folds text for comparison, so that two spellings of the same words are equal. Everything that searches uses this one.
//!
//! - [`normalize`] removes differences that carry no meaning in any language: Unicode normalization (NFKC), case,
//!   invisible characters, optional vowel signs, the script of digits. Its result is fit for a stemmer.
//! - [`fold`] also removes accents and variants of letters, which people leave out when they type: `Tiếng` and `tieng`,
//!   `Łódź` and `lodz`. Letters that only look accented to others stay: й, ї, ў, が.
//! - [`Folded`] is a folded text that knows which part of the original each of its parts comes from.
//!
//! Depends on no language: Turkish `I` becomes `i`.

mod clusters;
mod letters;

use std::{borrow::Cow, ops::Range};

use clusters::{Level, clusters};

pub use letters::{is_apostrophe, is_invisible, is_mark};

/// The text without differences of encoding, case and optional marks; accents stay.
#[must_use]
pub fn normalize(text: &str) -> Cow<'_, str> {
    at_level(text, Level::Normalized)
}

/// The text for comparison: [`normalize`], and without accents and variants of letters.
#[must_use]
pub fn fold(text: &str) -> Cow<'_, str> {
    at_level(text, Level::Folded)
}

fn at_level(text: &str, level: Level) -> Cow<'_, str> {
    if text.is_ascii() {
        return if text.bytes().any(|byte| byte.is_ascii_uppercase()) {
            Cow::Owned(text.to_ascii_lowercase())
        } else {
            Cow::Borrowed(text)
        };
    }
    let mut folded = String::with_capacity(text.len());
    for cluster in clusters(text) {
        clusters::push(&text[cluster], level, &mut folded);
    }
    if folded == text {
        Cow::Borrowed(text)
    } else {
        Cow::Owned(folded)
    }
}

/// A folded text with the positions of its parts in the original.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folded {
    text: String,
    /// The start in the folded text and the range in the original of each letter with its marks. Empty if they are the
    /// same, as in ASCII.
    places: Vec<(usize, Range<usize>)>,
}

impl Folded {
    /// Folds a text.
    #[must_use]
    pub fn of(text: &str) -> Self {
        if text.is_ascii() {
            return Self {
                text: text.to_ascii_lowercase(),
                places: Vec::new(),
            };
        }
        let mut folded = String::with_capacity(text.len());
        let mut places = Vec::new();
        for cluster in clusters(text) {
            let start = folded.len();
            clusters::push(&text[cluster.clone()], Level::Folded, &mut folded);
            if folded.len() > start {
                places.push((start, cluster));
            }
        }
        Self {
            text: folded,
            places,
        }
    }

    /// The folded text.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the original that a part of the folded text comes from, in bytes: whole letters with their marks.
    #[must_use]
    pub fn original(&self, folded: Range<usize>) -> Range<usize> {
        if self.places.is_empty() {
            return folded;
        }
        let of = |at: usize| {
            let after = self.places.partition_point(|(start, _)| *start <= at);
            self.places.get(after.saturating_sub(1))
        };
        let start = of(folded.start).map_or(0, |(_, place)| place.start);
        let last = folded.end.saturating_sub(1).max(folded.start);
        let end = of(last).map_or(start, |(_, place)| place.end);
        start..end
    }
}

#[cfg(test)]
mod tests;
