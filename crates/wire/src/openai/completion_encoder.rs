//! Encodes a run's events as the chunks of `POST /v1/chat/completions`, for callers of an agent.

use std::ops::Range;

use domain::{
    EventBody, Outcome, Problem, ProblemCode, RunEvent, RunId, event::Source,
    message::arguments_text,
};
use provider::openai::{ChunkEncoder, DONE};
use serde_json::Value;
use sse::Frame;

use super::{ErrorObject, open_webui::Extras};
use crate::openai::{annotation::url_citation, usage::priced_usage_value};
use crate::{cited::Sources, frames::Frames, paragraphs::Paragraphs};

/// A caller's options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompletionOptions {
    /// The model name in the request.
    pub model: String,
    /// End with the usage.
    pub include_usage: bool,
    /// Include the work: statuses, tool rows and sources.
    pub extras: bool,
    /// Include sources among it.
    pub sources: bool,
    /// Give each frame its event's number, for readers that resume.
    pub numbered: bool,
}

impl CompletionOptions {
    /// All options on, for observers of a run that was started elsewhere.
    #[must_use]
    pub fn watching() -> Self {
        Self {
            model: "glasshouse/agent".to_owned(),
            include_usage: true,
            extras: true,
            sources: true,
            numbered: true,
        }
    }
}

/// Encodes one run for one caller.
#[derive(Debug)]
pub struct CompletionEncoder {
    options: CompletionOptions,
    /// Set by the first event.
    chunks: Option<ChunkEncoder>,
    texts: Paragraphs,
    reasoning: Paragraphs,
    extras: Option<Extras>,
    /// The number of calls for the caller.
    calls: usize,
    sources: Sources,
}

impl CompletionEncoder {
    /// An encoder for a reader at the beginning of the log.
    #[must_use]
    pub fn new(options: CompletionOptions) -> Self {
        let extras = options.extras.then(|| Extras::new(options.sources));
        Self {
            options,
            chunks: None,
            texts: Paragraphs::default(),
            reasoning: Paragraphs::default(),
            extras,
            calls: 0,
            sources: Sources::default(),
        }
    }

    /// Whether it includes the additional events that Open WebUI shows.
    #[must_use]
    pub fn shows_work(&self) -> bool {
        self.extras.is_some()
    }

    /// Applies an event that the reader already has, so that later events continue from it.
    pub fn prime(&mut self, event: &RunEvent) {
        let _ = self.read(event);
    }

    /// The frames for the next event: usually one or none.
    pub fn push(&mut self, event: &RunEvent) -> Vec<Frame> {
        let frames = self.read(event);
        if self.options.numbered {
            frames.numbered()
        } else {
            frames.unnumbered()
        }
    }

    /// Whether a delayed status is pending that [`Self::flush`] would return.
    #[must_use]
    pub fn holds_back(&self) -> bool {
        self.extras.as_ref().is_some_and(Extras::holds_back)
    }

    /// The status that was delayed because it followed another too closely: for a reader without further events.
    pub fn flush(&mut self) -> Option<Frame> {
        let extras = self.extras.as_mut()?;
        let chunks = self.chunks.as_ref()?;
        let data = extras.flush(chunks)?;
        // Without a number: it is no event, and a resuming reader gets it with the next.
        Some(Frame {
            id: None,
            event: None,
            data,
        })
    }

    /// The frames for an event, without numbers.
    fn read(&mut self, event: &RunEvent) -> Frames {
        let chunks = self.chunks.get_or_insert_with(|| {
            ChunkEncoder::new(
                &completion_id(event.run),
                event.at / 1000,
                &self.options.model,
            )
        });
        let mut out = Output {
            chunks,
            frames: Frames::of(event),
        };
        if let Some(extras) = &mut self.extras {
            extras.read(event, &mut out);
        }
        match &event.body {
            EventBody::RunStarted { .. } => out.push(out.chunks.role()),
            EventBody::TextDelta { item, delta } if event.agent.is_main() => {
                out.text(&self.texts.more(item, delta));
            }
            EventBody::TextFinished { item, text, .. } if event.agent.is_main() => {
                let (rest, start) = self.texts.rest(item, text);
                out.text(&rest);
                // Open WebUI would read them as further sources.
                if self.extras.is_none() {
                    out.annotations(&annotations(&self.sources, item, text, start));
                }
            }
            EventBody::SourcesFound { sources } => self.sources.add(sources),
            EventBody::ReasoningDelta { item, delta } if event.agent.is_main() => {
                let text = self.reasoning.more(item, delta);
                match &mut self.extras {
                    Some(extras) => extras.think(event, &text, &mut out),
                    None => out.reasoning(&text),
                }
            }
            EventBody::ReasoningFinished {
                item,
                text,
                duration_ms,
            } if event.agent.is_main() => {
                let (text, _) = self.reasoning.rest(item, text);
                match &mut self.extras {
                    Some(extras) => {
                        extras.think(event, &text, &mut out);
                        extras.close_thought(Some(*duration_ms), &mut out);
                    }
                    None => out.reasoning(&text),
                }
            }
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => {
                out.call(self.calls, &outer_call_id(event.run, call), name, arguments);
                self.calls += 1;
            }
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                let usage = self
                    .options
                    .include_usage
                    .then(|| priced_usage_value(*usage, *cost_micro_usd));
                out.finish(*outcome, problem.as_ref(), usage);
            }
            EventBody::TextStarted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::TextFinished { .. }
            | EventBody::ReasoningStarted { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ReasoningFinished { .. }
            | EventBody::StepStarted { .. }
            | EventBody::Status { .. }
            | EventBody::ToolRequested { .. }
            | EventBody::ToolArgumentsDelta { .. }
            | EventBody::ToolStarted { .. }
            | EventBody::ToolProgress { .. }
            | EventBody::ToolOutput { .. }
            | EventBody::ToolFinished { .. }
            | EventBody::ApprovalAsked { .. }
            | EventBody::ApprovalAnswered { .. }
            | EventBody::QuestionAsked { .. }
            | EventBody::QuestionAnswered { .. }
            | EventBody::PlanChanged { .. }
            | EventBody::FileChanged { .. }
            | EventBody::MemoryUpdateStarted { .. }
            | EventBody::MemoryUpdateCompleted { .. }
            | EventBody::HookStarted(_)
            | EventBody::HookFinished(_)
            | EventBody::AgentStarted { .. }
            | EventBody::AgentFinished { .. }
            | EventBody::ModelRequested { .. }
            | EventBody::ProviderData(_)
            | EventBody::ModelCalled { .. }
            | EventBody::ContextCompacted { .. }
            | EventBody::Notice { .. }
            | EventBody::RunResumed { .. }
            | EventBody::InputReceived(_)
            | EventBody::InputApplied { .. }
            | EventBody::InputRemoved { .. }
            | EventBody::RunForked { .. } => {}
        }
        out.frames
    }
}

