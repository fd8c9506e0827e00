//! References within a schema: each target becomes a definition of the root.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::addresses::decoded;

/// Maximum length of a chain of references to references.
const MAX_CHAIN: usize = 16;

/// What a pointer such as `#/$defs/a%20b` names in `root`.
#[must_use]
pub fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(&decoded(reference.strip_prefix('#')?))
}

/// The targets of a schema's references.
pub(super) struct References<'a> {
    root: &'a Value,
    /// Names of targets by their pointers.
    names: Vec<(String, String)>,
    /// Targets to write as definitions.
    waiting: Vec<(String, &'a Value)>,
    needed: BTreeSet<String>,
}

impl<'a> References<'a> {
    pub(super) fn new(root: &'a Value) -> Self {
        Self {
            root,
            names: Vec::new(),
            waiting: Vec::new(),
            needed: BTreeSet::new(),
        }
    }

    /// The schema itself, or what it only refers to.
    pub(super) fn followed(&self, schema: &'a Value) -> &'a Value {
        let mut schema = schema;
        for _ in 0..MAX_CHAIN {
            let reference = schema.get("$ref").and_then(Value::as_str);
            let Some(target) = reference.and_then(|reference| self.target(reference)) else {
                break;
            };
            schema = target;
        }
        schema
    }

    /// The target of a reference and the name of its definition; `None` if it is not within the schema.
    pub(super) fn resolve(&mut self, reference: &str) -> Option<(String, &'a Value)> {
        let target = self.target(reference)?;
        if let Some((_, name)) = self.names.iter().find(|(known, _)| known == reference) {
            return Some((name.clone(), target));
        }
        let reference_text = decoded(reference);
        let last = reference_text.rsplit(['/', '#']).next().unwrap_or_default();
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || letter == '_';
        let plain: String = last
            .chars()
            .map(|letter| if is_plain(letter) { letter } else { '_' })
            .collect();
        let plain = if plain.is_empty() {
            "Root".to_owned()
        } else {
            plain
        };
        let is_taken = |name: &String| self.names.iter().any(|(_, known)| known == name);
        let numbered = (2..).map(|number| format!("{plain}_{number}"));
        let name = std::iter::once(plain.clone())
            .chain(numbered)
            .find(|name| !is_taken(name))?;
        self.names.push((reference.to_owned(), name.clone()));
        Some((name, target))
    }

    /// The definition of this name is referred to.
    pub(super) fn need(&mut self, name: &str, target: &'a Value) {
        if self.needed.insert(name.to_owned()) {
            self.waiting.push((name.to_owned(), target));
        }
    }

    /// The next target that is not written yet.
    pub(super) fn next(&mut self) -> Option<(String, &'a Value)> {
        self.waiting.pop()
    }

    fn target(&self, reference: &str) -> Option<&'a Value> {
        target(self.root, reference)
    }
}

/// Takes away what makes a definition need itself: Gemini unrolls such references, and only where they may be left out.
pub(super) fn free_cycles(definitions: &mut Map<String, Value>) {
    let direct: Vec<(String, BTreeSet<String>)> = definitions
        .iter()
        .map(|(name, definition)| (name.clone(), references_in(definition)))
        .collect();
    let reached = |name: &str| {
        let mut reached = BTreeSet::new();
        let mut waiting = vec![name.to_owned()];
        while let Some(name) = waiting.pop() {
            let next = direct
                .iter()
                .find(|(known, _)| *known == name)
                .map(|(_, next)| next);
            waiting.extend(
                next.into_iter()
                    .flatten()
                    .filter(|next| reached.insert((*next).clone()))
                    .cloned(),
            );
        }
        reached
    };
    let reached: Vec<(String, BTreeSet<String>)> = direct
        .iter()
        .map(|(name, _)| (name.clone(), reached(name)))
        .collect();
    for (name, definition) in definitions.iter_mut() {
        let leads_back = reached.iter().filter(|(_, reached)| reached.contains(name));
        let cyclic: BTreeSet<String> = leads_back.map(|(name, _)| name.clone()).collect();
        if cyclic.contains(name) {
            free(definition, &cyclic);
        }
    }
}

/// Makes properties optional that lead into a cycle.
fn free(schema: &mut Value, cyclic: &BTreeSet<String>) {
    match schema {
        Value::Object(fields) => {
            let properties = fields.get("properties").and_then(Value::as_object);
            let leads = |name: &Value| {
                let property = name.as_str().and_then(|name| properties?.get(name));
                property.is_some_and(|property| !references_in(property).is_disjoint(cyclic))
            };
            let required = fields.get("required").and_then(Value::as_array);
            let left: Option<Vec<Value>> =
                required.map(|names| names.iter().filter(|name| !leads(name)).cloned().collect());
            match left {
                Some(left) if left.is_empty() => drop(fields.shift_remove("required")),
                Some(left) => drop(fields.insert("required".to_owned(), Value::Array(left))),
                None => {}
            }
            fields.values_mut().for_each(|value| free(value, cyclic));
        }
        Value::Array(items) => items.iter_mut().for_each(|item| free(item, cyclic)),
        _ => {}
    }
}

/// The definitions that a lowered schema refers to.
fn references_in(schema: &Value) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut waiting = vec![schema];
    while let Some(schema) = waiting.pop() {
        match schema {
            Value::Object(fields) => {
                let reference = fields.get("$ref").and_then(Value::as_str);
                let name = reference.and_then(|reference| reference.strip_prefix("#/$defs/"));
                found.extend(name.map(str::to_owned));
                waiting.extend(fields.values());
            }
            Value::Array(items) => waiting.extend(items),
            _ => {}
        }
    }
    found
}
