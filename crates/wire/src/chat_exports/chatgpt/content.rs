//! The content of nodes: texts, files, reasoning, and calls of tools with their results.

use domain::message::arguments_value;
use serde_json::{Value, json};

use super::{
    super::{
        Asset, Chat, Skipped,
        answer::{Answer, FAULT_CHARS, MAX_PICTURES, MAX_PIECES, Piece},
        fields::{list_at, milliseconds, short, text_at},
    },
    citations,
};

/// Maximum length of the id of a file, bytes.
const ASSET_ID_BYTES: usize = 200;

/// What the nodes of a message have.
#[derive(Default)]
pub(super) struct Collected {
    pub(super) answer: Answer,
    pub(super) pictures: Vec<String>,
    pub(super) assets: Vec<Asset>,
    pub(super) model: Option<String>,
}

impl Collected {
    pub(super) fn is_empty(&self) -> bool {
        self.answer == Answer::default() && self.pictures.is_empty() && self.assets.is_empty()
    }

    /// Adds a node of the assistant.
    pub(super) fn assistant(&mut self, message: &Value, chat: &mut Chat) {
        let content = &message["content"];
        let metadata = &message["metadata"];
        let model = text_at(metadata, "model_slug");
        if !model.is_empty() {
            self.model = Some(model.to_owned());
        }
        let recipient = text_at(message, "recipient");
        match text_at(content, "content_type") {
            "thoughts" => {
                let text = thoughts(&content["thoughts"]);
                if !text.is_empty() {
                    let duration_ms = 0;
                    self.add(Piece::Reasoning { text, duration_ms }, chat);
                }
            }
            "reasoning_recap" => self.recap(content, metadata, chat),
            "system_error" => {
                let text = self.content(message, chat);
                self.answer.fault = Some(short(&text, FAULT_CHARS));
            }
            kind => {
                let text = self.content(message, chat);
                let piece = if !["", "all"].contains(&recipient) {
                    let arguments = match arguments_value(&text) {
                        Value::String(code) => json!({"code": code}),
                        arguments => arguments,
                    };
                    Piece::call(recipient, arguments, None)
                } else if kind == "code" && !text.is_empty() {
                    let language = text_at(content, "language");
                    let language = if language == "unknown" { "" } else { language };
                    Piece::Text(format!("```{language}\n{text}\n```"))
                } else {
                    Piece::Text(citations::resolved(text, metadata, &mut self.answer))
                };
                self.add(piece, chat);
            }
        }
    }

    /// The duration of the reasoning before it.
    fn recap(&mut self, content: &Value, metadata: &Value, chat: &mut Chat) {
        let seconds = metadata["finished_duration_sec"].as_f64();
        let duration = milliseconds(seconds);
        let mut reasoning = self.answer.pieces.iter_mut().rev();
        let last = reasoning.find_map(|piece| match piece {
            Piece::Reasoning { duration_ms, .. } => Some(duration_ms),
            _ => None,
        });
        match last {
            Some(duration_ms) => *duration_ms = duration,
            None => {
                let text = text_at(content, "content").to_owned();
                let duration_ms = duration;
                if !text.is_empty() {
                    self.add(Piece::Reasoning { text, duration_ms }, chat);
                }
            }
        }
    }

    /// Adds a node of a tool: the result of a call.
    pub(super) fn tool(&mut self, message: &Value, chat: &mut Chat) {
        let text = self.content(message, chat);
        let content = &message["content"];
        if ["tether_quote", "sonic_webpage"].contains(&text_at(content, "content_type")) {
            let of = |name: &str| text_at(content, name);
            self.answer.cite(of("title"), of("url"), Some(of("text")));
        }
        let outputs = list_at(&message["metadata"]["aggregate_result"], "messages");
        for output in outputs {
            match text_at(output, "image_url") {
                "" => {}
                pointer => self.pointer(pointer, chat),
            }
        }
        if !self
            .answer
            .add_result(text_at(&message["author"], "name"), text)
        {
            chat.skip(Skipped::Steps);
        }
    }

    fn add(&mut self, piece: Piece, chat: &mut Chat) {
        if !self.answer.add(piece) {
            chat.skip(Skipped::Steps);
        }
    }