/// The frames of one event.
pub(super) struct Output<'e> {
    pub(super) chunks: &'e ChunkEncoder,
    frames: Frames,
}

impl Output<'_> {
    /// Adds a frame with this data.
    pub(super) fn push(&mut self, data: String) {
        self.frames.add(|| Frame {
            id: None,
            event: None,
            data,
        });
    }

    fn text(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(self.chunks.content(text));
        }
    }

    fn annotations(&mut self, annotations: &[Value]) {
        if !annotations.is_empty() {
            self.push(self.chunks.annotations(annotations));
        }
    }

    pub(super) fn reasoning(&mut self, text: &str) {
        if !text.is_empty() {
            self.push(self.chunks.reasoning(text));
        }
    }

    fn call(&mut self, index: usize, id: &str, name: &str, arguments: &Value) {
        self.push(self.chunks.call_started(index, id, name));
        self.push(
            self.chunks
                .call_arguments(index, &arguments_text(arguments)),
        );
    }

    fn finish(&mut self, outcome: Outcome, problem: Option<&Problem>, usage: Option<Value>) {
        let Some(reason) = finish_reason(outcome) else {
            let (code, message) = failure(problem);
            return self.push(ErrorObject::new(code, message, None).to_json().to_string());
        };
        self.push(self.chunks.finish(reason));
        if let Some(usage) = usage {
            self.push(self.chunks.usage_with(&usage));
        }
        self.push(DONE.to_owned());
    }
}

/// The citations of a text as annotations of the message, in which it begins at the character `start`.
pub(super) fn annotations(sources: &Sources, item: &str, text: &str, start: usize) -> Vec<Value> {
    let cited = sources.cited_in(item, text).into_iter();
    let annotation = |(place, source): (Range<usize>, &Source)| {
        let place = (start + place.start, start + place.end);
        url_citation(
            &source.url,
            &source.title,
            source.quote.as_deref(),
            Some(place),
        )
    };
    cited.filter_map(annotation).collect()
}

/// The finish reason in OpenAI's terms; `None` if it is an error.
pub(super) fn finish_reason(outcome: Outcome) -> Option<&'static str> {
    match outcome {
        Outcome::Completed | Outcome::Cancelled => Some("stop"),
        Outcome::Limited => Some("length"),
        Outcome::HandedOver => Some("tool_calls"),
        Outcome::Failed => None,
    }
}

pub(crate) fn failure(problem: Option<&Problem>) -> (ProblemCode, &str) {
    problem.map_or((ProblemCode::Internal, "The run failed."), |problem| {
        (problem.code, &problem.message)
    })
}

/// The id of a run's answer.
pub(crate) fn completion_id(run: RunId) -> String {
    format!("chatcmpl-{run}")
}

/// A call's id outside of its run: unique in a conversation of many runs, and contains the run's id.
#[must_use]
pub fn outer_call_id(run: RunId, call: &str) -> String {
    let run = run.to_string();
    format!("{call}_{}", run.strip_prefix("run_").unwrap_or(&run))
}

/// The run of a call, if the id is one of ours.
#[must_use]
pub fn run_of_call(id: &str) -> Option<RunId> {
    let (_, run) = id.rsplit_once('_')?;
    format!("run_{run}").parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn calls_know_their_run() {
        let run: RunId = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap();
        let id = outer_call_id(run, "c12");
        assert_eq!(id, "c12_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d");
        assert!(id.len() <= 40, "OpenAI takes no longer ones");
        assert_eq!(run_of_call(&id), Some(run));
        assert_eq!(run_of_call("call_abc"), None);
        assert_eq!(run_of_call(""), None);
    }
}
