//! The bodies of `POST /v1/messages` and `POST /v1/messages/count_tokens`.

use domain::{LeftOut, Parameter};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{
    PROVIDER, cache,
    content::{Block, CacheControl},
    messages::{Conversation, Turn},
    model::{Abilities, abilities},
    schema,
    thinking::{Plan, ThinkingConfig},
};
use crate::{
    openai::Tool,
    provider::{AnswerFormat, ModelRequest, Parameters, Reasoning, Sent, ToolChoice, never_taken},
    tool_schema::ToolFormat,
};

/// The body of `POST /v1/messages`.
#[must_use]
pub fn encode(request: &ModelRequest<'_>) -> Vec<u8> {
    write(&Body::new(request))
}

/// The same, and what is set that it leaves out.
#[must_use]
pub fn encode_with_left_out(request: &ModelRequest<'_>) -> (Vec<u8>, Vec<LeftOut>) {
    let body = Body::new(request);
    (write(&body), left_out(request.parameters, &body))
}

/// The body of `POST /v1/messages/count_tokens` for the same request.
#[must_use]
pub fn encode_count(request: &ModelRequest<'_>) -> Vec<u8> {
    let body = Body::new(request);
    write(&Body {
        max_tokens: None,
        temperature: None,
        top_p: None,
        stop_sequences: Vec::new(),
        stream: None,
        ..body
    })
}

fn left_out(parameters: &Parameters, body: &Body<'_>) -> Vec<LeftOut> {
    parameters.left_out(&Sent {
        temperature: body.temperature.is_some(),
        top_p: body.top_p.is_some(),
        max_output_tokens: true,
        stop: body.stop_sequences.len(),
        seed: false,
        reasoning: parameters.reasoning == Some(Reasoning::Off)
            || body.thinking.is_some()
            || body.output_config.effort.is_some(),
    })
}

/// The parameters that the model of this name never takes.
#[must_use]
pub fn unsupported(model: &str) -> Vec<Parameter> {
    never_taken(|set| {
        let parameters = &Parameters::default().under(set);
        let request = ModelRequest { model, messages: &[], tools: &[], parameters, stream: false };
        left_out(parameters, &Body::new(&request))
    })
}

/// The tokens in the answer of `count_tokens`; `None` if it has none.
#[must_use]
pub fn counted_tokens(body: &str) -> Option<u64> {
    serde_json::from_str::<Value>(body).ok()?.get("input_tokens")?.as_u64()
}

/// The betas that [`encode`]'s body needs, for the header `anthropic-beta`.
#[must_use]
pub fn betas(request: &ModelRequest<'_>) -> Vec<&'static str> {
    let model = abilities(request.model);
    let thinks = Plan::new(request.parameters, &model, true).thinks();
    let interleaves = model.interleaving_beta && thinks && !request.tools.is_empty();
    interleaves.then_some("interleaved-thinking-2025-05-14").into_iter().collect()
}

fn write(body: &Body<'_>) -> Vec<u8> {
    // Writing plain structs into memory cannot fail.
    serde_json::to_vec(body).unwrap_or_default()
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<Block<'a>>,
    messages: Vec<Turn<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Choice<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<ThinkingConfig>,
    #[serde(skip_serializing_if = "OutputConfig::is_empty")]
    output_config: OutputConfig,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    stream: Option<bool>,
}

#[derive(Debug, Serialize)]
struct WireTool<'a> {
    name: &'a str,
    #[serde(skip_serializing_if = "str::is_empty")]
    description: &'a str,
    input_schema: &'a RawValue,
    #[serde(skip_serializing_if = "Option::is_none")]
    cache_control: Option<CacheControl>,
}

#[derive(Debug, Serialize)]
struct Choice<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    disable_parallel_tool_use: bool,
}

#[derive(Debug, Default, Serialize)]
struct OutputConfig {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<OutputFormat>,
}

#[derive(Debug, Serialize)]
struct OutputFormat {
    #[serde(rename = "type")]
    kind: &'static str,
    schema: Value,
}

