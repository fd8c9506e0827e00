//! A field of a form, and the validation of its values.

use serde_json::{Number, Value};

use super::messages::Forms;
use super::{MAX_CHOICES, TEXT_LIMIT_CHARS, WORDS_LIMIT_CHARS, formats};
use crate::LocalizedText;

/// Maximum number of choices named in a sentence.
const CHOICES_NAMED: usize = 12;

/// A field of a form.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// The name for programs; unique in its form.
    pub name: String,
    /// The label; the name if absent.
    pub title: Option<String>,
    /// The help text.
    pub description: Option<String>,
    /// Whether a value is required.
    pub required: bool,
    /// The default value.
    pub default: Option<Value>,
    /// The type of its values.
    pub kind: Kind,
}

/// The type of a field's values.
#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    /// Text.
    Text {
        /// Minimum number of characters.
        least: u64,
        /// Maximum number of characters.
        most: Option<u64>,
        /// The format.
        format: Option<TextFormat>,
    },
    /// A whole number.
    Integer {
        /// The minimum.
        least: Option<i64>,
        /// The maximum.
        most: Option<i64>,
    },
    /// A number.
    Number {
        /// The minimum.
        least: Option<f64>,
        /// The maximum.
        most: Option<f64>,
    },
    /// Yes or no.
    YesNo,
    /// One of these choices.
    One(Vec<Choice>),
    /// Several of these choices.
    Several {
        /// The choices.
        choices: Vec<Choice>,
        /// Minimum number of choices.
        least: u64,
        /// Maximum number of choices.
        most: Option<u64>,
    },
}

/// The format of a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TextFormat {
    /// An e-mail address.
    Email,
    /// A web address.
    Uri,
    /// A day.
    Date,
    /// A point in time.
    DateTime,
}

/// A choice with its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// The label.
    pub title: String,
}

impl Field {
    /// The label.
    #[must_use]
    pub fn label(&self) -> &str {
        self.title.as_deref().unwrap_or(&self.name)
    }

    /// The normalized value, or the expected format as a sentence.
    pub(super) fn check(&self, value: Value) -> Result<Value, Forms> {
        let unfit = || Forms::FieldUnfit {
            label: self.label().to_owned(),
            what: self.kind.words(),
        };
        self.kind.check(value).ok_or_else(unfit)
    }

    /// Validates the field itself.
    pub(super) fn validate(&self) -> Result<(), String> {
        let Self {
            name,
            title,
            description,
            default,
            kind,
            ..
        } = self;
        let texts = [Some(name), title.as_ref(), description.as_ref()];
        if name.trim().is_empty() || texts.into_iter().flatten().any(|text| is_long(text)) {
            return Err(format!(
                "A field has a name, and its texts have at most {WORDS_LIMIT_CHARS} characters each."
            ));
        }
        kind.validate()
            .map_err(|fault| format!("The field “{name}” {fault}."))?;
        match default {
            Some(default) if kind.check(default.clone()).is_none() => Err(format!(
                "The default of “{name}” has to be {}.",
                kind.words()
            )),
            _ => Ok(()),
        }
    }
}

impl Kind {
    /// The expected format, to follow “must be” or “has to be”.
    #[must_use]
    pub fn words(&self) -> LocalizedText {
        let says = match self {
            Self::Text {
                format: Some(format),
                ..
            } => formats::words(*format),
            Self::Text { least, most, .. } => {
                let size = between(
                    Some((*least).max(1)),
                    Some(most.unwrap_or(TEXT_LIMIT_CHARS)),
                );
                Forms::ATextOf { size }
            }
            Self::Integer {
                least: None,
                most: None,
            } => Forms::AWholeNumber,
            Self::Integer { least, most } => Forms::AWholeNumberOf {
                size: between(*least, *most),
            },
            Self::Number {
                least: None,
                most: None,
            } => Forms::ANumber,
            Self::Number { least, most } => Forms::ANumberOf {
                size: between(*least, *most),
            },
            Self::YesNo => Forms::YesOrNo,
            Self::One(choices) => Forms::OneOf {
                names: named(choices),
            },
            Self::Several {
                choices,
                least,
                most,
            } => {
                let most = most.unwrap_or(u64::MAX).min(choices.len() as u64);
                Forms::SomeOf {
                    size: between(Some(*least), Some(most)),
                    names: named(choices),
                }
            }
        };
        says.into()
    }

