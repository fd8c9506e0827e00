//! Tags and metadata of documents as JSON: values of files and sources are cut to what is stored, those of people are
//! checked.

use std::collections::BTreeMap;

use jiff::{Timestamp, civil, tz::TimeZone};
use serde_json::{Map, Value};
use store::{DocumentMetadata, MetadataLimits, MetadataValue};

use crate::{error::ApiError, messages};

/// Maximum number of tags of a document.
pub(crate) const MAX_TAGS: usize = 50;
/// Maximum length of a tag, characters.
pub(crate) const TAG_CHARS: usize = 60;
/// Maximum number of keys of a document.
pub(crate) const MAX_KEYS: usize = 50;
/// Maximum length of a key, characters.
pub(crate) const KEY_CHARS: usize = 60;
/// Maximum length of a text, characters.
pub(crate) const VALUE_CHARS: usize = 300;
/// Maximum number of values of a key.
pub(crate) const MAX_VALUES: usize = 20;
/// What separates tags in one text.
pub(crate) const TAG_SEPARATORS: [char; 4] = [',', ';', '\n', '，'];

/// The limits of what people set for a document.
pub(crate) const METADATA_LIMITS: MetadataLimits = MetadataLimits {
    tags: MAX_TAGS,
    fields: MAX_KEYS,
};

/// A tag without `#` and double spaces; `None` if it is none.
pub(crate) fn tag_of(text: &str) -> Option<String> {
    let text = text.trim().trim_start_matches('#');
    let tag = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_tag = (1..=TAG_CHARS).contains(&tag.chars().count())
        && !tag.contains(TAG_SEPARATORS)
        && !tag.chars().any(char::is_control)
        && tag.chars().any(char::is_alphanumeric);
    is_tag.then_some(tag)
}

/// A key in lower case; `None` if it is none.
pub(crate) fn key_of(text: &str) -> Option<String> {
    let lower = text.to_lowercase();
    let key = lower.split_whitespace().collect::<Vec<_>>().join(" ");
    let is_key = (1..=KEY_CHARS).contains(&key.chars().count())
        && key.starts_with(char::is_alphanumeric)
        && key
            .chars()
            .all(|char| char.is_alphanumeric() || matches!(char, ' ' | '_' | '-' | '.'))
        && !matches!(key.as_str(), "tags" | "tag");
    is_key.then_some(key)
}

/// A single value: texts that are dates become dates. `None` if it is empty, nested or too long.
fn value_of(value: &Value) -> Option<MetadataValue> {
    match value {
        Value::Bool(is) => Some(MetadataValue::Boolean(*is)),
        Value::Number(number) => {
            let number = number.as_f64().filter(|number| number.is_finite())?;
            Some(MetadataValue::Number(number))
        }
        Value::String(text) => {
            let text = text.trim();
            let is_text = !text.is_empty()
                && text.chars().count() <= VALUE_CHARS
                && !text.contains(['\0', '\u{fffd}']);
            is_text.then(|| match date_ms(text) {
                Some(ms) => MetadataValue::Date {
                    shown: text.to_owned(),
                    ms,
                },
                None => MetadataValue::Text(text.to_owned()),
            })
        }
        Value::Null | Value::Array(_) | Value::Object(_) => None,
    }
}

/// The beginning of a day, `2026-05-31`, or a time of RFC 3339 whose offset is UTC if it is missing.
fn date_ms(text: &str) -> Option<i64> {
    let is_date = text.len() >= 10
        && text.is_ascii()
        && text.as_bytes()[4] == b'-'
        && text.as_bytes()[7] == b'-';
    if !is_date {
        return None;
    }
    if let Ok(at) = text.parse::<Timestamp>() {
        return Some(at.as_millisecond());
    }
    let at: civil::DateTime = match text.len() {
        10 => text.parse::<civil::Date>().ok()?.into(),
        _ => text.parse().ok()?,
    };
    let at = at.to_zoned(TimeZone::UTC).ok()?;
    Some(at.timestamp().as_millisecond())
}

/// The values of a key, which may be a list; `None` if one is invalid.
fn values_of(value: &Value) -> Option<Vec<MetadataValue>> {
    match value {
        Value::Array(all) if all.len() <= MAX_VALUES => all.iter().map(value_of).collect(),
        Value::Array(_) => None,
        one => Some(vec![value_of(one)?]),
    }
}

