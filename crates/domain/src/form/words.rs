//! Fills in a form from plain text, for people whose client shows no forms.

use serde_json::{Map, Number, Value};

use super::messages::Forms;
use super::{Field, Form, FormFault, Kind};

impl Form {
    /// The values in a text: a JSON object, or a line “name: value” for each field; with a single field, the whole text
    /// is its value. Labels are accepted for names. Other lines continue the value before.
    ///
    /// # Errors
    /// Unreadable text, or the first invalid value.
    pub fn read_words(&self, text: &str) -> Result<Map<String, Value>, FormFault> {
        let text = text.trim();
        if let Ok(Value::Object(values)) = serde_json::from_str(text)
            && values
                .keys()
                .all(|name| self.fields.iter().any(|field| field.name == *name))
        {
            return self.check(values);
        }
        let said = match self.fields.as_slice() {
            [] if is_yes(text) => Vec::new(),
            [] => return Err(FormFault::of_form("Answer “OK”, or decline.")),
            [only] => match self.lines(text).as_deref() {
                Some([(_, value)]) => vec![(only, value.clone())],
                _ => vec![(only, text.to_owned())],
            },
            _ => self.lines(text).ok_or_else(|| self.unreadable())?,
        };
        let read = said
            .into_iter()
            .map(|(field, words)| (field.name.clone(), field.kind.read(&words)));
        self.check(read.collect())
    }

    /// A description of the form, a line for each field, for clients without forms.
    #[must_use]
    pub fn words(&self) -> String {
        let line = |field: &Field| {
            let mut line = format!("{}: {}", field.label(), field.kind.words());
            if let Some(description) = &field.description {
                line = format!("{line}. {}", description.trim_end_matches('.'));
            }
            if field.required {
                line
            } else {
                format!("{line} (may be left out)")
            }
        };
        self.fields.iter().map(line).collect::<Vec<_>>().join("\n")
    }

    fn lines(&self, text: &str) -> Option<Vec<(&Field, String)>> {
        let mut said: Vec<(&Field, String)> = Vec::new();
        for line in text.lines() {
            let named = line
                .split_once(':')
                .and_then(|(name, value)| Some((self.named(name)?, value)));
            match (named, said.last_mut()) {
                (Some((field, value)), _) => said.push((field, value.trim().to_owned())),
                (None, Some((_, value))) => {
                    value.push('\n');
                    value.push_str(line);
                }
                (None, None) if line.trim().is_empty() => {}
                (None, None) => return None,
            }
        }
        (!said.is_empty()).then_some(said)
    }

    fn named(&self, name: &str) -> Option<&Field> {
        let name = name
            .trim_matches(|c: char| c.is_whitespace() || "-*•\"".contains(c))
            .to_lowercase();
        let is_it = |known: &str| known.to_lowercase() == name;
        let by_name = self.fields.iter().find(|field| is_it(&field.name));
        by_name.or_else(|| self.fields.iter().find(|field| is_it(field.label())))
    }

    fn unreadable(&self) -> FormFault {
        let names: Vec<&str> = self
            .fields
            .iter()
            .map(|field| field.name.as_str())
            .collect();
        FormFault::of_form(Forms::AnswersUnreadable {
            names: names.join(", "),
        })
    }
}

impl Kind {
    /// The value of a text; a text without a valid value stays text, and fails validation.
    fn read(&self, words: &str) -> Value {
        let words = words.trim();
        let value = match self {
            Self::Text { .. } => None,
            Self::Integer { .. } => words.parse::<i64>().ok().map(Value::from),
            Self::Number { .. } => words
                .replace(',', ".")
                .parse()
                .ok()
                .and_then(Number::from_f64)
                .map(Value::Number),
            Self::YesNo => match words.to_lowercase().as_str() {
                "yes" | "true" | "да" => Some(true.into()),
                "no" | "false" | "нет" => Some(false.into()),
                _ => None,
            },
            Self::One(choices) => choices
                .iter()
                .find(|choice| choice.is(words))
                .map(|choice| choice.value.as_str().into()),
            Self::Several { choices, .. } => {
                let each = words
                    .split([',', '\n'])
                    .map(str::trim)
                    .filter(|word| !word.is_empty());
                let chosen = each.map(|word| choices.iter().find(|choice| choice.is(word)));
                let chosen: Option<Vec<&str>> =
                    chosen.map(|choice| Some(choice?.value.as_str())).collect();
                chosen.filter(|chosen| !chosen.is_empty()).map(|chosen| {
                    let mut values: Vec<&str> = Vec::new();
                    chosen.into_iter().for_each(|value| {
                        if !values.contains(&value) {
                            values.push(value);
                        }
                    });
                    values.into()
                })
            }
        };
        value.unwrap_or_else(|| words.into())
    }
}

