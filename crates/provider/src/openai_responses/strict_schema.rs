//! Checks whether OpenAI accepts a JSON Schema as `strict`: every object requires all of its properties and allows no
//! others, and only some keywords may be used. Anything else is refused with 400.

use serde_json::Value;

/// Maximum nesting.
const MAX_DEPTH: usize = 5;
/// Maximum number of properties in one schema.
const MAX_PROPERTIES: usize = 100;

const KEYWORDS: [&str; 13] = [
    "$defs",
    "$ref",
    "additionalProperties",
    "anyOf",
    "const",
    "definitions",
    "description",
    "enum",
    "items",
    "properties",
    "required",
    "title",
    "type",
];

/// The same for the text of a schema. Most tool schemas are decided without parsing.
pub(super) fn allows_strict_text(schema: &str) -> bool {
    schema.contains("\"additionalProperties\"")
        && serde_json::from_str(schema).is_ok_and(|schema| allows_strict(&schema))
}

/// Whether `strict` can be set with this schema.
pub(super) fn allows_strict(schema: &Value) -> bool {
    let mut left = MAX_PROPERTIES;
    schema["type"] == "object"
        && schema.get("anyOf").is_none()
        && is_strict(schema, MAX_DEPTH, &mut left)
}

fn is_strict(schema: &Value, depth: usize, left: &mut usize) -> bool {
    let Some(fields) = schema.as_object() else {
        return false;
    };
    if depth == 0 || fields.keys().any(|name| !KEYWORDS.contains(&name.as_str())) {
        return false;
    }
    let is_typed = ["type", "anyOf", "$ref", "enum", "const"]
        .iter()
        .any(|name| fields.contains_key(*name));
    let names_object = |kind: &Value| kind == "object";
    let is_object = match fields.get("type") {
        Some(Value::Array(kinds)) => kinds.iter().any(names_object),
        Some(kind) => names_object(kind),
        None => false,
    };
    let names_array = fields.get("type").is_some_and(|kind| kind == "array");
    is_typed
        && (!is_object || is_closed(fields, depth, left))
        && (!names_array || fields.contains_key("items"))
        && fields
            .get("items")
            .is_none_or(|items| is_strict(items, depth - 1, left))
        && fields.get("anyOf").is_none_or(|any| {
            any.as_array()
                .is_some_and(|any| any.iter().all(|one| is_strict(one, depth, left)))
        })
        && ["$defs", "definitions"]
            .iter()
            .filter_map(|name| fields.get(*name))
            .all(|defs| {
                defs.as_object()
                    .is_some_and(|defs| defs.values().all(|one| is_strict(one, depth, left)))
            })
}

/// Whether an object requires all its properties and allows no others.
fn is_closed(fields: &serde_json::Map<String, Value>, depth: usize, left: &mut usize) -> bool {
    let no_properties = serde_json::Map::new();
    let properties = match fields.get("properties") {
        Some(Value::Object(properties)) => properties,
        None => &no_properties,
        Some(_) => return false,
    };
    let Some(Value::Array(required)) = fields.get("required") else {
        return false;
    };
    let Some(rest) = left.checked_sub(properties.len()) else {
        return false;
    };
    *left = rest;
    fields.get("additionalProperties") == Some(&Value::Bool(false))
        && required.len() == properties.len()
        && properties.iter().all(|(name, schema)| {
            required.iter().any(|it| it == name) && is_strict(schema, depth - 1, left)
        })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: &Value, expected: bool) {
        assert_eq!(allows_strict(schema), expected, "{schema}");
        assert_eq!(
            allows_strict_text(&schema.to_string()),
            expected,
            "{schema}"
        );
    }

    fn object(properties: &Value, required: &[&str]) -> Value {
        json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
    }

    #[test]
    fn closed_objects_only() {
        let city = json!({"city": {"type": "string"}});
        check(&object(&city, &["city"]), true);
        check(&object(&json!({}), &[]), true);
        // As recorded for tools without arguments, which are not asked for as strict.
        check(
            &json!({"type": "object", "properties": {}, "additionalProperties": false}),
            false,
        );
        check(&object(&city, &[]), false);
        check(
            &json!({"type": "object", "properties": city, "required": ["city"]}),
            false,
        );
        check(
            &json!({"type": "object", "additionalProperties": {"type": "string"}}),
            false,
        );
        check(&object(&json!({"at": {"type": "object"}}), &["at"]), false);
        check(&json!({"anyOf": [object(&city, &["city"])]}), false);
        check(&json!(true), false);
    }

    #[test]
    fn keywords_and_nesting() {
        let of = |schema: Value| object(&json!({"a": schema}), &["a"]);
        check(
            &of(json!({"type": ["string", "null"], "enum": ["x", null], "description": "d"})),
            true,
        );
        check(
            &of(json!({"type": "array", "items": {"type": "number"}})),
            true,
        );
        check(
            &of(json!({"anyOf": [{"type": "number"}, {"type": "string"}]})),
            true,
        );
        check(&of(json!({"type": "array"})), false);
        check(&of(json!({"type": "string", "pattern": "^a"})), false);
        check(&of(json!({"type": "string", "default": "x"})), false);
        check(&of(json!({"oneOf": [{"type": "string"}]})), false);
        check(&of(json!({})), false);
        let mut tree = of(json!({"$ref": "#/$defs/node"}));
        tree["$defs"] =
            json!({"node": object(&json!({"next": {"$ref": "#/$defs/node"}}), &["next"])});
        check(&tree, true);
        let deep = (0..6).fold(json!({"type": "string"}), |inner, _| {
            object(&json!({"a": inner}), &["a"])
        });
        check(&deep, false);
    }
}
