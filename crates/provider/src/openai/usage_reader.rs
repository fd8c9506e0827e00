//! Reads `usage` in the variants of Chat Completions servers. Invalid values are ignored and never an error, as a
//! finished answer is worth more than its bill.

use domain::{TokenCount, Usage};
use serde_json::{Map, Value};

type Fields = Map<String, Value>;

/// Maximum plausible cost of a call, US dollars.
const MAX_CALL_USD: f64 = 1e6;
/// xAI's unit of costs.
const TICKS_PER_USD: f64 = 1e10;

/// The usage in this JSON; `None` if nothing is counted, or a count is invalid: then our own estimate is more accurate.
#[must_use]
pub fn read_usage(json: &str) -> Option<Usage> {
    let fields: Fields = serde_json::from_str(json).ok()?;
    let prompt = count(&fields, "prompt_tokens")?;
    let inputs = count(&fields, "input_tokens")?;
    let outputs = first([
        count(&fields, "completion_tokens")?,
        count(&fields, "output_tokens")?,
    ]);
    let cost = cost_micro_usd(&fields);
    if prompt.is_none() && inputs.is_none() && outputs.is_none() && cost.is_none() {
        return None;
    }
    let details = |kind: &str, name: &str| {
        let of = |outer: &str| part(fields.get(outer)?.as_object()?, name);
        match kind {
            "input" => of("prompt_tokens_details").or_else(|| of("input_tokens_details")),
            _ => of("completion_tokens_details").or_else(|| of("output_tokens_details")),
        }
    };
    let top = |name: &str| part(&fields, name);
    let cached_apart = top("cache_read_input_tokens");
    let written_apart = top("cache_creation_input_tokens");
    let cached = first([
        details("input", "cached_tokens"),
        top("prompt_cache_hit_tokens"),
        top("cached_tokens"),
        top("num_cached_tokens"),
        cached_apart,
    ]);
    let cache_write = first([
        details("input", "cache_write_tokens"),
        details("input", "cache_creation_tokens"),
        written_apart,
    ]);
    let reasoning = first([
        details("output", "reasoning_tokens"),
        top("reasoning_tokens"),
    ])
    .unwrap_or(0);
    let cached = cached.unwrap_or(0);
    let cache_write = cache_write.unwrap_or(0);
    let mut input = first([prompt, inputs]).unwrap_or(0);
    // Anthropic excludes cached tokens from the input; its counts come through proxies unchanged.
    let is_anthropic =
        prompt.unwrap_or(0) == 0 && (cached_apart.is_some() || written_apart.is_some());
    if is_anthropic || cached.saturating_add(cache_write) > input {
        input = input.saturating_add(cached).saturating_add(cache_write);
    }
    let mut output = outputs.unwrap_or(0);
    // xAI counts reasoning separately, which shows in the total.
    let total = top("total_tokens").unwrap_or(0);
    if reasoning > 0 && total == input.saturating_add(output).saturating_add(reasoning) {
        output = output.saturating_add(reasoning);
    }
    let audio_output_tokens = details("output", "audio_tokens").unwrap_or(0);
    let audio_input = details("input", "audio_tokens").unwrap_or(0);
    Some(Usage {
        cached_tokens: cached,
        cache_write_tokens: cache_write,
        reasoning_tokens: reasoning.min(output),
        audio_tokens: audio_input.saturating_add(audio_output_tokens),
        audio_output_tokens,
        reported_cost_micro_usd: cost,
        ..Usage::of_call(TokenCount::new(input)?, TokenCount::new(output)?)
    })
}

/// The first that is more than 0, or 0 if one is given: some servers send zeros for what they do not count.
fn first<const N: usize>(counts: [Option<u64>; N]) -> Option<u64> {
    let mut said = counts.into_iter().flatten();
    let first = said.next()?;
    if first > 0 {
        Some(first)
    } else {
        Some(said.find(|count| *count > 0).unwrap_or(0))
    }
}

/// A part of the tokens, if valid.
fn part(fields: &Fields, name: &str) -> Option<u64> {
    count(fields, name).flatten()
}

