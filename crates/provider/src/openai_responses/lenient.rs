//! Reads JSON of servers leniently.

use domain::{TokenCount, Usage};
use serde_json::{Map, Value};

use json_repair::parse;

/// An object. `None` if it is JSON of another kind.
pub(super) fn object(text: &str) -> Result<Option<Map<String, Value>>, serde_json::Error> {
    Ok(match parse(text)? {
        Value::Object(object) => Some(object),
        _ => None,
    })
}

/// A text field; empty if there is none.
pub(super) fn text<'a>(object: &'a Map<String, Value>, name: &str) -> &'a str {
    object.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// A list field; empty if there is none.
pub(super) fn list<'a>(object: &'a Map<String, Value>, name: &str) -> &'a [Value] {
    object
        .get(name)
        .and_then(Value::as_array)
        .map(Vec::as_slice)
        .unwrap_or_default()
}

/// The `usage` of a response. Invalid counts are left out.
pub(super) fn usage(value: &Value) -> Option<Usage> {
    let count = |path: &str| {
        let text = match value.pointer(path)? {
            Value::Number(number) => number.to_string(),
            Value::String(text) => text.clone(),
            _ => return None,
        };
        TokenCount::from_json(&text)
    };
    let input = count("/input_tokens");
    let output = count("/output_tokens");
    if input.is_none() && output.is_none() {
        return None;
    }
    let detail = |path: &str| count(path).unwrap_or_default().get();
    Some(Usage {
        cached_tokens: detail("/input_tokens_details/cached_tokens"),
        cache_write_tokens: detail("/input_tokens_details/cache_write_tokens"),
        reasoning_tokens: detail("/output_tokens_details/reasoning_tokens"),
        audio_tokens: detail("/input_tokens_details/audio_tokens")
            .saturating_add(detail("/output_tokens_details/audio_tokens")),
        ..Usage::of_call(input.unwrap_or_default(), output.unwrap_or_default())
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn half_a_surrogate_pair_costs_one_character() {
        for (text, expected) in [
            (r#"{"a":"x\ud83dy"}"#, "x\u{FFFD}y"),
            (r#"{"a":"\ude00\ud83d\ude00\uD83D"}"#, "\u{FFFD}😀\u{FFFD}"),
            (r#"{"a":"\ud83d\ud83d\ude00"}"#, "\u{FFFD}😀"),
            (r#"{"a":"\\ud83d"}"#, r"\ud83d"),
        ] {
            assert_eq!(object(text).unwrap().unwrap()["a"], expected, "{text}");
        }
        for bad in ["{", "", r#"{"a":"\"#, "{\"a\":\"\\ä", r"\ud83d"] {
            assert!(object(bad).is_err(), "{bad}");
        }
        assert_eq!(object("null").unwrap(), None);
    }

    #[test]
    fn usage_of_all_kinds() {
        // OpenRouter, recorded.
        let described = json!({"input_tokens": 4020, "input_tokens_details": {"cache_write_tokens": 4012, "cached_tokens": 1},
            "output_tokens": 5, "output_tokens_details": {"reasoning_tokens": 3}, "total_tokens": 4025});
        let expected = Usage {
            cached_tokens: 1,
            cache_write_tokens: 4012,
            reasoning_tokens: 3,
            ..Usage::of(4020, 5)
        };
        assert_eq!(usage(&described), Some(expected));
        assert_eq!(
            usage(&json!({"input_tokens": "7", "output_tokens": 2.0})),
            Some(Usage::of(7, 2))
        );
        assert_eq!(
            usage(&json!({"input_tokens": 7, "input_tokens_details": null})),
            Some(Usage::of(7, 0))
        );
        for strange in [
            json!(null),
            json!({}),
            json!("7"),
            json!({"input_tokens": -1, "output_tokens": true}),
        ] {
            assert_eq!(usage(&strange), None, "{strange}");
        }
    }
}
