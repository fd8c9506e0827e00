//! What a tool's schema says of its arguments, for the people who judge a call.

use domain::event::ArgumentInfo;
use serde_json::Value;

/// Maximum numbers of arguments, and of choices of one.
const MAX_ARGUMENTS: usize = 50;
const MAX_CHOICES: usize = 50;
/// Maximum length of a text, characters; a longer one is cut. A longer choice makes the choices unusable.
const MAX_CHARS: usize = 200;

/// The titles, descriptions and choices in the schema of a tool's arguments.
pub(super) fn argument_info(schema: &Value) -> Vec<ArgumentInfo> {
    let properties = schema["properties"].as_object().into_iter().flatten();
    let said = properties.filter_map(|(name, property)| {
        let text = |key: &str| {
            let text = property[key].as_str()?.trim();
            (!text.is_empty()).then(|| text.chars().take(MAX_CHARS).collect())
        };
        let info = ArgumentInfo {
            name: name.clone(),
            title: text("title"),
            description: text("description"),
            choices: choices(&property["enum"]),
        };
        let is_empty =
            info.title.is_none() && info.description.is_none() && info.choices.is_empty();
        (!is_empty).then_some(info)
    });
    said.take(MAX_ARGUMENTS).collect()
}

/// The values of an `enum` of texts; none if one of them is something else.
fn choices(values: &Value) -> Vec<String> {
    let values = values.as_array().map_or(&[][..], Vec::as_slice);
    let is_choice = |value: &Value| {
        let text = value.as_str();
        text.is_some_and(|text| text.chars().count() <= MAX_CHARS)
    };
    if values.len() > MAX_CHOICES || !values.iter().all(is_choice) {
        return Vec::new();
    }
    let texts = values.iter().filter_map(Value::as_str);
    texts.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn only_what_people_can_use_is_taken() {
        let info = argument_info(&json!({"type": "object", "properties": {
            "title": {"type": "string", "title": "Title of the ticket"},
            "priority": {"enum": ["low", "high"], "description": "  "},
            "level": {"enum": [1, 2]},
            "body": {"description": "x".repeat(1000)},
            "nothing": true,
            "odd": {"title": 7, "enum": "low"},
        }}));
        let names: Vec<&str> = info.iter().map(|info| info.name.as_str()).collect();
        assert_eq!(names, ["title", "priority", "body"]);
        assert_eq!(info[0].title.as_deref(), Some("Title of the ticket"));
        assert_eq!(info[1].choices, ["low", "high"]);
        assert_eq!(
            info[2].description.as_ref().map(String::len),
            Some(MAX_CHARS)
        );
        assert!(argument_info(&json!(null)).is_empty());
    }
}
