//! MCP servers with per-user sign-in: their state for the caller, signing in and out.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::LocalizedText;
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::mcp_servers::{ToolView, state_word, tool_views};
use crate::{
    error::ApiError,
    gateway::Gateway,
    http::{
        extract::{Json, Path, Query},
        openapi::Operations,
    },
    identity::{
        Identity,
        auth::{Caller, Credential, own_url},
    },
    messages,
    platform::config::Config,
    tools::mcp_servers::{Back, Ended, McpServers, SignInState, Signer, UserServer},
};

/// The redirect URI of sign-ins.
const CALLBACK: &str = "/oauth/mcp/callback";

/// The caller's sign-ins.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpSignInList")]
pub(super) struct SignInList {
    servers: Vec<SignInView>,
}

/// An MCP server to which each person signs in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpSignIn")]
struct SignInView {
    name: String,
    #[schemars(extend("enum" = ["oauth", "user_token"]))]
    sign_in: &'static str,
    /// `lapsed` means that the caller has to sign in again.
    #[schemars(extend("enum" = ["signed_out", "lapsed", "connecting", "connected", "down"]))]
    state: &'static str,
    problems: Vec<LocalizedText>,
    tools: Vec<ToolView>,
}

/// `GET /api/v1/mcp-sign-ins`: the servers to which the caller can sign in.
pub(super) async fn list(
    State(gateway): State<Arc<Gateway>>,
    State(mcp_servers): State<Arc<McpServers>>,
    caller: Caller,
) -> Result<Json<SignInList>, ApiError> {
    let servers = mcp_servers
        .of(caller.id(), &gateway.permit_of(&caller))
        .await?
        .into_iter()
        .map(SignInView::from)
        .collect();
    Ok(Json(SignInList { servers }))
}

impl From<UserServer> for SignInView {
    fn from(
        UserServer {
            name,
            is_oauth,
            standing,
        }: UserServer,
    ) -> Self {
        let sign_in = if is_oauth { "oauth" } else { "user_token" };
        let full = messages::Tools::McpServerFull { name: name.clone() };
        let view = |state, problems, tools| Self {
            name,
            sign_in,
            state,
            problems,
            tools,
        };
        match standing {
            SignInState::SignedOut => view("signed_out", Vec::new(), Vec::new()),
            SignInState::Lapsed => view("lapsed", Vec::new(), Vec::new()),
            SignInState::SignedIn(None) => view("down", vec![full.into()], Vec::new()),
            SignInState::SignedIn(Some(now)) => {
                view(state_word(now.state), now.problems, tool_views(now.tools))
            }
        }
    }
}

/// Where to sign in.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpSignInAddress")]
pub(super) struct Begun {
    /// Where the browser goes.
    url: String,
}

/// `POST /api/v1/mcp-sign-ins/{server}`: starts a sign-in; the browser goes to the returned address.
pub(super) async fn begin(
    State(config): State<Arc<Config>>,
    State(gateway): State<Arc<Gateway>>,
    State(mcp_servers): State<Arc<McpServers>>,
    caller: Caller,
    Path(server): Path<String>,
    headers: HeaderMap,
) -> Result<Json<Begun>, ApiError> {
    let redirect = format!("{}{CALLBACK}", own_url(&config, &headers)?);
    let url = mcp_servers
        .begin_sign_in(
            &server,
            &gateway.permit_of(&caller),
            &signer(&caller),
            &redirect,
        )
        .await?;
    Ok(Json(Begun { url: url.into() }))
}

/// A token of the caller.
#[derive(Deserialize, JsonSchema)]
#[schemars(rename = "McpToken")]
pub(super) struct Token {
    token: String,
}

/// `PUT /api/v1/mcp-sign-ins/{server}`: stores a token of the caller.
pub(super) async fn put(
    State(gateway): State<Arc<Gateway>>,
    State(mcp_servers): State<Arc<McpServers>>,
    caller: Caller,
    Path(server): Path<String>,
    Json(body): Json<Token>,
) -> Result<StatusCode, ApiError> {
    let permit = gateway.permit_of(&caller);
    mcp_servers
        .put_token(&server, &permit, caller.id(), &Secret::new(body.token))
        .await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `DELETE /api/v1/mcp-sign-ins/{server}`: signs the caller out.
pub(super) async fn delete(
    State(mcp_servers): State<Arc<McpServers>>,
    caller: Caller,
    Path(server): Path<String>,
) -> Result<StatusCode, ApiError> {
    mcp_servers.sign_out(&server, caller.id()).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// `GET /oauth/mcp/callback`: completes a sign-in and redirects to the settings, which show the result; so the code
/// does not stay in the browser's address bar.
pub(super) async fn callback(
    State(identity): State<Arc<Identity>>,
    State(mcp_servers): State<Arc<McpServers>>,
    State(config): State<Arc<Config>>,
    headers: HeaderMap,
    back: Result<Query<Back>, ApiError>,
) -> Result<Response, ApiError> {
    let ended = match (Caller::identify(&identity, &headers).await?, back) {
        (None, _) => "signed_out",
        (Some(_), Err(_)) => "unknown",
        (Some(caller), Ok(Query(back))) => {
            word(mcp_servers.finish_sign_in(&signer(&caller), back).await?)
        }
    };
    let place = config.address_of(&format!("/settings/sign-ins?sign_in={ended}"));
    let place = HeaderValue::try_from(place).map_err(ApiError::internal)?;
    let no_store = HeaderValue::from_static("no-store");
    Ok((
        StatusCode::SEE_OTHER,
        [(header::LOCATION, place), (header::CACHE_CONTROL, no_store)],
    )
        .into_response())
}

fn word(ended: Ended) -> &'static str {
    match ended {
        Ended::Done => "done",
        Ended::Unknown => "unknown",
        Ended::Denied => "denied",
        Ended::WrongIssuer => "wrong_issuer",
        Ended::Refused => "refused",
        Ended::Unreachable => "unreachable",
    }
}

fn signer(caller: &Caller) -> Signer {
    let session = match caller.credential {
        Credential::Session(id) => id.to_string(),
        Credential::Key(id) => id.to_string(),
        Credential::Proxy => "proxy".to_owned(),
        Credential::Local => "local".to_owned(),
    };
    Signer {
        user: caller.id(),
        session,
    }
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/mcp-sign-ins",
        list,
        "Lists the MCP servers to which each person signs in",
    );
    api.handler(
        "POST /api/v1/mcp-sign-ins/{server}",
        begin,
        "Begins a sign-in",
    )
    .details("422 with the reason, 429 if 20 are open.")
    .errors(&[409, 422, 429]);
    api.handler(
        "PUT /api/v1/mcp-sign-ins/{server}",
        put,
        "Signs in with a token, for a server with `user_token`",
    )
    .errors(&[409, 422]);
    api.handler("DELETE /api/v1/mcp-sign-ins/{server}", delete, "Signs out");
    api.operation(
        "GET /oauth/mcp/callback",
        "Receives the browser from an MCP server's sign-in, with the session that began",
    )
    .details(
        "Redirects to `/settings/sign-ins?sign_in=`… `done`, `unknown`, `denied`, `wrong_issuer`, \
         `refused`, `unreachable` or `signed_out`.",
    )
    .query::<Back>()
    .answers_nothing(303);
}
