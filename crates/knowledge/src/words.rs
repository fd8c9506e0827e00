//! Tokenizes text into comparable terms: stemmed words, numbers, and identifiers both whole and in parts.
//!
//! Words are folded by `folding` and stemmed by the language of their text, which is recognized by its stop words. A
//! query is too short for that, so each of its words is stemmed by every language that the texts searched are in; a text
//! has one of these terms. Scripts without spaces, and Korean, are split into character bigrams.

mod grams;
mod language;
mod split;
mod stems;
mod stop;

use std::borrow::Cow;

pub use language::Languages;
pub use split::is_unspaced;

use language::{Language, Votes};
use split::{Piece, is_word_char, pieces};
use stems::Stemmers;
use stop::common_in;

/// Maximum length of a word; longer ones are cut, as they are mostly hashes and encoded files that are not searched
/// for.
const WORD_LIMIT_CHARS: usize = 64;
/// Number of words by which the language of a text is recognized.
const WORDS_READ: usize = 1000;

/// Extracts terms from texts.
#[derive(Default)]
pub struct Terms {
    stemmers: Stemmers,
}

impl std::fmt::Debug for Terms {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Terms")
    }
}

/// A term of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Term<'a> {
    /// The normalized form for comparison.
    pub text: &'a str,
    /// The form of the word without its accents, if that is another: queries are often typed without them.
    pub unaccented: Option<&'a str>,
    /// The word with its ending.
    pub word: &'a str,
    /// Whether it is an identifier whose parts are also terms.
    pub is_joined: bool,
    /// Whether it is a stop word.
    pub is_common: bool,
}

/// A word of a query.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueryWord<'a> {
    /// The terms of texts that it matches: one for each way to stem it.
    pub terms: &'a [String],
    /// The word with its ending.
    pub word: &'a str,
    /// Whether it is an identifier whose parts are also words of the query.
    pub is_joined: bool,
    /// Whether it is a stop word of the query's language.
    pub is_common: bool,
}

impl Terms {
    /// The languages of a text, one for each script; of those that it does not tell, the ones of `otherwise`.
    #[must_use]
    pub fn languages(&self, texts: &[&str], otherwise: Languages) -> Languages {
        votes(texts).decide(Languages::all(), otherwise)
    }

