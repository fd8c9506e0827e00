//! `memory_read`: reads one of the person's memories.

use schemars::JsonSchema;
use serde::Deserialize;

use super::memory;
use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Its name.
    #[schemars(length(min = 1, max = 80))]
    name: String,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "memory_read",
        "Reads one memory of this person. The first line says its version, which memory_write asks for.",
        ToolKind::REPEATABLE,
        read,
    )
}

async fn read(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let block = memory(&context)
        .await?
        .read(&context.agent.spec.known_as, &arguments.name)
        .await?;
    Ok(format!("Version {}\n{}", block.version, block.content.text))
}
