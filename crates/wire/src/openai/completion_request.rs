//! Decodes the body of `POST /v1/chat/completions` for an agent.

use domain::{Message, ModelParameters};
use serde_json::{Map, Value, json};

use crate::{
    RequestMetadata,
    chat_stream::{Mode, mode},
    conversation::{
        Checked, InvalidRequest, check_says_something, messages, object, optional_text, present,
        text, wrong,
    },
    openai::research_prefix::take_research_prefix,
    request_parameters,
};

/// Maximum number of a caller's tools.
const TOOLS_LIMIT: usize = 128;
/// Maximum length of a name of a tool.
const NAME_LIMIT: usize = 64;

/// A validated request.
#[derive(Debug, Clone, PartialEq)]
pub struct CompletionRequest {
    /// The model name in the request.
    pub model: String,
    /// The conversation, without research prefixes; at least one user message is not empty.
    pub messages: Vec<Message>,
    /// The mode that a prefix of the last user message selects, or else the field `mode`.
    pub mode: Mode,
    /// Whether to stream; false by default.
    pub stream: bool,
    /// Whether the stream ends with the usage.
    pub include_usage: bool,
    /// Whether the caller wants the work as well: statuses, tool rows, sources.
    pub include_status: bool,
    /// Tools that the caller runs itself.
    pub tools: Vec<CallerTool>,
    /// The parameters of its model calls.
    pub parameters: ModelParameters,
    /// The required JSON format, as sent by the caller; `None` for plain text.
    pub answer_format: Option<Value>,
    /// Attachments, and features that are switched off.
    pub metadata: RequestMetadata,
}

/// A caller's tool.
#[derive(Debug, Clone, PartialEq)]
pub struct CallerTool {
    /// Its name, `[a-zA-Z0-9_-]{1,64}`.
    pub name: String,
    /// What it does; may be empty.
    pub description: String,
    /// JSON Schema of its arguments, an object.
    pub parameters: Value,
}

impl CompletionRequest {
    /// Decodes a request body. Unsupported features of an agent are rejected, not ignored.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        check_single_answer(&fields)?;
        let mut messages = messages(fields.get("messages"))?;
        let mode = match take_research_prefix(&mut messages) {
            Mode::Chat => mode(&fields)?,
            asked => asked,
        };
        check_says_something(&messages)?;
        let tools = if wants_tools(&fields)? {
            caller_tools(&fields, "function.name", tool)?
        } else {
            Vec::new()
        };
        let options = stream_options(&fields)?;
        let option = |name: &str| flag(&options, name, &format!("stream_options.{name}"));
        Ok(Self {
            model: match optional_text(&fields, "model")? {
                Some(model) if !model.is_empty() => model,
                _ => return wrong("`model`", "the name of a model; GET /v1/models lists them"),
            },
            messages,
            mode,
            stream: flag(&fields, "stream", "stream")?,
            include_usage: option("include_usage")?,
            include_status: option("include_status")?,
            tools,
            parameters: request_parameters::of_chat(&fields)?,
            answer_format: answer_format(&fields)?,
            metadata: RequestMetadata::of(&fields)?,
        })
    }
}

pub(crate) fn flag(fields: &Map<String, Value>, name: &str, shown: &str) -> Checked<bool> {
    match present(fields, name) {
        None => Ok(false),
        Some(Value::Bool(flag)) => Ok(*flag),
        Some(_) => wrong(&format!("`{shown}`"), "true or false"),
    }
}

pub(crate) fn stream_options(fields: &Map<String, Value>) -> Checked<Map<String, Value>> {
    match present(fields, "stream_options") {
        None => Ok(Map::new()),
        Some(Value::Object(options)) => Ok(options.clone()),
        Some(_) => wrong("`stream_options`", "an object"),
    }
}

fn check_single_answer(fields: &Map<String, Value>) -> Checked<()> {
    match present(fields, "n") {
        None => Ok(()),
        Some(number) if number.as_u64() == Some(1) => Ok(()),
        Some(_) => Err(InvalidRequest(
            "`n` must be 1: an agent gives one answer. Ask again for another.".into(),
        )),
    }
}

fn answer_format(fields: &Map<String, Value>) -> Checked<Option<Value>> {
    let Some(format) = present(fields, "response_format") else {
        return Ok(None);
    };
    match format.get("type").and_then(Value::as_str) {
        Some("text") => Ok(None),
        Some("json_object") => Ok(Some(format.clone())),
        Some("json_schema")
            if format
                .pointer("/json_schema/schema")
                .is_some_and(Value::is_object) =>
        {
            Ok(Some(format.clone()))
        }
        Some("json_schema") => wrong(
            "`response_format.json_schema`",
            "an object with a `name` and a `schema`",
        ),
        _ => wrong(
            "`response_format`",
            "an object whose `type` is text, json_object or json_schema",
        ),
    }
}

