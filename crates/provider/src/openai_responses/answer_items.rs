//! Encodes an assistant's message as its original output items: reasoning before the item it led to, with their ids and
//! phases. The provider refuses a reasoning item without its following item, and an item with an id without the
//! reasoning before it; so ids are sent only together with all reasoning.

use std::{borrow::Cow, collections::HashSet};

use domain::{Block, ToolCall};
use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value};

use super::{input::InputItem, item_data::ReasoningItem};

/// An assistant message. With an id it has the form of output, otherwise that of input.
#[derive(Debug)]
pub(super) struct AnswerMessage<'a> {
    id: Option<&'a str>,
    phase: Option<&'a Value>,
    parts: Vec<AnswerPart<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum AnswerPart<'a> {
    OutputText {
        text: &'a str,
        annotations: Cow<'a, [Value]>,
    },
    Refusal {
        refusal: &'a str,
    },
}

impl Serialize for AnswerMessage<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        if let Some(id) = self.id {
            map.serialize_entry("type", "message")?;
            map.serialize_entry("id", id)?;
            map.serialize_entry("status", "completed")?;
        }
        map.serialize_entry("role", "assistant")?;
        match (self.id, self.parts.as_slice()) {
            (
                None,
                [AnswerPart::OutputText { text, .. } | AnswerPart::Refusal { refusal: text }],
            ) => map.serialize_entry("content", text)?,
            (_, parts) => map.serialize_entry("content", parts)?,
        }
        if let Some(phase) = self.phase {
            map.serialize_entry("phase", phase)?;
        }
        map.end()
    }
}

/// A call of one of our tools.
#[derive(Debug)]
pub(super) struct CallItem<'a> {
    call: &'a ToolCall,
    kept: Option<&'a Map<String, Value>>,
    is_custom: bool,
    with_id: bool,
}

impl Serialize for CallItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let (kind, text) = match self.is_custom {
            true => ("custom_tool_call", "input"),
            false => ("function_call", "arguments"),
        };
        map.serialize_entry("type", kind)?;
        let kept = self
            .kept
            .into_iter()
            .flatten()
            .filter(|(name, _)| match name.as_str() {
                "id" => self.with_id,
                name => name != CUSTOM,
            });
        for (name, value) in kept {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("call_id", &self.call.id)?;
        map.serialize_entry("name", &self.call.name)?;
        let arguments = match self.call.arguments.trim() {
            "" if !self.is_custom => "{}",
            _ => &self.call.arguments,
        };
        map.serialize_entry(text, arguments)?;
        map.end()
    }
}

/// In the data of a call: whether its tool takes free text.
pub(super) const CUSTOM: &str = "custom";
/// In the data of a text: whether it is a refusal.
pub(super) const REFUSAL: &str = "refusal";
/// In the data of a text: its citations.
pub(super) const ANNOTATIONS: &str = "annotations";

/// The items of a message with these blocks. Records the ids of calls with free text.
pub(super) fn answer_items<'a>(
    blocks: Vec<Block<'a>>,
    custom: &mut HashSet<&'a str>,
) -> Vec<InputItem<'a>> {
    let reasoning: Vec<Option<ReasoningItem<'_>>> =
        blocks.iter().filter_map(reasoning_item).collect();
    let is_whole = reasoning.iter().all(Option::is_some);
    let is_open = reasoning.iter().flatten().any(ReasoningItem::is_open);
    let with_ids = is_whole && !is_open && !reasoning.is_empty();
    let mut reasoning = reasoning.into_iter();
    let mut writer = Writer {
        items: Vec::with_capacity(blocks.len()),
        with_ids,
    };
    for block in blocks {
        match block {
            Block::Reasoning { .. } => {
                writer
                    .items
                    .extend(reasoning.next().flatten().map(InputItem::Reasoning));
            }
            Block::Part { part, data } => writer.text(part.as_text().unwrap_or_default(), data),
            Block::Call { call, data } => writer.call(call, data, custom),
            Block::Other { data } if is_whole => writer.items.push(InputItem::Verbatim(data)),
            Block::Other { .. } => {}
        }
    }
    let mut items = writer.items;
    while items
        .pop_if(|item| matches!(item, InputItem::Reasoning(_)))
        .is_some()
    {}
    if is_open {
        // DeepSeek requires the outputs directly after the calls.
        items.sort_by_key(|item| matches!(item, InputItem::Call(_)));
    }
    items
}

/// The reasoning item to send back, if possible; `None` if the block is no reasoning.
fn reasoning_item<'a>(block: &Block<'a>) -> Option<Option<ReasoningItem<'a>>> {
    let Block::Reasoning { text, data } = *block else {
        return None;
    };
    Some(ReasoningItem::new(text, data))
}

#[derive(Debug)]
struct Writer<'a> {
    items: Vec<InputItem<'a>>,
    with_ids: bool,
}

impl<'a> Writer<'a> {
    fn text(&mut self, text: &'a str, data: Option<&'a Value>) {
        if text.is_empty() {
            return;
        }
        let field = |name: &str| data.and_then(|data| data.get(name));
        let id = field("id").and_then(Value::as_str);
        let annotations = field(ANNOTATIONS)
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let part = match field(REFUSAL) {
            Some(_) => AnswerPart::Refusal { refusal: text },
            None => AnswerPart::OutputText {
                text,
                annotations: Cow::Borrowed(annotations),
            },
        };
        let id = id.filter(|_| self.with_ids);
        match self.items.last_mut() {
            Some(InputItem::Answer(message)) if id.is_some() && message.id == id => {
                message.parts.push(part)
            }
            _ => self.items.push(InputItem::Answer(AnswerMessage {
                id,
                phase: field("phase"),
                parts: vec![part],
            })),
        }
    }

