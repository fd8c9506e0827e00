//! Holds every answer that the tests get against the OpenAPI document: an address that answers with a status, a type
//! or a field that is not described there fails the test that asked.

use std::{
    collections::HashMap,
    sync::{Arc, LazyLock, Mutex, PoisonError},
};

use jsonschema::Validator;
use reqwest::{Method, Url, header::HeaderMap};
use serde_json::{Value, json};

/// The document, with objects that have no further fields than those that are named.
static DOCUMENT: LazyLock<Value> = LazyLock::new(|| {
    let mut document = server::http::openapi::document().unwrap();
    close(&mut document);
    document
});

/// The addresses: method, and path with its open places.
static ROUTES: LazyLock<Vec<(Method, &str)>> = LazyLock::new(|| {
    server::http::table()
        .into_iter()
        // Those of runners are not public.
        .filter(|route| route.access != server::identity::auth::Access::Runner)
        .map(|route| (route.method, route.path))
        .collect()
});

/// Clients have to bear new fields, so the document leaves objects open; what we answer now has to be in it.
fn close(value: &mut Value) {
    match value {
        Value::Object(fields) => {
            fields.values_mut().for_each(close);
            let is_schema = fields.get("type").is_some_and(Value::is_string);
            if is_schema
                && fields.contains_key("properties")
                && !fields.contains_key("additionalProperties")
            {
                fields.insert("additionalProperties".to_owned(), json!(false));
            }
        }
        Value::Array(items) => items.iter_mut().for_each(close),
        _ => {}
    }
}

/// The route that an address belongs to: of those that fit the one with the most words of its own.
fn route(method: &Method, url: &Url) -> Option<&'static str> {
    let path: Vec<&str> = url.path().split('/').collect();
    let fits = |route: &str| {
        let parts: Vec<&str> = route.split('/').collect();
        let rest =
            parts.last().is_some_and(|last| last.starts_with("{*")) && path.len() >= parts.len();
        let same =
            |(part, at): (&&str, &&str)| part == at || part.starts_with('{') && !at.is_empty();
        (rest || path.len() == parts.len()) && parts.iter().zip(&path).all(same)
    };
    let fitting = ROUTES
        .iter()
        .filter(|(asked, route)| asked == method && fits(route));
    fitting
        .map(|(_, route)| *route)
        .min_by_key(|route| route.matches('{').count())
}

/// What the document says of an answer.
fn described(method: &Method, route: &str, status: u16) -> &'static Value {
    let path = &DOCUMENT["paths"][route.replace("{*", "{")];
    let answer = &path[method.as_str().to_ascii_lowercase()]["responses"][status.to_string()];
    let reference = answer["$ref"]
        .as_str()
        .and_then(|it| DOCUMENT.pointer(it.trim_start_matches('#')));
    reference.unwrap_or(answer)
}

/// Panics where the answer is not one that the document has.
#[track_caller]
pub(crate) fn check(method: &Method, url: &Url, status: u16, headers: &HeaderMap, text: &str) {
    let Some(route) = route(method, url) else {
        return;
    };
    let asked = format!("{method} {route} answered {status}");
    let answer = described(method, route, status);
    assert!(
        answer.is_object(),
        "{asked}, which the OpenAPI document does not have: {text}"
    );
    let media = headers
        .get("content-type")
        .map_or("", |it| it.to_str().unwrap());
    let media = media.split(';').next().unwrap_or("");
    let Some(content) = answer.get("content") else {
        assert!(
            text.is_empty(),
            "{asked} with a body, which the OpenAPI document does not have: {text}"
        );
        return;
    };
    let content = &content[media];
    assert!(
        content.is_object(),
        "{asked} as “{media}”, which the OpenAPI document does not have: {text}"
    );
    if media == "application/json" {
        check_json(
            &asked,
            &content["schema"],
            &serde_json::from_str(text).unwrap(),
        );
    }
}

/// Panics where an event is not one that the document has for this stream.
#[track_caller]
pub(crate) fn check_event(url: &Url, event: &str) {
    // Other formats are asked for by name, and are what their own pages say.
    if url.query_pairs().any(|(name, _)| name == "format") {
        return;
    }
    for method in [Method::GET, Method::POST] {
        let Some(route) = route(&method, url) else {
            continue;
        };
        let events = &described(&method, route, 200)["content"]["text/event-stream"]["x-events"];
        if events.is_object() {
            check_json(
                &format!("an event of {route}"),
                events,
                &serde_json::from_str(event).unwrap(),
            );
        }
    }
}

#[track_caller]
fn check_json(what: &str, schema: &Value, json: &Value) {
    if let Err(error) = validator(schema).validate(json) {
        panic!(
            "{what}, which does not fit the OpenAPI document at “{}”: {error}: {json}",
            error.instance_path()
        );
    }
}

/// Made once for each schema.
fn validator(schema: &Value) -> Arc<Validator> {
    static MADE: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);
    let mut made = MADE.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let mut whole = schema.clone();
        whole["components"] = DOCUMENT["components"].clone();
        Arc::new(jsonschema::validator_for(&whole).unwrap())
    };
    made.entry(schema.to_string()).or_insert_with(make).clone()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_described_is_seen() {
        let json = HeaderMap::from_iter([(
            reqwest::header::CONTENT_TYPE,
            "application/json".parse().unwrap(),
        )]);
        let check = |method: Method, path: &str, status: u16, headers: &HeaderMap, text: &str| {
            let url = Url::parse(&format!("http://localhost{path}")).unwrap();
            std::panic::catch_unwind(|| check(&method, &url, status, headers, text)).is_ok()
        };
        let (get, delete) = (Method::GET, Method::DELETE);
        let whose = r#"{"open": false, "readers": []}"#;
        let path = "/api/v1/chats/c/sharing";
        assert!(check(get.clone(), path, 200, &json, whose));
        assert!(
            !check(
                get.clone(),
                path,
                200,
                &json,
                r#"{"open": false, "readers": [], "more": 1}"#
            ),
            "a field"
        );
        assert!(
            !check(get.clone(), path, 200, &json, r#"{"open": false}"#),
            "a field is missing"
        );
        assert!(!check(get.clone(), path, 201, &json, whose), "a status");
        assert!(
            !check(get.clone(), path, 200, &HeaderMap::new(), whose),
            "a type"
        );
        let refused = r#"{"error": {"code": "forbidden", "message": "No."}}"#;
        assert!(check(get.clone(), path, 403, &json, refused));
        assert!(
            !check(get, path, 403, &json, &refused.replace("forbidden", "no")),
            "a code"
        );
        assert!(check(
            delete.clone(),
            "/api/v1/keys/k",
            204,
            &HeaderMap::new(),
            ""
        ));
        assert!(
            !check(delete, "/api/v1/keys/k", 204, &HeaderMap::new(), "more"),
            "a body"
        );
        let url = Url::parse("http://localhost/runs/r/events").unwrap();
        let event = r#"{"run": "r", "seq": 1, "at": 1, "body": {"type": "run_resumed"}}"#;
        check_event(&url, event);
        let other = event.replace("run_resumed", "unheard_of");
        assert!(std::panic::catch_unwind(|| check_event(&url, &other)).is_err());
    }
}
