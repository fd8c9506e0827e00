//! Scenarios as JSON files, which specify the response for each turn of a conversation.

use std::collections::BTreeMap;

use serde::Deserialize;
use serde_json::Value;

use crate::{Behaviour, Reply, Request, Step};

/// What the server plays. The first case that matches the last user message is used. Its turn is the number of
/// assistant messages since then; the last turn repeats.
///
/// ```json
/// {"cases": [
///   {"contains": "weather", "turns": [
///     {"steps": [{"type": "calls", "calls": [{"name": "ls", "arguments": {"path": "/"}}]},
///                {"type": "finish", "reason": "tool_calls"}]},
///     {"steps": [{"type": "text", "text": "Sunny.", "tokens_per_second": 30},
///                {"type": "finish", "reason": "stop"}]}]},
///   {"turns": [{"status": 503, "headers": {"retry-after": "1"}, "body": "busy"}]}]}
/// ```
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scenario {
    /// The cases in the order in which they are tried.
    pub cases: Vec<Case>,
}

/// The turns of one kind of conversation.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Case {
    /// Text that the last user message must contain; any message matches if absent.
    #[serde(default)]
    pub contains: Option<String>,
    /// At least one.
    pub turns: Vec<Turn>,
}

/// The response to one request.
#[derive(Debug, Clone, Deserialize)]
#[serde(untagged, deny_unknown_fields)]
pub enum Turn {
    /// A stream.
    Steps {
        /// Its steps.
        steps: Vec<Step>,
    },
    /// Any other response.
    Status {
        /// The HTTP status.
        status: u16,
        /// Headers by name.
        #[serde(default)]
        headers: BTreeMap<String, String>,
        /// The body.
        #[serde(default)]
        body: String,
    },
}

impl Scenario {
    /// Encodes every response once. Returns the behaviour that plays them.
    #[must_use]
    pub fn behaviour(&self) -> Behaviour {
        let cases: Vec<(Option<String>, Vec<Reply>)> = self
            .cases
            .iter()
            .map(|case| {
                (
                    case.contains.clone(),
                    case.turns.iter().map(Turn::reply).collect(),
                )
            })
            .collect();
        Behaviour::answer(move |request| {
            let (turn, said) = place(request);
            let fits =
                |words: &Option<String>| words.as_ref().is_none_or(|words| said.contains(words));
            let turns = cases
                .iter()
                .find(|(words, _)| fits(words))
                .map(|(_, turns)| turns);
            match turns.and_then(|turns| turns.get(turn).or(turns.last())) {
                Some(reply) => reply.clone(),
                None => Reply::error(400, "No case of the scenario fits this request."),
            }
        })
    }
}

impl Turn {
    fn reply(&self) -> Reply {
        match self {
            Self::Steps { steps } => Reply::stream(steps),
            Self::Status {
                status,
                headers,
                body,
            } => {
                let headers: Vec<(&str, &str)> = headers
                    .iter()
                    .map(|(name, value)| (name.as_str(), value.as_str()))
                    .collect();
                Reply::status(*status, &headers, body)
            }
        }
    }
}

/// The number of assistant messages after the last user message, and the text of that message.
fn place(request: &Request) -> (usize, String) {
    let empty = Vec::new();
    let messages = request.body["messages"].as_array().unwrap_or(&empty);
    let role = |message: &Value, role: &str| message["role"] == role;
    let user = messages.iter().rposition(|message| role(message, "user"));
    let after = user.map_or(0, |at| at + 1);
    let turn = messages[after..]
        .iter()
        .filter(|message| role(message, "assistant"))
        .count();
    let said = user.map_or_else(String::new, |at| match &messages[at]["content"] {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    });
    (turn, said)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_place_in_a_conversation() {
        let said = |role: &str, content: &str| json!({"role": role, "content": content});
        let messages = json!([
            said("user", "one"),
            said("assistant", "a"),
            said("user", "two"),
            said("assistant", ""),
            said("tool", "x"),
        ]);
        let request = Request {
            number: 1,
            path: String::new(),
            headers: hyper::HeaderMap::new(),
            bytes: bytes::Bytes::new(),
            body: json!({ "messages": messages }),
        };
        assert_eq!(place(&request), (1, "two".to_owned()));
        assert_eq!(
            place(&Request {
                body: Value::Null,
                ..request
            }),
            (0, String::new())
        );
    }

    #[test]
    fn unknown_fields_are_mistakes() {
        let misspelt = json!({"cases": [{"turns": [{"step": []}]}]});
        assert!(serde_json::from_value::<Scenario>(misspelt).is_err());
    }
}
