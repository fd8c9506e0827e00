//! What a file says of itself: its keywords, its author, its dates.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Maximum length of a value, characters; the rest is cut.
const VALUE_CHARS: usize = 500;
/// Maximum number of tags, of keys, and of values of a key; the rest is left out.
const MAX_ENTRIES: usize = 100;

/// Tags and metadata of a file.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Properties {
    /// Keywords.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Values by key: texts, dates of ISO 8601, numbers, booleans, and lists of these.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub fields: BTreeMap<String, Value>,
}

impl Properties {
    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty() && self.fields.is_empty()
    }

    /// Adds keywords that are separated by commas or semicolons.
    pub(crate) fn add_keywords(&mut self, keywords: &str) {
        for keyword in keywords.split([',', ';', '，', '、']) {
            let keyword = one_line(keyword);
            if !keyword.is_empty() && self.tags.len() < MAX_ENTRIES && !self.tags.contains(&keyword)
            {
                self.tags.push(keyword);
            }
        }
    }

    /// Adds a text, unless it is empty. Several texts of a key become a list, equal ones count once.
    pub(crate) fn add(&mut self, key: &str, text: &str) {
        let text = one_line(text);
        if !text.is_empty() {
            self.add_value(key, Value::from(text));
        }
    }

    /// Adds a value.
    pub(crate) fn add_value(&mut self, key: &str, value: Value) {
        if self.fields.len() >= MAX_ENTRIES && !self.fields.contains_key(key) {
            return;
        }
        match self.fields.get_mut(key) {
            None => _ = self.fields.insert(key.to_owned(), value),
            Some(Value::Array(all)) => {
                if all.len() < MAX_ENTRIES && !all.contains(&value) {
                    all.push(value);
                }
            }
            Some(one) if *one == value => {}
            Some(one) => *one = Value::from(vec![one.take(), value]),
        }
    }

    /// Sets a text if the key has none yet.
    pub(crate) fn add_missing(&mut self, key: &str, text: &str) {
        if !self.fields.contains_key(key) {
            self.add(key, text);
        }
    }
}

/// A text on one line, cut.
fn one_line(text: &str) -> String {
    let words = text.split(|char: char| char.is_whitespace() || char.is_control());
    let words: Vec<&str> = words.filter(|word| !word.is_empty()).collect();
    words.join(" ").chars().take(VALUE_CHARS).collect()
}
