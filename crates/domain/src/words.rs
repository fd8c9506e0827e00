//! Texts for people: a message, and its code if it has one.

use std::{borrow::Cow, fmt};

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::{Deserialize, Deserializer, Serialize};

use crate::{Sentence, refusal};

/// A coded message of any list. Codes are unique across the lists.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(untagged)]
#[expect(missing_docs, reason = "each is a list of its own")]
pub enum Coded {
    #[error(transparent)]
    Sentence(#[from] Sentence),
    #[error(transparent)]
    Request(#[from] refusal::Request),
    #[error(transparent)]
    Accounts(#[from] refusal::Accounts),
    #[error(transparent)]
    Chats(#[from] refusal::Chats),
    #[error(transparent)]
    Files(#[from] refusal::Files),
    #[error(transparent)]
    Forms(#[from] refusal::Forms),
    #[error(transparent)]
    Imports(#[from] refusal::Imports),
    #[error(transparent)]
    Knowledge(#[from] refusal::Knowledge),
    #[error(transparent)]
    Settings(#[from] refusal::Settings),
    #[error(transparent)]
    Tools(#[from] refusal::Tools),
}

impl JsonSchema for Coded {
    fn schema_name() -> Cow<'static, str> {
        "Coded".into()
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
pub struct Words {
    /// In English, or as another program worded it.
    pub message: String,
    /// The same message as a code, for translation.
    #[serde(
        default,
        deserialize_with = "known",
        skip_serializing_if = "Option::is_none"
    )]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub sentence: Option<Box<Coded>>,
}

impl Words {
    /// Reads the output of [`Words::to_column`], or a text stored before there were codes.
    #[must_use]
    pub fn of_column(text: String) -> Self {
        let words = if text.starts_with('{') {
            serde_json::from_str(&text).ok()
        } else {
            None
        };
        words.unwrap_or_else(|| text.into())
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
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl<S: Into<Coded>> From<S> for Words {
    fn from(sentence: S) -> Self {
        let sentence = sentence.into();
        Self {
            message: sentence.to_string(),
            sentence: Some(Box::new(sentence)),
        }
    }
}

impl From<String> for Words {
    fn from(message: String) -> Self {
        Self {
            message,
            sentence: None,
        }
    }
}

impl From<&str> for Words {
    fn from(message: &str) -> Self {
        message.to_owned().into()
    }
}

/// A coded message if it is known: another version of the program may have written it, then the plain text is used.
pub(crate) fn known<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<Box<Coded>>, D::Error> {
    let value = Option::<serde_json::Value>::deserialize(deserializer)?;
    Ok(value.and_then(|value| serde_json::from_value(value).ok()))
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Words {
        serde_json::from_value(value).unwrap()
    }

    #[test]
    fn messages_are_stored_with_their_code() {
        let who = Words::from(Sentence::TheRun);
        let words = Words::from(Sentence::LimitTokens {
            who,
            count: 100,
            limit: 90,
        });
        let expected = json!({
            "message": "The run used 100 tokens and its limit is 90. It ends with what it has.",
            "sentence": {"code": "limit_tokens", "params": {
                "who": {"message": "The run", "sentence": {"code": "the_run"}}, "count": 100, "limit": 90,
            }},
        });
        assert_eq!(serde_json::to_value(&words).unwrap(), expected);
        assert_eq!(read(expected), words);
        assert_eq!(Words::of_column(words.to_column()), words);
    }

    #[test]
    fn refusals_are_read_by_code() {
        let why = refusal::Settings::NoSuchVariable {
            name: "MOOD".to_owned(),
        }
        .into();
        for words in [
            Words::from(refusal::Chats::NoSuchRun),
            refusal::Request::OutOfRange {
                field: "depth".to_owned(),
                least: 0,
                most: 5,
            }
            .into(),
            refusal::Settings::WrongTemplate {
                line: 1,
                column: 2,
                why,
            }
            .into(),
        ] {
            assert_eq!(read(serde_json::to_value(&words).unwrap()), words);
        }
        let read = read(json!({"message": "No.", "sentence": {"code": "no_such_run"}}));
        assert_eq!(
            read.sentence.as_deref(),
            Some(&Coded::Chats(refusal::Chats::NoSuchRun))
        );
    }

    #[test]
    fn unknown_codes_fall_back_to_the_message() {
        let plain = Words::from("No.");
        assert_eq!(read(json!({"message": "No."})), plain);
        assert_eq!(
            read(json!({"message": "No.", "sentence": {"code": "of_tomorrow"}})),
            plain
        );
        assert_eq!(
            read(json!({"message": "No.", "sentence": {"code": "limit_steps"}})),
            plain
        );
        assert_eq!(read(json!({"message": "No.", "sentence": 7})), plain);
        for text in ["No.", "", "{", "{}", r#"{"message":"No."}"#] {
            let words = Words::from(text);
            assert_eq!(Words::of_column(words.to_column()), words, "{text}");
        }
        for text in ["No.", "{", "{}"] {
            assert_eq!(
                Words::of_column(text.to_owned()),
                Words::from(text),
                "kept before there were codes"
            );
        }
    }
}
