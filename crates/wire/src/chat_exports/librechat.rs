//! Conversations of LibreChat: a list of messages that name their parents, or messages inside their parents.

mod content;
mod nested;

use std::collections::HashMap;

use domain::Role;
use serde::Deserialize;
use serde_json::{Value, value::RawValue};

use super::{
    Chat, MAX_MESSAGES, Message, Product, Skipped, Unreadable,
    answer::NAME_CHARS,
    fields::{is_so, short, text_at, text_of, time},
    tree::in_order,
};

/// A conversation as exported. Other fields are ignored: `exportAt` is a time without its day.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Row<'a> {
    #[serde(default)]
    conversation_id: Value,
    #[serde(default)]
    title: Value,
    #[serde(default)]
    options: Value,
    #[serde(default)]
    model: Value,
    #[serde(default)]
    created_at: Value,
    #[serde(default)]
    updated_at: Value,
    #[serde(default)]
    is_archived: Value,
    #[serde(default)]
    pinned: Value,
    #[serde(default)]
    tags: Value,
    #[serde(default, borrow)]
    messages: Option<&'a RawValue>,
    #[serde(default, borrow)]
    messages_tree: Option<&'a RawValue>,
}

/// Decodes a conversation.
pub(super) fn read(json: &[u8]) -> Result<Chat, Unreadable> {
    let row: Row<'_> = serde_json::from_slice(json).map_err(|_| Unreadable::NotAChat)?;
    let raw = row.messages_tree.or(row.messages);
    let found = nested::unfold(raw.map_or("", RawValue::get), MAX_MESSAGES);
    let found = found.ok_or(Unreadable::TooManyMessages)?;
    let mut chat = Chat {
        created_at: time(&row.created_at).unwrap_or(0),
        updated_at: time(&row.updated_at).unwrap_or(0),
        pinned: is_so(&row.pinned),
        archived: is_so(&row.is_archived),
        ..Chat::new(
            Product::LibreChat,
            text_of(&row.conversation_id),
            text_of(&row.title),
        )
    };
    let tags = row.tags.as_array().into_iter().flatten().take(100);
    chat.tags = tags.filter_map(Value::as_str).map(str::to_owned).collect();
    let model = row.options["model"].as_str().or(row.model.as_str());
    let last = take(&mut chat, &found, model);
    if chat.messages.is_empty() {
        return Err(Unreadable::NoMessages);
    }
    chat.finish(last);
    chat.updated_at = chat
        .messages
        .iter()
        .map(|it| it.at)
        .fold(chat.updated_at, i64::max);
    Ok(chat)
}

/// Adds the messages, and returns the one that was written last.
fn take(chat: &mut Chat, found: &[nested::Found], model: Option<&str>) -> Option<usize> {
    let parse = |found: &nested::Found| serde_json::from_slice(&found.json).unwrap_or(Value::Null);
    let values: Vec<Value> = found.iter().map(parse).collect();
    let ids = values.iter().enumerate();
    let ids = ids.filter(|(_, it)| !text_at(it, "messageId").is_empty());
    let ids: HashMap<&str, usize> = ids.map(|(at, it)| (text_at(it, "messageId"), at)).collect();
    let parent = |at: usize| {
        let named = ids.get(text_at(&values[at], "parentMessageId")).copied();
        found[at].parent.or(named)
    };
    let parents: Vec<Option<usize>> = (0..values.len()).map(parent).collect();
    let mut places: Vec<Option<usize>> = vec![None; values.len()];
    let mut last: Option<usize> = None;
    for (at, parent) in in_order(&parents) {
        let parent = parent.and_then(|parent| places[parent]);
        places[at] = match message(&values[at], model, chat) {
            Some(message) => {
                let place = chat.add(message, parent);
                if last.is_none_or(|last| chat.messages[last].at <= chat.messages[place].at) {
                    last = Some(place);
                }
                Some(place)
            }
            None => parent,
        };
    }
    last
}

/// Decodes a message; `None` if it has no content.
fn message(value: &Value, model: Option<&str>, chat: &mut Chat) -> Option<Message> {
    let sender = text_at(value, "sender");
    let is_user = match value.get("isCreatedByUser") {
        Some(Value::Bool(is_user)) => *is_user,
        _ if sender.is_empty() => {
            chat.skip(Skipped::Message);
            return None;
        }
        _ => sender.eq_ignore_ascii_case("user"),
    };
    let role = if is_user { Role::User } else { Role::Assistant };
    let at = value.get("createdAt").and_then(time).unwrap_or(0);
    let mut message = Message::new(role, at);
    let answer = content::read(value, &mut message, chat);
    if is_user {
        message.text = answer.said();
    } else {
        // Agents and assistants have ids in place of a model's name.
        let is_id = |name: &&str| name.starts_with("agent_") || name.starts_with("asst_");
        let own = value.get("model").and_then(Value::as_str);
        let names = [own, model, Some(sender)].into_iter().flatten();
        let name = names
            .filter(|name| !name.is_empty())
            .find(|name| !is_id(name));
        message.model = name.map(|name| short(name, NAME_CHARS));
        message.set_answer(answer);
    }
    (!message.is_empty()).then_some(message)
}

#[cfg(test)]
mod tests;
