//! Converts a finished run's log to spans: one for the run, each sub-agent, each model call and each tool call.

use std::collections::HashMap;

use domain::{
    AgentPath, EventBody, Origin, Outcome, Problem, RunEvent, Usage,
    event::{Decision, HookCall, HookEnd},
    trace::{chat_key, parts_model_calls, span_id, trace_id},
};
use serde_json::Value;

use super::{Span, SpanKind, attribute};
/// Whether spans include the content of messages and calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Content {
    /// Counts and names only.
    Without,
    /// Arguments, results, tasks and answers too.
    With,
}

/// Maximum length of a text in an attribute, bytes.
const TEXT_LIMIT_BYTES: usize = 16_000;
/// The span name of the main agent.
const MAIN_AGENT: &str = "glasshouse";
/// The API format of model calls; the actual provider is not known here.
const PROVIDER: &str = "openai";

/// The spans of a run, in the order in which they ended; the run's own is the last. The part that a fork has copied
/// from another run is not included: it is in that one's trace. The spans belong to the caller's trace, if there is
/// one. `None` if the log has not ended.
#[must_use]
pub fn spans_of(log: &[RunEvent], origin: &Origin, content: Content) -> Vec<Span> {
    let forked = log
        .iter()
        .rposition(|event| matches!(event.body, EventBody::RunForked { .. }));
    let (Some(first), Some(last)) = (log.first(), log.last()) else {
        return Vec::new();
    };
    if !matches!(last.body, EventBody::RunFinished { .. }) {
        return Vec::new();
    }
    let (taken, own) = log.split_at(forked.unwrap_or(0));
    let began_at = own.first().map_or(first.at, |event| event.at);
    let mut reader = Reader::new(first, origin, began_at, content);
    taken.iter().for_each(|event| reader.count(event));
    for event in own {
        reader.read(event);
        reader.count(event);
    }
    reader.ended
}

/// An open span.
struct Open {
    name: String,
    began_at: i64,
    /// The call that started it, if it is a sub-agent.
    call: Option<String>,
    /// Attributes known before its end.
    attributes: Vec<Value>,
}

/// When a span began and ended, milliseconds since the Unix epoch.
struct Interval {
    began_at: i64,
    ended_at: i64,
}

struct Reader<'a> {
    trace_id: String,
    content: Content,
    run: &'a RunEvent,
    origin: &'a Origin,
    agents: HashMap<AgentPath, Open>,
    /// The start times of model calls in progress, by agent.
    steps: HashMap<AgentPath, i64>,
    /// The number of each agent's next model call.
    numbers: HashMap<AgentPath, u32>,
    /// The start times of tool calls.
    calls: HashMap<String, i64>,
    /// The last called model.
    model: String,
    ended: Vec<Span>,
}

impl<'a> Reader<'a> {
    fn new(run: &'a RunEvent, origin: &'a Origin, began_at: i64, content: Content) -> Self {
        let mut attributes = Vec::new();
        let mut model = String::new();
        if let EventBody::RunStarted {
            chat, model: asked, ..
        } = &run.body
        {
            attributes.push(attribute("gen_ai.request.model", asked.as_str()));
            attributes
                .extend(chat.map(|chat| attribute("gen_ai.conversation.id", chat.to_string())));
            model.clone_from(asked);
        }
        let main = Open {
            name: MAIN_AGENT.to_owned(),
            began_at,
            call: None,
            attributes,
        };
        Self {
            trace_id: trace_id(run.run, origin),
            content,
            run,
            origin,
            agents: HashMap::from([(AgentPath::main(), main)]),
            steps: HashMap::new(),
            numbers: HashMap::new(),
            calls: HashMap::new(),
            model,
            ended: Vec::new(),
        }
    }

    /// Counts an agent's model calls, as the agent does.
    fn count(&mut self, event: &RunEvent) {
        if parts_model_calls(&event.body) {
            *self.numbers.entry(event.agent.clone()).or_default() += 1;
        }
    }

