//! Types, values and limits in Gemini's subset.

use std::borrow::Cow;

use serde_json::{Map, Number, Value, json};

use super::keywords::Keywords;

const TYPES: [&str; 6] = ["object", "array", "string", "number", "integer", "boolean"];

/// The types that a schema allows.
pub(super) struct Types {
    /// Those but null; empty if any is allowed.
    pub(super) names: Cow<'static, [&'static str]>,
    /// Whether null is also allowed.
    pub(super) nullable: bool,
    /// Whether it allows nothing but null.
    pub(super) is_null: bool,
}

impl Types {
    pub(super) const OBJECT: Self = Self {
        names: Cow::Borrowed(&["object"]),
        nullable: false,
        is_null: false,
    };

    pub(super) fn of(schema: &Keywords<'_>) -> Self {
        let said: Vec<&str> = match schema.get("type") {
            Some(Value::String(name)) => vec![name],
            Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let is = |name: &str| said.iter().any(|said| said.eq_ignore_ascii_case(name));
        let names: Vec<&'static str> = TYPES.into_iter().filter(|name| is(name)).collect();
        let values = values(schema);
        let nullable = is("null")
            || schema
                .get("nullable")
                .is_some_and(|nullable| nullable.as_bool() == Some(true))
            || values.iter().any(|value| value.is_null());
        let is_null = names.is_empty() && is("null");
        let names = if names.is_empty() && !is_null {
            implied(schema, &values)
        } else {
            names
        };
        // Numbers are integers, too.
        let is_double = names.contains(&"number") && names.contains(&"integer");
        let names = names
            .into_iter()
            .filter(|name| !(is_double && *name == "integer"))
            .collect();
        Self {
            names,
            nullable: nullable && !is_null,
            is_null,
        }
    }
}

/// The types of a schema without `type`, derived from its other keywords.
fn implied(schema: &Keywords<'_>, values: &[&Value]) -> Vec<&'static str> {
    if !values.is_empty() {
        return TYPES
            .into_iter()
            .filter(|kind| values.iter().any(|value| implies(value, kind)))
            .collect();
    }
    let has = |names: &[&str]| names.iter().any(|name| schema.get(name).is_some());
    match () {
        () if has(&["properties", "additionalProperties", "patternProperties"]) => vec!["object"],
        () if has(&["items", "prefixItems"]) => vec!["array"],
        () if has(&["pattern", "minLength", "maxLength"]) => vec!["string"],
        () => Vec::new(),
    }
}

fn implies(value: &Value, kind: &str) -> bool {
    match value {
        Value::Number(number) if number.is_f64() => kind == "number",
        value => is_of(value, kind) && kind != "number",
    }
}

fn is_of(value: &Value, kind: &str) -> bool {
    match value {
        Value::Object(_) => kind == "object",
        Value::Array(_) => kind == "array",
        Value::String(_) => kind == "string",
        Value::Bool(_) => kind == "boolean",
        Value::Number(number) => kind == "number" || kind == "integer" && !number.is_f64(),
        Value::Null => false,
    }
}

fn values<'a>(schema: &Keywords<'a>) -> Vec<&'a Value> {
    match (schema.get("const"), schema.get("enum")) {
        (Some(only), _) => vec![only],
        (None, Some(Value::Array(values))) => values.iter().collect(),
        _ => Vec::new(),
    }
}

/// The values of `enum` and `const`; Gemini accepts non-empty texts and numbers. `None` if a possible value would be
/// lost.
pub(super) fn enumeration(schema: &Keywords<'_>, kind: Option<&str>) -> Option<Vec<Value>> {
    let kind = kind.filter(|kind| matches!(*kind, "string" | "number" | "integer"))?;
    let values: Vec<&Value> = values(schema)
        .into_iter()
        .filter(|value| is_of(value, kind))
        .collect();
    let is_whole = !values.is_empty() && values.iter().all(|value| *value != "");
    is_whole.then(|| values.into_iter().cloned().collect())
}

/// `minimum` and `maximum`, which also express exclusive limits if possible.
pub(super) fn limits(node: &mut Map<String, Value>, schema: &Keywords<'_>, is_integer: bool) {
    for (name, exclusive, step) in [
        ("minimum", "exclusiveMinimum", 1),
        ("maximum", "exclusiveMaximum", -1),
    ] {
        let inclusive = schema.get(name).and_then(|limit| limit.as_number());
        let limit = match schema.get(exclusive) {
            Some(Value::Number(limit)) => inside(limit, step, is_integer),
            // Draft 4 has a flag next to the limit.
            Some(Value::Bool(true)) => inclusive.and_then(|limit| inside(limit, step, is_integer)),
            _ => inclusive.cloned(),
        };
        if let Some(limit) = limit {
            node.insert(name.to_owned(), json!(limit));
        }
    }
}

/// The first number inside an exclusive limit; for other numbers than integers the limit is close enough.
fn inside(limit: &Number, step: i64, is_integer: bool) -> Option<Number> {
    match limit.as_i64().filter(|_| is_integer) {
        Some(limit) => limit.checked_add(step).map(Number::from),
        None => Some(limit.clone()),
    }
}
