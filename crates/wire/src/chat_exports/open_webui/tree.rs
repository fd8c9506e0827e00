//! Builds the message tree of a chat, tolerating inconsistent links.

use std::collections::HashMap;

use serde_json::{Map, Value};

use super::super::tree::in_order;

/// The messages of the export.
pub(super) struct Found<'a> {
    messages: Vec<(&'a str, &'a Value)>,
    /// The index of each one's parent.
    parents: Vec<Option<usize>>,
    current: Option<usize>,
}

impl<'a> Found<'a> {
    /// Those of the tree, or of the list that older versions have instead; `None` if there is neither.
    pub(super) fn of(chat: &'a Map<String, Value>) -> Option<Self> {
        let history = chat.get("history");
        let tree = history
            .and_then(|history| history.get("messages"))
            .and_then(Value::as_object);
        if let Some(tree) = tree.filter(|tree| !tree.is_empty()) {
            let messages: Vec<_> = tree
                .iter()
                .map(|(id, value)| (id.as_str(), value))
                .collect();
            let places = places(&messages);
            let parents = messages
                .iter()
                .map(|(_, value)| parent(value, &places))
                .collect();
            let current = history
                .and_then(|history| history.get("currentId"))
                .and_then(Value::as_str);
            let current = current.and_then(|id| places.get(id).copied());
            return Some(Self {
                current,
                parents,
                messages,
            });
        }
        let listed = history
            .and_then(|history| history.get("messages"))
            .and_then(Value::as_array);
        if let Some(list) = listed.filter(|list| !list.is_empty()) {
            return Some(Self::of_list(list, history?));
        }
        let list = chat.get("messages").and_then(Value::as_array);
        // A chat without messages is valid.
        let list = match list {
            Some(list) => list.as_slice(),
            None => tree.map(|_| [].as_slice())?,
        };
        let messages: Vec<_> = list.iter().map(|value| (id_of(value), value)).collect();
        let places = places(&messages);
        let follows = |(at, (_, value)): (usize, &(&str, &Value))| match value.get("parentId") {
            Some(Value::String(id)) => places
                .get(id.as_str())
                .copied()
                .or_else(|| at.checked_sub(1)),
            // Each one follows the previous.
            _ => at.checked_sub(1),
        };
        let parents = messages.iter().enumerate().map(follows).collect();
        Some(Self {
            current: messages.len().checked_sub(1),
            parents,
            messages,
        })
    }

    /// Those of a tree that is written as a list, in which each names its parent.
    fn of_list(list: &'a [Value], history: &Value) -> Self {
        let messages: Vec<_> = list.iter().map(|value| (id_of(value), value)).collect();
        let places = places(&messages);
        let follows = |(at, (_, value)): (usize, &(&str, &Value))| match value.get("parentId") {
            Some(_) => parent(value, &places),
            None => at.checked_sub(1),
        };
        let parents = messages.iter().enumerate().map(follows).collect();
        let current = history
            .get("currentId")
            .and_then(Value::as_str)
            .and_then(|id| places.get(id).copied());
        Self {
            current: current.or_else(|| messages.len().checked_sub(1)),
            parents,
            messages,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    pub(super) fn value(&self, at: usize) -> &'a Value {
        self.messages[at].1
    }

    pub(super) fn current(&self) -> Option<usize> {
        self.current
    }

    /// Each message with its parent, after that one.
    pub(super) fn in_order(&self) -> Vec<(usize, Option<usize>)> {
        in_order(&self.parents)
    }
}

fn id_of(value: &Value) -> &str {
    value.get("id").and_then(Value::as_str).unwrap_or_default()
}

fn places<'a>(messages: &[(&'a str, &Value)]) -> HashMap<&'a str, usize> {
    let mut places = HashMap::with_capacity(messages.len());
    for (at, (id, _)) in messages
        .iter()
        .enumerate()
        .filter(|(_, (id, _))| !id.is_empty())
    {
        places.entry(*id).or_insert(at);
    }
    places
}

fn parent(value: &Value, places: &HashMap<&str, usize>) -> Option<usize> {
    value
        .get("parentId")
        .and_then(Value::as_str)
        .and_then(|id| places.get(id).copied())
}
