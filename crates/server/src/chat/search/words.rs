//! Splits texts and queries into the words that are compared, and finds the words of a query in a text.
//!
//! The words are the stems of the document search, and also the full words, so that a prefix of a word finds it. A query
//! is stemmed by every language, since the languages of the chats are not known.

use std::{collections::HashSet, ops::Range};

use folding::Folded;
use knowledge::{Languages, Term, is_unspaced};
use store::SearchWord;

use super::TERMS;

/// Longer queries are cut.
const QUESTION_CHARS: usize = 200;
const QUESTION_WORDS: usize = 12;
/// Maximum number of different words per text.
const MAX_WORDS: usize = 8_000;
/// Length of an excerpt, characters, and of its part before the first match.
const SHOWN_CHARS: usize = 220;
const BEFORE_CHARS: usize = 60;

/// The different words of a text.
pub(super) fn words_of(text: &str) -> HashSet<String> {
    let mut words = HashSet::new();
    TERMS.of(text, |term| {
        if words.len() < MAX_WORDS {
            words.extend(forms_of(term).map(clean));
        }
    });
    words.remove("");
    words
}

/// What a query may match of a term.
fn forms_of(term: Term<'_>) -> impl Iterator<Item = &str> {
    [term.text, term.word].into_iter().chain(term.unaccented)
}

/// A search query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Question(Vec<SearchWord>);

impl Question {
    /// Parses a query as typed; its last word may be a prefix if nothing follows it. Common words count only if there
    /// are no others.
    pub(crate) fn parse(text: &str) -> Self {
        let text: String = text.chars().take(QUESTION_CHARS).collect();
        let mut words: Vec<(SearchWord, bool)> = Vec::new();
        TERMS.of_query(Languages::all(), &text, |word| {
            let start = clean(word.word);
            if !word.is_joined && !start.is_empty() {
                let forms = word.terms.iter().map(|form| clean(form)).collect();
                words.push((
                    SearchWord {
                        forms,
                        start: Some(start),
                    },
                    word.is_common,
                ));
            }
        });
        let is_unfinished = text.ends_with(char::is_alphanumeric);
        let last = words.len().saturating_sub(1);
        let has_rare = words.iter().any(|(_, is_common)| !is_common);
        let mut asked: Vec<SearchWord> = Vec::new();
        for (at, (mut word, is_common)) in words.into_iter().enumerate() {
            if is_common && has_rare {
                continue;
            }
            let is_last = at == last && is_unfinished;
            word.start = word.start.filter(|start| is_last && may_be_start(start));
            if !asked.contains(&word) && asked.len() < QUESTION_WORDS {
                asked.push(word);
            }
        }
        Self(asked)
    }

    /// Whether it has no words.
    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    pub(crate) fn words(&self) -> Vec<SearchWord> {
        self.0.clone()
    }

    /// The whole text, with the words marked.
    pub(crate) fn whole(&self, text: &str) -> Excerpt {
        Excerpt::new(text, &self.marks(text), "", "")
    }

    /// Whether one of the words occurs in a text.
    pub(super) fn is_in(&self, text: &str) -> bool {
        self.first_in(text).is_some()
    }

    fn first_in(&self, text: &str) -> Option<Range<usize>> {
        let languages = TERMS.languages(&[text], Languages::default());
        runs(text).find_map(|run| {
            self.marks_in(languages, &text[run.clone()], run.start)
                .first()
                .cloned()
        })
    }

    /// The words as they occur in a text, with some context around the first.
    pub(crate) fn excerpt(&self, text: &str) -> Excerpt {
        let first = self.first_in(text).map_or(0, |mark| mark.start);
        let begin = match text[..first].char_indices().rev().nth(BEFORE_CHARS) {
            None => 0,
            // Not in the middle of a word, if there is whitespace.
            Some((at, _)) => text[at..first]
                .find(char::is_whitespace)
                .map_or(at, |blank| at + blank),
        };
        let end = text[begin..]
            .char_indices()
            .nth(SHOWN_CHARS)
            .map_or(text.len(), |(at, _)| begin + at);
        let shown = &text[begin..end];
        let before = if begin > 0 { "… " } else { "" };
        let behind = if end < text.len() { " …" } else { "" };
        Excerpt::new(shown, &self.marks(shown), before, behind)
    }

    /// The places of the words, in order.
    fn marks(&self, text: &str) -> Vec<Range<usize>> {
        let languages = TERMS.languages(&[text], Languages::default());
        let mut marks: Vec<Range<usize>> = Vec::new();
        for run in runs(text) {
            for mark in self.marks_in(languages, &text[run.clone()], run.start) {
                match marks.last_mut() {
                    Some(last) if last.end >= mark.start => last.end = last.end.max(mark.end),
                    _ => marks.push(mark),
                }
            }
        }
        marks
    }