impl super::Choice {
    fn is(&self, words: &str) -> bool {
        let words = words.to_lowercase();
        self.title.to_lowercase() == words || self.value.to_lowercase() == words
    }
}

fn is_yes(text: &str) -> bool {
    matches!(text.to_lowercase().as_str(), "ok" | "yes" | "ок" | "да")
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn form(properties: Value) -> Form {
        Form::try_from(json!({"properties": properties, "required": ["a"]})).unwrap()
    }

    fn check(form: &Form, cases: &[(&str, Result<Value, Option<&str>>)]) {
        for (text, expected) in cases {
            let found = form
                .read_words(text)
                .map(Value::Object)
                .map_err(|fault| fault.field);
            let expected = expected.clone().map_err(|field| field.map(str::to_owned));
            assert_eq!(found, expected, "{text}");
        }
    }

    #[test]
    fn the_only_field_takes_the_text() {
        let words = form(json!({"a": {"type": "string"}}));
        let a = |value: &str| Ok(json!({"a": value}));
        check(
            &words,
            &[
                (" blue: or\nnot ", a("blue: or\nnot")),
                ("a: red", a("red")),
                ("{\"a\": \"x\"}", a("x")),
                ("{\"b\": 1}", a("{\"b\": 1}")),
                ("", Err(Some("a"))),
            ],
        );
        let number = form(json!({"a": {"type": "number"}}));
        check(
            &number,
            &[
                ("1,5", Ok(json!({"a": 1.5}))),
                ("NaN", Err(Some("a"))),
                ("x", Err(Some("a"))),
            ],
        );
        let yes = form(json!({"a": {"type": "boolean"}}));
        check(
            &yes,
            &[("Нет", Ok(json!({"a": false}))), ("?", Err(Some("a")))],
        );
        let several = form(json!({"a": {"type": "array", "items": {"anyOf": [
            {"const": "1", "title": "One"}, {"const": "2", "title": "Two"}]}}}));
        check(
            &several,
            &[
                ("one, 2, One", Ok(json!({"a": ["1", "2"]}))),
                ("three", Err(Some("a"))),
            ],
        );
    }

    #[test]
    fn several_fields_are_named() {
        let trip = form(json!({
            "a": {"type": "string", "title": "City"},
            "seats": {"type": "integer"},
            "note": {"type": "string"},
        }));
        check(
            &trip,
            &[
                (
                    "city: Rome\n- Seats: 3",
                    Ok(json!({"a": "Rome", "seats": 3})),
                ),
                (
                    "a: Rome\nnote: see https://x.org\nhttps: is fine",
                    Ok(json!({"a": "Rome", "note": "see https://x.org\nhttps: is fine"})),
                ),
                (
                    "{\"a\": \"Rome\", \"seats\": 3}",
                    Ok(json!({"a": "Rome", "seats": 3})),
                ),
                ("a: Rome\nseats:", Ok(json!({"a": "Rome"}))),
                ("a: Rome\nseats: few", Err(Some("seats"))),
                ("seats: 3", Err(Some("a"))),
                ("Rome for three", Err(None)),
                ("", Err(None)),
            ],
        );
        let fault = trip.read_words("Rome").unwrap_err().message;
        assert!(
            fault.message.ends_with("for each of: a, seats, note."),
            "{fault}"
        );
        let empty = Form::new(Vec::new()).unwrap();
        check(&empty, &[("Ok", Ok(json!({}))), ("no", Err(None))]);
    }

    #[test]
    fn a_form_as_text() {
        let form = form(json!({
            "a": {"type": "string", "title": "City", "maxLength": 9, "description": "Where to."},
            "seats": {"type": "integer", "minimum": 1},
        }));
        assert_eq!(
            form.words(),
            "City: a text of 1 to 9 characters. Where to\nseats: a whole number, at least 1 (may be left out)"
        );
    }
}
