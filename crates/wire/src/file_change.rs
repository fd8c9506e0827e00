//! A changed file, for formats with JSON in camel case.

use domain::EventBody;
use serde_json::{Value, json};

/// The change as an object; `Null` for other events.
pub(crate) fn file_change(body: &EventBody) -> Value {
    let EventBody::FileChanged {
        path,
        version,
        size_bytes,
        deleted,
        added_lines,
        removed_lines,
    } = body
    else {
        return Value::Null;
    };
    let mut updates = json!({"path": path, "version": version, "sizeBytes": size_bytes});
    if *deleted {
        updates["deleted"] = json!(true);
    }
    for (name, lines) in [("addedLines", added_lines), ("removedLines", removed_lines)] {
        if let Some(lines) = lines {
            updates[name] = json!(lines);
        }
    }
    updates
}
