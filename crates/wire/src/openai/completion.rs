//! Collects an agent's run into the answer for a caller that does not stream.

use domain::{EventBody, Outcome, Problem, RunEvent, RunId, message::arguments_text};
use serde_json::{Value, json};

use super::completion_encoder::{
    annotations, completion_id, failure, finish_reason, outer_call_id,
};
use crate::openai::usage::priced_usage_value;
use crate::{cited::Sources, gateway::Used, paragraphs::Paragraphs};

/// A run being collected.
#[derive(Debug)]
pub struct Completion {
    model: String,
    id: String,
    created: i64,
    content: String,
    texts: Paragraphs,
    sources: Sources,
    annotations: Vec<Value>,
    reasoning: Vec<String>,
    calls: Vec<Value>,
    end: Option<(Outcome, Option<Problem>, Used)>,
}

impl Completion {
    /// For a request with this model name.
    #[must_use]
    pub fn new(model: String) -> Self {
        Self {
            model,
            id: String::new(),
            created: 0,
            content: String::new(),
            texts: Paragraphs::default(),
            sources: Sources::default(),
            annotations: Vec::new(),
            reasoning: Vec::new(),
            calls: Vec::new(),
            end: None,
        }
    }

    /// An answer that was produced without a run; `id` identifies it, `at` is in milliseconds since 1970.
    #[must_use]
    pub fn written(id: RunId, at: i64, model: String, text: String, used: Used) -> Self {
        Self {
            id: completion_id(id),
            created: at / 1000,
            content: text,
            end: Some((Outcome::Completed, None, used)),
            ..Self::new(model)
        }
    }

    /// Reads the next event.
    pub fn push(&mut self, event: &RunEvent) {
        let main = event.agent.is_main();
        match &event.body {
            EventBody::RunStarted { .. } => {
                (self.id, self.created) = (completion_id(event.run), event.at / 1000);
            }
            EventBody::TextFinished { item, text, .. } if main && !text.is_empty() => {
                let (paragraph, start) = self.texts.rest(item, text);
                self.content.push_str(&paragraph);
                self.annotations
                    .extend(annotations(&self.sources, item, text, start));
            }
            EventBody::SourcesFound { sources } => self.sources.add(sources),
            EventBody::ReasoningFinished { text, .. } if main && !text.is_empty() => {
                self.reasoning.push(text.clone());
            }
            EventBody::ToolHandedOver {
                call,
                name,
                arguments,
            } => self.calls.push(json!({
                "id": outer_call_id(event.run, call),
                "type": "function",
                "function": {"name": name, "arguments": arguments_text(arguments)},
            })),
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
                self.end = Some((*outcome, problem.clone(), used));
            }
            _ => {}
        }
    }

    /// The answer's JSON.
    ///
    /// # Errors
    /// The problem that made the run fail: the caller gets that instead of half an answer.
    pub fn finish(self) -> Result<Value, Problem> {
        let (outcome, problem, used) = self.end.unwrap_or((Outcome::Failed, None, Used::default()));
        let Some(reason) = finish_reason(outcome) else {
            let (code, message) = failure(problem.as_ref());
            return Err(Problem::new(code, message));
        };
        let content = self.content;
        let silent = content.is_empty() && !self.calls.is_empty();
        let mut message = json!({
            "role": "assistant",
            "content": if silent { Value::Null } else { Value::from(content) },
            "refusal": null,
        });
        if !self.reasoning.is_empty() {
            message["reasoning_content"] = Value::from(self.reasoning.join("\n\n"));
        }
        if !self.annotations.is_empty() {
            message["annotations"] = Value::from(self.annotations);
        }
        if !self.calls.is_empty() {
            message["tool_calls"] = Value::from(self.calls);
        }
        Ok(json!({
            "id": self.id,
            "object": "chat.completion",
            "created": self.created,
            "model": self.model,
            "choices": [{"index": 0, "message": message, "logprobs": null, "finish_reason": reason}],
            "usage": priced_usage_value(used.usage, used.cost_micro_usd),
        }))
    }
}
