//! Whether a part of a plain text begins and ends at the edges of words and outside of numbers.

use std::ops::Range;

use domain::citation_marks::is_unspaced;
use unicode_normalization::char::is_combining_mark;

use super::plain::PlainText;

/// Whether the part at `place`, in bytes, is made of whole words and whole numbers of the text.
pub(super) fn begins_and_ends_words(plain: &PlainText, place: &Range<usize>) -> bool {
    is_edge(plain, place.start) && is_edge(plain, place.end)
}

/// Whether a text can be cut here without cutting a word or a number.
fn is_edge(plain: &PlainText, at: usize) -> bool {
    let text = plain.text.as_str();
    let mut before = text[..at].chars().rev();
    let mut after = text[at..].chars();
    let (Some(left), Some(right)) = (before.next(), after.next()) else {
        return true;
    };
    let further_left = before.next();
    let further_right = after.next();
    let joins = |one: char, mark: usize, other: Option<char>| {
        text[mark..].starts_with(['-', '\'', '_'])
            && !plain.is_dash(mark)
            && is_letter(one)
            && other.is_some_and(is_letter)
    };
    // Within a word: `in|effective`, `non|-effective`, `don|'t`.
    if is_letter(left) && is_letter(right) && !is_unspaced(left) && !is_unspaced(right) {
        return false;
    }
    let mark_before = at - left.len_utf8();
    if joins(left, at, further_right)
        || further_left.is_some_and(|c| joins(c, mark_before, Some(right)))
    {
        return false;
    }
    !is_in_number(text, at)
}

fn is_letter(c: char) -> bool {
    c.is_alphanumeric() || is_combining_mark(c)
}

/// Whether this place is within a number, or between a number and its sign: `12|,500`, `3.|7`, `2| 500`, `-|40`, `7|%`.
fn is_in_number(text: &str, at: usize) -> bool {
    let mut before = text[..at].chars().rev();
    let mut after = text[at..].chars();
    let (Some(left), Some(right)) = (before.next(), after.next()) else {
        return false;
    };
    let further_left = before.next().unwrap_or(' ');
    let further_right = after.next().unwrap_or(' ');
    let is_digit = |c: char| c.is_numeric() && !is_unspaced(c);
    match (left, right) {
        (mark, digit) if is_digit(digit) && is_separator(mark) => {
            is_digit(further_left) || mark == '-' && !is_letter(further_left)
        }
        (digit, mark) if is_digit(digit) && is_separator(mark) => is_digit(further_right),
        (sign, digit) if is_digit(digit) && is_currency(sign) => true,
        (digit, ' ') if is_digit(digit) => {
            matches!(further_right, '%' | '‰' | '°') || is_in_group(text, at)
        }
        (digit, sign) if is_digit(digit) => {
            matches!(sign, '%' | '‰' | '°' | '^') || is_currency(sign)
        }
        ('^', _) => true,
        (' ', digit) if is_digit(digit) => is_in_group(text, at - 1),
        (' ', '%' | '‰' | '°') => is_digit(further_left),
        _ => false,
    }
}

/// Marks that stand within numbers, dates and times.
fn is_separator(c: char) -> bool {
    matches!(c, '.' | ',' | ':' | '/' | '-' | '\'')
}

fn is_currency(c: char) -> bool {
    matches!(c, '$' | '€' | '£' | '¥' | '₽' | '₴' | '₹')
}

/// Whether a space here parts groups of three digits, as in `2 500`.
fn is_in_group(text: &str, at: usize) -> bool {
    let digits = |text: &str, backwards: bool| match backwards {
        true => text
            .bytes()
            .rev()
            .take(5)
            .take_while(u8::is_ascii_digit)
            .count(),
        false => text.bytes().take(5).take_while(u8::is_ascii_digit).count(),
    };
    text[at..].starts_with(' ')
        && (1..=3).contains(&digits(&text[..at], true))
        && digits(&text[at + 1..], false) == 3
}
