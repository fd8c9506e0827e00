//! A conversation for models that know nothing of tools: calls and results as text.

use domain::{Message, Part, Role};

/// The conversation in plain messages: `instructions` in the system text, what an assistant said and called as `written`
/// has it, and what came of the calls in messages of the user, as `told` has it for a tool's name and what it said.
pub(crate) fn plain_messages(
    messages: &[Message],
    instructions: String,
    written: impl Fn(&Message) -> String,
    told: impl Fn(&str, &str) -> String,
) -> Vec<Message> {
    let mut plain = Vec::new();
    let (system, said) = messages.split_at(
        messages
            .iter()
            .take_while(|message| message.role == Role::System)
            .count(),
    );
    // At the end, where small models heed them more.
    let instructions =
        Some(Message::text(Role::System, instructions)).filter(|it| !it.plain_text().is_empty());
    let mut names: Vec<(&str, &str)> = Vec::new();
    for message in system.iter().chain(&instructions).chain(said) {
        names.extend(
            message
                .tool_calls
                .iter()
                .map(|call| (call.id.as_str(), call.name.as_str())),
        );
        let rendered = match message.role {
            Role::System | Role::User => message.clone(),
            Role::Assistant => Message::text(Role::Assistant, written(message)),
            Role::Tool => result(message, &names, &told),
        };
        append(&mut plain, rendered);
    }
    plain
}

/// Many chat templates insist on taking turns, so neighbours with one role become one message.
fn append(plain: &mut Vec<Message>, message: Message) {
    match plain.last_mut() {
        Some(last) if last.role == message.role => {
            if let [Part::Text { text }] = last.content.as_mut_slice()
                && let [Part::Text { text: more }] = message.content.as_slice()
            {
                text.push_str("\n\n");
                text.push_str(more);
            } else {
                last.content.extend(message.content);
            }
        }
        _ => plain.push(message),
    }
}

/// What came of a call, behind the pictures in it.
fn result(
    message: &Message,
    names: &[(&str, &str)],
    told: &impl Fn(&str, &str) -> String,
) -> Message {
    let mut content: Vec<Part> = message
        .content
        .iter()
        .filter(|part| part.medium().is_some())
        .cloned()
        .collect();
    content.push(Part::Text {
        text: result_text(message, names, told),
    });
    Message {
        content,
        ..Message::text(Role::User, "")
    }
}

fn result_text(
    message: &Message,
    names: &[(&str, &str)],
    told: &impl Fn(&str, &str) -> String,
) -> String {
    let id = message.tool_call_id.as_deref().unwrap_or_default();
    let name = names
        .iter()
        .rev()
        .find(|(known, _)| *known == id)
        .map_or("the tool", |(_, name)| name);
    told(name, &message.result_text())
}

/// What came of a call in words.
pub(crate) fn result_of(name: &str, said: &str) -> String {
    format!("Result of {name}:\n{said}")
}
