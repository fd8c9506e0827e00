//! The list of models that a server says it has.

use serde_json::Value;

/// Reads OpenAI's `{"data":[{"id"}]}`, or what others made of it. `None` where it is no list of models.
#[must_use]
pub fn decode(body: &str) -> Option<Vec<String>> {
    let value: Value = serde_json::from_str(body).ok()?;
    let list = value.get("data").or_else(|| value.get("models")).unwrap_or(&value).as_array()?;
    let name = |model: &Value| match model {
        Value::String(name) => Some(name.clone()),
        model => ["id", "name", "model"].iter().find_map(|key| model.get(*key)?.as_str()).map(str::to_owned),
    };
    Some(list.iter().filter_map(name).filter(|name| !name.is_empty()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_every_kind_of_list() {
        for body in [
            r#"{"object":"list","data":[{"id":"a"},{"id":"b","object":"model"}]}"#,
            r#"{"models":[{"name":"a"},{"model":"b"}]}"#,
            r#"[{"id":"a"},"b",{"id":""},7]"#,
        ] {
            assert_eq!(decode(body), Some(vec!["a".to_owned(), "b".to_owned()]), "{body}");
        }
        assert_eq!(decode(r#"{"data":[]}"#), Some(vec![]));
        for body in ["", "{}", "Ollama is running", r#"{"data":{}}"#] {
            assert_eq!(decode(body), None, "{body}");
        }
    }
}
