//! The tool that searches the caller's documents, for MCP clients: results as text and as data.

use rmcp::{
    ErrorData,
    model::{CallToolResult, ContentBlock, Tool, ToolAnnotations},
};
use serde_json::{Value, json};

use super::{Visit, handler::schema};
use crate::{
    documents::{Found, SEARCH_TOOL, Scope, look, spec},
    identity::groups::Resource,
};

/// The tool, if the caller may use it and has something to search. Documents belong to accounts, not to the people of a
/// front end.
pub(super) async fn tool(Visit { app, caller, .. }: &Visit) -> Result<Option<Tool>, ErrorData> {
    if caller.person.is_some()
        || !app
            .gateway
            .permit_of(caller)
            .allows(Resource::Tool(SEARCH_TOOL))
    {
        return Ok(None);
    }
    let spec = spec(&app.store, caller.id(), &Scope::default()).await;
    let spec = spec.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
    Ok(spec.map(|spec| {
        let input = serde_json::to_value(&spec.parameters).unwrap_or_default();
        Tool::new(SEARCH_TOOL, spec.description, schema(input))
            .with_title("Search documents")
            .with_raw_output_schema(schema(output()))
            .with_annotations(ToolAnnotations::from_raw(
                None,
                Some(true),
                Some(false),
                Some(true),
                Some(false),
            ))
    }))
}

/// Runs the tool. Errors are tool results too, so that the calling model sees them.
pub(super) async fn answer(Visit { app, caller, .. }: &Visit, arguments: Value) -> CallToolResult {
    match look(
        &app.documents,
        &caller.principal(),
        &Scope::default(),
        arguments,
    )
    .await
    {
        Ok((found, said)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(said)]);
            result.structured_content =
                Some(json!({ "passages": found.iter().map(passage).collect::<Vec<_>>() }));
            result
        }
        Err(problem) => CallToolResult::error(vec![ContentBlock::text(problem)]),
    }
}

fn passage(found: &Found) -> Value {
    let Found {
        collection,
        collection_name,
        document,
        name,
        start,
        end,
        page,
        time,
        headings,
        text,
        scores,
        ..
    } = found;
    json!({
        "collection": collection, "collection_name": collection_name, "document": document, "name": name,
        "start": start, "end": end, "page": page, "time": time, "headings": headings, "text": text, "score": scores.fused,
    })
}

fn output() -> Value {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    let passage = json!({
        "type": "object",
        "properties": {
            "collection": text, "collection_name": text, "document": text, "name": text,
            "start": count, "end": count, "page": {"type": ["integer", "null"]}, "time": {"type": ["integer", "null"]},
            "headings": {"type": "array", "items": text}, "text": text, "score": {"type": "number"},
        },
        "required": ["collection", "document", "name", "start", "end", "text"],
    });
    json!({
        "type": "object",
        "properties": {"passages": {"type": "array", "items": passage}},
        "required": ["passages"],
    })
}
