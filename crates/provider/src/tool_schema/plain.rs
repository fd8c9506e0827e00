//! The plainest schema of a tool's arguments that still tells their names, for a server that has refused a better one.

use serde_json::{Map, Value, json};

/// Types that every server knows.
const TYPES: [&str; 6] = ["string", "integer", "number", "boolean", "array", "object"];

/// Maximum length of a description of an argument, characters.
const MAX_DESCRIPTION_CHARS: usize = 500;

/// An object with the names, types and descriptions of the arguments, in which nothing else is forbidden.
#[must_use]
pub fn plain(schema: &Value) -> Value {
    let properties: Map<String, Value> = schema
        .get("properties")
        .and_then(Value::as_object)
        .into_iter()
        .flatten()
        .map(|(name, property)| (name.clone(), argument(property)))
        .collect();
    let required: Vec<Value> = schema
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|name| {
            name.as_str()
                .is_some_and(|name| properties.contains_key(name))
        })
        .cloned()
        .collect();
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": true})
}

fn argument(schema: &Value) -> Value {
    let mut argument = Map::new();
    let said: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    let kind = TYPES.into_iter().find(|name| said.contains(name));
    // Servers that insist on a type for each argument take text, which models write best.
    let kind = kind.unwrap_or(if schema.get("properties").is_some() {
        "object"
    } else {
        "string"
    });
    argument.insert("type".to_owned(), json!(kind));
    match kind {
        "array" => {
            let items = schema.get("items").filter(|items| items.is_object());
            let of = items
                .and_then(|items| items["type"].as_str())
                .filter(|kind| TYPES.contains(kind) && *kind != "array");
            argument.insert("items".to_owned(), json!({"type": of.unwrap_or("string")}));
        }
        "object" => drop(argument.insert("properties".to_owned(), json!({}))),
        _ => {}
    }
    if let Some(description) = schema.get("description").and_then(Value::as_str) {
        let cut: String = description.chars().take(MAX_DESCRIPTION_CHARS).collect();
        argument.insert("description".to_owned(), json!(cut));
    }
    Value::Object(argument)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_and_types_are_left() {
        let schema = json!({
            "type": "object", "$defs": {"a": {}}, "anyOf": [{}], "required": ["a", "gone"],
            "properties": {
                "a": {"type": ["null", "string"], "description": "A.", "pattern": "^a$", "enum": ["a"]},
                "b": {"type": "array", "items": {"type": "object", "properties": {"x": {"$ref": "#/$defs/a"}}}},
                "c": {"$ref": "#/$defs/a"},
                "d": {"properties": {"y": {}}},
                "e": true,
            },
        });
        let expected = json!({
            "type": "object", "required": ["a"], "additionalProperties": true,
            "properties": {
                "a": {"type": "string", "description": "A."},
                "b": {"type": "array", "items": {"type": "object"}},
                "c": {"type": "string"},
                "d": {"type": "object", "properties": {}},
                "e": {"type": "string"},
            },
        });
        assert_eq!(plain(&schema), expected);
        assert_eq!(plain(&expected), expected, "again");
        assert_eq!(plain(&json!(null))["properties"], json!({}));
    }
}
