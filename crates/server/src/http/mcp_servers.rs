//! The MCP servers of the configuration file and of the settings: list, add, change, test and delete.

use std::sync::Arc;

use axum::{extract::State, http::StatusCode};
use domain::LocalizedText;
use llm::Secret;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{
    error::ApiError,
    http::{
        extract::{Json, Path},
        openapi::Operations,
    },
    identity::audit::Noted,
    platform::config::{Approval, McpTransport, SignIn, SignInKind},
    tools::mcp_servers::{
        ListedMcpServer, McpServerChange, McpServers, McpSource, TestedMcpServer,
    },
};

/// MCP servers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct McpServerList {
    servers: Vec<McpServerView>,
}

/// An [MCP server](docs/tools/mcp-servers.md). Of its secrets only the names are returned.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpServer")]
pub(super) struct McpServerView {
    name: String,
    #[schemars(extend("enum" = ["stdio", "http"]))]
    kind: &'static str,
    source: McpSource,
    enabled: bool,
    /// `personal` if each person signs in and has a connection of their own, `off` if it is not used.
    #[schemars(extend("enum" = ["connecting", "connected", "down", "personal", "off"]))]
    state: &'static str,
    /// A connected server may have problems too.
    problems: Vec<LocalizedText>,
    tools: Vec<ToolView>,
    /// Its address; `null` for a program.
    url: Option<String>,
    /// The names of the headers of every request.
    headers: Vec<String>,
    sign_in: SignInKind,
    /// The header of each person's token, if it is not `Authorization`.
    token_header: Option<String>,
    oauth: Option<OAuthView>,
    approval: Approval,
    /// The only tools that are used, by their own names; empty for all.
    only_tools: Vec<String>,
    timeout_seconds: u64,
}

/// OAuth settings.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpOAuth")]
struct OAuthView {
    client_id: Option<String>,
    has_client_secret: bool,
    issuer: Option<String>,
    /// Separated by spaces.
    scopes: Option<String>,
}

/// A tool of an MCP server.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpTool")]
pub(super) struct ToolView {
    name: String,
    description: String,
    needs_approval: bool,
}

/// `GET /api/v1/mcp-servers`: all servers with their tools.
pub(super) async fn list(State(mcp_servers): State<Arc<McpServers>>) -> Json<McpServerList> {
    Json(McpServerList {
        servers: mcp_servers
            .list()
            .into_iter()
            .map(McpServerView::from)
            .collect(),
    })
}

impl From<ListedMcpServer> for McpServerView {
    fn from(listed: ListedMcpServer) -> Self {
        let ListedMcpServer {
            server,
            source,
            enabled,
            now,
            problem,
        } = listed;
        let is_personal = server.is_personal();
        let state = match &now {
            Some(now) => state_word(now.state),
            None if is_personal && enabled && problem.is_none() => "personal",
            None => "off",
        };
        let (problems, tools) = now.map_or_else(Default::default, |now| (now.problems, now.tools));
        let sign_in = server.sign_in();
        let token_header = match sign_in {
            SignIn::UserToken { header } => header.as_ref().map(ToString::to_string),
            SignIn::Shared | SignIn::OAuth(_) => None,
        };
        let oauth = match sign_in {
            SignIn::OAuth(oauth) => Some(OAuthView {
                client_id: oauth.client_id.clone(),
                has_client_secret: oauth.client_secret.is_some(),
                issuer: oauth.issuer.clone(),
                scopes: oauth.scopes.clone(),
            }),
            SignIn::Shared | SignIn::UserToken { .. } => None,
        };
        let (kind, url, headers) = match &server.way {
            McpTransport::Command { .. } => ("stdio", None, &[][..]),
            McpTransport::Url { url, headers, .. } => ("http", Some(url.to_string()), &headers[..]),
        };
        Self {
            kind,
            source,
            enabled,
            state,
            problems: problem.into_iter().chain(problems).collect(),
            tools: tool_views(tools),
            url,
            headers: names(headers),
            sign_in: sign_in.kind(),
            token_header,
            oauth,
            approval: server.approval,
            only_tools: server.tools.clone(),
            timeout_seconds: server.call_timeout.as_secs(),
            name: server.name,
        }
    }
}

fn names(headers: &[(String, Secret)]) -> Vec<String> {
    headers.iter().map(|(name, _)| name.clone()).collect()
}

pub(super) fn tool_views(tools: Vec<(String, String, bool)>) -> Vec<ToolView> {
    let view = |(name, description, needs_approval)| ToolView {
        name,
        description,
        needs_approval,
    };
    tools.into_iter().map(view).collect()
}

pub(super) fn state_word(state: mcp::State) -> &'static str {
    match state {
        mcp::State::Connecting => "connecting",
        mcp::State::Connected => "connected",
        mcp::State::Down => "down",
    }
}

/// A new MCP server with streamable HTTP.
#[derive(Deserialize, JsonSchema)]
pub(super) struct NewMcpServer {
    /// The first part of its tools' names: 1 to 32 letters, digits, `-` and single `_`.
    name: String,
    #[serde(flatten)]
    settings: McpServerChange,
}

