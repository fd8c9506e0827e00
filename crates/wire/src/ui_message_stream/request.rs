//! Decodes the body of `POST /api/ui-message-stream`: the whole chat as UI messages, converted to a conversation.

use domain::{Message, MessageId, Part, Role, RunId, ToolCall};
use serde_json::{Map, Value};

use crate::{
    chat_stream::{Mode, mode},
    conversation::{Checked, check_says_something, object, optional_text, text, wrong},
    media,
};

/// A validated request.
#[derive(Debug, Clone, PartialEq)]
pub struct UiMessageRequest {
    /// The client's id of the chat.
    pub chat_id: Option<String>,
    /// The conversation; at least one user message is not empty.
    pub messages: Vec<Message>,
    /// The model; the server's default if `None`.
    pub model: Option<String>,
    /// The kind of work.
    pub mode: Mode,
    /// Our last answer in the conversation: the client may have gone back to an earlier one.
    pub last_answer: Option<MessageId>,
    /// The user's decisions on calls of the last message: the waiting run then continues.
    pub approvals: Vec<ApprovalResponse>,
}

/// The user's decision on a waiting call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalResponse {
    /// The waiting run.
    pub run: RunId,
    /// The approval.
    pub approval: String,
    /// Whether the call may run.
    pub allowed: bool,
    /// The user's reason.
    pub reason: Option<String>,
}

impl UiMessageRequest {
    /// Decodes a request body.
    ///
    /// # Errors
    /// A sentence that names the field and the expected value.
    pub fn decode(body: &[u8]) -> Checked<Self> {
        let fields = object(body)?;
        let list = match fields.get("messages") {
            Some(Value::Array(list)) if !list.is_empty() => list,
            _ => return wrong("`messages`", "a list with at least one UI message"),
        };
        let mut messages = Vec::new();
        for (at, value) in list.iter().enumerate() {
            read_message(value, &format!("messages[{at}]"), &mut messages)?;
        }
        check_says_something(&messages)?;
        Ok(Self {
            chat_id: optional_text(&fields, "id")?,
            messages,
            model: optional_text(&fields, "model")?,
            mode: mode(&fields)?,
            last_answer: list
                .iter()
                .rev()
                .find_map(|message| message["id"].as_str()?.parse().ok()),
            approvals: list.last().map(approvals).unwrap_or_default(),
        })
    }
}

fn read_message(value: &Value, at: &str, messages: &mut Vec<Message>) -> Checked<()> {
    let Value::Object(fields) = value else {
        return wrong(&format!("`{at}`"), "an object");
    };
    let parts = match (fields.get("parts"), fields.get("content")) {
        (Some(Value::Array(parts)), _) => parts.clone(),
        (None | Some(Value::Null), Some(content @ Value::String(_))) => {
            vec![serde_json::json!({"type": "text", "text": content})]
        }
        _ => return wrong(&format!("`{at}.parts`"), "a list of parts"),
    };
    match fields.get("role").and_then(Value::as_str) {
        Some("system") => messages.push(said(Role::System, &parts, at)?),
        Some("user") => messages.push(said(Role::User, &parts, at)?),
        Some("assistant") => {
            for step in parts.split(|part| part["type"] == "step-start") {
                read_step(step, at, messages)?;
            }
        }
        _ => {
            return wrong(
                &format!("`{at}.role`"),
                "\"system\", \"user\" or \"assistant\"",
            );
        }
    }
    Ok(())
}

/// A message of a person (or the operator).
fn said(role: Role, parts: &[Value], at: &str) -> Checked<Message> {
    let mut content = Vec::new();
    for part in parts {
        match part["type"].as_str() {
            Some("text") => content.extend(text_part(part, at)?),
            Some("file") => content.push(file_part(part, at)?),
            // Data parts are private to the client.
            Some(_) => {}
            None => return wrong(&format!("`{at}.parts`"), "a list of objects with a `type`"),
        }
    }
    Ok(Message {
        content,
        ..Message::text(role, "")
    })
}

/// Clients store a part without text as `null`.
fn text_part(part: &Value, at: &str) -> Checked<Option<Part>> {
    match part.get("text") {
        Some(Value::Null) => Ok(None),
        _ => Ok(Some(Part::Text {
            text: text(&part["text"], &format!("`{at}.parts[].text`"))?.to_owned(),
        })),
    }
}

