//! `write_file`: creates a file or replaces it completely.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
    workspace::Path,
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// The file; its folders need not exist.
    path: String,
    /// The whole text of the file.
    content: String,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "write_file",
        "Writes a whole text file. An existing file is replaced: to change a part use edit_file.",
        // Repeatable: writing the same bytes again is harmless.
        ToolKind::REPEATABLE,
        write_file,
    )
}

async fn write_file(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let path = Path::parse_file(&arguments.path)?;
    let written = context
        .workspace()
        .write(&path, &arguments.content, None)
        .await?;
    let version = written.version;
    let size_bytes = written.size_bytes;
    let answer = match version {
        1 => format!("Wrote {path}, {size_bytes} bytes."),
        version => format!("Replaced {path}, {size_bytes} bytes, version {version}."),
    };
    context.emit(written.event(&path)).await;
    Ok(answer)
}
