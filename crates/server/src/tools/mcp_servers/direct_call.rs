//! Tool calls that the program makes itself, outside of a run: without progress, and the server's questions are
//! cancelled.

use std::time::Duration;

use mcp::{CallEvent, Server, name_for_models};
use serde_json::{Map, Value};
use tokio::time::timeout;

use super::McpServers;

/// How long to wait for a server that is still connecting.
const CONNECTING: Duration = Duration::from_secs(5);
/// The id of the caller of these calls, which belong to no run.
const ASKER: &str = "glasshouse";

impl McpServers {
    /// Calls a tool by its name for models, with the arguments that `arguments` derives from its schema, and returns
    /// the result as text. Only servers without sign-in are called.
    ///
    /// # Errors
    /// Why the call failed, as a sentence that ends with a full stop.
    pub(crate) async fn ask(
        &self,
        tool: &str,
        arguments: impl FnOnce(&Map<String, Value>) -> Option<Map<String, Value>>,
        limit: Duration,
    ) -> Result<String, String> {
        let server = tool.split("__").next().unwrap_or_default();
        let current = self.current();
        let known = current.iter().find(|entry| entry.server.name == server);
        let server = &known
            .and_then(|entry| entry.shared())
            .ok_or_else(|| format!("there is no MCP server “{server}” here."))?
            .server;
        timeout(limit, call(server, tool, arguments))
            .await
            .unwrap_or_else(|_| Err("it does not answer in time.".to_owned()))
    }
}

async fn call(
    server: &Server,
    tool: &str,
    arguments: impl FnOnce(&Map<String, Value>) -> Option<Map<String, Value>>,
) -> Result<String, String> {
    let definition = server.definition();
    let status = server.first_attempt(CONNECTING).await;
    let offer = status
        .tools
        .iter()
        .find(|offer| name_for_models(&definition.name, &offer.name) == tool);
    let offer = offer.ok_or_else(|| match status.state {
        mcp::State::Connected => {
            format!(
                "the MCP server “{}” has no tool “{tool}” now.",
                definition.name
            )
        }
        _ => format!("the MCP server “{}” is not connected now.", definition.name),
    })?;
    let arguments = arguments(&offer.schema)
        .ok_or_else(|| format!("the tool “{tool}” has no argument for a question."))?;
    // A server may echo secrets that it was sent.
    let redact = |text: &str| definition.redact_said(text);
    let failed = |error: mcp::CallError| redact(&error.to_string());
    let mut call = server
        .call(&offer.name, arguments, ASKER.to_owned())
        .await
        .map_err(failed)?;
    loop {
        match call.next().await {
            CallEvent::Progress(_) => {}
            CallEvent::Asks(question) => question.reply(mcp::Reply::Cancel),
            CallEvent::Ended(result) => {
                return result.map(|answer| redact(&answer.text())).map_err(failed);
            }
        }
    }
}
