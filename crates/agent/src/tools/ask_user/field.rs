//! A form field as requested by the model.

use domain::form::{Choice, Field, Kind, TextFormat};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::ToolFailure;

/// Maximum length of a text unless the model sets one, characters.
const SHORT_TEXT_CHARS: u64 = 500;
const LONG_TEXT_CHARS: u64 = 10_000;
const TEXT_LIMIT_CHARS: u64 = domain::form::TEXT_LIMIT_CHARS;

#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(inline)]
pub(super) struct WantedField {
    /// Its key in the answer: letters, digits and underscores.
    #[schemars(length(min = 1, max = 50))]
    name: String,
    /// What the person sees.
    #[serde(default)]
    #[schemars(length(max = 200))]
    label: String,
    r#type: FieldType,
    /// Whether it has to be filled in.
    #[serde(default)]
    required: bool,
    /// A sentence that helps to fill it in.
    #[serde(default)]
    #[schemars(length(max = 500))]
    help: String,
    /// What it holds at first; a value of its type.
    #[serde(default)]
    default: Value,
    /// What there is to choose, for choice and choices.
    #[serde(default)]
    #[schemars(length(max = 50), inner(length(min = 1, max = 200)))]
    options: Vec<String>,
    /// The least number; of a text its characters, of choices how many.
    min: Option<f64>,
    /// The most.
    max: Option<f64>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
#[schemars(inline)]
enum FieldType {
    Text,
    LongText,
    Email,
    Url,
    Date,
    DateTime,
    Number,
    Integer,
    Boolean,
    Choice,
    Choices,
}

impl WantedField {
    /// The field of a form, or the error in it as a sentence for the model.
    pub(super) fn read(self) -> Result<Field, ToolFailure> {
        let is_name = |name: &str| name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        if !is_name(&self.name) {
            return Err(self.fault("has to have a name of letters, digits and underscores"));
        }
        let chooses = matches!(self.r#type, FieldType::Choice | FieldType::Choices);
        if chooses == self.options.is_empty() {
            let fault = if chooses {
                "needs options"
            } else {
                "has options, which only choice and choices have"
            };
            return Err(self.fault(fault));
        }
        let kind = self.kind()?;
        let words = |words: String| Some(words).filter(|words| !words.trim().is_empty());
        let Self {
            name,
            label,
            required,
            help,
            default,
            ..
        } = self;
        let default = Some(default).filter(|default| !default.is_null());
        Ok(Field {
            name,
            title: words(label),
            description: words(help),
            required,
            default,
            kind,
        })
    }

    fn kind(&self) -> Result<Kind, ToolFailure> {
        let format = |format| Kind::Text {
            least: 0,
            most: None,
            format: Some(format),
        };
        let text = |most: u64| -> Result<Kind, ToolFailure> {
            let least = self.count(self.min)?.unwrap_or(0);
            let most = self.count(self.max)?.unwrap_or(most);
            Ok(Kind::Text {
                least,
                most: Some(most.min(TEXT_LIMIT_CHARS)),
                format: None,
            })
        };
        let choices = || {
            self.options.iter().map(|option| Choice {
                value: option.clone(),
                title: option.clone(),
            })
        };
        Ok(match self.r#type {
            FieldType::Text => text(SHORT_TEXT_CHARS)?,
            FieldType::LongText => text(LONG_TEXT_CHARS)?,
            FieldType::Email => format(TextFormat::Email),
            FieldType::Url => format(TextFormat::Uri),
            FieldType::Date => format(TextFormat::Date),
            FieldType::DateTime => format(TextFormat::DateTime),
            FieldType::Number => Kind::Number {
                least: self.min,
                most: self.max,
            },
            FieldType::Integer => Kind::Integer {
                least: self.whole(self.min)?,
                most: self.whole(self.max)?,
            },
            FieldType::Boolean => Kind::YesNo,
            FieldType::Choice => Kind::One(choices().collect()),
            FieldType::Choices => Kind::Several {
                choices: choices().collect(),
                least: self.count(self.min)?.unwrap_or(0),
                most: self.count(self.max)?,
            },
        })
    }

