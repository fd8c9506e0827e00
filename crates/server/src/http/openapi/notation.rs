//! The notation of the files beside this one, which is that of docs/reference/api.md: what it says as JSON Schema.
//!
//! - A string is a type: `string`, `integer`, `number`, `boolean`, `null`, `object`, `any`, `ms` (a time), the name of a
//!   schema, a word in single quotes, `[T]` for a list. ` | ` stands between alternatives.
//! - A table is an object of these fields; `?` at the end of a type says that the field may be left out. The field `...`
//!   says what further fields hold, where there are some.
//! - A list of one table is a list of such objects.

use anyhow::{Context, bail, ensure};
use serde_json::{Map, Value, json};
use toml::Table;

/// The schema that a value of the notation stands for.
pub(super) fn schema(value: &toml::Value) -> anyhow::Result<Value> {
    match value {
        toml::Value::String(text) => alternatives(text),
        toml::Value::Array(items) => {
            let [item] = items.as_slice() else {
                bail!("a list is written with one item")
            };
            Ok(json!({ "type": "array", "items": schema(item)? }))
        }
        toml::Value::Table(fields) => object(fields),
        other => bail!("{other:?} is no type"),
    }
}

/// A field's type, and whether it has to be there.
pub(super) fn field(value: &toml::Value) -> anyhow::Result<(Value, bool)> {
    match value.as_str().and_then(|text| text.strip_suffix('?')) {
        Some(text) => Ok((alternatives(text)?, false)),
        None => Ok((schema(value)?, true)),
    }
}

fn object(fields: &Table) -> anyhow::Result<Value> {
    let (mut properties, mut required) = (Map::new(), Vec::new());
    let mut further = None;
    for (name, value) in fields {
        if name == "..." {
            further = Some(schema(value)?);
            continue;
        }
        let (schema, is_required) = field(value).with_context(|| name.clone())?;
        properties.insert(name.clone(), schema);
        if is_required {
            required.push(name.as_str());
        }
    }
    let mut object = json!({ "type": "object", "properties": properties });
    if !required.is_empty() {
        object["required"] = json!(required);
    }
    if let Some(further) = further {
        object["additionalProperties"] = further;
    }
    Ok(object)
}

fn alternatives(text: &str) -> anyhow::Result<Value> {
    let (mut schemas, mut words, mut may_be_null) = (Vec::new(), Vec::new(), false);
    for part in text.split(" | ") {
        match part
            .strip_prefix('\'')
            .and_then(|word| word.strip_suffix('\''))
        {
            Some(word) => words.push(json!(word)),
            None if part == "null" => may_be_null = true,
            None => schemas.push(one(part)?),
        }
    }
    if !words.is_empty() {
        schemas.push(json!({ "type": "string", "enum": words }));
    }
    if let [schema] = schemas.as_mut_slice() {
        return Ok(if may_be_null {
            or_null(schema.take())
        } else {
            schema.take()
        });
    }
    if may_be_null {
        schemas.push(json!({ "type": "null" }));
    }
    Ok(json!({ "anyOf": schemas }))
}

fn or_null(mut schema: Value) -> Value {
    let Some(Value::String(kind)) = schema.get("type") else {
        return json!({ "anyOf": [schema, { "type": "null" }] });
    };
    schema["type"] = json!([kind, "null"]);
    if let Some(Value::Array(words)) = schema.get_mut("enum") {
        words.push(Value::Null);
    }
    schema
}

fn one(text: &str) -> anyhow::Result<Value> {
    if let Some(item) = text
        .strip_prefix('[')
        .and_then(|text| text.strip_suffix(']'))
    {
        return Ok(json!({ "type": "array", "items": alternatives(item)? }));
    }
    Ok(match text {
        "any" => json!({}),
        "integer" => json!({ "type": "integer", "format": "int64" }),
        "ms" => {
            json!({ "type": "integer", "format": "int64", "description": "Milliseconds since 1970-01-01 UTC." })
        }
        "string" | "number" | "boolean" | "object" => json!({ "type": text }),
        name => {
            ensure!(
                name.starts_with(|first: char| first.is_ascii_uppercase()),
                "“{name}” is no type"
            );
            json!({ "$ref": format!("#/components/schemas/{name}") })
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, expected: Value) {
        let table: Table = toml::from_str(&format!("it = {text}")).unwrap();
        assert_eq!(schema(&table["it"]).unwrap(), expected, "{text}");
    }

    #[test]
    fn reads_types() {
        check("'string'", json!({"type": "string"}));
        check("'string | null'", json!({"type": ["string", "null"]}));
        check("'any'", json!({}));
        check(
            "\"'a' | 'b' | null\"",
            json!({"type": ["string", "null"], "enum": ["a", "b", null]}),
        );
        check(
            "'[Chat]'",
            json!({"type": "array", "items": {"$ref": "#/components/schemas/Chat"}}),
        );
        let chat = json!({"$ref": "#/components/schemas/Chat"});
        check("'Chat | null'", json!({"anyOf": [chat, {"type": "null"}]}));
        check(
            "'Chat | string'",
            json!({"anyOf": [chat, {"type": "string"}]}),
        );
        check(
            "{ a = 'string', b = 'boolean?' }",
            json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "boolean"}}, "required": ["a"]}),
        );
        check(
            "[{ '...' = 'string' }]",
            json!({"type": "array", "items": {"type": "object", "properties": {}, "additionalProperties": {"type": "string"}}}),
        );
    }

    #[test]
    fn what_is_no_type_is_refused() {
        for text in ["'strin'", "''", "5", "[]", "{ a = 'text' }", "'[]'"] {
            let table: Table = toml::from_str(&format!("it = {text}")).unwrap();
            assert!(schema(&table["it"]).is_err(), "{text}");
        }
    }
}
