//! Stems of words: Snowball's stemmers, and a light one for Hindi.

use std::borrow::Cow;

use rust_stemmers::{Algorithm, Stemmer};

use super::language::Language;

/// The stemmers of all languages that have one.
pub(super) struct Stemmers(Vec<(Language, Stemmer)>);

impl Default for Stemmers {
    fn default() -> Self {
        let algorithms = [
            (Language::English, Algorithm::English),
            (Language::Danish, Algorithm::Danish),
            (Language::Dutch, Algorithm::Dutch),
            (Language::Finnish, Algorithm::Finnish),
            (Language::French, Algorithm::French),
            (Language::German, Algorithm::German),
            (Language::Hungarian, Algorithm::Hungarian),
            (Language::Italian, Algorithm::Italian),
            (Language::Norwegian, Algorithm::Norwegian),
            (Language::Portuguese, Algorithm::Portuguese),
            (Language::Romanian, Algorithm::Romanian),
            (Language::Spanish, Algorithm::Spanish),
            (Language::Swedish, Algorithm::Swedish),
            (Language::Turkish, Algorithm::Turkish),
            (Language::Russian, Algorithm::Russian),
            (Language::Greek, Algorithm::Greek),
            (Language::Arabic, Algorithm::Arabic),
            (Language::Tamil, Algorithm::Tamil),
        ];
        let stemmer = |(language, algorithm)| (language, Stemmer::create(algorithm));
        Self(algorithms.into_iter().map(stemmer).collect())
    }
}

impl Stemmers {
    /// The folded stem of a normalized word, which may have accents: endings depend on them.
    pub(super) fn stem(&self, language: Option<Language>, word: &str) -> String {
        let stemmer = self.0.iter().find(|(of, _)| Some(*of) == language);
        let stem = match (stemmer, language) {
            (Some((Language::Russian, stemmer)), _) => {
                let folded = folding::fold(word);
                return stemmer.stem(&folded).into_owned();
            }
            (Some((_, stemmer)), _) => stemmer.stem(word),
            // Accents distinguish most words.
            (None, Some(Language::Vietnamese)) => return word.to_owned(),
            (None, Some(Language::Hindi)) => return hindi(&folding::fold(word)).to_owned(),
            (None, _) => Cow::Borrowed(word),
        };
        folding::fold(&stem).into_owned()
    }
}

/// Removes the ending of a folded Hindi word, after Ramanathan and Rao, “A Lightweight Stemmer for Hindi” (2003).
fn hindi(word: &str) -> &str {
    /// Endings by their length, longest first. At least two characters remain.
    const ENDINGS: [&str; 5] = [
        "ाएंगी ाएंगे ाऊंगी ाऊंगा ाइयां ाइयों",
        "ाएगी ाएगा ाओगी ाओगे एंगी ेंगी एंगे ेंगे ूंगी ूंगा ातीं नाओं नाएं ताओं ताएं ियां ियों",
        "ाकर ाइए ाईं ाया ेगी ेगा ोगी ोगे ाने ाना ाते ाती ाता तीं ाओं ाएं ुओं ुएं ुआं",
        "कर ाओ िए ाई ाए ने नी ना ते ीं ती ता ां ों ें",
        "ो े ू ु ी ि ा",
    ];
    let rest = ENDINGS
        .iter()
        .flat_map(|endings| endings.split(' '))
        .filter_map(|ending| word.strip_suffix(ending))
        .find(|rest| rest.chars().nth(1).is_some());
    rest.unwrap_or(word)
}
