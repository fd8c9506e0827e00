//! Splits texts into words, numbers and names, as they stand.

use folding::{is_apostrophe, is_invisible, is_mark};

/// A part of a text that is a term.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Piece<'a> {
    /// A word or a number.
    Word(&'a str),
    /// Letters in a script without spaces between words.
    Unspaced(&'a str),
    /// An identifier whose parts are pieces, too.
    Joined(&'a str),
    /// A pictogram.
    Symbol(&'a str),
}

/// Maximum length of an identifier, characters.
const NAME_LIMIT_CHARS: usize = 64;

/// Calls `each` with every piece of a text, in order.
pub(super) fn pieces<'a>(text: &'a str, each: &mut impl FnMut(Piece<'a>)) {
    let mut rest = text;
    while let Some(start) = rest.find(|char: char| char.is_alphanumeric() || is_symbol(char)) {
        rest = &rest[start..];
        let length = match rest.chars().next() {
            Some(symbol) if is_symbol(symbol) => {
                each(Piece::Symbol(&rest[..symbol.len_utf8()]));
                symbol.len_utf8()
            }
            _ => {
                let length = compound_length(rest);
                compound(&rest[..length], each);
                length
            }
        };
        rest = &rest[length..];
    }
}

/// Compound words such as `max_retries`, `INV-2024-07` or `café-bar`.
fn compound<'a>(text: &'a str, each: &mut impl FnMut(Piece<'a>)) {
    let mut parts = 0;
    let mut has_unspaced = false;
    let mut has_short = false;
    for word in text.split(|char| !is_word_char(char) && char != HEBREW_QUOTE) {
        for run in Runs(word) {
            if run.chars().next().is_some_and(is_unspaced) {
                has_unspaced = true;
                each(Piece::Unspaced(run));
                continue;
            }
            for part in CaseParts(run).filter(|part| part.contains(char::is_alphanumeric)) {
                parts += 1;
                has_short |= part.chars().nth(2).is_none();
                each(Piece::Word(part));
            }
        }
    }
    if parts < 2 || has_unspaced || text.chars().nth(NAME_LIMIT_CHARS).is_some() {
        return;
    }
    let is_name = text.contains(['_', '@', '/'])
        || text.contains(|char: char| char.is_ascii_digit())
        || !text.contains(|char| !is_word_char(char))
        || is_dotted(text)
        // “e-mail” is also written “email”.
        || (parts == 2 && has_short && text.contains(is_hyphen));
    if is_name {
        each(Piece::Joined(text));
    }
}

pub(super) fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || is_mark(char) || is_invisible(char) || is_apostrophe(char)
}

fn is_hyphen(char: char) -> bool {
    matches!(char, '-' | '\u{2010}' | '\u{2011}')
}

/// Hebrew abbreviations have a quotation mark before the last letter.
const HEBREW_QUOTE: char = '"';

/// The length of the compound at the beginning: a word with everything joined to it without spaces.
fn compound_length(text: &str) -> usize {
    let mut end = 0;
    let mut last = '\0';
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let next = chars.peek().map_or('\0', |(_, next)| *next);
        let joins = is_hyphen(char)
            || is_apostrophe(char)
            || matches!(char, '_' | '.' | '@' | '/' | ':')
            || (char == HEBREW_QUOTE && is_hebrew(last) && is_hebrew(next));
        let is_part = char.is_alphanumeric() || is_mark(char) || is_invisible(char);
        if !(is_part || (joins && next.is_alphanumeric())) {
            break;
        }
        last = char;
        end = at + char.len_utf8();
    }
    end
}

fn is_hebrew(char: char) -> bool {
    matches!(char, '\u{5d0}'..='\u{5ea}')
}

/// `api.v2.example`, but not a sentence that ends.where another begins.
fn is_dotted(text: &str) -> bool {
    text.contains('.') && !text.contains(|char: char| char.is_uppercase())
}

/// The runs of a word that are in a script with spaces, or in one without.
struct Runs<'a>(&'a str);

impl<'a> Iterator for Runs<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0;
        let kind = is_unspaced(text.chars().next()?);
        let ends = |char: char| char.is_alphanumeric() && is_unspaced(char) != kind;
        let (run, rest) = text.split_at(text.find(ends).unwrap_or(text.len()));
        self.0 = rest;
        Some(run)
    }
}

/// The parts of `HTTPServerError2`: HTTP, Server, Error2.
struct CaseParts<'a>(&'a str);

impl<'a> Iterator for CaseParts<'a> {
    type Item = &'a str;

    fn next(&mut self) -> Option<&'a str> {
        let text = self.0;
        if text.is_empty() {
            return None;
        }
        let mut before: Option<char> = None;
        // Marks and invisible characters belong to the letter before them.
        let letters = |char: &(usize, char)| !is_mark(char.1) && !is_invisible(char.1);
        let mut chars = text.char_indices().filter(letters).enumerate().peekable();
        let mut end = text.len();
        while let Some((count, (at, char))) = chars.next() {
            let next = chars.peek().map(|(_, (_, next))| *next);
            let rises = before.is_some_and(char::is_lowercase) && char.is_uppercase();
            let word_begins = before.is_some_and(char::is_uppercase)
                && char.is_uppercase()
                && next.is_some_and(char::is_lowercase);
            // “PDFs” and “McDonald” are not split, since a part would be a single letter.
            if count > 1 && (rises || (word_begins && text[at..].chars().count() > 2)) {
                end = at;
                break;
            }
            before = Some(char);
        }
        self.0 = &text[end..];
        Some(&text[..end])
    }
}

/// Whether the character belongs to a script without spaces between words, or is Korean, whose spaces separate phrases.
#[must_use]
pub fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1100}'..='\u{11ff}' |
        '\u{1780}'..='\u{17ff}' | '\u{3005}'..='\u{3007}' | '\u{3040}'..='\u{30ff}' | '\u{3130}'..='\u{318f}' |
        '\u{31f0}'..='\u{31ff}' | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7ff}' |
        '\u{f900}'..='\u{faff}' | '\u{ff66}'..='\u{ffdc}' | '\u{20000}'..='\u{3ffff}')
}

/// Pictograms, without the modifiers of skin colours.
fn is_symbol(char: char) -> bool {
    matches!(char, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1f3fa}' | '\u{1f400}'..='\u{1faff}')
        && !char.is_alphanumeric()
}
