//! The bodies of `POST /model/{id}/converse` and `…/converse-stream`.

use std::borrow::Cow;

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{LeftOut, Parameter};
use serde::Serialize;
use serde_json::{Map, Value, json, value::RawValue};

use super::{PROVIDER, families::Family};
use crate::{
    AnswerFormat, ModelRequest, Parameters, Reasoning as Wanted, Sent, ToolChoice,
    anthropic::{
        cache,
        content::{Block, Input, Kind, Source},
        messages::{Conversation, Turn},
        schema,
    },
    never_taken,
    tool_schema::ToolFormat,
    url_path::segment,
};

/// The body of `converse` and `converse-stream`; the path decides whether the answer is streamed.
#[must_use]
pub fn encode(request: &ModelRequest<'_>) -> Vec<u8> {
    write(&Body::new(request))
}

/// The same, and the parameters that it leaves out.
#[must_use]
pub fn encode_with_left_out(request: &ModelRequest<'_>) -> (Vec<u8>, Vec<LeftOut>) {
    let body = Body::new(request);
    (write(&body), left_out(request, &body))
}

/// The path of a streaming call. The name may be an ARN.
#[must_use]
pub fn path(model: &str) -> String {
    format!("model/{}/converse-stream", segment(model))
}

/// The path of an embedding model.
#[must_use]
pub fn embedding_path(model: &str) -> String {
    format!("model/{}/invoke", segment(model))
}

fn left_out(request: &ModelRequest<'_>, body: &Body<'_>) -> Vec<LeftOut> {
    let parameters = request.parameters;
    let family = Family::of(request.model);
    let Body {
        inference,
        additional,
        ..
    } = body;
    parameters.left_out(&Sent {
        temperature: inference.temperature.is_some(),
        top_p: inference.top_p.is_some(),
        max_output_tokens: true,
        stop: inference.stop_sequences.len(),
        seed: false,
        reasoning: !additional.is_empty()
            || (parameters.reasoning == Some(Wanted::Off) && family != Family::Other),
    })
}

/// The parameters that a model of this name never accepts.
#[must_use]
pub fn unsupported(model: &str) -> Vec<Parameter> {
    never_taken(|set| {
        let parameters = &Parameters::default().under(set);
        let request = ModelRequest {
            model,
            messages: &[],
            tools: &[],
            parameters,
            stream: false,
        };
        left_out(&request, &Body::new(&request))
    })
}

fn write<T: Serialize>(body: &T) -> Vec<u8> {
    // Serializing plain structs to memory cannot fail.
    serde_json::to_vec(body).unwrap_or_default()
}

#[derive(Debug, Serialize)]
struct Body<'a> {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    system: Vec<WireBlock<'a>>,
    messages: Vec<Message<'a>>,
    #[serde(
        rename = "inferenceConfig",
        skip_serializing_if = "Inference::is_empty"
    )]
    inference: Inference<'a>,
    #[serde(rename = "toolConfig", skip_serializing_if = "Option::is_none")]
    tools: Option<ToolConfig<'a>>,
    #[serde(rename = "outputConfig", skip_serializing_if = "Option::is_none")]
    output: Option<Value>,
    #[serde(
        rename = "additionalModelRequestFields",
        skip_serializing_if = "Map::is_empty"
    )]
    additional: Map<String, Value>,
}

#[derive(Debug, Serialize)]
struct Message<'a> {
    role: &'static str,
    content: Vec<WireBlock<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Inference<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    stop_sequences: Vec<&'a str>,
}