    fn check(&self, value: Value) -> Option<Value> {
        let fits = match (self, &value) {
            (
                Self::Text {
                    least,
                    most,
                    format,
                },
                Value::String(text),
            ) => {
                let length = text.chars().count() as u64;
                let most = most.unwrap_or(TEXT_LIMIT_CHARS).min(TEXT_LIMIT_CHARS);
                (*least..=most).contains(&length)
                    && format.is_none_or(|format| formats::fits(text, format))
            }
            (Self::Integer { least, most }, Value::Number(number)) => {
                let number = whole(number)?;
                let fits = least.is_none_or(|least| number >= least)
                    && most.is_none_or(|most| number <= most);
                return fits.then(|| number.into());
            }
            (Self::Number { least, most }, Value::Number(number)) => {
                let number = number.as_f64()?;
                least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most)
            }
            (Self::YesNo, Value::Bool(_)) => true,
            (Self::One(choices), Value::String(value)) => {
                choices.iter().any(|choice| choice.value == *value)
            }
            (
                Self::Several {
                    choices,
                    least,
                    most,
                },
                Value::Array(values),
            ) => {
                let is_choice =
                    |value: &Value| choices.iter().any(|choice| *value == *choice.value);
                let is_new = |at: usize| !values[..at].contains(&values[at]);
                let count = values.len() as u64;
                let most = most.unwrap_or(u64::MAX);
                // Few enough to compare all pairs once they are known to be choices.
                (*least..=most).contains(&count)
                    && values.len() <= choices.len()
                    && values.iter().all(is_choice)
                    && (0..values.len()).all(is_new)
            }
            _ => false,
        };
        fits.then_some(value)
    }

    fn validate(&self) -> Result<(), &'static str> {
        let (is_empty, choices) = match self {
            Self::Text { least, most, .. } => {
                (is_empty(Some(*least), Some(most.unwrap_or(u64::MAX))), None)
            }
            Self::Integer { least, most } => (is_empty(*least, *most), None),
            Self::Number { least, most } => (is_empty(*least, *most), None),
            Self::YesNo => (false, None),
            Self::One(choices) => (false, Some(choices)),
            Self::Several {
                choices,
                least,
                most,
            } => {
                let most = most.unwrap_or(u64::MAX).min(choices.len() as u64);
                (is_empty(Some(*least), Some(most)), Some(choices))
            }
        };
        if is_empty {
            return Err("takes nothing: its least is more than its most");
        }
        let Some(choices) = choices else {
            return Ok(());
        };
        if choices.is_empty() || choices.len() > MAX_CHOICES {
            return Err("has to have 1 to 100 choices");
        }
        if choices
            .iter()
            .any(|choice| is_long(&choice.value) || is_long(&choice.title))
        {
            return Err("has a choice that is too long");
        }
        let comes_twice = |at: usize| {
            choices[..at]
                .iter()
                .any(|other| other.value == choices[at].value)
        };
        if (0..choices.len()).any(comes_twice) {
            return Err("has the same choice twice");
        }
        Ok(())
    }
}

fn is_long(text: &str) -> bool {
    text.chars().count() > WORDS_LIMIT_CHARS
}

fn is_empty<T: PartialOrd>(least: Option<T>, most: Option<T>) -> bool {
    matches!((least, most), (Some(least), Some(most)) if least > most)
}

/// A number without a fraction: JavaScript writes 3, others 3.0.
fn whole(number: &Number) -> Option<i64> {
    let fraction = number
        .as_f64()
        .filter(|number| number.fract() == 0.0 && number.abs() < 9e15);
    #[expect(
        clippy::cast_possible_truncation,
        reason = "it has no fraction and is small enough"
    )]
    number
        .as_i64()
        .or_else(|| fraction.map(|number| number as i64))
}

fn between<T: PartialEq + std::fmt::Display>(least: Option<T>, most: Option<T>) -> LocalizedText {
    let text = |number: T| number.to_string();
    match (least, most) {
        (Some(least), Some(most)) if least == most => text(least).into(),
        (Some(least), Some(most)) => Forms::FromTo {
            least: text(least),
            most: text(most),
        }
        .into(),
        (Some(least), None) => Forms::AtLeast { least: text(least) }.into(),
        (None, Some(most)) => Forms::AtMost { most: text(most) }.into(),
        (None, None) => "".into(),
    }
}

fn named(choices: &[Choice]) -> LocalizedText {
    let names: Vec<&str> = choices
        .iter()
        .take(CHOICES_NAMED)
        .map(|choice| choice.title.as_str())
        .collect();
    let more = choices.len().saturating_sub(CHOICES_NAMED);
    let names = names.join(", ");
    if more > 0 {
        Forms::AndMore {
            names,
            more: more as u64,
        }
        .into()
    } else {
        names.into()
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(kind: &Kind, good: &[Value], bad: &[Value]) {
        for value in good {
            assert!(kind.check(value.clone()).is_some(), "{kind:?} {value}");
        }
        for value in bad {
            assert!(kind.check(value.clone()).is_none(), "{kind:?} {value}");
        }
    }

    #[test]
    fn values_fit_or_do_not() {
        let text = Kind::Text {
            least: 2,
            most: Some(3),
            format: None,
        };
        check(
            &text,
            &[json!("ab"), json!("ёёё")],
            &[json!("a"), json!("abcd"), json!(12), json!(null)],
        );
        let integer = Kind::Integer {
            least: Some(1),
            most: None,
        };
        check(
            &integer,
            &[json!(1), json!(3.0)],
            &[json!(0), json!(1.5), json!("1"), json!(1e300)],
        );
        assert_eq!(integer.check(json!(3.0)), Some(json!(3)));
        let number = Kind::Number {
            least: None,
            most: Some(1.5),
        };
        check(&number, &[json!(-1), json!(1.5)], &[json!(1.6), json!("1")]);
        check(&Kind::YesNo, &[json!(false)], &[json!("no"), json!(0)]);
        let choice = |value: &str| Choice {
            value: value.into(),
            title: value.to_uppercase(),
        };
        check(
            &Kind::One(vec![choice("a")]),
            &[json!("a")],
            &[json!("A"), json!(["a"])],
        );
        let several = Kind::Several {
            choices: ["a", "b", "c"].map(choice).into(),
            least: 1,
            most: Some(2),
        };
        check(
            &several,
            &[json!(["b", "a"])],
            &[
                json!([]),
                json!(["a", "a"]),
                json!(["a", "b", "c"]),
                json!(["x"]),
                json!("a"),
            ],
        );
        assert_eq!(several.words().message, "1 to 2 of: A, B, C");
    }

    #[test]
    fn long_lists_of_choices_are_cut() {
        let choices = (0..20)
            .map(|n| Choice {
                value: n.to_string(),
                title: n.to_string(),
            })
            .collect();
        assert!(
            Kind::One(choices)
                .words()
                .message
                .ends_with("10, 11 and 8 more")
        );
    }
}
