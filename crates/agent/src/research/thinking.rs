//! Asks the model for JSON that controls the research. The raw answer is not shown.

use domain::{Message, Problem, Role};
use serde_json::{Map, Value, json};

use crate::{
    internal_call::call_internally, library::first_chars, loose_json::object, open_call::EndedCall,
    turns::AgentContext,
};

/// Maximum length of an answer, bytes.
const ANSWER_BYTES: usize = 16_000;
/// Number of characters of an unparsable answer that are shown to the model on retry.
const SHOWN_CHARS: usize = 1_000;

/// The outcome.
#[derive(Debug)]
pub(super) struct Thought {
    /// The answer; `None` if none could be parsed, even after a retry.
    pub(super) fields: Option<Map<String, Value>>,
    call: EndedCall,
}

impl Thought {
    /// Emits the call.
    pub(super) async fn tell(self, agent: &AgentContext) {
        self.call.report(agent).await;
    }
}

/// Asks for an object with these fields, with one retry if the answer is not one.
pub(super) async fn think(
    agent: &AgentContext,
    messages: &[Message],
    properties: Value,
) -> Result<Thought, Problem> {
    let fields: Vec<String> = properties
        .as_object()
        .into_iter()
        .flat_map(|all| all.keys().cloned())
        .collect();
    let schema = json!({"type": "object", "properties": properties, "required": fields, "additionalProperties": false});
    let form = json!({"type": "json_schema", "json_schema": {"name": "answer", "strict": true, "schema": schema}});
    let fields: Vec<&str> = fields.iter().map(String::as_str).collect();
    let (mut thought, said) = once(agent, messages, &form, &fields).await?;
    if thought.fields.is_none() {
        let again = format!(
            "That was not what is needed. Answer with one JSON object with the fields {}, and nothing else.",
            fields.join(", ")
        );
        let mut messages = messages.to_vec();
        let said = first_chars(&said, SHOWN_CHARS);
        messages.extend([
            Message::text(
                Role::Assistant,
                if said.is_empty() {
                    "…".to_owned()
                } else {
                    said
                },
            ),
            Message::text(Role::User, again),
        ]);
        let (second, _) = once(agent, &messages, &form, &fields).await?;
        thought.call.add(second.call);
        thought.fields = second.fields;
    }
    Ok(thought)
}

async fn once(
    agent: &AgentContext,
    messages: &[Message],
    form: &Value,
    fields: &[&str],
) -> Result<(Thought, String), Problem> {
    let answer = call_internally(agent, messages, ANSWER_BYTES, Some(form)).await?;
    let thought = Thought {
        fields: object(&answer.text, fields),
        call: answer.call,
    };
    Ok((thought, answer.text))
}
