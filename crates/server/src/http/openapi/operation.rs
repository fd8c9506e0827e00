//! One address with one method as OpenAPI has it. What every address of its kind can answer is added here.

use anyhow::{Context, bail, ensure};
use axum::http::{Method, StatusCode};
use serde_json::{Map, Value, json};
use toml::Table;

use super::notation::{field, schema};
use crate::{
    http::{Route, unrouted::Protocol},
    identity::auth::Access,
};

const JSON: &str = "application/json";
const STREAM: &str = "text/event-stream";

/// The operation of a route: what the file says of it, and what the table does.
pub(super) fn operation(route: &Route, tag: &str, text: &Table) -> anyhow::Result<Value> {
    let summary = text
        .get("summary")
        .and_then(toml::Value::as_str)
        .context("it has no summary")?;
    let mut operation = json!({
        "operationId": id(route),
        "summary": summary,
        "tags": [tag],
        "x-access": format!("{:?}", route.access).to_ascii_lowercase(),
        "security": if route.access == Access::Public { json!([]) } else { json!([{"session": []}, {"key": []}]) },
    });
    let mut parameters: Vec<Value> = path_parameters(route.path);
    let mut responses = Map::new();
    for (name, value) in text {
        match name.as_str() {
            "summary" | "errors" => {}
            "query" => parameters.extend(named("query", value)?),
            "headers" => parameters.extend(named("header", value)?),
            "body" => operation["requestBody"] = body(value)?,
            status => {
                _ = responses.insert(
                    status.to_owned(),
                    response(status, value).context(status.to_owned())?,
                )
            }
        }
    }
    ensure!(!responses.is_empty(), "it has no answer");
    for status in refused_with(route, text, !parameters.is_empty())? {
        let refusal = match Protocol::of(route.path) {
            Protocol::Ours => "Problem",
            Protocol::OpenAi => "OpenAiProblem",
            Protocol::Anthropic => "AnthropicProblem",
        };
        let reference = json!({ "$ref": format!("#/components/responses/{refusal}") });
        ensure!(
            responses.insert(status.to_string(), reference).is_none(),
            "{status} is there twice"
        );
    }
    if !parameters.is_empty() {
        operation["parameters"] = parameters.into();
    }
    operation["responses"] = responses.into();
    Ok(operation)
}

/// The forms of refusals.
pub(super) fn refusals() -> Value {
    let text = json!({ "type": "string" });
    // A model server's own words are passed on where they have a message; the rest may be anything.
    let any = json!({});
    let code = json!({ "$ref": "#/components/schemas/ProblemCode" });
    let sentence = json!({ "$ref": "#/components/schemas/Sentence" });
    let ours = json!({ "code": code, "message": text, "sentence": sentence, "field": text, "request_id": text });
    let openai =
        json!({ "message": text, "type": any, "param": any, "code": any, "request_id": text });
    let refusal = |properties: Value, required: &[&str]| {
        let error = json!({ "type": "object", "properties": properties, "required": required });
        let schema =
            json!({ "type": "object", "properties": { "error": error }, "required": ["error"] });
        json!({ "description": "Refused; docs/reference/errors.md has the codes.", "content": { JSON: { "schema": schema } } })
    };
    let mut of_anthropic = refusal(
        json!({ "type": text, "message": text, "code": any }),
        &["type", "message"],
    );
    let shape = &mut of_anthropic["content"][JSON]["schema"]["properties"];
    (shape["type"], shape["request_id"]) = (text.clone(), text.clone());
    json!({
        "Problem": refusal(ours, &["code", "message"]),
        "OpenAiProblem": refusal(openai, &["message"]),
        "AnthropicProblem": of_anthropic,
    })
}

/// What goes wrong in the same way everywhere, and what the file names beside.
fn refused_with(route: &Route, text: &Table, has_parameters: bool) -> anyhow::Result<Vec<i64>> {
    let has_body = text.contains_key("body");
    let mut statuses = vec![403, 500, 503];
    for (status, when) in [
        (400, has_body || has_parameters),
        (401, route.access != Access::Public),
        (404, route.path.contains('{')),
        (413, has_body),
        (415, has_body),
        (507, route.method != Method::GET),
    ] {
        if when {
            statuses.push(status);
        }
    }
    for named in text
        .get("errors")
        .and_then(toml::Value::as_array)
        .into_iter()
        .flatten()
    {
        let status = named.as_integer().context("`errors` are numbers")?;
        ensure!(!statuses.contains(&status), "{status} need not be named");
        statuses.push(status);
    }
    statuses.sort_unstable();
    Ok(statuses)
}

/// Such as `get_api_v1_chats_chat`.
fn id(route: &Route) -> String {
    let words = route
        .path
        .split(|c: char| !c.is_ascii_alphanumeric())
        .filter(|word| !word.is_empty());
    let method = route.method.as_str().to_ascii_lowercase();
    std::iter::once(method.as_str())
        .chain(words)
        .collect::<Vec<_>>()
        .join("_")
}

fn path_parameters(path: &str) -> Vec<Value> {
    let names = path
        .split('/')
        .filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
    let parameter = |name: &str| json!({ "name": name.trim_start_matches('*'), "in": "path", "required": true, "schema": { "type": "string" } });
    names.map(parameter).collect()
}

fn named(place: &str, fields: &toml::Value) -> anyhow::Result<Vec<Value>> {
    let fields = fields
        .as_table()
        .with_context(|| format!("the {place} is no table"))?;
    let parameter = |(name, value): (&String, &toml::Value)| {
        let (schema, required) = field(value).with_context(|| name.clone())?;
        Ok(json!({ "name": name, "in": place, "required": required, "schema": schema }))
    };
    fields.iter().map(parameter).collect()
}

fn body(value: &toml::Value) -> anyhow::Result<Value> {
    match value.as_str() {
        Some(media) if media.contains('/') => {
            Ok(json!({ "required": true, "content": { media: {} } }))
        }
        _ => Ok(json!({ "required": true, "content": { JSON: { "schema": schema(value)? } } })),
    }
}

fn response(status: &str, value: &toml::Value) -> anyhow::Result<Value> {
    let status: StatusCode = status
        .parse()
        .context("neither a status nor a known word")?;
    let mut response = json!({ "description": status.canonical_reason().unwrap_or_default() });
    let mut content = Map::new();
    match value.as_str() {
        Some("") => return Ok(response),
        Some(text) => {
            for part in text.split(" or ") {
                let (media, described) = one(part)?;
                ensure!(
                    content.insert(media.clone(), described).is_none(),
                    "{media} is there twice"
                );
            }
        }
        None => _ = content.insert(JSON.to_owned(), json!({ "schema": schema(value)? })),
    }
    if content.is_empty() {
        bail!("it says nothing");
    }
    response["content"] = content.into();
    Ok(response)
}

/// A media type, a stream with the schema of its events, or a type that is answered as JSON.
fn one(text: &str) -> anyhow::Result<(String, Value)> {
    if !text.contains('/') {
        return Ok((JSON.to_owned(), json!({ "schema": schema(&text.into())? })));
    }
    Ok(match text.split_once(" of ") {
        // OpenAPI 3.1 has no words for what the events of a stream are.
        Some((media, event)) => {
            let events = schema(&event.into())?;
            (media.to_owned(), json!({ "x-events": events }))
        }
        None if text.starts_with("text/") && text != STREAM => {
            (text.to_owned(), json!({ "schema": { "type": "string" } }))
        }
        None => (text.to_owned(), json!({})),
    })
}
