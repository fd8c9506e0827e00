//! Converts [`Parameters`] from and to the fields of Chat Completions.

use serde_json::{Map, Value, json};

use super::{AnswerFormat, Effort, Parameters, Reasoning, ToolChoice};

impl Parameters {
    /// The parameters in a request; those in other forms than that of Chat Completions are ignored.
    #[must_use]
    pub fn of_chat(fields: &Map<String, Value>) -> Self {
        let limit = ["max_completion_tokens", "max_tokens"]
            .iter()
            .find_map(|name| fields.get(*name)?.as_u64());
        Self {
            temperature: fields.get("temperature").and_then(Value::as_f64),
            top_p: fields.get("top_p").and_then(Value::as_f64),
            max_output_tokens: limit,
            stop: stop(fields.get("stop")),
            seed: fields.get("seed").and_then(Value::as_i64),
            reasoning: reasoning(fields),
            tool_choice: fields
                .get("tool_choice")
                .map(tool_choice)
                .unwrap_or_default(),
            parallel_tool_calls: fields.get("parallel_tool_calls").and_then(Value::as_bool),
            answer_format: fields
                .get("response_format")
                .and_then(Self::answer_format_of_chat),
        }
    }

    /// The parameters as fields of Chat Completions.
    #[must_use]
    pub fn to_chat(&self) -> Map<String, Value> {
        let mut fields = Map::new();
        let mut put = |name: &str, value: Option<Value>| {
            fields.extend(value.map(|value| (name.to_owned(), value)));
        };
        put("temperature", self.temperature.map(Value::from));
        put("top_p", self.top_p.map(Value::from));
        put("max_tokens", self.max_output_tokens.map(Value::from));
        put("stop", (!self.stop.is_empty()).then(|| json!(self.stop)));
        put("seed", self.seed.map(Value::from));
        put(
            "parallel_tool_calls",
            self.parallel_tool_calls.map(Value::from),
        );
        put(
            "tool_choice",
            match &self.tool_choice {
                ToolChoice::Auto => None,
                ToolChoice::None => Some("none".into()),
                ToolChoice::Required => Some("required".into()),
                ToolChoice::Tool(name) => {
                    Some(json!({"type": "function", "function": {"name": name}}))
                }
            },
        );
        match self.reasoning {
            None => {}
            Some(Reasoning::Off) => put("reasoning_effort", Some("none".into())),
            Some(Reasoning::On) => put("reasoning", Some(json!({"enabled": true}))),
            Some(Reasoning::Budget(tokens)) => {
                put("reasoning", Some(json!({"max_tokens": tokens})))
            }
            Some(Reasoning::Effort(effort)) => {
                put("reasoning_effort", Some(effort_name(effort).into()))
            }
        }
        put("response_format", self.answer_format.as_ref().map(|format| match format {
            AnswerFormat::Json => json!({"type": "json_object"}),
            AnswerFormat::Schema { name, schema, strict } => {
                json!({"type": "json_schema", "json_schema": {"name": name, "schema": schema, "strict": strict}})
            }
        }));
        fields
    }

    /// The format in `response_format`; `None` for text.
    #[must_use]
    pub fn answer_format_of_chat(format: &Value) -> Option<AnswerFormat> {
        let text = |value: &Value, name: &str| value.get(name)?.as_str().map(str::to_owned);
        match format.get("type")?.as_str()? {
            "json_object" => Some(match format.get("schema") {
                // llama.cpp's form of the same.
                Some(schema) => of_schema("answer".to_owned(), schema.clone(), false),
                None => AnswerFormat::Json,
            }),
            "json_schema" => {
                let named = format.get("json_schema")?;
                let name = text(named, "name").unwrap_or_else(|| "answer".to_owned());
                let strict = named
                    .get("strict")
                    .and_then(Value::as_bool)
                    .unwrap_or(false);
                Some(of_schema(name, named.get("schema")?.clone(), strict))
            }
            _ => None,
        }
    }
}

pub(crate) fn effort_name(effort: Effort) -> &'static str {
    match effort {
        Effort::Minimal => "minimal",
        Effort::Low => "low",
        Effort::Medium => "medium",
        Effort::High => "high",
        Effort::XHigh => "xhigh",
    }
}

fn of_schema(name: String, schema: Value, strict: bool) -> AnswerFormat {
    AnswerFormat::Schema {
        name,
        schema,
        strict,
    }
}

