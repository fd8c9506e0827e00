//! Finds the citation marks of a Markdown text: `[n]` directly behind words, which is no index, interval, year or link.
//!
//! A mark is a number from 1 to 999 in square brackets, outside of code and of the text of links. Before it stands a
//! word, closing punctuation, a closing quotation mark or another mark, in the same line and at most a few spaces away.
//! `web/src/citation-marks.ts` has the same rules, and both are tested with the cases in `tests/citation_marks.json`.

use std::{collections::HashSet, ops::Range};

mod blocks;
mod inline;

pub use blocks::open_fence;

/// Maximum number of digits of a mark.
const MAX_DIGITS: usize = 3;
/// How far the text before a mark is looked at, characters.
const MAX_BEFORE: usize = 200;
/// Maximum number of marks behind one word.
const MAX_MARKS: usize = 16;
/// Maximum number of spaces between a word and its mark.
const MAX_SPACES: usize = 3;

/// A citation mark of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CitationMark {
    /// Its place in the text, in bytes.
    pub place: Range<usize>,
    /// The number of the source.
    pub number: usize,
}

/// The citation marks of a text, in order.
#[must_use]
pub fn citation_marks(text: &str) -> Vec<CitationMark> {
    if !text.contains('[') {
        return Vec::new();
    }
    let mut hidden = blocks::code_blocks(text);
    hidden.extend(inline::code_spans(text, &hidden));
    hidden.sort_by_key(|range| range.start);
    let links = inline::link_texts(text, &hidden);
    let defined = defined_numbers(text, &hidden);
    let outside = |at: usize, ranges: &[Range<usize>]| {
        let next = ranges.partition_point(|range| range.end <= at);
        ranges.get(next).is_none_or(|range| at < range.start)
    };
    let mut marks = Vec::new();
    for (at, _) in text.match_indices('[') {
        let Some(number) = number_at(&text[at..]) else {
            continue;
        };
        let end = at + digits_of(number) + 2;
        let refers = number_at(&text[end..]).is_some_and(|next| defined.contains(&next));
        if !defined.contains(&number)
            && !refers
            && outside(at, &hidden)
            && outside(at, &links)
            && is_citation(&text[..at], &text[end..])
        {
            let place = at..end;
            marks.push(CitationMark { place, number });
        }
    }
    marks
}

/// The numbers that a text cites, without duplicates, in order of first occurrence.
#[must_use]
pub fn cited_numbers(text: &str) -> Vec<usize> {
    let mut seen = HashSet::new();
    let numbers = citation_marks(text).into_iter().map(|mark| mark.number);
    numbers.filter(|number| seen.insert(*number)).collect()
}

/// The number in brackets with which the text begins.
fn number_at(text: &str) -> Option<usize> {
    let inside = text.strip_prefix('[')?;
    let digits = inside.bytes().take_while(u8::is_ascii_digit).count();
    let is_number = (1..=MAX_DIGITS).contains(&digits) && !inside.starts_with('0');
    (is_number && inside[digits..].starts_with(']'))
        .then(|| inside[..digits].parse().ok())
        .flatten()
}

fn digits_of(number: usize) -> usize {
    number.to_string().len()
}

/// The numbers that link definitions such as `[1]: https://…` give to addresses of the text itself.
fn defined_numbers(text: &str, hidden: &[Range<usize>]) -> HashSet<usize> {
    let mut defined = HashSet::new();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let indented = line.trim_start_matches(' ');
        if line.len() - indented.len() > 3 {
            continue;
        }
        let Some(number) = number_at(indented) else {
            continue;
        };
        let Some(rest) = indented[digits_of(number) + 2..].strip_prefix(':') else {
            continue;
        };
        let mut words = rest.trim().splitn(2, [' ', '\t']);
        let has_address = words.next().is_some_and(|address| !address.is_empty());
        let title = words.next().unwrap_or_default().trim_start();
        let is_code = hidden.iter().any(|range| range.contains(&start));
        if has_address && (title.is_empty() || title.starts_with(['"', '\'', '('])) && !is_code {
            defined.insert(number);
        }
    }
    defined
}

