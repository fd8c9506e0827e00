//! A server of notes with a sign-in of its own: each person has other notes and another tool. It gives tokens that work
//! once and run out, and says in its answers what it was sent.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

use axum::{
    Json, Router,
    extract::{Query, State},
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Redirect, Response},
    routing::{get, post},
};
use base64::{Engine, engine::general_purpose::URL_SAFE_NO_PAD};
use serde_json::{Value, json};
use server::platform::secret::hash_token;
use tokio_util::sync::DropGuard;

use crate::harness::serve_other;

type Fields = HashMap<String, String>;

/// Every token has this word in it.
pub(super) const CANARY: &str = "canary";

#[derive(Default)]
pub(super) struct Known {
    /// Codes with what they were asked with.
    codes: HashMap<String, Fields>,
    /// Tokens that work, with whose they are.
    pub(super) access: HashMap<String, String>,
    pub(super) refresh: HashMap<String, String>,
    pub(super) clients: usize,
    pub(super) given: usize,
    pub(super) renewed: usize,
    pub(super) revoked: usize,
    /// Nobody gets a new token for an old one.
    pub(super) is_strict: bool,
    /// Refuses to be called, though it was just given a token.
    pub(super) is_closed: bool,
    about: Value,
}

pub(super) struct Notes {
    pub(super) url: String,
    pub(super) known: Shared,
    _running: DropGuard,
}

type Shared = Arc<Mutex<Known>>;

impl Notes {
    pub(super) async fn start() -> Self {
        Self::start_saying(Value::Null).await
    }

    /// One that says this of itself, if anything; `OWN` stands for its address.
    pub(super) async fn start_saying(about: Value) -> Self {
        let known = Arc::new(Mutex::new(Known {
            about,
            ..Known::default()
        }));
        let routes = Router::new()
            .route("/mcp", post(mcp))
            .route("/.well-known/oauth-protected-resource/mcp", get(resource))
            .route("/.well-known/oauth-authorization-server", get(metadata))
            .route("/register", post(register))
            .route("/authorize", get(authorize))
            .route("/token", post(token))
            .route("/revoke", post(revoke))
            .with_state(known.clone());
        let (address, running) = serve_other(routes).await;
        Self {
            url: format!("http://{address}"),
            known,
            _running: running,
        }
    }
}

fn own(headers: &HeaderMap) -> String {
    format!("http://{}", headers[header::HOST].to_str().unwrap())
}

async fn resource(State(known): State<Shared>, headers: HeaderMap) -> Json<Value> {
    let own = own(&headers);
    let about = &known.lock().unwrap().about;
    if !about.is_null() {
        return Json(about.to_string().replace("OWN", &own).parse().unwrap());
    }
    Json(json!({ "resource": format!("{own}/mcp"), "authorization_servers": [own] }))
}

async fn metadata(headers: HeaderMap) -> Json<Value> {
    let own = own(&headers);
    Json(json!({
        "issuer": own,
        "authorization_endpoint": format!("{own}/authorize?from=notes"),
        "token_endpoint": format!("{own}/token"),
        "registration_endpoint": format!("{own}/register"),
        "revocation_endpoint": format!("{own}/revoke"),
        "code_challenge_methods_supported": ["S256"],
        "token_endpoint_auth_methods_supported": ["client_secret_post"],
        "authorization_response_iss_parameter_supported": true,
        "scopes_supported": ["notes", "offline_access"],
    }))
}

async fn register(State(known): State<Shared>, Json(about): Json<Value>) -> Response {
    let redirect = about["redirect_uris"][0].as_str().unwrap();
    assert!(redirect.ends_with("/oauth/mcp/callback"), "{redirect}");
    let mut known = known.lock().unwrap();
    known.clients += 1;
    let made = json!({ "client_id": "gh", "client_secret": format!("{CANARY}-client-secret") });
    (StatusCode::CREATED, Json(made)).into_response()
}

