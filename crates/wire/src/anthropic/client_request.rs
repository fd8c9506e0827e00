//! Decodes requests of clients that speak the Messages API, as a call of any model.

use domain::Message;
use provider::{
    AnswerFormat, Effort, Parameters, Reasoning, ToolChoice, openai::Tool, tool_schema::ToolSchema,
};
use serde_json::{Map, Value};

use super::client_messages;
use crate::conversation::{Checked, object, optional_text, present, text, wrong};

/// Maximum length of a name of a tool.
const NAME_LIMIT: usize = 128;

/// The body of `POST /v1/messages` or `POST /v1/messages/count_tokens`.
#[derive(Debug, Clone)]
pub struct ClientRequest {
    /// The model name in the request.
    pub model: String,
    /// The conversation; the system prompt is its first message.
    pub messages: Vec<Message>,
    /// Tools that the client runs itself. Tools of Anthropic's servers are left out.
    pub tools: Vec<ClientTool>,
    /// The parameters of the call.
    pub parameters: Parameters,
    /// Whether the answer is streamed.
    pub stream: bool,
}

/// A client's tool.
#[derive(Debug, Clone)]
pub struct ClientTool {
    /// Its name, `[a-zA-Z0-9_-]{1,128}`.
    pub name: String,
    /// What it does; may be empty.
    pub description: String,
    /// JSON Schema of its arguments.
    pub parameters: ToolSchema,
}

impl ClientTool {
    /// The tool for a request to a model.
    #[must_use]
    pub fn as_tool(&self) -> Tool<'_> {
        Tool {
            name: &self.name,
            description: &self.description,
            parameters: &self.parameters,
        }
    }
}

impl ClientRequest {
    /// Decodes the body. Cache breakpoints are dropped: prompts are cached automatically.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let model = match optional_text(&fields, "model")? {
            Some(model) if !model.is_empty() => model,
            _ => return wrong("`model`", "the name of a model; GET /v1/models lists them"),
        };
        let messages = client_messages::decode(&fields)?;
        let stream = match present(&fields, "stream") {
            None => false,
            Some(Value::Bool(stream)) => *stream,
            Some(_) => return wrong("`stream`", "true or false"),
        };
        Ok(Self {
            model,
            messages,
            tools: tools(&fields)?,
            parameters: parameters(&fields)?,
            stream,
        })
    }
}

fn tools(fields: &Map<String, Value>) -> Checked<Vec<ClientTool>> {
    let list = match present(fields, "tools") {
        None => return Ok(Vec::new()),
        Some(Value::Array(list)) => list,
        Some(_) => return wrong("`tools`", "a list"),
    };
    let mut tools = Vec::with_capacity(list.len());
    for (at, value) in list.iter().enumerate() {
        let at = format!("tools[{at}]");
        let Value::Object(tool) = value else {
            return wrong(&format!("`{at}`"), "an object");
        };
        if !matches!(
            tool.get("type").and_then(Value::as_str),
            None | Some("custom")
        ) {
            continue;
        }
        let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
        if name.is_empty() || name.len() > NAME_LIMIT || !name.bytes().all(fits) {
            return wrong(
                &format!("`{at}.name`"),
                "1 to 128 letters, digits, `_` and `-`",
            );
        }
        let description =
            present(tool, "description").map(|it| text(it, &format!("`{at}.description`")));
        let Some(schema @ Value::Object(_)) = tool.get("input_schema") else {
            return wrong(&format!("`{at}.input_schema`"), "a JSON Schema");
        };
        tools.push(ClientTool {
            name: name.to_owned(),
            description: description.transpose()?.unwrap_or_default().to_owned(),
            parameters: schema.clone().into(),
        });
    }
    Ok(tools)
}

