//! JSON Schemas as the API takes them.

use serde::{Deserialize, Serialize, de::IgnoredAny};
use serde_json::{Map, Value, json, value::RawValue};

/// The schema of a tool's arguments.
#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(in crate::provider) enum InputSchema<'a> {
    Written(&'a RawValue),
    Made(Value),
}

/// What decides whether a schema can be sent as it is.
#[derive(Deserialize)]
struct Top {
    #[serde(rename = "type")]
    kind: String,
    #[serde(rename = "anyOf", alias = "oneOf", alias = "allOf")]
    choice: Option<IgnoredAny>,
}

impl<'a> InputSchema<'a> {
    /// The schema, or one that the API takes in its place: it insists on an object, and on no choice of schemas at the top.
    pub(in crate::provider) fn of(schema: &'a RawValue) -> Self {
        match serde_json::from_str::<Top>(schema.get()) {
            Ok(Top { kind, choice: None }) if kind == "object" => Self::Written(schema),
            _ => Self::Made(as_object(serde_json::from_str(schema.get()).unwrap_or(Value::Null))),
        }
    }
}

fn as_object(schema: Value) -> Value {
    let Value::Object(mut fields) = schema else { return json!({"type": "object"}) };
    let mut properties = fields.get("properties").and_then(Value::as_object).cloned().unwrap_or_default();
    for choice in ["anyOf", "oneOf", "allOf"] {
        let Some(Value::Array(schemas)) = fields.shift_remove(choice) else { continue };
        for (name, property) in schemas.iter().filter_map(|schema| schema["properties"].as_object()).flatten()
        {
            properties.entry(name.clone()).or_insert_with(|| property.clone());
        }
        // Of alternatives nothing can be required.
        if choice == "allOf" {
            let required =
                schemas.iter().filter_map(|schema| schema["required"].as_array()).flatten().cloned();
            let all = fields.entry("required").or_insert_with(|| json!([]));
            all.as_array_mut().into_iter().for_each(|all| all.extend(required.clone()));
        }
    }
    fields.insert("type".to_owned(), json!("object"));
    fields.insert("properties".to_owned(), Value::Object(properties));
    Value::Object(fields)
}

/// The schema of an answer: objects are closed, and constraints that the API refuses become words.
pub(crate) fn for_answer(schema: &Value) -> Value {
    let Value::Object(fields) = schema else { return schema.clone() };
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
                let each = value.as_array().into_iter().flatten().map(for_answer).collect();
                let key = if key == "oneOf" { "anyOf" } else { key };
                taken.insert(key.to_owned(), Value::Array(each));
            }
            "items" => drop(taken.insert(key.clone(), for_answer(value))),
            "minItems" if value.as_u64().is_some_and(|items| items <= 1) => {
                taken.insert(key.clone(), value.clone());
            }
            "type" | "required" | "enum" | "const" | "title" | "description" | "$ref" | "format"
            | "default" => {
                taken.insert(key.clone(), value.clone());
            }
            _ => words.push(format!("{key}: {}", shown(value))),
        }
    }
    if fields.contains_key("properties") || fields.get("type").is_some_and(|it| it == "object") {
        taken.insert("additionalProperties".to_owned(), Value::Bool(false));
    }
    if !words.is_empty() {
        let said = taken.get("description").and_then(Value::as_str).map(|it| format!("{it}\n\n"));
        let description = format!("{}{{{}}}", said.unwrap_or_default(), words.join(", "));
        taken.insert("description".to_owned(), Value::String(description));
    }
    Value::Object(taken)
}

fn shown(value: &Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tools_have_an_object_of_arguments() {
        let check = |schema: Value, expected: Value| {
            let raw = serde_json::value::to_raw_value(&schema).unwrap();
            assert_eq!(serde_json::to_value(InputSchema::of(&raw)).unwrap(), expected);
        };
        let whole = json!({"type": "object", "properties": {"a": {"anyOf": [{"type": "string"}]}}});
        check(whole.clone(), whole);
        check(json!({}), json!({"type": "object", "properties": {}}));
        check(json!(true), json!({"type": "object"}));
        check(
            json!({"type": "object", "oneOf": [
                {"properties": {"a": {"type": "string"}}, "required": ["a"]},
                {"properties": {"b": {"type": "string"}}, "required": ["b"]},
            ]}),
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}}),
        );
        check(
            json!({"allOf": [{"properties": {"a": {}}, "required": ["a"]}], "required": ["c"]}),
            json!({"required": ["c", "a"], "type": "object", "properties": {"a": {}}}),
        );
    }

    #[test]
    fn answers_are_closed_and_constraints_are_words() {
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
