//! Decodes the model parameters in requests of each format to validated [`ModelParameters`].

use domain::{ModelParameters, Parameter, ReasoningEffort};
use provider::{Effort, Parameters, Reasoning, budget_effort};
use serde::Deserialize;
use serde_json::{Map, Value, json};

use crate::conversation::{Checked, InvalidRequest, present, text, wrong};

/// A level above our highest, as named by several providers.
const MAX_EFFORT: &str = "max";

/// Those of `POST /v1/chat/completions`; reasoning also in the forms of OpenRouter (`reasoning`) and of Anthropic's
/// models (`thinking`).
pub(crate) fn of_chat(fields: &Map<String, Value>) -> Checked<ModelParameters> {
    let mut read = Reader::default();
    read.same_names(
        fields,
        &[Parameter::Temperature, Parameter::TopP, Parameter::Seed],
    )?;
    for name in ["max_tokens", "max_completion_tokens"] {
        // Some servers use -1 for “no limit”.
        let limit = present(fields, name).filter(|limit| limit.as_i64() != Some(-1));
        read.set(Parameter::MaxOutputTokens, name, limit.cloned())?;
    }
    read.set(
        Parameter::Stop,
        "stop",
        present(fields, "stop").and_then(stop),
    )?;
    read.parameters.reasoning_effort = match present(fields, "reasoning_effort") {
        Some(word) => Some(effort(word, "reasoning_effort")?),
        None => other_reasoning(fields)?,
    };
    Ok(read.parameters)
}

/// Those of `POST /v1/responses`, without the reasoning effort: it may be a level that only the model's server knows.
pub(crate) fn of_responses(fields: &Map<String, Value>) -> Checked<ModelParameters> {
    let mut read = Reader::default();
    read.same_names(
        fields,
        &[
            Parameter::Temperature,
            Parameter::TopP,
            Parameter::MaxOutputTokens,
        ],
    )?;
    Ok(read.parameters)
}

/// Those of `POST /v1/messages`, whose types were validated before.
pub(crate) fn of_messages(set: &Parameters) -> Checked<ModelParameters> {
    let mut read = Reader::default();
    read.set(
        Parameter::Temperature,
        "temperature",
        set.temperature.map(Value::from),
    )?;
    read.set(Parameter::TopP, "top_p", set.top_p.map(Value::from))?;
    read.set(
        Parameter::MaxOutputTokens,
        "max_tokens",
        set.max_output_tokens.map(Value::from),
    )?;
    read.set(Parameter::Stop, "stop_sequences", Some(json!(set.stop)))?;
    read.parameters.reasoning_effort = set.reasoning.and_then(nearest_effort);
    Ok(read.parameters)
}

/// The level named in `field`.
pub(crate) fn effort(word: &Value, field: &str) -> Checked<ReasoningEffort> {
    let word = if word == MAX_EFFORT {
        ReasoningEffort::XHigh.name().into()
    } else {
        word.clone()
    };
    let mut read = Reader::default();
    read.set(Parameter::ReasoningEffort, field, Some(word))?;
    match read.parameters.reasoning_effort {
        Some(effort) => Ok(effort),
        None => wrong(&format!("`{field}`"), "a level of reasoning"),
    }
}

/// Sets values one by one, so that errors name the caller's field.
#[derive(Default)]
struct Reader {
    parameters: ModelParameters,
}

impl Reader {
    /// Those with our own names.
    fn same_names(&mut self, fields: &Map<String, Value>, parameters: &[Parameter]) -> Checked<()> {
        parameters.iter().try_for_each(|parameter| {
            self.set(
                *parameter,
                parameter.name(),
                fields.get(parameter.name()).cloned(),
            )
        })
    }

    /// Decodes the value of `field`. It replaces an earlier one.
    fn set(&mut self, parameter: Parameter, field: &str, value: Option<Value>) -> Checked<()> {
        let Some(value) = value else { return Ok(()) };
        let fields = Map::from_iter([(parameter.name().to_owned(), value)]);
        let read = ModelParameters::deserialize(fields).map_err(|error| {
            let ours = format!("`{}`", parameter.name());
            let theirs = format!("`{field}`");
            InvalidRequest(format!(
                "{}.",
                error.to_string().replacen(&ours, &theirs, 1)
            ))
        })?;
        self.parameters = read.over(&self.parameters);
        Ok(())
    }
}

/// A single text is a list of one; an empty one is none.
fn stop(value: &Value) -> Option<Value> {
    match value {
        Value::String(text) if text.is_empty() => None,
        Value::String(_) => Some(json!([value])),
        other => Some(other.clone()),
    }
}

/// OpenRouter's `reasoning`, or `thinking` as in Anthropic and others.
fn other_reasoning(fields: &Map<String, Value>) -> Checked<Option<ReasoningEffort>> {
    let part = |name: &str| present(fields, name).and_then(Value::as_object);
    if let Some(word) = part("reasoning").and_then(|reasoning| present(reasoning, "effort")) {
        return effort(word, "reasoning.effort").map(Some);
    }
    let in_reasoning = Parameters::of_chat(fields)
        .reasoning
        .and_then(nearest_effort);
    let Some(thinking) = part("thinking").filter(|_| in_reasoning.is_none()) else {
        return Ok(in_reasoning);
    };
    let kind = present(thinking, "type")
        .map(|kind| text(kind, "`thinking.type`"))
        .transpose()?;
    let budget = present(thinking, "budget_tokens").and_then(Value::as_u64);
    Ok(match kind {
        Some("disabled") => Some(ReasoningEffort::None),
        _ => budget.map(Reasoning::Budget).and_then(nearest_effort),
    })
}

