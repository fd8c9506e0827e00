//! The MCP servers of the configuration file and their state. They can only be changed in that file.

use std::sync::Arc;

use axum::extract::State;
use domain::LocalizedText;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    http::{extract::Json, openapi::Operations},
    tools::mcp_servers::{McpServerNow, McpServers},
};

/// MCP servers.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct McpServerList {
    servers: Vec<McpServerView>,
}

/// An [MCP server](docs/tools/mcp-servers.md) of the configuration file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "McpServer")]
struct McpServerView {
    name: String,
    #[schemars(extend("enum" = ["stdio", "http"]))]
    kind: &'static str,
    #[schemars(extend("enum" = ["connecting", "connected", "down"]))]
    state: &'static str,
    /// A connected server may have problems too.
    problems: Vec<LocalizedText>,
    tools: Vec<ToolView>,
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
            .now()
            .into_iter()
            .map(McpServerView::from)
            .collect(),
    })
}

impl From<McpServerNow> for McpServerView {
    fn from(now: McpServerNow) -> Self {
        let McpServerNow {
            name,
            is_stdio,
            state,
            problems,
            tools,
        } = now;
        Self {
            name,
            kind: if is_stdio { "stdio" } else { "http" },
            state: state_word(state),
            problems,
            tools: tools
                .into_iter()
                .map(|(name, description, needs_approval)| {
                    tool_view(name, description, needs_approval)
                })
                .collect(),
        }
    }
}

pub(super) fn tool_view(name: String, description: String, needs_approval: bool) -> ToolView {
    ToolView {
        name,
        description,
        needs_approval,
    }
}

pub(super) fn state_word(state: mcp::State) -> &'static str {
    match state {
        mcp::State::Connecting => "connecting",
        mcp::State::Connected => "connected",
        mcp::State::Down => "down",
    }
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/mcp-servers", list, "Lists the [MCP servers](docs/tools/mcp-servers.md) of the configuration file")
        .details("Those with [per-user sign-in](docs/tools/mcp-servers.md#per-user-sign-in) are not included.");
}
