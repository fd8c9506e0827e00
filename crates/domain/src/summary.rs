//! The summary of a run: shown in the chat after its end, and returned to callers that do not stream.

use std::collections::BTreeSet;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{EventBody, Outcome, Problem, RunEvent, Usage, event::ReceivedInput};

/// The answer and the few figures a chat shows without opening the log.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunSummary {
    /// The main agent's answer so far, Markdown.
    pub answer: String,
    /// Tool calls of all agents.
    pub tools: u32,
    /// Tool calls that failed; those that were stopped are not among them.
    pub failed_tools: u32,
    /// Sub-agents started.
    pub agents: u32,
    /// How often the main agent's conversation was compacted; if at all, later turns read the summaries.
    #[serde(default, skip_serializing_if = "is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<u32>"))]
    pub compactions: u32,
    /// The number of the run's sources.
    #[serde(default, skip_serializing_if = "is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<u32>"))]
    pub sources: u32,
    /// The number of inputs that the main agent has read while it worked.
    #[serde(default, skip_serializing_if = "is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<u32>"))]
    pub inputs: u32,
    /// From the first event to the last, milliseconds.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub duration_ms: i64,
    /// How it ended; nothing while it is going.
    pub outcome: Option<Outcome>,
    /// Why, if it did not simply complete.
    pub problem: Option<Problem>,
    /// Tokens of all model calls.
    pub usage: Usage,
    /// Millionths of a US dollar, where prices are known.
    #[cfg_attr(feature = "typescript", ts(type = "number | null"))]
    pub cost_micro_usd: Option<u64>,
    /// When the first event came; not shown.
    #[serde(skip)]
    started_at: i64,
    /// The ids of the sources.
    #[serde(skip)]
    known_sources: BTreeSet<String>,
    /// The inputs that no agent has read, oldest first. They begin the chat's next turn once the run has ended.
    #[serde(skip)]
    pub unread: Vec<ReceivedInput>,
}

impl RunSummary {
    /// Reads the next event.
    pub fn push(&mut self, event: &RunEvent) {
        if event.seq == 1 {
            self.started_at = event.at;
        }
        match &event.body {
            EventBody::TextFinished {
                text, answer: true, ..
            } if event.agent.is_main() => {
                if !self.answer.is_empty() {
                    self.answer.push_str("\n\n");
                }
                self.answer.push_str(text);
            }
            EventBody::ToolRequested { .. } => self.tools += 1,
            EventBody::ToolFinished {
                error: true,
                stopped: false,
                ..
            } => self.failed_tools += 1,
            EventBody::AgentStarted { .. } => self.agents += 1,
            EventBody::ContextCompacted { .. } if event.agent.is_main() => self.compactions += 1,
            EventBody::SourcesFound { sources } => {
                // An event may repeat a source to add the places that cite it.
                let ids = sources.iter().map(|source| source.id.clone());
                let new = ids
                    .filter(|id| self.known_sources.insert(id.clone()))
                    .count();
                let count = u32::try_from(new).unwrap_or(u32::MAX);
                self.sources = self.sources.saturating_add(count);
            }
            EventBody::InputReceived(input) => self.unread.push((**input).clone()),
            EventBody::InputApplied { input_id, .. } | EventBody::InputRemoved { input_id } => {
                self.unread.retain(|input| input.input_id != *input_id);
                let is_read = matches!(event.body, EventBody::InputApplied { .. });
                self.inputs += u32::from(is_read && event.agent.is_main());
            }
            // The copied part took none of this run's time, and its inputs were for the other run.
            EventBody::RunForked { .. } => {
                self.started_at = event.at;
                self.unread.clear();
            }
            EventBody::RunFinished {
                outcome,
                problem,
                usage,
                cost_micro_usd,
            } => {
                self.duration_ms = event.at.saturating_sub(self.started_at);
                self.outcome = Some(*outcome);
                self.problem.clone_from(problem);
                self.usage = *usage;
                self.cost_micro_usd = *cost_micro_usd;
            }
            _ => {}
        }
    }
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde wants a reference")]
fn is_none(count: &u32) -> bool {
    *count == 0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{AgentPath, OpenItems, RunId};

    /// Regression: a call that Stop closed was counted as one that failed.
    #[test]
    fn a_stopped_call_has_not_failed() {
        let (main, child) = (AgentPath::main(), AgentPath::main().child(1));
        let requested = |call: &str| EventBody::ToolRequested {
            call: call.to_owned(),
            name: "task".to_owned(),
            model_id: None,
            by_provider: false,
        };
        let failed = EventBody::ToolFinished {
            call: "c1".to_owned(),
            name: "task".to_owned(),
            arguments: serde_json::json!({}),
            result: "There is no such file.".to_owned(),
            model_note: None,
            error: true,
            truncated: false,
            // As quick as a call that Stop closed.
            duration_ms: 0,
            stopped: false,
            in_doubt: false,
            file: None,
            files: Vec::new(),
        };
        let started = EventBody::AgentStarted {
            name: "n".to_owned(),
            call: "c2".to_owned(),
            task: "t".to_owned(),
            agent_type: None,
            continues: None,
        };
        let mut bodies = vec![
            (
                main.clone(),
                EventBody::RunStarted {
                    chat: None,
                    message: None,
                    model: "m".to_owned(),
                },
            ),
            (main.clone(), requested("c1")),
            (main.clone(), requested("c2")),
            (child.clone(), started),
            (child, requested("a1.c1")),
            (main.clone(), failed),
        ];
        let mut open = OpenItems::default();
        bodies
            .iter()
            .for_each(|(agent, body)| open.push(agent, body));
        bodies.extend(open.close(&main, Outcome::Cancelled, "Stopped."));
        let mut summary = RunSummary::default();
        for ((agent, body), seq) in bodies.into_iter().zip(1..) {
            summary.push(&RunEvent {
                run: RunId::generate(),
                seq,
                at: 0,
                agent,
                body,
            });
        }
        assert_eq!((summary.tools, summary.failed_tools), (3, 1));
    }
}
