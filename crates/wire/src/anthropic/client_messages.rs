//! Decodes the conversation in a client's request, including the opaque data of each answer's provider.

use domain::{Message, Part, Provenance, Role, StoredBlock, ToolCall};
use provider::{anthropic::PROVIDER, file_part::PDF, media::is_base64};
use serde_json::{Map, Value, json};

use crate::{
    conversation::{Checked, present, wrong},
    file_part::file,
    media::{is_media_type, left_out},
    sealed::SealedBlock,
};

/// `system` and `messages` of a request.
pub(super) fn decode(fields: &Map<String, Value>) -> Checked<Vec<Message>> {
    let mut messages = Vec::new();
    if let Some(system) = present(fields, "system") {
        let content = parts(system, "system")?;
        if !content.is_empty() {
            messages.push(Message::of(Role::System, content));
        }
    }
    match fields.get("messages") {
        Some(Value::Array(list)) if !list.is_empty() => {
            for (at, value) in list.iter().enumerate() {
                add_message(value, &format!("messages[{at}]"), &mut messages)?;
            }
            Ok(messages)
        }
        _ => wrong(
            "`messages`",
            "a list with at least one message, like [{\"role\":\"user\",\"content\":\"Hi\"}]",
        ),
    }
}

fn add_message(value: &Value, at: &str, messages: &mut Vec<Message>) -> Checked<()> {
    let content = &value["content"];
    let at_content = format!("{at}.content");
    match value["role"].as_str() {
        Some("user") => add_user_turn(content, &at_content, messages),
        Some("assistant") => {
            messages.push(answer(content, &at_content)?);
            Ok(())
        }
        Some("system") => {
            let mut content = blocks(content, &at_content)?;
            // Tools that are added and removed in the middle are all in `tools`.
            content.retain(|block| block["type"] == "text");
            if !content.is_empty() {
                messages.push(Message::of(
                    Role::System,
                    parts(&Value::Array(content), &at_content)?,
                ));
            }
            Ok(())
        }
        _ => wrong(
            &format!("`{at}.role`"),
            "\"user\", \"assistant\" or \"system\"",
        ),
    }
}

/// Tool results become separate messages, before the user's text.
fn add_user_turn(content: &Value, at: &str, messages: &mut Vec<Message>) -> Checked<()> {
    let blocks = blocks(content, at)?;
    let mut said = Vec::new();
    for (number, block) in blocks.iter().enumerate() {
        let at = format!("{at}[{number}]");
        if block["type"] != "tool_result" {
            said.push(part(block, &at)?);
            continue;
        }
        let Some(id) = block["tool_use_id"].as_str() else {
            return wrong(&format!("`{at}.tool_use_id`"), "a string");
        };
        let content = match &block["content"] {
            Value::Null => Vec::new(),
            content => parts(content, &format!("{at}.content"))?,
        };
        let tool_call_id = Some(id.to_owned());
        let is_error = block["is_error"] == true;
        messages.push(Message {
            tool_call_id,
            is_error,
            ..Message::of(Role::Tool, content)
        });
    }
    if !said.is_empty() {
        messages.push(Message::of(Role::User, said));
    }
    Ok(())
}

/// A string is one block of text.
fn blocks(content: &Value, at: &str) -> Checked<Vec<Value>> {
    match content {
        Value::String(text) => Ok(vec![json!({"type": "text", "text": text})]),
        Value::Array(blocks) => Ok(blocks.clone()),
        _ => wrong(&format!("`{at}`"), "a string or a list of content blocks"),
    }
}

fn parts(content: &Value, at: &str) -> Checked<Vec<Part>> {
    let blocks = blocks(content, at)?;
    blocks
        .iter()
        .enumerate()
        .map(|(number, block)| part(block, &format!("{at}[{number}]")))
        .collect()
}

