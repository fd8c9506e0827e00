//! Renders a run as one Markdown text with an element for each tool call, in Open WebUI's format (`?format=details`).

use domain::{
    EventBody, RunEvent,
    event::{FORKED, INPUT_READ, RESUMED, ToolFile, compacted},
};
use serde::Serialize;
use serde_json::Value;
use sse::Frame;

use crate::{
    chat_stream::encoder::{Output, Payload, THINKING},
    cited::SentSources,
    escape::{cut, html},
    markup::Writing,
    tool_files::{open_webui_embeds, open_webui_files},
    tool_result::shown,
};

/// Longer results are cut here; the log has them complete.
const RESULT_LIMIT_CHARS: usize = 10_000;

/// Encodes one run for one reader.
#[derive(Debug, Default)]
pub struct DetailsEncoder {
    writing: Writing,
    pieces: Vec<Piece>,
    /// Bytes of the main agent's open text that were written.
    written_bytes: usize,
    sources: SentSources,
}

#[derive(Debug)]
enum Piece {
    Text(String),
    /// A call's element: pending, then finished.
    Call {
        call: String,
        element: String,
    },
}

impl DetailsEncoder {
    /// An encoder for a reader at the beginning of the log.
    #[must_use]
    pub fn new(writing: Writing) -> Self {
        Self {
            writing,
            ..Self::default()
        }
    }

    /// Applies an event that the reader already has, so that later events continue from it.
    pub fn prime(&mut self, event: &RunEvent) {
        self.read(event, &mut Output::none(event));
    }

    /// The frames for the next event: usually one or none.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        let mut out = Output::of(event);
        self.read(event, &mut out);
        out.numbered()
    }

    /// The complete text so far.
    #[must_use]
    pub fn content(&self) -> String {
        let pieces = self.pieces.iter().map(|piece| match piece {
            Piece::Text(text) | Piece::Call { element: text, .. } => text.as_str(),
        });
        pieces.collect::<Vec<_>>().join("\n\n")
    }

    fn read(&mut self, event: &RunEvent, out: &mut Output<'_>) {
        let is_main = event.agent.is_main();
        match &event.body {
            EventBody::Status {
                description,
                done,
                hidden,
                ..
            } => out.status(description, *done, *hidden),
            EventBody::ReasoningStarted { .. } => out.status(THINKING, false, false),
            EventBody::ReasoningFinished { .. } => out.status(THINKING, true, false),
            EventBody::RunResumed { .. } => out.status(RESUMED, false, false),
            EventBody::ContextCompacted {
                summary,
                tokens_before,
                tokens_after,
                ..
            } => {
                out.status(
                    &compacted(summary, *tokens_before, *tokens_after),
                    false,
                    false,
                );
            }
            EventBody::RunForked { .. } => out.status(FORKED, false, false),
            EventBody::InputApplied { .. } => out.status(INPUT_READ, false, false),
            EventBody::ToolProgress { message, .. } | EventBody::Notice { message, .. } => {
                out.status(message, false, false);
            }
            EventBody::HookFinished(end) if end.is_notable() => {
                out.status(&end.line(), false, false)
            }
            EventBody::TextDelta { delta, .. } if is_main => self.write(delta, out),
            EventBody::TextFinished { text, .. } if is_main => {
                self.write(text.get(self.written_bytes..).unwrap_or_default(), out);
                self.written_bytes = 0;
            }
            EventBody::ToolStarted {
                call,
                name,
                arguments,
                ..
            } => {
                if self.writing == Writing::Replace {
                    self.add(call, pending(call, name, arguments), out);
                }
            }
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                error,
                files,
                ..
            } => {
                self.add(
                    call,
                    finished(call, name, arguments, result, *error, files),
                    out,
                );
            }
            EventBody::ApprovalAsked {
                approval,
                call,
                name,
                arguments,
                ..
            } => {
                out.push(&Payload::Approval {
                    approval_id: approval,
                    tool_id: call,
                    name,
                    args: arguments,
                });
            }
            EventBody::QuestionAsked {
                question,
                call,
                text,
                options,
                schema,
                ..
            } => {
                let question_id = question;
                let tool_id = call;
                let schema = schema.as_ref();
                out.push(&Payload::Question {
                    question_id,
                    tool_id,
                    question: text,
                    options,
                    schema,
                });
            }
            EventBody::SourcesFound { sources } => out.sources(&self.sources.new_of(sources)),
            EventBody::AgentStarted { name, .. } => {
                out.status(&format!("🤖 Sub-agent: {name}..."), false, false);
            }
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                out.finish(
                    event.run,
                    *outcome,
                    problem.as_ref(),
                    *usage,
                    *cost_micro_usd,
                );
            }
            // The element of a call that is never answered here would spin for ever.
            EventBody::ToolHandedOver { .. }
            | EventBody::RunStarted { .. }
            | EventBody::StepStarted { .. }
            | EventBody::TextStarted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::TextFinished { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ToolRequested { .. }
            | EventBody::ToolArgumentsDelta { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::MemoryUpdateStarted { .. }
            | EventBody::MemoryUpdateCompleted { .. }
            | EventBody::HookStarted(_)
            | EventBody::InputReceived(_)
            | EventBody::InputRemoved { .. }
            | EventBody::HookFinished(_)
            | EventBody::AgentFinished { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::ModelCalled { .. } => {}
        }
    }

    fn write(&mut self, delta: &str, out: &mut Output<'_>) {
        if delta.is_empty() {
            return;
        }
        let begins = self.written_bytes == 0;
        self.written_bytes += delta.len();
        match self.pieces.last_mut() {
            Some(Piece::Text(text)) if !begins => {
                text.push_str(delta);
                out.answer(delta);
            }
            _ => self.append(Piece::Text(delta.to_owned()), delta, out),
        }
    }

    /// Replaces a call's element, or appends it.
    fn add(&mut self, id: &str, new: String, out: &mut Output<'_>) {
        let known = self.pieces.iter_mut().find_map(|piece| match piece {
            Piece::Call { call, element } if call == id => Some(element),
            Piece::Call { .. } | Piece::Text(_) => None,
        });
        match known {
            Some(element) => {
                *element = new;
                out.push(&Payload::Replace {
                    content: &self.content(),
                });
            }
            None => {
                let piece = Piece::Call {
                    call: id.to_owned(),
                    element: new.clone(),
                };
                self.append(piece, &new, out);
            }
        }
    }

    fn append(&mut self, piece: Piece, text: &str, out: &mut Output<'_>) {
        let gap = if self.pieces.is_empty() { "" } else { "\n\n" };
        self.pieces.push(piece);
        out.answer(&format!("{gap}{text}"));
    }
}