fn parameters(fields: &Map<String, Value>) -> Checked<Parameters> {
    let choice = present(fields, "tool_choice");
    Ok(Parameters {
        temperature: number(fields, "temperature", 1.0)?,
        top_p: number(fields, "top_p", 1.0)?,
        max_output_tokens: match present(fields, "max_tokens") {
            None => None,
            Some(value) => match value.as_u64() {
                Some(tokens) if tokens > 0 => Some(tokens),
                _ => return wrong("`max_tokens`", "a whole number above 0"),
            },
        },
        stop: stop_sequences(fields)?,
        seed: None,
        reasoning: reasoning(fields)?,
        tool_choice: tool_choice(choice)?,
        parallel_tool_calls: choice
            .and_then(|choice| choice.get("disable_parallel_tool_use"))
            .and_then(Value::as_bool)
            .filter(|disable| *disable)
            .map(|_| false),
        answer_format: answer_format(fields),
    })
}

fn number(fields: &Map<String, Value>, name: &str, max: f64) -> Checked<Option<f64>> {
    match present(fields, name) {
        None => Ok(None),
        Some(value) => match value.as_f64() {
            Some(number) if (0.0..=max).contains(&number) => Ok(Some(number)),
            _ => wrong(&format!("`{name}`"), &format!("a number from 0 to {max}")),
        },
    }
}

fn stop_sequences(fields: &Map<String, Value>) -> Checked<Vec<String>> {
    match present(fields, "stop_sequences") {
        None => Ok(Vec::new()),
        Some(Value::Array(list)) => list
            .iter()
            .map(|value| text(value, "`stop_sequences`").map(str::to_owned))
            .collect(),
        Some(_) => wrong("`stop_sequences`", "a list of strings"),
    }
}

/// The level of `output_config.effort` takes precedence; it also applies without thinking.
fn reasoning(fields: &Map<String, Value>) -> Checked<Option<Reasoning>> {
    let thinking = present(fields, "thinking");
    let effort = present(fields, "output_config").and_then(|config| config["effort"].as_str());
    let effort = match effort {
        None => None,
        Some("low") => Some(Effort::Low),
        Some("medium") => Some(Effort::Medium),
        Some("high") => Some(Effort::High),
        Some("xhigh" | "max") => Some(Effort::XHigh),
        Some(_) => {
            return wrong(
                "`output_config.effort`",
                "\"low\", \"medium\", \"high\", \"xhigh\" or \"max\"",
            );
        }
    };
    match thinking.and_then(|thinking| thinking["type"].as_str()) {
        None if thinking.is_some() => wrong(
            "`thinking.type`",
            "\"enabled\", \"adaptive\" or \"disabled\"",
        ),
        None => Ok(effort.map(Reasoning::Effort)),
        Some("disabled" | "between_tools") => Ok(Some(Reasoning::Off)),
        Some("enabled") => match thinking.and_then(|thinking| thinking["budget_tokens"].as_u64()) {
            Some(tokens) => Ok(Some(Reasoning::Budget(tokens))),
            None => wrong(
                "`thinking.budget_tokens`",
                "a whole number of at least 1024",
            ),
        },
        Some(_) => Ok(Some(effort.map_or(Reasoning::On, Reasoning::Effort))),
    }
}

fn tool_choice(choice: Option<&Value>) -> Checked<ToolChoice> {
    let Some(choice) = choice else {
        return Ok(ToolChoice::Auto);
    };
    match (choice["type"].as_str(), choice["name"].as_str()) {
        (Some("auto"), _) => Ok(ToolChoice::Auto),
        (Some("none"), _) => Ok(ToolChoice::None),
        (Some("any"), _) => Ok(ToolChoice::Required),
        (Some("tool"), Some(name)) => Ok(ToolChoice::Tool(name.to_owned())),
        (Some("tool"), None) => wrong("`tool_choice.name`", "the name of a tool"),
        _ => wrong(
            "`tool_choice.type`",
            "\"auto\", \"any\", \"tool\" or \"none\"",
        ),
    }
}