fn part(block: &Value, at: &str) -> Checked<Part> {
    let source = &block["source"];
    match block["type"].as_str() {
        Some("text") => Ok(Part::Text {
            text: text(&block["text"], &format!("{at}.text"))?,
        }),
        Some("image") => match (source["type"].as_str(), source["url"].as_str()) {
            (Some("url"), Some(url))
                if url.starts_with("https://") || url.starts_with("http://") =>
            {
                Ok(Part::Image {
                    url: text(&source["url"], &format!("{at}.source.url"))?,
                })
            }
            (Some("base64"), _) => image_data(source, &format!("{at}.source")),
            (Some("file"), _) => Ok(left_out("image", "")),
            _ => wrong(&format!("`{at}.source`"), "an image by base64 or URL"),
        },
        Some("document") => document(block, at),
        Some(kind) => Ok(left_out(
            kind,
            block["title"]
                .as_str()
                .or(block["tool_name"].as_str())
                .unwrap_or_default(),
        )),
        None => wrong(&format!("`{at}.type`"), "a string"),
    }
}

/// Files by Base64 and URL are files; inline text or content is text.
fn document(block: &Value, at: &str) -> Checked<Part> {
    let source = &block["source"];
    let title = block["title"].as_str().unwrap_or_default();
    match source["type"].as_str() {
        Some("text") => Ok(Part::Text {
            text: text(&source["data"], &format!("{at}.source.data"))?,
        }),
        Some("content") => {
            let parts = parts(&source["content"], &format!("{at}.source.content"))?;
            Ok(Part::Text {
                text: domain::message::plain_text(&parts),
            })
        }
        Some("base64") => {
            let url = Value::String(data_url(source, &format!("{at}.source"))?);
            file(&url, None, title, &format!("{at}.source.data"))
        }
        Some("url") => file(
            &source["url"],
            Some(PDF),
            title,
            &format!("{at}.source.url"),
        ),
        Some("file") => Ok(left_out("document", title)),
        _ => wrong(
            &format!("`{at}.source`"),
            "a document by base64, URL or text",
        ),
    }
}

fn image_data(source: &Value, at: &str) -> Checked<Part> {
    let url = data_url(source, at)?;
    match url.starts_with("data:image/") {
        true => Ok(Part::Image { url }),
        false => wrong(
            &format!("`{at}.media_type`"),
            "a media type such as \"image/png\"",
        ),
    }
}

fn data_url(source: &Value, at: &str) -> Checked<String> {
    let media_type = source["media_type"].as_str().unwrap_or_default();
    let data = source["data"].as_str().unwrap_or_default();
    if !is_media_type(media_type) {
        return wrong(
            &format!("`{at}.media_type`"),
            "a media type such as \"image/png\"",
        );
    }
    if !is_base64(data) {
        return wrong(&format!("`{at}.data`"), "base64");
    }
    Ok(format!("data:{media_type};base64,{data}"))
}

/// Databases cannot store NUL.
fn text(value: &Value, at: &str) -> Checked<String> {
    match value.as_str() {
        Some(text) => Ok(text.replace('\0', "\u{FFFD}")),
        None => wrong(&format!("`{at}`"), "a string"),
    }
}

fn answer(content: &Value, at: &str) -> Checked<Message> {
    let mut answer = Answer::default();
    for (number, block) in blocks(content, at)?.into_iter().enumerate() {
        answer.add(block, &format!("{at}[{number}]"))?;
    }
    Ok(answer.finish())
}

/// An assistant's message while its blocks are decoded.
#[derive(Default)]
struct Answer {
    message: Option<Message>,
    /// The owner of the blocks: the first provider that the message names.
    provider: Option<String>,
    blocks: Vec<StoredBlock>,
}

/// Whether it is a citation of another provider, as we encode them for clients: Claude's have their own data.
fn is_foreign(citation: &Value) -> bool {
    citation["type"] == "web_search_result_location" && citation["encrypted_index"] == ""
}

