//! Library searches as a tool, so that they are part of the log and are not repeated after a restart.

use std::sync::Arc;

use llm::ToolSpec;
use serde_json::{Value, json};

use super::{Hits, Library, first_chars};
use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
};

/// Maximum number of results of a search.
const HITS: usize = 8;
/// The tool that searches a library. Its result is JSON, with at most `snippet_chars` characters per result.
pub(crate) fn tool(library: &Arc<dyn Library>, snippet_chars: usize) -> Result<Tool, ToolFailure> {
    let parameters = json!({"type": "object", "properties": {"query": {"type": "string"}}});
    let spec = ToolSpec {
        name: library.name().to_owned(),
        description: "Searches for sources.".to_owned(),
        parameters: parameters.into(),
    };
    let library = Arc::clone(library);
    Tool::from_outside(
        spec,
        ToolKind::REPEATABLE,
        move |arguments: Value, context: ToolContext| {
            let library = Arc::clone(&library);
            async move {
                let query = arguments["query"].as_str().unwrap_or_default();
                let Hits {
                    places: mut hits,
                    note,
                } = tokio::select! {
                    () = context.agent.run.finish.cancelled() => return Err(not_any_more()),
                    hits = library.search(query, HITS) => hits?,
                };
                if let Some(note) = note {
                    context.progress(note).await;
                }
                hits.truncate(HITS);
                for hit in &mut hits {
                    hit.title = first_chars(&hit.title, 200);
                    hit.snippet = first_chars(&hit.snippet, snippet_chars);
                }
                // An address this long is a trap.
                hits.retain(|hit| hit.url.len() <= 1_000);
                serde_json::to_string_pretty(&hits).map_err(|error| ToolFailure(error.to_string()))
            }
        },
    )
}

fn not_any_more() -> ToolFailure {
    ToolFailure("The report is written now, with what is known.".to_owned())
}
