//! The body of `POST /responses`.

use domain::{LeftOut, Parameter};
use serde::Serialize;
use serde_json::{Value, json, value::RawValue};

use super::{
    input::{InputItem, input},
    strict_schema::{allows_strict, allows_strict_text},
};
use crate::{
    AnswerFormat, ModelRequest, Parameters, Reasoning, Sent, ToolChoice, never_taken, openai::Tool,
    openai_family::ModelFamily, tool_schema::ToolFormat,
};

/// The minimum of the API.
const MIN_OUTPUT_TOKENS: u64 = 16;

#[derive(Serialize)]
struct Body<'a> {
    model: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    instructions: Option<String>,
    input: Vec<InputItem<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    parallel_tool_calls: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<WireReasoning>,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<TextFormat<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    max_output_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    store: bool,
    #[serde(skip_serializing_if = "<[_]>::is_empty")]
    include: &'static [&'static str],
    stream: bool,
}

#[derive(Serialize)]
struct WireTool<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    name: &'a str,
    description: &'a str,
    parameters: &'a RawValue,
    /// Always sent: the API's default is true, which rewrites the schema.
    strict: bool,
}

#[derive(Serialize)]
struct WireReasoning {
    #[serde(skip_serializing_if = "Option::is_none")]
    effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    summary: Option<&'static str>,
}

#[derive(Serialize)]
struct TextFormat<'a> {
    format: Format<'a>,
}

#[derive(Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Format<'a> {
    JsonObject,
    JsonSchema {
        name: &'a str,
        schema: &'a Value,
        strict: bool,
    },
}

/// The JSON of the request. `stop` and `seed` do not exist in this API and are left out, as are parameters that the
/// model is known to refuse.
#[must_use]
pub fn encode(request: &ModelRequest<'_>) -> Vec<u8> {
    let ModelRequest {
        model,
        messages,
        tools,
        parameters,
        stream,
    } = *request;
    let family = ModelFamily::of(model);
    let (instructions, input) = input(messages);
    let Said {
        temperature,
        top_p,
        max_output_tokens,
        reasoning,
    } = Said::new(parameters, family);
    let has_tools = !tools.is_empty();
    let body = Body {
        model,
        instructions,
        input,
        tools: tools.iter().map(tool).collect(),
        tool_choice: tool_choice(&parameters.tool_choice).filter(|_| has_tools),
        parallel_tool_calls: parameters.parallel_tool_calls.filter(|_| has_tools),
        reasoning,
        text: parameters.answer_format.as_ref().map(|format| TextFormat {
            format: answer_format(format),
        }),
        max_output_tokens,
        temperature,
        top_p,
        store: false,
        include: if family.reasons() {
            &["reasoning.encrypted_content"]
        } else {
            &[]
        },
        stream,
    };
    // Serializing plain structs to memory cannot fail.
    serde_json::to_vec(&body).unwrap_or_default()
}

/// The same as [`encode`], and the parameters that it leaves out.
#[must_use]
pub fn encode_with_left_out(request: &ModelRequest<'_>) -> (Vec<u8>, Vec<LeftOut>) {
    (
        encode(request),
        not_said(request.parameters, ModelFamily::of(request.model)),
    )
}

/// The parameters that a model of this name never accepts.
#[must_use]
pub fn unsupported(model: &str) -> Vec<Parameter> {
    never_taken(|set| not_said(&Parameters::default().under(set), ModelFamily::of(model)))
}

fn not_said(parameters: &Parameters, family: ModelFamily) -> Vec<LeftOut> {
    let said = Said::new(parameters, family);
    parameters.left_out(&Sent {
        temperature: said.temperature.is_some(),
        top_p: said.top_p.is_some(),
        max_output_tokens: true,
        stop: 0,
        seed: false,
        reasoning: said.reasoning.is_some()
            || (parameters.reasoning == Some(Reasoning::Off) && !family.reasons()),
    })
}