impl OutputConfig {
    fn is_empty(&self) -> bool {
        self.effort.is_none() && self.format.is_none()
    }
}

impl<'a> Body<'a> {
    fn new(request: &ModelRequest<'a>) -> Self {
        let model = abilities(request.model);
        let parameters = request.parameters;
        let mut conversation = Conversation::new(request.messages, PROVIDER, model.inline_system);
        let plan = Plan::new(parameters, &model, !conversation.calls_without_thinking());
        let mut tools: Vec<WireTool<'a>> = request.tools.iter().map(tool).collect();
        if cache::is_worth_it(&conversation, !tools.is_empty()) {
            cache::mark(&mut conversation);
            if let Some(last) = tools.last_mut() {
                last.cache_control = Some(CacheControl::EPHEMERAL);
            }
        }
        let (temperature, top_p) = sampling(parameters, &model, plan.thinks());
        Self {
            model: request.model,
            max_tokens: Some(plan.max_tokens),
            system: conversation.system,
            messages: conversation.turns,
            tool_choice: (!tools.is_empty()).then(|| choice(parameters, &model)).flatten(),
            tools,
            thinking: plan.thinking,
            output_config: OutputConfig { effort: plan.effort, format: format(parameters, &model) },
            temperature,
            top_p,
            // The API refuses blank ones.
            stop_sequences: parameters
                .stop
                .iter()
                .map(String::as_str)
                .filter(|it| !it.trim().is_empty())
                .collect(),
            stream: Some(request.stream),
        }
    }
}

fn tool<'a>(tool: &Tool<'a>) -> WireTool<'a> {
    WireTool {
        name: tool.name,
        description: tool.description,
        input_schema: tool.parameters.json_for(ToolFormat::Messages),
        cache_control: None,
    }
}

/// `None` is the API's default: the model decides.
fn choice<'a>(parameters: &'a Parameters, model: &Abilities) -> Option<Choice<'a>> {
    let disable_parallel_tool_use = parameters.parallel_tool_calls == Some(false);
    let (kind, name) = match &parameters.tool_choice {
        ToolChoice::None => {
            return Some(Choice { kind: "none", name: None, disable_parallel_tool_use: false });
        }
        ToolChoice::Required if model.forced_choice => ("any", None),
        ToolChoice::Tool(name) if model.forced_choice => ("tool", Some(name.as_str())),
        ToolChoice::Auto | ToolChoice::Required | ToolChoice::Tool(_) => ("auto", None),
    };
    let is_default = kind == "auto" && !disable_parallel_tool_use;
    (!is_default).then_some(Choice { kind, name, disable_parallel_tool_use })
}

fn format(parameters: &Parameters, model: &Abilities) -> Option<OutputFormat> {
    match &parameters.answer_format {
        Some(AnswerFormat::Schema { schema, .. }) if model.json_schema => {
            Some(OutputFormat { kind: "json_schema", schema: schema::for_answer(schema) })
        }
        _ => None,
    }
}

/// Temperature and `top_p`, of which many models take one at most, and none while they think.
fn sampling(parameters: &Parameters, model: &Abilities, thinks: bool) -> (Option<f64>, Option<f64>) {
    let temperature = parameters.temperature.map(|it| it.clamp(0.0, 1.0));
    match (model.sampling, thinks) {
        (false, _) => (None, None),
        (true, true) => (None, parameters.top_p.filter(|top_p| (0.95..=1.0).contains(top_p))),
        (true, false) if temperature.is_some() && !model.both_samplings => (temperature, None),
        (true, false) => (temperature, parameters.top_p),
    }
}

#[cfg(test)]
mod tests {
    use domain::{Message, Part, Provenance, Role, StoredBlock, ToolCall};
    use serde_json::json;

    use super::*;

    fn body(model: &str, messages: &[Message], parameters: &Parameters, with_tool: bool) -> Value {
        let schema = crate::tool_schema::ToolSchema::from(json!({"type": "object"}));
        let tool = Tool { name: "ls", description: "", parameters: &schema };
        let tools = if with_tool { vec![tool] } else { Vec::new() };
        let request = ModelRequest { model, messages, tools: &tools, parameters, stream: true };
        serde_json::from_slice(&encode(&request)).unwrap()
    }

