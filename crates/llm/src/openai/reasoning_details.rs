//! Collects the reasoning data of an answer that a Chat Completions server needs back.

use provider::openai::Chunk;
use serde_json::{Map, Value, json};

/// Maximum number of pieces kept of one answer.
const MAX_DETAILS: usize = 4096;

/// The collected data, in addition to the reasoning text.
#[derive(Debug, Default)]
pub(super) struct ReasoningDetails {
    field: Option<&'static str>,
    details: Vec<Value>,
}

impl ReasoningDetails {
    pub(super) fn push(&mut self, chunk: &Chunk<'_>) {
        self.field = chunk.reasoning_field.or(self.field);
        let Some(list) = &chunk.reasoning_details else {
            return;
        };
        for detail in serde_json::from_str::<Vec<Value>>(list).unwrap_or_default() {
            self.add(detail);
        }
    }

    /// Joins a list that comes in pieces: pieces of one detail have the same type and index.
    fn add(&mut self, detail: Value) {
        if let (Some(Value::Object(last)), Value::Object(more)) = (self.details.last_mut(), &detail)
            && ["type", "index"]
                .iter()
                .all(|name| last.get(*name) == more.get(*name))
            && !more.contains_key("data")
        {
            return join(last, more);
        }
        if self.details.len() < MAX_DETAILS {
            self.details.push(detail);
        }
    }

    /// The data to return with the reasoning so far, once that is complete; `None` if the server needs none.
    pub(super) fn take(&mut self) -> Option<Value> {
        let field = self.field.take();
        let details = std::mem::take(&mut self.details);
        match (field, details.is_empty()) {
            (_, false) => Some(json!({ "reasoning_details": details })),
            (Some("content"), _) => Some(json!({ "content_thinking": true })),
            (Some(field), _) => Some(json!({ "field": field })),
            (None, true) => None,
        }
    }
}

/// Texts are concatenated; other values are set once.
fn join(known: &mut Map<String, Value>, more: &Map<String, Value>) {
    for (name, value) in more {
        match (known.get_mut(name), value) {
            (Some(Value::String(text)), Value::String(next))
                if matches!(name.as_str(), "text" | "summary") =>
            {
                text.push_str(next);
            }
            (Some(known), value) if !value.is_null() => *known = value.clone(),
            (None, value) => _ = known.insert(name.clone(), value.clone()),
            _ => {}
        }
    }
}
