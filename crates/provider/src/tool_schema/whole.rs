//! Removes the unsupported parts of a schema, and describes them in the description where possible.

use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::{
    accepts::{Accepts, Patterns},
    pattern::is_regular,
    references::References,
};

/// Maximum nesting.
const MAX_DEPTH: usize = 64;

/// Maximum number of visited subschemas.
const MAX_NODES: usize = 20_000;

/// Maximum length of a schema that is inlined in place of a reference with sibling keywords.
const MAX_COPY_BYTES: usize = 2_000;

/// Maximum length of a pattern that is put into a description.
const MAX_PATTERN_BYTES: usize = 200;

/// Choices at the top level, which no server accepts.
const CHOICES: [&str; 3] = ["allOf", "anyOf", "oneOf"];

type Fields<'a> = Vec<(&'a str, &'a Value)>;

/// The schema of a tool's arguments adapted to `accepts`, and the lost keywords. The input is in draft 2020-12.
pub(super) fn lower(schema: &Value, accepts: &'static Accepts) -> (Value, BTreeSet<&'static str>) {
    let mut lowering = Lowering {
        accepts,
        references: References::new(schema),
        is_copying: false,
        nodes_left: MAX_NODES,
        lost: BTreeSet::new(),
    };
    let mut root = lowering.root(schema);
    let mut definitions = Map::new();
    while let Some((name, target)) = lowering.references.next() {
        let definition = lowering.node(target, 0);
        definitions.insert(name, Value::Object(definition));
    }
    if !definitions.is_empty() {
        root.insert("$defs".to_owned(), Value::Object(definitions));
    }
    if !accepts.top.is_empty() {
        root.retain(|keyword, _| accepts.top.contains(&keyword.as_str()));
    }
    (Value::Object(root), lowering.lost)
}

/// How a pattern is handled.
enum Pattern {
    Taken,
    /// It is in the description.
    Described,
    Lost,
}

struct Lowering<'a> {
    accepts: &'static Accepts,
    references: References<'a>,
    /// Whether a target is being copied, where nested references stay.
    is_copying: bool,
    nodes_left: usize,
    lost: BTreeSet<&'static str>,
}

impl<'a> Lowering<'a> {
    fn root(&mut self, schema: &'a Value) -> Map<String, Value> {
        let mut fields: Fields<'a> = entries(schema)
            .filter(|(keyword, _)| *keyword != "$ref")
            .collect();
        // Some generators put the whole schema into a definition.
        for (keyword, value) in entries(self.references.followed(schema)) {
            if keyword != "$ref" && !fields.iter().any(|(known, _)| *known == keyword) {
                fields.push((keyword, value));
            }
        }
        let (choices, fields): (Fields<'a>, Fields<'a>) = fields
            .into_iter()
            .partition(|(keyword, _)| CHOICES.contains(keyword));
        let fields: Fields<'a> = fields
            .into_iter()
            .filter(|(keyword, _)| !self.is_refused(keyword))
            .collect();
        let mut root = self.fields(&fields, 0);
        root.insert("type".to_owned(), json!("object"));
        if !root.get("properties").is_some_and(Value::is_object) {
            root.insert("properties".to_owned(), json!({}));
        }
        for (keyword, schemas) in choices {
            self.add_choices(&mut root, keyword, schemas);
        }
        if self.accepts.plain_names {
            self.leave_out_names(&mut root);
        }
        root
    }

    /// Keywords that no server accepts at the top level.
    fn is_refused(&mut self, keyword: &str) -> bool {
        let refused = ["enum", "not"]
            .into_iter()
            .find(|refused| *refused == keyword);
        self.lost.extend(refused);
        refused.is_some()
    }

    /// The arguments of all choices: those of alternatives are not required.
    fn add_choices(&mut self, root: &mut Map<String, Value>, keyword: &str, schemas: &'a Value) {
        let is_of_all = keyword == "allOf";
        self.lost.extend(
            CHOICES
                .into_iter()
                .find(|choice| *choice == keyword && !is_of_all),
        );
        for schema in schemas.as_array().into_iter().flatten() {
            let mut choice = self.node(self.references.followed(schema), 1);
            if let (Some(Value::Object(more)), Some(Value::Object(properties))) =
                (choice.remove("properties"), root.get_mut("properties"))
            {
                for (name, property) in more {
                    properties.entry(name).or_insert(property);
                }
            }
            let Some(Value::Array(more)) = choice.remove("required").filter(|_| is_of_all) else {
                continue;
            };
            let required = root.entry("required").or_insert_with(|| json!([]));
            if let Value::Array(required) = required {
                let more: Vec<Value> = more
                    .into_iter()
                    .filter(|name| !required.contains(name))
                    .collect();
                required.extend(more);
            }
        }
    }

