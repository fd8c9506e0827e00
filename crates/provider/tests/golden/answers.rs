//! Recorded answers, assembled from decoder events as the agent does.

use domain::{Message, Part, Provenance, Role, StoredBlock, ToolCall};
use provider::{AnswerDecoder, AnswerError, AnswerEvent, DataPart};
use sse::Decoder;

/// Reads a recorded stream in pieces of this size.
pub(crate) fn read_stream(
    mut decoder: impl AnswerDecoder,
    stream: &str,
    piece_bytes: usize,
) -> Result<Vec<AnswerEvent>, AnswerError> {
    let mut events = Decoder::new(1 << 24);
    let mut out = Vec::new();
    for piece in stream.as_bytes().chunks(piece_bytes) {
        events.feed(piece);
        while let Some(Ok(event)) = events.next() {
            decoder.event(event.name, &event.data, &mut out)?;
        }
    }
    decoder.end(&mut out)?;
    Ok(out)
}

/// Events as lines; text that comes in pieces is one line.
pub(crate) fn lines(events: &[AnswerEvent]) -> String {
    let mut joined: Vec<AnswerEvent> = Vec::new();
    for event in events {
        match (joined.last_mut(), event) {
            (Some(AnswerEvent::Text(text)), AnswerEvent::Text(more))
            | (Some(AnswerEvent::Reasoning(text)), AnswerEvent::Reasoning(more)) => {
                text.push_str(more)
            }
            (
                Some(AnswerEvent::Arguments { index, delta }),
                AnswerEvent::Arguments {
                    index: same,
                    delta: more,
                },
            ) if index == same => delta.push_str(more),
            _ => joined.push(event.clone()),
        }
    }
    let line = |event: &AnswerEvent| match event {
        AnswerEvent::Text(text) => format!("text {text:?}"),
        AnswerEvent::Reasoning(text) => format!("reasoning {text:?}"),
        AnswerEvent::CallStarted { index, id, name } => format!("call {index} {name} {id}"),
        AnswerEvent::Arguments { index, delta } => format!("arguments {index} {delta}"),
        AnswerEvent::Data { part, data } => format!("data {part:?} {data}"),
        AnswerEvent::ServerTool(updates) => format!("{updates:?}"),
        AnswerEvent::Citations(citations) => format!("citations {citations:?}"),
        AnswerEvent::Finished { reason, usage } => format!("finished {reason:?} {usage:?}"),
    };
    joined.iter().map(line).collect::<Vec<_>>().join("\n")
}

/// The message assembled from these events.
pub(crate) fn message(provider: &str, events: &[AnswerEvent]) -> Message {
    let mut message = Message::of(Role::Assistant, Vec::new());
    let mut blocks = Vec::new();
    let (mut text, mut reasoning) = (None::<String>, None::<String>);
    for event in events {
        if !matches!(
            event,
            AnswerEvent::Text(_)
                | AnswerEvent::Data {
                    part: DataPart::Text,
                    ..
                }
        ) {
            end_text(&mut message, &mut blocks, text.take(), None);
        }
        if !matches!(
            event,
            AnswerEvent::Reasoning(_)
                | AnswerEvent::Data {
                    part: DataPart::Reasoning,
                    ..
                }
        ) && let Some(text) = reasoning.take()
        {
            blocks.push(StoredBlock::Reasoning { text, data: None });
        }
        match event {
            AnswerEvent::Text(more) => text.get_or_insert_default().push_str(more),
            AnswerEvent::Reasoning(more) => reasoning.get_or_insert_default().push_str(more),
            AnswerEvent::CallStarted { id, name, .. } => {
                blocks.push(StoredBlock::Call {
                    id: id.clone(),
                    data: None,
                });
                let id = id.clone();
                let name = name.clone();
                message.tool_calls.push(ToolCall {
                    id,
                    name,
                    arguments: String::new(),
                });
            }
            AnswerEvent::Arguments { index, delta } => {
                message.tool_calls[*index].arguments.push_str(delta)
            }
            AnswerEvent::Data { part, data } => match part {
                DataPart::Text => end_text(
                    &mut message,
                    &mut blocks,
                    Some(text.take().unwrap_or_default()),
                    Some(data.clone()),
                ),
                DataPart::Reasoning => blocks.push(StoredBlock::Reasoning {
                    text: reasoning.take().unwrap_or_default(),
                    data: Some(data.clone()),
                }),
                DataPart::Other => blocks.push(StoredBlock::Other { data: data.clone() }),
                DataPart::Call(index) => {
                    let id = &message.tool_calls[*index].id;
                    let of_call = |block: &&mut StoredBlock| matches!(block, StoredBlock::Call { id: of, .. } if of == id);
                    if let Some(StoredBlock::Call { data: place, .. }) =
                        blocks.iter_mut().find(of_call)
                    {
                        *place = Some(data.clone());
                    }
                }
            },
            AnswerEvent::Citations(_)
            | AnswerEvent::ServerTool(_)
            | AnswerEvent::Finished { .. } => {}
        }
    }
    message.provenance = Some(Box::new(Provenance {
        provider: provider.to_owned(),
        blocks,
    }));
    message
}

fn end_text(
    message: &mut Message,
    blocks: &mut Vec<StoredBlock>,
    text: Option<String>,
    data: Option<serde_json::Value>,
) {
    if let Some(text) = text {
        message.content.push(Part::Text { text });
        blocks.push(StoredBlock::Text { data });
    }
}