/// `None` if the count is invalid, and `Some(None)` if there is none.
fn count(fields: &Fields, name: &str) -> Option<Option<u64>> {
    let tokens = match fields.get(name) {
        None | Some(Value::Null) => return Some(None),
        Some(Value::String(text)) if text.trim().is_empty() => return Some(None),
        Some(Value::String(text)) => TokenCount::from_json(text.trim()),
        Some(Value::Number(number)) => TokenCount::from_json(&number.to_string()),
        Some(_) => None,
    };
    tokens.map(|tokens| Some(tokens.get()))
}

/// The cost of the call according to the server.
fn cost_micro_usd(fields: &Fields) -> Option<u64> {
    let of = |name: &str| fields.get(name).and_then(dollars);
    let ticks = || Some(of("cost_in_usd_ticks")? / TICKS_PER_USD);
    let mut usd = of("cost")
        .or_else(|| of("total_cost"))
        .or_else(|| of("estimated_cost"))
        .or_else(ticks)?;
    // With a customer's own key, OpenRouter charges its fee and the provider charges separately.
    if fields.get("is_byok") == Some(&Value::Bool(true)) {
        let upstream = fields
            .get("cost_details")
            .and_then(|details| details.get("upstream_inference_cost"));
        usd += upstream.and_then(dollars).unwrap_or(0.0);
    }
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "within its bounds"
    )]
    (0.0..=MAX_CALL_USD)
        .contains(&usd)
        .then(|| (usd * 1e6 * (1.0 - 1e-12)).ceil() as u64)
}

