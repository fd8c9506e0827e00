//! Checks whether a text contains a quote verbatim. A quote begins and ends at the edges of words and outside of numbers,
//! and may differ from the text only in white space, quotation marks, Markdown marks, dashes, ё/е, the composition of
//! accents, and the case of its first letter.

use std::ops::Range;

mod edges;
mod plain;
mod weight;

use edges::begins_and_ends_words;
pub(crate) use plain::plain;
use plain::{PlainText, trimmed};
use weight::has_weight;

/// Minimum length of words that are located as evidence, characters without white space.
const MIN_CHARS: usize = 8;
/// Maximum number of places tried for one quote: each but the last cuts a word or a number.
const MAX_TRIES: usize = 10_000;

/// A text prepared for finding quotes.
pub(crate) struct Quotable<'a> {
    text: &'a str,
    plain: PlainText,
}

impl<'a> Quotable<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        Self {
            text,
            plain: PlainText::new(text),
        }
    }

    /// The position of a quote in characters of the text, and the words as written there. `None` if the text does not
    /// contain it, or if it is too short to show anything.
    pub(crate) fn find(&self, quote: &str) -> Option<(Range<usize>, String)> {
        let quote = plain(quote);
        let quote = trimmed(&quote);
        has_weight(quote).then(|| self.locate(quote)).flatten()
    }

    /// Like [`Quotable::find`], also for a few words such as a name.
    pub(crate) fn find_words(&self, words: &str) -> Option<(Range<usize>, String)> {
        let words = plain(words);
        let words = trimmed(&words);
        let is_long = words.chars().filter(|c| *c != ' ').count() >= MIN_CHARS;
        is_long.then(|| self.locate(words)).flatten()
    }

    fn locate(&self, quote: &str) -> Option<(Range<usize>, String)> {
        let found = self
            .first_match(quote)
            .or_else(|| self.first_match(&with_other_case(quote)?))?;
        let place = self.plain.place_of(found)?;
        let words: String = self
            .text
            .chars()
            .skip(place.start)
            .take(place.len())
            .collect();
        Some((
            place,
            words.split_whitespace().collect::<Vec<_>>().join(" "),
        ))
    }

    /// The first place in the plain text that has the quote as whole words, in bytes.
    fn first_match(&self, quote: &str) -> Option<Range<usize>> {
        let text = self.plain.text.as_str();
        let mut from = 0;
        for _ in 0..MAX_TRIES {
            let at = from + text[from..].find(quote)?;
            let place = at..at + quote.len();
            if begins_and_ends_words(&self.plain, &place) {
                return Some(place);
            }
            from = at + text[at..].chars().next()?.len_utf8();
        }
        None
    }
}

/// The quote with its first letter in the other case; `None` if it has only one.
fn with_other_case(quote: &str) -> Option<String> {
    let first = quote.chars().next()?;
    let other: String = match first.is_lowercase() {
        true => first.to_uppercase().collect(),
        false => first.to_lowercase().collect(),
    };
    (other != first.to_string()).then(|| other + &quote[first.len_utf8()..])
}

#[cfg(test)]
mod tests;
