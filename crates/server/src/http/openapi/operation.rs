//! Builds the OpenAPI operation of a route, with the responses that all routes of its kind have.

use anyhow::ensure;
use axum::http::Method;
use serde_json::{Map, Value, json};

use super::operations::Operation;
use crate::{
    http::{Route, unrouted::Protocol},
    identity::auth::Access,
};

const JSON: &str = "application/json";

/// The OpenAPI operation of a route.
pub(super) fn operation(route: &Route, described: Operation) -> anyhow::Result<Value> {
    ensure!(!described.summary.is_empty(), "it has no summary");
    ensure!(!described.responses.is_empty(), "it has no answer");
    let mut parameters: Vec<Value> = path_parameters(route.path);
    parameters.extend(described.parameters);
    let has_body = described.body.is_some();
    let mut operation = json!({
        "operationId": id(route),
        "summary": described.summary,
        "tags": [described.tag],
        "x-access": format!("{:?}", route.access).to_ascii_lowercase(),
        "security": if route.access == Access::Public { json!([]) } else { json!([{"session": []}, {"key": []}]) },
    });
    if !described.details.is_empty() {
        operation["description"] = described.details.into();
    }
    if let Some(body) = described.body {
        operation["requestBody"] = body;
    }
    let statuses = refused_with(route, &described.errors, has_body, !parameters.is_empty())?;
    let answers = described.responses.into_iter();
    let mut responses: Map<String, Value> = answers
        .map(|(status, response)| (status.to_string(), response))
        .collect();
    for status in statuses {
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

/// The schemas of error responses.
pub(super) fn refusals() -> Value {
    let text = json!({ "type": "string" });
    // Errors of a model server are passed on if they have a message; the other fields may be anything.
    let any = json!({});
    let code = json!({ "$ref": "#/components/schemas/ProblemCode" });
    let sentence = json!({ "$ref": "#/components/schemas/MessageCode" });
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

/// The error statuses that all routes of this kind have, and the given ones.
fn refused_with(
    route: &Route,
    named: &[u16],
    has_body: bool,
    has_parameters: bool,
) -> anyhow::Result<Vec<u16>> {
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
    for status in named {
        ensure!(!statuses.contains(status), "{status} need not be named");
        statuses.push(*status);
    }
    statuses.sort_unstable();
    Ok(statuses)
}

/// The operation id, such as `get_api_v1_chats_chat`.
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
