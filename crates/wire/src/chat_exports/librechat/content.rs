//! The content of a message of LibreChat: a text, or a list of parts.

use domain::message::arguments_value;
use serde_json::{Value, json};

use super::super::{
    Chat, Message, Skipped,
    answer::{Answer, FAULT_CHARS, MAX_PICTURES, Piece, usage_of},
    fields::{is_so, list_at, short, text_at},
};

/// How early versions mark reasoning at the beginning of a text.
const THINKING: &str = ":::thinking";
const END_OF_THINKING: &str = ":::";

/// The parts of a message in order. Its pictures are added to the message.
pub(super) fn read(value: &Value, message: &mut Message, chat: &mut Chat) -> Answer {
    let mut answer = Answer::default();
    for part in list_at(value, "content") {
        if !add_part(part, &mut answer, message, chat) {
            chat.skip(Skipped::Steps);
        }
    }
    let text = text_at(value, "text");
    if answer.pieces.is_empty() && answer.fault.is_none() {
        if value.get("error").is_some_and(is_so) {
            answer.fault = Some(short(text, FAULT_CHARS));
        } else {
            add_text(text, &mut answer);
        }
    }
    for file in list_at(value, "files") {
        picture(text_at(file, "filepath"), message, chat);
    }
    for attachment in list_at(value, "attachments") {
        let found = list_at(&attachment["web_search"], "organic");
        for page in found {
            let of = |name: &str| text_at(page, name);
            answer.cite(of("title"), of("link"), Some(of("snippet")));
        }
        // Files that a tool has made.
        if found.is_empty() && !text_at(attachment, "filename").is_empty() {
            chat.skip(Skipped::File);
        }
    }
    answer.usage = usage_of(&json!({
        "prompt_tokens": value.get("promptTokens"), "completion_tokens": value.get("tokenCount"),
    }));
    answer
}

fn add_text(text: &str, answer: &mut Answer) -> bool {
    let thought = text
        .trim_start()
        .strip_prefix(THINKING)
        .and_then(|rest| rest.split_once(END_OF_THINKING));
    let Some((thought, text)) = thought else {
        return answer.add(Piece::Text(text.to_owned()));
    };
    let thought = Piece::Reasoning {
        text: thought.trim().to_owned(),
        duration_ms: 0,
    };
    answer.add(thought) && answer.add(Piece::Text(text.trim().to_owned()))
}

/// Adds a part. Returns whether there was room for it.
fn add_part(part: &Value, answer: &mut Answer, message: &mut Message, chat: &mut Chat) -> bool {
    let kind = text_at(part, "type");
    match kind {
        "text" => return add_text(text_in(part, "text"), answer),
        "think" => {
            let text = text_in(part, "think").to_owned();
            let duration_ms = 0;
            return text.is_empty() || answer.add(Piece::Reasoning { text, duration_ms });
        }
        "tool_call" => return answer.add(call(&part["tool_call"])),
        "image_url" => {
            let url = &part["image_url"];
            picture(
                url.as_str().unwrap_or_else(|| text_at(url, "url")),
                message,
                chat,
            );
        }
        "image_file" => picture(text_at(&part["image_file"], "filepath"), message, chat),
        "error" => {
            let text = match text_in(part, "error") {
                "" => text_in(part, "text"),
                text => text,
            };
            answer.fault = Some(short(text, FAULT_CHARS));
        }
        // Says which agent goes on.
        "agent_update" | "" => {}
        "video_url" | "input_audio" => chat.skip(Skipped::Recording),
        _ => chat.skip(Skipped::Content(short(kind, 60))),
    }
    true
}

/// A field that is a text, or has one inside.
fn text_in<'a>(part: &'a Value, name: &str) -> &'a str {
    match part.get(name) {
        Some(Value::String(text)) => text,
        Some(inner) => text_at(inner, "value"),
        None => "",
    }
}

/// A call in the form of agents, or of OpenAI's assistants.
fn call(call: &Value) -> Piece {
    let assistant = ["function", "code_interpreter"].map(|name| &call[name]);
    let inner = assistant.into_iter().find(|inner| inner.is_object());
    let inner = inner.unwrap_or(call);
    let name = match (text_at(inner, "name"), text_at(call, "type")) {
        ("", "") => "tool",
        ("", kind) => kind,
        (name, _) => name,
    };
    let arguments = ["args", "arguments", "input"]
        .into_iter()
        .find_map(|name| inner.get(name));
    let arguments = match arguments {
        Some(Value::String(text)) => match arguments_value(text) {
            Value::String(text) => json!({"input": text}),
            arguments => arguments,
        },
        Some(Value::Null) | None => json!({}),
        Some(arguments) => arguments.clone(),
    };
    let output = inner.get("output").or_else(|| inner.get("outputs"));
    let result = match output {
        None | Some(Value::Null) => None,
        Some(Value::String(text)) => Some(text.clone()),
        Some(output) => Some(output.to_string()),
    };
    Piece::call(name, arguments, result)
}

/// Only data in the export itself is imported.
fn picture(url: &str, message: &mut Message, chat: &mut Chat) {
    if url.starts_with("data:image/") && message.pictures.len() < MAX_PICTURES {
        message.pictures.push(url.to_owned());
    } else {
        chat.skip(Skipped::File);
    }
}
