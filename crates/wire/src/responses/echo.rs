//! The request fields that a response repeats, and the citations of a text.

use serde_json::{Map, Value, json};

use crate::cited::Sources;

/// The fields of a request with default settings.
pub(super) fn defaults() -> Map<String, Value> {
    let fields = json!({
        "background": false,
        "instructions": null,
        "max_output_tokens": null,
        "max_tool_calls": null,
        "metadata": {},
        "model": "glasshouse/agent",
        "parallel_tool_calls": true,
        "previous_response_id": null,
        "prompt_cache_key": null,
        "reasoning": {"effort": null, "summary": null},
        "safety_identifier": null,
        "service_tier": "default",
        "store": true,
        "temperature": null,
        "text": {"format": {"type": "text"}},
        "tool_choice": "auto",
        "tools": [],
        "top_logprobs": 0,
        "top_p": null,
        "truncation": "disabled",
        "user": null,
    });
    match fields {
        Value::Object(fields) => fields,
        _ => Map::new(),
    }
}

/// The citations in an item's text, as annotations. Sources without a URL have none.
pub(super) fn citations(item: &str, text: &str, sources: &Sources) -> Vec<Value> {
    let cited = sources
        .cited_in(item, text)
        .into_iter()
        .filter(|(_, source)| !source.url.is_empty());
    let annotation = |(place, source): (std::ops::Range<usize>, &domain::event::Source)| {
        json!({
            "type": "url_citation", "start_index": place.start, "end_index": place.end,
            "url": source.url, "title": source.title,
        })
    };
    cited.map(annotation).collect()
}
