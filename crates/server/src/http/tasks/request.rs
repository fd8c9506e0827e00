//! The request body of the task routes: a conversation, its last message, or the id of a chat.

use agent::pipelines::Said;
use domain::Role;
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::error::ApiError;

/// Maximum number of messages to use.
const MAX_MESSAGES: usize = 500;

/// What a task is about. Further fields are ignored.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(in crate::http) struct TaskRequest {
    /// The model of the conversation; that of the chat, or the default one, if absent.
    #[serde(deserialize_with = "filled")]
    pub(super) model: Option<String>,
    /// The chat.
    #[serde(deserialize_with = "filled")]
    pub(super) chat_id: Option<String>,
    /// The person's latest message: a text, a list of parts, or a message object.
    user_message: Value,
    /// The conversation, instead of a chat.
    messages: Vec<SaidMessage>,
    /// Of a completion: the text to complete.
    prompt: Option<String>,
    /// Of queries: `web_search` or `retrieval`. Of a completion: what kind of text it is.
    #[serde(rename = "type")]
    pub(super) kind: Option<String>,
    /// Of a completion: whether to stream it.
    pub(super) stream: bool,
}

/// A message.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "TaskMessage")]
struct SaidMessage {
    role: Role,
    #[serde(default)]
    content: Value,
}

/// A non-empty text; an empty one counts as absent, as clients send it for unknown values.
pub(in crate::http) fn filled<'de, D: serde::Deserializer<'de>>(
    field: D,
) -> Result<Option<String>, D::Error> {
    Ok(Option::<String>::deserialize(field)?.filter(|text| !text.trim().is_empty()))
}

impl TaskRequest {
    /// The messages of the user and the assistant, including `user_message`; may be empty.
    pub(super) fn said(&self) -> Vec<Said> {
        let mut said = self.said_before();
        let last = text_of(&self.user_message);
        let is_last = |said: &&Said| said.role == Role::User;
        let is_there = said
            .iter()
            .rev()
            .find(is_last)
            .is_some_and(|said| said.text == last);
        if !last.is_empty() && !is_there {
            said.push(Said {
                role: Role::User,
                text: last,
            });
        }
        said
    }

    /// The same without `user_message`.
    pub(super) fn said_before(&self) -> Vec<Said> {
        let latest = &self.messages[self.messages.len().saturating_sub(MAX_MESSAGES)..];
        let said = latest.iter().map(|message| Said {
            role: message.role,
            text: text_of(&message.content),
        });
        said.filter(|said| {
            matches!(said.role, Role::User | Role::Assistant) && !said.text.is_empty()
        })
        .collect()
    }

    /// The value of `prompt` in the template; `None` stands for the last message of the conversation.
    pub(super) fn prompt(&self) -> Option<String> {
        let last = || Some(text_of(&self.user_message)).filter(|last| !last.is_empty());
        self.prompt
            .clone()
            .filter(|prompt| !prompt.trim().is_empty())
            .or_else(last)
    }

    /// The conversation. A `prompt` alone counts as one: older front ends send no more for a title.
    ///
    /// # Errors
    /// If it is empty: a model would make something up.
    pub(super) fn conversation(&self) -> Result<Vec<Said>, ApiError> {
        let said = self.said();
        if !said.is_empty() {
            return Ok(said);
        }
        match self.prompt() {
            Some(prompt) => Ok(vec![Said {
                role: Role::User,
                text: prompt.trim().to_owned(),
            }]),
            None => {
                let problem =
                    "`messages` has to hold a message of the user or the assistant with text.";
                Err(ApiError::invalid(problem).with_field(Some("messages")))
            }
        }
    }
}

/// The text of a content: a text, a list of parts, or a message with either.
pub(in crate::http) fn text_of(content: &Value) -> String {
    match content {
        Value::String(text) => text.trim().to_owned(),
        Value::Array(parts) => {
            let texts = parts.iter().filter_map(|part| part["text"].as_str());
            texts.collect::<Vec<_>>().join("\n").trim().to_owned()
        }
        Value::Object(message) => message
            .get("content")
            .filter(|content| !content.is_object())
            .map(text_of)
            .unwrap_or_default(),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn contents_are_texts_or_parts() {
        let parts = json!([{"type": "text", "text": "a"}, {"type": "image_url"}, {"type": "text", "text": "b "}]);
        assert_eq!(text_of(&parts), "a\nb");
        assert_eq!(text_of(&json!(" a ")), "a");
        assert_eq!(text_of(&json!({"role": "user", "content": "a"})), "a");
        assert_eq!(text_of(&json!(null)), "");
    }

    #[test]
    fn document_004_the_last_message_stands_once_in_the_conversation() {
        let check = |body: Value, expected: &[&str], prompt: Option<&str>| {
            let request: TaskRequest = serde_json::from_value(body.clone()).unwrap();
            let said: Vec<String> = request.said().into_iter().map(|said| said.text).collect();
            assert_eq!(said, expected, "{body}");
            assert_eq!(request.prompt().as_deref(), prompt, "{body}");
        };
        let asked =
            json!([{"role": "user", "content": "How?"}, {"role": "assistant", "content": "So."}]);
        check(
            json!({"chat_id": "c", "user_message": "How?", "messages": asked}),
            &["How?", "So."],
            Some("How?"),
        );
        check(
            json!({"user_message": "And?", "messages": asked}),
            &["How?", "So.", "And?"],
            Some("And?"),
        );
        check(
            json!({"user_message": {"role": "user", "content": [{"text": "How?"}]}}),
            &["How?"],
            Some("How?"),
        );
        check(
            json!({"messages": asked, "model": "", "user_message": null}),
            &["How?", "So."],
            None,
        );
        check(
            json!({"prompt": "P", "user_message": "How?"}),
            &["How?"],
            Some("P"),
        );
    }
}
