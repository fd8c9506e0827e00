//! Collects the schemas of requests and responses under their public names.

use std::collections::BTreeSet;

use anyhow::ensure;
use schemars::{JsonSchema, SchemaGenerator, generate::SchemaSettings};
use serde_json::{Map, Value, json};

/// The path of the schemas in the document.
const PLACE: &str = "#/components/schemas/";

/// Collects the schemas of types. A field that is optional in requests may be required in responses, so a type in both
/// may have two schemas.
#[derive(Debug)]
pub(super) struct Schemas {
    requests: SchemaGenerator,
    answers: SchemaGenerator,
}

impl Default for Schemas {
    fn default() -> Self {
        let settings = SchemaSettings::draft2020_12()
            .with(|settings| settings.definitions_path = PLACE.trim_start_matches('#').into());
        Self {
            requests: settings.clone().for_deserialize().into_generator(),
            answers: settings.for_serialize().into_generator(),
        }
    }
}

impl Schemas {
    /// A reference to the request schema of a type.
    pub(super) fn of_request<T: JsonSchema>(&mut self) -> Value {
        self.requests.subschema_for::<T>().to_value()
    }

    /// A reference to the response schema of a type.
    pub(super) fn of_answer<T: JsonSchema>(&mut self) -> Value {
        self.answers.subschema_for::<T>().to_value()
    }

    /// The schema itself, for a query.
    pub(super) fn request_fields<T: JsonSchema>(&mut self) -> Value {
        let mut schema = T::json_schema(&mut self.requests).to_value();
        tidy(&mut schema, Side::Request);
        schema
    }

    /// All schemas by name, and the request schemas that were renamed.
    ///
    /// # Errors
    /// If two types have the same name.
    pub(super) fn finish(mut self) -> anyhow::Result<(Map<String, Value>, Renamed)> {
        let mut requests = self.requests.take_definitions(true);
        let mut schemas = self.answers.take_definitions(true);
        for name in requests.keys().chain(schemas.keys()) {
            // schemars appends a number to the name of a second type.
            ensure!(
                !name.ends_with(|last: char| last.is_ascii_digit()),
                "two types are called {name}, but for the digit: rename one with #[schemars(rename)]"
            );
        }
        requests
            .values_mut()
            .for_each(|schema| tidy(schema, Side::Request));
        schemas
            .values_mut()
            .for_each(|schema| tidy(schema, Side::Answer));
        let renamed = Renamed::between(&requests, &schemas);
        for (name, mut schema) in requests {
            renamed.apply(&mut schema);
            schemas.insert(renamed.name(&name), schema);
        }
        for (name, schema) in &schemas {
            ensure!(
                !schema.to_string().contains("`None`"),
                "a doc comment of {name} says `None`: clients know `null` or an absent field"
            );
        }
        schemas.sort_keys();
        Ok((schemas, renamed))
    }
}

/// Names of types whose request and response schemas differ; the request schema is renamed to `…Input`.
#[derive(Debug)]
pub(super) struct Renamed(BTreeSet<String>);

impl Renamed {
    fn between(requests: &Map<String, Value>, answers: &Map<String, Value>) -> Self {
        let differs = |name: &&String| answers.get(*name).is_some_and(|it| *it != requests[*name]);
        let mut renamed = Self(requests.keys().filter(differs).cloned().collect());
        // A schema that refers to a renamed one differs as well.
        loop {
            let more: Vec<String> = requests
                .iter()
                .filter(|(name, _)| answers.contains_key(*name) && !renamed.0.contains(*name))
                .filter(|(_, schema)| {
                    let mut changed = (*schema).clone();
                    renamed.apply(&mut changed);
                    changed != **schema
                })
                .map(|(name, _)| name.clone())
                .collect();
            if more.is_empty() {
                return renamed;
            }
            renamed.0.extend(more);
        }
    }

    fn name(&self, name: &str) -> String {
        if self.0.contains(name) {
            format!("{name}Input")
        } else {
            name.to_owned()
        }
    }

    /// Corrects the references in a request schema.
    pub(super) fn apply(&self, value: &mut Value) {
        match value {
            Value::Object(fields) => {
                for (name, field) in fields {
                    match field {
                        Value::String(target) if name == "$ref" => {
                            if let Some(name) = target.strip_prefix(PLACE) {
                                *target = format!("{PLACE}{}", self.name(name));
                            }
                        }
                        _ => self.apply(field),
                    }
                }
            }
            Value::Array(items) => items.iter_mut().for_each(|item| self.apply(item)),
            _ => {}
        }
    }
}

/// Whether a schema is for requests or responses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Side {
    Request,
    Answer,
}

