//! The properties of a row of a Notion database, as a Markdown list.

use serde_json::Value;

use super::text;
use crate::ItemMetadata;

/// The title of a page, which is one of its properties.
pub(super) fn title(properties: &Value) -> String {
    let properties = properties.as_object().into_iter().flatten();
    let mut titles = properties.filter(|(_, property)| property["type"] == "title");
    titles
        .next()
        .map(|(_, property)| text::plain(&property["title"]))
        .unwrap_or_default()
}

/// All properties that have a value, without the title.
pub(super) fn list(properties: &Value) -> String {
    let properties = properties.as_object().into_iter().flatten();
    let lines = properties.filter_map(|(name, property)| {
        let kind = property["type"].as_str().filter(|kind| *kind != "title")?;
        let value = value(kind, &property[kind]);
        let value = value.split_whitespace().collect::<Vec<_>>().join(" ");
        let name = name.trim();
        (!value.is_empty()).then(|| format!("- **{name}:** {value}\n"))
    });
    lines.collect()
}

/// The properties as metadata: multi-select properties are tags, too.
pub(super) fn metadata(properties: Option<&Value>) -> ItemMetadata {
    let mut metadata = ItemMetadata::default();
    let properties = properties.and_then(Value::as_object).into_iter().flatten();
    for (name, property) in properties {
        let Some(kind) = property["type"].as_str() else {
            continue;
        };
        let value = &property[kind];
        let found = match kind {
            // A name, and texts of any length, which are found by their words.
            "title" | "rich_text" | "files" => continue,
            "multi_select" => {
                let names = names(value);
                metadata.tags.extend(names.iter().cloned());
                Value::from(names)
            }
            "people" => Value::from(names(value)),
            "created_by" | "last_edited_by" => Value::from(named(value)),
            "created_time" | "last_edited_time" => value.clone(),
            "number" | "checkbox" => value.clone(),
            "date" => value["start"].clone(),
            kind => Value::from(self::value(kind, value)),
        };
        let is_empty = match &found {
            Value::Null => true,
            Value::String(text) => text.is_empty(),
            Value::Array(all) => all.is_empty(),
            _ => false,
        };
        metadata.set(name, (!is_empty).then_some(found));
    }
    metadata
}

fn names(value: &Value) -> Vec<String> {
    let names = value.as_array().into_iter().flatten().map(named);
    names.filter(|name| !name.is_empty()).collect()
}

fn value(kind: &str, value: &Value) -> String {
    match kind {
        "rich_text" => text::markdown(value),
        "number" | "checkbox" | "boolean" => match value {
            Value::Bool(true) => "yes".to_owned(),
            Value::Bool(false) => "no".to_owned(),
            Value::Number(number) => number.to_string(),
            _ => String::new(),
        },
        "select" | "status" => named(value),
        "multi_select" | "people" | "files" => joined(value, named),
        "date" => date(value),
        "url" | "email" | "phone_number" | "string" => {
            value.as_str().unwrap_or_default().to_owned()
        }
        "unique_id" => unique_id(value),
        "place" => [&value["name"], &value["address"]]
            .iter()
            .filter_map(|part| part.as_str())
            .collect::<Vec<_>>()
            .join(", "),
        "formula" => nested(value),
        "rollup" if value["type"] == "array" => joined(&value["array"], nested),
        "rollup" => nested(value),
        // Relations have only IDs; the others are about the row, not in it.
        _ => String::new(),
    }
}

/// A value that names its own type.
fn nested(value: &Value) -> String {
    match value["type"].as_str() {
        Some("title") => text::plain(&value["title"]),
        // One in another would not end.
        Some("formula" | "rollup") | None => String::new(),
        Some(kind) => self::value(kind, &value[kind]),
    }
}

fn named(value: &Value) -> String {
    value["name"].as_str().unwrap_or_default().to_owned()
}