fn stop(value: Option<&Value>) -> Vec<String> {
    match value {
        Some(Value::String(text)) => vec![text.clone()],
        Some(Value::Array(texts)) => texts
            .iter()
            .filter_map(Value::as_str)
            .map(str::to_owned)
            .collect(),
        _ => Vec::new(),
    }
}

fn tool_choice(value: &Value) -> ToolChoice {
    match value.as_str() {
        Some("none") => ToolChoice::None,
        Some("required" | "any") => ToolChoice::Required,
        Some(_) => ToolChoice::Auto,
        None => match value
            .pointer("/function/name")
            .or_else(|| value.get("name"))
            .and_then(Value::as_str)
        {
            Some(name) => ToolChoice::Tool(name.to_owned()),
            None => ToolChoice::Auto,
        },
    }
}

/// `reasoning_effort` of OpenAI, or `reasoning` of OpenRouter.
fn reasoning(fields: &Map<String, Value>) -> Option<Reasoning> {
    let unified = fields.get("reasoning").and_then(Value::as_object);
    let of = |name: &str| unified.and_then(|unified| unified.get(name));
    if let Some(budget) = of("max_tokens").and_then(Value::as_u64) {
        return Some(if budget == 0 {
            Reasoning::Off
        } else {
            Reasoning::Budget(budget)
        });
    }
    let effort = fields
        .get("reasoning_effort")
        .or_else(|| of("effort"))
        .and_then(Value::as_str);
    match effort {
        Some("none") => Some(Reasoning::Off),
        Some("minimal") => Some(Reasoning::Effort(Effort::Minimal)),
        Some("low") => Some(Reasoning::Effort(Effort::Low)),
        Some("medium") => Some(Reasoning::Effort(Effort::Medium)),
        Some("high") => Some(Reasoning::Effort(Effort::High)),
        Some("xhigh" | "max") => Some(Reasoning::Effort(Effort::XHigh)),
        _ => match of("enabled").and_then(Value::as_bool) {
            Some(true) => Some(Reasoning::On),
            Some(false) => Some(Reasoning::Off),
            None => None,
        },
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(fields: &Value) -> Parameters {
        Parameters::of_chat(fields.as_object().unwrap())
    }

    #[test]
    fn reads_chat_completions_fields() {
        let all = read(&json!({
            "temperature": 0.5, "top_p": 0.9, "max_tokens": 5, "max_completion_tokens": 7, "stop": ["a", "b"], "seed": -1,
            "reasoning_effort": "high", "tool_choice": {"type": "function", "function": {"name": "ls"}},
            "parallel_tool_calls": false,
            "response_format": {"type": "json_schema", "json_schema": {"name": "n", "strict": true, "schema": {"type": "object"}}},
        }));
        let format = AnswerFormat::Schema {
            name: "n".to_owned(),
            schema: json!({"type": "object"}),
            strict: true,
        };
        let expected = Parameters {
            temperature: Some(0.5),
            top_p: Some(0.9),
            max_output_tokens: Some(7),
            stop: vec!["a".to_owned(), "b".to_owned()],
            seed: Some(-1),
            reasoning: Some(Reasoning::Effort(Effort::High)),
            tool_choice: ToolChoice::Tool("ls".to_owned()),
            parallel_tool_calls: Some(false),
            answer_format: Some(format),
        };
        assert_eq!(all, expected);
        assert_eq!(Parameters::of_chat(&expected.to_chat()), expected);
        assert_eq!(
            read(&json!({"temperature": "warm", "stop": 1, "tool_choice": "auto"})),
            Parameters::default()
        );
    }

    #[test]
    fn reads_how_much_to_reason() {
        for (fields, expected) in [
            (json!({"reasoning_effort": "none"}), Some(Reasoning::Off)),
            (
                json!({"reasoning": {"effort": "xhigh"}}),
                Some(Reasoning::Effort(Effort::XHigh)),
            ),
            (
                json!({"reasoning": {"max_tokens": 2000}}),
                Some(Reasoning::Budget(2000)),
            ),
            (
                json!({"reasoning": {"max_tokens": 0}}),
                Some(Reasoning::Off),
            ),
            (json!({"reasoning": {"enabled": true}}), Some(Reasoning::On)),
            (
                json!({"reasoning": {"enabled": false}}),
                Some(Reasoning::Off),
            ),
            (json!({"reasoning": {}}), None),
        ] {
            let parameters = read(&fields);
            assert_eq!(parameters.reasoning, expected, "{fields}");
            assert_eq!(
                Parameters::of_chat(&parameters.to_chat()),
                parameters,
                "{fields}"
            );
        }
    }
}
