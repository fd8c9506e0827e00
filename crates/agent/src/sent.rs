//! A summary of a model's input for debugging a run. It is streamed with the log and never stored.

use domain::{Message, Part, Role};
use llm::ChatRequest;
use serde_json::{Map, Value, json};

/// Maximum number of latest messages shown.
const MAX_MESSAGES: usize = 12;
/// Total size of their texts and arguments, bytes, except for the last one.
const MAX_BYTES: usize = 16_000;
/// Maximum length of a text or of a call's arguments, characters.
const MAX_CHARS: usize = 1_000;
/// Maximum number of texts and calls per message, and of tool names.
const MAX_PARTS: usize = 4;
const MAX_CALLS: usize = 8;
const MAX_TOOLS: usize = 100;
/// Maximum length of the person's last message, characters.
const MAX_SAID_CHARS: usize = 8_000;

/// The run's request: the person's last message, if any.
pub(crate) fn said(history: &[Message]) -> Option<Value> {
    let last = history
        .last()
        .filter(|message| message.role == Role::User)?;
    Some(json!({"message": text_of(last, MAX_SAID_CHARS)}))
}

/// A request of at most a few kilobytes, with the field names of chat completions. Of the instructions, which are an
/// administrator's, only the length is shown.
pub(crate) fn request(model: &str, request: &ChatRequest<'_>) -> Value {
    let messages = latest(request.messages);
    let left_out = request.messages.len() - messages.len();
    let mut sent = Map::new();
    sent.insert("model".to_owned(), model.into());
    sent.insert("messages".to_owned(), messages.into());
    if left_out > 0 {
        sent.insert("earlierMessages".to_owned(), left_out.into());
    }
    let tools: Vec<&str> = request
        .tools
        .iter()
        .map(|tool| tool.name.as_str())
        .take(MAX_TOOLS)
        .collect();
    if !tools.is_empty() {
        sent.insert("tools".to_owned(), tools.into());
    }
    let set = request.parameters;
    let parameters = [
        ("temperature", set.temperature.map(Value::from)),
        ("top_p", set.top_p.map(Value::from)),
        ("max_tokens", set.max_output_tokens.map(Value::from)),
        ("stop", set.stop.clone().map(Value::from)),
        ("seed", set.seed.map(Value::from)),
        (
            "reasoning_effort",
            set.reasoning_effort.map(|effort| effort.name().into()),
        ),
    ];
    let parameters = parameters
        .into_iter()
        .filter_map(|(name, value)| Some((name.to_owned(), value?)));
    sent.extend(parameters);
    Value::Object(sent)
}

/// As many of the latest messages as fit.
fn latest(messages: &[Message]) -> Vec<Value> {
    let mut shown = Vec::new();
    let mut left_bytes = MAX_BYTES;
    for one in messages.iter().rev().take(MAX_MESSAGES) {
        let (message, size) = message(one);
        if size > left_bytes && !shown.is_empty() {
            break;
        }
        left_bytes = left_bytes.saturating_sub(size);
        shown.push(message);
    }
    shown.reverse();
    shown
}

/// A message, and the number of bytes in its text and its calls' arguments.
fn message(message: &Message) -> (Value, usize) {
    let Message {
        role,
        tool_calls,
        tool_call_id,
        ..
    } = message;
    if *role == Role::System {
        let size: usize = texts(message).map(str::len).sum();
        return (
            json!({"role": role, "content": format!("[instructions, {size} bytes]")}),
            0,
        );
    }
    let text = text_of(message, MAX_CHARS);
    let mut size = text.len();
    let mut shown = json!({"role": role, "content": text});
    if let Some(id) = tool_call_id {
        shown["tool_call_id"] = id.as_str().into();
    }
    if !tool_calls.is_empty() {
        let calls = tool_calls.iter().take(MAX_CALLS);
        let call = |call: &domain::ToolCall| {
            let arguments = beginning(&call.arguments, MAX_CHARS);
            size += arguments.len();
            json!({"id": call.id, "name": call.name, "arguments": arguments})
        };
        shown["tool_calls"] = calls.map(call).collect();
    }
    (shown, size)
}

fn text_of(message: &Message, max_chars: usize) -> String {
    let mut shown: Vec<String> = texts(message)
        .take(MAX_PARTS)
        .map(|text| beginning(text, max_chars))
        .collect();
    let others = message.content.len() - shown.len();
    if others > 0 {
        shown.push(format!("[{others} more parts]"));
    }
    shown.join("\n")
}

fn texts(message: &Message) -> impl Iterator<Item = &str> {
    message.content.iter().filter_map(|part| match part {
        Part::Text { text } => Some(text.as_str()),
        _ => None,
    })
}

/// The beginning of a text, cut between words, since the redactor would not recognize half of a secret.
fn beginning(text: &str, max_chars: usize) -> String {
    let Some((end, _)) = text.char_indices().nth(max_chars) else {
        return text.to_owned();
    };
    let end = text[..end].rfind(char::is_whitespace).unwrap_or(0);
    format!("{} … ({} bytes)", text[..end].trim_end(), text.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_messages_have_room() {
        let long = Message::text(Role::User, "word ".repeat(10_000));
        let few = latest(&vec![long; 40]);
        assert_eq!(few.len(), 12);
        let wide = Message::text(Role::User, "слово ".repeat(10_000));
        let fewer = latest(&vec![wide; 40]);
        assert!((5..12).contains(&fewer.len()), "{}", fewer.len());
        assert!(Value::from(fewer).to_string().len() < 20_000);
    }

    #[test]
    fn texts_are_cut_between_words() {
        assert_eq!(beginning("one two", 7), "one two");
        assert_eq!(beginning("one two three", 9), "one two … (13 bytes)");
        assert_eq!(beginning(&"x".repeat(20), 9), " … (20 bytes)");
        let key = format!("{} sk-1234567890abcdef", "word ".repeat(3));
        assert!((15..key.len()).all(|max| !beginning(&key, max).contains("sk-")));
    }
}