fn pending(call: &str, name: &str, arguments: &Value) -> String {
    format!(
        "<details type=\"tool_calls\" done=\"false\" id=\"{}\" name=\"{}\" arguments=\"{}\">\n\
         <summary>Executing...</summary>\n</details>",
        attribute(call),
        attribute(name),
        html(&arguments.to_string()),
    )
}

fn finished(
    call: &str,
    name: &str,
    arguments: &Value,
    result: &str,
    error: bool,
    files: &[ToolFile],
) -> String {
    let result = Value::from(cut(&shown(result, error), RESULT_LIMIT_CHARS));
    let (failed, summary) = if error {
        (" error=\"true\"", "Tool Failed")
    } else {
        ("", "Tool Executed")
    };
    format!(
        "<details type=\"tool_calls\" done=\"true\" id=\"{}\" name=\"{}\" arguments=\"{}\" result=\"{}\" \
         files=\"{}\" embeds=\"{}\"{failed}>\n<summary>{summary}</summary>\n</details>",
        attribute(call),
        attribute(name),
        html(&arguments.to_string()),
        html(&result.to_string()),
        list(&open_webui_files(files)),
        list(&open_webui_embeds(files)),
    )
}

/// A list as JSON in an attribute; empty if it is empty.
fn list<T: Serialize>(values: &[T]) -> String {
    if values.is_empty() {
        return String::new();
    }
    // Plain texts and values always serialize.
    html(&serde_json::to_string(values).unwrap_or_default())
}

/// An attribute value, which must stay on one line.
fn attribute(text: &str) -> String {
    html(&text.replace(|c: char| c.is_control(), " "))
}