/// Whether the caller's tools may be used. An agent cannot be forced to use one.
fn wants_tools(fields: &Map<String, Value>) -> Checked<bool> {
    match present(fields, "tool_choice") {
        None => Ok(true),
        Some(Value::String(choice)) if choice == "auto" => Ok(true),
        Some(Value::String(choice)) if choice == "none" => Ok(false),
        Some(_) => wrong(
            "`tool_choice`",
            "\"auto\" or \"none\" here: an agent chooses its tools itself",
        ),
    }
}

/// The caller's tools, each entry decoded by `read`, which may return any number. Names, which are in each at `name`,
/// must be unique.
pub(crate) fn caller_tools(
    fields: &Map<String, Value>,
    name: &str,
    read: fn(&Value, &str) -> Checked<Vec<CallerTool>>,
) -> Checked<Vec<CallerTool>> {
    let tools = match present(fields, "tools") {
        None => return Ok(Vec::new()),
        Some(Value::Array(tools)) if tools.len() <= TOOLS_LIMIT => tools,
        Some(_) => return wrong("`tools`", &format!("a list of at most {TOOLS_LIMIT} tools")),
    };
    let mut checked: Vec<CallerTool> = Vec::with_capacity(tools.len());
    for (at, value) in tools.iter().enumerate() {
        for tool in read(value, &format!("tools[{at}]"))? {
            if checked.iter().any(|other| other.name == tool.name) {
                return wrong(
                    &format!("`tools[{at}].{name}`"),
                    "different from the names before it",
                );
            }
            checked.push(tool);
        }
    }
    Ok(checked)
}

pub(crate) fn tool(value: &Value, at: &str) -> Checked<Vec<CallerTool>> {
    if value.get("type").is_some_and(|kind| kind != "function") {
        return wrong(&format!("`{at}.type`"), "\"function\"");
    }
    match value.get("function") {
        Some(Value::Object(function)) => {
            Ok(vec![caller_tool(function, &format!("{at}.function"))?])
        }
        _ => wrong(&format!("`{at}.function`"), "an object with a `name`"),
    }
}

/// The name, description and parameters of a tool at `at`.
pub(crate) fn caller_tool(function: &Map<String, Value>, at: &str) -> Checked<CallerTool> {
    let name = function
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or_default();
    let is_letter = |letter: char| letter.is_ascii_alphanumeric() || matches!(letter, '_' | '-');
    if name.is_empty() || name.len() > NAME_LIMIT || !name.chars().all(is_letter) {
        let wanted = format!("1 to {NAME_LIMIT} letters, digits, `_` or `-`");
        return wrong(&format!("`{at}.name`"), &wanted);
    }
    let description = match present(function, "description") {
        None => "",
        Some(value) => text(value, &format!("`{at}.description`"))?,
    };
    let parameters = match present(function, "parameters") {
        None => json!({"type": "object", "properties": {}}),
        Some(parameters @ Value::Object(_)) => parameters.clone(),
        Some(_) => return wrong(&format!("`{at}.parameters`"), "a JSON Schema, an object"),
    };
    Ok(CallerTool {
        name: name.to_owned(),
        description: description.to_owned(),
        parameters,
    })
}

#[cfg(test)]
mod tests {
    use domain::Role;
    use proptest::prelude::*;

    use super::*;
    use crate::openai::asks_for_research;

    fn decode(body: &Value) -> Checked<CompletionRequest> {
        CompletionRequest::decode(body.to_string().as_bytes())
    }

    fn with(field: &str, value: Value) -> Value {
        let mut body =
            json!({"model": "glasshouse/agent", "messages": [{"role": "user", "content": "Hi"}]});
        body[field] = value;
        body
    }

    fn said(content: &str) -> Value {
        with("messages", json!([{"role": "user", "content": content}]))
    }

    #[test]
    fn the_smallest_request() {
        let request = decode(&said("Hi")).unwrap();
        assert_eq!(
            request,
            CompletionRequest {
                model: "glasshouse/agent".into(),
                messages: vec![Message::text(Role::User, "Hi")],
                mode: Mode::Chat,
                stream: false,
                include_usage: false,
                include_status: false,
                tools: Vec::new(),
                parameters: ModelParameters::default(),
                answer_format: None,
                metadata: RequestMetadata::default(),
            }
        );
    }

    #[test]
    fn metadata_is_read() {
        let request = decode(&with(
            "metadata",
            json!({"chat_id": "c 1", "tool_ids": ["ls"]}),
        ))
        .unwrap();
        assert_eq!(request.metadata.chat_id.as_deref(), Some("c 1"));
        assert_eq!(request.metadata.tool_ids, ["ls"]);
        assert!(decode(&with("metadata", json!("x"))).is_err());
    }

