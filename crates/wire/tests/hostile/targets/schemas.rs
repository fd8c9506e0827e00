//! Schemas of tools, and the server errors that refuse them.

use provider::tool_schema::{ToolFormat, ToolSchema, plain, without_refused};
use serde_json::{Value, json};

/// For any schema, each format gets one of an object; for any server error, the next request is JSON.
pub fn tool_schema(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let Ok(schema) = serde_json::from_str::<Value>(&text) else {
        return;
    };
    let schema = ToolSchema::from(schema);
    for tool_format in ToolFormat::ALL {
        let sent: Value =
            serde_json::from_str(schema.json_for(tool_format).get()).expect("we write JSON");
        assert_eq!(sent["type"], "object");
        assert!(sent["properties"].is_object());
        assert_eq!(plain(&sent)["type"], "object");
        let tool = json!({"type": "function", "function": {"name": "a", "parameters": sent}});
        let body = json!({"tools": [tool], "messages": []}).to_string();
        if let Some(changed) = without_refused(body.as_bytes(), 400, &text) {
            assert!(!changed.changes.is_empty());
            assert!(serde_json::from_slice::<Value>(&changed.body).is_ok());
        }
    }
}