/// What a file or a source says, without what is invalid, and cut to the limits.
pub(crate) fn cleaned(tags: &[String], fields: &BTreeMap<String, Value>) -> DocumentMetadata {
    let mut cleaned = DocumentMetadata::default();
    for tag in tags.iter().filter_map(|tag| tag_of(tag)).take(MAX_TAGS) {
        if !cleaned.tags.contains(&tag) {
            cleaned.tags.push(tag);
        }
    }
    for (key, value) in fields {
        if cleaned.fields.len() == MAX_KEYS {
            break;
        }
        let values: Vec<MetadataValue> = match value {
            Value::Array(all) => all.iter().filter_map(cut_value).take(MAX_VALUES).collect(),
            one => cut_value(one).into_iter().collect(),
        };
        if let Some(key) = key_of(key)
            && !values.is_empty()
        {
            cleaned.fields.entry(key).or_insert(values);
        }
    }
    cleaned
}

/// A value whose text is cut.
fn cut_value(value: &Value) -> Option<MetadataValue> {
    let Value::String(text) = value else {
        return value_of(value);
    };
    let text = text.replace(['\0', '\u{fffd}'], " ");
    let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
    let text: String = text.chars().take(VALUE_CHARS).collect();
    value_of(&Value::String(text))
}

/// Checks tags of people.
///
/// # Errors
/// 400 if one is invalid or there are too many.
pub(crate) fn checked_tags(field: &str, tags: &[String]) -> Result<Vec<String>, ApiError> {
    let checked: Option<Vec<String>> = tags.iter().map(|tag| tag_of(tag)).collect();
    checked
        .filter(|tags| tags.len() <= MAX_TAGS)
        .ok_or_else(|| {
            let message = messages::Knowledge::BadTags {
                count: MAX_TAGS as u64,
                limit: TAG_CHARS as u64,
            };
            ApiError::invalid(message).with_field(Some(field))
        })
}

/// Checks metadata of people; `null` and empty lists are no values.
///
/// # Errors
/// 400 if a key or a value is invalid or there are too many.
pub(crate) fn checked_fields(
    metadata: &Map<String, Value>,
) -> Result<BTreeMap<String, Vec<MetadataValue>>, ApiError> {
    if metadata.len() > MAX_KEYS {
        return Err(too_much_metadata());
    }
    let mut checked = BTreeMap::new();
    for (name, value) in metadata {
        let key = checked_key(name)?;
        let values = match value {
            Value::Null => Vec::new(),
            value => values_of(value).ok_or_else(|| {
                let message = messages::Knowledge::BadMetadataValue {
                    key: key.clone(),
                    limit: VALUE_CHARS as u64,
                    count: MAX_VALUES as u64,
                };
                ApiError::invalid(message).with_field(Some("metadata"))
            })?,
        };
        checked.insert(key, values);
    }
    Ok(checked)
}

/// Checks a key of people.
///
/// # Errors
/// 400 if it is invalid.
pub(crate) fn checked_key(name: &str) -> Result<String, ApiError> {
    key_of(name).ok_or_else(|| {
        let message = messages::Knowledge::BadMetadataKey {
            key: name.chars().take(KEY_CHARS).collect(),
            limit: KEY_CHARS as u64,
        };
        ApiError::invalid(message).with_field(Some("metadata"))
    })
}

pub(crate) fn too_much_metadata() -> ApiError {
    ApiError::invalid(messages::Knowledge::TooMuchMetadata {
        tags: MAX_TAGS as u64,
        keys: MAX_KEYS as u64,
    })
}

/// Tags and metadata as JSON: one value, or a list of several.
pub(crate) fn fields_view(fields: &BTreeMap<String, Vec<MetadataValue>>) -> Map<String, Value> {
    let view = |value: &MetadataValue| match value {
        MetadataValue::Text(text) => Value::from(text.as_str()),
        MetadataValue::Number(number) => number_view(*number),
        MetadataValue::Date { shown, .. } => Value::from(shown.as_str()),
        MetadataValue::Boolean(is) => Value::from(*is),
    };
    let all = fields.iter().map(|(key, values)| {
        let value = match &values[..] {
            [one] => view(one),
            several => several.iter().map(view).collect(),
        };
        (key.clone(), value)
    });
    all.collect()
}

