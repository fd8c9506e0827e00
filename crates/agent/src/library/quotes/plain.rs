//! The plain form in which quotes and texts are compared, with the place of each of its characters in the text.

use std::ops::Range;

use unicode_normalization::{UnicodeNormalization, char::is_combining_mark};

/// Maximum length of the text and of the address of a Markdown link, characters.
const MAX_LINK_TEXT: usize = 300;
const MAX_ADDRESS: usize = 500;
/// Maximum number of marks that are composed with one letter.
const MAX_ACCENTS: usize = 16;

/// A text in its plain form.
pub(super) struct PlainText {
    pub(super) text: String,
    /// For each character of the plain form, its index in the text in characters, and how many of them it stands for.
    places: Vec<(u32, u8)>,
    /// The places of dashes that are no hyphens, in bytes, in order.
    dashes: Vec<usize>,
}

/// The text in its plain form.
pub(crate) fn plain(text: &str) -> String {
    PlainText::new(text).text
}

/// A plain text without the spaces and quotation marks around it.
pub(super) fn trimmed(plain: &str) -> &str {
    plain.trim_matches([' ', '"', '\''])
}

impl PlainText {
    pub(super) fn new(text: &str) -> Self {
        let chars: Vec<char> = text.chars().collect();
        let mut plain = Self {
            text: String::with_capacity(text.len()),
            places: Vec::with_capacity(chars.len()),
            dashes: Vec::new(),
        };
        let mut links = Links::default();
        let mut at = 0;
        while at < chars.len() {
            let taken = match skipped(&chars, at, &mut links) {
                0 => plain.push(&chars, at),
                marks => marks,
            };
            at += taken;
        }
        plain
    }

    /// The place of a range of the plain form, given in bytes, in characters of the text.
    pub(super) fn place_of(&self, range: Range<usize>) -> Option<Range<usize>> {
        let first = self.text[..range.start].chars().count();
        let last = first + self.text[range].chars().count().checked_sub(1)?;
        let (end, length) = *self.places.get(last)?;
        let begin = self.places.get(first)?.0;
        Some(usize::try_from(begin).ok()?..usize::try_from(end).ok()? + usize::from(length))
    }

    /// Whether there is a dash at this place, in bytes, which is no hyphen.
    pub(super) fn is_dash(&self, at: usize) -> bool {
        self.dashes.binary_search(&at).is_ok()
    }

    /// Adds the character at this index with the accents behind it. Returns how many characters of the text these are.
    fn push(&mut self, chars: &[char], at: usize) -> usize {
        let accents = chars[at + 1..].iter().take(MAX_ACCENTS);
        let taken = 1 + accents.take_while(|c| composes(**c)).count();
        if taken == 1 && chars[at].is_ascii() {
            self.push_char(chars[at], at, 1);
        } else {
            for c in chars[at..at + taken].iter().copied().nfc() {
                self.push_char(c, at, taken);
            }
        }
        taken
    }

    fn push_char(&mut self, c: char, at: usize, taken: usize) {
        let before = self.text.chars().next_back();
        let Some(plain) = plain_character(c, before) else {
            return;
        };
        if matches!(c, '‒' | '–' | '—' | '―') {
            self.dashes.push(self.text.len());
        }
        self.text.push(plain);
        let at = u32::try_from(at).unwrap_or(u32::MAX);
        self.places
            .push((at, u8::try_from(taken).unwrap_or(u8::MAX)));
    }
}

/// Whether a character joins the one before it: an accent, or a vowel or final of a Korean syllable.
fn composes(c: char) -> bool {
    !c.is_ascii() && (is_combining_mark(c) || matches!(c, '\u{1160}'..='\u{11ff}'))
}

fn plain_character(c: char, before: Option<char>) -> Option<char> {
    match c {
        // Invisible characters.
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}' | '\u{feff}' => None,
        space if space.is_whitespace() => (before.is_some() && before != Some(' ')).then_some(' '),
        '“' | '”' | '„' | '‟' | '«' | '»' | '″' | '＂' => Some('"'),
        '‘' | '’' | '‚' | '‛' | '‹' | '›' | '′' | '´' => Some('\''),
        '‐' | '‑' | '‒' | '–' | '—' | '―' | '−' => Some('-'),
        'ё' => Some('е'),
        'Ё' => Some('Е'),
        other => Some(other),
    }
}

/// The links whose text is being read: where their addresses begin and end.
#[derive(Default)]
struct Links {
    /// The next closing bracket of a link, and the end of its address.
    open: Vec<(usize, usize)>,
}

/// How many characters from here on are Markdown marks, which are left out.
fn skipped(chars: &[char], at: usize, links: &mut Links) -> usize {
    let before = at.checked_sub(1).map(|before| chars[before]);
    let next = chars.get(at + 1).copied();
    match chars[at] {
        '\\' if next.is_some_and(|c| c.is_ascii_punctuation()) => 1,
        '`' => 1,
        // `2*3` is a product.
        '*' if !(is_digit(before) && is_digit(next)) => 1,
        // `a_b` is a name.
        '_' if !(is_alphanumeric(before) && is_alphanumeric(next)) => 1,
        '~' if next == Some('~') => 2,
        '#' | '>' if begins_line(chars, at) => block_mark(chars, at),
        '-' | '*' | '+' if begins_line(chars, at) && next == Some(' ') => 1,
        '!' if next == Some('[') && link_at(chars, at + 1).is_some() => 1,
        '[' => match link_at(chars, at) {
            Some(link) => {
                links.open.push(link);
                1
            }
            None => 0,
        },
        ']' => match links.open.last() {
            Some((close, end)) if *close == at => {
                let length = end - at;
                links.open.pop();
                length
            }
            _ => 0,
        },
        _ => 0,
    }
}

fn is_digit(c: Option<char>) -> bool {
    c.is_some_and(|c| c.is_ascii_digit())
}

fn is_alphanumeric(c: Option<char>) -> bool {
    c.is_some_and(char::is_alphanumeric)
}

/// Whether only spaces and marks of quotes are before this place in its line.
fn begins_line(chars: &[char], at: usize) -> bool {
    let before = chars[..at].iter().rev().take(12);
    let last = before.clone().find(|c| !matches!(c, ' ' | '\t' | '>'));
    last.is_none_or(|c| *c == '\n') && (last.is_some() || at < 12)
}

/// The length of a heading's or quote's mark; 0 if it is none.
fn block_mark(chars: &[char], at: usize) -> usize {
    let mark = chars[at];
    let length = chars[at..].iter().take_while(|c| **c == mark).count();
    let ends = chars.get(at + length).is_none_or(|c| c.is_whitespace());
    match mark {
        '#' if length <= 6 && ends => length,
        '>' => length,
        _ => 0,
    }
}

/// The closing bracket of the link that begins here, and the end of its address.
fn link_at(chars: &[char], at: usize) -> Option<(usize, usize)> {
    let mut depth = 0;
    let mut close = None;
    for (place, c) in chars.iter().enumerate().skip(at).take(MAX_LINK_TEXT) {
        match c {
            '[' => depth += 1,
            ']' => depth -= 1,
            '\n' if chars.get(place + 1) == Some(&'\n') => return None,
            _ => {}
        }
        if depth == 0 {
            close = Some(place);
            break;
        }
    }
    let close = close?;
    if chars.get(close + 1) != Some(&'(') {
        return None;
    }
    let mut depth = 0;
    for (place, c) in chars.iter().enumerate().skip(close + 1).take(MAX_ADDRESS) {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            '\n' => return None,
            _ => {}
        }
        if depth == 0 {
            return Some((close, place + 1));
        }
    }
    None
}
