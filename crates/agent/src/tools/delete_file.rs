//! `delete_file`: deletes one file; its earlier versions are kept.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::Path,
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The file.
    path: String,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "delete_file",
        "Deletes one file. The person can bring it back.",
        // Not repeatable: another agent may have written a new one meanwhile.
        ToolKind::ONCE,
        delete_file,
    )
}

async fn delete_file(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let path = Path::parse_file(&arguments.path)?;
    let deleted = context.workspace().delete(&path, None).await?;
    context.emit(deleted.event(&path)).await;
    Ok(format!("Deleted {path}."))
}
