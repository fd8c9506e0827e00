//! One field of a server's form: how it is asked for, and what the person's words mean.

use serde_json::{Number, Value};

/// An answer to any field: the whole form is not filled in.
pub(super) const DECLINE: &str = "Decline";
/// An answer to a field that need not be filled in.
const SKIP: &str = "Skip";
const MOST_CHOICES: usize = 100;
const WORDS_LIMIT_CHARS: usize = 500;

/// A field that can be asked for.
#[derive(Debug)]
pub(super) struct Field {
    pub(super) name: String,
    pub(super) required: bool,
    title: String,
    description: String,
    /// What holds where nothing is said, and how a person would write it.
    usual: Option<(String, Value)>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    Text { least: usize, most: usize, format: String },
    Number { is_whole: bool, least: f64, most: f64 },
    YesNo,
    One(Vec<Choice>),
    Several { choices: Vec<Choice>, least: usize, most: usize },
}

/// A value to choose, and what it is called.
#[derive(Debug)]
struct Choice {
    value: String,
    title: String,
}

/// What the person's words mean.
#[derive(Debug, PartialEq)]
pub(super) enum Said {
    Value(Value),
    Nothing,
    Decline,
}

/// Whether the answer is this word.
pub(super) fn is(answer: &str, word: &str) -> bool {
    answer.trim().to_lowercase() == word.to_lowercase()
}

impl Field {
    /// Reads a property of the form's schema; nothing where it is none that a line of text can fill in.
    pub(super) fn read(name: &str, schema: &Value, required: bool) -> Option<Self> {
        let text = |key: &str| {
            let text = schema.get(key).and_then(Value::as_str).unwrap_or_default();
            text.chars().take(WORDS_LIMIT_CHARS).collect::<String>()
        };
        let count = |key: &str| schema.get(key).and_then(Value::as_u64).and_then(|n| usize::try_from(n).ok());
        let number = |key: &str| schema.get(key).and_then(Value::as_f64);
        let kind = match (text("type").as_str(), choices(schema)?) {
            ("string", Some(choices)) => Kind::One(choices),
            ("string", None) => Kind::Text {
                least: count("minLength").unwrap_or(0),
                most: count("maxLength").unwrap_or(usize::MAX),
                format: text("format"),
            },
            ("array", _) => Kind::Several {
                choices: choices(schema.get("items")?)??,
                least: count("minItems").unwrap_or(0),
                most: count("maxItems").unwrap_or(usize::MAX),
            },
            ("boolean", _) => Kind::YesNo,
            (of @ ("integer" | "number"), _) => Kind::Number {
                is_whole: of == "integer",
                least: number("minimum").unwrap_or(f64::NEG_INFINITY),
                most: number("maximum").unwrap_or(f64::INFINITY),
            },
            _ => return None,
        };
        let title = Some(text("title")).filter(|title| !title.is_empty());
        let title = title.unwrap_or_else(|| name.chars().take(WORDS_LIMIT_CHARS).collect());
        let mut field = Self {
            name: name.to_owned(),
            required,
            title,
            description: text("description"),
            usual: None,
            kind,
        };
        field.usual = schema.get("default").and_then(|usual| field.read_usual(usual));
        Some(field)
    }

    /// What is asked for.
    pub(super) fn words(&self) -> String {
        let mut words = self.title.clone();
        for more in [&self.description, &self.kind.hint()] {
            if !more.is_empty() {
                words.push_str(". ");
                words.push_str(more.trim_end_matches('.'));
            }
        }
        if let Some((usual, _)) = self.usual.as_ref().filter(|_| !self.required) {
            words.push_str(". If you skip it: ");
            words.push_str(usual);
        }
        words
    }

