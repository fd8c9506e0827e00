//! JSON Schemas in the part of JSON Schema that Gemini reads. It refuses a whole request for one schema with a keyword or
//! a form that it does not know, so what it cannot be told is left out, or told in the description.
//!
//! Kept: `type`, `description`, `enum`, `default`, `items`, `prefixItems`, `minItems`, `maxItems`, `minimum`, `maximum`,
//! `anyOf`, `properties`, `additionalProperties`, `required`, and `$ref` to `$defs` of the root, with nothing beside it.

mod keywords;
mod notes;
mod types;

use std::collections::{BTreeSet, VecDeque};

use keywords::{Keywords, list};
use serde_json::{Map, Value, json};
use types::Types;

use super::{
    pattern::is_regular,
    references::{self, References},
    subschemas,
};

/// Deepest nesting that is looked at.
const MAX_DEPTH: usize = 64;

/// Maximum number of schemas within one that are looked at.
const MAX_NODES: usize = 20_000;

/// Maximum length of a schema that replaces a reference, to which it gives the reference's description.
const MAX_COPY_BYTES: usize = 2_000;

/// The schema of an answer.
#[must_use]
pub fn lower(schema: &Value) -> Value {
    lowered(schema, false)
}

/// The schema of a tool's arguments, which is one of an object.
pub(super) fn lower_parameters(schema: &Value) -> Value {
    lowered(schema, true)
}

/// Keywords that are neither kept nor told.
const LOST: [&str; 9] = [
    "contains",
    "dependentRequired",
    "dependentSchemas",
    "if",
    "not",
    "patternProperties",
    "propertyNames",
    "unevaluatedItems",
    "unevaluatedProperties",
];

/// The keywords of which something is lost in the schema of a tool's arguments.
pub(super) fn lost(schema: &Value) -> Vec<&'static str> {
    let mut lost = BTreeSet::new();
    lost.extend(
        ["anyOf", "oneOf"]
            .into_iter()
            .filter(|choice| schema.get(choice).is_some()),
    );
    add_lost(schema, &mut lost);
    lost.into_iter().collect()
}

fn add_lost(schema: &Value, lost: &mut BTreeSet<&'static str>) {
    let Value::Object(fields) = schema else {
        return;
    };
    lost.extend(
        LOST.into_iter()
            .filter(|keyword| fields.contains_key(*keyword)),
    );
    let pattern = fields.get("pattern").and_then(Value::as_str);
    lost.extend(
        pattern
            .filter(|pattern| !is_regular(pattern))
            .map(|_| "pattern"),
    );
    subschemas::each(fields, |_, schema| add_lost(schema, lost));
}

fn lowered(schema: &Value, is_object: bool) -> Value {
    let mut lowering = Lowering {
        references: References::new(schema),
        is_copying: false,
        nodes_left: MAX_NODES,
    };
    let mut root = lowering.root(schema, is_object);
    let mut definitions = Map::new();
    while let Some((name, target)) = lowering.references.next() {
        let definition = lowering.node(target, 0);
        definitions.insert(name, Value::Object(definition));
    }
    if !definitions.is_empty() {
        references::free_cycles(&mut definitions);
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    Value::Object(root)
}

struct Lowering<'a> {
    references: References<'a>,
    /// Whether a target is being copied, where further ones stay references.
    is_copying: bool,
    nodes_left: usize,
}

impl<'a> Lowering<'a> {
    fn root(&mut self, schema: &'a Value, is_object: bool) -> Map<String, Value> {
        if !is_object {
            return self.node(schema, 0);
        }
        let mut root = match self.references.followed(schema).as_object() {
            Some(schema) => {
                let schema = self.with_all_of(schema);
                self.of_types(&schema, &Types::OBJECT, 0)
            }
            None => Map::new(),
        };
        root.entry("type").or_insert_with(|| json!("object"));
        root.entry("properties").or_insert_with(|| json!({}));
        root
    }

    fn node(&mut self, schema: &'a Value, depth: usize) -> Map<String, Value> {
        let Some(left) = self.nodes_left.checked_sub(1).filter(|_| depth < MAX_DEPTH) else {
            return Map::new();
        };
        self.nodes_left = left;
        let Some(schema) = schema.as_object() else {
            return Map::new();
        };
        if let Some(Value::String(reference)) = schema.get("$ref") {
            let description = schema.get("description").and_then(Value::as_str);
            return self.reference(reference, description, depth);
        }
        let schema = self.with_all_of(schema);
        let types = Types::of(&schema);
        self.of_types(&schema, &types, depth)
    }