/// Whether a number in brackets between these texts of one paragraph is a citation.
fn is_citation(before: &str, after: &str) -> bool {
    let before = last_chars(before, MAX_BEFORE);
    let before = before.rsplit('\n').next().unwrap_or_default();
    let (before, is_attached) = before_marks(before);
    !continues(after, is_attached) && ends_words(before, is_attached)
}

/// The last characters of a text.
fn last_chars(text: &str, most: usize) -> &str {
    let begin = text
        .char_indices()
        .rev()
        .nth(most - 1)
        .map_or(0, |(at, _)| at);
    &text[begin..]
}

/// The text before the marks that directly precede this place, without spaces at its end, and whether there are none
/// between it and the first of the marks.
fn before_marks(mut before: &str) -> (&str, bool) {
    for _ in 0..MAX_MARKS {
        let words = before.trim_end_matches(is_space);
        let spaces = before[words.len()..].chars().count();
        if spaces > MAX_SPACES {
            return ("", false);
        }
        let parted = words.trim_end_matches([',', ';']);
        let earlier = match spaces {
            0 => words,
            _ => parted,
        };
        match mark_at_end(earlier) {
            Some(at) => before = &earlier[..at],
            None => return (words, spaces == 0),
        }
    }
    ("", false)
}

fn is_space(c: char) -> bool {
    matches!(c, ' ' | '\t' | '\u{a0}' | '\u{202f}' | '\u{3000}')
}

/// Where the number in brackets begins that ends the text.
fn mark_at_end(text: &str) -> Option<usize> {
    let inside = text.strip_suffix(']')?;
    let at = inside.rfind('[')?;
    number_at(&text[at..]).map(|_| at)
}

/// Whether what follows makes the brackets something else: a link, an index, the beginning of a name.
fn continues(after: &str, is_attached: bool) -> bool {
    let mut letters = after.chars();
    let first = letters.next();
    let second = letters.next();
    match first {
        Some('(' | '_') => true,
        Some('=') => is_attached,
        Some(' ') => is_attached && second == Some('='),
        Some('.') => is_attached && second.is_some_and(|c| c.is_ascii_alphabetic() || c == '_'),
        Some(c) => is_word(c) && !is_unspaced(c),
        None => false,
    }
}

/// Whether the line up to a mark ends with words that a mark may follow.
fn ends_words(before: &str, is_attached: bool) -> bool {
    if is_list_marker(before) {
        return false;
    }
    let (inner, was_wrapped) = without_closers(before);
    let is_attached = is_attached && !was_wrapped;
    let Some(last) = inner.chars().next_back() else {
        return false;
    };
    if was_wrapped && is_space(last) {
        // What was taken for a closing mark opens something.
        return false;
    }
    if is_closing(last) || is_unspaced(last) {
        return true;
    }
    is_word(last) && (!is_attached || ends_prose(inner))
}

/// The text without the marks and tags that may close around its last word, and whether there were any.
fn without_closers(before: &str) -> (&str, bool) {
    let mut inner = before;
    loop {
        let fewer = inner.trim_end_matches([
            '*', '_', '~', '"', '\'', '`', '+', '#', '$', '“', '‘', '²', '³', '°', '®', '™', '©',
        ]);
        let fewer = without_closing_tag(fewer);
        if fewer.len() == inner.len() {
            return (inner, inner.len() < before.len());
        }
        inner = fewer;
    }
}

/// The text without a tag such as `</b>` at its end.
fn without_closing_tag(text: &str) -> &str {
    let tag = text
        .strip_suffix('>')
        .and_then(|open| open.rfind("</").map(|at| (at, &open[at + 2..])));
    match tag {
        Some((at, name)) if !name.is_empty() && name.bytes().all(|b| b.is_ascii_alphanumeric()) => {
            &text[..at]
        }
        _ => text,
    }
}

