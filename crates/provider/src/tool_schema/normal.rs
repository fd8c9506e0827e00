//! Schemas of any draft, and those that are nearly schemas, as JSON Schema of draft 2020-12.
//!
//! What is repaired has one possible meaning: a keyword that is null, the types of other languages, `required` as a flag,
//! an empty list where PHP has an empty object. What is wrong in another way stays as it is.

use serde_json::{Map, Value, json};

use super::{addresses, subschemas};

/// Keywords whose value may be null.
const NULLABLE: [&str; 4] = ["const", "default", "example", "examples"];

/// Types as other languages call them.
const OTHER_NAMES: [(&str, &str); 10] = [
    ("bool", "boolean"),
    ("dict", "object"),
    ("double", "number"),
    ("float", "number"),
    ("int", "integer"),
    ("list", "array"),
    ("long", "integer"),
    ("map", "object"),
    ("none", "null"),
    ("str", "string"),
];

const TYPES: [&str; 7] = [
    "array", "boolean", "integer", "null", "number", "object", "string",
];

/// The schema in draft 2020-12. Its references are pointers into it, `#/…`, if what they name is in it.
#[must_use]
pub fn normal(schema: &Value) -> Value {
    let mut schema = schema.clone();
    repair(&mut schema);
    if let Value::Object(fields) = &mut schema {
        fields.shift_remove("$schema");
    }
    addresses::to_pointers(&mut schema);
    schema
}

fn repair(schema: &mut Value) {
    if schema.is_null() {
        *schema = json!({});
    }
    let Value::Object(fields) = schema else {
        return;
    };
    fields.retain(|keyword, value| !value.is_null() || NULLABLE.contains(&keyword.as_str()));
    for keyword in ["properties", "patternProperties", "$defs", "definitions"] {
        if let Some(value) = fields.get_mut(keyword).filter(|value| **value == json!([])) {
            *value = json!({});
        }
    }
    type_names(fields);
    required(fields);
    tuple(fields);
    limits(fields);
    dependencies(fields);
    rename(fields);
    // Nothing would be allowed, which is never meant.
    if fields
        .get("enum")
        .is_some_and(|values| *values == json!([]))
    {
        fields.shift_remove("enum");
    }
    subschemas::each_mut(fields, repair);
}

fn type_names(fields: &mut Map<String, Value>) {
    let names: Option<Vec<String>> = match fields.get("type") {
        Some(Value::String(name)) => type_name(name).map(|name| vec![name]),
        Some(Value::Array(names)) => {
            let name = |name: &Value| match name {
                Value::Null => Some("null".to_owned()),
                name => type_name(name.as_str()?),
            };
            let mut names: Option<Vec<String>> = names.iter().map(name).collect();
            names.iter_mut().for_each(Vec::dedup);
            names.filter(|names| !names.is_empty())
        }
        Some(_) => return,
        None => None,
    };
    let is_nullable = fields
        .shift_remove("nullable")
        .is_some_and(|nullable| nullable == true);
    let Some(mut names) = names else {
        fields.shift_remove("type");
        return;
    };
    if is_nullable && !names.iter().any(|name| name == "null") {
        names.push("null".to_owned());
        if let Some(Value::Array(values)) = fields
            .get_mut("enum")
            .filter(|values| **values != json!([]))
        {
            values.push(Value::Null);
        }
    }
    let names = match names.as_slice() {
        [name] => json!(name),
        names => json!(names),
    };
    fields.insert("type".to_owned(), names);
}

/// The type of this name; `None` if it says that any will do.
fn type_name(name: &str) -> Option<String> {
    let plain = name.trim().to_ascii_lowercase();
    if TYPES.contains(&plain.as_str()) {
        return Some(plain);
    }
    match OTHER_NAMES.iter().find(|(other, _)| *other == plain) {
        Some((_, name)) => Some((*name).to_owned()),
        None if matches!(plain.as_str(), "" | "any" | "mixed" | "unknown" | "*") => None,
        None => Some(name.to_owned()),
    }
}

/// Draft 3 has it as a flag of each property.
fn required(fields: &mut Map<String, Value>) {
    let mut names = Vec::new();
    for (name, property) in fields
        .get_mut("properties")
        .and_then(Value::as_object_mut)
        .into_iter()
        .flatten()
    {
        let Value::Object(property) = property else {
            continue;
        };
        if let Some(Value::Bool(is_required)) = property.get("required") {
            names.extend(is_required.then(|| json!(name)));
            property.shift_remove("required");
        }
    }
    // Only a property can be required as a whole.
    if fields.get("required").is_some_and(Value::is_boolean) {
        fields.shift_remove("required");
    }
    if names.is_empty() {
        return;
    }
    let required = fields.entry("required").or_insert_with(|| json!([]));
    let Value::Array(required) = required else {
        return;
    };
    names.retain(|name| !required.contains(name));
    required.append(&mut names);
}

