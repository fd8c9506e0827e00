//! A changed memory, for formats with JSON in camel case.

use domain::EventBody;
use serde_json::{Map, Value, json};

/// The change as an object: `state` is `started`, `completed` or `failed`. `Null` for other events.
pub(crate) fn memory_update(body: &EventBody) -> Value {
    let mut update = Map::new();
    let mut put = |name: &str, value: Option<Value>| {
        if let Some(value) = value {
            update.insert(name.to_owned(), value);
        }
    };
    match body {
        EventBody::MemoryUpdateStarted { call, name, chat } => {
            put("state", Some("started".into()));
            put("toolCallId", call.as_deref().map(Value::from));
            put("name", name.as_deref().map(Value::from));
            put("chat", chat.map(|chat| chat.to_string().into()));
        }
        EventBody::MemoryUpdateCompleted {
            call,
            name,
            only_for,
            version,
            deleted,
            added_lines,
            removed_lines,
            facts,
            error,
        } => {
            put(
                "state",
                Some(
                    if error.is_some() {
                        "failed"
                    } else {
                        "completed"
                    }
                    .into(),
                ),
            );
            put("toolCallId", call.as_deref().map(Value::from));
            put("name", name.as_deref().map(Value::from));
            put("version", version.map(Value::from));
            put("onlyFor", only_for.as_deref().map(Value::from));
            put("deleted", deleted.then(|| true.into()));
            put("addedLines", added_lines.map(Value::from));
            put("removedLines", removed_lines.map(Value::from));
            put("facts", facts.map(|facts| json!(facts)));
            put("error", error.as_deref().map(Value::from));
        }
        _ => return Value::Null,
    }
    Value::Object(update)
}
