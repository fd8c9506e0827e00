//! Where the provider is to cache the prompt: after the tools, the system prompt, and the last two turns of the user, as the
//! next request repeats the one and this one has repeated the other.

use super::{
    content::{Block, CacheControl, Kind},
    messages::{Conversation, Turn},
};

/// Marks the system prompt and turns. The tools have a mark of their own, so there are four, which is the most allowed.
pub(in crate::provider) fn mark(conversation: &mut Conversation<'_>) {
    mark_last(&mut conversation.system);
    let of_user = |turn: &&mut Turn<'_>| turn.role == "user";
    for turn in conversation.turns.iter_mut().rev().filter(of_user).take(2) {
        mark_last(&mut turn.content);
    }
}

fn mark_last(blocks: &mut [Block<'_>]) {
    let markable =
        |block: &&mut Block<'_>| !block.kind.is_thinking() && !matches!(block.kind, Kind::Stored(_));
    if let Some(block) = blocks.iter_mut().rev().find(markable) {
        block.cache_control = Some(CacheControl::EPHEMERAL);
    }
}

/// Whether a prompt is worth caching: a single question without tools will hardly be sent again.
pub(in crate::provider) fn is_worth_it(conversation: &Conversation<'_>, has_tools: bool) -> bool {
    has_tools || conversation.turns.len() > 1
}
