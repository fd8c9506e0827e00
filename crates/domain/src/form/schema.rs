//! Forms as JSON Schema: the flat objects of primitive properties of MCP's elicitation.

use serde_json::{Map, Value, json};

use super::{Choice, Field, Form, FormFault, Kind, TextFormat, WORDS_LIMIT_CHARS};

impl TryFrom<Value> for Form {
    type Error = FormFault;

    /// Reads a schema from an untrusted source. Purely descriptive parts are cut or left out if invalid.
    fn try_from(schema: Value) -> Result<Self, FormFault> {
        let none = Map::new();
        let properties = schema
            .get("properties")
            .map_or(Some(&none), Value::as_object);
        let properties = properties
            .ok_or_else(|| FormFault::of_form("The properties of a form are an object."))?;
        let required = schema
            .get("required")
            .and_then(Value::as_array)
            .map(Vec::as_slice)
            .unwrap_or_default();
        let field = |(name, schema): (&String, &Value)| {
            read_field(
                name,
                schema,
                required.iter().any(|required| required == name),
            )
            .ok_or_else(|| {
                let name: String = name.chars().take(WORDS_LIMIT_CHARS).collect();
                FormFault::of_field(
                    &name,
                    format!("The field “{name}” is none that a form can have."),
                )
            })
        };
        Self::new(properties.iter().map(field).collect::<Result<_, _>>()?)
    }
}

impl From<Form> for Value {
    fn from(form: Form) -> Self {
        form.schema()
    }
}

impl Form {
    /// The form as JSON Schema.
    #[must_use]
    pub fn schema(&self) -> Value {
        let properties: Map<String, Value> = self
            .fields
            .iter()
            .map(|field| (field.name.clone(), write_field(field)))
            .collect();
        let required: Vec<&str> = self
            .fields
            .iter()
            .filter(|field| field.required)
            .map(|field| field.name.as_str())
            .collect();
        let mut schema = json!({"type": "object", "properties": properties});
        if !required.is_empty() {
            schema["required"] = required.into();
        }
        schema
    }
}

fn read_field(name: &str, schema: &Value, required: bool) -> Option<Field> {
    let words = |key: &str| {
        let words: String = schema
            .get(key)?
            .as_str()?
            .chars()
            .take(WORDS_LIMIT_CHARS)
            .collect();
        Some(words).filter(|words| !words.trim().is_empty())
    };
    let mut field = Field {
        name: name.to_owned(),
        title: words("title"),
        description: words("description"),
        required,
        default: None,
        kind: read_kind(schema)?,
    };
    let default = schema
        .get("default")
        .filter(|default| !default.is_null())
        .cloned();
    field.default = default.and_then(|default| field.check(default).ok());
    Some(field)
}

fn read_kind(schema: &Value) -> Option<Kind> {
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    Some(match schema.get("type")?.as_str()? {
        "string" => match read_choices(schema) {
            Some(choices) => Kind::One(choices?),
            None => Kind::Text {
                least: count("minLength").unwrap_or(0),
                most: count("maxLength"),
                format: schema
                    .get("format")
                    .and_then(Value::as_str)
                    .and_then(read_format),
            },
        },
        "array" => Kind::Several {
            choices: read_choices(schema.get("items")?)??,
            least: count("minItems").unwrap_or(0),
            most: count("maxItems"),
        },
        "boolean" => Kind::YesNo,
        "integer" => Kind::Integer {
            least: schema.get("minimum").and_then(Value::as_i64),
            most: schema.get("maximum").and_then(Value::as_i64),
        },
        "number" => Kind::Number {
            least: number("minimum"),
            most: number("maximum"),
        },
        _ => return None,
    })
}

/// The choices, in MCP's current and earlier forms; `None` if there are none, `Some(None)` if they cannot be shown.
#[expect(
    clippy::option_option,
    reason = "no choices, and choices that cannot be shown, are two things"
)]
fn read_choices(schema: &Value) -> Option<Option<Vec<Choice>>> {
    if let Some(values) = schema.get("enum") {
        let titles = schema.get("enumNames").and_then(Value::as_array);
        let title = |at: usize| titles.and_then(|titles| titles.get(at)?.as_str());
        let choice = |(at, value): (usize, &Value)| {
            let value = value.as_str()?;
            Some(Choice {
                value: value.to_owned(),
                title: title(at).unwrap_or(value).to_owned(),
            })
        };
        return Some(
            values
                .as_array()
                .and_then(|values| values.iter().enumerate().map(choice).collect()),
        );
    }
    let values = schema.get("oneOf").or_else(|| schema.get("anyOf"))?;
    let choice = |option: &Value| {
        let value = option.get("const")?.as_str()?;
        let title = option.get("title").and_then(Value::as_str).unwrap_or(value);
        Some(Choice {
            value: value.to_owned(),
            title: title.to_owned(),
        })
    };
    Some(
        values
            .as_array()
            .and_then(|values| values.iter().map(choice).collect()),
    )
}

const FORMATS: [(&str, TextFormat); 4] = [
    ("email", TextFormat::Email),
    ("uri", TextFormat::Uri),
    ("date", TextFormat::Date),
    ("date-time", TextFormat::DateTime),
];

fn read_format(name: &str) -> Option<TextFormat> {
    FORMATS
        .iter()
        .find(|(known, _)| *known == name)
        .map(|(_, format)| *format)
}

