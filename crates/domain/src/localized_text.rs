//! Texts for people: a message in English, and its code if it has one.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::Value;

/// Messages with stable codes, an enum in the crate that raises them. It is displayed in English and serialized as
/// [`MessageCode`].
pub trait CodedMessage: fmt::Display + Serialize {}

/// A message as a code with its parameters, for translation. Codes and names of parameters are stable, and unique across all
/// crates; texts may change. The web app has Russian for each (`web/src/i18n/ru/sentences.ts`), and its tests fail if one
/// is missing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct MessageCode {
    /// Such as `limit_tokens`.
    pub code: String,
    /// An object; missing where the message has no parameters.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        feature = "typescript",
        ts(optional, type = "Record<string, string | number | LocalizedText>")
    )]
    pub params: Option<Value>,
}

impl MessageCode {
    /// The code of a message; an enum that is serialized otherwise has none.
    fn of(message: &impl CodedMessage) -> Option<Self> {
        let Ok(Value::Object(mut fields)) = serde_json::to_value(message) else {
            return None;
        };
        let Some(Value::String(code)) = fields.remove("code") else {
            return None;
        };
        Some(Self {
            code,
            params: fields.remove("params"),
        })
    }
}

impl JsonSchema for MessageCode {
    fn schema_name() -> Cow<'static, str> {
        "MessageCode".into()
    }

    fn json_schema(_generator: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "description": "A message as a code with its parameters, for translation.",
            "type": "object",
            "properties": {
                "code": { "type": "string" },
                "params": { "type": "object" },
            },
            "required": ["code"],
        })
    }
}

/// A text for people: in English, and as a code if it is one of our messages.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct LocalizedText {
    /// In English, or as another program worded it.
    pub message: String,
    /// The same message as a code, for translation.
    #[serde(
        default,
        deserialize_with = "readable",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub sentence: Option<Box<MessageCode>>,
}

impl LocalizedText {
    /// Reads the output of [`LocalizedText::to_column`], or a text stored before there were codes.
    #[must_use]
    pub fn of_column(text: String) -> Self {
        let read = if text.starts_with('{') {
            serde_json::from_str(&text).ok()
        } else {
            None
        };
        read.unwrap_or_else(|| text.into())
    }

    /// For a text column: as JSON if there is a code, else the text alone.
    #[must_use]
    pub fn to_column(&self) -> String {
        let is_plain = self.sentence.is_none() && !self.message.starts_with('{');
        let json = if is_plain {
            None
        } else {
            serde_json::to_string(self).ok()
        };
        json.unwrap_or_else(|| self.message.clone())
    }

    /// The code, if there is one.
    #[must_use]
    pub fn code(&self) -> Option<&str> {
        self.sentence
            .as_deref()
            .map(|message| message.code.as_str())
    }
}

impl fmt::Display for LocalizedText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<M: CodedMessage> From<M> for LocalizedText {
    fn from(message: M) -> Self {
        Self {
            message: message.to_string(),
            sentence: MessageCode::of(&message).map(Box::new),
        }
    }
}

impl From<String> for LocalizedText {
    fn from(message: String) -> Self {
        Self {
            message,
            sentence: None,
        }
    }
}

impl From<&str> for LocalizedText {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// A code in the form of this version; if another wrote it differently, the English text is used.
pub(crate) fn readable<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<MessageCode>>, D::Error> {
    let value = Option::<Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[derive(Serialize, thiserror::Error, Debug)]
    #[serde(tag = "code", content = "params", rename_all = "snake_case")]
    enum Sample {
        #[error("The run")]
        TheRun,
        #[error("{who} used {count} tokens.")]
        UsedTokens { who: LocalizedText, count: u64 },
    }

    impl CodedMessage for Sample {}

    fn read(value: Value) -> LocalizedText {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn messages_are_stored_with_their_code() {
        let who = LocalizedText::from(Sample::TheRun);
        let text = LocalizedText::from(Sample::UsedTokens { who, count: 100 });
        let expected = json!({
            "message": "The run used 100 tokens.",
            "sentence": {"code": "used_tokens", "params": {
                "who": {"message": "The run", "sentence": {"code": "the_run"}}, "count": 100,
            }},
        });
        assert_eq!(serde_json::to_value(&text).unwrap(), expected);
        assert_eq!(read(expected), text);
        assert_eq!(LocalizedText::of_column(text.to_column()), text);
        assert_eq!(text.code(), Some("used_tokens"));
    }

    #[test]
    fn codes_of_other_versions_are_kept() {
        let newer =
            json!({"message": "No.", "sentence": {"code": "of_tomorrow", "params": {"count": 1}}});
        assert_eq!(serde_json::to_value(read(newer.clone())).unwrap(), newer);
    }

    #[test]
    fn unreadable_codes_fall_back_to_the_message() {
        let plain = LocalizedText::from("No.");
        assert_eq!(read(json!({"message": "No."})), plain);
        for sentence in [json!(7), json!({"params": {}}), json!({"code": 1})] {
            assert_eq!(read(json!({"message": "No.", "sentence": sentence})), plain);
        }
        for text in ["No.", "", "{", "{}", r#"{"message":"No."}"#] {
            let words = LocalizedText::from(text);
            assert_eq!(LocalizedText::of_column(words.to_column()), words, "{text}");
        }
        for text in ["No.", "{", "{}"] {
            assert_eq!(
                LocalizedText::of_column(text.to_owned()),
                LocalizedText::from(text),
                "kept before there were codes"
            );
        }
    }
}
