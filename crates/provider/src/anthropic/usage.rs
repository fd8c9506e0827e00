//! Converts token counts: Anthropic's `input_tokens` exclude cached tokens, ours include them.

use domain::{TokenCount, Usage};
use serde_json::{Value, json};

/// The token counts of an answer so far.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct Counts {
    input: Option<u64>,
    output: Option<u64>,
    cache_read: Option<u64>,
    cache_write: Option<u64>,
    thinking: Option<u64>,
}

impl Counts {
    /// Adds a `usage` object. Counts are cumulative: later ones replace earlier ones, but some servers reset earlier
    /// ones to zero. Values that are no numbers are ignored.
    pub(crate) fn take(&mut self, usage: &Value) {
        let set = |to: &mut Option<u64>, value: &Value| {
            if let Some(count) = count(value).filter(|count| *count > 0 || to.is_none()) {
                *to = Some(count);
            }
        };
        set(&mut self.input, &usage["input_tokens"]);
        set(&mut self.output, &usage["output_tokens"]);
        set(&mut self.cache_read, &usage["cache_read_input_tokens"]);
        set(&mut self.cache_write, &usage["cache_creation_input_tokens"]);
        set(
            &mut self.thinking,
            &usage["output_tokens_details"]["thinking_tokens"],
        );
    }

    /// `None` if no counts were received.
    pub(crate) fn usage(self) -> Option<Usage> {
        self.input.or(self.output)?;
        let [input, output] = [self.input, self.output].map(Option::unwrap_or_default);
        let [cached, written] = [self.cache_read, self.cache_write].map(Option::unwrap_or_default);
        Some(Usage {
            cached_tokens: cached,
            cache_write_tokens: written,
            reasoning_tokens: self.thinking.unwrap_or_default().min(output),
            ..Usage::of(input + cached + written, output)
        })
    }
}

pub(crate) fn count(value: &Value) -> Option<u64> {
    let text = match value {
        Value::Number(number) => number.to_string(),
        Value::String(text) => text.clone(),
        _ => return None,
    };
    TokenCount::from_json(&text).map(TokenCount::get)
}

/// The `usage` object for these tokens.
#[must_use]
pub fn usage_value(usage: Usage) -> Value {
    let fresh = usage
        .input_tokens
        .saturating_sub(usage.cached_tokens)
        .saturating_sub(usage.cache_write_tokens);
    let mut json = json!({
        "input_tokens": fresh,
        "cache_creation_input_tokens": usage.cache_write_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "output_tokens": usage.output_tokens,
    });
    if usage.reasoning_tokens > 0 {
        json["output_tokens_details"] = json!({"thinking_tokens": usage.reasoning_tokens});
    }
    json
}

#[cfg(test)]
mod tests {
    use super::*;

    fn taken(said: &[Value]) -> Option<Usage> {
        let mut counts = Counts::default();
        said.iter().for_each(|said| counts.take(said));
        counts.usage()
    }

    #[test]
    fn cached_tokens_are_part_of_the_input() {
        let begun = json!({"input_tokens": 3, "cache_read_input_tokens": 100, "cache_creation_input_tokens": 20, "output_tokens": 1});
        let ended = json!({"output_tokens": 50, "output_tokens_details": {"thinking_tokens": 7}});
        let usage = Usage {
            cached_tokens: 100,
            cache_write_tokens: 20,
            reasoning_tokens: 7,
            ..Usage::of(123, 50)
        };
        assert_eq!(taken(&[begun, ended]), Some(usage));
        assert_eq!(taken(&[usage_value(usage)]), Some(usage));
    }

    #[test]
    fn invalid_counts_are_ignored() {
        for (said, expected) in [
            (vec![], None),
            (vec![json!(null)], None),
            (
                vec![json!({"input_tokens": "12", "output_tokens": 3.0})],
                Some(Usage::of(12, 3)),
            ),
            (vec![json!({"input_tokens": {}, "output_tokens": -1})], None),
            (
                vec![
                    json!({"input_tokens": 12}),
                    json!({"input_tokens": 0, "output_tokens": 4}),
                ],
                Some(Usage::of(12, 4)),
            ),
            (
                vec![
                    json!({"input_tokens": 0, "output_tokens": 0}),
                    json!({"input_tokens": 9}),
                ],
                Some(Usage::of(9, 0)),
            ),
        ] {
            assert_eq!(taken(&said), expected, "{said:?}");
        }
    }
}
