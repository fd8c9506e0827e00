//! The tools for a person's memories, which outlast a chat.

mod append;
mod list;
mod read;
mod search;
mod write;

use domain::EventBody;

use crate::{
    Memory, Tool, ToolFailure,
    memory::{Caller, Done, Wish},
    tool::ToolContext,
};

/// The read-only tools.
pub(crate) const LOOKING: [&str; 3] = ["memory_list", "memory_read", "memory_search"];
/// All tools.
pub const NAMES: [&str; 5] = [
    "memory_list",
    "memory_read",
    "memory_search",
    "memory_write",
    "memory_append",
];

pub(super) fn tools() -> Result<[Tool; 5], ToolFailure> {
    Ok([
        list::tool()?,
        read::tool()?,
        search::tool()?,
        write::tool()?,
        append::tool()?,
    ])
}

/// The memory, unless the person has turned it off, possibly a moment ago.
async fn memory(context: &ToolContext) -> Result<&Memory, ToolFailure> {
    let off = || ToolFailure("The person has turned the memory off. Go on without it.".to_owned());
    let memory = context.agent.run.deps.memory.as_ref().ok_or_else(off)?;
    if memory.is_on().await? {
        Ok(memory)
    } else {
        Err(off())
    }
}

/// Makes a change. The log records once that it begins and how it ended.
async fn change(
    context: &ToolContext,
    name: &str,
    only_for_me: bool,
    wish: Wish,
) -> Result<Done, ToolFailure> {
    let memory = memory(context).await?;
    let journal = &context.agent.journal;
    let call = Some(context.call.clone());
    let named = Some(name.to_owned());
    let started = EventBody::MemoryUpdateStarted {
        call: call.clone(),
        name: named.clone(),
        chat: None,
    };
    journal.once(started).await;
    let caller = Caller {
        agent: &context.agent.spec.known_as,
        call: &context.call,
    };
    let done = memory.change(caller, name, only_for_me, wish).await;
    let end = match &done {
        Ok(done) => done.event(&context.call),
        Err(ToolFailure(why)) => EventBody::memory_update_failed(call, named, why),
    };
    journal.once(end).await;
    done
}

/// The normalized name.
fn checked_name(name: &str) -> Result<String, ToolFailure> {
    let name = name.trim();
    match name.is_empty() || name.chars().any(char::is_control) {
        true => Err(ToolFailure("A memory needs a name of one line.".to_owned())),
        false => Ok(name.to_owned()),
    }
}
