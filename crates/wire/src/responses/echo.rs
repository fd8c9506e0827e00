//! What a response repeats of its request, and what a text cites.

use domain::event::Source;
use serde_json::{Map, Value, json};

/// Most citations of one text.
const CITATIONS_LIMIT: usize = 200;

/// The fields of a request that asks for nothing special.
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

/// The places where `[1]` stands in a text, as citations of source 1. Places count characters.
pub(super) fn citations(text: &str, sources: &[Source]) -> Vec<Value> {
    let mut found: Vec<(usize, usize, &Source)> = Vec::new();
    for source in sources {
        let mark = format!("[{}]", source.id);
        let places = text.match_indices(&mark).take(CITATIONS_LIMIT);
        found.extend(places.map(|(at, mark)| (at, mark.chars().count(), source)));
    }
    found.sort_by_key(|(at, ..)| *at);
    found.truncate(CITATIONS_LIMIT);
    let (mut counted, mut chars) = (0, 0);
    let citation = |(at, size, source): (usize, usize, &Source)| {
        chars += text[counted..at].chars().count();
        counted = at;
        json!({
            "type": "url_citation", "start_index": chars, "end_index": chars + size,
            "url": source.url, "title": source.title,
        })
    };
    found.into_iter().map(citation).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn citations_count_characters() {
        let source = |id: &str| Source::new(id.into(), "T".into(), "u".into(), None);
        let found = citations("Né [2], né [1] [2].", &[source("1"), source("2"), source("3")]);
        let places: Vec<_> = found.iter().map(|found| (&found["start_index"], &found["end_index"])).collect();
        assert_eq!(places, [(&json!(3), &json!(6)), (&json!(11), &json!(14)), (&json!(15), &json!(18))]);
    }
}
