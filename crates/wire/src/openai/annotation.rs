//! Citations as annotations of a message.

use serde_json::{Value, json};

/// A citation as an annotation of a message: OpenAI's, with `content` as in OpenRouter. `place` is its range in the
/// message's text, in characters. `None` without a URL.
pub(crate) fn url_citation(
    url: &str,
    title: &str,
    quote: Option<&str>,
    place: Option<(usize, usize)>,
) -> Option<Value> {
    if url.is_empty() {
        return None;
    }
    let (start, end) = place.unwrap_or_default();
    let mut citation = json!({"url": url, "title": title, "start_index": start, "end_index": end});
    if let Some(quote) = quote {
        citation["content"] = quote.into();
    }
    Some(json!({"type": "url_citation", "url_citation": citation}))
}