impl Inference<'_> {
    fn is_empty(&self) -> bool {
        let Self {
            max_tokens,
            temperature,
            top_p,
            stop_sequences,
        } = self;
        max_tokens.is_none()
            && temperature.is_none()
            && top_p.is_none()
            && stop_sequences.is_empty()
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum WireBlock<'a> {
    Text(Cow<'a, str>),
    Image(Media<'a>),
    Document(Document<'a>),
    ReasoningContent(Reasoning<'a>),
    #[serde(rename_all = "camelCase")]
    ToolUse {
        tool_use_id: Cow<'a, str>,
        name: &'a str,
        input: Input<'a>,
    },
    #[serde(rename_all = "camelCase")]
    ToolResult {
        tool_use_id: Cow<'a, str>,
        content: Vec<WireBlock<'a>>,
        status: &'static str,
    },
    CachePoint(CachePoint),
    #[serde(untagged)]
    Stored(&'a Map<String, Value>),
}

#[derive(Debug, Serialize)]
struct Media<'a> {
    format: &'a str,
    source: Bytes<'a>,
}

#[derive(Debug, Serialize)]
struct Document<'a> {
    name: String,
    #[serde(flatten)]
    media: Media<'a>,
}

#[derive(Debug, Serialize)]
struct Bytes<'a> {
    /// Base64.
    bytes: Cow<'a, str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum Reasoning<'a> {
    ReasoningText { text: &'a str, signature: &'a str },
    RedactedContent(&'a str),
}

#[derive(Debug, Serialize)]
struct CachePoint {
    #[serde(rename = "type")]
    kind: &'static str,
}

const CACHE_POINT: WireBlock<'static> = WireBlock::CachePoint(CachePoint { kind: "default" });

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ToolConfig<'a> {
    tools: Vec<WireTool<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool_choice: Option<Value>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
enum WireTool<'a> {
    #[serde(rename_all = "camelCase")]
    ToolSpec {
        name: &'a str,
        #[serde(skip_serializing_if = "str::is_empty")]
        description: &'a str,
        input_schema: Schema<'a>,
    },
    CachePoint(CachePoint),
}

#[derive(Debug, Serialize)]
struct Schema<'a> {
    json: &'a RawValue,
}

impl<'a> Body<'a> {
    fn new(request: &ModelRequest<'a>) -> Self {
        let family = Family::of(request.model);
        let parameters = request.parameters;
        let mut conversation = Conversation::new(request.messages, PROVIDER, false);
        let may_budget = !conversation.calls_without_thinking();
        let caching = family.caching();
        let caches = cache::is_worth_it(&conversation, !request.tools.is_empty());
        let mut tools = tools(request, &conversation);
        if caches && caching.prompt {
            cache::mark(&mut conversation);
        }
        if caches && caching.tools && !tools.is_empty() {
            tools.push(WireTool::CachePoint(CachePoint { kind: "default" }));
        }
        let reasoning = family.reasoning(parameters, !request.tools.is_empty(), may_budget);
        let mut documents = 0;
        Self {
            system: blocks(conversation.system, &mut documents),
            messages: messages(conversation.turns, &mut documents),
            inference: inference(parameters, family, reasoning.thinks, reasoning.max_tokens),
            tools: (!tools.is_empty()).then(|| ToolConfig {
                tools,
                tool_choice: choice(&parameters.tool_choice, family),
            }),
            output: output(parameters, family, request.model),
            additional: reasoning.fields,
        }
    }
}

fn messages<'a>(turns: Vec<Turn<'a>>, documents: &mut usize) -> Vec<Message<'a>> {
    turns
        .into_iter()
        .map(|turn| Message {
            role: turn.role,
            content: blocks(turn.content, documents),
        })
        .collect()
}

/// The schema of a tool that no longer exists.
const ANY_ARGUMENTS: &str = r#"{"type":"object","properties":{}}"#;

/// The tools; if none are offered, those that the conversation mentions, as the API requires their definitions.
fn tools<'a>(request: &ModelRequest<'a>, conversation: &Conversation<'a>) -> Vec<WireTool<'a>> {
    let spec = |name: &'a str, description: &'a str, json| WireTool::ToolSpec {
        name,
        description,
        input_schema: Schema { json },
    };
    let mut called: Vec<&'a str> = Vec::new();
    for block in conversation.turns.iter().flat_map(|turn| &turn.content) {
        if let Kind::ToolUse { name, .. } = &block.kind
            && !called.contains(name)
        {
            called.push(name);
        }
    }
    let offered = match request.parameters.tool_choice {
        // The API has no equivalent.
        ToolChoice::None if called.is_empty() => &[],
        _ => request.tools,
    };
    if offered.is_empty() {
        let any = serde_json::from_str(ANY_ARGUMENTS).unwrap_or(RawValue::NULL);
        return called
            .into_iter()
            .map(|name| spec(name, "No longer available.", any))
            .collect();
    }
    offered
        .iter()
        .map(|tool| {
            spec(
                tool.name,
                tool.description,
                tool.parameters.json_for(ToolFormat::Converse),
            )
        })
        .collect()
}

fn choice(choice: &ToolChoice, family: Family) -> Option<Value> {
    match choice {
        ToolChoice::Required if family.forced_choice() => Some(json!({"any": {}})),
        ToolChoice::Tool(name) if family.forced_choice() => Some(json!({"tool": {"name": name}})),
        // The default.
        ToolChoice::Auto | ToolChoice::None | ToolChoice::Required | ToolChoice::Tool(_) => None,
    }
}

