//! Converts an answer to the log of a finished run, so that the page shows its reasoning and calls like those of our
//! own runs.

use domain::{
    AgentPath, ChatId, EventBody, MessageId, Outcome, Problem, ProblemCode, RunEvent, RunId,
    RunSummary,
};

use super::{Answer, Piece};

/// The run's log, and its summary. Its texts are the answer's; its duration is unknown and set to zero.
#[must_use]
pub fn as_run(
    run: RunId,
    chat: ChatId,
    message: MessageId,
    model: &str,
    at: i64,
    answer: &Answer,
) -> (Vec<RunEvent>, RunSummary) {
    let mut log = Log {
        bodies: Vec::new(),
        step: 0,
        items: 0,
        is_acting: false,
    };
    log.add(EventBody::RunStarted {
        chat: Some(chat),
        message: Some(message),
        model: model.to_owned(),
    });
    log.begin_step();
    let last_text = answer
        .pieces
        .iter()
        .rposition(|piece| matches!(piece, Piece::Text(_)));
    for (at, piece) in answer.pieces.iter().enumerate() {
        if Some(at) == last_text && !answer.sources.is_empty() {
            log.add(EventBody::SourcesFound {
                sources: answer.sources.clone(),
            });
        }
        log.piece(piece, Some(at) == last_text);
    }
    if last_text.is_none() && !answer.sources.is_empty() {
        log.add(EventBody::SourcesFound {
            sources: answer.sources.clone(),
        });
    }
    if let Some(usage) = answer.usage {
        log.add(EventBody::ModelCalled {
            model: model.to_owned(),
            usage,
            cost_micro_usd: None,
            duration_ms: 0,
            first_token_ms: None,
            broken_off: false,
        });
    }
    log.add(EventBody::RunFinished {
        outcome: if answer.fault.is_some() {
            Outcome::Failed
        } else {
            Outcome::Completed
        },
        problem: answer
            .fault
            .as_ref()
            .map(|fault| Problem::new(ProblemCode::ModelFailed, fault.as_str())),
        usage: answer.usage.unwrap_or_default(),
        cost_micro_usd: None,
    });
    let mut summary = RunSummary::default();
    let event = |(body, seq)| RunEvent {
        run,
        seq,
        at,
        agent: AgentPath::main(),
        body,
    };
    let events: Vec<RunEvent> = log.bodies.into_iter().zip(1..).map(event).collect();
    events.iter().for_each(|event| summary.push(event));
    (events, summary)
}

struct Log {
    bodies: Vec<EventBody>,
    step: u32,
    items: usize,
    /// Whether a tool was called in this step: later text belongs to the next.
    is_acting: bool,
}

impl Log {
    fn add(&mut self, body: EventBody) {
        self.bodies.push(body);
    }

    fn begin_step(&mut self) {
        self.step += 1;
        self.is_acting = false;
        self.add(EventBody::StepStarted {
            step: self.step,
            last: None,
        });
    }

    fn item(&mut self, kind: &str) -> String {
        self.items += 1;
        format!("{kind}{}", self.items)
    }

    fn piece(&mut self, piece: &Piece, is_last_text: bool) {
        if self.is_acting && !matches!(piece, Piece::Call { .. }) {
            self.begin_step();
        }
        match piece {
            Piece::Text(text) => {
                let item = self.item("t");
                self.add(EventBody::TextStarted { item: item.clone() });
                self.add(EventBody::TextFinished {
                    item,
                    text: text.clone(),
                    answer: is_last_text,
                    reasoning: false,
                });
            }
            Piece::Reasoning { text, duration_ms } => {
                let item = self.item("r");
                self.add(EventBody::ReasoningStarted { item: item.clone() });
                let text = text.clone();
                let duration_ms = *duration_ms;
                self.add(EventBody::ReasoningFinished {
                    item,
                    text,
                    duration_ms,
                });
            }
            Piece::Call {
                name,
                arguments,
                result,
            } => {
                self.is_acting = true;
                let call = self.item("c");
                let name = name.clone();
                let arguments = arguments.clone();
                self.add(EventBody::ToolRequested {
                    call: call.clone(),
                    name: name.clone(),
                    model_id: None,
                    by_provider: false,
                });
                self.add(EventBody::ToolStarted {
                    call: call.clone(),
                    name: name.clone(),
                    arguments: arguments.clone(),
                    repeatable: false,
                });
                self.add(EventBody::ToolFinished {
                    call,
                    name,
                    arguments,
                    result: result
                        .clone()
                        .unwrap_or_else(|| "What came of it is not known.".to_owned()),
                    model_note: None,
                    error: result.is_none(),
                    truncated: false,
                    duration_ms: 0,
                    stopped: false,
                    in_doubt: false,
                    file: None,
                    files: Vec::new(),
                });
            }
        }
    }
}
