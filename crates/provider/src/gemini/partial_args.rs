//! Assembles call arguments from pieces with the path of their value.

use serde::Deserialize;
use serde_json::{Map, Value};

/// Maximum number of items that a piece may add to a list, and of steps in a path.
const MAX_ITEMS: usize = 1_000;
const MAX_STEPS: usize = 64;

/// A piece of the arguments.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct PartialArg {
    json_path: String,
    string_value: Option<String>,
    number_value: Option<serde_json::Number>,
    bool_value: Option<bool>,
}

/// The arguments so far.
#[derive(Debug, Default)]
pub(super) struct Arguments(Map<String, Value>);

enum Step<'a> {
    Field(&'a str),
    Item(usize),
}

impl Arguments {
    /// Applies a piece. Texts are appended; a piece without a valid path is ignored.
    pub(super) fn add(&mut self, piece: PartialArg) {
        let value = match piece {
            PartialArg {
                string_value: Some(text),
                ..
            } => Value::String(text),
            PartialArg {
                number_value: Some(number),
                ..
            } => Value::Number(number),
            PartialArg {
                bool_value: Some(flag),
                ..
            } => Value::Bool(flag),
            _ => Value::Null,
        };
        let Some(steps) = steps(&piece.json_path) else {
            return;
        };
        let [Step::Field(first), rest @ ..] = steps.as_slice() else {
            return;
        };
        let mut place = self.0.entry(*first).or_insert(Value::Null);
        for step in rest {
            place = match step {
                Step::Field(name) => {
                    if !place.is_object() {
                        *place = Value::Object(Map::new());
                    }
                    let Some(fields) = place.as_object_mut() else {
                        return;
                    };
                    fields.entry(*name).or_insert(Value::Null)
                }
                Step::Item(index) => {
                    if !place.is_array() {
                        *place = Value::Array(Vec::new());
                    }
                    let Some(items) = place.as_array_mut() else {
                        return;
                    };
                    if items.len() <= *index {
                        items.resize(index + 1, Value::Null);
                    }
                    &mut items[*index]
                }
            };
        }
        match (place, value) {
            (Value::String(text), Value::String(more)) => text.push_str(&more),
            (place, value) => *place = value,
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The complete JSON.
    pub(super) fn finish(self) -> String {
        Value::Object(self.0).to_string()
    }
}

/// The steps of `$.foo.bar[0]['data']`; `None` if the path is invalid.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut steps = Vec::new();
    while !rest.is_empty() {
        if steps.len() == MAX_STEPS {
            return None;
        }
        if let Some(name) = rest.strip_prefix('.') {
            let end = name.find(['.', '[']).unwrap_or(name.len());
            steps.push(Step::Field(&name[..end]));
            rest = &name[end..];
            continue;
        }
        let inner = rest.strip_prefix('[')?;
        let quote = inner
            .chars()
            .next()
            .filter(|quote| matches!(quote, '\'' | '"'));
        let end = match quote {
            Some(quote) => inner[1..].find(&format!("{quote}]")).map(|end| end + 2),
            None => inner.find(']'),
        }?;
        steps.push(match quote {
            Some(_) => Step::Field(&inner[1..end - 1]),
            None => Step::Item(
                inner[..end]
                    .parse()
                    .ok()
                    .filter(|index| *index < MAX_ITEMS)?,
            ),
        });
        rest = &inner[end + 1..];
    }
    Some(steps)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn check(pieces: Value, expected: Value) {
        let mut arguments = Arguments::default();
        let pieces: Vec<PartialArg> = serde_json::from_value(pieces).unwrap();
        pieces.into_iter().for_each(|piece| arguments.add(piece));
        assert_eq!(
            serde_json::from_str::<Value>(&arguments.finish()).unwrap(),
            expected
        );
    }

    #[test]
    fn values_are_placed_by_path() {
        check(json!([]), json!({}));
        let pieces = json!([
            {"jsonPath": "$.city", "stringValue": "New ", "willContinue": true},
            {"jsonPath": "$.city", "stringValue": "Delhi"},
            {"jsonPath": "$.days", "numberValue": 3},
            {"jsonPath": "$.at[1]['a.b'].x", "boolValue": true},
            {"jsonPath": "$[\"none\"]", "nullValue": "NULL_VALUE"},
        ]);
        let expected = json!({"city": "New Delhi", "days": 3, "at": [null, {"a.b": {"x": true}}], "none": null});
        check(pieces, expected);
    }

    #[test]
    fn invalid_paths_are_ignored() {
        let paths = [
            "",
            "a",
            "$",
            "$[0]",
            "$[",
            "$['",
            "$['a",
            "$.a[99999999999]",
            "$.a[1000]",
            "$x",
            "$[é]",
        ];
        let pieces: Vec<Value> = paths
            .iter()
            .map(|path| json!({"jsonPath": path, "numberValue": 1}))
            .collect();
        check(json!(pieces), json!({}));
        check(
            json!([{"jsonPath": format!("${}", ".a".repeat(100))}]),
            json!({}),
        );
    }
}