/// Before draft 2020-12 a tuple was a list of `items`, and what follows it `additionalItems`.
fn tuple(fields: &mut Map<String, Value>) {
    if !fields.get("items").is_some_and(Value::is_array) {
        return;
    }
    let tuple = fields.shift_remove("items").unwrap_or_default();
    if let Some(more) = fields.shift_remove("additionalItems") {
        fields.insert("items".to_owned(), more);
    }
    if tuple != json!([]) && !fields.contains_key("prefixItems") {
        fields.insert("prefixItems".to_owned(), tuple);
    }
}

/// In draft 4, exclusive limits are flags next to the limits.
fn limits(fields: &mut Map<String, Value>) {
    for (exclusive, inclusive) in [
        ("exclusiveMinimum", "minimum"),
        ("exclusiveMaximum", "maximum"),
    ] {
        let Some(Value::Bool(is_exclusive)) = fields.get(exclusive) else {
            continue;
        };
        let is_exclusive = *is_exclusive;
        fields.shift_remove(exclusive);
        if let Some(limit) = fields.get(inclusive).filter(|_| is_exclusive).cloned() {
            fields.shift_remove(inclusive);
            fields.insert(exclusive.to_owned(), limit);
        }
    }
}

/// Until draft 7 they were one keyword.
fn dependencies(fields: &mut Map<String, Value>) {
    let Some(Value::Object(dependencies)) = fields.shift_remove("dependencies") else {
        return;
    };
    for (name, dependency) in dependencies {
        let keyword = if dependency.is_array() {
            "dependentRequired"
        } else {
            "dependentSchemas"
        };
        let of_kind = fields.entry(keyword).or_insert_with(|| json!({}));
        if let Value::Object(of_kind) = of_kind {
            of_kind.insert(name, dependency);
        }
    }
}

/// Keywords that have another name now.
fn rename(fields: &mut Map<String, Value>) {
    for (before, now) in [
        ("id", "$id"),
        ("$recursiveRef", "$ref"),
        ("$dynamicRef", "$ref"),
        ("$dynamicAnchor", "$anchor"),
    ] {
        if fields.get(before).is_some_and(Value::is_string) && !fields.contains_key(now) {
            let value = fields.shift_remove(before).unwrap_or_default();
            fields.insert(now.to_owned(), value);
        }
    }
    fields.shift_remove("$recursiveAnchor");
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(schema: Value, expected: Value) {
        assert_eq!(normal(&schema), expected, "{schema}");
        assert_eq!(normal(&expected), expected, "again");
    }

    #[test]
    fn drafts_become_the_newest() {
        check(
            json!({"$schema": "http://json-schema.org/draft-04/schema#", "id": "http://x.example/a", "type": "object",
                "properties": {"n": {"type": "integer", "minimum": 0, "exclusiveMinimum": true, "maximum": 9,
                    "exclusiveMaximum": false}}}),
            json!({"type": "object", "properties": {"n": {"type": "integer", "exclusiveMinimum": 0, "maximum": 9}}}),
        );
        check(
            json!({"items": [{"type": "string"}, {"type": "int"}], "additionalItems": false}),
            json!({"prefixItems": [{"type": "string"}, {"type": "integer"}], "items": false}),
        );
        check(
            json!({"dependencies": {"a": ["b"], "c": {"required": ["d"]}}}),
            json!({"dependentRequired": {"a": ["b"]}, "dependentSchemas": {"c": {"required": ["d"]}}}),
        );
        check(
            json!({"$recursiveAnchor": true, "properties": {"next": {"$recursiveRef": "#"}}}),
            json!({"properties": {"next": {"$ref": "#"}}}),
        );
    }

    #[test]
    fn nulls_and_flags_are_repaired() {
        check(
            json!({"type": ["object"], "description": null, "required": null, "properties": {
                "a": {"type": "string", "enum": null, "default": null, "required": true},
                "b": {"type": "any", "required": false},
                "c": null,
                "d": {"type": ["string", null], "items": []},
                "e": {"type": "STRING", "nullable": true, "enum": ["x"]},
            }}),
            json!({"type": "object", "required": ["a"], "properties": {
                "a": {"type": "string", "default": null},
                "b": {},
                "c": {},
                "d": {"type": ["string", "null"]},
                "e": {"type": ["string", "null"], "enum": ["x", null]},
            }}),
        );
        check(
            json!({"properties": [], "required": true}),
            json!({"properties": {}}),
        );
        check(json!({"enum": []}), json!({}));
    }

    #[test]
    fn names_and_values_are_no_keywords() {
        let schema = json!({"properties": {"type": {"type": "string"}, "id": {"const": null}, "required": {"enum": [null]}},
            "default": {"type": "any", "items": []}, "examples": [null]});
        check(schema.clone(), schema);
    }

    #[test]
    fn ambiguous_keywords_stay() {
        for schema in [
            json!({"required": [1]}),
            json!({"minimum": "1"}),
            json!({"type": "objekt"}),
            json!({"$ref": "http://x.example/a.json"}),
        ] {
            check(schema.clone(), schema);
        }
    }
}
