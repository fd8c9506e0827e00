//! Citations in the message fields of Chat Completions.

use serde_json::Value;

use super::{Citation, MAX_CITATIONS};

/// The citations of an answer: `annotations` of the message, as in OpenAI and OpenRouter, and the numbered lists
/// `search_results` and `citations` of Perplexity and xAI. `text_chars` is the length of the answer in characters.
#[must_use]
pub fn chat_citations(
    annotations: &[Value],
    search_results: &Value,
    citations: &Value,
    text_chars: usize,
) -> Vec<Citation> {
    let annotated = annotations
        .iter()
        .filter_map(|annotation| of_annotation(annotation, text_chars));
    let annotated: Vec<Citation> = annotated.take(MAX_CITATIONS).collect();
    if !annotated.is_empty() {
        return annotated;
    }
    let results = search_results
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let addresses = citations.as_array().map(Vec::as_slice).unwrap_or_default();
    // The numbers in the text refer to the list of URLs; the results add details.
    let listed = if addresses.is_empty() {
        results
    } else {
        addresses
    };
    let numbered = (1..).zip(listed).take(MAX_CITATIONS);
    numbered
        .filter_map(|(number, listed)| numbered_source(number, listed, results))
        .collect()
}

fn of_annotation(annotation: &Value, text_chars: usize) -> Option<Citation> {
    // Some servers leave out the inner object.
    let of = Some(&annotation["url_citation"])
        .filter(|of| of.is_object())
        .unwrap_or(annotation);
    let text = |field: &str| of[field].as_str();
    if annotation["type"] != "url_citation" {
        return None;
    }
    let place = |field: &str| of[field].as_u64().and_then(|at| usize::try_from(at).ok());
    let place = place("start_index")
        .zip(place("end_index"))
        .map(|(start, end)| start..end);
    let place = place.filter(|place| place.start < place.end && place.end <= text_chars);
    Citation::new(text("url"), text("title"), text("content")).map(|citation| citation.at(place))
}

fn numbered_source(number: usize, listed: &Value, results: &[Value]) -> Option<Citation> {
    let url = listed.as_str().or(listed["url"].as_str())?;
    let result = results
        .iter()
        .find(|result| result["url"] == url)
        .unwrap_or(listed);
    let citation = Citation::new(
        Some(url),
        result["title"].as_str(),
        result["snippet"].as_str(),
    )?;
    (!citation.url.is_empty()).then_some(Citation {
        number: Some(number),
        ..citation
    })
}
