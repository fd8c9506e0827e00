//! Collects the citation lists in the chunks of an answer.

use provider::{Citation, MAX_CITATIONS, chat_citations, openai::CitationFields};
use serde_json::Value;

/// Maximum length of a parsed list, bytes.
const MAX_LIST_BYTES: usize = 2 << 20;

/// The lists so far.
#[derive(Debug, Default)]
pub(super) struct CitationLists {
    annotations: Vec<Value>,
    /// Each chunk repeats the whole list, so the last one counts.
    citations: Option<String>,
    search_results: Option<String>,
}

impl CitationLists {
    pub(super) fn push(&mut self, fields: &CitationFields<'_>) {
        let room = MAX_CITATIONS.saturating_sub(self.annotations.len());
        if let Some(annotations) = fields.annotations.as_deref().filter(|_| room > 0) {
            self.annotations
                .extend(list(annotations).into_iter().take(room));
        }
        for (kept, list) in [
            (&mut self.citations, &fields.citations),
            (&mut self.search_results, &fields.search_results),
        ] {
            if let Some(list) = list.as_deref().filter(|list| kept.as_deref() != Some(list)) {
                *kept = Some(list.to_owned());
            }
        }
    }

    /// The citations for an answer of this many characters.
    pub(super) fn read(&mut self, text_chars: usize) -> Vec<Citation> {
        let whole =
            |kept: Option<String>| Value::Array(kept.as_deref().map(list).unwrap_or_default());
        let annotations = std::mem::take(&mut self.annotations);
        let results = whole(self.search_results.take());
        let citations = whole(self.citations.take());
        chat_citations(&annotations, &results, &citations, text_chars)
    }
}

fn list(json: &str) -> Vec<Value> {
    let json = Some(json).filter(|json| json.len() <= MAX_LIST_BYTES);
    json.and_then(|json| serde_json::from_str(json).ok())
        .unwrap_or_default()
}
