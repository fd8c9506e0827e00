//! Renders a conversation as text, in pieces that a model can read one at a time. Pure.

use domain::{Message, Role};

/// Maximum number of pieces; beyond it, those between the first and the latest are dropped.
const MAX_PIECES: usize = 8;

/// The messages as text, in pieces of at most `limit_bytes`. Of a long message, both ends are shown.
pub(super) fn pieces<'a>(
    messages: impl Iterator<Item = &'a Message>,
    limit_bytes: usize,
) -> Vec<String> {
    let mut pieces: Vec<String> = Vec::new();
    for entry in messages.map(|message| both_ends(&entry(message), limit_bytes / 2)) {
        match pieces.last_mut() {
            Some(piece) if piece.len() + entry.len() + 2 <= limit_bytes => {
                piece.push_str("\n\n");
                piece.push_str(&entry);
            }
            _ => pieces.push(entry),
        }
    }
    if pieces.len() > MAX_PIECES {
        pieces.drain(1..=pieces.len() - MAX_PIECES);
        if let Some(piece) = pieces.get_mut(1) {
            piece.insert_str(
                0,
                "[Much that lay between was too long to be read and is left out.]\n\n",
            );
        }
    }
    pieces
}

fn entry(message: &Message) -> String {
    let who = match message.role {
        Role::System => "Instructions",
        Role::User => "Person",
        Role::Assistant => "Agent",
        Role::Tool => "Result",
    };
    let mut text = format!("{who}: {}", message.plain_text());
    for call in &message.tool_calls {
        text.push_str(&format!("\n[calls {} with {}]", call.name, call.arguments));
    }
    text
}

/// At most `limit_bytes` of the text plus a note: three quarters from its beginning, the rest from its end.
pub(super) fn both_ends(text: &str, limit_bytes: usize) -> String {
    if text.len() <= limit_bytes {
        return text.to_owned();
    }
    let head = &text[..text.floor_char_boundary(limit_bytes / 4 * 3)];
    let tail = &text[text.ceil_char_boundary(text.len() - limit_bytes / 4)..];
    let left_out = text.len() - head.len() - tail.len();
    format!("{head} [… {left_out} bytes left out …] {tail}")
}

#[cfg(test)]
mod tests {
    use domain::ToolCall;

    use super::*;

    #[test]
    fn says_who_said_and_did_what() {
        let call = ToolCall {
            id: "c1".into(),
            name: "ls".into(),
            arguments: "{}".into(),
        };
        let messages = [
            Message::text(Role::User, "Look."),
            Message {
                tool_calls: vec![call],
                ..Message::text(Role::Assistant, "I look.")
            },
            Message::tool_result("c1", "a.txt"),
        ];
        assert_eq!(
            pieces(messages.iter(), 1_000),
            ["Person: Look.\n\nAgent: I look.\n[calls ls with {}]\n\nResult: a.txt"]
        );
    }

    #[test]
    fn however_much_there_is_the_pieces_are_few_and_short() {
        let long = Message::text(Role::User, "ё".repeat(10_000));
        for limit in [100, 1_000, 50_000] {
            let messages = vec![long.clone(); 50];
            let pieces = pieces(messages.iter(), limit);
            assert!(pieces.len() <= MAX_PIECES);
            assert!(
                pieces.iter().all(|piece| piece.len() <= limit + 120),
                "{limit}"
            );
        }
        assert!(pieces(vec![long; 50].iter(), 1_000)[1].starts_with("[Much that lay between"));
        assert_eq!(pieces([].iter(), 1_000), Vec::<String>::new());
    }
}
