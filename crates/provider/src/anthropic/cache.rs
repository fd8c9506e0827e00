//! Places cache breakpoints: after the tools, the system prompt, and in the conversation. Content added to the latest
//! request of the person, such as memories, is not repeated in the next turn of a chat, so the first call of a turn
//! marks the part before that request. Within a turn, the last two user turns are marked, as the next call repeats the
//! one and this one has repeated the other.

use super::{
    content::{Block, CacheControl, Kind},
    messages::{Conversation, Turn},
};

/// How many blocks before a breakpoint the provider searches for a cached prefix.
const LOOKBACK_BLOCKS: usize = 20;

/// Marks the system prompt and turns. The tools have their own breakpoint, so there are four, the maximum.
pub(crate) fn mark(conversation: &mut Conversation<'_>) {
    let turns = &mut conversation.turns;
    let mut of_user = turns
        .iter()
        .enumerate()
        .rev()
        .filter(|(_, turn)| turn.role == "user");
    let last = of_user.next();
    let repeated = of_user.next().map(|(at, _)| at);
    let Some((last, begins)) = last.map(|(at, turn)| (at, is_request(turn))) else {
        return;
    };
    mark_last(&mut turns[last].content);
    let earlier = turns[..last]
        .iter()
        .rposition(is_request)
        .filter(|at| begins && *at > 0);
    match (begins, last.checked_sub(1)) {
        (true, Some(stable)) => mark_last(&mut turns[stable].content),
        _ => repeated
            .into_iter()
            .for_each(|at| mark_last(&mut turns[at].content)),
    }
    match earlier {
        // The system prompt is part of the prefix that the previous turn has marked.
        Some(at) if is_far(&turns[at..last]) => mark_last(&mut turns[at - 1].content),
        _ => mark_last(&mut conversation.system),
    }
}

/// Whether it contains a request of the person, and not only results.
fn is_request(turn: &Turn<'_>) -> bool {
    turn.role == "user"
        && !turn
            .content
            .iter()
            .all(|block| matches!(block.kind, Kind::ToolResult { .. }))
}

/// Whether the cached prefix before these turns is out of reach of a breakpoint at their end.
fn is_far(turns: &[Turn<'_>]) -> bool {
    turns.iter().map(|turn| turn.content.len()).sum::<usize>() >= LOOKBACK_BLOCKS
}

fn mark_last(blocks: &mut [Block<'_>]) {
    let markable = |block: &&mut Block<'_>| {
        !block.kind.is_thinking() && !matches!(block.kind, Kind::Stored(_))
    };
    if let Some(block) = blocks.iter_mut().rev().find(markable) {
        block.cache_control = Some(CacheControl::EPHEMERAL);
    }
}

/// Whether a prompt is worth caching: a single question without tools will hardly be sent again.
pub(crate) fn is_worth_it(conversation: &Conversation<'_>, has_tools: bool) -> bool {
    has_tools || conversation.turns.len() > 1
}