fn joined(values: &Value, one: fn(&Value) -> String) -> String {
    let values = values.as_array().into_iter().flatten().map(one);
    let values = values.filter(|value| !value.is_empty());
    values.collect::<Vec<_>>().join(", ")
}

fn date(value: &Value) -> String {
    let start = value["start"].as_str().unwrap_or_default();
    match value["end"].as_str() {
        Some(end) => format!("{start} – {end}"),
        None => start.to_owned(),
    }
}

fn unique_id(value: &Value) -> String {
    let Some(number) = value["number"].as_u64() else {
        return String::new();
    };
    match value["prefix"].as_str() {
        Some(prefix) => format!("{prefix}-{number}"),
        None => number.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    /// After the reference of Notion's API, “page properties”.
    #[test]
    fn properties_with_values_are_listed() {
        let properties = json!({
            "Name": { "id": "title", "type": "title", "title": [{ "plain_text": "Row", "type": "text" }] },
            "Notes": { "type": "rich_text", "rich_text": [{ "plain_text": "a\nb", "type": "text" }] },
            "Price": { "type": "number", "number": 2.5 },
            "Empty": { "type": "number", "number": null },
            "Stage": { "type": "status", "status": { "id": "1", "name": "Done", "color": "green" } },
            "Kind": { "type": "select", "select": null },
            "Tags": { "type": "multi_select", "multi_select": [{ "name": "x" }, { "name": "y" }] },
            "Due": { "type": "date", "date": { "start": "2025-01-01", "end": "2025-01-03", "time_zone": null } },
            "Owner": { "type": "people", "people": [{ "object": "user", "id": "1", "name": "Ann" }, { "object": "user", "id": "2" }] },
            "Done": { "type": "checkbox", "checkbox": true },
            "Link": { "type": "url", "url": "https://a.example" },
            "Sum": { "type": "formula", "formula": { "type": "number", "number": 3 } },
            "Late": { "type": "formula", "formula": { "type": "boolean", "boolean": false } },
            "All": { "type": "rollup", "rollup": { "type": "array", "function": "show_original",
                "array": [{ "type": "number", "number": 1 }, { "type": "title", "title": [{ "plain_text": "T" }] },
                    { "type": "rollup", "rollup": { "type": "array", "array": [] } }] } },
            "ID": { "type": "unique_id", "unique_id": { "prefix": "TASK", "number": 7 } },
            "Files": { "type": "files", "files": [{ "name": "a.pdf", "type": "file", "file": { "url": "https://s3/x?sig" } }] },
            "Rel": { "type": "relation", "relation": [{ "id": "1" }] },
            "Edited": { "type": "last_edited_time", "last_edited_time": "2025-01-01T00:00:00.000Z" },
            "New": { "type": "hologram", "hologram": { "name": "?" } },
            "Odd": 7
        });
        assert_eq!(title(&properties), "Row");
        let expected = "- **Notes:** a b\n- **Price:** 2.5\n- **Stage:** Done\n- **Tags:** x, y\n\
                        - **Due:** 2025-01-01 – 2025-01-03\n- **Owner:** Ann\n- **Done:** yes\n- **Link:** https://a.example\n\
                        - **Sum:** 3\n- **Late:** no\n- **All:** 1, T\n- **ID:** TASK-7\n- **Files:** a.pdf\n";
        assert_eq!(list(&properties), expected);
        let found = metadata(Some(&properties));
        assert_eq!(found.tags, ["x", "y"]);
        let expected = json!({
            "Price": 2.5, "Stage": "Done", "Tags": ["x", "y"], "Due": "2025-01-01", "Owner": ["Ann"], "Done": true,
            "Link": "https://a.example", "Sum": "3", "Late": "no", "All": "1, T", "ID": "TASK-7",
            "Edited": "2025-01-01T00:00:00.000Z",
        });
        assert_eq!(json!(found.fields), expected);
        assert_eq!(metadata(None), ItemMetadata::default());
        assert_eq!(title(&json!([])), "");
        assert_eq!(list(&json!(null)), "");
    }
}
