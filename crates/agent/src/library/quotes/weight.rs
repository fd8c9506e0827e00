//! Whether a quote is long enough to show something: four words, or a figure with its unit.

use domain::citation_marks::is_unspaced;

/// Minimum number of words of a quote without a figure.
const MIN_WORDS: usize = 4;
/// Characters that count as one word in scripts without spaces.
const CHARS_OF_WORD: usize = 2;

/// Whether a plain quote has enough words, or a figure with its unit.
pub(super) fn has_weight(quote: &str) -> bool {
    words(quote) >= MIN_WORDS || has_figure_with_unit(quote)
}

fn words(quote: &str) -> usize {
    let unspaced = quote.chars().filter(|c| is_unspaced(*c)).count();
    let parted = quote.split(|c: char| !(c.is_alphanumeric() || is_joint(c)) || is_unspaced(c));
    let spaced = parted.filter(|word| word.contains(char::is_alphanumeric));
    spaced.count() + unspaced / CHARS_OF_WORD
}

fn is_joint(c: char) -> bool {
    matches!(c, '\'' | '-' | '.' | ',' | ':' | '/' | '_')
}

/// Whether a number has a unit: a sign, or a word behind it.
fn has_figure_with_unit(quote: &str) -> bool {
    let chars: Vec<char> = quote.chars().collect();
    let is_digit = |at: usize| chars.get(at).is_some_and(char::is_ascii_digit);
    (0..chars.len()).any(|at| {
        let begins = is_digit(at) && at.checked_sub(1).is_some_and(|at| is_currency(chars[at]));
        let ends = is_digit(at) && !is_digit(at + 1);
        begins || (ends && is_unit(&chars[at + 1..]))
    })
}

fn is_unit(after: &[char]) -> bool {
    let after = match after {
        [' ' | '-', rest @ ..] => rest,
        all => all,
    };
    after
        .first()
        .is_some_and(|c| c.is_alphabetic() || matches!(c, '%' | '‰' | '°') || is_currency(*c))
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₽' | '₴' | '₹')
}
