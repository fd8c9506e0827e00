//! The keywords of a schema.

use serde_json::{Map, Value};

/// The keywords of a schema, with those of its `allOf`.
#[derive(Default)]
pub(super) struct Keywords<'a> {
    /// All others.
    words: Vec<(&'a str, &'a Value)>,
    pub(super) properties: Vec<(&'a String, &'a Value)>,
    pub(super) required: Vec<&'a str>,
}

impl<'a> Keywords<'a> {
    pub(super) fn add(&mut self, schema: &'a Map<String, Value>) {
        for (name, value) in schema {
            if self.get(name).is_none() {
                self.words.push((name, value));
            }
        }
        for (name, property) in schema
            .get("properties")
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
        {
            if !self.properties.iter().any(|(known, _)| *known == name) {
                self.properties.push((name, property));
            }
        }
        for name in list(schema.get("required"))
            .unwrap_or_default()
            .iter()
            .filter_map(Value::as_str)
        {
            if !self.required.contains(&name) {
                self.required.push(name);
            }
        }
    }

    pub(super) fn get(&self, name: &str) -> Option<&'a Value> {
        self.words
            .iter()
            .find(|(known, _)| *known == name)
            .map(|(_, value)| *value)
    }
}

pub(super) fn list(value: Option<&Value>) -> Option<&[Value]> {
    value?.as_array().map(Vec::as_slice)
}
