//! `memory_list`: lists the memories by name.

use schemars::JsonSchema;
use serde::Deserialize;

use super::memory;
use crate::{
    Tool, ToolFailure,
    tool::{ToolContext, ToolKind},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "memory_list",
        "Lists what is remembered of this person beyond this chat: names, what they are for, and sizes.",
        ToolKind::REPEATABLE,
        list,
    )
}

async fn list(_: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let blocks = memory(&context)
        .await?
        .list(&context.agent.spec.known_as)
        .await?;
    let lines = blocks.iter().map(|block| {
        let content = &block.content;
        let what_for = match content.description.is_empty() {
            true => String::new(),
            false => format!(": {}", content.description),
        };
        let whose = if content.agent.is_empty() {
            ""
        } else {
            ", only yours"
        };
        format!(
            "{}{what_for} ({} characters{whose})",
            content.name,
            content.text.chars().count()
        )
    });
    let lines: Vec<String> = lines.collect();
    Ok(if lines.is_empty() {
        "Nothing is remembered yet.".to_owned()
    } else {
        lines.join("\n")
    })
}
