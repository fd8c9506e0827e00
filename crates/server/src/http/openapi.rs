//! `GET /openapi.json`: the OpenAPI document of this server, put together from `openapi/*.toml` and the route table.
//!
//! The files say what is sent and answered, in the notation of `openapi/notation.rs`; the table says which addresses
//! there are and who may call them. Tests hold that the files describe each address of the table and no other, and the
//! tests' own client checks every answer it gets against the document.

mod notation;
mod operation;

use std::{collections::BTreeMap, sync::LazyLock};

use anyhow::{Context, bail, ensure};
use axum::{
    http::header,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::ProblemCode;
use serde_json::{Map, Value, json};
use toml::Table;

use crate::{error::ApiError, identity::auth::SESSION_COOKIE};

/// What each part of the API takes and answers; the names group the operations in the document.
const PARTS: [(&str, &str); 10] = [
    ("start", include_str!("openapi/start.toml")),
    ("people", include_str!("openapi/people.toml")),
    ("groups", include_str!("openapi/groups.toml")),
    ("models", include_str!("openapi/models.toml")),
    ("chats", include_str!("openapi/chats.toml")),
    ("own", include_str!("openapi/own.toml")),
    ("knowledge", include_str!("openapi/knowledge.toml")),
    ("pages", include_str!("openapi/pages.toml")),
    ("runs", include_str!("openapi/runs.toml")),
    ("doors", include_str!("openapi/doors.toml")),
];

const ABOUT: &str = "A self-hosted server of agents. Errors have a stable code and a sentence; the answer's header \
    `x-request-id` names the request in the server's log. Requests with the cookie that change something have to come \
    from the server's own origin. Answers may get further fields.";

/// `GET /openapi.json`.
pub(super) async fn get() -> Result<Response, ApiError> {
    static TEXT: LazyLock<Result<Bytes, String>> = LazyLock::new(|| match document() {
        Ok(document) => Ok(document.to_string().into()),
        Err(error) => Err(format!("{error:#}")),
    });
    let text = TEXT.clone().map_err(ApiError::internal)?;
    Ok(([(header::CONTENT_TYPE, "application/json")], text).into_response())
}

/// The whole document.
///
/// # Errors
/// Where the files do not fit the route table, or each other.
pub fn document() -> anyhow::Result<Value> {
    let (mut described, schemas) = parts()?;
    let mut paths = Map::new();
    for route in super::table() {
        let name = format!("{} {}", route.method, route.path.replace("{*", "{"));
        let (tag, text) = described
            .remove(&name)
            .with_context(|| format!("{name} is not described"))?;
        let operation = operation::operation(&route, tag, &text).with_context(|| name.clone())?;
        let (method, path) = name.split_once(' ').unwrap_or_default();
        let operations = paths.entry(path).or_insert_with(|| json!({}));
        operations[method.to_ascii_lowercase()] = operation;
    }
    ensure!(
        described.is_empty(),
        "there are no such routes: {:?}",
        described.keys()
    );
    Ok(json!({
        "openapi": "3.1.0",
        "info": {
            "title": "Glasshouse",
            "version": env!("CARGO_PKG_VERSION"),
            "description": ABOUT,
            "license": { "name": "MIT OR Apache-2.0", "identifier": "MIT OR Apache-2.0" },
        },
        "tags": PARTS.map(|(name, _)| json!({ "name": name })),
        "paths": paths,
        "components": {
            "schemas": schemas,
            "responses": operation::refusals(),
            "securitySchemes": {
                "session": { "type": "apiKey", "in": "cookie", "name": SESSION_COOKIE },
                "key": { "type": "http", "scheme": "bearer", "description": "An API key, gh_…" },
            },
        },
    }))
}

/// The descriptions of all addresses by method and path, each with the name of its part; and all schemas by name.
type Parts = (BTreeMap<String, (&'static str, Table)>, Map<String, Value>);

fn parts() -> anyhow::Result<Parts> {
    let mut operations = BTreeMap::new();
    let codes: Vec<_> = ProblemCode::ALL.iter().map(|code| code.as_str()).collect();
    let mut schemas = Map::from_iter([(
        "ProblemCode".to_owned(),
        json!({ "type": "string", "enum": codes }),
    )]);
    for (part, text) in PARTS {
        let part_file: Table = toml::from_str(text).with_context(|| format!("{part}.toml"))?;
        for (name, value) in part_file {
            let toml::Value::Table(table) = value else {
                bail!("{part}.toml: {name} is no table")
            };
            if name != "schemas" {
                operations.insert(name, (part, table));
                continue;
            }
            for (name, text) in table {
                let schema =
                    notation::schema(&text).with_context(|| format!("{part}.toml: {name}"))?;
                ensure!(
                    schemas.insert(name.clone(), schema).is_none(),
                    "there are two schemas {name}"
                );
            }
        }
    }
    Ok((operations, schemas))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// All names that are referred to.
    fn references(value: &Value, found: &mut Vec<String>) {
        match value {
            Value::Object(fields) => {
                found.extend(
                    fields
                        .get("$ref")
                        .and_then(Value::as_str)
                        .map(str::to_owned),
                );
                fields.values().for_each(|field| references(field, found));
            }
            Value::Array(items) => items.iter().for_each(|item| references(item, found)),
            _ => {}
        }
    }

    #[test]
    fn describes_the_routes_and_nothing_else() {
        let document = document().unwrap();
        let routes = super::super::table();
        let described: usize = document["paths"]
            .as_object()
            .unwrap()
            .values()
            .map(|it| it.as_object().unwrap().len())
            .sum();
        assert_eq!(described, routes.len());
        for route in routes {
            let path = route.path.replace("{*", "{");
            let operation = &document["paths"][path][route.method.as_str().to_ascii_lowercase()];
            let access = format!("{:?}", route.access).to_ascii_lowercase();
            assert_eq!(
                operation["x-access"], access,
                "{} {}",
                route.method, route.path
            );
            let is_open = operation["security"].as_array().unwrap().is_empty();
            assert_eq!(
                is_open,
                access == "public",
                "{} {}",
                route.method,
                route.path
            );
        }
    }

    #[test]
    fn every_schema_is_there_and_used() {
        let document = document().unwrap();
        let mut used = Vec::new();
        references(&document, &mut used);
        used.sort_unstable();
        used.dedup();
        let kinds = ["schemas", "responses"];
        let mut there: Vec<String> = kinds
            .iter()
            .flat_map(|kind| {
                let names = document["components"][kind].as_object().unwrap().keys();
                names.map(move |name| format!("#/components/{kind}/{name}"))
            })
            .collect();
        there.sort_unstable();
        assert_eq!(used, there);
    }
}
