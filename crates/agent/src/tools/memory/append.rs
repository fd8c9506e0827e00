//! `memory_append`: appends to one of the person's memories.

use schemars::JsonSchema;
use serde::Deserialize;

use super::{change, checked_name};
use crate::{
    Tool, ToolFailure,
    memory::Wish,
    tool::{ToolContext, ToolKind},
};

#[derive(Deserialize, JsonSchema)]
struct Arguments {
    /// Its name.
    #[schemars(length(min = 1, max = 80))]
    name: String,
    /// What to add, on lines of its own.
    #[schemars(length(min = 1, max = 8000))]
    text: String,
    /// Keep it for yourself: other agents do not see it.
    #[serde(default)]
    only_for_me: bool,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "memory_append",
        "Adds lines to the end of a memory of this person; creates it if it does not exist.",
        ToolKind::MARKED,
        append,
    )
}

async fn append(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let name = checked_name(&arguments.name)?;
    let text = arguments.text.trim_end().to_owned();
    if text.is_empty() {
        return Err(ToolFailure("There is nothing to add.".to_owned()));
    }
    let done = change(
        &context,
        &name,
        arguments.only_for_me,
        Wish::Append { text },
    )
    .await?;
    Ok(format!(
        "Added to “{}”, now version {}.",
        done.name, done.version
    ))
}
