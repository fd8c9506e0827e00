//! Recognizes servers that require the reasoning of earlier answers, or refuse it, and adapts the request.

use serde_json::{Map, Value, json};

/// Replaces unknown reasoning, such as that of another model. Kimi treats an empty text as missing.
const UNKNOWN_REASONING: &str = " ";
/// Gemini's placeholder for the signature of a call that it has not made itself.
const UNKNOWN_SIGNATURE: &str = "skip_thought_signature_validator";

/// The fields of an assistant's message that hold reasoning.
const FIELDS: [&str; 4] = [
    "reasoning_content",
    "reasoning",
    "thinking",
    "reasoning_details",
];

/// A complaint of a server about the reasoning in a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReasoningComplaint {
    /// Answers with calls lack their reasoning: DeepSeek, Kimi.
    Missing,
    /// Calls lack their thought signature: Gemini.
    MissingSignature,
    /// It accepts no reasoning: Groq, strict servers, DeepSeek before V3.2.
    NotAllowed,
}

impl ReasoningComplaint {
    /// The complaint in this message of an answer with status 400 or 422; `None` if it is another error.
    #[must_use]
    pub fn of(words: &str) -> Option<Self> {
        const LACKS: [&str; 6] = [
            "must be passed back",
            "missing",
            "is required",
            "must be provided",
            "must include",
            "must contain",
        ];
        const REFUSES: [&str; 13] = [
            "unsupported",
            "not support",
            "unrecognized",
            "unknown",
            "unexpected",
            "not permitted",
            "not allowed",
            "additional properties",
            "additionalproperties",
            "extra inputs",
            "extra fields",
            "please remove",
            "no such field",
        ];
        let words = words.to_lowercase();
        let says = |sentences: &[&str]| sentences.iter().any(|sentence| words.contains(sentence));
        if says(&["thought_signature", "thought signature", "thoughtsignature"]) && says(&LACKS) {
            return Some(Self::MissingSignature);
        }
        let names_field = says(&[
            "reasoning_content",
            "reasoning content",
            "reasoning_details",
            "extra_content",
        ]);
        if names_field && says(&LACKS) && !says(&REFUSES) {
            return Some(Self::Missing);
        }
        // `reasoning` is also a parameter: here it must be a field of a message.
        let names_property = words.contains("message")
            && ["reasoning", "thinking"].iter().any(|name| {
                ["'", "`", "\""]
                    .iter()
                    .any(|quote| words.contains(&format!("{quote}{name}{quote}")))
                    || words.contains(&format!(".{name}"))
            });
        ((names_field || names_property) && says(&REFUSES)).then_some(Self::NotAllowed)
    }

    /// The request `body` adapted to the complaint; `None` if there is nothing to change.
    #[must_use]
    pub fn answered(self, body: &[u8]) -> Option<Vec<u8>> {
        match self {
            Self::Missing => changed(body, fill_reasoning),
            Self::MissingSignature => changed(body, fill_signatures),
            Self::NotAllowed => changed(body, |messages| {
                messages
                    .iter_mut()
                    .filter_map(Value::as_object_mut)
                    .map(leave_out)
                    .fold(false, |any, one| any | one)
            }),
        }
    }
}

/// The body with its messages changed; `None` if they stay the same.
fn changed(body: &[u8], change: impl FnOnce(&mut Vec<Value>) -> bool) -> Option<Vec<u8>> {
    let mut body: Map<String, Value> = serde_json::from_slice(body).ok()?;
    let is_changed = change(body.get_mut("messages")?.as_array_mut()?);
    is_changed.then(|| serde_json::to_vec(&body).ok()).flatten()
}

fn has_calls(message: &Value) -> bool {
    message
        .get("tool_calls")
        .and_then(Value::as_array)
        .is_some_and(|calls| !calls.is_empty())
}

/// Adds reasoning to every answer with calls that has none, and to the answers after them in the same turn.
fn fill_reasoning(messages: &mut Vec<Value>) -> bool {
    let mut is_changed = false;
    let mut in_calls = false;
    for message in messages {
        match message["role"].as_str() {
            Some("user") => in_calls = false,
            Some("assistant") => {
                in_calls |= has_calls(message);
                let is_text = message
                    .get("reasoning_content")
                    .is_some_and(Value::is_string);
                if in_calls && !is_text {
                    message["reasoning_content"] = json!(UNKNOWN_REASONING);
                    is_changed = true;
                }
            }
            _ => {}
        }
    }
    is_changed
}

/// Adds a signature to the first call of every answer without one: of parallel calls only the first is signed.
fn fill_signatures(messages: &mut Vec<Value>) -> bool {
    const AT: &str = "/extra_content/google/thought_signature";
    let mut is_changed = false;
    for message in messages {
        let Some(calls) = message.get_mut("tool_calls").and_then(Value::as_array_mut) else {
            continue;
        };
        if calls.iter().any(|call| call.pointer(AT).is_some()) {
            continue;
        }
        if let Some(first) = calls.first_mut().and_then(Value::as_object_mut) {
            first.insert(
                "extra_content".to_owned(),
                json!({"google": {"thought_signature": UNKNOWN_SIGNATURE}}),
            );
            is_changed = true;
        }
    }
    is_changed
}