    fn call(id: &str) -> ToolCall {
        ToolCall { id: id.to_owned(), name: "ls".to_owned(), arguments: String::new() }
    }

    fn calls(ids: &[&str]) -> Message {
        Message {
            tool_calls: ids.iter().map(|id| call(id)).collect(),
            ..Message::of(Role::Assistant, vec![])
        }
    }

    /// Roles with the kinds of their blocks.
    fn outline(body: &Value) -> Vec<String> {
        let block = |block: &Value| match block["type"].as_str().unwrap() {
            "tool_use" => format!("call {}", block["id"].as_str().unwrap()),
            "tool_result" if block["is_error"] == true => {
                format!("lost {}", block["tool_use_id"].as_str().unwrap())
            }
            "tool_result" => format!("result {}", block["tool_use_id"].as_str().unwrap()),
            "text" => block["text"].as_str().unwrap().to_owned(),
            other => other.to_owned(),
        };
        let turn = |turn: &Value| {
            let blocks: Vec<String> = turn["content"].as_array().unwrap().iter().map(block).collect();
            format!("{}: {}", turn["role"].as_str().unwrap(), blocks.join(", "))
        };
        body["messages"].as_array().unwrap().iter().map(turn).collect()
    }

    #[test]
    fn every_call_has_its_result_in_the_next_turn() {
        let user = |text: &str| Message::text(Role::User, text);
        let check = |messages: &[Message], expected: &[&str]| {
            let body = body("claude-sonnet-4-5", messages, &Parameters::default(), true);
            assert_eq!(outline(&body), expected);
        };
        check(
            &[
                user("go"),
                calls(&["a.1", "b"]),
                Message::tool_result("b", "two"),
                user("and"),
                Message::tool_result("a.1", ""),
                Message::text(Role::Assistant, "done \n"),
            ],
            &[
                "user: go",
                "assistant: call a_1, call b",
                "user: result b, result a_1, and",
                "assistant: done",
            ],
        );
        check(
            &[user("go"), calls(&["a"]), user("never mind"), calls(&["a"]), Message::tool_result("a", "x")],
            &[
                "user: go",
                "assistant: call a",
                "user: lost a, never mind",
                "assistant: call a_2",
                "user: result a_2",
            ],
        );
        check(
            &[user("go"), Message::tool_result("gone", "kept"), Message::text(Role::Assistant, " ")],
            &["user: go, kept"],
        );
        check(
            &[Message::text(Role::Assistant, "hi"), user("go"), calls(&["a"])],
            &["assistant: hi", "user: go", "assistant: call a", "user: lost a"],
        );
    }

    /// The API refuses an error without a word.
    #[test]
    fn failures_are_marked_and_never_without_words() {
        let failed = |id: &str, text: &str| Message { is_error: true, ..Message::tool_result(id, text) };
        let messages = [
            Message::text(Role::User, "go"),
            calls(&["a", "b"]),
            failed("a", "no such file"),
            failed("b", ""),
        ];
        let body = body("claude-sonnet-4-5", &messages, &Parameters::default(), false);
        let results = body["messages"][2]["content"].as_array().unwrap();
        let said: Vec<_> = results.iter().map(|it| (&it["is_error"], &it["content"][0]["text"])).collect();
        let (yes, empty) = (json!(true), json!("It failed and returned nothing."));
        assert_eq!(said, [(&yes, &json!("no such file")), (&yes, &empty)]);
    }

