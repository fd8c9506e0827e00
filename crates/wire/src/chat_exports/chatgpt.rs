//! Chats of ChatGPT: a tree of nodes. Each step of an answer is a node of its own, and they become one message.

mod citations;
mod content;

use std::collections::HashMap;

use domain::Role;
use serde::Deserialize;
use serde_json::{Map, Value};

use self::content::Collected;
use super::{
    Chat, MAX_MESSAGES, Message, Product, Skipped, Unreadable,
    answer::NAME_CHARS,
    fields::{is_so, list_at, short, text_at, text_of, time},
    tree::in_order,
};

/// A chat as exported. Other fields are ignored.
#[derive(Deserialize)]
struct Row {
    #[serde(default)]
    id: Value,
    #[serde(default)]
    conversation_id: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    create_time: Value,
    #[serde(default)]
    update_time: Value,
    mapping: Map<String, Value>,
    #[serde(default)]
    current_node: Value,
    #[serde(default)]
    is_archived: Value,
    #[serde(default)]
    is_starred: Value,
    #[serde(default)]
    pinned_time: Value,
    #[serde(default)]
    default_model_slug: Value,
}

/// Decodes a chat.
pub(super) fn read(json: &[u8]) -> Result<Chat, Unreadable> {
    let row: Row = serde_json::from_slice(json).map_err(|_| Unreadable::NotAChat)?;
    if row.mapping.len() > MAX_MESSAGES {
        return Err(Unreadable::TooManyMessages);
    }
    let id = match text_of(&row.conversation_id) {
        id if id.is_empty() => text_of(&row.id),
        id => id,
    };
    let made = time(&row.create_time);
    let mut chat = Chat {
        created_at: made.unwrap_or(0),
        updated_at: time(&row.update_time).or(made).unwrap_or(0),
        pinned: is_so(&row.is_starred) || time(&row.pinned_time).is_some(),
        archived: is_so(&row.is_archived),
        ..Chat::new(Product::ChatGpt, id, text_of(&row.title))
    };
    let nodes = Nodes::of(&row.mapping);
    let model = row.default_model_slug.as_str().filter(|it| *it != "auto");
    let mut turns = Turns {
        chat: &mut chat,
        answers: Vec::new(),
        model,
    };
    let places = turns.take(&nodes);
    turns.finish();
    if chat.messages.is_empty() {
        return Err(Unreadable::NoMessages);
    }
    let current = row.current_node.as_str();
    chat.finish(current.and_then(|id| places[*nodes.places.get(id)?]));
    Ok(chat)
}

/// The nodes of a chat with their links.
struct Nodes<'a> {
    /// The messages; null for a root.
    messages: Vec<&'a Value>,
    places: HashMap<&'a str, usize>,
    parents: Vec<Option<usize>>,
    /// The number of children of each.
    children: Vec<usize>,
}

impl<'a> Nodes<'a> {
    fn of(mapping: &'a Map<String, Value>) -> Self {
        let places: HashMap<&str, usize> = mapping
            .keys()
            .enumerate()
            .map(|(at, id)| (id.as_str(), at))
            .collect();
        let place = |id: &Value| places.get(id.as_str()?).copied();
        let mut parents: Vec<Option<usize>> = mapping
            .values()
            .map(|node| node.get("parent").and_then(place))
            .collect();
        // A node may name its children only.
        for (at, node) in mapping.values().enumerate() {
            for child in list_at(node, "children").iter().filter_map(place) {
                parents[child].get_or_insert(at);
            }
        }
        let mut children = vec![0; parents.len()];
        for parent in parents.iter().flatten() {
            children[*parent] += 1;
        }
        let message = |node: &'a Value| node.get("message").unwrap_or(&Value::Null);
        Self {
            messages: mapping.values().map(message).collect(),
            places,
            parents,
            children,
        }
    }
}

/// Where a node ended up.
#[derive(Clone, Copy, Default)]
struct Place {
    /// The message that has it, or that its content would follow.
    message: Option<usize>,
    /// Whether that is an answer that goes on in the next node.
    goes_on: bool,
}

/// The messages that are made of the nodes.
struct Turns<'a> {
    chat: &'a mut Chat,
    /// The content of each message so far; empty for those of the person.
    answers: Vec<Collected>,
    /// The model of answers that name none.
    model: Option<&'a str>,
}

impl Turns<'_> {
    /// Adds all nodes, and returns the message of each.
    fn take(&mut self, nodes: &Nodes<'_>) -> Vec<Option<usize>> {
        let mut places = vec![Place::default(); nodes.messages.len()];
        for (at, parent) in in_order(&nodes.parents) {
            let above = parent.map_or(Place::default(), |parent| Place {
                goes_on: places[parent].goes_on && nodes.children[parent] == 1,
                ..places[parent]
            });
            places[at] = self.node(nodes.messages[at], above);
        }
        places.into_iter().map(|place| place.message).collect()
    }

    fn node(&mut self, message: &Value, above: Place) -> Place {
        if message.is_null() {
            return above;
        }
        let metadata = message.get("metadata").unwrap_or(&Value::Null);
        let hidden = metadata.get("is_visually_hidden_from_conversation");
        let role = message.get("author").map_or("", |it| text_at(it, "role"));
        match role {
            _ if hidden.is_some_and(is_so) => self.hide(message),
            "system" => self.hide(message),
            "user" => return self.user(message, above),
            "assistant" | "tool" => return self.step(message, role == "tool", above),
            _ => self.chat.skip(Skipped::Message),
        }
        above
    }

    /// Counts a message that the product does not show, if there is anything in it.
    fn hide(&mut self, message: &Value) {
        if content::has_words(message.get("content").unwrap_or(&Value::Null)) {
            self.chat.skip(Skipped::Hidden);
        }
    }

    fn user(&mut self, message: &Value, above: Place) -> Place {
        let mut collected = Collected::default();
        let text = collected.content(message, self.chat);
        collected.attachments(message, self.chat);
        let mut row = Message::new(Role::User, at(message));
        row.text = text;
        row.pictures = collected.pictures;
        row.assets = collected.assets;
        if row.is_empty() {
            return above;
        }
        self.answers.push(Collected::default());
        Place {
            message: Some(self.chat.add(row, above.message)),
            goes_on: false,
        }
    }

    /// A step of an answer: continues the one above it, or begins a new one.
    fn step(&mut self, message: &Value, is_tool: bool, above: Place) -> Place {
        let going = above.message.filter(|_| above.goes_on);
        let mut collected = going.map_or_else(Collected::default, |place| {
            std::mem::take(&mut self.answers[place])
        });
        if is_tool {
            collected.tool(message, self.chat);
        } else {
            collected.assistant(message, self.chat);
        }
        if let Some(place) = going {
            self.answers[place] = collected;
            return above;
        }
        if collected.is_empty() {
            return above;
        }
        self.answers.push(collected);
        let row = Message::new(Role::Assistant, at(message));
        Place {
            message: Some(self.chat.add(row, above.message)),
            goes_on: true,
        }
    }

    fn finish(self) {
        for (message, collected) in self.chat.messages.iter_mut().zip(self.answers) {
            if message.role == Role::Assistant {
                message.pictures = collected.pictures;
                message.assets = collected.assets;
                let model = collected.model.as_deref().or(self.model);
                message.model = model.map(|model| short(model, NAME_CHARS));
                message.set_answer(collected.answer);
            }
        }
    }
}

fn at(message: &Value) -> i64 {
    message.get("create_time").and_then(time).unwrap_or(0)
}

#[cfg(test)]
mod tests;