    /// Answers to choose from.
    pub(super) fn options(&self) -> Vec<String> {
        let mut options: Vec<String> = match &self.kind {
            Kind::Text { .. } | Kind::Number { .. } => {
                self.usual.iter().map(|(words, _)| words.clone()).collect()
            }
            Kind::YesNo => vec!["Yes".to_owned(), "No".to_owned()],
            Kind::One(choices) | Kind::Several { choices, .. } => {
                choices.iter().map(|choice| choice.title.clone()).collect()
            }
        };
        if !self.required {
            options.push(SKIP.to_owned());
        }
        options.push(DECLINE.to_owned());
        options
    }

    /// What the answer means, or what is wrong with it in a sentence for the person.
    pub(super) fn parse(&self, answer: &str) -> Result<Said, String> {
        let answer = answer.trim();
        let is_choice = |choice: &Choice| is(answer, &choice.title) || is(answer, &choice.value);
        if let Kind::One(choices) = &self.kind
            && let Some(choice) = choices.iter().find(|choice| is_choice(choice))
        {
            return Ok(Said::Value(choice.value.clone().into()));
        }
        if is(answer, DECLINE) {
            return Ok(Said::Decline);
        }
        if !self.required && (answer.is_empty() || is(answer, SKIP)) {
            let usual = self.usual.as_ref().map(|(_, value)| Said::Value(value.clone()));
            return Ok(usual.unwrap_or(Said::Nothing));
        }
        self.kind.parse(answer).map(Said::Value)
    }

    /// The schema's default, where it is an answer that a person could give.
    fn read_usual(&self, value: &Value) -> Option<(String, Value)> {
        let words = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(yes) => if *yes { "Yes" } else { "No" }.to_owned(),
            Value::Array(values) => {
                let values: Option<Vec<&str>> = values.iter().map(Value::as_str).collect();
                values?.join(", ")
            }
            _ => return None,
        };
        match self.parse(&words) {
            Ok(Said::Value(value)) if words.chars().count() <= WORDS_LIMIT_CHARS => Some((words, value)),
            _ => None,
        }
    }
}

impl Kind {
    fn hint(&self) -> String {
        let between = |least: f64, most: f64, what: &str| match (least.is_finite(), most.is_finite()) {
            (true, true) => format!("{what}, {least} to {most}"),
            (true, false) => format!("{what}, at least {least}"),
            (false, true) => format!("{what}, at most {most}"),
            (false, false) => what.to_owned(),
        };
        match self {
            Self::Text { format, .. } => match format.as_str() {
                "email" => "An email address".to_owned(),
                "uri" => "A web address".to_owned(),
                "date" => "A date such as 2026-01-31".to_owned(),
                "date-time" => "A time such as 2026-01-31T12:00:00Z".to_owned(),
                _ => String::new(),
            },
            Self::Number { is_whole: true, least, most } => between(*least, *most, "A whole number"),
            Self::Number { is_whole: false, least, most } => between(*least, *most, "A number"),
            Self::YesNo | Self::One(_) => String::new(),
            Self::Several { .. } => "Several, with commas between them".to_owned(),
        }
    }

    fn parse(&self, answer: &str) -> Result<Value, String> {
        match self {
            Self::Text { least, most, format } => {
                let length = answer.chars().count();
                if length < *least || length > *most || answer.is_empty() {
                    let least = (*least).max(1);
                    return Err(match *most {
                        usize::MAX => format!("That has to be at least {least} characters long."),
                        most => format!("That has to be {least} to {most} characters long."),
                    });
                }
                has_format(answer, format)
                    .then(|| answer.into())
                    .ok_or_else(|| format!("{}, please.", self.hint()))
            }
            Self::Number { is_whole, least, most } => number(answer, *is_whole)
                .filter(|number| number.as_f64().is_some_and(|n| n >= *least && n <= *most))
                .map(Value::Number)
                .ok_or_else(|| format!("{}, please.", self.hint())),
            Self::YesNo => match answer.to_lowercase().as_str() {
                "yes" | "true" | "да" => Ok(true.into()),
                "no" | "false" | "нет" => Ok(false.into()),
                _ => Err("Please answer Yes or No.".to_owned()),
            },
            Self::One(_) => Err("Please choose one of the answers.".to_owned()),
            Self::Several { choices, least, most } => {
                let mut chosen: Vec<Value> = Vec::new();
                for word in answer.split(',').map(str::trim).filter(|word| !word.is_empty()) {
                    let choice =
                        choices.iter().find(|choice| is(word, &choice.title) || is(word, &choice.value));
                    let choice = choice.ok_or("Please choose from the answers, with commas between them.")?;
                    let value = Value::from(choice.value.clone());
                    if !chosen.contains(&value) {
                        chosen.push(value);
                    }
                }
                if chosen.len() < *least || chosen.len() > *most {
                    return Err(format!(
                        "Please choose {least} to {} of the answers.",
                        choices.len().min(*most)
                    ));
                }
                Ok(Value::Array(chosen))
            }
        }
    }
}

