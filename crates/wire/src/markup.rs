//! Renders a run as one Markdown text for clients without events (`?format=markup`): the steps are in one collapsible
//! block, and the answer below it.

mod appended;
mod whole;

use std::collections::HashMap;

use appended::Appended;
use domain::{
    AgentPath, EventBody, Form, RunEvent,
    event::{FORKED, INPUT_READ, RESUMED, compacted},
};
use sse::Frame;
use whole::Whole;

use crate::{
    chat_stream::encoder::{Output, Payload, THINKING},
    cited::SentSources,
    escape::{markdown_line, preview},
    tool_result::{COMPLETED, says_something},
};

/// How a reader can update its text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Writing {
    /// Only append.
    #[default]
    Append,
    /// Append, and replace the whole text.
    Replace,
}

/// Encodes one run for one reader.
#[derive(Debug)]
pub struct MarkupEncoder {
    page: Page,
    /// Names of sub-agents.
    agents: HashMap<AgentPath, String>,
    /// Bytes of the main agent's open text that were written.
    written_bytes: usize,
    sources: SentSources,
}

#[derive(Debug)]
enum Page {
    Appended(Appended),
    Replaced(Whole),
}

/// A change of the reader's text.
enum Change {
    Nothing,
    /// Appends this.
    More(String),
    /// The whole text has changed.
    All,
}

impl MarkupEncoder {
    /// An encoder for a reader at the beginning of the log.
    #[must_use]
    pub fn new(writing: Writing) -> Self {
        let page = match writing {
            Writing::Append => Page::Appended(Appended::default()),
            Writing::Replace => Page::Replaced(Whole::default()),
        };
        Self {
            page,
            agents: HashMap::new(),
            written_bytes: 0,
            sources: SentSources::default(),
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

    /// The complete text so far; empty for a reader that appends.
    #[must_use]
    pub fn content(&self) -> String {
        match &self.page {
            Page::Appended(_) => String::new(),
            Page::Replaced(whole) => whole.content(),
        }
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
            EventBody::TextFinished { text, answer, .. } if is_main => {
                self.write(text.get(self.written_bytes..).unwrap_or_default(), out);
                self.written_bytes = 0;
                let change = match &mut self.page {
                    Page::Appended(page) => page.end_text(*answer),
                    Page::Replaced(page) => page.end_text(*answer),
                };
                self.show(change, out);
            }
            EventBody::ToolRequested { .. } => {
                let change = match &mut self.page {
                    Page::Appended(page) => page.request(),
                    Page::Replaced(page) => page.request(),
                };
                self.show(change, out);
            }
            EventBody::ToolFinished {
                name,
                result,
                error,
                ..
            } => {
                self.step(
                    tool_step(self.agents.get(&event.agent), name, result, *error),
                    out,
                );
            }
            EventBody::ToolHandedOver { name, .. } => {
                self.step(
                    format!("**🔧 {}:** for you to run", markdown_line(name)),
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
                self.step(
                    format!("**⏸ {}:** waits for consent", markdown_line(name)),
                    out,
                );
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
                let fields = schema.as_ref().map(Form::fields).unwrap_or_default();
                let labels: Vec<String> = fields
                    .iter()
                    .map(|field| markdown_line(field.label()))
                    .collect();
                let labels = if labels.is_empty() {
                    String::new()
                } else {
                    format!(" ({})", labels.join(", "))
                };
                self.step(
                    format!("**❓ Question:** {}{labels}", markdown_line(text)),
                    out,
                );
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
                self.agents.insert(event.agent.clone(), name.clone());
                out.status(&format!("🤖 Sub-agent: {name}..."), false, false);
            }
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                let change = match &mut self.page {
                    Page::Appended(page) => page.finish(),
                    Page::Replaced(page) => page.finish(),
                };
                self.show(change, out);
                out.finish(
                    event.run,
                    *outcome,
                    problem.as_ref(),
                    *usage,
                    *cost_micro_usd,
                );
            }
            EventBody::RunStarted { .. }
            | EventBody::StepStarted { .. }
            | EventBody::TextStarted { .. }
            | EventBody::TextDelta { .. }
            | EventBody::TextFinished { .. }
            | EventBody::ReasoningDelta { .. }
            | EventBody::ToolArgumentsDelta { .. }
            | EventBody::ToolStarted { .. }
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
        self.written_bytes += delta.len();
        let change = match &mut self.page {
            Page::Appended(page) => page.write(delta),
            Page::Replaced(page) => page.write(delta),
        };
        self.show(change, out);
    }

    fn step(&mut self, line: String, out: &mut Output<'_>) {
        let change = match &mut self.page {
            Page::Appended(page) => page.step(&line),
            Page::Replaced(page) => page.step(line),
        };
        self.show(change, out);
    }

    fn show(&self, change: Change, out: &mut Output<'_>) {
        match change {
            Change::Nothing => {}
            Change::More(text) => out.answer(&text),
            Change::All => out.push(&Payload::Replace {
                content: &self.content(),
            }),
        }
    }
}

fn tool_step(agent: Option<&String>, name: &str, result: &str, error: bool) -> String {
    let who = agent
        .map(|agent| format!("{} › ", markdown_line(agent)))
        .unwrap_or_default();
    let what = match (error, says_something(result)) {
        (true, true) => format!("✗ {}", preview(result)),
        (true, false) => "✗ failed".to_owned(),
        (false, true) => preview(result),
        (false, false) => COMPLETED.to_owned(),
    };
    format!("**🔧 {who}{}:** {what}", markdown_line(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_in_a_line() {
        let step = |result, error| tool_step(None, "ls", result, error);
        for (result, shown) in [
            ("", "✓ completed"),
            (" \n", "✓ completed"),
            ("{}", "✓ completed"),
            ("null", "✓ completed"),
            (r#"{"files":[]}"#, "✓ completed"),
            (r#"{"text":"x"}"#, "{&quot;text&quot;:&quot;x&quot;}"),
            ("{broken", "{broken"),
            ("7", "7"),
            ("a\nb", "a b"),
            ("<b>", "&lt;b&gt;"),
        ] {
            assert_eq!(
                step(result, false),
                format!("**🔧 ls:** {shown}"),
                "{result}"
            );
        }
        assert_eq!(step("No such file.", true), "**🔧 ls:** ✗ No such file.");
        assert_eq!(
            tool_step(Some(&"Reader".into()), "ls", "x", false),
            "**🔧 Reader › ls:** x"
        );
    }
}