/// The schema is in `output_config.format`, or in older clients in `output_format`.
fn answer_format(fields: &Map<String, Value>) -> Option<AnswerFormat> {
    let now = present(fields, "output_config").and_then(|config| config.get("format"));
    let format = now
        .filter(|format| !format.is_null())
        .or_else(|| present(fields, "output_format"))?;
    let schema = format.get("schema").filter(|schema| schema.is_object())?;
    Some(AnswerFormat::Schema {
        name: "answer".to_owned(),
        schema: schema.clone(),
        strict: true,
    })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn decode(mut fields: Value) -> Checked<ClientRequest> {
        fields["model"] = json!("m");
        fields["messages"] = json!([{"role": "user", "content": "hi"}]);
        ClientRequest::decode(fields.to_string().as_bytes())
    }

    #[test]
    fn thinking_and_effort_are_read() {
        for (fields, expected) in [
            (json!({}), None),
            (
                json!({"thinking": {"type": "disabled"}}),
                Some(Reasoning::Off),
            ),
            (
                json!({"thinking": {"type": "adaptive"}}),
                Some(Reasoning::On),
            ),
            (
                json!({"thinking": {"type": "enabled", "budget_tokens": 4000}}),
                Some(Reasoning::Budget(4000)),
            ),
            (
                json!({"output_config": {"effort": "max"}}),
                Some(Reasoning::Effort(Effort::XHigh)),
            ),
            (
                json!({"thinking": {"type": "adaptive"}, "output_config": {"effort": "low"}}),
                Some(Reasoning::Effort(Effort::Low)),
            ),
        ] {
            assert_eq!(
                decode(fields.clone()).unwrap().parameters.reasoning,
                expected,
                "{fields}"
            );
        }
    }

    #[test]
    fn parameters_and_tools_are_read() {
        let request = decode(json!({
            "max_tokens": 100, "temperature": 0.5, "stop_sequences": ["END"], "stream": true,
            "tools": [
                {"name": "ls", "input_schema": {"type": "object"}, "cache_control": {"type": "ephemeral"}},
                {"type": "web_search_20250305", "name": "web_search"},
            ],
            "tool_choice": {"type": "tool", "name": "ls", "disable_parallel_tool_use": true},
            "output_format": {"type": "json_schema", "schema": {"type": "object"}},
        }))
        .unwrap();
        let parameters = Parameters {
            temperature: Some(0.5),
            max_output_tokens: Some(100),
            stop: vec!["END".to_owned()],
            tool_choice: ToolChoice::Tool("ls".to_owned()),
            parallel_tool_calls: Some(false),
            answer_format: Some(AnswerFormat::Schema {
                name: "answer".to_owned(),
                schema: json!({"type": "object"}),
                strict: true,
            }),
            ..Parameters::default()
        };
        assert_eq!((request.parameters, request.stream), (parameters, true));
        let names: Vec<&str> = request
            .tools
            .iter()
            .map(|tool| tool.as_tool().name)
            .collect();
        assert_eq!(names, ["ls"]);
    }

    #[test]
    fn faults_are_named() {
        for (fields, expected) in [
            (
                json!({"max_tokens": 0}),
                "`max_tokens` must be a whole number above 0.",
            ),
            (
                json!({"temperature": 2}),
                "`temperature` must be a number from 0 to 1.",
            ),
            (json!({"stream": "yes"}), "`stream` must be true or false."),
            (
                json!({"tools": [{"name": "a b", "input_schema": {}}]}),
                "`tools[0].name` must be 1 to 128",
            ),
            (
                json!({"tools": [{"name": "a"}]}),
                "`tools[0].input_schema` must be a JSON Schema.",
            ),
            (
                json!({"tool_choice": {"type": "tool"}}),
                "`tool_choice.name` must be the name of a tool.",
            ),
            (
                json!({"thinking": {"type": "enabled"}}),
                "`thinking.budget_tokens` must be",
            ),
            (
                json!({"output_config": {"effort": "huge"}}),
                "`output_config.effort` must be",
            ),
        ] {
            let fault = decode(fields).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
        let fault = ClientRequest::decode(br#"{"messages": []}"#)
            .unwrap_err()
            .to_string();
        assert!(fault.starts_with("`model` must be"), "{fault}");
    }
}