    /// Their places in a run of letters that begins at `from`: the whole run, or parts of it in scripts without spaces.
    fn marks_in(&self, languages: Languages, run: &str, from: usize) -> Vec<Range<usize>> {
        if run.chars().next().is_some_and(is_unspaced) {
            let folded = Folded::of(run);
            let forms = self.0.iter().flat_map(|word| &word.forms);
            let found = forms.flat_map(|form| folded.text().match_indices(form.as_str()));
            let mut marks: Vec<Range<usize>> = found
                .map(|(at, found)| folded.original(at..at + found.len()))
                .map(|mark| from + mark.start..from + mark.end)
                .collect();
            marks.sort_by_key(|mark| mark.start);
            return marks;
        }
        let mut is_found = false;
        TERMS.of_text_in(languages, run, |term| {
            is_found |= self.0.iter().any(|asked| {
                let begins = |start: &String| term.word.starts_with(start.as_str());
                forms_of(term).any(|form| asked.forms.iter().any(|asked| asked == form))
                    || asked.start.as_ref().is_some_and(begins)
            });
        });
        is_found
            .then(|| from..from + run.len())
            .into_iter()
            .collect()
    }
}

/// A part of a text with the matches marked.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Excerpt(pub(crate) Vec<(String, bool)>);

impl Excerpt {
    fn new(text: &str, marks: &[Range<usize>], before: &str, behind: &str) -> Self {
        let mut parts: Vec<(String, bool)> = Vec::new();
        let mut push = |text: String, is_marked| {
            if !text.is_empty() {
                parts.push((text, is_marked));
            }
        };
        let mut at = 0;
        for (place, mark) in marks.iter().enumerate() {
            let between = in_one_line(&text[at..mark.start]);
            push(
                if place == 0 {
                    format!("{before}{}", between.trim_start())
                } else {
                    between
                },
                false,
            );
            push(in_one_line(&text[mark.clone()]), true);
            at = mark.end;
        }
        let rest = in_one_line(&text[at..]);
        let rest = if marks.is_empty() {
            format!("{before}{}", rest.trim_start())
        } else {
            rest
        };
        push(format!("{}{behind}", rest.trim_end()), false);
        Self(parts)
    }
}

/// Collapses whitespace to single spaces.
fn in_one_line(text: &str) -> String {
    let mut line = String::with_capacity(text.len());
    for char in text.chars() {
        match char.is_whitespace() || char.is_control() {
            true if line.ends_with(' ') => {}
            true => line.push(' '),
            false => line.push(char),
        }
    }
    line
}

/// Whether a word may be a prefix of others: a single letter matches too many.
fn may_be_start(word: &str) -> bool {
    let mut chars = word.chars();
    let first = chars.next();
    first.is_some_and(|first| !is_unspaced(first)) && chars.next().is_some()
}

/// Removes what would split a word in the index; words of all other scripts stay as they are.
fn clean(word: &str) -> String {
    word.chars()
        .filter(|char| !char.is_ascii() || char.is_ascii_alphanumeric())
        .collect()
}

