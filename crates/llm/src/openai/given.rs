//! What a server of Chat Completions wants back with the reasoning of an answer.

use provider::openai::Chunk;
use serde_json::{Map, Value, json};

/// More pieces of one answer are not kept.
const MAX_DETAILS: usize = 4096;

/// What the chunks so far have said of it, beside the text.
#[derive(Debug, Default)]
pub(super) struct Given {
    field: Option<&'static str>,
    details: Vec<Value>,
}

impl Given {
    pub(super) fn push(&mut self, chunk: &Chunk<'_>) {
        self.field = chunk.reasoning_field.or(self.field);
        let Some(list) = &chunk.reasoning_details else {
            return;
        };
        for detail in serde_json::from_str::<Vec<Value>>(list).unwrap_or_default() {
            self.add(detail);
        }
    }

    /// A list that comes in pieces is put together again: pieces of one detail have its kind and number.
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

    /// What goes back with the reasoning so far, once that is whole; nothing where the server wants nothing.
    pub(super) fn take(&mut self) -> Option<Value> {
        let (field, details) = (self.field.take(), std::mem::take(&mut self.details));
        match (field, details.is_empty()) {
            (_, false) => Some(json!({ "reasoning_details": details })),
            (Some("content"), _) => Some(json!({ "content_thinking": true })),
            (Some(field), _) => Some(json!({ "field": field })),
            (None, true) => None,
        }
    }
}

/// Texts go on; what else is said is said once.
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