    #[test]
    fn instructions_in_the_middle_are_told_as_the_model_takes_them() {
        let messages = [
            Message::text(Role::System, "Be brief."),
            Message::text(Role::User, "a"),
            Message::text(Role::Assistant, "b"),
            Message::text(Role::System, "Be long."),
            Message::text(Role::User, "c"),
        ];
        let of = |model: &str| body(model, &messages, &Parameters::default(), false);
        assert_eq!(of("claude-opus-4-8")["system"][0]["text"], "Be brief.");
        assert_eq!(
            outline(&of("claude-opus-4-8")),
            ["user: a", "assistant: b", "user: c", "system: Be long."]
        );
        let tagged = ["user: a", "assistant: b", "user: <system>Be long.</system>, c"];
        assert_eq!(outline(&of("claude-sonnet-5")), tagged);
        let last = body("claude-opus-5", &messages[..4], &Parameters::default(), false);
        assert_eq!(outline(&last), ["user: a", "assistant: b", "user: .", "system: Be long."]);
    }

    fn answer(provider: &str, blocks: Vec<StoredBlock>) -> Message {
        Message {
            tool_calls: vec![call("1")],
            provenance: Some(Box::new(Provenance { provider: provider.to_owned(), blocks })),
            ..Message::text(Role::Assistant, "b")
        }
    }