/// The nearest level; `None` leaves it to the model.
fn nearest_effort(reasoning: Reasoning) -> Option<ReasoningEffort> {
    let effort = match reasoning {
        Reasoning::On => return None,
        Reasoning::Off | Reasoning::Budget(0) => return Some(ReasoningEffort::None),
        Reasoning::Budget(tokens) => budget_effort(tokens),
        Reasoning::Effort(effort) => effort,
    };
    Some(match effort {
        Effort::Minimal => ReasoningEffort::Minimal,
        Effort::Low => ReasoningEffort::Low,
        Effort::Medium => ReasoningEffort::Medium,
        Effort::High => ReasoningEffort::High,
        Effort::XHigh => ReasoningEffort::XHigh,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(value: Value) -> ModelParameters {
        serde_json::from_value(value).unwrap()
    }

    fn chat(fields: &Value) -> Checked<ModelParameters> {
        of_chat(fields.as_object().unwrap())
    }

    #[test]
    fn chat_completions_say_all_of_them() {
        let all = json!({
            "temperature": 0.5, "top_p": 0.9, "max_tokens": 5, "max_completion_tokens": 7, "stop": "END", "seed": -1,
            "reasoning_effort": "high", "presence_penalty": 1,
        });
        let expected = read(json!({
            "temperature": 0.5, "top_p": 0.9, "max_output_tokens": 7, "stop": ["END"], "seed": -1,
            "reasoning_effort": "high",
        }));
        assert_eq!(chat(&all), Ok(expected));
        let nothing = json!({"max_tokens": -1, "stop": "", "seed": null, "reasoning_effort": null, "reasoning": {}});
        assert_eq!(chat(&nothing), Ok(ModelParameters::default()));
    }

    #[test]
    fn reasoning_is_read_in_every_form() {
        use ReasoningEffort::{High, Low, Medium, None as Off, XHigh};
        for (fields, expected) in [
            (json!({"reasoning_effort": "max"}), Some(XHigh)),
            (json!({"reasoning": {"effort": "low"}}), Some(Low)),
            (json!({"reasoning": {"max_tokens": 9000}}), Some(Medium)),
            (json!({"reasoning": {"enabled": false}}), Some(Off)),
            (json!({"reasoning": {"enabled": true}}), None),
            (json!({"thinking": {"type": "disabled"}}), Some(Off)),
            (
                json!({"thinking": {"type": "enabled", "budget_tokens": 32_000}}),
                Some(High),
            ),
            (json!({"thinking": {"type": "enabled"}}), None),
            (
                json!({"reasoning_effort": "low", "thinking": {"type": "disabled"}}),
                Some(Low),
            ),
        ] {
            assert_eq!(
                chat(&fields).unwrap().reasoning_effort,
                expected,
                "{fields}"
            );
        }
    }

    #[test]
    fn faults_name_the_field_of_the_format() {
        for (fields, expected) in [
            (
                json!({"temperature": 3}),
                "`temperature` must be a number from 0 to 2.",
            ),
            (
                json!({"max_tokens": 0}),
                "`max_tokens` must be a whole number from 1 to 100000000.",
            ),
            (
                json!({"max_completion_tokens": "7"}),
                "`max_completion_tokens` must be a whole number",
            ),
            (
                json!({"stop": 1}),
                "`stop` must be a list of at most 16 texts",
            ),
            (json!({"seed": 1.5}), "`seed` must be a whole number."),
            (
                json!({"reasoning_effort": "much"}),
                "`reasoning_effort` must be \"none\", \"minimal\"",
            ),
            (
                json!({"reasoning": {"effort": "much"}}),
                "`reasoning.effort` must be \"none\"",
            ),
        ] {
            let fault = chat(&fields).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
        let long = Parameters {
            stop: vec!["x".repeat(257)],
            ..Parameters::default()
        };
        let fault = of_messages(&long).unwrap_err().to_string();
        assert!(
            fault.starts_with("`stop_sequences` must be a list of at most 16 texts"),
            "{fault}"
        );
        let fields = json!({"max_output_tokens": 0});
        let fault = of_responses(fields.as_object().unwrap()).unwrap_err();
        assert_eq!(fault.field(), Some("max_output_tokens"));
    }

    #[test]
    fn messages_parameters_are_read() {
        let set = Parameters {
            temperature: Some(1.0),
            max_output_tokens: Some(32_000),
            stop: vec!["END".to_owned()],
            reasoning: Some(Reasoning::Budget(2000)),
            ..Parameters::default()
        };
        let expected = read(json!({
            "temperature": 1.0, "max_output_tokens": 32_000, "stop": ["END"], "reasoning_effort": "low",
        }));
        assert_eq!(of_messages(&set), Ok(expected));
        assert_eq!(
            of_messages(&Parameters::default()),
            Ok(ModelParameters::default())
        );
    }
}
