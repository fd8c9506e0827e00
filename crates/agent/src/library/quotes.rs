//! Checks whether a text contains a quote verbatim, ignoring differences in white space and quotation marks.

use std::ops::Range;

/// Minimum length of a quote, characters without white space.
const MIN_CHARS: usize = 8;

/// A text prepared for finding quotes.
pub(crate) struct Quotable<'a> {
    text: &'a str,
    plain: String,
    /// For each character of `plain`, its index in the text, in characters.
    places: Vec<usize>,
}

impl<'a> Quotable<'a> {
    pub(crate) fn new(text: &'a str) -> Self {
        let mut plain = String::with_capacity(text.len());
        let mut places = Vec::new();
        for (at, character) in text.chars().enumerate() {
            if let Some(character) = plain_character(character, plain.chars().next_back()) {
                plain.push(character);
                places.push(at);
            }
        }
        Self {
            text,
            plain,
            places,
        }
    }

    /// The position of the quote in characters of the text, and the words as written there.
    pub(crate) fn find(&self, quote: &str) -> Option<(Range<usize>, String)> {
        let quote = plain(quote);
        let quote = quote.trim_matches([' ', '"', '\'']);
        if quote.chars().filter(|c| *c != ' ').count() < MIN_CHARS {
            return None;
        }
        let begin = self.plain.find(quote)?;
        let first = self.plain[..begin].chars().count();
        let last = first + quote.chars().count() - 1;
        let place = *self.places.get(first)?..self.places.get(last)? + 1;
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
}

/// The text with normalized white space and quotation marks.
pub(crate) fn plain(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for character in text.chars() {
        plain.extend(plain_character(character, plain.chars().next_back()));
    }
    plain
}

fn plain_character(character: char, before: Option<char>) -> Option<char> {
    match character {
        // Invisible characters.
        '\u{ad}' | '\u{200b}'..='\u{200d}' | '\u{2060}' | '\u{feff}' => None,
        space if space.is_whitespace() => (before.is_some() && before != Some(' ')).then_some(' '),
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '＂' => Some('"'),
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' | '`' | '´' => Some('\''),
        other => Some(other),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, quote: &str, expected: Option<(Range<usize>, &str)>) {
        let found = Quotable::new(text).find(quote);
        assert_eq!(
            found,
            expected.map(|(place, words)| (place, words.to_owned())),
            "{quote:?} in {text:?}"
        );
    }

    #[test]
    fn only_white_space_and_quotation_marks_may_differ() {
        let text = "Вот.  Она сказала: «Луна\n   далеко» — и ушла.";
        check(
            text,
            "Она сказала: \"Луна далеко\"",
            Some((6..34, "Она сказала: «Луна далеко")),
        );
        check(
            "a\u{a0}b  \u{ad}cdefghijk",
            "“a b cdefghijk”",
            Some((0..15, "a b \u{ad}cdefghijk")),
        );
        check("The moon is far away.", "The Moon is far away.", None);
        check("The moon is far away.", "The moon is very far away.", None);
        check("The moon is far away.", "moon ... away", None);
        check("The moon is far away.", "The", None);
        check("The moon is far away.", "  ", None);
        check("", "The moon is far", None);
    }
}
