//! What formats with JSON in camel case say about a changed memory.

use domain::EventBody;
use serde_json::{Value, json};

/// The change as an object; nothing for other events.
pub(crate) fn memory_news(body: &EventBody) -> Value {
    let EventBody::MemoryChanged { call, name, only_for, version, deleted, added_lines, removed_lines } =
        body
    else {
        return Value::Null;
    };
    let mut news = json!({"toolCallId": call, "name": name, "version": version});
    if let Some(agent) = only_for {
        news["onlyFor"] = json!(agent);
    }
    if *deleted {
        news["deleted"] = json!(true);
    }
    for (name, lines) in [("addedLines", added_lines), ("removedLines", removed_lines)] {
        if let Some(lines) = lines {
            news[name] = json!(lines);
        }
    }
    news
}
