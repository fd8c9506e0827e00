//! Collects operations as their handlers describe them: types from the signature, the rest by hand.

use std::collections::BTreeMap;

use anyhow::{Context, ensure};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde_json::{Map, Value, json};

use super::{
    schemas::{Schemas, not_null},
    signature::Signature,
};

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";

/// One operation, without what all routes of its kind have.
#[derive(Debug, Default)]
pub(in crate::http) struct Operation {
    pub(super) tag: &'static str,
    pub(super) summary: String,
    pub(super) details: String,
    /// Query parameters and headers.
    pub(super) parameters: Vec<Value>,
    pub(super) body: Option<Value>,
    /// By status.
    pub(super) responses: BTreeMap<u16, Value>,
    /// Error statuses that not every route of its kind has.
    pub(super) errors: Vec<u16>,
}

/// All described operations by method and path, and the schemas that they refer to.
#[derive(Debug, Default)]
pub(in crate::http) struct Operations {
    tag: &'static str,
    operations: BTreeMap<String, Operation>,
    schemas: Schemas,
    described_twice: Vec<String>,
}

impl Operations {
    /// Adds the operations of a group, which has a page of its own in docs/reference/api.
    pub(super) fn group(&mut self, tag: &'static str, describe: &[fn(&mut Self)]) {
        self.tag = tag;
        for describe in describe {
            describe(self);
        }
    }

    /// Describes the operation `name`, such as `GET /api/v1/keys`: its query, body and answer are those of `handler`.
    pub(in crate::http) fn handler<M, H: Signature<M>>(
        &mut self,
        name: &str,
        handler: H,
        summary: &str,
    ) -> Describe<'_> {
        let mut describe = self.operation(name, summary);
        handler.describe(&mut describe);
        describe
    }

    /// Describes the operation `name`, whose handler's signature does not have all its types.
    pub(in crate::http) fn operation(&mut self, name: &str, summary: &str) -> Describe<'_> {
        let operation = Operation {
            tag: self.tag,
            summary: summary.to_owned(),
            ..Operation::default()
        };
        if self.operations.insert(name.to_owned(), operation).is_some() {
            self.described_twice.push(name.to_owned());
        }
        Describe {
            operation: self.operations.entry(name.to_owned()).or_default(),
            schemas: &mut self.schemas,
        }
    }

    /// Adds the schema of a type to which no operation refers.
    pub(super) fn schema<T: JsonSchema>(&mut self) {
        self.schemas.of_answer::<T>();
    }

    /// The operations, and the schemas by name.
    ///
    /// # Errors
    /// If an operation is described twice, or two types have the same name.
    pub(super) fn finish(
        self,
    ) -> anyhow::Result<(BTreeMap<String, Operation>, Map<String, Value>)> {
        ensure!(
            self.described_twice.is_empty(),
            "described twice: {:?}",
            self.described_twice
        );
        let (schemas, renamed) = self.schemas.finish()?;
        let mut operations = self.operations;
        for operation in operations.values_mut() {
            let asked = operation.parameters.iter_mut().chain(&mut operation.body);
            asked.for_each(|value| renamed.apply(value));
        }
        Ok((operations, schemas))
    }
}

/// Adds details to an operation.
pub(in crate::http) struct Describe<'a> {
    operation: &'a mut Operation,
    schemas: &'a mut Schemas,
}

impl Describe<'_> {
    /// What a caller has to know beyond the summary, in Markdown.
    pub(in crate::http) fn details(&mut self, details: &str) -> &mut Self {
        details.clone_into(&mut self.operation.details);
        self
    }

    /// Error statuses in addition to those of every route of its kind.
    pub(in crate::http) fn errors(&mut self, statuses: &[u16]) -> &mut Self {
        self.operation.errors.extend(statuses);
        self
    }

    /// Uses the fields of `T` as the query.
    pub(in crate::http) fn query<T: JsonSchema>(&mut self) -> &mut Self {
        let schema = self.schemas.request_fields::<T>();
        let required = schema.get("required").cloned().unwrap_or_default();
        let required: Vec<&str> = required
            .as_array()
            .into_iter()
            .flatten()
            .filter_map(Value::as_str)
            .collect();
        let fields = schema.get("properties").and_then(Value::as_object);
        for (name, field) in fields.into_iter().flatten() {
            let is_required = required.contains(&name.as_str());
            let mut field = field.clone();
            not_null(&mut field);
            let parameter = parameter("query", name, field, is_required);
            self.operation.parameters.push(parameter);
        }
        self
    }

    /// An optional request header.
    pub(in crate::http) fn header(&mut self, name: &str, meaning: &str) -> &mut Self {
        let schema = json!({ "type": "string", "description": meaning });
        let parameter = parameter("header", name, schema, false);
        self.operation.parameters.push(parameter);
        self
    }

    /// The request body is a `T` as JSON.
    pub(in crate::http) fn body<T: JsonSchema>(&mut self) -> &mut Self {
        let schema = self.schemas.of_request::<T>();
        self.operation.body =
            Some(json!({ "required": true, "content": { JSON: { "schema": schema } } }));
        self
    }

    /// The request body has this media type.
    pub(in crate::http) fn body_of(&mut self, media: &str) -> &mut Self {
        self.operation.body = Some(json!({ "required": true, "content": { media: {} } }));
        self
    }

    /// A response with this status and a `T` as JSON.
    pub(in crate::http) fn answers<T: JsonSchema>(&mut self, status: u16) -> &mut Self {
        let schema = self.schemas.of_answer::<T>();
        self.content(status, JSON, json!({ "schema": schema }))
    }

    /// A response with this status and no body.
    pub(in crate::http) fn answers_nothing(&mut self, status: u16) -> &mut Self {
        let reason = StatusCode::from_u16(status)
            .ok()
            .and_then(|status| status.canonical_reason());
        let response = json!({ "description": reason.unwrap_or_default() });
        self.operation.responses.entry(status).or_insert(response);
        self
    }

    /// A response with one of these media types.
    pub(in crate::http) fn answers_media(&mut self, status: u16, media: &[&str]) -> &mut Self {
        for media in media {
            let is_text = media.starts_with("text/") && *media != STREAM;
            let content = if is_text {
                json!({ "schema": { "type": "string" } })
            } else {
                json!({})
            };
            self.content(status, media, content);
        }
        self
    }

    /// A stream of server-sent events, each with a `T` as data.
    pub(in crate::http) fn answers_events<T: JsonSchema>(&mut self, status: u16) -> &mut Self {
        // OpenAPI 3.1 cannot describe the events of a stream.
        let events = self.schemas.of_answer::<T>();
        self.content(status, STREAM, json!({ "x-events": events }))
    }

    fn content(&mut self, status: u16, media: &str, content: Value) -> &mut Self {
        self.answers_nothing(status);
        if let Some(response) = self.operation.responses.get_mut(&status) {
            response["content"][media] = content;
        }
        self
    }
}

fn parameter(place: &str, name: &str, mut schema: Value, required: bool) -> Value {
    let description = schema
        .as_object_mut()
        .and_then(|schema| schema.shift_remove("description"));
    let mut parameter =
        json!({ "name": name, "in": place, "required": required, "schema": schema });
    if let Some(description) = description {
        parameter["description"] = description;
    }
    parameter
}

/// Splits the name of an operation into method and path.
///
/// # Errors
/// If it is not a method and a path.
pub(super) fn method_and_path(name: &str) -> anyhow::Result<(&str, &str)> {
    name.split_once(' ').context("not a method and a path")
}
