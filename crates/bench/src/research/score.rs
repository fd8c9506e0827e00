//! Scores the quality and cost of answers.

use scripted::web::{ClosedWeb, Fact};

use super::Answered;
use crate::passed_on::Tokens;

pub(super) const COLUMNS: [&str; 9] = [
    "questions",
    "exact answers",
    "citation precision",
    "citation recall",
    "cited pages that it read",
    "quotes that stand",
    "tokens in",
    "tokens out",
    "seconds",
];

/// Sums over questions.
#[derive(Default)]
pub(super) struct Score {
    questions: usize,
    exact: usize,
    /// Cited pages, and those among them that contain the answer.
    cited: usize,
    cited_right: usize,
    /// Cited pages, and those among them that were read by the system that cites them.
    pages: usize,
    cited_read: usize,
    /// Pages that must be read for the answers.
    needed: usize,
    quotes: usize,
    quotes_stand: usize,
    tokens: Tokens,
    seconds: f64,
}

impl Score {
    pub(super) fn add(
        &mut self,
        web: &ClosedWeb,
        fact: &Fact,
        answered: &Answered,
        tokens: Tokens,
    ) {
        let words = |text: &str| -> Vec<String> {
            text.split(|letter: char| !letter.is_alphanumeric())
                .map(str::to_owned)
                .collect()
        };
        let said = words(&answered.text);
        // An answer that also contains the wrong one is not right.
        let is_wrong = fact
            .wrong
            .as_ref()
            .is_some_and(|wrong| said.contains(wrong));
        self.exact += usize::from(said.contains(&fact.answer) && !is_wrong);
        let visited: Vec<String> = web
            .visits()
            .iter()
            .map(|visit| web.url(visit.target.split('?').next().unwrap_or_default()))
            .collect();
        let mut pages: Vec<&String> = answered.sources.iter().map(|source| &source.url).collect();
        pages.sort();
        pages.dedup();
        self.pages += pages.len();
        self.cited_read += pages.iter().filter(|url| visited.contains(url)).count();
        let mut cited: Vec<String> = answered
            .sources
            .iter()
            // A mirror is identical.
            .map(|source| {
                source
                    .url
                    .replacen(&web.url("/mirror/"), &web.url("/lights/"), 1)
            })
            .collect();
        cited.sort();
        cited.dedup();
        let needed: Vec<String> = fact.pages.iter().map(|path| web.url(path)).collect();
        self.cited += cited.len();
        self.cited_right += cited.iter().filter(|url| needed.contains(url)).count();
        self.needed += needed.len();
        let quotes = || {
            answered
                .sources
                .iter()
                .filter_map(|source| source.quote_stands)
        };
        self.quotes += quotes().count();
        self.quotes_stand += quotes().filter(|stands| *stands).count();
        self.tokens.add(tokens);
        self.seconds += answered.seconds;
        self.questions += 1;
    }

    pub(super) fn add_all(&mut self, other: &Self) {
        self.questions += other.questions;
        self.exact += other.exact;
        self.pages += other.pages;
        self.cited_read += other.cited_read;
        self.cited += other.cited;
        self.cited_right += other.cited_right;
        self.needed += other.needed;
        self.quotes += other.quotes;
        self.quotes_stand += other.quotes_stand;
        self.tokens.add(other.tokens);
        self.seconds += other.seconds;
    }

    /// Whether nothing was scored.
    pub(super) fn is_empty(&self) -> bool {
        self.questions == 0
    }

    /// Tokens and seconds are per question.
    #[expect(clippy::cast_precision_loss, reason = "small numbers")]
    pub(super) fn cells(&self) -> Vec<String> {
        let share = |part: usize, whole: usize| match whole {
            0 => "-".to_owned(),
            _ => format!("{:.0} %", 100.0 * part as f64 / whole as f64),
        };
        let each = |sum: f64| sum / self.questions.max(1) as f64;
        vec![
            self.questions.to_string(),
            share(self.exact, self.questions),
            share(self.cited_right, self.cited),
            share(self.cited_right, self.needed),
            share(self.cited_read, self.pages),
            share(self.quotes_stand, self.quotes),
            format!("{:.0}", each(self.tokens.input as f64)),
            format!("{:.0}", each(self.tokens.output as f64)),
            format!("{:.2}", each(self.seconds)),
        ]
    }
}
