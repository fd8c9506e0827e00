//! Compares a sentence with the quotes that it cites: numbers, negation, names and quotation marks that the quotes do
//! not show. The words are compared, not their meaning.

mod figures;
mod language;
mod names;
mod negation;
mod numerals;
mod quotations;
mod units;

#[cfg(test)]
mod tests;

use domain::event::Unconfirmed;

use figures::{Figure, figures};
use language::Language;

/// Maximum length of a sentence and of a quote that are compared, characters.
const MAX_CHARS: usize = 2_000;

/// The quotes that a sentence cites, and the titles of their sources.
pub(crate) struct Evidence {
    quotes: Vec<Quote>,
    /// What their sources are called: a quote says "it" for what its page is about.
    titles: String,
}

struct Quote {
    text: String,
    figures: Vec<Figure>,
    language: Language,
}

impl Evidence {
    pub(crate) fn new<'a>(
        quotes: impl IntoIterator<Item = &'a str>,
        titles: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let quotes = quotes.into_iter().map(|text| {
            let text: String = text.chars().take(MAX_CHARS).collect();
            Quote {
                language: Language::of(&text),
                figures: figures(&text),
                text,
            }
        });
        let titles: Vec<&str> = titles.into_iter().collect();
        Self {
            quotes: quotes.collect(),
            titles: titles.join("\n").chars().take(MAX_CHARS).collect(),
        }
    }

    /// Why the quotes do not confirm the sentence, as far as that can be told from words.
    pub(crate) fn objection(&self, sentence: &str) -> Option<Unconfirmed> {
        let sentence: String = sentence.chars().take(MAX_CHARS).collect();
        let language = Language::of(&sentence);
        if self.missing_figures(&sentence).next().is_some() {
            return Some(Unconfirmed::Number);
        }
        let negates = |quote: &Quote| {
            language.is_known()
                && quote.language == language
                && negation::differs(&sentence, &quote.text)
        };
        if !self.quotes.is_empty() && self.quotes.iter().all(negates) {
            return Some(Unconfirmed::Negation);
        }
        let texts: Vec<&str> = self
            .quotes
            .iter()
            .map(|quote| quote.text.as_str())
            .collect();
        if language.is_known() && names::is_missing(&sentence, &texts, &self.titles) {
            return Some(Unconfirmed::Name);
        }
        let has_quotation = self.missing_quotations(&sentence).next().is_some();
        has_quotation.then_some(Unconfirmed::Quotation)
    }

    /// The figures of a text that none of the quotes has, as written.
    pub(crate) fn missing_figures(&self, text: &str) -> impl Iterator<Item = String> {
        figures(text).into_iter().filter_map(|figure| {
            let is_shown =
                |quote: &Quote| quote.figures.iter().any(|other| figure.is_shown_by(other));
            (figure.is_claim && !self.quotes.iter().any(is_shown)).then_some(figure.written)
        })
    }

    /// The words in quotation marks of a text that none of the quotes has.
    pub(crate) fn missing_quotations<'a>(&'a self, text: &'a str) -> impl Iterator<Item = &'a str> {
        quotations::quotations(text).filter(|words| {
            let quotes = self.quotes.iter().map(|quote| quote.text.as_str());
            !quotations::is_in(words, quotes)
        })
    }
}