/// A number, one in a text, or the total of an object of costs.
fn dollars(value: &Value) -> Option<f64> {
    match value {
        Value::Number(number) => number.as_f64(),
        Value::String(text) => text.trim().trim_start_matches('$').parse().ok(),
        Value::Object(costs) => {
            let total = ["total_cost", "total", "cost", "usd"]
                .into_iter()
                .find_map(|name| costs.get(name))?;
            if total.is_object() {
                None
            } else {
                dollars(total)
            }
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde::Deserialize;
    use serde_json::value::RawValue;

    use super::*;

    fn check(json: &str, expected: Option<Usage>) {
        assert_eq!(read_usage(json), expected, "{json}");
    }

    #[test]
    fn counts_under_every_name_and_in_every_form() {
        for json in [
            r#"{"prompt_tokens":12,"completion_tokens":3,"total_tokens":15}"#,
            r#"{"prompt_tokens":12.0,"completion_tokens":3.0}"#,
            r#"{"prompt_tokens":"12","completion_tokens":" 3 "}"#,
            r#"{"input_tokens":12,"output_tokens":3}"#,
            r#"{"prompt_tokens":12,"completion_tokens":3,"input_tokens":0,"output_tokens":0,"input_tokens_details":null}"#,
            r#"{"prompt_tokens":0,"completion_tokens":0,"input_tokens":12,"output_tokens":3}"#,
            r#"{"prompt_tokens":1,"prompt_tokens":12,"completion_tokens":3}"#,
            r#"{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":"none","cost":[]}"#,
            r#"{"prompt_tokens":12,"completion_tokens":3,"prompt_tokens_details":{"cached_tokens":-1}}"#,
            r#"{"prompt_tokens":12,"completion_tokens":3,"completion_tokens_details":{"reasoning_tokens":null}}"#,
        ] {
            check(json, Some(Usage::of(12, 3)));
        }
        check(
            r#"{"prompt_tokens":12,"completion_tokens":null}"#,
            Some(Usage::of(12, 0)),
        );
        for json in [
            "null",
            "\"\"",
            "[]",
            "7",
            "{}",
            "{",
            r#"{"prompt_tokens":""}"#,
            r#"{"total_tokens":5}"#,
        ] {
            check(json, None);
        }
        for figure in [
            "18446744073709551615",
            "1000000001",
            "-1",
            "\"many\"",
            "[]",
            "1e999",
            "{}",
        ] {
            check(
                &format!(r#"{{"prompt_tokens":{figure},"completion_tokens":3}}"#),
                None,
            );
            check(
                &format!(r#"{{"prompt_tokens":3,"output_tokens":{figure}}}"#),
                None,
            );
        }
    }

    #[test]
    fn cached_tokens_of_each_dialect() {
        let cached = |cached_tokens, cache_write_tokens| Usage {
            cached_tokens,
            cache_write_tokens,
            ..Usage::of(1_000, 5)
        };
        for json in [
            r#"{"prompt_tokens":1000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":900}}"#,
            r#"{"prompt_tokens":1000,"completion_tokens":5,"prompt_cache_hit_tokens":900,"prompt_cache_miss_tokens":100}"#,
            r#"{"prompt_tokens":1000,"completion_tokens":5,"cached_tokens":900}"#,
            r#"{"prompt_tokens":1000,"completion_tokens":5,"num_cached_tokens":"900"}"#,
            r#"{"input_tokens":1000,"output_tokens":5,"input_tokens_details":{"cached_tokens":900}}"#,
            r#"{"prompt_tokens":1000,"completion_tokens":5,"cache_read_input_tokens":900,"cache_creation_input_tokens":0}"#,
            // Counted separately.
            r#"{"input_tokens":100,"output_tokens":5,"cache_read_input_tokens":900}"#,
            r#"{"prompt_tokens":100,"completion_tokens":5,"cache_read_input_tokens":900}"#,
        ] {
            check(json, Some(cached(900, 0)));
        }
        for json in [
            r#"{"prompt_tokens":1000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":700,"cache_write_tokens":200}}"#,
            r#"{"prompt_tokens":1000,"completion_tokens":5,"prompt_tokens_details":{"cached_tokens":700,"cache_creation_tokens":200}}"#,
            r#"{"input_tokens":100,"output_tokens":5,"cache_read_input_tokens":700,"cache_creation_input_tokens":200}"#,
            r#"{"prompt_tokens":100,"completion_tokens":5,"cache_read_input_tokens":700,"cache_creation_input_tokens":200}"#,
        ] {
            check(json, Some(cached(700, 200)));
        }
    }

    #[test]
    fn reasoning_that_is_counted_apart_is_output() {
        let thought = |output, reasoning_tokens| {
            Some(Usage {
                reasoning_tokens,
                ..Usage::of(32, output)
            })
        };
        let json = |total: u64| {
            format!(
                r#"{{"prompt_tokens":32,"completion_tokens":9,"total_tokens":{total},
                    "completion_tokens_details":{{"reasoning_tokens":94}}}}"#
            )
        };
        check(&json(135), thought(103, 94));
        check(&json(41), thought(9, 9));
    }

    #[test]
    fn costs_in_every_form() {
        let check_cost = |cost: &str, expected: Option<u64>| {
            let usage = Usage {
                reported_cost_micro_usd: expected,
                ..Usage::of(1, 2)
            };
            check(
                &format!(r#"{{"prompt_tokens":1,"completion_tokens":2,{cost}}}"#),
                Some(usage),
            );
        };
        check_cost(r#""cost":0.0057"#, Some(5_700));
        check_cost(r#""cost":"0.0057""#, Some(5_700));
        check_cost(
            r#""cost":{"input_tokens_cost":0.1,"total_cost":0.0057}"#,
            Some(5_700),
        );
        check_cost(r#""estimated_cost":1e-7"#, Some(1));
        check_cost(r#""cost_in_usd_ticks":57000000"#, Some(5_700));
        check_cost(r#""cost":0"#, Some(0));
        check_cost(
            r#""cost":0,"is_byok":true,"cost_details":{"upstream_inference_cost":0.0003253}"#,
            Some(326),
        );
        check_cost(
            r#""cost":0.0057,"is_byok":false,"cost_details":{"upstream_inference_cost":0.0057}"#,
            Some(5_700),
        );
        for nonsense in [
            "-1",
            "null",
            "\"free\"",
            "1e300",
            "true",
            r#"{"total":{"total":1}}"#,
        ] {
            check_cost(&format!(r#""cost":{nonsense}"#), None);
        }
    }

    /// Recorded usage of providers, and its meaning.
    #[test]
    fn recordings() {
        #[derive(Deserialize)]
        struct Case {
            recording: String,
            usage: Box<RawValue>,
            read: Usage,
        }
        let cases: Vec<Case> =
            serde_json::from_str(include_str!("../../tests/usage/recordings.json")).unwrap();
        assert!(cases.len() > 10);
        for case in cases {
            assert_eq!(
                read_usage(case.usage.get()),
                Some(case.read),
                "{}",
                case.recording
            );
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"\{("(prompt_tokens|cost|total_tokens|cached_tokens)":([0-9]{1,22}|"[0-9e.$-]{0,9}"|-?[0-9]e[0-9]{1,3}|\{\}),){0,5}"completion_tokens":[0-9]{1,12}\}"#) {
            let _ = read_usage(&text);
        }
    }
}