impl Answer {
    fn add(&mut self, mut block: Value, at: &str) -> Checked<()> {
        let message = self
            .message
            .get_or_insert_with(|| Message::of(Role::Assistant, Vec::new()));
        match block["type"].as_str() {
            Some("text") => {
                message.content.push(Part::Text {
                    text: text(&block["text"], &format!("{at}.text"))?,
                });
                let mut citations = match block["citations"].take() {
                    Value::Array(citations) => citations,
                    _ => Vec::new(),
                };
                citations.retain(|citation| !is_foreign(citation));
                let cites = !citations.is_empty();
                let data = cites.then(|| json!({"type": "text", "citations": citations}));
                self.push(PROVIDER, StoredBlock::Text { data });
            }
            Some("tool_use") => {
                let id = text(&block["id"], &format!("{at}.id"))?;
                let name = text(&block["name"], &format!("{at}.name"))?;
                let arguments = block["input"].to_string();
                message.tool_calls.push(ToolCall {
                    id: id.clone(),
                    name,
                    arguments,
                });
                let direct = block["caller"].is_null() || block["caller"]["type"] == "direct";
                let data = (!direct)
                    .then(|| json!({"type": "tool_use", "caller": block["caller"].take()}));
                self.push(PROVIDER, StoredBlock::Call { id, data });
            }
            Some("thinking") => self.add_thinking(&block),
            Some("redacted_thinking") => self.add_redacted(&block),
            Some(_) => {
                if let Some(fields) = block.as_object_mut() {
                    fields.shift_remove("cache_control");
                }
                self.push(PROVIDER, StoredBlock::Other { data: block });
            }
            None => return wrong(&format!("`{at}.type`"), "a string"),
        }
        Ok(())
    }

    fn add_thinking(&mut self, block: &Value) {
        let text = block["thinking"].as_str().unwrap_or_default().to_owned();
        let signature = block["signature"].as_str().unwrap_or_default();
        match SealedBlock::open(signature) {
            Some(SealedBlock {
                provider,
                block: StoredBlock::Reasoning { data, .. },
            }) => {
                self.push(&provider, StoredBlock::Reasoning { text, data });
            }
            // No provider accepts unsigned thinking.
            _ if signature.is_empty() => {}
            _ => {
                let data = Some(json!({"type": "thinking", "signature": signature}));
                self.push(PROVIDER, StoredBlock::Reasoning { text, data });
            }
        }
    }

    fn add_redacted(&mut self, block: &Value) {
        let data = block["data"].as_str().unwrap_or_default();
        match SealedBlock::open(data) {
            Some(SealedBlock { provider, block }) => self.push(&provider, block),
            None => {
                let data = Some(json!({"type": "redacted_thinking", "data": data}));
                self.push(
                    PROVIDER,
                    StoredBlock::Reasoning {
                        text: String::new(),
                        data,
                    },
                );
            }
        }
    }

    /// Text and calls without data are stored as they are; data identifies the provider.
    fn push(&mut self, provider: &str, block: StoredBlock) {
        let has_data = !matches!(
            block,
            StoredBlock::Text { data: None } | StoredBlock::Call { data: None, .. }
        );
        if has_data && self.provider.get_or_insert_with(|| provider.to_owned()) != provider {
            return;
        }
        if has_data && provider != PROVIDER && set_data(&mut self.blocks, &block) {
            return;
        }
        self.blocks.push(block);
    }

    fn finish(self) -> Message {
        let message = self
            .message
            .unwrap_or_else(|| Message::of(Role::Assistant, Vec::new()));
        let rank = |block: &StoredBlock| matches!(block, StoredBlock::Call { .. });
        let provider = match self.provider {
            Some(provider) => provider,
            // Without data only an unusual order is worth storing.
            None if self.blocks.is_sorted_by_key(rank) => return message,
            None => PROVIDER.to_owned(),
        };
        let provenance = Provenance {
            provider,
            blocks: self.blocks,
        };
        Message {
            provenance: Some(Box::new(provenance)),
            ..message
        }
    }
}