fn number(answer: &str, is_whole: bool) -> Option<Number> {
    if is_whole {
        return answer.parse::<i64>().ok().map(Number::from);
    }
    Number::from_f64(answer.replace(',', ".").parse().ok()?)
}

/// Whether a text has the form of what is asked for, as far as that helps a person to see a slip.
fn has_format(text: &str, format: &str) -> bool {
    match format {
        "email" => text.split_once('@').is_some_and(|(name, host)| !name.is_empty() && !host.is_empty()),
        "uri" => text.parse::<reqwest::Url>().is_ok(),
        "date" => is_date(text),
        "date-time" => text.split_once('T').is_some_and(|(date, time)| is_date(date) && time.contains(':')),
        _ => true,
    }
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let digits = |part: &str, count| part.len() == count && part.bytes().all(|byte| byte.is_ascii_digit());
    matches!(parts.as_slice(), [year, month, day] if digits(year, 4) && digits(month, 2) && digits(day, 2))
}

/// The values to choose from: `Some(None)` where there are none, nothing where they cannot be asked for.
#[expect(clippy::option_option, reason = "no choices, and choices that cannot be shown, are two things")]
fn choices(schema: &Value) -> Option<Option<Vec<Choice>>> {
    let choices: Option<Vec<Choice>> = match (schema.get("enum"), schema.get("oneOf").or(schema.get("anyOf")))
    {
        (Some(values), _) => {
            let titles = schema.get("enumNames").and_then(Value::as_array);
            let title = |at: usize| titles.and_then(|titles| titles.get(at)?.as_str());
            let choice = |(at, value): (usize, &Value)| {
                let value = value.as_str()?;
                Some(Choice { value: value.to_owned(), title: title(at).unwrap_or(value).to_owned() })
            };
            values.as_array()?.iter().enumerate().map(choice).collect()
        }
        (None, Some(values)) => {
            let choice = |option: &Value| {
                let value = option.get("const")?.as_str()?;
                let title = option.get("title").and_then(Value::as_str).unwrap_or(value);
                Some(Choice { value: value.to_owned(), title: title.to_owned() })
            };
            values.as_array()?.iter().map(choice).collect()
        }
        (None, None) => return Some(None),
    };
    let choices = choices.filter(|choices| (1..=MOST_CHOICES).contains(&choices.len()))?;
    let is_short = |choice: &Choice| choice.value.len() + choice.title.len() <= WORDS_LIMIT_CHARS;
    choices.iter().all(is_short).then_some(Some(choices))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(schema: Value, answers: &[(&str, Option<Value>)]) {
        let field = Field::read("f", &schema, true).unwrap();
        for (answer, expected) in answers {
            assert_eq!(field.parse(answer).ok(), expected.clone().map(Said::Value), "{schema} {answer}");
        }
    }

    #[test]
    fn answers_become_values() {
        check(
            json!({ "type": "string", "maxLength": 3 }),
            &[(" ab ", Some("ab".into())), ("abcd", None), ("", None)],
        );
        check(json!({ "type": "string", "format": "email" }), &[("a@b", Some("a@b".into())), ("ab", None)]);
        check(
            json!({ "type": "string", "format": "date" }),
            &[("2026-01-31", Some("2026-01-31".into())), ("31.1.", None)],
        );
        check(
            json!({ "type": "string", "format": "uri" }),
            &[("https://a/", Some("https://a/".into())), ("a b", None)],
        );
        check(
            json!({ "type": "integer", "minimum": 1, "maximum": 9 }),
            &[("7", Some(7.into())), ("10", None), ("1.5", None), ("x", None)],
        );
        check(json!({ "type": "number" }), &[("1,5", Some(json!(1.5))), ("NaN", None), ("inf", None)]);
        check(
            json!({ "type": "boolean" }),
            &[("yes", Some(true.into())), ("Нет", Some(false.into())), ("?", None)],
        );
        check(
            json!({ "type": "string", "enum": ["a", "b"], "enumNames": ["Ant", "Bee"] }),
            &[("bee", Some("b".into())), ("a", Some("a".into())), ("c", None)],
        );
        check(
            json!({ "type": "string", "oneOf": [{ "const": "decline", "title": "Decline" }] }),
            &[("Decline", Some("decline".into()))],
        );
        let several = json!({ "type": "array", "minItems": 1, "maxItems": 2, "items": { "anyOf": [
            { "const": "1", "title": "One" }, { "const": "2", "title": "Two" }, { "const": "3", "title": "Three" },
        ] } });
        check(several, &[("one, 3, one", Some(json!(["1", "3"]))), ("one,two,three", None), ("four", None)]);
    }

    #[test]
    fn what_need_not_be_said_may_be_skipped_and_all_declined() {
        let field =
            Field::read("age", &json!({ "type": "integer", "default": 42, "minimum": 1 }), false).unwrap();
        assert_eq!(field.words(), "age. A whole number, at least 1. If you skip it: 42");
        assert_eq!(field.options(), ["42", "Skip", "Decline"]);
        assert_eq!(field.parse("skip"), Ok(Said::Value(42.into())));
        assert_eq!(field.parse(" decline"), Ok(Said::Decline));
        let required = Field::read("age", &json!({ "type": "integer", "default": "x" }), true).unwrap();
        assert_eq!(required.options(), ["Decline"]);
        assert!(required.parse("Skip").is_err());
    }

    #[test]
    fn what_is_skipped_has_its_default_where_that_is_an_answer() {
        let several = json!({ "type": "array", "items": { "type": "string", "enum": ["a", "b"] } });
        for (schema, default, expected) in [
            (json!({ "type": "string" }), json!("John"), Some(json!("John"))),
            (json!({ "type": "number" }), json!(95.5), Some(json!(95.5))),
            (json!({ "type": "boolean" }), json!(true), Some(json!(true))),
            (json!({ "type": "string", "enum": ["a", "b"] }), json!("b"), Some(json!("b"))),
            (several, json!(["b", "a"]), Some(json!(["b", "a"]))),
            (json!({ "type": "string", "maxLength": 2 }), json!("John"), None),
            (json!({ "type": "string", "enum": ["a"] }), json!("c"), None),
            (json!({ "type": "boolean" }), json!(1), None),
            (json!({ "type": "string" }), json!({}), None),
            (json!({ "type": "string" }), json!(null), None),
        ] {
            let mut schema = schema;
            schema["default"] = default;
            let said = Field::read("f", &schema, false).unwrap().parse("Skip");
            assert_eq!(said, Ok(expected.map_or(Said::Nothing, Said::Value)), "{schema}");
        }
    }

    #[test]
    fn what_a_line_cannot_fill_in_is_not_asked() {
        for schema in [
            json!({ "type": "object" }),
            json!({ "type": "array", "items": { "type": "string" } }),
            json!({ "type": "string", "enum": [1] }),
            json!({ "type": "string", "enum": [] }),
            json!({ "type": ["string", "null"] }),
            json!(7),
        ] {
            assert!(Field::read("f", &schema, true).is_none(), "{schema}");
        }
    }
}