/// `POST /api/v1/mcp-servers`: tests a server and stores it.
pub(super) async fn create(
    State(mcp_servers): State<Arc<McpServers>>,
    noted: Noted,
    Json(body): Json<NewMcpServer>,
) -> Result<Json<McpServerView>, ApiError> {
    let name = body.name.trim();
    note(&noted, name, &body.settings);
    Ok(Json(mcp_servers.add(name, body.settings).await?.into()))
}

/// `PATCH /api/v1/mcp-servers/{server}`: changes the given settings.
pub(super) async fn change(
    State(mcp_servers): State<Arc<McpServers>>,
    noted: Noted,
    Path(server): Path<String>,
    Json(body): Json<McpServerChange>,
) -> Result<Json<McpServerView>, ApiError> {
    note(&noted, &server, &body);
    Ok(Json(mcp_servers.change(&server, body).await?.into()))
}

/// `DELETE /api/v1/mcp-servers/{server}`: deletes a server and the credentials of its users.
pub(super) async fn delete(
    State(mcp_servers): State<Arc<McpServers>>,
    noted: Noted,
    Path(server): Path<String>,
) -> Result<StatusCode, ApiError> {
    noted.about(&server, &server);
    mcp_servers.delete(&server).await?;
    Ok(StatusCode::NO_CONTENT)
}

/// The outcome of a test.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpServerTest")]
pub(super) struct TestView {
    /// Whether it works, but lists its tools only to people who have signed in.
    wants_sign_in: bool,
    problems: Vec<LocalizedText>,
    tools: Vec<ToolView>,
}

impl From<TestedMcpServer> for TestView {
    fn from(tested: TestedMcpServer) -> Self {
        let wants_sign_in = tested.now.is_none();
        let (problems, tools) = tested
            .now
            .map_or_else(Default::default, |now| (now.problems, now.tools));
        Self {
            wants_sign_in,
            problems,
            tools: tool_views(tools),
        }
    }
}

/// `POST /api/v1/mcp-servers/test`: connects to a server without storing it.
pub(super) async fn test(
    State(mcp_servers): State<Arc<McpServers>>,
    noted: Noted,
    Json(body): Json<McpServerChange>,
) -> Result<Json<TestView>, ApiError> {
    note(&noted, "", &body);
    Ok(Json(mcp_servers.try_out(None, body).await?.into()))
}

/// `POST /api/v1/mcp-servers/{server}/test`: connects to a stored server with the given changes.
pub(super) async fn test_changed(
    State(mcp_servers): State<Arc<McpServers>>,
    noted: Noted,
    Path(server): Path<String>,
    Json(body): Json<McpServerChange>,
) -> Result<Json<TestView>, ApiError> {
    note(&noted, &server, &body);
    Ok(Json(mcp_servers.try_out(Some(&server), body).await?.into()))
}

/// Adds the settings to the audit entry; of headers the names only, and no secret.
fn note(noted: &Noted, name: &str, settings: &McpServerChange) {
    let shortened = |text: &String| text.chars().take(300).collect::<String>();
    noted.about(name, name);
    noted.with("url", settings.url.as_ref().map(shortened));
    let headers: Vec<&String> = settings.headers.keys().collect();
    noted.with("headers", (!headers.is_empty()).then_some(headers));
    noted.with("sign_in", settings.sign_in);
    noted.with(
        "token_header",
        settings.token_header.as_ref().map(shortened),
    );
    if let Some(oauth) = &settings.oauth {
        noted.with("client_id", oauth.client_id.as_ref().map(shortened));
        noted.with("issuer", oauth.issuer.as_ref().map(shortened));
        noted.with("scopes", oauth.scopes.as_ref().map(shortened));
    }
    noted.with("approval", settings.approval);
    noted.with("tools", &settings.tools);
    noted.with("timeout_seconds", settings.timeout_seconds);
    noted.with("enabled", settings.enabled);
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/mcp-servers", list, "Lists the [MCP servers](docs/tools/mcp-servers.md)")
        .details("The connections of people who [sign in](docs/tools/mcp-servers.md#per-user-sign-in) are not included.");
    api.handler(
        "POST /api/v1/mcp-servers",
        create,
        "Adds an MCP server, and tests it first",
    )
    .details("422 with the reason if it does not work. Programs can only be defined in the configuration file.")
    .errors(&[409, 422]);
    api.handler(
        "POST /api/v1/mcp-servers/test",
        test,
        "Connects to an MCP server without adding it",
    )
    .errors(&[422]);
    api.handler(
        "POST /api/v1/mcp-servers/{server}/test",
        test_changed,
        "Connects to an MCP server with changed settings, without storing them",
    )
    .errors(&[409, 422]);
    api.handler(
        "PATCH /api/v1/mcp-servers/{server}",
        change,
        "Changes an MCP server of the settings",
    )
    .details("409 for one of the configuration file, and for another host while there are headers or a client secret.")
    .errors(&[409]);
    api.handler(
        "DELETE /api/v1/mcp-servers/{server}",
        delete,
        "Deletes an MCP server of the settings",
    )
    .details("The credentials of its users are deleted too.")
    .errors(&[409]);
}
