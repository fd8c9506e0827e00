//! An agent's run as the answer of a model: its text, its reasoning, and the calls that are handed over.

use domain::{EventBody, Outcome, RunEvent, message::arguments_text};

use super::{AnswerEncoder, Used};
use crate::{
    openai::{completion_encoder::failure, outer_call_id},
    provider::{AnswerEvent, StopReason},
    sse::Frame,
};

/// Writes a run in the format of the program that asked for it.
pub struct RunAnswer {
    encoder: Box<dyn AnswerEncoder>,
    calls: usize,
    /// What was written of the item that is open. A reader that comes late gets no deltas, only whole items.
    written_bytes: usize,
    /// A text has ended; the next one is a paragraph of its own.
    has_text: bool,
    failed: bool,
}

impl RunAnswer {
    /// In the format of this encoder.
    #[must_use]
    pub fn new(encoder: Box<dyn AnswerEncoder>) -> Self {
        Self { encoder, calls: 0, written_bytes: 0, has_text: false, failed: false }
    }

    /// Reads the next event of the run.
    pub fn push(&mut self, event: &RunEvent, out: &mut Vec<Frame>) {
        if !event.agent.is_main() {
            return;
        }
        match &event.body {
            EventBody::RunStarted { .. } => self.encoder.begin(out),
            EventBody::TextDelta { delta, .. } => self.text(delta, out),
            EventBody::ReasoningDelta { delta, .. } => self.reasoning(delta, out),
            EventBody::TextFinished { text, .. } => {
                self.text(text.get(self.written_bytes..).unwrap_or_default(), out);
                (self.written_bytes, self.has_text) = (0, true);
            }
            EventBody::ReasoningFinished { text, .. } => {
                self.reasoning(text.get(self.written_bytes..).unwrap_or_default(), out);
                self.written_bytes = 0;
            }
            EventBody::ToolHandedOver { call, name, arguments } => {
                let (index, id) = (self.calls, outer_call_id(event.run, call));
                self.calls += 1;
                self.answer(AnswerEvent::CallStarted { index, id, name: name.clone() }, out);
                self.answer(AnswerEvent::Arguments { index, delta: arguments_text(arguments) }, out);
            }
            EventBody::RunFinished { outcome, problem, usage, cost_micro_usd } => {
                let used = Used { usage: *usage, cost_micro_usd: *cost_micro_usd };
                match outcome {
                    Outcome::Completed => self.encoder.finish(StopReason::Stop, used, out),
                    Outcome::HandedOver => self.encoder.finish(StopReason::ToolCalls, used, out),
                    Outcome::Limited => self.encoder.finish(StopReason::Length, used, out),
                    Outcome::Failed | Outcome::Cancelled => {
                        let (code, message) = failure(problem.as_ref());
                        self.failed = true;
                        self.encoder.fail(code, message, out);
                    }
                }
            }
            _ => {}
        }
    }

    /// The whole answer of a run that has ended; nothing where it failed.
    #[must_use]
    pub fn whole(mut self) -> Option<serde_json::Value> {
        (!self.failed).then(|| self.encoder.whole())
    }

    fn text(&mut self, delta: &str, out: &mut Vec<Frame>) {
        if delta.is_empty() {
            return;
        }
        if std::mem::take(&mut self.has_text) {
            self.answer(AnswerEvent::Text("\n\n".to_owned()), out);
        }
        self.written_bytes += delta.len();
        self.answer(AnswerEvent::Text(delta.to_owned()), out);
    }

    fn reasoning(&mut self, delta: &str, out: &mut Vec<Frame>) {
        if !delta.is_empty() {
            self.written_bytes += delta.len();
            self.answer(AnswerEvent::Reasoning(delta.to_owned()), out);
        }
    }

    fn answer(&mut self, event: AnswerEvent, out: &mut Vec<Frame>) {
        self.encoder.push(&event, out);
    }
}
