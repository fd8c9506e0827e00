//! The tool for the graphs of the caller's documents, for MCP clients.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, Tool, ToolAnnotations},
};
use serde_json::Value;

use super::{Visit, handler::schema};
use crate::{
    documents::{GRAPH_TOOL, Scope, graph_spec, walk},
    identity::groups::Resource,
};

/// The tool, if the caller may use it and there is a graph to search.
pub(super) async fn tool(Visit { app, caller, .. }: &Visit) -> Result<Option<Tool>, ErrorData> {
    if caller.person.is_some()
        || !app
            .gateway
            .permit_of(caller)
            .allows(Resource::Tool(GRAPH_TOOL))
    {
        return Ok(None);
    }
    let spec = graph_spec(&app.store, caller.id(), &Scope::default()).await;
    let spec = spec.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(spec.map(|spec| {
        let input = serde_json::to_value(&spec.parameters).unwrap_or_default();
        let is = ToolAnnotations::from_raw(None, Some(true), Some(false), Some(true), Some(false));
        Tool::new(GRAPH_TOOL, spec.description, schema(input))
            .with_title("Walk along a graph")
            .with_annotations(is)
    }))
}

/// Runs the tool. Errors are tool results too, so that the calling model sees them.
pub(super) async fn answer(Visit { app, caller, .. }: &Visit, arguments: Value) -> CallToolResult {
    match walk(&app.documents, caller.id(), &Scope::default(), arguments).await {
        Ok(walked) => CallToolResult::success(vec![ContentBlock::text(walked.said)]),
        Err(problem) => CallToolResult::error(vec![ContentBlock::text(problem)]),
    }
}