fn file_part(part: &Value, at: &str) -> Checked<Part> {
    let url = text(&part["url"], &format!("`{at}.parts[].url`"))?;
    let media_type = part["mediaType"].as_str().unwrap_or("file");
    let family = media_type.split('/').next().unwrap_or_default();
    if matches!(family, "audio" | "video") {
        return media::by_url(Some(&part["url"]), family, &format!("{at}.parts[].url"));
    }
    if family != "image" {
        return Ok(media::left_out(
            media_type,
            part["filename"].as_str().unwrap_or_default(),
        ));
    }
    if ["https://", "http://", "data:image/"]
        .iter()
        .any(|scheme| url.starts_with(scheme))
    {
        Ok(Part::Image {
            url: url.to_owned(),
        })
    } else {
        wrong(
            &format!("`{at}.parts[].url`"),
            "an https: address or a data: URL of a picture",
        )
    }
}

/// One model call of an earlier answer: its text and calls, then their results.
fn read_step(parts: &[Value], at: &str, messages: &mut Vec<Message>) -> Checked<()> {
    let mut message = Message {
        content: Vec::new(),
        ..Message::text(Role::Assistant, "")
    };
    let mut results = Vec::new();
    for part in parts {
        if part["type"] == "text" {
            message.content.extend(text_part(part, at)?);
        } else if let Some((call, result)) = finished_call(part) {
            results.push(Message::tool_result(&*call.id, result));
            message.tool_calls.push(call);
        }
    }
    if !message.content.is_empty() || !message.tool_calls.is_empty() {
        messages.push(message);
        messages.extend(results);
    }
    Ok(())
}

/// A finished call of the main agent. Those of sub-agents were never part of its conversation.
fn finished_call(part: &Value) -> Option<(ToolCall, String)> {
    let kind = part["type"].as_str()?;
    let name = match kind.strip_prefix("tool-") {
        Some(name) => name,
        None if kind == "dynamic-tool" => part["toolName"].as_str()?,
        None => return None,
    };
    if !part
        .pointer("/callProviderMetadata/glasshouse/agent")
        .is_none_or(Value::is_null)
    {
        return None;
    }
    let result = match part["state"].as_str()? {
        "output-available" => words(&part["output"]),
        "output-error" => words(&part["errorText"]),
        "output-denied" => "The person did not allow this call.".to_owned(),
        _ => return None,
    };
    let arguments = match &part["input"] {
        Value::Null => "{}".to_owned(),
        input => words(input),
    };
    let id = part["toolCallId"].as_str()?;
    if [id, name, &arguments, &result]
        .iter()
        .any(|text| text.contains('\0'))
    {
        return None;
    }
    Some((
        ToolCall {
            id: id.to_owned(),
            name: name.to_owned(),
            arguments,
        },
        result,
    ))
}

