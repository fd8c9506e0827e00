//! Presents an agent's run as a model's answer: its text, its reasoning, and the calls for the client.

use std::borrow::Cow;

use domain::{EventBody, Outcome, RunEvent, message::arguments_text};
use provider::{AnswerEvent, Citation, StopReason};
use sse::Frame;

use super::{AnswerEncoder, Used};
use crate::{
    cited::Sources,
    openai::{completion_encoder::failure, outer_call_id},
    paragraphs::Paragraphs,
};

/// Encodes a run in the format of the requesting program.
pub struct RunAnswer {
    encoder: Box<dyn AnswerEncoder>,
    calls: usize,
    texts: Paragraphs,
    /// Bytes of the open reasoning that were written. A late reader gets no deltas, only complete items.
    reasoning_bytes: usize,
    failed: bool,
    sources: Sources,
}

impl RunAnswer {
    /// With this encoder.
    #[must_use]
    pub fn new(encoder: Box<dyn AnswerEncoder>) -> Self {
        Self {
            encoder,
            calls: 0,
            texts: Paragraphs::default(),
            reasoning_bytes: 0,
            failed: false,
            sources: Sources::default(),
        }
    }

    /// Reads the next event of the run.
    pub fn push(&mut self, event: &RunEvent, out: &mut Vec<Frame>) {
        if !event.agent.is_main() {
            return;
        }
        match &event.body {
            EventBody::RunStarted { .. } => self.encoder.begin(out),
            EventBody::TextDelta { item, delta } => {
                let more = self.texts.more(item, delta);
                self.text(more, out);
            }
            EventBody::ReasoningDelta { delta, .. } => self.reasoning(delta, out),
            EventBody::SourcesFound { sources } => self.sources.add(sources),
            EventBody::TextFinished { item, text, .. } => {
                let (rest, start) = self.texts.rest(item, text);
                self.text(rest, out);
                self.cite(item, text, start, out);
            }
            EventBody::ReasoningFinished { text, .. } => {
                self.reasoning(text.get(self.reasoning_bytes..).unwrap_or_default(), out);
                self.reasoning_bytes = 0;
            }
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => {
                let index = self.calls;
                let id = outer_call_id(event.run, call);
                self.calls += 1;
                self.answer(
                    AnswerEvent::CallStarted {
                        index,
                        id,
                        name: name.clone(),
                    },
                    out,
                );
                self.answer(
                    AnswerEvent::Arguments {
                        index,
                        delta: arguments_text(arguments),
                    },
                    out,
                );
            }
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                let used = Used {
                    usage: *usage,
                    cost_micro_usd: *cost_micro_usd,
                };
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

    /// The whole answer of a run that has ended; `None` if it failed.
    #[must_use]
    pub fn whole(mut self) -> Option<serde_json::Value> {
        (!self.failed).then(|| self.encoder.whole())
    }

    fn text(&mut self, text: Cow<'_, str>, out: &mut Vec<Frame>) {
        if !text.is_empty() {
            self.answer(AnswerEvent::Text(text.into_owned()), out);
        }
    }

    /// The citations of a text that begins at the character `start` of the answer.
    fn cite(&mut self, item: &str, text: &str, start: usize, out: &mut Vec<Frame>) {
        let cited = self
            .sources
            .cited_in(item, text)
            .into_iter()
            .map(|(place, source)| Citation {
                url: source.url.clone(),
                title: source.title.clone(),
                quote: source.quote.clone(),
                place: Some(start + place.start..start + place.end),
                number: None,
            });
        let cited: Vec<Citation> = cited.collect();
        if !cited.is_empty() {
            self.answer(AnswerEvent::Citations(cited), out);
        }
    }

    fn reasoning(&mut self, delta: &str, out: &mut Vec<Frame>) {
        if !delta.is_empty() {
            self.reasoning_bytes += delta.len();
            self.answer(AnswerEvent::Reasoning(delta.to_owned()), out);
        }
    }

    fn answer(&mut self, event: AnswerEvent, out: &mut Vec<Frame>) {
        self.encoder.push(event, out);
    }
}