    fn call(&mut self, call: &'a ToolCall, data: Option<&'a Value>, custom: &mut HashSet<&'a str>) {
        let kept = data.and_then(Value::as_object);
        let is_custom = kept.is_some_and(|kept| kept.contains_key(CUSTOM));
        if is_custom {
            custom.insert(&call.id);
        }
        self.items.push(InputItem::Call(CallItem {
            call,
            kept,
            is_custom,
            with_id: self.with_ids,
        }));
    }
}

#[cfg(test)]
mod tests {
    use domain::{Message, Part, Provenance, Role, StoredBlock};
    use serde_json::json;

    use super::*;
    use crate::openai_responses::PROVIDER;

    fn reasoning(id: &str, encrypted: Option<&str>) -> StoredBlock {
        let data = json!({"id": id, "encrypted_content": encrypted, "summary": []});
        StoredBlock::Reasoning {
            text: String::new(),
            data: Some(data),
        }
    }

    fn text(id: &str) -> StoredBlock {
        StoredBlock::Text {
            data: Some(json!({"id": id, "phase": "commentary"})),
        }
    }

    fn call(id: &str) -> StoredBlock {
        StoredBlock::Call {
            id: id.to_owned(),
            data: Some(json!({"id": format!("fc_{id}")})),
        }
    }

    fn check(texts: &[&str], calls: &[&str], blocks: Vec<StoredBlock>, expected: &Value) {
        let call = |id: &&str| ToolCall {
            id: (*id).into(),
            name: "ls".into(),
            arguments: String::new(),
        };
        let message = Message {
            content: texts
                .iter()
                .map(|text| Part::Text {
                    text: (*text).into(),
                })
                .collect(),
            tool_calls: calls.iter().map(call).collect(),
            provenance: Some(Box::new(Provenance {
                provider: PROVIDER.into(),
                blocks,
            })),
            ..Message::text(Role::Assistant, "")
        };
        let items = answer_items(message.blocks(PROVIDER), &mut HashSet::new());
        assert_eq!(&serde_json::to_value(&items).unwrap(), expected);
    }

    #[test]
    fn ids_go_back_with_all_reasoning() {
        check(
            &["a"],
            &["1"],
            vec![reasoning("rs", Some("gAAA")), text("msg"), call("1")],
            &json!([
                {"type": "reasoning", "id": "rs", "encrypted_content": "gAAA", "summary": []},
                {"type": "message", "id": "msg", "status": "completed", "role": "assistant",
                    "content": [{"type": "output_text", "text": "a", "annotations": []}], "phase": "commentary"},
                {"type": "function_call", "id": "fc_1", "call_id": "1", "name": "ls", "arguments": "{}"},
            ]),
        );
    }

    #[test]
    fn no_ids_and_provider_items_without_reasoning() {
        let search = StoredBlock::Other {
            data: json!({"type": "web_search_call", "id": "ws"}),
        };
        let plain = json!([
            {"role": "assistant", "content": "a", "phase": "commentary"},
            {"type": "function_call", "call_id": "1", "name": "ls", "arguments": "{}"},
        ]);
        check(
            &["a"],
            &["1"],
            vec![
                reasoning("rs", None),
                search.clone(),
                text("msg"),
                call("1"),
            ],
            &plain,
        );
        check(&["a"], &["1"], vec![text("msg"), call("1")], &plain);
        // A model that does not reason.
        let items = json!([{"type": "web_search_call", "id": "ws"}, plain[0]]);
        check(&["a"], &[], vec![search, text("msg")], &items);
    }

    #[test]
    fn dangling_reasoning_is_omitted() {
        check(
            &[],
            &[],
            vec![
                reasoning("rs", Some("gAAA")),
                reasoning("rs2", Some("gAAA")),
            ],
            &json!([]),
        );
    }

    #[test]
    fn parts_of_one_message_stay_together() {
        let refusal = StoredBlock::Text {
            data: Some(json!({"id": "msg", "refusal": true})),
        };
        check(
            &["a", "no"],
            &[],
            vec![reasoning("rs", Some("gAAA")), text("msg"), refusal],
            &json!([
                {"type": "reasoning", "id": "rs", "encrypted_content": "gAAA", "summary": []},
                {"type": "message", "id": "msg", "status": "completed", "role": "assistant", "content": [
                    {"type": "output_text", "text": "a", "annotations": []}, {"type": "refusal", "refusal": "no"},
                ], "phase": "commentary"},
            ]),
        );
    }

    #[test]
    fn calls_of_open_models_come_last() {
        let open = |id: &str| StoredBlock::Reasoning {
            text: "hm".into(),
            data: Some(
                json!({"id": id, "summary": [], "content": [{"type": "reasoning_text", "text": 2}]}),
            ),
        };
        let back = |id: &str| {
            json!({"type": "reasoning", "id": id, "summary": [],
                "content": [{"type": "reasoning_text", "text": "hm"}]})
        };
        let call_item = |id: &str| json!({"type": "function_call", "call_id": id, "name": "ls", "arguments": "{}"});
        check(
            &[],
            &["1", "2"],
            vec![open("a"), call("1"), open("b"), call("2")],
            &json!([back("a"), back("b"), call_item("1"), call_item("2")]),
        );
    }
}
