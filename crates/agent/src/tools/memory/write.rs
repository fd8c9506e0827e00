//! `memory_write`: writes or deletes one of the person's memories.

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
    /// The whole text. Empty to forget the memory.
    #[schemars(length(max = 8000))]
    text: String,
    /// What it is for, in a sentence; unchanged by default.
    #[serde(default)]
    #[schemars(length(max = 300))]
    description: Option<String>,
    /// The version that memory_read returned, if it exists.
    #[serde(default)]
    #[schemars(range(min = 1))]
    version: Option<u64>,
    /// Keep it for yourself: other agents do not see it.
    #[serde(default)]
    only_for_me: bool,
}

pub(super) fn tool() -> Result<Tool, ToolFailure> {
    Tool::new(
        "memory_write",
        "Writes a memory of this person, which later chats have too. Use it for what they ask you to remember, and \
         for what will surely help later; never for secrets such as passwords. The person sees and can change it.",
        ToolKind::MARKED,
        write,
    )
}

async fn write(arguments: Arguments, context: ToolContext) -> Result<String, ToolFailure> {
    let Arguments {
        name,
        text,
        description,
        version,
        only_for_me,
    } = arguments;
    let name = checked_name(&name)?;
    let description = description.map(|text| text.split_whitespace().collect::<Vec<_>>().join(" "));
    let text = text.trim_end().to_owned();
    if text.is_empty() {
        change(&context, &name, only_for_me, Wish::Forget { version }).await?;
        return Ok(format!("Forgot “{name}”."));
    }
    let done = change(
        &context,
        &name,
        only_for_me,
        Wish::Write {
            text,
            description,
            version,
        },
    )
    .await?;
    Ok(format!(
        "Remembered “{}”, version {}.",
        done.name, done.version
    ))
}