    /// Arguments whose names are not accepted are described in words: the model may still pass them.
    fn leave_out_names(&mut self, root: &mut Map<String, Value>) {
        let is_plain = |name: &str| {
            (1..=64).contains(&name.len())
                && name
                    .bytes()
                    .all(|byte| byte.is_ascii_alphanumeric() || b"_.-".contains(&byte))
        };
        let Some(Value::Object(properties)) = root.get_mut("properties") else {
            return;
        };
        let odd: Vec<String> = properties
            .keys()
            .filter(|name| !is_plain(name))
            .cloned()
            .collect();
        let mut notes = Vec::with_capacity(odd.len());
        for name in &odd {
            let schema = properties.shift_remove(name).unwrap_or_default();
            notes.push(format!("also takes {}: {schema}", json!(name)));
        }
        if notes.is_empty() {
            return;
        }
        self.lost.insert("properties");
        if let Some(Value::Array(required)) = root.get_mut("required") {
            required.retain(|name| !odd.iter().any(|odd| name == odd));
        }
        add_notes(root, &notes);
    }

    fn node(&mut self, schema: &'a Value, depth: usize) -> Map<String, Value> {
        let Some(left) = self.nodes_left.checked_sub(1).filter(|_| depth < MAX_DEPTH) else {
            self.lost.insert("properties");
            return Map::new();
        };
        self.nodes_left = left;
        if *schema == false {
            return Map::from_iter([("not".to_owned(), json!({}))]);
        }
        let fields: Fields<'a> = entries(schema).collect();
        match fields
            .iter()
            .find_map(|(keyword, value)| Some(value.as_str()?).filter(|_| *keyword == "$ref"))
        {
            Some(reference) => self.reference(reference, &fields, depth),
            None => self.fields(&fields, depth),
        }
    }

    /// A reference; sibling keywords go into a copy of its target, as some servers refuse the combination.
    fn reference(
        &mut self,
        reference: &str,
        fields: &Fields<'a>,
        depth: usize,
    ) -> Map<String, Value> {
        let extra: Fields<'a> = fields
            .iter()
            .filter(|(keyword, _)| *keyword != "$ref")
            .copied()
            .collect();
        let Some((name, target)) = self.references.resolve(reference) else {
            self.lost.insert("$ref");
            return self.fields(&extra, depth);
        };
        let has_more = extra
            .iter()
            .any(|(keyword, _)| !matches!(*keyword, "$defs" | "definitions"));
        if has_more && !self.is_copying {
            self.is_copying = true;
            let mut copy = self.node(target, depth + 1);
            self.is_copying = false;
            let text = Value::Object(copy.clone()).to_string();
            if !text.contains("\"$ref\"") && text.len() <= MAX_COPY_BYTES {
                copy.extend(self.fields(&extra, depth));
                return copy;
            }
            let is_described =
                |keyword: &str| matches!(keyword, "description" | "title" | "default" | "examples");
            if extra.iter().any(|(keyword, _)| !is_described(keyword)) {
                self.lost.insert("$ref");
            }
        }
        self.references.need(&name, target);
        Map::from_iter([("$ref".to_owned(), json!(format!("#/$defs/{name}")))])
    }