    fn of_types(
        &mut self,
        schema: &Keywords<'a>,
        types: &Types,
        depth: usize,
    ) -> Map<String, Value> {
        let choices = ["anyOf", "oneOf"]
            .iter()
            .find_map(|name| list(schema.get(name)));
        let choices = choices.unwrap_or_default();
        let node = match &*types.names {
            [] if types.is_null => Map::from_iter([("type".to_owned(), json!("null"))]),
            [] if !choices.is_empty() => {
                return self.choice(schema, choices, types.nullable, depth);
            }
            [] => self.typed(None, schema, depth),
            [one] => self.typed(Some(one), schema, depth),
            several => {
                let branches = several
                    .iter()
                    .map(|one| self.typed(Some(one), schema, depth))
                    .collect();
                return any_of(branches, types.nullable);
            }
        };
        let node = match &*types.names {
            ["object"] => self.with_choices(node, choices, depth),
            _ => node,
        };
        if types.nullable { nullable(node) } else { node }
    }

    fn reference(
        &mut self,
        reference: &str,
        description: Option<&str>,
        depth: usize,
    ) -> Map<String, Value> {
        let Some((name, target)) = self.references.resolve(reference) else {
            let described = |text| ("description".to_owned(), json!(text));
            return description.map(described).into_iter().collect();
        };
        if let Some(description) = description.filter(|_| !self.is_copying) {
            self.is_copying = true;
            let mut copy = self.node(target, depth + 1);
            self.is_copying = false;
            let text = Value::Object(copy.clone()).to_string();
            if !text.contains("\"$ref\"") && text.len() <= MAX_COPY_BYTES {
                copy.insert("description".to_owned(), json!(description));
                return copy;
            }
        }
        self.references.need(&name, target);
        Map::from_iter([("$ref".to_owned(), json!(format!("#/$defs/{name}")))])
    }

