//! Messages about forms.

use schemars::JsonSchema;
use serde::Serialize;

use crate::{CodedMessage, LocalizedText};

/// Faults in the values of a form, and the formats that were expected.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Forms {
    #[error("“{label}” is required.")]
    FieldEmpty { label: String },
    #[error("“{label}” must be {what}.")]
    FieldUnfit { label: String, what: LocalizedText },
    #[error("The form has no field “{name}”.")]
    NoSuchField { name: String },
    #[error("This question has no form. Send `answer`, a text.")]
    QuestionWithoutForm,
    #[error(
        "The answers to the form could not be read. Send a JSON object, or one line “name: value” for each of: {names}."
    )]
    AnswersUnreadable { names: String },

    // The expected formats, after “must be”.
    #[error("an email address")]
    AnEmailAddress,
    #[error("an address such as https://example.org")]
    AWebAddress,
    #[error("a date such as 2026-01-31")]
    ADate,
    #[error("a time such as 2026-01-31T12:00:00Z")]
    ATime,
    #[error("a text of {size} characters")]
    ATextOf { size: LocalizedText },
    #[error("a whole number")]
    AWholeNumber,
    #[error("a whole number, {size}")]
    AWholeNumberOf { size: LocalizedText },
    #[error("a number")]
    ANumber,
    #[error("a number, {size}")]
    ANumberOf { size: LocalizedText },
    #[error("yes or no")]
    YesOrNo,
    #[error("one of: {names}")]
    OneOf { names: LocalizedText },
    #[error("{size} of: {names}")]
    SomeOf {
        size: LocalizedText,
        names: LocalizedText,
    },
    #[error("{least} to {most}")]
    FromTo { least: String, most: String },
    #[error("at least {least}")]
    AtLeast { least: String },
    #[error("at most {most}")]
    AtMost { most: String },
    #[error("{names} and {more} more")]
    AndMore { names: String, more: u64 },
}

impl CodedMessage for Forms {}