/// Adapts schemars' output to our conventions.
fn tidy(schema: &mut Value, side: Side) {
    let Value::Object(fields) = schema else {
        if let Value::Array(items) = schema {
            items.iter_mut().for_each(|item| tidy(item, side));
        }
        return;
    };
    if side == Side::Answer {
        // Clients have to tolerate new fields.
        for key in ["additionalProperties", "unevaluatedProperties"] {
            if fields.get(key) == Some(&Value::Bool(false)) {
                fields.shift_remove(key);
            }
        }
    }
    // The defaults of requests are Rust's; the descriptions have their meaning.
    fields.shift_remove("default");
    if let Some(Value::String(text)) = fields.get_mut("description") {
        *text = unwrapped(text);
    }
    let required = fields.get("required").cloned().unwrap_or_default();
    if let Some(Value::Object(properties)) = fields.get_mut("properties") {
        for (name, property) in properties {
            let is_required = required
                .as_array()
                .is_some_and(|required| required.iter().any(|it| it == name));
            if side == Side::Answer && !is_required {
                // Optional fields of responses are omitted, never null.
                not_null(property);
            }
            note_time(name, property);
        }
    }
    for (key, field) in fields {
        match field {
            // Its keys are field names, not schema keywords.
            Value::Object(properties) if key == "properties" => {
                properties.values_mut().for_each(|field| tidy(field, side));
            }
            _ => tidy(field, side),
        }
    }
}

/// Joins the lines of each paragraph, as comments are wrapped.
fn unwrapped(text: &str) -> String {
    let paragraphs = text.split("\n\n");
    let lines = paragraphs.map(|lines| lines.lines().map(str::trim).collect::<Vec<_>>().join(" "));
    lines.collect::<Vec<_>>().join("\n\n")
}

/// Removes `null` from a schema.
pub(super) fn not_null(schema: &mut Value) {
    let null = json!("null");
    if let Some(kinds) = schema.get_mut("type").and_then(Value::as_array_mut) {
        kinds.retain(|kind| *kind != null);
        if let [kind] = kinds.as_mut_slice() {
            let kind = kind.take();
            schema["type"] = kind;
        }
        if let Some(words) = schema.get_mut("enum").and_then(Value::as_array_mut) {
            words.retain(|word| !word.is_null());
        }
        return;
    }
    let description = schema.get("description").cloned();
    let Some(choices) = schema.get_mut("anyOf").and_then(Value::as_array_mut) else {
        return;
    };
    choices.retain(|choice| choice["type"] != null);
    if let [Value::Object(only)] = choices.as_mut_slice() {
        let mut only = std::mem::take(only);
        if let Some(description) = description {
            only.insert("description".to_owned(), description);
        }
        *schema = only.into();
    }
}

/// Integers named `…_at` are times.
fn note_time(name: &str, schema: &mut Value) {
    let kinds = &schema["type"];
    let is_integer = kinds == "integer"
        || kinds
            .as_array()
            .is_some_and(|kinds| kinds.iter().any(|kind| kind == "integer"));
    if is_integer && (name == "at" || name.ends_with("_at")) && schema["description"].is_null() {
        schema["description"] = "Milliseconds since 1970-01-01 UTC.".into();
    }
}

#[cfg(test)]
mod tests {
    use serde::{Deserialize, Serialize};

    use super::*;

    /// In requests its field may be left out.
    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Thing {
        name: Option<String>,
        /// Left out if
        /// there is none.
        #[serde(skip_serializing_if = "Option::is_none")]
        made_at: Option<i64>,
    }

    #[derive(Serialize, Deserialize, JsonSchema)]
    struct Things {
        things: Vec<Thing>,
    }

    #[derive(Serialize, JsonSchema)]
    struct Setting {
        default: i64,
    }

    #[test]
    fn a_field_may_be_called_like_a_part_of_a_schema() {
        let mut schemas = Schemas::default();
        schemas.of_answer::<Setting>();
        let (schemas, _) = schemas.finish().unwrap();
        let expected = json!({"default": {"type": "integer", "format": "int64"}});
        assert_eq!(schemas["Setting"]["properties"], expected);
    }

    #[test]
    fn requests_and_answers_of_one_type() {
        let mut schemas = Schemas::default();
        assert_eq!(
            schemas.of_answer::<Things>(),
            json!({"$ref": "#/components/schemas/Things"})
        );
        let mut asked = schemas.of_request::<Things>();
        let (schemas, renamed) = schemas.finish().unwrap();
        renamed.apply(&mut asked);
        assert_eq!(asked, json!({"$ref": "#/components/schemas/ThingsInput"}));
        let names: Vec<_> = schemas.keys().collect();
        assert_eq!(names, ["Thing", "ThingInput", "Things", "ThingsInput"]);
        assert_eq!(schemas["Thing"]["required"], json!(["name"]));
        assert_eq!(
            schemas["Thing"]["properties"]["made_at"],
            json!({"type": "integer", "format": "int64", "description": "Left out if there is none."})
        );
        assert_eq!(schemas["ThingInput"]["required"], Value::Null);
        let items = &schemas["ThingsInput"]["properties"]["things"]["items"];
        assert_eq!(items, &json!({"$ref": "#/components/schemas/ThingInput"}));
    }

    #[test]
    fn two_types_of_one_name_are_refused() {
        mod other {
            #[derive(serde::Serialize, schemars::JsonSchema)]
            pub(super) struct Thing {
                size: i64,
            }
        }
        let mut schemas = Schemas::default();
        schemas.of_answer::<Thing>();
        schemas.of_answer::<other::Thing>();
        assert!(schemas.finish().is_err());
    }
}
