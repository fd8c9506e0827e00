//! Recordings of the Gemini API and Vertex AI, and how they are compared.

use std::{collections::BTreeMap, fs, path::PathBuf};

use domain::{Message, Part, Provenance, Role, StoredBlock, ToolCall};
use provider::{AnswerDecoder, AnswerError, AnswerEvent, DataPart, gemini};
use serde::Deserialize;
use serde_json::{Map, Value, json};

/// One request and what came back.
#[derive(Debug, Deserialize)]
pub(super) struct Exchange {
    pub(super) path: String,
    pub(super) request: Value,
    pub(super) answer: Option<Value>,
    pub(super) stream: Option<String>,
}

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/recordings/gemini")
}

/// The exchanges of one recording.
pub(super) fn recording(name: &str) -> Vec<Exchange> {
    let text = fs::read_to_string(folder().join(name).with_extension("json")).unwrap();
    serde_json::from_str(&text).unwrap()
}

/// All recordings by their names.
pub(super) fn recordings() -> Vec<(String, Vec<Exchange>)> {
    let files = fs::read_dir(folder())
        .unwrap()
        .map(|file| file.unwrap().path());
    let recordings = files.filter(|file| file.extension().is_some_and(|kind| kind == "json"));
    let mut names: Vec<String> = recordings
        .map(|file| file.file_stem().unwrap().to_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
        .into_iter()
        .map(|name| (name.clone(), recording(&name)))
        .collect()
}

impl Exchange {
    pub(super) fn model(&self) -> &str {
        let (_, rest) = self.path.rsplit_once('/').unwrap();
        rest.split(':').next().unwrap()
    }

    /// The events of the answer.
    pub(super) fn events(&self) -> Result<Vec<AnswerEvent>, AnswerError> {
        match (&self.stream, &self.answer) {
            (Some(stream), _) => streamed(&[stream.as_bytes()]),
            (None, answer) => whole(&answer.as_ref().unwrap().to_string()),
        }
    }
}

/// The events of an unstreamed answer.
pub(super) fn whole(body: &str) -> Result<Vec<AnswerEvent>, AnswerError> {
    let mut out = Vec::new();
    gemini::Decoder::default().whole(body, &mut out)?;
    Ok(out)
}

/// The events of a stream in these pieces.
pub(super) fn streamed(pieces: &[&[u8]]) -> Result<Vec<AnswerEvent>, AnswerError> {
    let mut decoder = gemini::Decoder::default();
    let mut frames = sse::Decoder::new(1 << 20);
    let mut out = Vec::new();
    for piece in pieces {
        frames.feed(piece);
        while let Some(event) = frames.next() {
            let event = event.unwrap();
            decoder.event(event.name, &event.data, &mut out)?;
        }
    }
    if let Some(event) = frames.finish() {
        decoder.event(event.name, &event.data, &mut out)?;
    }
    decoder.end(&mut out)?;
    Ok(out)
}

/// The message of an answer, as the agent keeps it.
pub(super) fn message(events: &[AnswerEvent]) -> Message {
    let mut message = Message::of(Role::Assistant, Vec::new());
    let mut blocks: Vec<StoredBlock> = Vec::new();
    // Whether the last block may grow.
    let mut is_open = false;
    for event in events {
        match event {
            AnswerEvent::Text(delta) => match (message.content.last_mut(), blocks.last()) {
                (Some(Part::Text { text }), Some(StoredBlock::Text { .. })) if is_open => {
                    text.push_str(delta)
                }
                _ => {
                    message.content.push(Part::Text {
                        text: delta.clone(),
                    });
                    blocks.push(StoredBlock::Text { data: None });
                }
            },
            AnswerEvent::Reasoning(delta) => match blocks.last_mut() {
                Some(StoredBlock::Reasoning { text, .. }) if is_open => text.push_str(delta),
                _ => blocks.push(StoredBlock::Reasoning {
                    text: delta.clone(),
                    data: None,
                }),
            },
            AnswerEvent::CallStarted { id, name, .. } => {
                let call = ToolCall {
                    id: id.clone(),
                    name: name.clone(),
                    arguments: String::new(),
                };
                message.tool_calls.push(call);
                blocks.push(StoredBlock::Call {
                    id: id.clone(),
                    data: None,
                });
            }
            AnswerEvent::Arguments { index, delta } => {
                message.tool_calls[*index].arguments.push_str(delta)
            }
            AnswerEvent::Data { part, data } => add(&mut blocks, &message, *part, data),
            AnswerEvent::Citations(_)
            | AnswerEvent::ServerTool(_)
            | AnswerEvent::Finished { .. } => {}
        }
        is_open = !matches!(event, AnswerEvent::Data { .. });
    }
    message.provenance = Some(Box::new(Provenance {
        provider: gemini::PROVIDER.to_owned(),
        blocks,
    }));
    message
}

fn add(blocks: &mut Vec<StoredBlock>, message: &Message, part: DataPart, more: &Value) {
    match (part, blocks.last_mut()) {
        (DataPart::Call(index), _) => {
            let wanted = &message.tool_calls[index].id;
            let data = blocks.iter_mut().find_map(|block| match block {
                StoredBlock::Call { id, data } if id == wanted => Some(data),
                _ => None,
            });
            *data.unwrap() = Some(more.clone());
        }
        (DataPart::Text, Some(StoredBlock::Text { data }))
        | (DataPart::Reasoning, Some(StoredBlock::Reasoning { data, .. })) => {
            *data = Some(more.clone())
        }
        (DataPart::Reasoning, _) => {
            blocks.push(StoredBlock::Reasoning {
                text: String::new(),
                data: Some(more.clone()),
            });
        }
        _ => blocks.push(StoredBlock::Other { data: more.clone() }),
    }
}

/// The conversation of a recorded request, with the model's own messages replaced by `answers`.
pub(super) fn conversation(request: &Value, answers: &[Message]) -> Vec<Message> {
    let mut messages = Vec::new();
    for part in request
        .pointer("/systemInstruction/parts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
    {
        messages.push(Message::text(Role::System, part["text"].as_str().unwrap()));
    }
    let mut answers = answers.iter();
    for content in request["contents"].as_array().unwrap() {
        if content["role"] == "model" {
            messages.push(answers.next().unwrap().clone());
            continue;
        }
        let mut said = Vec::new();
        let calls = messages
            .last()
            .map(|message| message.tool_calls.clone())
            .unwrap_or_default();
        let mut calls = calls.iter();
        for part in content["parts"].as_array().unwrap().iter().map(camel_case) {
            match part.get("functionResponse") {
                Some(response) => messages.push(result(&calls.next().unwrap().id, response)),
                None => said.push(spoken(&part)),
            }
        }
        if !said.is_empty() {
            messages.push(Message::of(Role::User, said));
        }
    }
    messages
}

fn result(call: &str, response: &Value) -> Message {
    let said = &response["response"];
    let text = match &said["return_value"] {
        Value::String(text) => Some(text.clone()),
        _ if *said == json!({}) => None,
        _ => Some(said.to_string()),
    };
    let media = response
        .get("parts")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .map(spoken);
    let content = text
        .map(|text| Part::Text { text })
        .into_iter()
        .chain(media)
        .collect();
    Message {
        tool_call_id: Some(call.to_owned()),
        ..Message::of(Role::Tool, content)
    }
}

fn spoken(part: &Value) -> Part {
    let text = |pointer: &str| {
        part.pointer(pointer)
            .and_then(Value::as_str)
            .map(str::to_owned)
    };
    if let Some(text) = text("/text") {
        return Part::Text { text };
    }
    let url = text("/fileData/fileUri").unwrap_or_else(|| {
        format!(
            "data:{};base64,{}",
            text("/inlineData/mimeType").unwrap(),
            text("/inlineData/data").unwrap()
        )
    });
    let kind = text("/fileData/mimeType")
        .or_else(|| text("/inlineData/mimeType"))
        .unwrap();
    match kind.split('/').next().unwrap() {
        "audio" => Part::Audio { url },
        "video" => Part::Video { url },
        _ => Part::Image { url },
    }
}

/// The relevant part of a request: without fields that only the recorded client sends, and without titles.
pub(super) fn request(request: &Value) -> Value {
    let mut request = without_titles(&camel_case(request));
    if let Some(config) = request
        .pointer_mut("/generationConfig")
        .and_then(Value::as_object_mut)
    {
        config.remove("responseModalities");
    }
    if request["generationConfig"] == json!({}) {
        request.as_object_mut().unwrap().remove("generationConfig");
    }
    if let Some(system) = request
        .pointer_mut("/systemInstruction")
        .and_then(Value::as_object_mut)
    {
        system.remove("role");
    }
    request["contents"] = json!(compared(&request["contents"]));
    request.sort_all_objects();
    request
}

/// Removes the keyword; a property of that name is a schema.
fn without_titles(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(without_titles).collect(),
        Value::Object(fields) => {
            let kept = fields
                .iter()
                .filter(|(name, value)| *name != "title" || !value.is_string());
            kept.map(|(name, value)| (name.clone(), without_titles(value)))
                .collect::<Map<_, _>>()
                .into()
        }
        value => value.clone(),
    }
}

/// The relevant part of `contents`: with numbered ids, signatures of one alphabet, and field names in one form.
pub(super) fn compared(contents: &Value) -> Vec<Value> {
    let mut ids = BTreeMap::new();
    let contents = camel_case(contents);
    contents
        .as_array()
        .unwrap()
        .iter()
        .map(|content| plain(content, &mut ids))
        .collect()
}

fn plain(value: &Value, ids: &mut BTreeMap<String, usize>) -> Value {
    match value {
        Value::Array(items) => items.iter().map(|item| plain(item, ids)).collect(),
        Value::Object(fields) => {
            let mut plain_fields = Map::new();
            for (name, value) in fields {
                let value = match (name.as_str(), value) {
                    ("id", Value::String(id)) => {
                        let next = ids.len();
                        json!(ids.entry(id.clone()).or_insert(next))
                    }
                    ("thoughtSignature", Value::String(text)) => {
                        json!(text.replace('-', "+").replace('_', "/"))
                    }
                    // Input and output of server-side tools is sent back unchanged here, and made up by the recorded
                    // client.
                    ("args" | "response", _) if fields.contains_key("toolType") => continue,
                    (_, value) => plain(value, ids),
                };
                let name = if name == "return_value" {
                    "result"
                } else {
                    name
                };
                plain_fields.insert(name.to_owned(), value);
            }
            plain_fields.sort_keys();
            Value::Object(plain_fields)
        }
        value => value.clone(),
    }
}

/// The servers accept both forms of names, and the recorded client writes either.
fn camel_case(value: &Value) -> Value {
    const NAMES: [(&str, &str); 10] = [
        ("function_call", "functionCall"),
        ("function_response", "functionResponse"),
        ("thought_signature", "thoughtSignature"),
        ("file_data", "fileData"),
        ("file_uri", "fileUri"),
        ("inline_data", "inlineData"),
        ("mime_type", "mimeType"),
        ("tool_type", "toolType"),
        ("thinking_budget", "thinkingBudget"),
        ("parameters_json_schema", "parametersJsonSchema"),
    ];
    match value {
        Value::Array(items) => items.iter().map(camel_case).collect(),
        Value::Object(fields) => {
            let renamed = fields.iter().map(|(name, value)| {
                let known = NAMES
                    .iter()
                    .find(|(snake, _)| snake == name)
                    .map(|(_, camel)| *camel);
                (known.unwrap_or(name).to_owned(), camel_case(value))
            });
            renamed.collect::<Map<_, _>>().into()
        }
        value => value.clone(),
    }
}