    /// Calls `each` with every term of a text, in order.
    pub fn of(&self, text: &str, each: impl FnMut(Term<'_>)) {
        self.of_text_in(self.languages(&[text], Languages::default()), text, each);
    }

    /// Calls `each` with every term of a text in known languages, in order.
    pub fn of_text_in(&self, languages: Languages, text: &str, mut each: impl FnMut(Term<'_>)) {
        pieces(text, &mut |piece| match piece {
            Piece::Word(word) => self.word(word, languages, &mut each),
            Piece::Unspaced(run) => grams::of_text(run, |gram, is_shorter| {
                each(Term {
                    is_common: is_shorter,
                    ..Term::plain(gram)
                });
            }),
            Piece::Joined(name) => each(Term {
                is_joined: true,
                ..Term::plain(&joined(name))
            }),
            // Not a word that makes a text longer.
            Piece::Symbol(symbol) => each(Term {
                is_common: true,
                ..Term::plain(symbol)
            }),
        });
    }

    /// The terms of a text as a list.
    #[must_use]
    pub fn list(&self, text: &str) -> Vec<String> {
        let mut terms = Vec::new();
        self.of(text, |term| terms.push(term.text.to_owned()));
        terms
    }

    fn word(&self, word: &str, languages: Languages, each: &mut impl FnMut(Term<'_>)) {
        let word = Word::of(word);
        let folded = folding::fold(&word.bare);
        if folded.is_empty() {
            return;
        }
        let language = word.languages(languages).iter().next();
        let text = self.stem(language, &word);
        let unaccented = match language {
            _ if folded == word.bare => None,
            Some(Language::Vietnamese) => Some(without_tones(&folded)),
            _ => Some(self.stemmers.stem(language, &folded)),
        };
        each(Term {
            text: &text,
            unaccented: unaccented.as_deref().filter(|form| *form != text),
            word: &folded,
            is_joined: false,
            is_common: language.is_some_and(|language| common_in(&word.bare).contains(language)),
        });
    }

    /// The stem of a word; never empty.
    fn stem(&self, language: Option<Language>, word: &Word<'_>) -> String {
        let form = match language {
            Some(Language::Turkish) => word.turkish(),
            _ => Cow::Borrowed(&*word.bare),
        };
        let stem = self.stemmers.stem(language, &form);
        if stem.is_empty() {
            folding::fold(&word.bare).into_owned()
        } else {
            stem
        }
    }

    /// Calls `each` with every word of a query for texts in these languages, in order.
    pub fn of_query(&self, languages: Languages, query: &str, mut each: impl FnMut(QueryWord<'_>)) {
        let votes = votes(&[query]);
        // Which words are common is not guessed from all languages: “war” and “die” are in some of them.
        let own = votes.likely(languages, 0).usual_of_all();
        // Related languages share stop words, and a short query may have none of those that differ.
        let languages = votes.likely(languages, 1);
        let has_accents = folding::fold(query) != folding::normalize(query);
        pieces(query, &mut |piece| match piece {
            Piece::Word(word) => {
                let word = Word::of(word);
                let folded = folding::fold(&word.bare);
                let is_common = common_in(&word.bare).has_all_of(word.languages(own));
                if !folded.is_empty() {
                    each(QueryWord {
                        is_common,
                        ..QueryWord::plain(&self.forms(&word, languages, has_accents), &folded)
                    });
                }
            }
            Piece::Unspaced(run) => grams::of_query(run, |gram, is_shorter| {
                each(QueryWord {
                    is_common: is_shorter,
                    ..QueryWord::plain(&[gram.to_owned()], gram)
                });
            }),
            Piece::Joined(name) => {
                let name = joined(name);
                each(QueryWord {
                    is_joined: true,
                    ..QueryWord::plain(&self.forms(&Word::of(&name), languages, has_accents), &name)
                });
            }
            Piece::Symbol(symbol) => each(QueryWord {
                is_common: true,
                ..QueryWord::plain(&[symbol.to_owned()], symbol)
            }),
        });
    }

    /// All terms that a word of a query may be in a text.
    fn forms(&self, word: &Word<'_>, languages: Languages, has_accents: bool) -> Vec<String> {
        let mut forms = Vec::new();
        let folded = folding::fold(&word.bare);
        let mut add = |form: String| {
            if !form.is_empty() && !forms.contains(&form) {
                forms.push(form);
            }
        };
        let is_accented = folded != word.bare;
        let languages = word.languages(languages);
        for language in languages.iter() {
            add(self.stem(Some(language), word));
            if language == Language::Vietnamese {
                if !has_accents {
                    add(without_tones(&folded));
                }
                continue;
            }
            if is_accented {
                add(self.stemmers.stem(Some(language), &folded));
            }
            if language == Language::German {
                for spelling in other_umlauts(&word.bare) {
                    add(self.stemmers.stem(Some(language), &spelling));
                }
            }
        }
        // As part of an identifier, it is not stemmed.
        if !is_accented || !languages.is_only(Language::Vietnamese) {
            add(folded.into_owned());
        }
        forms
    }
}

impl<'a> Term<'a> {
    fn plain(text: &'a str) -> Self {
        Self {
            text,
            unaccented: None,
            word: text,
            is_joined: false,
            is_common: false,
        }
    }
}

impl<'a> QueryWord<'a> {
    fn plain(terms: &'a [String], word: &'a str) -> Self {
        Self {
            terms,
            word,
            is_joined: false,
            is_common: false,
        }
    }
}

/// A word as it is stemmed.
struct Word<'a> {
    raw: &'a str,
    /// Normalized, without apostrophes and what they join to it.
    bare: Cow<'a, str>,
}

impl<'a> Word<'a> {
    fn of(word: &'a str) -> Self {
        let end = word.char_indices().nth(WORD_LIMIT_CHARS);
        let raw = end.map_or(word, |(end, _)| &word[..end]);
        Self {
            raw,
            bare: without_apostrophes(folding::normalize(raw)),
        }
    }

    /// Those of the languages that it could be in.
    fn languages(&self, of: Languages) -> Languages {
        let letter = self.bare.chars().find(|char| char.is_alphabetic());
        letter.map_or_else(Languages::none, |letter| of.of_script(letter))
    }

    /// In Turkish, I is the capital of ı, and an apostrophe separates the endings of a name.
    fn turkish(&self) -> Cow<'_, str> {
        let name = self
            .raw
            .split_once(folding::is_apostrophe)
            .map_or(self.raw, |(name, _)| name);
        if name == self.raw && !self.raw.contains(['I', 'İ']) {
            return Cow::Borrowed(&self.bare);
        }
        let lower: String = name
            .chars()
            .map(|char| match char {
                'I' => 'ı',
                'İ' => 'i',
                char => char,
            })
            .collect();
        without_apostrophes(Cow::Owned(folding::normalize(&lower).into_owned()))
    }
}

/// Removes apostrophes from a normalized word, and an article or possessive that they join to it: `l'homme`, `Müller's`.
fn without_apostrophes(word: Cow<'_, str>) -> Cow<'_, str> {
    const ARTICLES: [&str; 28] = [
        "l", "d", "j", "m", "t", "s", "n", "c", "qu", "jusqu", "lorsqu", "puisqu", "quoiqu", "un",
        "dell", "all", "dall", "nell", "sull", "coll", "quell", "quest", "bell", "sant", "cos",
        "anch", "tutt", "dov",
    ];
    if !word.contains(['\'', '"']) {
        return word;
    }
    let mut rest = word.strip_suffix("'s").unwrap_or(&word);
    if let Some((article, noun)) = rest.split_once('\'')
        && ARTICLES.contains(&article)
        && noun.chars().nth(1).is_some()
    {
        rest = noun;
    }
    Cow::Owned(rest.replace(['\'', '"'], ""))
}

/// German words are also written without umlauts: Müller, Mueller.
fn other_umlauts(word: &str) -> Vec<String> {
    const SPELLINGS: [(&str, &str); 3] = [("ä", "ae"), ("ö", "oe"), ("ü", "ue")];
    let replaced = |from_umlauts: bool| {
        SPELLINGS.iter().fold(
            word.to_owned(),
            |word, (umlaut, letters)| match from_umlauts {
                true => word.replace(umlaut, letters),
                false => word.replace(letters, umlaut),
            },
        )
    };
    let mut spellings = vec![replaced(true), replaced(false)];
    spellings.retain(|spelling| spelling != word);
    spellings
}

/// A Vietnamese word as it is typed without tones. People leave out all or none, and many words have none, so it must not
/// be confused with such a word.
fn without_tones(folded: &str) -> String {
    format!("{folded}\u{2c0}")
}

/// An identifier in one word.
fn joined(name: &str) -> String {
    let letters: String = name.chars().filter(|char| is_word_char(*char)).collect();
    folding::fold(&letters).replace('\'', "")
}

fn votes(texts: &[&str]) -> Votes {
    let mut votes = Votes::default();
    let words = texts
        .iter()
        .flat_map(|text| text.split(|char| !is_word_char(char)))
        .filter(|word| !word.is_empty());
    for word in words.take(WORDS_READ) {
        votes.count(&Word::of(word).bare);
    }
    votes
}

#[cfg(test)]
mod tests;