    fn fields(&mut self, fields: &Fields<'a>, depth: usize) -> Map<String, Value> {
        let mut node = Map::new();
        let mut notes = Vec::new();
        let get = |name: &str| {
            fields
                .iter()
                .find(|(keyword, _)| *keyword == name)
                .map(|(_, value)| *value)
        };
        let tuple = get("prefixItems")
            .and_then(Value::as_array)
            .filter(|_| !self.accepts.tuples);
        for (keyword, value) in fields {
            let lowered = match (*keyword, value) {
                ("$defs" | "definitions", _) => continue,
                ("prefixItems" | "items", _) if tuple.is_some() => continue,
                ("pattern", Value::String(pattern)) => match self.pattern(pattern) {
                    Pattern::Taken => (*value).clone(),
                    Pattern::Described => {
                        notes.push(format!("pattern: {pattern}"));
                        continue;
                    }
                    Pattern::Lost => continue,
                },
                ("patternProperties", Value::Object(by_pattern)) => {
                    if let Some(more) =
                        self.pattern_properties(by_pattern, get("additionalProperties"), depth)
                    {
                        node.insert("additionalProperties".to_owned(), more);
                    }
                    continue;
                }
                ("additionalProperties", _) if node.contains_key(*keyword) => continue,
                (
                    "additionalProperties" | "items" | "unevaluatedItems" | "unevaluatedProperties",
                    Value::Bool(_),
                ) => (*value).clone(),
                ("properties" | "dependentSchemas", Value::Object(named)) => {
                    let each = named.iter().map(|(name, schema)| {
                        (name.clone(), Value::Object(self.node(schema, depth + 1)))
                    });
                    Value::Object(each.collect())
                }
                ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(list)) => list
                    .iter()
                    .map(|schema| Value::Object(self.node(schema, depth + 1)))
                    .collect(),
                (
                    "items"
                    | "additionalProperties"
                    | "contains"
                    | "contentSchema"
                    | "else"
                    | "if"
                    | "not"
                    | "propertyNames"
                    | "then"
                    | "unevaluatedItems"
                    | "unevaluatedProperties",
                    schema,
                ) => Value::Object(self.node(schema, depth + 1)),
                (_, value) => (*value).clone(),
            };
            node.insert((*keyword).to_owned(), lowered);
        }
        if let Some(tuple) = tuple {
            self.add_tuple(&mut node, &mut notes, tuple, get("items"), depth);
        }
        if self.accepts.needs_items && is_array(&node) && !node.contains_key("items") {
            node.insert("items".to_owned(), json!({}));
        }
        add_notes(&mut node, &notes);
        node
    }

    fn pattern(&mut self, pattern: &str) -> Pattern {
        if !is_regular(pattern) {
            self.lost.insert("pattern");
            return Pattern::Lost;
        }
        match self.accepts.patterns {
            Patterns::Regular => Pattern::Taken,
            Patterns::None if pattern.len() <= MAX_PATTERN_BYTES => Pattern::Described,
            Patterns::None => Pattern::Lost,
        }
    }

    /// The constraint on other properties: servers refuse patterns for names.
    fn pattern_properties(
        &mut self,
        by_pattern: &'a Map<String, Value>,
        others: Option<&Value>,
        depth: usize,
    ) -> Option<Value> {
        let mut schemas = by_pattern.values();
        let (Some(only), None, None | Some(Value::Bool(_))) =
            (schemas.next(), schemas.next(), others)
        else {
            self.lost.insert("patternProperties");
            return None;
        };
        if others == Some(&Value::Bool(false)) {
            self.lost.insert("patternProperties");
        }
        Some(Value::Object(self.node(only, depth + 1)))
    }

    /// A tuple as a list in which each item matches one of the tuple's.
    fn add_tuple(
        &mut self,
        node: &mut Map<String, Value>,
        notes: &mut Vec<String>,
        tuple: &'a [Value],
        others: Option<&'a Value>,
        depth: usize,
    ) {
        self.lost.insert("prefixItems");
        let mut kinds: Vec<Value> = Vec::with_capacity(tuple.len());
        let mut order = Vec::with_capacity(tuple.len());
        for item in tuple
            .iter()
            .chain(others.filter(|others| others.is_object()))
        {
            let item = Value::Object(self.node(item, depth + 1));
            order.push(
                ["title", "description", "type"]
                    .iter()
                    .find_map(|name| item[*name].as_str())
                    .unwrap_or("any")
                    .to_owned(),
            );
            if !kinds.contains(&item) {
                kinds.push(item);
            }
        }
        order.truncate(tuple.len());
        notes.push(format!("in this order: {}", order.join(", ")));
        let items = if kinds.len() == 1 {
            kinds.remove(0)
        } else {
            json!({ "anyOf": kinds })
        };
        node.insert("items".to_owned(), items);
        if others == Some(&Value::Bool(false)) {
            node.entry("maxItems").or_insert_with(|| json!(tuple.len()));
        }
    }
}

fn entries(schema: &Value) -> impl Iterator<Item = (&str, &Value)> {
    schema
        .as_object()
        .into_iter()
        .flatten()
        .map(|(keyword, value)| (keyword.as_str(), value))
}

fn is_array(node: &Map<String, Value>) -> bool {
    match node.get("type") {
        Some(Value::Array(types)) => types.iter().any(|name| name == "array"),
        Some(name) => name == "array",
        None => false,
    }
}

fn add_notes(node: &mut Map<String, Value>, notes: &[String]) {
    if notes.is_empty() {
        return;
    }
    let notes = notes.join(", ");
    let description = match node.get("description").and_then(Value::as_str) {
        Some(said) if !said.is_empty() => format!("{said} ({notes})"),
        _ => notes,
    };
    node.insert("description".to_owned(), json!(description));
}
