//! YAML front matter of Markdown files, between two `---` lines.

use saphyr::{LoadableYamlNode, Scalar, Yaml};
use serde_json::Value;

use crate::properties::Properties;

/// Maximum length of front matter, bytes. Longer ones are not read.
const MAX_BYTES: usize = 65_536;
/// Maximum number of brackets, and of dashes in a line. Deeper nesting is not read.
const MAX_BRACKETS: usize = 2_000;
const MAX_DASHES: usize = 10;
/// Keys with another name here.
const NAMES: [(&str, &str); 12] = [
    ("authors", "author"),
    ("by", "author"),
    ("creator", "author"),
    ("lang", "language"),
    ("locale", "language"),
    ("updated", "modified"),
    ("lastmod", "modified"),
    ("last_modified_at", "modified"),
    ("last_updated", "modified"),
    ("date_created", "created"),
    ("categories", "category"),
    ("summary", "description"),
];

/// Reads the front matter of a text, if it has any.
pub(super) fn read(text: &str) -> Option<Properties> {
    let head = front_matter(text.trim_start_matches('\u{feff}'))?;
    if head.len() > MAX_BYTES || is_nested(head) {
        return None;
    }
    let all = Yaml::load_from_str(head).ok()?;
    let Some(Yaml::Mapping(fields)) = all.first() else {
        return None;
    };
    let mut properties = Properties::default();
    for (key, value) in fields {
        let Some(Value::String(key)) = scalar(key) else {
            continue;
        };
        let key = key.trim().to_lowercase();
        let values: Vec<Value> = match value {
            Yaml::Sequence(all) => all.iter().filter_map(scalar).collect(),
            one => scalar(one).into_iter().collect(),
        };
        if matches!(key.as_str(), "tags" | "tag" | "keywords" | "keyword") {
            for value in &values {
                add_tags(
                    value,
                    matches!(value, Value::String(_)) && values.len() == 1,
                    &mut properties,
                );
            }
            continue;
        }
        let known = NAMES.iter().find(|(name, _)| *name == key);
        let key = known.map_or(key.as_str(), |(_, name)| name);
        for value in values {
            match value {
                Value::String(text) => properties.add(key, &text),
                value => properties.add_value(key, value),
            }
        }
    }
    Some(properties)
}

/// Tags in one text are separated by commas, or by spaces if all begin with `#`, as in Obsidian.
fn add_tags(value: &Value, is_alone: bool, properties: &mut Properties) {
    let text = match value {
        Value::String(text) => text.clone(),
        value => value.to_string(),
    };
    let words: Vec<&str> = text.split_whitespace().collect();
    if is_alone && words.len() > 1 && words.iter().all(|word| word.starts_with('#')) {
        for word in words {
            properties.add_keywords(word.trim_start_matches('#'));
        }
    } else {
        properties.add_keywords(text.trim_start_matches('#'));
    }
}

/// The text between the first line, `---`, and the next such line, or `...`.
fn front_matter(text: &str) -> Option<&str> {
    let (first, rest) = text.split_once('\n')?;
    if first.trim_end() != "---" {
        return None;
    }
    let mut end = 0;
    for line in rest.split_inclusive('\n') {
        if matches!(line.trim_end(), "---" | "...") {
            return Some(&rest[..end]);
        }
        end += line.len();
        if end > MAX_BYTES {
            return None;
        }
    }
    None
}

/// Whether it may be nested so deeply, or refer to its own parts so often, that reading it takes too much.
fn is_nested(head: &str) -> bool {
    let brackets = head.matches(['[', '{']).count();
    let has_aliases = head.contains('&') && head.split(['*']).count() > 3;
    let has_dashes = head
        .lines()
        .any(|line| line.matches("- ").count() > MAX_DASHES);
    brackets > MAX_BRACKETS || has_aliases || has_dashes
}

/// A value that has no parts.
fn scalar(value: &Yaml<'_>) -> Option<Value> {
    match value {
        Yaml::Value(Scalar::Boolean(is)) => Some((*is).into()),
        Yaml::Value(Scalar::Integer(number)) => Some((*number).into()),
        Yaml::Value(Scalar::FloatingPoint(number)) => {
            serde_json::Number::from_f64(number.into_inner()).map(Value::Number)
        }
        Yaml::Value(Scalar::String(text)) => Some(text.to_string().into()),
        // `{name: Ann, email: …}`, as authors are often written.
        Yaml::Mapping(fields) => fields.iter().find_map(|(key, value)| match scalar(key) {
            Some(Value::String(key)) if key == "name" && !value.is_mapping() => scalar(value),
            _ => None,
        }),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[track_caller]
    fn check(text: &str, tags: &[&str], fields: Value) {
        let found = read(text).unwrap_or_default();
        assert_eq!(found.tags, tags, "{text}");
        assert_eq!(json!(found.fields), fields, "{text}");
    }

    #[test]
    fn front_matter_is_read() {
        check(
            "---\ntitle: \"Tides: a guide\"\nauthors: [Ann, {name: Bob, email: b@x}]\ndate: 2024-05-01\ndraft: true\n\
             version: 1.5\npages: 7\ntags:\n  - Sea\n  - to do\nempty:\nnested:\n  a: 1\nlastmod: 2025-01-01 10:00\n---\n# Text\n",
            &["Sea", "to do"],
            json!({
                "title": "Tides: a guide", "author": ["Ann", "Bob"], "date": "2024-05-01", "draft": true, "version": 1.5,
                "pages": 7, "modified": "2025-01-01 10:00",
            }),
        );
        check("---\r\ntags: a, b\r\n---\r\n", &["a", "b"], json!({}));
        check("---\ntags: '#a #b/c'\n---\n", &["a", "b/c"], json!({}));
        check(
            "\u{feff}---\nkeywords: [2024, x]\n...\n",
            &["2024", "x"],
            json!({}),
        );
        check(
            "---\ndescription: >\n  two\n  lines\n---\n",
            &[],
            json!({"description": "two lines"}),
        );
    }

    #[test]
    fn what_is_none_is_not_read() {
        for text in [
            "",
            "# Title\n---\ntags: a\n---\n",
            "---\ntags: a\n",
            "---\n- a\n---\n",
            "---\na: [b\n---\n",
            "---\na: \"b\n---\n",
        ] {
            check(text, &[], json!({}));
        }
        let deep = format!("---\ntags: {}\n---\n", "[".repeat(30_000));
        check(&deep, &[], json!({}));
        let dashes = format!("---\ntags:\n  {}x\n---\n", "- ".repeat(20_000));
        check(&dashes, &[], json!({}));
        let bomb = "---\na: &a [x, x]\nb: &b [*a, *a]\nc: &c [*b, *b]\ntags: *c\n---\n";
        check(bomb, &[], json!({}));
    }
}