/// The person is in the query, as there is nobody to type it.
async fn authorize(
    State(known): State<Shared>,
    headers: HeaderMap,
    Query(asked): Query<Fields>,
) -> Redirect {
    let back = |words: &str| {
        let [redirect, state] = ["redirect_uri", "state"].map(|name| &asked[name]);
        Redirect::to(&format!(
            "{redirect}?state={state}&iss={}&{words}",
            own(&headers)
        ))
    };
    if asked.get("login").is_none_or(|login| login == "nobody") {
        return back("error=access_denied");
    }
    assert_eq!(asked["code_challenge_method"], "S256");
    assert_eq!(asked["resource"], format!("{}/mcp", own(&headers)));
    assert_eq!(
        (&*asked["scope"], &*asked["from"]),
        ("notes offline_access", "notes")
    );
    let mut known = known.lock().unwrap();
    let code = format!("{CANARY}-code-{}", known.codes.len());
    known.codes.insert(code.clone(), asked.clone());
    back(&format!("code={code}"))
}

fn fields(form: &str) -> Fields {
    let url = reqwest::Url::parse(&format!("http://x/?{form}")).unwrap();
    url.query_pairs().into_owned().collect()
}

async fn token(State(known): State<Shared>, form: String) -> Response {
    let form = fields(&form);
    let mut known = known.lock().unwrap();
    let refused =
        |error: &str| (StatusCode::BAD_REQUEST, Json(json!({ "error": error }))).into_response();
    if form["client_id"] != "gh" || form["client_secret"] != format!("{CANARY}-client-secret") {
        return refused("invalid_client");
    }
    let login = match form["grant_type"].as_str() {
        "authorization_code" => known.codes.remove(&form["code"]).filter(|asked| {
            let proof = URL_SAFE_NO_PAD.encode(hash_token(&form["code_verifier"]));
            proof == asked["code_challenge"]
                && form["redirect_uri"] == asked["redirect_uri"]
                && form["resource"] == asked["resource"]
        }),
        _ if known.is_strict => None,
        _ => {
            known.renewed += 1;
            let login = known.refresh.remove(&form["refresh_token"]);
            login.map(|login| Fields::from([("login".to_owned(), login)]))
        }
    };
    let Some(login) = login.map(|asked| asked["login"].clone()) else {
        return refused("invalid_grant");
    };
    known.given += 1;
    let (access, refresh) = (
        format!("{CANARY}-access-{}", known.given),
        format!("{CANARY}-refresh-{}", known.given),
    );
    known.access.insert(access.clone(), login.clone());
    known.refresh.insert(refresh.clone(), login);
    Json(json!({
        "access_token": access, "refresh_token": refresh, "token_type": "Bearer", "expires_in": 3600,
    }))
    .into_response()
}

async fn revoke(State(known): State<Shared>, form: String) -> StatusCode {
    let form = fields(&form);
    let mut known = known.lock().unwrap();
    known.revoked += usize::from(known.refresh.remove(&form["token"]).is_some());
    StatusCode::OK
}

async fn mcp(
    State(known): State<Shared>,
    headers: HeaderMap,
    Json(message): Json<Value>,
) -> Response {
    let sent = headers
        .get(header::AUTHORIZATION)
        .or(headers.get("x-notes-key"));
    let sent = sent
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let token = sent.trim_start_matches("Bearer ");
    let known = known.lock().unwrap();
    let Some(login) = known.access.get(token).filter(|_| !known.is_closed) else {
        let place = format!("{}/.well-known/oauth-protected-resource/mcp", own(&headers));
        let challenge = format!(
            "Bearer error=\"invalid_token\", resource_metadata=\"{place}\", scope=\"notes\""
        );
        return (
            StatusCode::UNAUTHORIZED,
            [(header::WWW_AUTHENTICATE, challenge)],
            token.to_owned(),
        )
            .into_response();
    };
    let result = match message["method"].as_str().unwrap() {
        "initialize" => json!({
            "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
            "serverInfo": { "name": "notes", "version": "1" },
        }),
        "tools/list" => {
            let tool = |name: &str| {
                json!({
                    "name": name, "description": format!("For {login} with {token}."),
                    "inputSchema": { "type": "object" }, "annotations": { "readOnlyHint": true },
                })
            };
            // Two that no model may see.
            let mut odd = tool("odd");
            odd["inputSchema"]["properties"] =
                json!({ "a": { "properties": { token: { "type": "string" } } } });
            json!({ "tools": [tool("read"), tool(&format!("only_{login}")), tool(&format!("t-{token}")), odd] })
        }
        "tools/call" => {
            json!({ "content": [{ "type": "text", "text": format!("Notes of {login}, read with {token}.") }] })
        }
        "ping" => json!({}),
        _ => return StatusCode::ACCEPTED.into_response(),
    };
    Json(json!({ "jsonrpc": "2.0", "id": message["id"], "result": result })).into_response()
}