fn inference<'a>(
    parameters: &'a Parameters,
    family: Family,
    thinks: bool,
    max_tokens: Option<u64>,
) -> Inference<'a> {
    let (sampling, both) = family.sampling();
    let is_claude = matches!(family, Family::Claude(_));
    let temperature = parameters.temperature.map(|it| it.clamp(0.0, 1.0));
    let temperature = temperature.filter(|_| sampling && !(thinks && is_claude));
    let top_p = parameters.top_p.filter(|top_p| {
        sampling && (both || temperature.is_none()) && (!(thinks && is_claude) || *top_p >= 0.95)
    });
    let stop = parameters
        .stop
        .iter()
        .map(String::as_str)
        .filter(|it| !it.trim().is_empty());
    Inference {
        max_tokens: max_tokens.or(parameters.max_output_tokens),
        temperature,
        top_p,
        stop_sequences: stop.collect(),
    }
}

fn output(parameters: &Parameters, family: Family, model: &str) -> Option<Value> {
    let Some(AnswerFormat::Schema { name, schema, .. }) = &parameters.answer_format else {
        return None;
    };
    let schema = schema::for_answer(schema).to_string();
    family.json_schema(model).then(|| {
        json!({"textFormat": {
            "type": "json_schema",
            "structure": {"jsonSchema": {"name": name, "schema": schema}},
        }})
    })
}

fn blocks<'a>(blocks: Vec<Block<'a>>, documents: &mut usize) -> Vec<WireBlock<'a>> {
    let mut written = Vec::with_capacity(blocks.len() + 1);
    let has_text = blocks
        .iter()
        .any(|block| matches!(block.kind, Kind::Text { .. } | Kind::ToolResult { .. }));
    for Block {
        kind,
        cache_control,
    } in blocks
    {
        let is_document = matches!(kind, Kind::Document { .. });
        if is_document && !has_text && written.is_empty() {
            // The API refuses a document without text.
            written.push(WireBlock::Text("A document:".into()));
        }
        // Some models refuse a cache point directly after a document.
        if cache_control.is_some() && is_document {
            written.push(CACHE_POINT);
        }
        written.push(block(kind, documents));
        if cache_control.is_some() && !is_document {
            written.push(CACHE_POINT);
        }
    }
    written
}

fn block<'a>(kind: Kind<'a>, documents: &mut usize) -> WireBlock<'a> {
    match kind {
        Kind::Text { text, .. } => WireBlock::Text(text),
        Kind::Thinking {
            thinking,
            signature,
        } => WireBlock::ReasoningContent(Reasoning::ReasoningText {
            text: thinking,
            signature,
        }),
        Kind::RedactedThinking { data } => {
            WireBlock::ReasoningContent(Reasoning::RedactedContent(data))
        }
        Kind::ToolUse {
            id, name, input, ..
        } => WireBlock::ToolUse {
            tool_use_id: id,
            name,
            input,
        },
        Kind::ToolResult {
            tool_use_id,
            content,
            is_error,
        } => WireBlock::ToolResult {
            tool_use_id,
            content: result_content(content, documents),
            status: if is_error { "error" } else { "success" },
        },
        Kind::Image {
            source: Source::Base64 { media_type, data },
        } => WireBlock::Image(media(media_type, data)),
        Kind::Document {
            source: Source::Base64 { media_type, data },
            ..
        } => document(media(media_type, data), documents),
        Kind::Document {
            source: Source::Text { data, .. },
            ..
        } => {
            let bytes = Cow::Owned(STANDARD.encode(data));
            document(
                Media {
                    format: "txt",
                    source: Bytes { bytes },
                },
                documents,
            )
        }
        Kind::Document {
            source: Source::Url { url },
            ..
        } => WireBlock::Text(format!("[The file is at {url}]").into()),
        Kind::Image { .. } => {
            WireBlock::Text("[A picture was left out: this model takes none by address.]".into())
        }
        Kind::Stored(block) => WireBlock::Stored(block),
    }
}

fn document<'a>(media: Media<'a>, documents: &mut usize) -> WireBlock<'a> {
    // Names must be unique and are restricted.
    *documents += 1;
    WireBlock::Document(Document {
        name: format!("Document {documents}"),
        media,
    })
}

/// The API refuses a result without content.
fn result_content<'a>(content: Vec<Block<'a>>, documents: &mut usize) -> Vec<WireBlock<'a>> {
    if content.is_empty() {
        return vec![WireBlock::Text("(no output)".into())];
    }
    content
        .into_iter()
        .map(|Block { kind, .. }| block(kind, documents))
        .collect()
}

fn media<'a>(media_type: &'a str, data: Cow<'a, str>) -> Media<'a> {
    let format = media_type.rsplit('/').next().unwrap_or(media_type);
    Media {
        format,
        source: Bytes { bytes: data },
    }
}

#[cfg(test)]
mod tests;
