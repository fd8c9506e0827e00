//! Renders tool calls and results as text, for models without tool support.

use domain::{Message, Part, Role};

/// The conversation in plain messages: `instructions` at the end of the system text, assistant messages as rendered by
/// `written`, and results in user messages as rendered by `render_result` from a tool's name and result.
pub(crate) fn plain_messages(
    messages: &[Message],
    instructions: String,
    written: impl Fn(&Message) -> String,
    render_result: impl Fn(&str, &str) -> String,
) -> Vec<Message> {
    let mut plain = Vec::new();
    let (system, said) = messages.split_at(
        messages
            .iter()
            .take_while(|message| message.role == Role::System)
            .count(),
    );
    // At the end, where small models follow them best.
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
            Role::Tool => result(message, &names, &render_result),
        };
        append(&mut plain, rendered);
    }
    plain
}

/// Many chat templates require alternating roles, so adjacent messages of one role are joined.
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

/// The result of a call, after its pictures.
fn result(
    message: &Message,
    names: &[(&str, &str)],
    render_result: &impl Fn(&str, &str) -> String,
) -> Message {
    let mut content: Vec<Part> = message
        .content
        .iter()
        .filter(|part| part.medium().is_some())
        .cloned()
        .collect();
    content.push(Part::Text {
        text: result_text(message, names, render_result),
    });
    Message {
        content,
        ..Message::text(Role::User, "")
    }
}

fn result_text(
    message: &Message,
    names: &[(&str, &str)],
    render_result: &impl Fn(&str, &str) -> String,
) -> String {
    let id = message.tool_call_id.as_deref().unwrap_or_default();
    let name = names
        .iter()
        .rev()
        .find(|(known, _)| *known == id)
        .map_or("the tool", |(_, name)| name);
    render_result(name, &message.result_text())
}

/// The result of a call as text.
pub(crate) fn result_of(name: &str, said: &str) -> String {
    format!("Result of {name}:\n{said}")
}
