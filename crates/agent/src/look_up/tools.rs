//! The tools of a retrieval: searching a library, and reading a page for its relevant passages.

use std::{sync::Arc, time::Duration};

use llm::ToolSpec;
use serde_json::{Value, json};

use super::{LookUp, found::read_page};
use crate::{
    Tool, ToolFailure, ToolKind,
    library::{Hit, Library, search},
};

/// The name of the page-reading tool in the log.
pub(super) const READ: &str = "fetch_page";

/// Maximum length of a passage of a document, and of a page's search snippet, characters.
const PASSAGE_CHARS: usize = 4_000;
const SNIPPET_CHARS: usize = 400;
/// Maximum time to wait for a page.
const PATIENCE: Duration = Duration::from_secs(20);

/// The tools of this retrieval.
pub(super) fn all(look_up: &LookUp) -> Vec<Arc<Tool>> {
    let documents = look_up
        .documents
        .as_ref()
        .map(|library| search::tool(library, PASSAGE_CHARS));
    let web = look_up.web.as_ref().map(|library| {
        search::tool(library, SNIPPET_CHARS).map(|tool| tool.finding_addresses(addresses))
    });
    let read = look_up
        .web
        .as_ref()
        .filter(|_| look_up.reads)
        .map(|library| read(library, look_up.passages).map(|tool| tool.opening("url")));
    let usable = |tool: Result<Tool, ToolFailure>| match tool {
        Ok(tool) => Some(Arc::new(tool)),
        Err(failure) => {
            tracing::error!(%failure, "failed to create a retrieval tool");
            None
        }
    };
    [documents, web, read]
        .into_iter()
        .flatten()
        .filter_map(usable)
        .collect()
}

/// The addresses in the results of [`search`].
fn addresses(said: &str) -> Vec<String> {
    let hits: Vec<Hit> = serde_json::from_str(said).unwrap_or_default();
    hits.into_iter().map(|hit| hit.url).collect()
}

fn read(library: &Arc<dyn Library>, passages: usize) -> Result<Tool, ToolFailure> {
    let text = || json!({"type": "string"});
    let parameters = json!({"type": "object", "properties": {"url": text(), "about": text()}, "required": ["url"]});
    let spec = ToolSpec {
        name: READ.to_owned(),
        description: "Reads a page for what is looked for.".to_owned(),
        parameters: parameters.into(),
    };
    let library = Arc::clone(library);
    Tool::from_outside(spec, ToolKind::REPEATABLE, move |arguments: Value, _| {
        let library = Arc::clone(&library);
        async move {
            let url = &arguments["url"];
            let about = &arguments["about"];
            let page = library.read(url.as_str().unwrap_or_default());
            let page = tokio::time::timeout(PATIENCE, page).await;
            let page = page
                .unwrap_or_else(|_| Err(ToolFailure("It does not answer in time.".to_owned())))?;
            let read = read_page(page, about.as_str().unwrap_or_default(), passages);
            serde_json::to_string_pretty(&read).map_err(|error| ToolFailure(error.to_string()))
        }
    })
}