    fn whole(&self, number: Option<f64>) -> Result<Option<i64>, ToolFailure> {
        let Some(number) = number else {
            return Ok(None);
        };
        if number.fract() != 0.0 || number.abs() > 9e15 {
            return Err(self.fault("has to have whole numbers as min and max"));
        }
        #[expect(
            clippy::cast_possible_truncation,
            reason = "it has no fraction and is small enough"
        )]
        Ok(Some(number as i64))
    }

    fn count(&self, number: Option<f64>) -> Result<Option<u64>, ToolFailure> {
        let count = self.whole(number)?.map(u64::try_from).transpose();
        count.map_err(|_| self.fault("has a min or max below zero"))
    }

    fn fault(&self, what: &str) -> ToolFailure {
        ToolFailure(format!("The field “{}” {what}.", self.name))
    }
}

#[cfg(test)]
mod tests {
    use domain::Form;
    use serde_json::json;

    use super::*;

    fn read(field: Value) -> Result<Form, String> {
        let wanted: WantedField = serde_json::from_value(field).unwrap();
        let field = wanted.read().map_err(|fault| fault.0)?;
        Form::new(vec![field]).map_err(|fault| fault.message.message)
    }

    #[test]
    fn each_type_is_one_of_mcp() {
        for (field, expected) in [
            (
                json!({"type": "text", "label": "A", "help": "H", "default": "x"}),
                json!({"type": "string", "title": "A", "description": "H", "maxLength": 500, "default": "x"}),
            ),
            (
                json!({"type": "long_text", "min": 2, "max": 1e9}),
                json!({"type": "string", "minLength": 2, "maxLength": 20000}),
            ),
            (
                json!({"type": "email"}),
                json!({"type": "string", "format": "email"}),
            ),
            (
                json!({"type": "url"}),
                json!({"type": "string", "format": "uri"}),
            ),
            (
                json!({"type": "date"}),
                json!({"type": "string", "format": "date"}),
            ),
            (
                json!({"type": "date_time"}),
                json!({"type": "string", "format": "date-time"}),
            ),
            (
                json!({"type": "number", "min": 0.5}),
                json!({"type": "number", "minimum": 0.5}),
            ),
            (
                json!({"type": "integer", "min": 1, "max": 9.0, "default": 3}),
                json!({"type": "integer", "minimum": 1, "maximum": 9, "default": 3}),
            ),
            (
                json!({"type": "boolean", "default": true}),
                json!({"type": "boolean", "default": true}),
            ),
            (
                json!({"type": "choice", "options": ["x", "y"]}),
                json!({"type": "string", "enum": ["x", "y"]}),
            ),
            (
                json!({"type": "choices", "options": ["x", "y"], "max": 1, "default": ["x"]}),
                json!({"type": "array", "maxItems": 1, "items": {"type": "string", "enum": ["x", "y"]}, "default": ["x"]}),
            ),
        ] {
            let mut field = field;
            field["name"] = "a".into();
            let schema = read(field.clone()).unwrap().schema();
            assert_eq!(
                schema["properties"]["a"].to_string(),
                expected.to_string(),
                "{field}"
            );
        }
    }

    #[test]
    fn errors_of_the_model_are_reported() {
        for (field, fault) in [
            (json!({"name": "a b", "type": "text"}), "a name of letters"),
            (json!({"name": "a", "type": "choice"}), "needs options"),
            (
                json!({"name": "a", "type": "text", "options": ["x"]}),
                "only choice and choices have",
            ),
            (
                json!({"name": "a", "type": "integer", "min": 1.5}),
                "whole numbers",
            ),
            (
                json!({"name": "a", "type": "text", "max": -1}),
                "below zero",
            ),
            (
                json!({"name": "a", "type": "number", "min": 2, "max": 1}),
                "its least is more than its most",
            ),
            (
                json!({"name": "a", "type": "boolean", "default": "yes"}),
                "The default of “a” has to be yes or no.",
            ),
            (
                json!({"name": "a", "type": "choice", "options": ["x", "x"]}),
                "the same choice twice",
            ),
        ] {
            let said = read(field).unwrap_err();
            assert!(said.contains(fault), "{said}");
        }
    }
}