/// The parameters in the body that some models do not accept.
struct Said {
    temperature: Option<f64>,
    top_p: Option<f64>,
    max_output_tokens: Option<u64>,
    reasoning: Option<WireReasoning>,
}

impl Said {
    fn new(parameters: &Parameters, family: ModelFamily) -> Self {
        let reasoning = parameters
            .reasoning
            .filter(|_| family.reasons())
            .map(|wanted| reasoning(family, wanted));
        let effort = reasoning.as_ref().and_then(|reasoning| reasoning.effort);
        let takes_sampling = family.takes_sampling(effort);
        Self {
            temperature: parameters.temperature.filter(|_| takes_sampling),
            top_p: parameters.top_p.filter(|_| takes_sampling),
            max_output_tokens: parameters
                .max_output_tokens
                .map(|limit| limit.max(MIN_OUTPUT_TOKENS)),
            reasoning: reasoning.filter(|it| it.effort.is_some() || it.summary.is_some()),
        }
    }
}

fn reasoning(family: ModelFamily, wanted: Reasoning) -> WireReasoning {
    let summary = (wanted != Reasoning::Off).then_some("auto");
    WireReasoning {
        effort: family.effort(wanted),
        summary,
    }
}

fn tool<'a>(tool: &Tool<'a>) -> WireTool<'a> {
    let &Tool {
        name,
        description,
        parameters,
    } = tool;
    let parameters = parameters.json_for(ToolFormat::Responses);
    let strict = allows_strict_text(parameters.get());
    WireTool {
        kind: "function",
        name,
        description,
        parameters,
        strict,
    }
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!("none")),
        ToolChoice::Required => Some(json!("required")),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "name": name})),
    }
}

fn answer_format(format: &AnswerFormat) -> Format<'_> {
    match format {
        AnswerFormat::Json => Format::JsonObject,
        AnswerFormat::Schema {
            name,
            schema,
            strict,
        } => Format::JsonSchema {
            name,
            schema,
            strict: *strict && allows_strict(schema),
        },
    }
}

#[cfg(test)]
mod tests {
    use crate::tool_schema::ToolSchema;
    use domain::{Message, Part, Role};

    use super::*;
    use crate::{Effort, Parameters};

    fn encoded(model: &str, messages: &[Message], parameters: &Parameters) -> Value {
        let request = ModelRequest {
            model,
            messages,
            tools: &[],
            parameters,
            stream: false,
        };
        serde_json::from_slice(&encode(&request)).unwrap()
    }