    fn read(&mut self, event: &RunEvent) {
        let agent = &event.agent;
        match &event.body {
            EventBody::StepStarted { .. } => {
                self.break_off_step(agent, event.at, "interrupted");
                self.steps.insert(agent.clone(), event.at);
            }
            EventBody::ModelCalled { .. } => self.end_step(event),
            EventBody::ContextCompacted { .. } => self.add_summary(event),
            // The time between the two may include an approval.
            EventBody::ToolRequested { call, .. } | EventBody::ToolStarted { call, .. } => {
                self.calls.insert(call.clone(), event.at);
            }
            EventBody::ToolFinished { .. } => self.end_call(event),
            EventBody::HookFinished(end) => self.add_hook(event, end),
            EventBody::AgentStarted {
                name, call, task, ..
            } => {
                let mut attributes = Vec::new();
                self.add_text(&mut attributes, "gen_ai.input.messages", task);
                let open = Open {
                    name: name.clone(),
                    began_at: event.at,
                    call: Some(call.clone()),
                    attributes,
                };
                self.agents.insert(agent.clone(), open);
            }
            EventBody::AgentFinished { outcome, result } => {
                self.break_off_step(agent, event.at, outcome_name(*outcome));
                self.end_agent(agent, event.at, *outcome, None, result);
            }
            EventBody::RunResumed { .. } => self.break_off_all_steps(event.at),
            EventBody::RunFinished {
                outcome, problem, ..
            } => self.end_run(event, *outcome, problem.as_ref()),
            _ => {}
        }
    }

    fn end_step(&mut self, event: &RunEvent) {
        let EventBody::ModelCalled {
            model,
            usage,
            cost_micro_usd,
            duration_ms,
            first_token_ms,
            broken_off,
        } = &event.body
        else {
            return;
        };
        let began_at = event
            .at
            .saturating_sub(i64::try_from(*duration_ms).unwrap_or(0));
        let began = self.steps.remove(&event.agent);
        // The clock has milliseconds: it cannot have begun before its step.
        let began_at = began.map_or(began_at, |step_at| began_at.max(step_at));
        let mut attributes = of_call(model, *usage, *cost_micro_usd);
        attributes.extend(first_token_ms.map(|ms| attribute("glasshouse.first_token_ms", ms)));
        self.model.clone_from(model);
        let fault = broken_off.then_some("interrupted");
        let times = Interval {
            began_at,
            ended_at: event.at,
        };
        self.end_chat(&event.agent, times, attributes, fault);
    }

    /// The model call for a summary, which is made inside a step.
    fn add_summary(&mut self, event: &RunEvent) {
        let EventBody::ContextCompacted {
            model,
            usage,
            cost_micro_usd,
            duration_ms,
            ..
        } = &event.body
        else {
            return;
        };
        let began_at = event
            .at
            .saturating_sub(i64::try_from(*duration_ms).unwrap_or(0));
        let mut attributes = of_call(model, *usage, *cost_micro_usd);
        attributes.push(attribute("glasshouse.purpose", "summary"));
        self.model.clone_from(model);
        let times = Interval {
            began_at,
            ended_at: event.at,
        };
        self.end_chat(&event.agent, times, attributes, None);
    }

    /// A model call that did not finish.
    fn break_off_step(&mut self, agent: &AgentPath, at: i64, why: &str) {
        if let Some(began_at) = self.steps.remove(agent) {
            let times = Interval {
                began_at,
                ended_at: at,
            };
            self.end_chat(agent, times, Vec::new(), Some(why));
        }
    }

    fn break_off_all_steps(&mut self, at: i64) {
        for agent in self.steps.keys().cloned().collect::<Vec<_>>() {
            self.break_off_step(&agent, at, "interrupted");
        }
    }

