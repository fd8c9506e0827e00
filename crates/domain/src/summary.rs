//! A run in short: what stands in the chat when it is over, and what a caller who does not stream gets.

use serde::{Deserialize, Serialize};

use crate::{EventBody, Outcome, Problem, RunEvent, Usage};

/// The answer and the few figures a chat shows without opening the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunSummary {
    /// The main agent's answer so far, Markdown.
    pub answer: String,
    /// Tool calls of all agents.
    pub tools: u32,
    /// Tool calls that failed.
    pub failed_tools: u32,
    /// Sub-agents started.
    pub agents: u32,
    /// From the first event to the last, milliseconds.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub duration_ms: i64,
    /// How it ended; nothing while it is going.
    pub outcome: Option<Outcome>,
    /// Why, where it did not simply complete.
    pub problem: Option<Problem>,
    /// Tokens of all model calls.
    pub usage: Usage,
    /// Millionths of a US dollar, where prices are known.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub cost_micro_usd: Option<u64>,
    /// When the first event came; not shown.
    #[serde(skip)]
    started_at: i64,
}

impl RunSummary {
    /// Reads the next event.
    pub fn push(&mut self, event: &RunEvent) {
        if event.seq == 1 {
            self.started_at = event.at;
        }
        match &event.body {
            EventBody::TextFinished { text, answer: true, .. } if event.agent.is_main() => {
                if !self.answer.is_empty() {
                    self.answer.push_str("\n\n");
                }
                self.answer.push_str(text);
            }
            EventBody::ToolRequested { .. } => self.tools += 1,
            EventBody::ToolFinished { error: true, .. } => self.failed_tools += 1,
            EventBody::AgentStarted { .. } => self.agents += 1,
            EventBody::RunFinished { outcome, problem, usage, cost_micro_usd } => {
                self.duration_ms = event.at - self.started_at;
                self.outcome = Some(*outcome);
                self.problem.clone_from(problem);
                self.usage = *usage;
                self.cost_micro_usd = *cost_micro_usd;
            }
            _ => {}
        }
    }
}
