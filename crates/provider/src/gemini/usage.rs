//! Converts `usageMetadata`.

use domain::{TokenCount, Usage};
use serde_json::Value;

/// Reads `usageMetadata`. Input from server-side tools counts as input, and thoughts count as output. Invalid counts
/// are 0. `None` if there are no counts.
pub(super) fn usage(metadata: &str) -> Option<Usage> {
    let metadata: Value = serde_json::from_str(metadata).ok()?;
    let field = |name: &str| metadata.get(name).and_then(count);
    let prompt = field("promptTokenCount");
    let written = field("candidatesTokenCount");
    let thoughts = field("thoughtsTokenCount");
    prompt.or(written).or(thoughts)?;
    let audio = [
        "promptTokensDetails",
        "toolUsePromptTokensDetails",
        "candidatesTokensDetails",
    ];
    Some(Usage {
        cached_tokens: field("cachedContentTokenCount").unwrap_or(0),
        reasoning_tokens: thoughts.unwrap_or(0),
        audio_tokens: audio
            .iter()
            .map(|name| audio_tokens(metadata.get(*name)))
            .sum(),
        ..Usage::of(
            prompt.unwrap_or(0) + field("toolUsePromptTokenCount").unwrap_or(0),
            written.unwrap_or(0) + thoughts.unwrap_or(0),
        )
    })
}

fn audio_tokens(details: Option<&Value>) -> u64 {
    let details = details.and_then(Value::as_array).into_iter().flatten();
    let audio = details.filter(|part| {
        part.get("modality")
            .is_some_and(|modality| modality == "AUDIO")
    });
    audio
        .filter_map(|part| count(part.get("tokenCount")?))
        .sum()
}

/// Some proxies write numbers as strings.
fn count(value: &Value) -> Option<u64> {
    let count = match value {
        Value::String(text) => TokenCount::from_json(text),
        number => TokenCount::from_json(&number.to_string()),
    };
    count.map(TokenCount::get)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_all_that_was_read_and_written() {
        // From `google_model_file_search_grounding_gemini_3` and `google_model_mobile_youtube_video_url_input`.
        let tools = r#"{"candidatesTokenCount":66,"promptTokenCount":95,"thoughtsTokenCount":132,
            "toolUsePromptTokenCount":439,"totalTokenCount":732}"#;
        let expected = Usage {
            reasoning_tokens: 132,
            ..Usage::of(534, 198)
        };
        assert_eq!(usage(tools), Some(expected));
        assert_eq!(expected.total_tokens(), 732);
        let film = r#"{"cacheTokensDetails":[{"modality":"AUDIO","tokenCount":1881}],"cachedContentTokenCount":17379,
            "candidatesTokenCount":68,"promptTokenCount":17713,"promptTokensDetails":[{"modality":"TEXT","tokenCount":16},
            {"modality":"VIDEO","tokenCount":15780},{"modality":"AUDIO","tokenCount":1917}],"thoughtsTokenCount":821}"#;
        let expected = Usage {
            cached_tokens: 17379,
            reasoning_tokens: 821,
            audio_tokens: 1917,
            ..Usage::of(17713, 889)
        };
        assert_eq!(usage(film), Some(expected));
    }

    #[test]
    fn strange_figures_cost_only_themselves() {
        assert_eq!(
            usage(r#"{"promptTokenCount":"12","candidatesTokenCount":-1}"#),
            Some(Usage::of(12, 0))
        );
        assert_eq!(
            usage(r#"{"promptTokenCount":12.0,"candidatesTokenCount":null}"#),
            Some(Usage::of(12, 0))
        );
        for nothing in ["null", "{}", "7", "[]", r#"{"promptTokenCount":[]}"#] {
            assert_eq!(usage(nothing), None, "{nothing}");
        }
    }
}