    /// The keywords of the schema with those of `allOf` among them. Where two say one thing, the first counts.
    fn with_all_of(&self, schema: &'a Map<String, Value>) -> Keywords<'a> {
        let mut keywords = Keywords::default();
        let mut waiting = VecDeque::from([schema]);
        let mut seen = 0;
        while let Some(schema) = waiting.pop_front() {
            seen += 1;
            keywords.add(schema);
            for part in list(schema.get("allOf")).unwrap_or_default() {
                let part = self.references.followed(part).as_object();
                waiting.extend(part.filter(|_| seen + waiting.len() < MAX_DEPTH));
            }
        }
        keywords
    }

    /// An object that has to be one of several has the properties of all of them. None of those is required.
    fn with_choices(
        &mut self,
        mut object: Map<String, Value>,
        choices: &'a [Value],
        depth: usize,
    ) -> Map<String, Value> {
        for choice in choices {
            let mut choice = self.node(self.references.followed(choice), depth + 1);
            let Some(Value::Object(more)) = choice.get_mut("properties").map(Value::take) else {
                continue;
            };
            let properties = object.entry("properties").or_insert_with(|| json!({}));
            let Some(properties) = properties.as_object_mut() else {
                continue;
            };
            for (name, property) in more {
                properties.entry(name).or_insert(property);
            }
        }
        object
    }

    /// A choice without a type of its own: nothing may stand beside it.
    fn choice(
        &mut self,
        schema: &Keywords<'a>,
        choices: &'a [Value],
        is_nullable: bool,
        depth: usize,
    ) -> Map<String, Value> {
        let description = schema.get("description").and_then(Value::as_str);
        let is_null = |choice: &&Value| choice.get("type").is_some_and(|kind| kind == "null");
        let is_nullable = is_nullable || choices.iter().any(|choice| is_null(&choice));
        let choices: Vec<&'a Value> = choices.iter().filter(|choice| !is_null(choice)).collect();
        if let [only] = choices.as_slice() {
            let reference = only.get("$ref").and_then(Value::as_str);
            let mut node = match (reference, description) {
                (Some(reference), Some(_)) => self.reference(reference, description, depth + 1),
                _ => self.node(only, depth + 1),
            };
            if !node.contains_key("$ref") && !node.contains_key("anyOf") {
                node.extend(description.map(|text| ("description".to_owned(), json!(text))));
                node.extend(
                    schema
                        .get("default")
                        .map(|value| ("default".to_owned(), value.clone())),
                );
            }
            return if is_nullable { nullable(node) } else { node };
        }
        let mut branches: Vec<Map<String, Value>> = Vec::with_capacity(choices.len());
        for choice in choices {
            let branch = self.node(choice, depth + 1);
            if !branches.contains(&branch) {
                branches.push(branch);
            }
        }
        // The first one tells for all.
        let silent = |branch: &&mut Map<String, Value>| {
            ["$ref", "anyOf", "description"]
                .iter()
                .all(|name| !branch.contains_key(*name))
        };
        if let Some((description, branch)) = description.zip(branches.iter_mut().find(silent)) {
            branch.insert("description".to_owned(), json!(description));
        }
        any_of(branches, is_nullable)
    }

    /// The keywords that go with one type; `None` is any.
    fn typed(
        &mut self,
        kind: Option<&str>,
        schema: &Keywords<'a>,
        depth: usize,
    ) -> Map<String, Value> {
        let mut node = Map::new();
        if let Some(kind) = kind {
            node.insert("type".to_owned(), json!(kind));
        }
        if let Some(description) = notes::description(schema, kind) {
            node.insert("description".to_owned(), json!(description));
        }
        if let Some(values) = types::enumeration(schema, kind) {
            node.insert("enum".to_owned(), Value::Array(values));
        }
        match kind {
            Some("object") => self.object(&mut node, schema, depth),
            Some("array") => self.array(&mut node, schema, depth),
            Some("number" | "integer") => types::limits(&mut node, schema, kind == Some("integer")),
            _ => {}
        }
        if let Some(default) = schema.get("default") {
            node.insert("default".to_owned(), default.clone());
        }
        node
    }

    fn object(&mut self, node: &mut Map<String, Value>, schema: &Keywords<'a>, depth: usize) {
        let mut properties = Map::new();
        for (name, property) in &schema.properties {
            properties.insert(
                (*name).clone(),
                Value::Object(self.node(property, depth + 1)),
            );
        }
        let required = schema
            .required
            .iter()
            .filter(|name| properties.contains_key(**name));
        let required: Vec<Value> = required.map(|name| json!(name)).collect();
        if !properties.is_empty() || schema.get("properties").is_some() {
            node.insert("properties".to_owned(), Value::Object(properties));
        }
        if !required.is_empty() {
            node.insert("required".to_owned(), Value::Array(required));
        }
        let more = match schema.get("additionalProperties") {
            Some(Value::Bool(more)) => json!(more),
            Some(more @ Value::Object(_)) => Value::Object(self.node(more, depth + 1)),
            _ => return,
        };
        node.insert("additionalProperties".to_owned(), more);
    }

    fn array(&mut self, node: &mut Map<String, Value>, schema: &Keywords<'a>, depth: usize) {
        let items = schema.get("items");
        // Before draft 2020-12 a tuple was a list of `items`, and what follows it `additionalItems`.
        let (tuple, items) = match list(schema.get("prefixItems")) {
            Some(tuple) => (tuple, items),
            None => match list(items) {
                Some(tuple) => (tuple, schema.get("additionalItems")),
                None => (&[][..], items),
            },
        };
        if !tuple.is_empty() {
            let tuple = tuple
                .iter()
                .map(|item| Value::Object(self.node(item, depth + 1)))
                .collect();
            node.insert("prefixItems".to_owned(), Value::Array(tuple));
        }
        if let Some(items) = items.filter(|items| items.is_object()) {
            let items = self.node(items, depth + 1);
            node.insert("items".to_owned(), Value::Object(items));
        }
        for name in ["minItems", "maxItems"] {
            if let Some(number) = schema.get(name).and_then(|number| number.as_u64()) {
                node.insert(name.to_owned(), json!(number));
            }
        }
    }
}

fn any_of(branches: Vec<Map<String, Value>>, is_nullable: bool) -> Map<String, Value> {
    // One that says nothing allows all.
    if branches.iter().any(Map::is_empty) || branches.is_empty() && !is_nullable {
        return Map::new();
    }
    let mut branches: Vec<Value> = branches.into_iter().map(Value::Object).collect();
    if is_nullable {
        branches.push(json!({"type": "null"}));
    }
    let mut node = Map::new();
    node.insert("anyOf".to_owned(), Value::Array(branches));
    node
}

/// The schema, or null.
fn nullable(mut node: Map<String, Value>) -> Map<String, Value> {
    if let Some(Value::Array(branches)) = node.get_mut("anyOf") {
        branches.push(json!({"type": "null"}));
        return node;
    }
    if node.contains_key("enum") || node.contains_key("$ref") {
        return any_of(vec![node], true);
    }
    // Where none is said, null is allowed as it is.
    if let Some(kind @ Value::String(_)) = node.get_mut("type") {
        *kind = json!([kind, "null"]);
    }
    node
}

#[cfg(test)]
mod tests;
