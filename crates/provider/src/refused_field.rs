//! Identifies the field that a server refuses, from
//! `{"error":{"code":"unsupported_parameter","param":"temperature",…}}` or from the message, so that the request can be
//! repeated without it.

use domain::Parameter;
use serde_json::{Map, Value};

/// A field of a request that can be left out.
#[derive(Debug, PartialEq, Eq)]
pub struct OptionalField {
    /// Its path.
    pub path: &'static [&'static str],
    /// The names that servers use for it.
    names: &'static [&'static str],
    /// The parameter, if it is one that people set.
    pub parameter: Option<Parameter>,
}

/// Phrases that refuse a field, in lower case.
const REFUSALS: [&str; 17] = [
    "unsupported",
    "not support",
    "doesn't support",
    "only supported",
    "not permitted",
    "not allowed",
    "not valid",
    "invalid",
    "unrecognized",
    "unknown",
    "unexpected",
    "extraneous",
    "extra inputs",
    "deprecated",
    "cannot both be",
    "cannot be used",
    "may only be set",
];

impl OptionalField {
    pub(crate) const fn new(
        path: &'static [&'static str],
        names: &'static [&'static str],
        parameter: Option<Parameter>,
    ) -> Self {
        Self {
            path,
            names,
            parameter,
        }
    }

    /// The JSON of a request without it; `None` if it has none.
    #[must_use]
    pub fn removed_from(&self, body: &[u8]) -> Option<Vec<u8>> {
        let mut fields: Map<String, Value> = serde_json::from_slice(body).ok()?;
        remove(&mut fields, self.path)?;
        serde_json::to_vec(&fields).ok()
    }

    fn is_in(&self, body: &Value) -> bool {
        self.path
            .iter()
            .try_fold(body, |value, name| value.get(name))
            .is_some()
    }
}

/// The field of the request `body` that the server's answer (`status`, `error_body`) refuses; `None` if it names none
/// of `fields`, in which nested fields precede their parents.
#[must_use]
pub fn refused_field(
    fields: &'static [OptionalField],
    body: &[u8],
    status: u16,
    error_body: &str,
) -> Option<&'static OptionalField> {
    if !matches!(status, 400 | 422) {
        return None;
    }
    let said = Said::of(error_body);
    let body: Value = serde_json::from_slice(body).ok()?;
    fields
        .iter()
        .filter(|field| field.is_in(&body))
        .find(|field| said.is_about(field))
}

/// A server's error.
struct Said {
    /// The field it names; may be empty.
    param: String,
    message: String,
}

impl Said {
    fn of(error_body: &str) -> Self {
        let value: Value = serde_json::from_str(error_body).unwrap_or_else(|_| error_body.into());
        let error = value
            .get("error")
            .filter(|error| !error.is_null())
            .unwrap_or(&value);
        let text = |name: &str| error.get(name).and_then(Value::as_str).map(str::to_owned);
        let place = value.pointer("/detail/0/loc").and_then(Value::as_array);
        // Mistral and others with Pydantic: `{"detail": [{"loc": ["body", "seed"], "msg": …}]}`.
        let place = place
            .and_then(|place| place.last()?.as_str())
            .map(str::to_owned);
        let param = text("param").or(place).unwrap_or_default();
        let message = error
            .as_str()
            .map(str::to_owned)
            .or_else(|| text("message"));
        Self {
            param,
            message: message.unwrap_or_else(|| value.to_string()),
        }
    }

    fn is_about(&self, field: &OptionalField) -> bool {
        let is_param = |name: &&str| {
            let rest = self.param.strip_prefix(*name);
            // `include[0]`, `reasoning.effort`.
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with(['[', '.']))
        };
        if field.names.iter().any(is_param) {
            return true;
        }
        let message = self.message.to_lowercase();
        self.param.is_empty()
            && REFUSALS.iter().any(|refusal| message.contains(refusal))
            && field
                .names
                .iter()
                .any(|name| has_word(&message, &name.to_lowercase()))
    }
}

/// Whether `word` is in the text as a whole word, not as a part of a longer name.
fn has_word(text: &str, word: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(word).any(|(at, _)| {
        let before = &text[..at];
        let after = &text[at + word.len()..];
        !before.ends_with(is_part) && !after.starts_with(is_part)
    })
}

/// Removes a field; an object that becomes empty is removed, too.
fn remove(fields: &mut Map<String, Value>, path: &[&str]) -> Option<()> {
    let (name, inner) = path.split_first()?;
    if inner.is_empty() {
        return fields.shift_remove(*name).map(drop);
    }
    let object = fields.get_mut(*name)?.as_object_mut()?;
    remove(object, inner)?;
    if object.is_empty() {
        fields.shift_remove(*name);
    }
    Some(())
}

#[cfg(test)]
mod tests;