    fn end_chat(
        &mut self,
        agent: &AgentPath,
        times: Interval,
        more: Vec<Value>,
        error: Option<&str>,
    ) {
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "chat"),
            attribute("gen_ai.provider.name", PROVIDER),
            attribute("gen_ai.request.model", self.model.as_str()),
        ];
        attributes.extend(more);
        let name = format!("chat {}", self.model);
        let parent = self.agent_span(agent);
        let key = chat_key(agent, self.numbers.get(agent).copied().unwrap_or(0));
        self.end(
            &key,
            parent,
            name,
            SpanKind::Client,
            times,
            attributes,
            error,
        );
    }

    fn add_hook(&mut self, event: &RunEvent, end: &HookEnd) {
        let HookCall {
            id,
            hook,
            event: at,
            ..
        } = &end.call;
        let began_at = event
            .at
            .saturating_sub(i64::try_from(end.duration_ms).unwrap_or(0));
        let mut attributes = vec![
            attribute("glasshouse.hook.name", hook.as_str()),
            attribute("glasshouse.hook.event", at.as_str()),
            attribute("glasshouse.hook.changed", end.change.is_some()),
        ];
        if end.decision == Decision::Deny {
            attributes.push(attribute("glasshouse.hook.denied", true));
        }
        let parent = self.agent_span(&event.agent);
        let times = Interval {
            began_at,
            ended_at: event.at,
        };
        let error = end.error.as_ref().map(|_| "hook_error");
        let name = format!("hook {hook}");
        self.end(
            &format!("hook {id}"),
            parent,
            name,
            SpanKind::Client,
            times,
            attributes,
            error,
        );
    }

    fn end_call(&mut self, event: &RunEvent) {
        let EventBody::ToolFinished {
            call,
            name,
            arguments,
            result,
            error,
            stopped,
            in_doubt,
            ..
        } = &event.body
        else {
            return;
        };
        let began_at = self.calls.remove(call).unwrap_or(event.at);
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "execute_tool"),
            attribute("gen_ai.tool.name", name.as_str()),
            attribute("gen_ai.tool.call.id", call.as_str()),
            attribute("gen_ai.tool.type", "function"),
        ];
        self.add_text(
            &mut attributes,
            "gen_ai.tool.call.arguments",
            &arguments.to_string(),
        );
        self.add_text(&mut attributes, "gen_ai.tool.call.result", result);
        let why = match (stopped, in_doubt) {
            (true, _) => "stopped",
            (_, true) => "in_doubt",
            _ => "tool_error",
        };
        let parent = self.agent_span(&event.agent);
        let times = Interval {
            began_at,
            ended_at: event.at,
        };
        let name = format!("execute_tool {name}");
        let error = error.then_some(why);
        self.end(
            &format!("call {call}"),
            parent,
            name,
            SpanKind::Internal,
            times,
            attributes,
            error,
        );
    }

    fn end_run(&mut self, event: &RunEvent, outcome: Outcome, problem: Option<&Problem>) {
        let why = problem.map_or(outcome_name(outcome), |problem| problem.code.as_str());
        for agent in self.steps.keys().cloned().collect::<Vec<_>>() {
            self.break_off_step(&agent, event.at, why);
        }
        if let (
            EventBody::RunFinished {
                usage,
                cost_micro_usd,
                ..
            },
            Some(main),
        ) = (&event.body, self.agents.get_mut(&AgentPath::main()))
        {
            main.attributes
                .push(attribute("gen_ai.usage.input_tokens", usage.input_tokens));
            main.attributes
                .push(attribute("gen_ai.usage.output_tokens", usage.output_tokens));
            let request = self.origin.request.as_deref();
            main.attributes
                .extend(request.map(|id| attribute("glasshouse.request_id", id)));
            main.attributes
                .extend(cost_micro_usd.map(|cost| attribute("glasshouse.cost_micro_usd", cost)));
        }
        self.end_agent(&AgentPath::main(), event.at, outcome, problem, "");
    }

    fn end_agent(
        &mut self,
        agent: &AgentPath,
        at: i64,
        outcome: Outcome,
        problem: Option<&Problem>,
        result: &str,
    ) {
        let Some(open) = self.agents.remove(agent) else {
            return;
        };
        let mut attributes = vec![
            attribute("gen_ai.operation.name", "invoke_agent"),
            attribute("gen_ai.provider.name", PROVIDER),
            attribute("gen_ai.agent.name", open.name.as_str()),
            attribute("gen_ai.agent.id", agent.id().unwrap_or("main")),
            attribute("glasshouse.run", self.run.run.to_string()),
            attribute("glasshouse.outcome", outcome_name(outcome)),
        ];
        attributes.extend(open.attributes);
        self.add_text(&mut attributes, "gen_ai.output.messages", result);
        let failed = matches!(outcome, Outcome::Failed | Outcome::Limited);
        let why = problem.map_or(outcome_name(outcome), |problem| problem.code.as_str());
        let parent = match &open.call {
            None => self
                .origin
                .parent
                .as_ref()
                .map(|parent| parent.span_id().to_owned())
                .unwrap_or_default(),
            Some(call) => self.span_id(&format!("call {call}")),
        };
        let name = format!("invoke_agent {}", open.name);
        let key = agent_key(agent);
        let times = Interval {
            began_at: open.began_at,
            ended_at: at,
        };
        self.end(
            &key,
            parent,
            name,
            SpanKind::Internal,
            times,
            attributes,
            failed.then_some(why),
        );
    }

    fn end(
        &mut self,
        key: &str,
        parent_span_id: String,
        name: String,
        kind: SpanKind,
        times: Interval,
        mut attributes: Vec<Value>,
        error: Option<&str>,
    ) {
        let Interval { began_at, ended_at } = times;
        let error = error.map(redact::text);
        attributes.extend(error.as_deref().map(|why| attribute("error.type", why)));
        self.ended.push(Span {
            trace_id: self.trace_id.clone(),
            span_id: self.span_id(key),
            parent_span_id,
            name,
            kind,
            start_time_unix_nano: nanoseconds(began_at.min(ended_at)),
            end_time_unix_nano: nanoseconds(ended_at),
            attributes,
            status: error.map(|why| serde_json::json!({"code": 2, "message": why})),
        });
    }

    fn add_text(&self, attributes: &mut Vec<Value>, key: &str, text: &str) {
        if self.content == Content::With && !text.is_empty() {
            attributes.push(attribute(key, &*redact::beginning(text, TEXT_LIMIT_BYTES)));
        }
    }

    fn agent_span(&self, agent: &AgentPath) -> String {
        self.span_id(&agent_key(agent))
    }

    fn span_id(&self, key: &str) -> String {
        span_id(self.run.run, key)
    }
}

fn agent_key(agent: &AgentPath) -> String {
    format!("agent {}", agent.id().unwrap_or("main"))
}

fn nanoseconds(at_ms: i64) -> String {
    (i128::from(at_ms.max(0)) * 1_000_000).to_string()
}

fn outcome_name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed => "failed",
        Outcome::Limited => "limited",
        Outcome::HandedOver => "handed_over",
    }
}

/// The attributes of a model call.
fn of_call(model: &str, usage: Usage, cost_micro_usd: Option<u64>) -> Vec<Value> {
    let mut attributes = vec![
        attribute("gen_ai.response.model", model),
        attribute("gen_ai.usage.input_tokens", usage.input_tokens),
        attribute("gen_ai.usage.output_tokens", usage.output_tokens),
    ];
    for (name, tokens) in [
        ("gen_ai.usage.cache_read.input_tokens", usage.cached_tokens),
        (
            "gen_ai.usage.cache_creation.input_tokens",
            usage.cache_write_tokens,
        ),
    ] {
        if tokens > 0 {
            attributes.push(attribute(name, tokens));
        }
    }
    attributes.extend(cost_micro_usd.map(|cost| attribute("glasshouse.cost_micro_usd", cost)));
    attributes
}

#[cfg(test)]
mod tests;
