//! Keeps a conversation within a model's context window.

use domain::{Message, Part, Role};

/// Tokens by rule of thumb: four bytes each, a picture a thousand, and a few for the frame.
pub(crate) fn estimate_tokens(message: &Message) -> usize {
    let content: usize = message
        .content
        .iter()
        .map(|part| match part {
            Part::Text { text } => text.len() / 4,
            Part::Image { .. } => 1_000,
        })
        .sum();
    let calls: usize =
        message.tool_calls.iter().map(|call| (call.name.len() + call.arguments.len()) / 4 + 8).sum();
    content + calls + 4
}

/// Leaves out the oldest messages until the rest fits into four fifths of `limit_tokens` (the answer needs
/// room too). The instructions and everything from the last user message on stay, and a tool's result never
/// stays without its call. Returns how many messages were left out.
pub(crate) fn fit(messages: &mut Vec<Message>, limit_tokens: u64) -> usize {
    let limit = usize::try_from(limit_tokens / 5 * 4).unwrap_or(usize::MAX);
    let sizes: Vec<usize> = messages.iter().map(estimate_tokens).collect();
    let mut size: usize = sizes.iter().sum();
    let first = usize::from(messages.first().is_some_and(|message| message.role == Role::System));
    let last = messages.iter().rposition(|message| message.role == Role::User).unwrap_or(0);
    let mut end = first;
    while size > limit && end < last {
        size -= sizes[end];
        end += 1;
        // Messages go in whole exchanges, up to the next one of the person.
        while end < last && messages[end].role != Role::User {
            size -= sizes[end];
            end += 1;
        }
    }
    messages.drain(first..end);
    end - first
}

#[cfg(test)]
mod tests {
    use super::*;

    fn conversation() -> Vec<Message> {
        let long = "x".repeat(4_000);
        vec![
            Message::text(Role::System, "be kind"),
            Message::text(Role::User, long.clone()),
            Message::text(Role::Assistant, long.clone()),
            Message::tool_result("1", long.clone()),
            Message::text(Role::User, "second"),
            Message::text(Role::Assistant, "answer"),
            Message::text(Role::User, "third"),
            Message::tool_result("2", long),
        ]
    }

    #[test]
    fn leaves_out_whole_old_exchanges() {
        let mut messages = conversation();
        assert_eq!(fit(&mut messages, 100_000), 0);
        assert_eq!(fit(&mut messages, 1_500), 3);
        let said: Vec<String> = messages.iter().take(3).map(Message::plain_text).collect();
        assert_eq!(said, ["be kind", "second", "answer"]);
    }

    #[test]
    fn the_last_exchange_stays_however_small_the_window() {
        let mut messages = conversation();
        fit(&mut messages, 1);
        let roles: Vec<Role> = messages.iter().map(|message| message.role).collect();
        assert_eq!(roles, [Role::System, Role::User, Role::Tool]);
    }
}
