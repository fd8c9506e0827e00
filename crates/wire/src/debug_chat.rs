//! Decodes the body of `POST /api/chat`, the chat with debug events.

use domain::{Message, MessageId, Role};

use crate::{
    chat_stream::{Mode, mode},
    conversation::{
        Checked, InvalidRequest, check_says_something, content, messages, object, optional_text,
        present, wrong,
    },
};

/// Maximum length of a name of a conversation, bytes.
const ID_LIMIT_BYTES: usize = 200;

/// A validated request.
#[derive(Debug, Clone, PartialEq)]
pub struct DebugChatRequest {
    /// The user's message; it is not empty.
    pub said: Message,
    /// The earlier conversation, if the client keeps it itself.
    pub before: Option<Vec<Message>>,
    /// The client's id of the conversation; `None` starts a new one.
    pub conversation: Option<String>,
    /// The message that this one answers; by default the conversation's last one.
    pub parent: Option<MessageId>,
    /// The model; the server's default if `None`.
    pub model: Option<String>,
    /// The kind of work.
    pub mode: Mode,
}

impl DebugChatRequest {
    /// Decodes a request body.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let Some(words) = present(&fields, "message") else {
            return wrong("`message`", "text or a list of content parts");
        };
        let said = Message {
            content: content(Some(words), Role::User, "message")?,
            ..Message::text(Role::User, "")
        };
        if check_says_something(std::slice::from_ref(&said)).is_err() {
            return Err(InvalidRequest(
                "`message` is empty. Write something first.".into(),
            ));
        }
        let before = match present(&fields, "messages") {
            // The conversation was empty.
            Some(serde_json::Value::Array(list)) if list.is_empty() => Some(Vec::new()),
            Some(list) => Some(messages(Some(list))?),
            None => None,
        };
        let conversation = optional_text(&fields, "conversationId")?.filter(|id| !id.is_empty());
        if conversation
            .as_ref()
            .is_some_and(|id| id.len() > ID_LIMIT_BYTES)
        {
            return wrong(
                "`conversationId`",
                &format!("at most {ID_LIMIT_BYTES} bytes long"),
            );
        }
        let parent = match optional_text(&fields, "parentMessageId")? {
            None => None,
            Some(id) => match id.parse() {
                Ok(id) => Some(id),
                Err(_) => {
                    return wrong(
                        "`parentMessageId`",
                        "the id of a message of the conversation",
                    );
                }
            },
        };
        let model = optional_text(&fields, "model")?;
        let mode = mode(&fields)?;
        Ok(Self {
            said,
            before,
            conversation,
            parent,
            model,
            mode,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn decode(body: &Value) -> Checked<DebugChatRequest> {
        DebugChatRequest::decode(body.to_string().as_bytes())
    }

    #[test]
    fn the_conversation_may_come_along() {
        let picture =
            json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,AA=="}});
        let request = decode(
            &json!({"message": [picture], "conversationId": "c", "unknown": 1,
            "parentMessageId": "msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2f", "model": "m"}),
        )
        .unwrap();
        assert_eq!(
            (request.said.role, request.said.content.len()),
            (Role::User, 1)
        );
        assert_eq!(
            (request.before, request.conversation.as_deref()),
            (None, Some("c"))
        );
        assert!(request.parent.is_some() && request.model.as_deref() == Some("m"));
        let earlier = json!([{"role": "user", "content": "Before"}, {"role": "assistant", "content": "Yes."}]);
        let request =
            decode(&json!({"message": "Now?", "messages": earlier, "conversationId": ""})).unwrap();
        assert_eq!(
            (
                request.before.map(|before| before.len()),
                request.conversation
            ),
            (Some(2), None)
        );
        assert_eq!(
            decode(&json!({"message": "Now?", "messages": []}))
                .unwrap()
                .before,
            Some(Vec::new())
        );
    }

    #[test]
    fn invalid_fields_are_named() {
        let user = json!([{"role": "user", "content": "Hi"}]);
        for (body, words) in [
            (json!([]), "The body must be a JSON object"),
            (json!({}), "`message` must be text"),
            (json!({"message": 5}), "`message` must be a string"),
            (
                json!({"message": " ", "messages": user}),
                "`message` is empty",
            ),
            (
                json!({"message": "x", "messages": "y"}),
                "`messages` must be a list",
            ),
            (
                json!({"message": "x", "messages": [{"role": "boss", "content": ""}]}),
                "`messages[0].role`",
            ),
            (json!({"message": "x\u{0}"}), "NUL"),
            (
                json!({"message": "x", "conversationId": 7}),
                "`conversationId` must be a string",
            ),
            (
                json!({"message": "x", "conversationId": "c".repeat(201)}),
                "`conversationId` must be at most",
            ),
            (
                json!({"message": "x", "parentMessageId": "m1"}),
                "`parentMessageId` must be the id",
            ),
        ] {
            let error = decode(&body).expect_err(words).to_string();
            assert!(error.contains(words), "{error:?} should say {words:?}");
        }
    }
}
