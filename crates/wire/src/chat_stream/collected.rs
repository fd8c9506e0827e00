//! Collects a run into the answer for a caller that does not stream.

use std::{borrow::Cow, collections::HashMap};

use domain::{EventBody, Outcome, Problem, RunEvent, RunId, RunSummary, Usage, event::Source};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    cited::{Sources, without_places},
    tool_files::views,
};

/// A run being collected.
#[derive(Debug, Default)]
pub struct Collected {
    run: Option<RunId>,
    summary: RunSummary,
    tools: Vec<Tool>,
    sources: Sources,
    /// The index in `tools` of each open call.
    open: HashMap<String, usize>,
}

#[derive(Debug, Serialize)]
struct Tool {
    tool_id: String,
    name: String,
    args: Value,
    result: String,
    error: bool,
    duration_ms: u64,
    truncated: bool,
    agent_depth: usize,
    #[serde(skip_serializing_if = "Value::is_null")]
    files: Value,
}

#[derive(Serialize)]
struct Answer<'a> {
    run_id: Option<RunId>,
    outcome: Option<Outcome>,
    content: &'a str,
    tools: &'a [Tool],
    #[serde(skip_serializing_if = "<[Source]>::is_empty")]
    sources: Cow<'a, [Source]>,
    usage: Usage,
    #[serde(skip_serializing_if = "Option::is_none")]
    cost_micro_usd: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a Problem>,
}

impl Collected {
    /// Reads the next event.
    pub fn push(&mut self, event: &RunEvent) {
        self.run = Some(event.run);
        self.summary.push(event);
        let agent_depth = event.agent.depth();
        match &event.body {
            // Calls are listed in the order of their requests, not of their ends.
            EventBody::ToolRequested { call, name, .. } => {
                self.open.insert(call.clone(), self.tools.len());
                self.tools.push(Tool {
                    tool_id: call.clone(),
                    name: name.clone(),
                    args: Value::Null,
                    result: String::new(),
                    error: false,
                    duration_ms: 0,
                    truncated: false,
                    agent_depth,
                    files: Value::Null,
                });
            }
            EventBody::ToolFinished {
                call,
                name,
                arguments,
                result,
                error,
                truncated,
                duration_ms,
                files,
                ..
            } => {
                let Some(at) = self.open.remove(call) else {
                    return;
                };
                self.tools[at] = Tool {
                    tool_id: call.clone(),
                    name: name.clone(),
                    args: arguments.clone(),
                    result: result.clone(),
                    error: *error,
                    duration_ms: *duration_ms,
                    truncated: *truncated,
                    agent_depth,
                    files: if files.is_empty() {
                        Value::Null
                    } else {
                        json!(views(files))
                    },
                };
            }
            EventBody::SourcesFound { sources } => self.sources.add(sources),
            _ => {}
        }
    }

    /// The JSON of the run: `run_id`, `outcome`, `content` (the answer), `tools`, `sources`, `usage`, and `error` if it
    /// did not complete.
    #[must_use]
    pub fn to_json(&self) -> String {
        self.to_json_with(&self.summary.answer)
    }

    /// The same with another text for the answer, such as one that includes the steps.
    #[must_use]
    pub fn to_json_with(&self, content: &str) -> String {
        let answer = Answer {
            run_id: self.run,
            outcome: self.summary.outcome,
            content,
            tools: &self.tools,
            sources: without_places(self.sources.all()),
            usage: self.summary.usage,
            cost_micro_usd: self.summary.cost_micro_usd,
            error: self.summary.problem.as_ref(),
        };
        // Plain structs and values always serialize.
        serde_json::to_string(&answer).unwrap_or_default()
    }
}
