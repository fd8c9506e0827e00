//! Forms for questions to a person. Their stored form is a flat JSON Schema as in MCP's elicitation (2025-11-25), so
//! one shape serves agents, servers and clients.

mod field;
mod formats;
pub mod messages;
mod schema;
mod words;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::LocalizedText;

pub use field::{Choice, Field, Kind, TextFormat};
pub use messages::Forms;

/// Maximum number of fields of a form. Stored forms are read with the same limits, so none of them may ever be lowered.
pub const MAX_FIELDS: usize = 40;
/// Maximum number of choices of a field.
pub const MAX_CHOICES: usize = 100;
/// Maximum length of a field's name, title or description, and of a choice, characters.
pub const WORDS_LIMIT_CHARS: usize = 500;
/// Maximum length of a field's text, independent of its own limit, characters.
pub const TEXT_LIMIT_CHARS: u64 = 20_000;

/// A valid form. One without fields only asks for confirmation.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
pub struct Form {
    fields: Vec<Field>,
}

/// A fault of a form or of its values, as a sentence.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct FormFault {
    /// The name of the field, if it is about one.
    pub field: Option<String>,
    /// The sentence.
    pub message: LocalizedText,
}

impl FormFault {
    fn of_form(message: impl Into<LocalizedText>) -> Self {
        Self {
            field: None,
            message: message.into(),
        }
    }

    fn of_field(name: &str, message: impl Into<LocalizedText>) -> Self {
        Self {
            field: Some(name.to_owned()),
            message: message.into(),
        }
    }
}

impl Form {
    /// A form with these fields.
    ///
    /// # Errors
    /// If there are too many, a name is duplicated, or a field cannot be filled in.
    pub fn new(mut fields: Vec<Field>) -> Result<Self, FormFault> {
        if fields.len() > MAX_FIELDS {
            return Err(FormFault::of_form(format!(
                "A form has at most {MAX_FIELDS} fields."
            )));
        }
        for (number, field) in fields.iter().enumerate() {
            if fields[..number]
                .iter()
                .any(|other| other.name == field.name)
            {
                return Err(FormFault::of_field(
                    &field.name,
                    format!("The field “{}” comes twice.", field.name),
                ));
            }
            field
                .validate()
                .map_err(|message| FormFault::of_field(&field.name, message))?;
        }
        for field in &mut fields {
            // In the form that a log returns: 3 for 3.0.
            field.default = field
                .default
                .take()
                .and_then(|default| field.check(default).ok());
        }
        Ok(Self { fields })
    }

    /// Its fields, in order.
    #[must_use]
    pub fn fields(&self) -> &[Field] {
        &self.fields
    }

    /// Validates values; returns them in the form's order. Missing values get their default; `null` or a blank text
    /// counts as missing.
    ///
    /// # Errors
    /// The first invalid value, or unknown name.
    pub fn check(&self, mut values: Map<String, Value>) -> Result<Map<String, Value>, FormFault> {
        let mut filled = Map::new();
        for field in &self.fields {
            let said = values.remove(&field.name).or_else(|| field.default.clone());
            match said.filter(|said| !is_nothing(said)) {
                Some(said) => {
                    let value = field.check(said);
                    let value =
                        value.map_err(|message| FormFault::of_field(&field.name, message))?;
                    filled.insert(field.name.clone(), value);
                }
                None if field.required => {
                    let message = Forms::FieldEmpty {
                        label: field.label().to_owned(),
                    };
                    return Err(FormFault::of_field(&field.name, message));
                }
                None => {}
            }
        }
        match values.keys().next() {
            Some(unknown) => {
                let unknown: String = unknown.chars().take(WORDS_LIMIT_CHARS).collect();
                let message = Forms::NoSuchField {
                    name: unknown.clone(),
                };
                Err(FormFault::of_field(&unknown, message))
            }
            None => Ok(filled),
        }
    }
}

fn is_nothing(value: &Value) -> bool {
    value.is_null() || value.as_str().is_some_and(|text| text.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(schema: Value) -> Form {
        Form::try_from(schema).unwrap()
    }

    fn trip() -> Form {
        form(
            json!({"type": "object", "required": ["city"], "properties": {
                "city": {"type": "string", "title": "City"},
                "seats": {"type": "integer", "minimum": 1, "maximum": 9, "default": 2},
                "window": {"type": "boolean"},
            }}),
        )
    }

    fn check(values: Value, expected: Result<Value, (Option<&str>, &str)>) {
        let Value::Object(map) = values.clone() else {
            panic!("{values}")
        };
        let found = trip().check(map).map(Value::Object);
        let found = found.map_err(|fault| (fault.field, fault.message.message));
        let expected =
            expected.map_err(|(field, message)| (field.map(str::to_owned), message.to_owned()));
        assert_eq!(found, expected, "{values}");
    }

    #[test]
    fn values_are_validated() {
        check(
            json!({"window": true, "city": "Rome", "seats": 3}),
            Ok(json!({"city": "Rome", "seats": 3, "window": true})),
        );
        check(
            json!({"city": "Rome"}),
            Ok(json!({"city": "Rome", "seats": 2})),
        );
        check(
            json!({"city": "Rome", "seats": null}),
            Ok(json!({"city": "Rome"})),
        );
        check(
            json!({"city": " "}),
            Err((Some("city"), "“City” is required.")),
        );
        check(
            json!({"city": "Rome", "seats": 10}),
            Err((Some("seats"), "“seats” must be a whole number, 1 to 9.")),
        );
        check(
            json!({"city": "Rome", "window": "yes"}),
            Err((Some("window"), "“window” must be yes or no.")),
        );
        check(
            json!({"city": "Rome", "hat": 1}),
            Err((Some("hat"), "The form has no field “hat”.")),
        );
    }

    #[test]
    fn invalid_forms_are_rejected() {
        let field = |name: &str| Field {
            name: name.to_owned(),
            title: None,
            description: None,
            required: true,
            default: None,
            kind: Kind::YesNo,
        };
        assert!(Form::new(vec![field("a"), field("b")]).is_ok());
        assert!(Form::new(vec![field("a"), field("a")]).is_err());
        assert!(Form::new(vec![field("")]).is_err());
        assert!(Form::new((0..=MAX_FIELDS).map(|n| field(&n.to_string())).collect()).is_err());
        let default = Field {
            default: Some(json!("x")),
            ..field("a")
        };
        assert!(Form::new(vec![default]).is_err());
        let none = Field {
            kind: Kind::Integer {
                least: Some(3),
                most: Some(2),
            },
            ..field("a")
        };
        assert!(Form::new(vec![none]).is_err());
    }
}