fn words(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

/// The decisions in the last message, if it is a waiting answer.
fn approvals(message: &Value) -> Vec<ApprovalResponse> {
    let parts = message["parts"]
        .as_array()
        .filter(|_| message["role"] == "assistant");
    let responded = parts
        .into_iter()
        .flatten()
        .filter(|part| part["state"] == "approval-responded");
    responded
        .filter_map(|part| {
            let approval: &Map<String, Value> = part["approval"].as_object()?;
            let (run, id) = approval.get("id")?.as_str()?.split_once(':')?;
            Some(ApprovalResponse {
                run: run.parse().ok()?,
                approval: id.to_owned(),
                allowed: approval.get("approved")?.as_bool()?,
                reason: approval
                    .get("reason")
                    .and_then(Value::as_str)
                    .map(str::to_owned),
            })
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn decode(body: &Value) -> Checked<UiMessageRequest> {
        UiMessageRequest::decode(body.to_string().as_bytes())
    }

    fn user(words: &str) -> Value {
        json!({"id": "u", "role": "user", "parts": [{"type": "text", "text": words}]})
    }

    #[test]
    fn an_answer_with_calls_is_read_step_by_step() {
        let call = |id: &str, more: Value| {
            let mut part = json!({"type": "dynamic-tool", "toolName": "ls", "toolCallId": id,
                "state": "output-available", "input": {"path": "/"}, "output": "a.txt"});
            part.as_object_mut()
                .unwrap()
                .extend(more.as_object().unwrap().clone());
            part
        };
        let id = "msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2f";
        let answer = json!({"id": id, "role": "assistant", "parts": [
            {"type": "step-start"},
            {"type": "reasoning", "text": "Hm"},
            {"type": "text", "text": "Let me look."},
            call("c1", json!({})),
            call("c2", json!({"callProviderMetadata": {"glasshouse": {"agent": "a1"}}})),
            call("c3", json!({"state": "input-available"})),
            call("c4", json!({"type": "tool-send", "state": "output-error", "errorText": "No."})),
            {"type": "step-start"},
            {"type": "text", "text": "One file."},
        ]});
        let request = decode(
            &json!({"id": "chat", "model": "m", "messages": [user("Hi"), answer, user("And?")],
            "trigger": "submit-message"}),
        )
        .unwrap();
        let roles: Vec<Role> = request
            .messages
            .iter()
            .map(|message| message.role)
            .collect();
        use Role::{Assistant, Tool, User};
        assert_eq!(roles, [User, Assistant, Tool, Tool, Assistant, User]);
        let calls: Vec<&str> = request.messages[1]
            .tool_calls
            .iter()
            .map(|call| call.name.as_str())
            .collect();
        assert_eq!(calls, ["ls", "send"]);
        assert_eq!(
            request.messages[1].tool_calls[0].arguments,
            r#"{"path":"/"}"#
        );
        assert_eq!(request.messages[3], Message::tool_result("c4", "No."));
        assert_eq!(
            request.last_answer,
            "msg_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2f".parse().ok()
        );
        assert_eq!(
            (request.chat_id.as_deref(), request.model.as_deref()),
            (Some("chat"), Some("m"))
        );
    }

    #[test]
    fn pictures_and_other_files() {
        let message = json!({"role": "user", "parts": [
            {"type": "file", "mediaType": "image/png", "url": "data:image/png;base64,AA=="},
            {"type": "file", "mediaType": "text/csv", "url": "data:text/csv,a"},
            {"type": "data-x", "data": 1}]});
        let request = decode(&json!({"messages": [message]})).unwrap();
        assert_eq!(
            request.messages[0].content,
            [
                Part::Image {
                    url: "data:image/png;base64,AA==".into()
                },
                Part::Text {
                    text: "[An attachment of type text/csv was left out.]".into()
                },
            ]
        );
    }

    #[test]
    fn decisions_of_the_last_answer() {
        let run = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d";
        let part = |approval: Value| {
            json!({"type": "dynamic-tool", "toolName": "send", "toolCallId": "c1",
            "state": "approval-responded", "input": {}, "approval": approval})
        };
        let answer = json!({"role": "assistant", "parts": [
            part(json!({"id": format!("{run}:p1"), "approved": false, "reason": "later"})),
            part(json!({"id": "somebody else's", "approved": true}))]});
        let request = decode(&json!({"messages": [user("Hi"), answer]})).unwrap();
        let expected = ApprovalResponse {
            run: run.parse().unwrap(),
            approval: "p1".into(),
            allowed: false,
            reason: Some("later".into()),
        };
        assert_eq!(request.approvals, [expected]);
        let request = decode(&json!({"messages": [user("Hi"), answer, user("No")]})).unwrap();
        assert_eq!(request.approvals, []);
    }

    #[test]
    fn wrong_types_are_named() {
        for (body, words) in [
            (json!([]), "The body must be a JSON object"),
            (json!({}), "`messages` must be a list"),
            (json!({"messages": [5]}), "`messages[0]` must be an object"),
            (
                json!({"messages": [{"role": "boss", "parts": []}]}),
                "`messages[0].role`",
            ),
            (
                json!({"messages": [{"role": "user"}]}),
                "`messages[0].parts`",
            ),
            (
                json!({"messages": [{"role": "user", "parts": [{"type": "text"}]}]}),
                "`messages[0].parts[].text`",
            ),
            (
                json!({"messages": [{"role": "user", "parts": []}]}),
                "no message of the user",
            ),
            (
                json!({"messages": [user("Hi")], "model": 7}),
                "`model` must be a string",
            ),
            (
                json!({"messages": [user("Hi")], "id": []}),
                "`id` must be a string",
            ),
        ] {
            let error = decode(&body).expect_err(words).to_string();
            assert!(error.contains(words), "{error:?} should say {words:?}");
        }
    }

    proptest! {
        #[test]
        fn never_panics(text in r#"[\{\}\[\]":,a-z0-9\\]{0,60}"#) {
            let _ = UiMessageRequest::decode(text.as_bytes());
            let body = format!(r#"{{"messages":[{{"role":"assistant","parts":[{text}]}}]}}"#);
            let _ = UiMessageRequest::decode(body.as_bytes());
        }
    }
}
