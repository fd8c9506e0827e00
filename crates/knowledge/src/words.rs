//! Tokenizes text into comparable terms: stemmed words, numbers, and identifiers both whole and in parts.
//!
//! The language is chosen by each word's script, so that queries and documents are always treated alike: Cyrillic words
//! are stemmed as Russian, Latin ones as English, and scripts without spaces are split into character bigrams.

mod stop;

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use stop::is_common;

/// Maximum length of a word; longer ones are cut, as they are mostly hashes and encoded files that are not searched
/// for.
const WORD_LIMIT_CHARS: usize = 64;

/// Extracts terms from texts.
pub struct Terms {
    english: Stemmer,
    russian: Stemmer,
}

impl std::fmt::Debug for Terms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Terms")
    }
}

impl Default for Terms {
    fn default() -> Self {
        Self {
            english: Stemmer::create(Algorithm::English),
            russian: Stemmer::create(Algorithm::Russian),
        }
    }
}

/// A term of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term<'a> {
    /// The normalized form for comparison.
    pub text: &'a str,
    /// The word with its ending.
    pub word: &'a str,
    /// Whether it is an identifier whose parts are also terms.
    pub is_joined: bool,
    /// Whether it is a stop word.
    pub is_common: bool,
}

impl Terms {
    /// Calls `each` with every term of a text, in order.
    pub fn of(&self, text: &str, mut each: impl FnMut(Term<'_>)) {
        let mut rest = text;
        while let Some(start) = rest.find(char::is_alphanumeric) {
            let length = compound_length(&rest[start..]);
            self.compound(&rest[start..start + length], &mut each);
            rest = &rest[start + length..];
        }
    }

    /// The terms of a text as a list.
    #[must_use]
    pub fn list(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.of(text, |term| terms.push(term.text.to_owned()));
        terms
    }

    /// Compound words such as `max_retries`, `INV-2024-07` or `café-bar`.
    fn compound(&self, text: &str, each: &mut impl FnMut(Term<'_>)) {
        let mut parts = 0;
        let mut is_name = false;
        for word in text
            .split(|char: char| !is_word_char(char))
            .filter(|word| !word.is_empty())
        {
            for part in CaseParts(word) {
                parts += 1;
                self.word(part, each);
            }
        }
        if parts > 1 {
            is_name =
                text.contains(['_', '@', '/']) || text.contains(|char: char| char.is_ascii_digit());
            is_name |= !text.contains(|char: char| !is_word_char(char)) || is_dotted(text);
        }
        if is_name && text.chars().count() <= WORD_LIMIT_CHARS {
            let joined: String = text
                .chars()
                .filter(|char| is_word_char(*char))
                .flat_map(char::to_lowercase)
                .collect();
            each(Term {
                text: &joined,
                word: &joined,
                is_joined: true,
                is_common: false,
            });
        }
    }

    fn word(&self, word: &str, each: &mut impl FnMut(Term<'_>)) {
        if word.chars().any(is_unspaced) {
            return pairs(word, each);
        }
        let folded = fold(word);
        let is_common = is_common(&folded);
        let stemmed = match folded.chars().find(|char| char.is_alphabetic()) {
            Some(first) if first.is_ascii() => self.english.stem(&folded),
            Some('а'..='я') => self.russian.stem(&folded),
            _ => Cow::Borrowed(folded.as_str()),
        };
        each(Term {
            text: &stemmed,
            word: &folded,
            is_joined: false,
            is_common,
        });
    }
}

fn is_word_char(char: char) -> bool {
    char.is_alphanumeric() || is_mark(char) || char == '\'' || char == '’'
}

/// Combining accents and vowel signs.
fn is_mark(char: char) -> bool {
    matches!(char, '\u{300}'..='\u{36f}' | '\u{591}'..='\u{5c7}' | '\u{64b}'..='\u{65f}' | '\u{900}'..='\u{903}' |
        '\u{93a}'..='\u{94f}' | '\u{200c}' | '\u{200d}')
}

/// The length of the compound at the beginning: a word with everything joined to it without spaces.
fn compound_length(text: &str) -> usize {
    let mut end = 0;
    let mut chars = text.char_indices().peekable();
    while let Some((at, char)) = chars.next() {
        let joins = matches!(
            char,
            '_' | '-' | '.' | '@' | '/' | ':' | '\'' | '’' | '\u{2010}' | '\u{2011}'
        );
        let goes_on = chars.peek().is_some_and(|(_, next)| next.is_alphanumeric());
        if !(char.is_alphanumeric() || is_mark(char) || (joins && goes_on)) {
            break;
        }
        end = at + char.len_utf8();
    }
    end
}

/// `api.v2.example`, but not a sentence that ends.where another begins.
fn is_dotted(text: &str) -> bool {
    text.contains('.') && !text.contains(|char: char| char.is_uppercase())
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
        let mut chars = text.char_indices().peekable();
        let mut end = text.len();
        while let Some((at, char)) = chars.next() {
            let next = chars.peek().map(|(_, next)| *next);
            let rises = before.is_some_and(char::is_lowercase) && char.is_uppercase();
            let word_begins = before.is_some_and(char::is_uppercase)
                && char.is_uppercase()
                && next.is_some_and(char::is_lowercase);
            // “PDFs” and “McDonald” are not split, since a part would be a single letter.
            if at > 1 && (rises || (word_begins && text[at..].chars().count() > 2)) {
                end = at;
                break;
            }
            before = Some(char);
        }
        self.0 = &text[end..];
        Some(&text[..end])
    }
}

/// Lower case without accents and apostrophes; ё becomes е, as most people write it.
fn fold(word: &str) -> String {
    let word = word
        .strip_suffix("'s")
        .or_else(|| word.strip_suffix("’s"))
        .unwrap_or(word);
    let mut folded = String::with_capacity(word.len());
    for char in word
        .chars()
        .take(WORD_LIMIT_CHARS)
        .flat_map(char::to_lowercase)
    {
        match char {
            '\'' | '’' | '\u{300}'..='\u{36f}' | '\u{200c}' | '\u{200d}' => {}
            'à'..='å' | 'ā' | 'ă' | 'ą' => folded.push('a'),
            'ç' | 'ć' | 'č' => folded.push('c'),
            'è'..='ë' | 'ē' | 'ę' | 'ě' => folded.push('e'),
            'ì'..='ï' | 'ī' => folded.push('i'),
            'ñ' | 'ń' | 'ň' => folded.push('n'),
            'ò'..='ö' | 'ø' | 'ō' | 'ő' => folded.push('o'),
            'ù'..='ü' | 'ū' | 'ů' | 'ű' => folded.push('u'),
            'ý' | 'ÿ' => folded.push('y'),
            'ś' | 'š' => folded.push('s'),
            'ź' | 'ż' | 'ž' => folded.push('z'),
            'ł' => folded.push('l'),
            'ß' => folded.push_str("ss"),
            'æ' => folded.push_str("ae"),
            'œ' => folded.push_str("oe"),
            'ё' => folded.push('е'),
            char => folded.push(char),
        }
    }
    folded
}

/// Whether the character belongs to a script without spaces between words.
#[must_use]
pub fn is_unspaced(char: char) -> bool {
    matches!(char, '\u{e00}'..='\u{eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' |
        '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

fn pairs(word: &str, each: &mut impl FnMut(Term<'_>)) {
    let chars: Vec<char> = word.chars().flat_map(char::to_lowercase).collect();
    let mut pair = String::new();
    for window in chars.windows(chars.len().min(2)) {
        pair.clear();
        pair.extend(window);
        each(Term {
            text: &pair,
            word: &pair,
            is_joined: false,
            is_common: false,
        });
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(text: &str, expected: &[&str]) {
        assert_eq!(Terms::default().list(text), expected, "{text}");
    }

    #[test]
    fn words_lose_their_endings() {
        check(
            "Running runners ran, connections connected.",
            &["run", "runner", "ran", "connect", "connect"],
        );
        check(
            "договоры договоров ДОГОВОРОМ",
            &["договор", "договор", "договор"],
        );
        check("Ёлки и елка", &["елк", "и", "елк"]);
        check(
            "Café naïve Müller's don't",
            &["cafe", "naiv", "muller", "dont"],
        );
        check("e\u{301}te\u{301}", &["ete"]);
        check("the wing-body", &["the", "wing", "bodi"]);
    }

    #[test]
    fn names_and_numbers_are_found_whole_and_in_parts() {
        check("max_retries", &["max", "retri", "maxretries"]);
        check(
            "parseHttpHeader",
            &["pars", "http", "header", "parsehttpheader"],
        );
        check("HTTPServer PDFs", &["http", "server", "httpserver", "pdfs"]);
        check("INV-2024-07", &["inv", "2024", "07", "inv202407"]);
        check("v1.2.3", &["v1", "2", "3", "v123"]);
        check(
            "anna@example.org",
            &["anna", "exampl", "org", "annaexampleorg"],
        );
        check("3.5 % of 1000", &["3", "5", "35", "of", "1000"]);
        check("One.Two", &["one", "two"]);
    }

    #[test]
    fn scripts_without_spaces_are_pairs() {
        check("知識管理", &["知識", "識管", "管理"]);
        check("語", &["語"]);
    }

    #[test]
    fn common_words_are_marked() {
        let mut common = Vec::new();
        Terms::default().of("What is the flow в трубе", |term| {
            common.push(term.is_common)
        });
        assert_eq!(common, [true, true, true, false, true, false]);
    }

    proptest! {
        #[test]
        fn any_text_has_terms_that_fit(text in "\\PC{0,200}|[a-zA-Z0-9_.@'-]{0,80}|[А-Яа-яёЁ -]{0,80}") {
            let terms = Terms::default();
            for term in terms.list(&text) {
                prop_assert!(!term.is_empty() || !text.is_ascii());
                prop_assert!(term.chars().count() <= WORD_LIMIT_CHARS * 3);
            }
        }
    }
}