/// The runs of letters and digits in a text, each in one kind of script.
fn runs(text: &str) -> impl Iterator<Item = Range<usize>> {
    let mut at = 0;
    std::iter::from_fn(move || {
        let start = at + text[at..].find(char::is_alphanumeric)?;
        let kind = text[start..].chars().next().is_some_and(is_unspaced);
        let goes_on = |char: char| match char.is_alphanumeric() {
            true => is_unspaced(char) == kind,
            false => folding::is_mark(char) || folding::is_invisible(char),
        };
        let length = text[start..]
            .find(|char| !goes_on(char))
            .unwrap_or(text.len() - start);
        at = start + length;
        Some(start..at)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// An excerpt with the matches in brackets.
    fn marked(question: &str, text: &str) -> String {
        let Excerpt(parts) = Question::parse(question).excerpt(text);
        parts
            .into_iter()
            .map(|(text, hit)| if hit { format!("[{text}]") } else { text })
            .collect()
    }

    /// Whether a query finds a text, by the rule of the index.
    fn finds(question: &str, text: &str) -> bool {
        let words = words_of(text);
        let has = |asked: &SearchWord| {
            let begins = |start: &String| words.iter().any(|word| word.starts_with(start.as_str()));
            let is_in = asked.forms.iter().any(|form| words.contains(form));
            is_in || asked.start.as_ref().is_some_and(begins)
        };
        let asked = Question::parse(question);
        !asked.is_empty() && asked.0.iter().all(has)
    }

    fn check(question: &str, text: &str, expected: &str) {
        assert!(finds(question, text), "{question} does not find {text}");
        assert_eq!(marked(question, text), expected, "{question}");
    }

    #[test]
    fn words_are_found_in_other_forms() {
        check(
            "договоры аренды",
            "О ДОГОВОРЕ аренды",
            "О [ДОГОВОРЕ] [аренды]",
        );
        check("елка", "Ёлки зелёные", "[Ёлки] зелёные");
        check("run", "Running fast", "[Running] fast");
        check("the runners", "A runner ran", "A [runner] ran");
        check("cafe", "Café\tau\n lait", "[Café] au lait");
        assert!(!finds("договор", "Разговоры"));
        assert!(!finds("tide moon", "The tide"));
    }

    #[test]
    fn the_last_word_may_be_unfinished() {
        check("runn", "Running fast", "[Running] fast");
        check("отчё", "Где мой отчёт?", "Где мой [отчёт]?");
        check(
            "max_ret",
            "set max_retries here",
            "set [max]_[retries] here",
        );
        assert!(!finds("отчё ", "Где мой отчёт?"));
        assert!(!finds("r", "Running fast"));
    }

    #[test]
    fn scripts_without_spaces_are_found_inside() {
        check("識管", "知識管理の本", "知[識管]理の本");
        check("理", "知識管理", "知識管[理]");
        check("知識管理", "この知識管理は", "この[知識管理]は");
        check("Rust入門", "新しいRust入門書", "新しい[Rust入門]書");
        check("rust", "新しいRust入門書", "新しい[Rust]入門書");
        assert!(!finds("識管", "管理知識"));
    }

    #[test]
    fn encodings_and_spellings_are_one() {
        check("Новый", "Новыи\u{306} рейс", "[Новыи\u{306}] рейс");
        check("Tiếng", "Tiê\u{301}ng Việt", "[Tiê\u{301}ng] Việt");
        check(
            "tieng viet",
            "Tiếng Việt là ngôn ngữ của tôi",
            "[Tiếng] [Việt] là ngôn ngữ của tôi",
        );
        check("كتاب", "كِتَابُ الجديد", "[كِتَابُ] الجديد");
        check("walrus", "wal\u{ad}rus soft", "[wal\u{ad}rus] soft");
        check("abc123", "ＡＢＣ１２３ full", "[ＡＢＣ１２３] full");
        check("οδός", "ΟΔΟΣ greek", "[ΟΔΟΣ] greek");
        check("テスト", "日本語のﾃｽﾄです", "日本語の[ﾃｽﾄ]です");
        check("istanbul", "İSTANBUL şehri", "[İSTANBUL] şehri");
    }

    #[test]
    fn words_are_stemmed_in_their_language() {
        check(
            "Häuser",
            "Das Haus ist nicht neu und die Straße auch",
            "Das [Haus] ist nicht neu und die Straße auch",
        );
        check(
            "niños",
            "El niño está en la casa",
            "El [niño] está en la casa",
        );
        check("한국", "한국은 대한민국의 약칭", "[한국]은 대한민국의 약칭");
    }

    #[test]
    fn common_words_count_only_alone() {
        check("to be", "To be or not", "[To] [be] or not");
        check("the tide and", "A tide rises", "A [tide] rises");
    }

    #[test]
    fn an_excerpt_is_short_and_cut_at_blanks() {
        let text = format!("{} needle {}", "hay ".repeat(100), "straw ".repeat(100));
        let shown = marked("needle", &text);
        assert!(
            shown.starts_with("… hay hay") && shown.contains("hay [needle] straw"),
            "{shown}"
        );
        assert!(
            shown.ends_with(" …") && shown.chars().count() < SHOWN_CHARS + 10,
            "{shown}"
        );
        assert_eq!(marked("absent", "nothing here"), "nothing here");
    }

    #[test]
    fn nothing_is_asked_by_what_is_no_word() {
        for text in ["", "  ", "%%", "'\"*", "…"] {
            assert!(Question::parse(text).is_empty(), "{text}");
        }
    }

    proptest! {
        /// For any text: its words fit into the index, and each of them finds it.
        #[test]
        fn every_word_finds_its_text(text in "\\PC{0,60}|[а-яА-ЯёЁ ]{0,40}|[a-zA-Z_.'-]{0,40}|[知識管理のRust ]{0,20}") {
            for word in words_of(&text) {
                prop_assert!(!word.contains(' ') && word.chars().all(|char| !char.is_ascii() || char.is_ascii_alphanumeric()));
            }
            for word in text.split_whitespace().filter(|word| !Question::parse(word).is_empty()) {
                prop_assert!(finds(word, &text), "{word:?} in {text:?}");
            }
            let Excerpt(parts) = Question::parse(&text).excerpt(&text);
            prop_assert!(parts.iter().all(|(part, _)| !part.is_empty()));
        }
    }
}