    /// The text of a node. Its files are added.
    pub(super) fn content(&mut self, message: &Value, chat: &mut Chat) -> String {
        let content = &message["content"];
        let of = |name: &str| text_at(content, name).to_owned();
        match text_at(content, "content_type") {
            "code" | "execution_output" | "tether_quote" | "sonic_webpage" => of("text"),
            "tether_browsing_display" => match of("result") {
                result if result.is_empty() => of("summary"),
                result => result,
            },
            "system_error" => [of("name"), of("text")].join(": "),
            "citable_code_output" => of("output_str"),
            "computer_output" => {
                self.part(&content["screenshot"], chat);
                String::new()
            }
            "user_editable_context" | "model_editable_context" => {
                chat.skip(Skipped::Hidden);
                String::new()
            }
            kind => match content.get("parts").and_then(Value::as_array) {
                Some(parts) => {
                    let texts = parts.iter().filter_map(|part| self.part(part, chat));
                    texts.collect::<Vec<_>>().join("\n")
                }
                // Kinds of the future may have a text, too.
                None => {
                    let texts = ["text", "result", "content"].map(of);
                    let text = texts.into_iter().find(|text| !text.is_empty());
                    text.unwrap_or_else(|| {
                        chat.skip(Skipped::Content(short(kind, 60)));
                        String::new()
                    })
                }
            },
        }
    }

    /// The text of a part, which may be a file instead.
    fn part(&mut self, part: &Value, chat: &mut Chat) -> Option<String> {
        if let Some(text) = part.as_str() {
            return (!text.is_empty()).then(|| text.to_owned());
        }
        let kind = text_at(part, "content_type");
        let text = text_at(part, "text");
        match kind {
            "image_asset_pointer" => self.pointer(text_at(part, "asset_pointer"), chat),
            _ if !text.is_empty() => return Some(text.to_owned()),
            // An empty transcript.
            "audio_transcription" => {}
            "audio_asset_pointer"
            | "video_container_asset_pointer"
            | "real_time_user_audio_video_asset_pointer" => chat.skip(Skipped::Recording),
            _ if part.is_null() => {}
            _ => chat.skip(Skipped::Content(short(kind, 60))),
        }
        None
    }

    /// Adds the picture with this address: `sediment://file_…` or `file-service://file-…` in exports of ChatGPT, a
    /// `data:` URL in those of other programs.
    fn pointer(&mut self, pointer: &str, chat: &mut Chat) {
        if pointer.starts_with("data:image/") {
            if self.pictures.len() < MAX_PICTURES {
                self.pictures.push(pointer.to_owned());
            } else {
                chat.skip(Skipped::File);
            }
            return;
        }
        let id = pointer.split_once("://").map_or(pointer, |(_, id)| id);
        let id = id.split(['?', '#']).next().unwrap_or_default();
        self.asset(id, "", chat);
    }

    /// Adds the attachments of a message of the person. Its pictures are among them, with their names.
    pub(super) fn attachments(&mut self, message: &Value, chat: &mut Chat) {
        for attachment in list_at(&message["metadata"], "attachments") {
            self.asset(text_at(attachment, "id"), text_at(attachment, "name"), chat);
        }
    }

    fn asset(&mut self, id: &str, name: &str, chat: &mut Chat) {
        if let Some(known) = self.assets.iter_mut().find(|known| known.id == id) {
            if known.name.is_empty() {
                name.clone_into(&mut known.name);
            }
            return;
        }
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b"-_".contains(&byte);
        let is_id = (1..=ASSET_ID_BYTES).contains(&id.len()) && id.bytes().all(is_plain);
        if is_id && self.assets.len() < MAX_PICTURES {
            self.assets.push(Asset {
                id: id.to_owned(),
                name: name.to_owned(),
            });
        } else {
            chat.skip(Skipped::File);
        }
    }
}

/// The text of thoughts, each with its heading.
fn thoughts(thoughts: &Value) -> String {
    if let Some(text) = thoughts.as_str() {
        return text.to_owned();
    }
    let text = |thought: &Value| {
        let [heading, text] = ["summary", "content"].map(|name| text_at(thought, name));
        match (heading.is_empty(), text.is_empty()) {
            (false, false) => format!("**{heading}**\n\n{text}"),
            (false, true) => heading.to_owned(),
            _ => text.to_owned(),
        }
    };
    let all = thoughts.as_array().map_or(&[][..], Vec::as_slice);
    let texts = all.iter().take(MAX_PIECES).map(text);
    let texts: Vec<String> = texts.filter(|text| !text.is_empty()).collect();
    texts.join("\n\n")
}

/// Whether a content has any text, wherever it may be.
pub(super) fn has_words(content: &Value) -> bool {
    let is_text = |value: &Value| value.as_str().is_some_and(|text| !text.trim().is_empty());
    list_at(content, "parts").iter().any(is_text)
        || content.as_object().is_some_and(|fields| {
            fields
                .iter()
                .any(|(name, value)| name != "content_type" && name != "language" && is_text(value))
        })
}