/// Removes all reasoning and data from a message. Returns whether there was any.
fn leave_out(message: &mut Map<String, Value>) -> bool {
    if message.get("role").is_none_or(|role| role != "assistant") {
        return false;
    }
    let mut is_changed = false;
    for name in FIELDS {
        is_changed |= message.shift_remove(name).is_some();
    }
    for call in message
        .get_mut("tool_calls")
        .and_then(Value::as_array_mut)
        .into_iter()
        .flatten()
    {
        is_changed |= call
            .as_object_mut()
            .is_some_and(|call| call.shift_remove("extra_content").is_some());
    }
    if let Some(Value::Array(parts)) = message.get_mut("content") {
        let before = parts.len();
        parts.retain(|part| part["type"] != "thinking");
        is_changed |= parts.len() < before;
        if let [only] = parts.as_mut_slice()
            && only["type"] == "text"
        {
            let text = only["text"].take();
            message.insert("content".to_owned(), text);
        }
    }
    is_changed
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn knows_the_complaints_of_servers() {
        use ReasoningComplaint::{Missing, MissingSignature, NotAllowed};
        for (words, complaint) in [
            // DeepSeek V3.2, Kimi K2, Gemini.
            (
                "The `reasoning_content` in the thinking mode must be passed back to the API.",
                Some(Missing),
            ),
            (
                "thinking is enabled but reasoning_content is missing in assistant tool call message at index 2",
                Some(Missing),
            ),
            (
                "Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly",
                Some(MissingSignature),
            ),
            // Groq, OpenAI, pydantic servers, DeepSeek R1.
            (
                "'messages.2' : for 'role:assistant' the following must be satisfied[('messages.2' : property \
                 'reasoning_content' is unsupported)]",
                Some(NotAllowed),
            ),
            (
                "'messages.2' : property 'reasoning' is unsupported",
                Some(NotAllowed),
            ),
            (
                "Unknown parameter: 'messages[1].reasoning_content'.",
                Some(NotAllowed),
            ),
            (
                "messages.1.assistant.thinking: Extra inputs are not permitted",
                Some(NotAllowed),
            ),
            (
                "Please remove the reasoning_content from your message to reduce network traffic",
                Some(NotAllowed),
            ),
            // Other errors.
            (
                "Unsupported parameter: 'reasoning_effort' is not supported with this model.",
                None,
            ),
            ("reasoning is not supported by this model", None),
            ("'messages' is a required property", None),
            ("This model's maximum context length is 8192 tokens.", None),
        ] {
            assert_eq!(ReasoningComplaint::of(words), complaint, "{words}");
        }
    }

    fn check(complaint: ReasoningComplaint, messages: &Value, expected: Option<&Value>) {
        let body = json!({"model": "m", "messages": messages, "stream": true}).to_string();
        let answered = complaint.answered(body.as_bytes());
        let answered =
            answered.map(|body| serde_json::from_slice::<Value>(&body).unwrap()["messages"].take());
        assert_eq!(answered.as_ref(), expected);
    }

    #[test]
    fn fills_in_missing_reasoning() {
        let call = |id: &str| json!({"id": id, "type": "function", "function": {"name": "ls", "arguments": "{}"}});
        let of = |fields: Value| {
            let mut message = json!({"role": "assistant"});
            message
                .as_object_mut()
                .unwrap()
                .extend(fields.as_object().unwrap().clone());
            message
        };
        let user = json!({"role": "user", "content": "hi"});
        let tool = json!({"role": "tool", "tool_call_id": "a", "content": "x"});
        let messages = json!([
            user,
            of(json!({"content": "plain"})),
            user,
            of(json!({"tool_calls": [call("a"), call("b")]})),
            tool,
            of(json!({"tool_calls": [call("c")], "reasoning_content": "hm"})),
            tool,
            of(json!({"content": "so"})),
        ]);
        let mut filled = messages.clone();
        filled[3]["reasoning_content"] = json!(" ");
        filled[7]["reasoning_content"] = json!(" ");
        check(ReasoningComplaint::Missing, &messages, Some(&filled));
        check(ReasoningComplaint::Missing, &filled, None);
        let mut signed = messages.clone();
        let signature = json!({"google": {"thought_signature": UNKNOWN_SIGNATURE}});
        signed[3]["tool_calls"][0]["extra_content"] = signature.clone();
        signed[5]["tool_calls"][0]["extra_content"] = signature;
        check(
            ReasoningComplaint::MissingSignature,
            &messages,
            Some(&signed),
        );
        check(ReasoningComplaint::MissingSignature, &signed, None);
        let mut without = messages;
        without[5]
            .as_object_mut()
            .unwrap()
            .shift_remove("reasoning_content");
        check(ReasoningComplaint::NotAllowed, &signed, Some(&without));
        check(ReasoningComplaint::NotAllowed, &without, None);
    }

    #[test]
    fn thinking_in_the_content_is_left_out() {
        let thinking = json!({"type": "thinking", "thinking": [{"type": "text", "text": "hm"}]});
        let content = json!([thinking, {"type": "text", "text": "so"}]);
        let messages = json!([{"role": "user", "content": content}, {"role": "assistant", "content": content}]);
        let expected =
            json!([{"role": "user", "content": content}, {"role": "assistant", "content": "so"}]);
        check(ReasoningComplaint::NotAllowed, &messages, Some(&expected));
    }

    #[test]
    fn other_bodies_are_unchanged() {
        for body in [
            "",
            "[]",
            "{}",
            r#"{"messages":7}"#,
            r#"{"messages":[7,{"tool_calls":[]},{"role":"assistant"}]}"#,
        ] {
            for complaint in [
                ReasoningComplaint::Missing,
                ReasoningComplaint::MissingSignature,
                ReasoningComplaint::NotAllowed,
            ] {
                assert_eq!(complaint.answered(body.as_bytes()), None, "{body}");
            }
        }
    }
}
