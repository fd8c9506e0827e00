//! Adapts JSON Schemas of answers to the API.

use serde_json::{Map, Value};

/// The schema of an answer: objects are closed, and constraints that the API refuses move into descriptions.
pub(crate) fn for_answer(schema: &Value) -> Value {
    let Value::Object(fields) = schema else {
        return schema.clone();
    };
    let mut taken = Map::new();
    let mut words = Vec::new();
    for (key, value) in fields {
        match key.as_str() {
            "$schema" | "$id" | "additionalProperties" | "unevaluatedProperties" => {}
            "properties" | "$defs" | "definitions" => {
                let each = value.as_object().into_iter().flatten();
                let each = each.map(|(name, schema)| (name.clone(), for_answer(schema)));
                taken.insert(key.clone(), Value::Object(each.collect()));
            }
            "anyOf" | "oneOf" | "allOf" => {
                let each = value
                    .as_array()
                    .into_iter()
                    .flatten()
                    .map(for_answer)
                    .collect();
                let key = if key == "oneOf" { "anyOf" } else { key };
                taken.insert(key.to_owned(), Value::Array(each));
            }
            "items" => drop(taken.insert(key.clone(), for_answer(value))),
            "minItems" if value.as_u64().is_some_and(|items| items <= 1) => {
                taken.insert(key.clone(), value.clone());
            }
            "type" | "required" | "enum" | "const" | "title" | "description" | "$ref"
            | "format" | "default" => {
                taken.insert(key.clone(), value.clone());
            }
            _ => words.push(format!("{key}: {}", shown(value))),
        }
    }
    if fields.contains_key("properties") || fields.get("type").is_some_and(|it| it == "object") {
        taken.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if !words.is_empty() {
        let said = taken
            .get("description")
            .and_then(Value::as_str)
            .map(|it| format!("{it}\n\n"));
        let description = format!("{}{{{}}}", said.unwrap_or_default(), words.join(", "));
        taken.insert("description".to_owned(), Value::String(description));
    }
    Value::Object(taken)
}

fn shown(value: &Value) -> String {
    value
        .as_str()
        .map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn objects_are_closed_and_constraints_described() {
        let schema = json!({"$schema": "x", "type": "object", "required": ["score"], "properties": {
            "score": {"type": "number", "minimum": 0, "maximum": 1, "description": "How sure."},
            "tags": {"type": "array", "items": {"oneOf": [{"type": "string", "pattern": "^a"}]}, "maxItems": 3},
        }});
        let expected = json!({"type": "object", "required": ["score"], "properties": {
            "score": {"type": "number", "description": "How sure.\n\n{minimum: 0, maximum: 1}"},
            "tags": {
                "type": "array",
                "items": {"anyOf": [{"type": "string", "description": "{pattern: ^a}"}]},
                "description": "{maxItems: 3}",
            },
        }, "additionalProperties": false});
        assert_eq!(for_answer(&schema), expected);
    }
}
