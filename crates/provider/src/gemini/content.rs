//! Encodes the conversation as Gemini's `contents`.

use std::borrow::Cow;

use domain::{Block, FileRef, Message, Part, Role, ToolCall, message::arguments_value};
use serde::Serialize;
use serde_json::{Value, value::RawValue};

use super::{PROVIDER, generation::Generation, media::Media, names::escaped};
use crate::file_in_words;

/// Replaces the signature of a call that another model made: Gemini 3 refuses calls of the current turn without one.
/// The text is documented by Google, here in Base64: "context_engineering_is_the_way_to_go".
const NO_SIGNATURE: &str = "Y29udGV4dF9lbmdpbmVlcmluZ19pc190aGVfd2F5X3RvX2dv";

/// The result sent for a call without one: every call must have a result.
const NO_RESULT: &str = "There is no result of this call.";

/// The content of one role.
#[derive(Debug, Serialize)]
pub(super) struct Content<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    role: Option<&'static str>,
    parts: Vec<Piece<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Piece<'a> {
    Text(TextPiece<'a>),
    Call(CallPiece<'a>),
    Media(Media<'a>),
    #[serde(rename_all = "camelCase")]
    Response {
        function_response: FunctionResponse<'a>,
    },
    /// The model's part, unchanged.
    Verbatim(&'a Value),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct TextPiece<'a> {
    text: Cow<'a, str>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    thought: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct CallPiece<'a> {
    function_call: FunctionCall<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thought_signature: Option<&'a str>,
}

#[derive(Debug, Serialize)]
struct FunctionCall<'a> {
    id: &'a str,
    name: Cow<'a, str>,
    args: Object<'a>,
}

#[derive(Debug, Serialize)]
struct FunctionResponse<'a> {
    id: &'a str,
    name: Cow<'a, str>,
    response: Object<'a>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    parts: Vec<Media<'a>>,
}

/// A JSON object: unchanged, or with one field for a value that is none.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Object<'a> {
    Raw(&'a RawValue),
    Arguments { arguments: Value },
    Result { result: Cow<'a, str> },
    Error { error: Cow<'a, str> },
    Empty {},
}

impl<'a> Content<'a> {
    /// Appends the parts of another content.
    pub(super) fn append(&mut self, more: &mut Self) {
        self.parts.append(&mut more.parts);
    }
}

/// The instructions at the beginning, and the rest of the conversation.
pub(super) fn contents<'a>(
    messages: &'a [Message],
    generation: Generation,
) -> (Option<Content<'a>>, Vec<Content<'a>>) {
    let instructions = messages
        .iter()
        .take_while(|message| message.role == Role::System)
        .count();
    let (system, rest) = messages.split_at(instructions);
    let system: Vec<Piece<'_>> = system.iter().flat_map(said).collect();
    let system = (!system.is_empty()).then_some(Content {
        role: None,
        parts: system,
    });
    let mut turns = Turns {
        contents: Vec::with_capacity(rest.len() + 1),
        generation,
    };
    let current = rest
        .iter()
        .rposition(|message| message.role == Role::User)
        .unwrap_or(0);
    let mut at = 0;
    while let Some(message) = rest.get(at) {
        at += 1;
        match message.role {
            Role::Assistant => {
                let results = rest[at..]
                    .iter()
                    .take_while(|it| it.role == Role::Tool)
                    .count();
                turns.add_step(message, at > current);
                turns.add_results(message, &rest[at..at + results], at + results < rest.len());
                at += results;
            }
            // Results without their call become text; instructions between turns have no equivalent.
            Role::User | Role::System | Role::Tool => turns.add_user(said(message).collect()),
        }
    }
    if turns.contents.is_empty() {
        turns.add_user(Vec::new());
    }
    (system, turns.contents)
}

struct Turns<'a> {
    contents: Vec<Content<'a>>,
    generation: Generation,
}

impl<'a> Turns<'a> {
    fn add_user(&mut self, mut parts: Vec<Piece<'a>>) {
        if parts.is_empty() {
            parts.push(text("", None));
        }
        self.contents.push(Content {
            role: Some("user"),
            parts,
        });
    }

    /// The model's text and calls. Two consecutive messages are one turn, as calls must follow the user's.
    fn add_step(&mut self, message: &'a Message, is_current: bool) {
        if self.contents.is_empty() {
            self.add_user(Vec::new());
        }
        let blocks = message.blocks(PROVIDER);
        let pieces = blocks.into_iter().filter_map(piece);
        match self.contents.last_mut() {
            Some(Content {
                role: Some("model"),
                parts,
            }) => parts.extend(pieces),
            _ => self.contents.push(Content {
                role: Some("model"),
                parts: pieces.collect(),
            }),
        }
        let Some(Content { parts, .. }) = self.contents.last_mut() else {
            return;
        };
        if parts.is_empty() {
            parts.push(text("", None));
        }
        let first_call = parts.iter_mut().find_map(|part| match part {
            Piece::Call(call) => Some(call),
            _ => None,
        });
        if let Some(call) = first_call.filter(|_| is_current && self.generation.is_third()) {
            call.thought_signature.get_or_insert(NO_SIGNATURE);
        }
    }

    /// The results of all calls of a step in one content, in the order of the calls, followed by parts that cannot be
    /// nested.
    fn add_results(&mut self, step: &'a Message, results: &'a [Message], goes_on: bool) {
        let mut results: Vec<&Message> = results.iter().collect();
        if results.is_empty() && !goes_on {
            return;
        }
        let mut parts = Vec::with_capacity(step.tool_calls.len());
        let mut extra = Vec::new();
        for call in &step.tool_calls {
            let at = results
                .iter()
                .position(|it| it.tool_call_id.as_deref() == Some(call.id.as_str()));
            let result = at.map(|at| results.remove(at));
            let function_response = self.response(call, result, &mut extra);
            parts.push(Piece::Response { function_response });
        }
        if !parts.is_empty() {
            self.contents.push(Content {
                role: Some("user"),
                parts,
            });
        }
        extra.extend(results.into_iter().flat_map(said));
        if !extra.is_empty() {
            self.add_user(extra);
        }
    }

    fn response(
        &self,
        call: &'a ToolCall,
        result: Option<&'a Message>,
        extra: &mut Vec<Piece<'a>>,
    ) -> FunctionResponse<'a> {
        let media = result
            .iter()
            .flat_map(|result| &result.content)
            .filter_map(Media::of);
        let (nested, apart): (Vec<_>, Vec<_>) =
            media.partition(|media| self.generation.is_third() && media.nests());
        if !apart.is_empty() {
            let about = format!("Returned by {} beside its result:", call.name);
            extra.push(Piece::Text(TextPiece {
                text: Cow::Owned(about),
                thought: false,
                thought_signature: None,
            }));
            extra.extend(apart.into_iter().map(Piece::Media));
        }
        let response = match result {
            Some(result) => response(result),
            None => Object::Error {
                error: Cow::Borrowed(NO_RESULT),
            },
        };
        FunctionResponse {
            id: &call.id,
            name: escaped(&call.name),
            response,
            parts: nested,
        }
    }
}

/// The result as an object, or as a text in one; a failure under a separate name.
fn response(result: &Message) -> Object<'_> {
    if result.is_error {
        return Object::Error {
            error: Cow::Owned(result.plain_text()),
        };
    }
    let text = match result.content.as_slice() {
        [Part::Text { text }] => Cow::Borrowed(text.as_str()),
        parts if parts.iter().any(|part| part.as_text().is_some()) => {
            Cow::Owned(result.plain_text())
        }
        _ => return Object::Empty {},
    };
    if let Cow::Borrowed(text) = text
        && let Some(object) = object(text)
        && !has_references(text)
    {
        return Object::Raw(object);
    }
    Object::Result { result: text }
}

/// Whether the text may have a key `$ref`, which Gemini reads as a reference to another part of the response.
fn has_references(json: &str) -> bool {
    json.contains("$ref") || json.contains("\\u0024")
}

fn object(json: &str) -> Option<&RawValue> {
    json.trim_start()
        .starts_with('{')
        .then(|| serde_json::from_str(json).ok())
        .flatten()
}

fn piece<'a>(block: Block<'a>) -> Option<Piece<'a>> {
    match block {
        Block::Reasoning { text, data } => {
            let thought_signature = data.and_then(Value::as_str);
            let says = !text.is_empty() || thought_signature.is_some();
            says.then_some(Piece::Text(TextPiece {
                text: Cow::Borrowed(text),
                thought: true,
                thought_signature,
            }))
        }
        Block::Part {
            part: Part::Text { text: said },
            data,
        } => {
            let signature = data.and_then(Value::as_str);
            (!said.is_empty() || signature.is_some()).then(|| text(said, signature))
        }
        Block::Part { part, .. } => Media::of(part).map(Piece::Media),
        Block::Call { call, data } => Some(Piece::Call(CallPiece {
            function_call: FunctionCall {
                id: &call.id,
                name: escaped(&call.name),
                args: arguments(&call.arguments),
            },
            thought_signature: data.and_then(Value::as_str),
        })),
        Block::Other { data } => data.get("part").map(Piece::Verbatim),
    }
}

fn arguments(text: &str) -> Object<'_> {
    match object(text) {
        Some(object) => Object::Raw(object),
        None if text.trim().is_empty() => Object::Empty {},
        None => Object::Arguments {
            arguments: arguments_value(text),
        },
    }
}

/// The text and media of a message.
fn said(message: &Message) -> impl Iterator<Item = Piece<'_>> {
    message.content.iter().filter_map(|part| match part {
        Part::Text { text: said } => (!said.is_empty()).then(|| text(said, None)),
        part => Media::of(part)
            .map(Piece::Media)
            .or_else(|| part.as_file().map(words)),
    })
}

/// A file that Gemini does not accept.
fn words<'a>(file: FileRef<'_>) -> Piece<'a> {
    let text = Cow::Owned(file_in_words(file));
    Piece::Text(TextPiece {
        text,
        thought: false,
        thought_signature: None,
    })
}

fn text<'a>(text: &'a str, thought_signature: Option<&'a str>) -> Piece<'a> {
    Piece::Text(TextPiece {
        text: Cow::Borrowed(text),
        thought: false,
        thought_signature,
    })
}

#[cfg(test)]
mod tests;