fn write_field(field: &Field) -> Value {
    let mut schema = Map::new();
    let mut put = |key: &str, value: Option<Value>| {
        if let Some(value) = value {
            schema.insert(key.to_owned(), value);
        }
    };
    let kind = match &field.kind {
        Kind::Text { .. } | Kind::One(_) => "string",
        Kind::Integer { .. } => "integer",
        Kind::Number { .. } => "number",
        Kind::YesNo => "boolean",
        Kind::Several { .. } => "array",
    };
    put("type", Some(kind.into()));
    put("title", field.title.clone().map(Value::from));
    put("description", field.description.clone().map(Value::from));
    match &field.kind {
        Kind::Text {
            least,
            most,
            format,
        } => {
            put(
                "minLength",
                Some(*least).filter(|least| *least > 0).map(Value::from),
            );
            put("maxLength", most.map(Value::from));
            let name = FORMATS.iter().find(|(_, known)| Some(*known) == *format);
            put("format", name.map(|(name, _)| Value::from(*name)));
        }
        Kind::Integer { least, most } => {
            put("minimum", least.map(Value::from));
            put("maximum", most.map(Value::from));
        }
        Kind::Number { least, most } => {
            put("minimum", least.map(Value::from));
            put("maximum", most.map(Value::from));
        }
        Kind::YesNo => {}
        Kind::One(choices) => {
            let (key, value) = write_choices(choices, "oneOf");
            put(key, Some(value));
        }
        Kind::Several {
            choices,
            least,
            most,
        } => {
            put(
                "minItems",
                Some(*least).filter(|least| *least > 0).map(Value::from),
            );
            put("maxItems", most.map(Value::from));
            let (key, value) = write_choices(choices, "anyOf");
            let items = if key == "enum" {
                json!({"type": "string", key: value})
            } else {
                json!({key: value})
            };
            put("items", Some(items));
        }
    }
    put("default", field.default.clone());
    Value::Object(schema)
}

/// As bare values if these are the labels, too.
fn write_choices(choices: &[Choice], titled: &'static str) -> (&'static str, Value) {
    if choices.iter().all(|choice| choice.value == choice.title) {
        return (
            "enum",
            choices.iter().map(|choice| choice.value.as_str()).collect(),
        );
    }
    let option = |choice: &Choice| json!({"const": choice.value, "title": choice.title});
    (titled, choices.iter().map(option).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn properties(fields: Value) -> Value {
        json!({"type": "object", "properties": fields})
    }

    #[test]
    fn mcp_schemas_round_trip() {
        let all = json!({"type": "object", "properties": {
            "b": {"type": "string", "title": "B", "description": "Help", "minLength": 1, "maxLength": 9, "default": "x"},
            "a": {"type": "string", "format": "date-time"},
            "whole": {"type": "integer", "minimum": 1, "maximum": 9, "default": 3},
            "number": {"type": "number", "minimum": 0.1, "default": 95.5},
            "yes": {"type": "boolean", "default": false},
            "one": {"type": "string", "enum": ["x", "y"], "default": "y"},
            "titled": {"type": "string", "oneOf": [{"const": "1", "title": "One"}]},
            "several": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "string", "enum": ["x", "y"]}},
            "many": {"type": "array", "items": {"anyOf": [{"const": "1", "title": "One"}]}, "default": ["1"]},
        }, "required": ["b", "yes"]});
        let form = Form::try_from(all.clone()).unwrap();
        assert_eq!(form.schema().to_string(), all.to_string());
        assert_eq!(serde_json::from_value::<Form>(all).unwrap(), form);
    }

    #[test]
    fn older_choices_and_annotations() {
        let schema = properties(json!({
            "pet": {"type": "string", "enum": ["p1"], "enumNames": ["Cat"], "default": "p9", "format": 7},
            "long": {"type": "boolean", "title": "x".repeat(600), "description": ""},
        }));
        let form = Form::try_from(schema).unwrap();
        let [pet, long] = form.fields() else {
            panic!("two fields")
        };
        assert_eq!(
            pet.kind,
            Kind::One(vec![Choice {
                value: "p1".into(),
                title: "Cat".into()
            }])
        );
        assert_eq!(pet.default, None);
        assert_eq!(long.title.as_deref().map(str::len), Some(WORDS_LIMIT_CHARS));
        assert_eq!(long.description, None);
    }

    #[test]
    fn invalid_schemas_are_rejected() {
        let names: Map<String, Value> = (0..100)
            .map(|n| (n.to_string(), json!({"type": "string"})))
            .collect();
        for schema in [
            json!({"properties": 7}),
            properties(Value::Object(names)),
            properties(json!({"a": {"type": "object"}})),
            properties(json!({"a": {"type": "array", "items": {"type": "string"}}})),
            properties(json!({"a": {"type": "string", "enum": [1]}})),
            properties(json!({"a": {"type": "string", "enum": []}})),
            properties(json!({"a": {"type": "string", "enum": ["x", "x"]}})),
            properties(json!({"a": {"type": ["string", "null"]}})),
            properties(json!({"a": 7})),
        ] {
            assert!(Form::try_from(schema.clone()).is_err(), "{schema}");
        }
        assert_eq!(Form::try_from(json!({})).unwrap().fields(), []);
    }
}
