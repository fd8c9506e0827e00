//! The languages that are told apart, and which of them a text is in: the one whose stop words it has most of.

use super::stop::common_in;

/// A language with a stemmer or stop words of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Language {
    // Latin script; the first wins a tie.
    English,
    Danish,
    Dutch,
    Finnish,
    French,
    German,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Spanish,
    Swedish,
    Turkish,
    Czech,
    Indonesian,
    Polish,
    Vietnamese,
    // Cyrillic; the other languages have no stemmer, and Russian's suits them.
    Russian,
    Greek,
    // Arabic script.
    Arabic,
    Persian,
    Hebrew,
    // Devanagari.
    Hindi,
    Tamil,
}

impl Language {
    const ALL: [Self; 25] = [
        Self::English,
        Self::Danish,
        Self::Dutch,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Spanish,
        Self::Swedish,
        Self::Turkish,
        Self::Czech,
        Self::Indonesian,
        Self::Polish,
        Self::Vietnamese,
        Self::Russian,
        Self::Greek,
        Self::Arabic,
        Self::Persian,
        Self::Hebrew,
        Self::Hindi,
        Self::Tamil,
    ];
}

/// A set of languages.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Languages(u32);

impl Default for Languages {
    /// One for each script, for texts that do not tell.
    fn default() -> Self {
        let several = Self::LATIN.with(Self::ARABIC);
        Self(!several.0)
            .with(Self::range(Language::English, Language::English))
            .with(Self::range(Language::Arabic, Language::Arabic))
    }
}

impl Languages {
    const LATIN: Self = Self::range(Language::English, Language::Vietnamese);
    const ARABIC: Self = Self::range(Language::Arabic, Language::Persian);

    /// All languages.
    #[must_use]
    pub fn all() -> Self {
        Self(u32::MAX)
    }

    const fn range(first: Language, last: Language) -> Self {
        Self((1 << (last as u32 + 1)) - (1 << first as u32))
    }

    pub(super) fn insert(&mut self, language: Language) {
        self.0 |= 1 << language as u32;
    }

    fn remove(&mut self, language: Language) {
        self.0 &= !(1 << language as u32);
    }

    pub(super) fn contains(self, language: Language) -> bool {
        self.0 & 1 << language as u32 != 0
    }

    #[must_use]
    pub(crate) fn with(self, others: Self) -> Self {
        Self(self.0 | others.0)
    }

    fn and(self, others: Self) -> Self {
        Self(self.0 & others.0)
    }

    pub(crate) fn none() -> Self {
        Self(0)
    }

    pub(super) fn is_only(self, language: Language) -> bool {
        self == Self::range(language, language)
    }

    /// Whether it has all of others, of which there are some.
    pub(super) fn has_all_of(self, others: Self) -> bool {
        others.0 != 0 && self.and(others) == others
    }

    /// Only the usual language of each script of which it has all languages.
    pub(super) fn usual_of_all(self) -> Self {
        let scripts = [Self::LATIN, Self::ARABIC];
        let whole = scripts
            .into_iter()
            .filter(|script| self.has_all_of(*script));
        whole.fold(self, |left, script| {
            left.and(Self(!script.0)).with(script.and(Self::default()))
        })
    }

    /// Its languages, in the order of [`Language`].
    pub(super) fn iter(self) -> impl DoubleEndedIterator<Item = Language> {
        Language::ALL
            .into_iter()
            .filter(move |language| self.contains(*language))
    }

    /// The languages of this set that a word could be in, by its first letter.
    pub(super) fn of_script(self, letter: char) -> Self {
        self.and(match letter {
            'a'..='z' | 'ª'..='\u{24f}' | '\u{1e00}'..='\u{1eff}' => Self::LATIN,
            '\u{400}'..='\u{52f}' => Self::range(Language::Russian, Language::Russian),
            '\u{370}'..='\u{3ff}' | '\u{1f00}'..='\u{1fff}' => {
                Self::range(Language::Greek, Language::Greek)
            }
            '\u{600}'..='\u{6ff}' => Self::ARABIC,
            '\u{591}'..='\u{5f4}' => Self::range(Language::Hebrew, Language::Hebrew),
            '\u{900}'..='\u{97f}' => Self::range(Language::Hindi, Language::Hindi),
            '\u{b80}'..='\u{bff}' => Self::range(Language::Tamil, Language::Tamil),
            _ => Self(0),
        })
    }
}

/// Letters with a tone mark beside another mark, or with a horn: no other language has them.
fn is_vietnamese(letter: char) -> bool {
    matches!(letter, '\u{1ea0}'..='\u{1ef9}' | 'ơ' | 'ư')
}

/// Number of stop words from which on a language is recognized.
const MIN_VOTES: u32 = 2;

/// Counts the stop words of a text.
#[derive(Debug, Default)]
pub(super) struct Votes([u32; Language::ALL.len()]);

impl Votes {
    /// Counts a normalized word.
    pub(super) fn count(&mut self, word: &str) {
        for language in common_in(word).iter() {
            self.0[language as usize] += 1;
        }
        if word.contains(is_vietnamese) {
            self.0[Language::Vietnamese as usize] += 1;
        }
    }

    /// The languages that a query may be in: those with most votes among these languages, or up to this many less; all
    /// of a script's if there are too few.
    pub(super) fn likely(&self, among: Languages, less: u32) -> Languages {
        let mut likely = among;
        for script in [Languages::LATIN, Languages::ARABIC] {
            let votes = |language: Language| self.0[language as usize];
            let candidates = || among.and(script).iter();
            let most = candidates().map(votes).max().unwrap_or_default();
            if most >= MIN_VOTES {
                candidates()
                    .filter(|language| votes(*language) + less < most)
                    .for_each(|language| likely.remove(language));
            }
        }
        likely
    }

    /// One language for each script: the one with most votes among these languages; `otherwise` if there are too few.
    pub(super) fn decide(&self, among: Languages, otherwise: Languages) -> Languages {
        let mut decided =
            Languages::all().and(Languages(!(Languages::LATIN.0 | Languages::ARABIC.0)));
        for script in [Languages::LATIN, Languages::ARABIC] {
            let votes = |language: &Language| self.0[*language as usize];
            let best = among
                .and(script)
                .iter()
                .rev()
                .max_by_key(votes)
                .filter(|best| votes(best) >= MIN_VOTES);
            decided = decided.with(match best {
                Some(best) => Languages::range(best, best),
                None => otherwise.and(script),
            });
        }
        decided
    }
}
