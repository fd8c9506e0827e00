//! The search of the closed web, in SearXNG's JSON.

use std::collections::{HashMap, HashSet};

use serde_json::{Value, json};

use super::pages::Page;
use crate::Reply;

/// Number of results per page.
const PAGE: usize = 10;
/// Length of a result's snippet, characters.
const SNIPPET_CHARS: usize = 160;

#[derive(Debug)]
pub(super) struct Index {
    entries: Vec<Entry>,
    /// Number of entries that contain each word.
    spread: HashMap<String, usize>,
}

#[derive(Debug)]
struct Entry {
    path: String,
    title: String,
    text: String,
    words: HashSet<String>,
    title_words: HashSet<String>,
}

impl Index {
    pub(super) fn of<'a>(pages: impl Iterator<Item = &'a Page>) -> Self {
        let entries: Vec<Entry> = pages
            .map(|page| Entry {
                path: page.path.clone(),
                title: page.title.clone(),
                text: page.text.clone(),
                words: words(&page.text).chain(words(&page.title)).collect(),
                title_words: words(&page.title).collect(),
            })
            .collect();
        let mut spread = HashMap::new();
        for word in entries.iter().flat_map(|entry| &entry.words) {
            *spread.entry(word.clone()).or_default() += 1;
        }
        Self { entries, spread }
    }

    /// Answers `GET /search` like SearXNG: with JSON if requested, otherwise with a page.
    pub(super) fn reply(&self, origin: &str, query: &str) -> Reply {
        let query: HashMap<_, _> = query
            .split('&')
            .filter_map(|pair| pair.split_once('='))
            .map(|(name, value)| (name, decoded(value)))
            .collect();
        let Some(asked) = query.get("q").filter(|asked| !asked.is_empty()) else {
            return Reply::status(400, &[], "No query");
        };
        if query.get("format").is_none_or(|format| format != "json") {
            return Reply::status(
                200,
                &[("content-type", "text/html")],
                "<!doctype html><title>SearXNG</title>",
            );
        }
        let number: usize = query
            .get("pageno")
            .and_then(|number| number.parse().ok())
            .unwrap_or(1);
        let results: Vec<Value> = self
            .best(asked)
            .into_iter()
            .skip(number.saturating_sub(1) * PAGE)
            .take(PAGE)
            .zip(1..)
            .map(|((entry, score), place)| {
                let snippet: String = entry.text.chars().take(SNIPPET_CHARS).collect();
                json!({
                    "url": format!("{origin}{}", entry.path), "title": entry.title, "content": snippet, "thumbnail": null,
                    "engine": "closed", "engines": ["closed"], "template": "default.html", "positions": [place],
                    "parsed_url": ["http", origin.trim_start_matches("http://"), entry.path, "", "", ""],
                    "priority": "", "category": "general", "publishedDate": null, "score": score,
                })
            })
            .collect();
        Reply::json(&json!({
            "query": asked, "number_of_results": 0, "results": results, "answers": [], "corrections": [],
            "infoboxes": [], "suggestions": [], "unresponsive_engines": [["slowengine", "timeout"]],
        }))
    }

    #[cfg(test)]
    pub(super) fn paths(&self, query: &str) -> Vec<String> {
        self.best(query)
            .into_iter()
            .map(|(entry, _)| entry.path.clone())
            .collect()
    }

    #[expect(clippy::cast_precision_loss, reason = "there are a few hundred pages")]
    fn best(&self, query: &str) -> Vec<(&Entry, f64)> {
        let wanted: HashSet<String> = words(query).collect();
        let weight = |word: &String| {
            self.spread.get(word).map_or(0.0, |spread| {
                (self.entries.len() as f64 / *spread as f64).ln()
            })
        };
        let score = |entry: &Entry| -> f64 {
            let found = wanted.iter().filter(|word| entry.words.contains(*word));
            found
                .map(|word| {
                    weight(word)
                        * if entry.title_words.contains(word) {
                            1.5
                        } else {
                            1.0
                        }
                })
                .sum()
        };
        let mut all: Vec<_> = self
            .entries
            .iter()
            .map(|entry| (entry, score(entry)))
            .filter(|(_, score)| *score > 0.5)
            .collect();
        all.sort_by(|(one, a), (other, b)| b.total_cmp(a).then_with(|| one.path.cmp(&other.path)));
        all
    }
}

fn words(text: &str) -> impl Iterator<Item = String> {
    let words = text
        .split(|char: char| !char.is_alphanumeric())
        .filter(|word| !word.is_empty());
    words.map(str::to_lowercase)
}

/// Decodes a query value.
fn decoded(value: &str) -> String {
    let mut out = Vec::with_capacity(value.len());
    let mut bytes = value.bytes();
    while let Some(byte) = bytes.next() {
        let hex = |byte: Option<u8>| {
            char::from(byte?)
                .to_digit(16)
                .and_then(|digit| u8::try_from(digit).ok())
        };
        match byte {
            b'+' => out.push(b' '),
            b'%' => {
                let high = hex(bytes.next());
                let low = hex(bytes.next());
                out.push(high.zip(low).map_or(b'?', |(high, low)| high << 4 | low));
            }
            byte => out.push(byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}
