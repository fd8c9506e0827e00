//! Stores the parts of an output item other than its text, and rebuilds the item. Texts are stored once, in the
//! message: the stored reasoning parts have only the lengths of their texts.

use serde::{Serialize, Serializer, ser::SerializeMap};
use serde_json::{Map, Value, json};

/// Separates the parts of reasoning.
pub(super) const PART_BREAK: &str = "\n\n";

/// The fields of a reasoning item with parts: a summary, or the reasoning itself from open models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReasoningParts {
    Summary,
    Content,
}

impl ReasoningParts {
    pub(super) fn field(self) -> &'static str {
        match self {
            Self::Summary => "summary",
            Self::Content => "content",
        }
    }
}

/// The data of a reasoning item whose `shown` parts were emitted as text, `written` bytes in all.
pub(super) fn reasoning_data(
    mut item: Map<String, Value>,
    shown: ReasoningParts,
    written: usize,
) -> Value {
    for name in ["type", "status"] {
        item.shift_remove(name);
    }
    item.retain(|_, value| !value.is_null());
    if item
        .get("content")
        .is_some_and(|parts| parts.as_array().is_some_and(Vec::is_empty))
    {
        item.shift_remove("content");
    }
    if let Some(Value::Array(parts)) = item.get_mut(shown.field()) {
        let breaks = parts.len().saturating_sub(1) * PART_BREAK.len();
        let texts: usize = parts.iter().map(|part| text_of(part).len()).sum();
        if written > 0 && texts + breaks == written {
            for part in parts.iter_mut() {
                let length = text_of(part).len();
                if let Value::Object(part) = part {
                    part.insert("text".to_owned(), length.into());
                }
            }
        }
    }
    Value::Object(item)
}

fn text_of(part: &Value) -> &str {
    part.get("text").and_then(Value::as_str).unwrap_or_default()
}

/// A reasoning item to send back.
#[derive(Debug)]
pub(super) struct ReasoningItem<'a> {
    kept: &'a Map<String, Value>,
    summary: Value,
    content: Option<Value>,
}

impl<'a> ReasoningItem<'a> {
    /// `None` if it cannot be sent back: without its encrypted form only the provider that stored it knows the content.
    /// Open models provide the reasoning itself.
    pub(super) fn new(text: &str, data: Option<&'a Value>) -> Option<Self> {
        let kept = data?.as_object()?;
        let is_encrypted = kept
            .get("encrypted_content")
            .is_some_and(|it| it.as_str().is_some_and(|it| !it.is_empty()));
        let content = kept
            .get("content")
            .and_then(|parts| with_texts(parts, text));
        if !is_encrypted && content.is_none() {
            return None;
        }
        let summary = kept
            .get("summary")
            .and_then(|parts| with_texts(parts, text))
            .unwrap_or_else(|| json!([]));
        Some(Self {
            kept,
            summary,
            content,
        })
    }

    /// Whether it is readable, which it never is for OpenAI's own models.
    pub(super) fn is_open(&self) -> bool {
        self.content.is_some()
    }
}

/// The parts with their texts in place of the lengths; `None` if the text has changed.
fn with_texts(parts: &Value, text: &str) -> Option<Value> {
    let mut parts = parts.as_array()?.clone();
    let mut rest = text;
    for part in &mut parts {
        let Some(length) = part.get("text").and_then(Value::as_u64) else {
            continue;
        };
        let (this, more) = rest.split_at_checked(usize::try_from(length).ok()?)?;
        part["text"] = json!(this);
        rest = more.strip_prefix(PART_BREAK).unwrap_or(more);
    }
    (!parts.is_empty()).then_some(Value::Array(parts))
}

impl Serialize for ReasoningItem<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        map.serialize_entry("type", "reasoning")?;
        for (name, value) in self
            .kept
            .iter()
            .filter(|(name, _)| !["summary", "content"].contains(&name.as_str()))
        {
            map.serialize_entry(name, value)?;
        }
        map.serialize_entry("summary", &self.summary)?;
        if let Some(content) = &self.content {
            map.serialize_entry("content", content)?;
        }
        map.end()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn there_and_back(item: &Value, shown: ReasoningParts, text: &str) -> Option<Value> {
        let data = reasoning_data(item.as_object().unwrap().clone(), shown, text.len());
        ReasoningItem::new(text, Some(&data)).map(|item| serde_json::to_value(&item).unwrap())
    }

    #[test]
    fn summaries_are_stored_once_and_come_back() {
        let part = |text: &str| json!({"type": "summary_text", "text": text});
        let item = json!({
            "type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA", "status": null, "content": [],
            "summary": [part("**Ä**\n\nb"), part("c")],
        });
        let text = "**Ä**\n\nb\n\nc";
        let data = reasoning_data(
            item.as_object().unwrap().clone(),
            ReasoningParts::Summary,
            text.len(),
        );
        assert_eq!(
            data["summary"],
            json!([{"type": "summary_text", "text": 9}, {"type": "summary_text", "text": 1}])
        );
        assert_eq!(
            there_and_back(&item, ReasoningParts::Summary, text).unwrap(),
            json!({"type": "reasoning", "id": "rs_1", "encrypted_content": "gAAA",
                "summary": [part("**Ä**\n\nb"), part("c")]})
        );
        // Deltas that do not add up to the summary: it is stored unchanged.
        assert_eq!(
            there_and_back(&item, ReasoningParts::Summary, "other").unwrap()["summary"],
            item["summary"]
        );
        // A text that was changed since: the encrypted form is sufficient for the model.
        let changed = ReasoningItem::new("Ä", Some(&data)).unwrap();
        assert_eq!(
            serde_json::to_value(&changed).unwrap()["summary"],
            json!([])
        );
    }

    #[test]
    fn reasoning_stored_by_the_provider_is_not_sent_back() {
        assert_eq!(
            there_and_back(
                &json!({"id": "rs_1", "summary": []}),
                ReasoningParts::Summary,
                ""
            ),
            None
        );
        assert!(ReasoningItem::new("hm", None).is_none());
        let open = json!({
            "id": "a", "summary": [], "content": [{"type": "reasoning_text", "text": "hm"}], "status": "completed",
        });
        let back = there_and_back(&open, ReasoningParts::Content, "hm").unwrap();
        assert_eq!(back["content"], open["content"]);
        assert_eq!(back["id"], "a");
        assert!(back.get("status").is_none());
    }
}