/// Whole numbers without a fraction.
#[expect(
    clippy::cast_possible_truncation,
    reason = "only numbers that are exact are converted"
)]
fn number_view(number: f64) -> Value {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if number.fract() == 0.0 && number.abs() < EXACT {
        Value::from(number as i64)
    } else {
        Value::from(number)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn tags_are_short_words() {
        for (text, expected) in [
            ("HR", Some("HR")),
            (" #to  do ", Some("to do")),
            ("проект", Some("проект")),
            ("c++", Some("c++")),
            ("", None),
            ("#", None),
            ("a,b", None),
            ("a\u{7}b", None),
            ("---", None),
            (&"x".repeat(61), None),
        ] {
            assert_eq!(tag_of(text).as_deref(), expected, "{text}");
        }
    }

    #[test]
    fn keys_are_in_lower_case() {
        for (text, expected) in [
            ("Author", Some("author")),
            ("  Due  Date", Some("due date")),
            ("AB.c-d_e", Some("ab.c-d_e")),
            ("Größe", Some("größe")),
            ("tags", None),
            ("$where", None),
            ("a/b", None),
            ("", None),
            (&"x".repeat(61), None),
        ] {
            assert_eq!(key_of(text).as_deref(), expected, "{text}");
        }
    }

    #[track_caller]
    fn check_value(value: Value, expected: Option<MetadataValue>) {
        assert_eq!(value_of(&value), expected, "{value}");
        // As JSON, it is the same again.
        if let Some(found) = expected {
            let fields = [("k".to_owned(), vec![found])].into();
            let view = fields_view(&fields);
            assert_eq!(values_of(&view["k"]), Some(fields["k"].clone()));
        }
    }

    #[test]
    fn values_have_kinds() {
        let text = |text: &str| Some(MetadataValue::Text(text.to_owned()));
        let date = |shown: &str, ms| {
            let shown = shown.to_owned();
            Some(MetadataValue::Date { shown, ms })
        };
        check_value(json!(" Ada "), text("Ada"));
        check_value(json!("2026"), text("2026"));
        check_value(json!("2026-13-01"), text("2026-13-01"));
        check_value(json!("2026-5-1 or so"), text("2026-5-1 or so"));
        check_value(json!("1970-01-02"), date("1970-01-02", 86_400_000));
        check_value(
            json!("1970-01-01T01:00:00+01:00"),
            date("1970-01-01T01:00:00+01:00", 0),
        );
        check_value(
            json!("1970-01-01T00:00:01"),
            date("1970-01-01T00:00:01", 1000),
        );
        check_value(json!("1912-04-15"), date("1912-04-15", -1_821_312_000_000));
        check_value(json!(3), Some(MetadataValue::Number(3.0)));
        check_value(json!(-0.5), Some(MetadataValue::Number(-0.5)));
        check_value(json!(true), Some(MetadataValue::Boolean(true)));
        for wrong in [json!(""), json!(null), json!({}), json!("x".repeat(301))] {
            check_value(wrong, None);
        }
        assert_eq!(
            fields_view(&[("k".to_owned(), vec![MetadataValue::Number(3.0)])].into())["k"],
            json!(3)
        );
    }

    #[test]
    fn what_files_say_is_cut() {
        let fields = [
            ("Author".to_owned(), json!("x".repeat(400))),
            ("bad/key".to_owned(), json!("x")),
            ("none".to_owned(), json!([])),
            ("two".to_owned(), json!(["a\nb", {"no": 1}, 2])),
        ];
        let tags = ["a", "#a", "b,c", "d"].map(str::to_owned);
        let found = cleaned(&tags, &fields.into());
        assert_eq!(found.tags, ["a", "d"]);
        assert_eq!(found.fields.keys().collect::<Vec<_>>(), ["author", "two"]);
        assert_eq!(found.fields["author"][0].shown().len(), VALUE_CHARS);
        assert_eq!(
            found.fields["two"],
            [
                MetadataValue::Text("a b".to_owned()),
                MetadataValue::Number(2.0)
            ]
        );
    }

    #[test]
    fn what_people_set_is_checked() {
        let check = |metadata: Value| checked_fields(metadata.as_object().unwrap());
        assert!(check(json!({"A": null})).unwrap()["a"].is_empty());
        assert_eq!(check(json!({"a": ["x", 1]})).unwrap()["a"].len(), 2);
        for wrong in [
            json!({"a/b": 1}),
            json!({"a": {"b": 1}}),
            json!({"a": ["x", null]}),
            json!({"a": vec![1; 21]}),
        ] {
            assert!(check(wrong.clone()).is_err(), "{wrong}");
        }
        assert!(checked_tags("tags", &["a".to_owned(), "b,c".to_owned()]).is_err());
    }
}
