//! An agent's run as the answer of a model: its text, its reasoning, and the calls that are handed over.

use domain::{EventBody, Outcome, RunEvent, message::arguments_text};

use super::{AnswerEncoder, Used};
use crate::{
    cited::Sources,
    openai::{completion_encoder::failure, outer_call_id},
    provider::{AnswerEvent, Citation, StopReason},
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
    sources: Sources,
    /// How many characters of text were written.
    text_chars: usize,
}

impl RunAnswer {
    /// In the format of this encoder.
    #[must_use]
    pub fn new(encoder: Box<dyn AnswerEncoder>) -> Self {
        Self {
            encoder,
            calls: 0,
            written_bytes: 0,
            has_text: false,
            failed: false,
            sources: Sources::default(),
            text_chars: 0,
        }
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
            EventBody::SourcesFound { sources } => self.sources.add(sources),
            EventBody::TextFinished { item, text, .. } => {
                self.text(text.get(self.written_bytes..).unwrap_or_default(), out);
                self.cite(item, text, out);
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
            self.text_chars += 2;
            self.answer(AnswerEvent::Text("\n\n".to_owned()), out);
        }
        self.written_bytes += delta.len();
        self.text_chars += delta.chars().count();
        self.answer(AnswerEvent::Text(delta.to_owned()), out);
    }

    /// What the text cites that has just been written.
    fn cite(&mut self, item: &str, text: &str, out: &mut Vec<Frame>) {
        let before = self.text_chars.saturating_sub(text.chars().count());
        let cited = self.sources.cited_in(item, text).into_iter().map(|(place, source)| Citation {
            url: source.url.clone(),
            title: source.title.clone(),
            quote: source.quote.clone(),
            place: Some(before + place.start..before + place.end),
            number: None,
        });
        let cited: Vec<Citation> = cited.collect();
        if !cited.is_empty() {
            self.answer(AnswerEvent::Citations(cited), out);
        }
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