/// Whether the last word, which has a bracket directly behind it, is one of prose: not a variable, a name with digits or
/// an address.
fn ends_prose(text: &str) -> bool {
    let word = text
        .char_indices()
        .rev()
        .take_while(|(_, c)| is_word(*c) || *c == '_')
        .last()
        .map_or("", |(at, _)| &text[at..]);
    let token = text.rsplit(char::is_whitespace).next().unwrap_or_default();
    if token.contains("://") || token.starts_with("www.") {
        return false;
    }
    let digits = word.chars().filter(|c| c.is_numeric()).count();
    let letters = word.chars().count() - digits;
    !word.contains('_') && (letters == 0 || (digits == 0 && letters > 1))
}

/// Whether a line so far is only the marker of a list item.
fn is_list_marker(line: &str) -> bool {
    let marker = line.trim_start_matches([' ', '\t', '>']);
    let digits = marker.bytes().take_while(u8::is_ascii_digit).count();
    (1..=9).contains(&digits) && matches!(&marker[digits..], "." | ")")
}

fn is_closing(c: char) -> bool {
    matches!(
        c,
        '.' | ',' | ';' | '!' | '?' | '…' | ')' | '}' | '»' | '”' | '’' | '›' | '%' | '‰'
    ) || matches!(
        c,
        '。' | '，' | '、' | '；' | '！' | '？' | '）' | '】' | '」' | '』' | '》'
    ) || matches!(c, '؟' | '،' | '؛' | '।' | '€' | '£' | '¥' | '₽' | '₴' | '₹')
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric()
        || matches!(c, '\u{300}'..='\u{36f}' | '\u{610}'..='\u{61a}' | '\u{64b}'..='\u{65f}')
}

/// Whether a character is of a script that writes words without spaces.
#[must_use]
pub fn is_unspaced(c: char) -> bool {
    matches!(
        c,
        '\u{e00}'..='\u{eff}'
            | '\u{1000}'..='\u{109f}'
            | '\u{1100}'..='\u{11ff}'
            | '\u{1780}'..='\u{17ff}'
            | '\u{3005}'..='\u{3007}'
            | '\u{3040}'..='\u{318f}'
            | '\u{3400}'..='\u{4dbf}'
            | '\u{4e00}'..='\u{9fff}'
            | '\u{ac00}'..='\u{d7af}'
            | '\u{f900}'..='\u{faff}'
            | '\u{20000}'..='\u{3ffff}'
    )
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;

    use super::*;

    /// A text, and its marks as `number@character`.
    #[derive(Deserialize)]
    struct Case {
        text: String,
        marks: Vec<String>,
    }

    #[test]
    fn reads_the_shared_cases() {
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../tests/citation_marks.json")).unwrap();
        assert!(cases.len() > 80, "{}", cases.len());
        let mut wrong = Vec::new();
        for Case { text, marks } in cases {
            let found: Vec<String> = citation_marks(&text)
                .into_iter()
                .map(|CitationMark { place, number }| {
                    assert_eq!(&text[place.clone()], format!("[{number}]"));
                    format!("{number}@{}", text[..place.start].chars().count())
                })
                .collect();
            if found != marks {
                wrong.push(format!("{text:?}: {found:?} instead of {marks:?}"));
            }
        }
        assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    }

    #[test]
    fn each_number_is_told_once() {
        assert_eq!(cited_numbers("So [2]. Or [1][2], not [3"), [2, 1]);
    }

    #[test]
    fn hostile_texts_are_read() {
        for piece in [
            "[1]",
            "[",
            "`",
            "[[1]](",
            "`` ` ",
            "\\[",
            "> ",
            "a [1",
            "](",
            "~~~\n",
            "[1]:a\n",
            "\n    [1]",
        ] {
            let text = piece.repeat(60_000 / piece.len());
            assert!(citation_marks(&text).len() <= text.len());
        }
        // Runs of backticks of every length: none closes another.
        let runs: String = (1..600).map(|length| "`".repeat(length) + " ").collect();
        assert!(citation_marks(&(runs + "so [1]")).len() <= 1);
    }
}
