//! Where schemas stand within a schema. Anything else in it is a value or a name.

use serde_json::{Map, Value};

/// Keywords with schemas by name.
const NAMED: [&str; 6] = [
    "properties",
    "patternProperties",
    "$defs",
    "definitions",
    "dependentSchemas",
    "dependencies",
];

/// Keywords with a list of schemas.
const LISTED: [&str; 4] = ["anyOf", "oneOf", "allOf", "prefixItems"];

/// Keywords with one schema.
const SINGLE: [&str; 12] = [
    "items",
    "additionalItems",
    "additionalProperties",
    "contains",
    "contentSchema",
    "else",
    "if",
    "not",
    "propertyNames",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// Calls `visit` with each schema within these keywords.
pub(super) fn each_mut(fields: &mut Map<String, Value>, mut visit: impl FnMut(&mut Value)) {
    for (keyword, value) in fields {
        match (kind(keyword), value) {
            (Some(Kind::Named), Value::Object(named)) => named.values_mut().for_each(&mut visit),
            // Before draft 2020-12 `items` could be a list.
            (Some(Kind::Listed | Kind::Single), Value::Array(list)) => {
                list.iter_mut().for_each(&mut visit)
            }
            (Some(Kind::Single), value) => visit(value),
            _ => {}
        }
    }
}

/// Calls `visit` with each schema within these keywords and the way to it, two steps at most.
pub(super) fn each<'a>(fields: &'a Map<String, Value>, mut visit: impl FnMut(&[&str], &'a Value)) {
    for (keyword, value) in fields {
        match (kind(keyword), value) {
            (Some(Kind::Named), Value::Object(named)) => {
                named
                    .iter()
                    .for_each(|(name, schema)| visit(&[keyword, name], schema));
            }
            (Some(Kind::Listed | Kind::Single), Value::Array(list)) => {
                list.iter()
                    .enumerate()
                    .for_each(|(at, schema)| visit(&[keyword, &at.to_string()], schema));
            }
            (Some(Kind::Single), value) => visit(&[keyword], value),
            _ => {}
        }
    }
}

enum Kind {
    Named,
    Listed,
    Single,
}

fn kind(keyword: &str) -> Option<Kind> {
    match keyword {
        _ if NAMED.contains(&keyword) => Some(Kind::Named),
        _ if LISTED.contains(&keyword) => Some(Kind::Listed),
        _ if SINGLE.contains(&keyword) => Some(Kind::Single),
        _ => None,
    }
}