    #[test]
    fn only_what_was_signed_here_goes_back() {
        let reasoning =
            |text: &str, data: Value| StoredBlock::Reasoning { text: text.to_owned(), data: Some(data) };
        let other = |data: Value| StoredBlock::Other { data };
        let stored = || {
            vec![
                reasoning("signed", json!({"type": "thinking", "signature": "sig"})),
                reasoning("unsigned", json!({"type": "thinking"})),
                reasoning("", json!({"type": "redacted_thinking", "data": "x"})),
                other(json!({"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}})),
                other(json!({"type": "web_search_tool_result", "tool_use_id": "s1", "content": []})),
                other(json!({"type": "server_tool_use", "id": "s2", "name": "web_search", "input": {}})),
                StoredBlock::Text { data: Some(json!({"citations": [{"url": "u"}]})) },
                StoredBlock::Call { id: "1".to_owned(), data: None },
            ]
        };
        let of = |provider: &str| {
            let messages = [
                answer(provider, stored()),
                Message::tool_result("1", "x"),
                Message::text(Role::Assistant, "c"),
            ];
            body("claude-sonnet-4-5", &messages, &Parameters::default(), true)["messages"][0]["content"]
                .take()
        };
        let expected = json!([
            {"type": "thinking", "thinking": "signed", "signature": "sig"},
            {"type": "redacted_thinking", "data": "x"},
            {"type": "server_tool_use", "id": "s1", "name": "web_search", "input": {}},
            {"type": "web_search_tool_result", "tool_use_id": "s1", "content": []},
            {"type": "text", "text": "b", "citations": [{"url": "u"}]},
            {"type": "tool_use", "id": "1", "name": "ls", "input": {}},
        ]);
        assert_eq!(of("anthropic"), expected);
        assert_eq!(of("gemini").as_array().unwrap().len(), 2, "text and call");
    }

    #[test]
    fn a_budget_is_left_out_where_calls_were_made_without_thinking() {
        let parameters = Parameters { reasoning: Some(Reasoning::Budget(2000)), ..Parameters::default() };
        let thinking = |answer: Message| {
            let messages = [Message::text(Role::User, "go"), answer, Message::tool_result("1", "x")];
            let body = body("claude-sonnet-4-5", &messages, &parameters, true);
            body["thinking"]["budget_tokens"].as_u64()
        };
        assert_eq!(thinking(calls(&["1"])), None);
        let signed = StoredBlock::Reasoning {
            text: String::new(),
            data: Some(json!({"type": "thinking", "signature": "s"})),
        };
        assert_eq!(thinking(answer("anthropic", vec![signed])), Some(2000));
    }

    /// The turns that are marked, the tools and the system prompt as `t` and `s`.
    fn marks(messages: &[Message]) -> Vec<String> {
        let body = body("claude-sonnet-4-5", messages, &Parameters::default(), true);
        let is_marked =
            |list: &Value| list.as_array().unwrap().iter().any(|it| !it["cache_control"].is_null());
        let places = [("t", &body["tools"]), ("s", &body["system"])];
        let mut marks: Vec<String> =
            places.into_iter().filter(|(_, list)| is_marked(list)).map(|(name, _)| name.to_owned()).collect();
        for (at, turn) in body["messages"].as_array().unwrap().iter().enumerate() {
            marks.extend(is_marked(&turn["content"]).then(|| at.to_string()));
        }
        assert_eq!(body.to_string().matches("cache_control").count(), marks.len());
        marks
    }

    #[test]
    fn the_prompt_is_cached_at_four_places() {
        let user = |text: &str| Message::text(Role::User, text);
        let said = Message::text(Role::Assistant, "done");
        let mut messages = vec![Message::text(Role::System, "s"), user("a")];
        assert_eq!(marks(&messages), ["t", "s", "0"]);
        // Steps: what the next call repeats, and what this one has repeated.
        messages.extend([calls(&["1"]), Message::tool_result("1", "x")]);
        assert_eq!(marks(&messages), ["t", "s", "0", "2"]);
        messages.extend([calls(&["2"]), Message::tool_result("2", "x")]);
        assert_eq!(marks(&messages), ["t", "s", "2", "4"]);
        // The next turn: what came before the request, which is all that stays as it is.
        messages.extend([said.clone(), user("b")]);
        assert_eq!(marks(&messages), ["t", "s", "5", "6"]);
        // A turn with so many blocks that what the turn before has cached is marked again.
        for step in 3..12 {
            messages.extend([calls(&[&step.to_string()]), Message::tool_result(step.to_string(), "x")]);
        }
        messages.extend([said, user("c")]);
        assert_eq!(marks(&messages), ["t", "5", "25", "26"]);
        let once = [Message::text(Role::System, "s"), user("a")];
        let once = body("claude-sonnet-4-5", &once, &Parameters::default(), false);
        assert!(!once.to_string().contains("cache_control"), "{once}");
    }

    #[test]
    fn parameters_go_where_the_model_takes_them() {
        let schema =
            AnswerFormat::Schema { name: "a".to_owned(), schema: json!({"type": "object"}), strict: true };
        let parameters = Parameters {
            temperature: Some(1.5),
            top_p: Some(0.5),
            stop: vec!["\n".to_owned(), "END".to_owned()],
            tool_choice: ToolChoice::Required,
            parallel_tool_calls: Some(false),
            answer_format: Some(schema),
            ..Parameters::default()
        };
        let of = |model: &str| {
            let mut body = body(model, &[Message::text(Role::User, "a")], &parameters, true);
            let fields = ["temperature", "top_p", "stop_sequences", "tool_choice", "output_config"];
            Value::Array(fields.iter().map(|field| body[*field].take()).collect())
        };
        let any = json!({"type": "any", "disable_parallel_tool_use": true});
        let format = json!({"format": {
            "type": "json_schema",
            "schema": {"type": "object", "additionalProperties": false},
        }});
        assert_eq!(of("claude-3-7-sonnet-latest"), json!([1.0, 0.5, ["END"], any, null]));
        assert_eq!(of("claude-haiku-4-5"), json!([1.0, null, ["END"], any, format]));
        assert_eq!(of("claude-opus-5"), json!([null, null, ["END"], any, format]));
        let auto = json!({"type": "auto", "disable_parallel_tool_use": true});
        assert_eq!(of("claude-opus-5-5"), json!([null, null, ["END"], auto, format]));
    }

    #[test]
    fn counting_leaves_out_what_is_about_the_answer() {
        let messages = [Message::of(Role::User, vec![Part::Text { text: "a".to_owned() }])];
        let parameters = Parameters { temperature: Some(0.0), ..Parameters::default() };
        let request = ModelRequest {
            model: "claude-sonnet-4-5",
            messages: &messages,
            tools: &[],
            parameters: &parameters,
            stream: false,
        };
        let body = String::from_utf8(encode_count(&request)).unwrap();
        let expected = r#"{"model":"claude-sonnet-4-5","messages":[{"role":"user","content":[{"type":"text","text":"a"}]}]}"#;
        assert_eq!(body, expected);
        assert_eq!(counted_tokens(r#"{"input_tokens":11}"#), Some(11));
        assert_eq!(counted_tokens("{}"), None);
    }
}