    #[test]
    fn a_whole_body() {
        let closed = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"],
            "additionalProperties": false});
        let closed = ToolSchema::from(closed);
        let open = ToolSchema::from(json!({"type": "object"}));
        let parameters = Parameters {
            temperature: Some(0.5),
            max_output_tokens: Some(1),
            stop: vec!["x".into()],
            reasoning: Some(Reasoning::Effort(Effort::Low)),
            tool_choice: ToolChoice::Tool("weather".into()),
            parallel_tool_calls: Some(false),
            answer_format: Some(AnswerFormat::Schema {
                name: "out".into(),
                schema: json!({"type": "object"}),
                strict: true,
            }),
            ..Parameters::default()
        };
        let request = ModelRequest {
            model: "gpt-5-mini",
            messages: &[
                Message::text(Role::System, "Be brief."),
                Message::text(Role::System, "Be kind."),
                Message::text(Role::User, "hi"),
                Message::text(Role::System, "It is noon."),
            ],
            tools: &[
                Tool {
                    name: "weather",
                    description: "tells",
                    parameters: &closed,
                },
                Tool {
                    name: "ls",
                    description: "lists",
                    parameters: &open,
                },
            ],
            parameters: &parameters,
            stream: true,
        };
        let body: Value = serde_json::from_slice(&encode(&request)).unwrap();
        let expected = json!({
            "model": "gpt-5-mini", "instructions": "Be brief.\n\nBe kind.",
            "input": [{"role": "user", "content": "hi"}, {"role": "developer", "content": "It is noon."}],
            "tools": [
                {"type": "function", "name": "weather", "description": "tells", "parameters": closed, "strict": true},
                {"type": "function", "name": "ls", "description": "lists", "parameters": {"type": "object", "properties": {}}, "strict": false},
            ],
            "tool_choice": {"type": "function", "name": "weather"}, "parallel_tool_calls": false,
            "reasoning": {"effort": "low", "summary": "auto"},
            "text": {"format": {"type": "json_schema", "name": "out", "schema": {"type": "object"}, "strict": false}},
            "max_output_tokens": 16, "store": false, "include": ["reasoning.encrypted_content"], "stream": true,
        });
        assert_eq!(body, expected);
    }

    #[test]
    fn sampling_and_reasoning_as_the_model_takes_them() {
        let parameters = Parameters {
            temperature: Some(0.5),
            reasoning: Some(Reasoning::Off),
            ..Parameters::default()
        };
        let of = |model: &str| encoded(model, &[], &parameters);
        // As recorded: openai_responses_gpt_5_6_reasoning_off_keeps_sampling_params.
        let without = of("gpt-5.6-sol");
        assert_eq!(
            (&without["reasoning"], &without["temperature"]),
            (&json!({"effort": "none"}), &json!(0.5))
        );
        let plain = of("gpt-4o");
        assert!(
            plain.get("reasoning").is_none() && plain.get("include").is_none(),
            "{plain}"
        );
        assert_eq!(plain["temperature"], 0.5);
        assert!(of("o3").get("temperature").is_none());
    }

    #[test]
    fn an_empty_conversation_and_outputs_with_media() {
        let empty = encoded(
            "gpt-4o",
            &[Message::text(Role::System, "Write.")],
            &Parameters::default(),
        );
        assert_eq!(empty["input"], json!([{"role": "user", "content": ""}]));
        let mut output = Message::tool_result("c", "seen");
        output.content.push(Part::Image {
            url: "data:image/png;base64,AA==".into(),
        });
        output.content.push(Part::Audio {
            url: "data:audio/wav;base64,AA==".into(),
        });
        let next = Message::tool_result("d", "done");
        let body = encoded("gpt-5", &[output, next], &Parameters::default());
        let audio =
            json!({"type": "input_audio", "input_audio": {"data": "AA==", "format": "wav"}});
        assert_eq!(
            body["input"],
            json!([
                {"type": "function_call_output", "call_id": "c", "output": [
                    {"type": "input_text", "text": "seen"},
                    {"type": "input_image", "image_url": "data:image/png;base64,AA==", "detail": "auto"},
                ]},
                {"type": "function_call_output", "call_id": "d", "output": "done"},
                {"role": "user", "content": [{"type": "input_text", "text": "Media of the messages above:"}, audio]},
            ])
        );
    }

    #[test]
    fn custom_calls_have_custom_outputs() {
        let call = domain::ToolCall {
            id: "c".into(),
            name: "patch".into(),
            arguments: "*** Begin".into(),
        };
        let data = Some(json!({"id": "ctc", "custom": true}));
        let blocks = vec![domain::StoredBlock::Call {
            id: "c".into(),
            data,
        }];
        let provider = super::super::PROVIDER.into();
        let answer = Message {
            tool_calls: vec![call],
            provenance: Some(Box::new(domain::Provenance { provider, blocks })),
            ..Message::of(Role::Assistant, Vec::new())
        };
        let body = encoded(
            "gpt-5",
            &[answer, Message::tool_result("c", "ok")],
            &Parameters::default(),
        );
        assert_eq!(
            body["input"],
            json!([
                {"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": "*** Begin"},
                {"type": "custom_tool_call_output", "call_id": "c", "output": "ok"},
            ])
        );
    }
}