    #[test]
    fn a_full_request() {
        let mut body = with(
            "tools",
            json!([{"type": "function", "function": {"name": "get_time"}}]),
        );
        body["stream"] = json!(true);
        body["stream_options"] = json!({"include_usage": true, "include_status": true, "later": 1});
        body["temperature"] = json!(0.5);
        body["n"] = json!(1);
        body["response_format"] = json!({"type": "text"});
        body["tool_choice"] = json!("auto");
        let request = decode(&body).unwrap();
        assert!(request.stream && request.include_usage && request.include_status);
        assert_eq!(request.tools[0].name, "get_time");
        assert_eq!(
            request.tools[0].parameters,
            json!({"type": "object", "properties": {}})
        );
        assert_eq!(
            (request.parameters.temperature, request.answer_format),
            (Some(0.5), None)
        );
        body["response_format"] = json!({"type": "json_object"});
        assert_eq!(
            decode(&body).unwrap().answer_format,
            Some(json!({"type": "json_object"}))
        );
        body["tool_choice"] = json!("none");
        assert_eq!(decode(&body).unwrap().tools, []);
    }

    #[test]
    fn a_prefix_requests_research() {
        for (content, mode, rest) in [
            ("Hi", Mode::Chat, "Hi"),
            ("<research_request>\nWhy?", Mode::Research, "Why?"),
            ("<research_request_deep>\nWhy?", Mode::Deep, "Why?"),
            (
                "<research_request>Why?",
                Mode::Chat,
                "<research_request>Why?",
            ),
            (
                "Why <research_request>\n?",
                Mode::Chat,
                "Why <research_request>\n?",
            ),
            (
                " <research_request>\nWhy?",
                Mode::Chat,
                " <research_request>\nWhy?",
            ),
        ] {
            let request = decode(&said(content)).unwrap();
            assert_eq!(
                (request.mode, request.messages[0].plain_text().as_str()),
                (mode, rest)
            );
            let body = said(content).to_string();
            assert_eq!(
                asks_for_research(body.as_bytes()),
                mode != Mode::Chat,
                "{content}"
            );
            // Some programs send it in this form.
            assert_eq!(
                asks_for_research(body.replace('<', "\\u003c").as_bytes()),
                mode != Mode::Chat
            );
        }
        assert!(
            !asks_for_research(b"research_request")
                && !asks_for_research(b"[\"research_request\"]")
        );
        let earlier = json!([
            {"role": "user", "content": "<research_request>\nWhy?"},
            {"role": "assistant", "content": "So."},
            {"role": "user", "content": [{"type": "text", "text": "Thanks"}]},
        ]);
        let body = with("messages", earlier);
        let request = decode(&body).unwrap();
        assert_eq!(
            (request.mode, request.messages[0].plain_text().as_str()),
            (Mode::Chat, "Why?")
        );
        assert!(!asks_for_research(body.to_string().as_bytes()));
        assert!(
            decode(&said("<research_request>\n ")).is_err(),
            "nothing is left to research"
        );
    }

    #[test]
    fn invalid_values_are_named() {
        let function = |function: Value| json!([{"type": "function", "function": function}]);
        for (body, field) in [
            (
                json!({"messages": [{"role": "user", "content": "Hi"}]}),
                "model",
            ),
            (with("model", json!("")), "model"),
            (with("messages", json!([])), "messages"),
            (
                with("messages", json!([{"role": "boss"}])),
                "messages[0].role",
            ),
            (with("n", json!(2)), "n"),
            (with("n", json!("1")), "n"),
            (with("stream", json!(1)), "stream"),
            (with("stream_options", json!([])), "stream_options"),
            (
                with("stream_options", json!({"include_usage": 1})),
                "stream_options.include_usage",
            ),
            (
                with("response_format", json!({"type": "json_schema"})),
                "response_format.json_schema",
            ),
            (
                with("response_format", json!({"type": "xml"})),
                "response_format",
            ),
            (with("response_format", json!("json")), "response_format"),
            (with("tool_choice", json!("required")), "tool_choice"),
            (with("temperature", json!(3)), "temperature"),
            (with("max_tokens", json!("many")), "max_tokens"),
            (with("reasoning_effort", json!("much")), "reasoning_effort"),
            (with("tools", json!({})), "tools"),
            (with("tools", json!([{"type": "custom"}])), "tools[0].type"),
            (with("tools", json!([{}])), "tools[0].function"),
            (
                with("tools", function(json!({"name": "a b"}))),
                "tools[0].function.name",
            ),
            (
                with("tools", function(json!({"name": "a", "parameters": []}))),
                "tools[0].function.parameters",
            ),
            (
                with("tools", function(json!({"name": "a", "description": 1}))),
                "tools[0].function.description",
            ),
            (
                with(
                    "tools",
                    json!([{"function": {"name": "a"}}, {"function": {"name": "a"}}]),
                ),
                "tools[1].function.name",
            ),
        ] {
            let error = decode(&body).unwrap_err();
            assert_eq!(error.field(), Some(field), "{error}");
        }
        assert_eq!(CompletionRequest::decode(b"{").unwrap_err().field(), None);
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"[\{\}\[\]":,a-z0-9\\]{0,60}"#) {
            let _ = CompletionRequest::decode(text.as_bytes());
        }
    }
}
