//! `move_file`: moves a file to another path.

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
    from: String,
    /// Its new path, where no file exists yet; missing folders are created.
    to: String,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "move_file",
        "Moves or renames one file, text or not. It does not replace another file.",
        ToolKind::ONCE,
        move_file,
    )
}

async fn move_file(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let from = Path::parse_file(&arguments.from)?;
    let to = Path::parse_file(&arguments.to)?;
    let (gone, here) = context.workspace().rename(&from, &to).await?;
    context.emit(gone.event(&from)).await;
    context.emit(here.event(&to)).await;
    Ok(format!("Moved {from} to {to}, {} bytes.", here.size_bytes))
}
