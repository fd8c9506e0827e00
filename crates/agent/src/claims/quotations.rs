//! Words in quotation marks.

use crate::library::quotes::Quotable;

/// Minimum number of words of a quotation; fewer are a name or a term.
const MIN_WORDS: usize = 4;

/// The quotations of a text: at least four words in quotation marks.
pub(super) fn quotations(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    std::iter::from_fn(move || {
        loop {
            let at = rest.find(is_opening)?;
            let opening = rest[at..].chars().next()?;
            let inside = &rest[at + opening.len_utf8()..];
            let Some(end) = inside.find(|c| closes(opening, c)) else {
                rest = inside;
                continue;
            };
            let words = inside[..end].trim();
            rest = inside[end..]
                .split_at(inside[end..].chars().next()?.len_utf8())
                .1;
            if words.split_whitespace().count() >= MIN_WORDS {
                return Some(words);
            }
        }
    })
}

fn is_opening(c: char) -> bool {
    matches!(c, '"' | '“' | '„' | '«')
}

fn closes(opening: char, c: char) -> bool {
    match opening {
        '“' => c == '”',
        '„' => matches!(c, '“' | '”'),
        '«' => c == '»',
        _ => c == '"',
    }
}

/// Whether one of the quotes has these words.
pub(super) fn is_in<'a>(words: &str, mut quotes: impl Iterator<Item = &'a str>) -> bool {
    let said = words.trim_end_matches(['.', ',', ';', '!', '?', '…']);
    quotes.any(|quote| Quotable::new(quote).find_words(said).is_some())
}