/// Another provider's data of a text or call is in the block after it. Attaches it to its part.
fn set_data(blocks: &mut [StoredBlock], block: &StoredBlock) -> bool {
    blocks.iter_mut().rev().any(|of| match (of, block) {
        (StoredBlock::Text { data: data @ None }, StoredBlock::Text { data: more }) => {
            data.clone_from(more);
            true
        }
        (
            StoredBlock::Call {
                id,
                data: data @ None,
            },
            StoredBlock::Call { id: of, data: more },
        ) if id == of => {
            data.clone_from(more);
            true
        }
        _ => false,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(messages: Value) -> Checked<Vec<Message>> {
        decode(json!({ "messages": messages }).as_object().unwrap())
    }

    #[test]
    fn results_become_messages_before_the_text() {
        let read = read(json!([{"role": "user", "content": [
            {"type": "text", "text": "and\u{0}"},
            {"type": "tool_result", "tool_use_id": "a", "content": "one", "is_error": true},
            {"type": "tool_result", "tool_use_id": "b", "content": [
                {"type": "text", "text": "two"},
                {"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "AAAA"}},
            ]},
            {"type": "tool_result", "tool_use_id": "c"},
        ]}]));
        let image = Part::Image {
            url: "data:image/png;base64,AAAA".to_owned(),
        };
        let mut second = Message::tool_result("b", "two");
        second.content.push(image);
        let empty = Message {
            content: Vec::new(),
            ..Message::tool_result("c", "")
        };
        let said = Message::text(Role::User, "and\u{FFFD}");
        let failed = Message {
            is_error: true,
            ..Message::tool_result("a", "one")
        };
        assert_eq!(read, Ok(vec![failed, second, empty, said]));
    }

    #[test]
    fn documents_are_text_or_files() {
        let of = |source: Value| {
            let block = json!({"type": "document", "title": "x", "source": source});
            read(json!([{"role": "user", "content": [block]}])).map(|it| it[0].content[0].clone())
        };
        let text = |text: &str| {
            Ok(Part::Text {
                text: text.to_owned(),
            })
        };
        let file = |url: &str| {
            Ok(Part::File {
                url: url.to_owned(),
                media_type: PDF.to_owned(),
                name: "x".to_owned(),
            })
        };
        assert_eq!(
            of(json!({"type": "text", "media_type": "text/plain", "data": "hi"})),
            text("hi")
        );
        let pdf = json!({"type": "base64", "media_type": "application/pdf", "data": "AAAA"});
        assert_eq!(of(pdf), file("data:application/pdf;base64,AAAA"));
        let address = "https://a.example/b.pdf";
        assert_eq!(of(json!({"type": "url", "url": address})), file(address));
        let note = "[An attachment of type document “x” was left out.]";
        assert_eq!(of(json!({"type": "file", "file_id": "file_1"})), text(note));
    }

    #[test]
    fn an_answer_without_data_has_no_provenance() {
        let of = |content: Value| {
            read(json!([{"role": "assistant", "content": content}]))
                .unwrap()
                .remove(0)
        };
        let plain = of(json!([
            {"type": "thinking", "thinking": "hm", "signature": ""},
            {"type": "text", "text": "a"},
            {"type": "tool_use", "id": "t", "name": "ls", "input": {"a": 1}, "caller": {"type": "direct"}},
        ]));
        assert_eq!(plain.provenance, None);
        assert_eq!(plain.tool_calls[0].arguments, r#"{"a":1}"#);
        assert_eq!(of(json!("b")), Message::text(Role::Assistant, "b"));
        let turned = of(json!([
            {"type": "tool_use", "id": "t", "name": "ls", "input": {}},
            {"type": "text", "text": "a"},
        ]));
        assert_eq!(turned.blocks(PROVIDER).len(), 2);
        assert!(turned.provenance.is_some(), "text after a call");
    }

    #[test]
    fn faults_are_named() {
        for (messages, expected) in [
            (json!([]), "`messages` must be a list"),
            (json!([{"role": "tool"}]), "`messages[0].role` must be"),
            (
                json!([{"role": "user"}]),
                "`messages[0].content` must be a string or a list",
            ),
            (
                json!([{"role": "user", "content": [{"text": "a"}]}]),
                "`messages[0].content[0].type` must be",
            ),
            (
                json!([{"role": "user", "content": [{"type": "image", "source": {"type": "base64", "media_type": "text/html", "data": "AAAA"}}]}]),
                "`messages[0].content[0].source.media_type` must be",
            ),
            (
                json!([{"role": "user", "content": [{"type": "tool_result", "content": "a"}]}]),
                "`messages[0].content[0].tool_use_id` must be",
            ),
        ] {
            let fault = read(messages).unwrap_err().to_string();
            assert!(fault.starts_with(expected), "{fault}");
        }
    }
}
