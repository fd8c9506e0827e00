//! Web search and fetch as tools for MCP clients. Addresses in a call count as named by the caller: see decision 0066.

use llm::ToolSpec;
use rmcp::model::{CallToolResult, ContentBlock, Tool, ToolAnnotations};
use serde_json::{Value, json};
use web_access::WebHit;

use super::{Visit, handler::schema};
use crate::{
    identity::groups::Resource,
    web::{FETCH, PagePart, SEARCH, fetch_spec, search_spec},
};

/// Whether the tool is configured and the caller may use it.
pub(super) fn has(Visit { app, caller, .. }: &Visit, name: &str) -> bool {
    let is_here = match name {
        SEARCH => app.web.searches(&caller.principal()),
        FETCH => app.web.reads(),
        _ => false,
    };
    is_here && app.gateway.permit_of(caller).allows(Resource::Tool(name))
}

/// The tools that the caller may use.
pub(super) fn tools(visit: &Visit) -> impl Iterator<Item = Tool> {
    let search = has(visit, SEARCH).then(|| tool(search_spec(), "Search the web", search_output()));
    let fetch =
        has(visit, FETCH).then(|| tool(fetch_spec(), "Read a page of the web", fetch_output()));
    search.into_iter().chain(fetch)
}

fn tool(spec: ToolSpec, title: &str, output: Value) -> Tool {
    let input = serde_json::to_value(&spec.parameters).unwrap_or_default();
    // Read-only and open-world: clients use these hints to decide whether to ask the user.
    let is = ToolAnnotations::from_raw(None, Some(true), Some(false), Some(true), Some(true));
    Tool::new(spec.name, spec.description, schema(input))
        .with_title(title)
        .with_raw_output_schema(schema(output))
        .with_annotations(is)
}

/// Runs one of the tools. Errors are tool results too, so that the calling model sees them.
pub(super) async fn answer(
    Visit { app, caller, .. }: &Visit,
    name: &str,
    arguments: Value,
) -> CallToolResult {
    let answered = match name {
        SEARCH => app
            .web
            .found(&caller.principal(), arguments)
            .await
            .map(|(hits, said)| {
                (
                    said,
                    json!({ "pages": hits.iter().map(hit).collect::<Vec<_>>() }),
                )
            }),
        _ => app.web.part(caller.id(), arguments).await.map(|read| {
            let structure = page(&read);
            (read.said, structure)
        }),
    };
    match answered {
        Ok((said, structure)) => {
            let mut result = CallToolResult::success(vec![ContentBlock::text(said)]);
            result.structured_content = Some(structure);
            result
        }
        Err(failure) => CallToolResult::error(vec![ContentBlock::text(failure.0)]),
    }
}

fn hit(
    WebHit {
        title,
        url,
        snippet,
        ..
    }: &WebHit,
) -> Value {
    json!({ "title": title, "url": url, "snippet": snippet })
}

fn page(
    PagePart {
        page, from, part, ..
    }: &PagePart,
) -> Value {
    json!({
        "page": page.id, "url": page.url, "title": page.title, "fetched_at": page.fetched_at,
        "from": from, "to": from + part.chars().count(), "characters": page.text.chars().count(), "text": part,
    })
}

fn search_output() -> Value {
    let text = json!({"type": "string"});
    let page = json!({
        "type": "object",
        "properties": {"title": text, "url": text, "snippet": text},
        "required": ["title", "url", "snippet"],
    });
    json!({"type": "object", "properties": {"pages": {"type": "array", "items": page}}, "required": ["pages"]})
}

fn fetch_output() -> Value {
    let text = json!({"type": "string"});
    let count = json!({"type": "integer", "minimum": 0});
    json!({
        "type": "object",
        "properties": {
            "page": text, "url": text, "title": text, "text": text, "from": count, "to": count, "characters": count,
            "fetched_at": {"type": "integer", "description": "When this copy was made, milliseconds since 1970."},
        },
        "required": ["page", "url", "title", "text", "from", "to", "characters", "fetched_at"],
    })
}
