//! Encodes a run as debug events: requests, responses and errors, without secrets.

use domain::{
    EventBody, Outcome, RunEvent,
    event::{FORKED, Forked, INPUT_READ, NoticeLevel, RESUMED, compacted},
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::{
    file_change::file_change, hook_event::hook_event, input_event::input_event,
    memory_update::memory_update,
};

/// One debug event.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct DebugEvent {
    /// Unique.
    pub id: String,
    /// Milliseconds since 1970-01-01 UTC.
    pub timestamp: i64,
    /// The kind of event.
    #[serde(rename = "type")]
    pub kind: DebugKind,
    /// The origin of the event.
    pub source: DebugSource,
    /// The details.
    pub data: Value,
    /// A line for people.
    pub description: String,
}

/// The kind of a debug event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DebugKind {
    /// A request was sent or received.
    Request,
    /// A response arrived.
    Response,
    /// A tool was called, or has finished.
    ToolCall,
    /// The model reasoned.
    Thought,
    /// An operation failed.
    Error,
}

/// The origin of a debug event.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DebugSource {
    /// The person, through a client.
    Frontend,
    /// The server.
    Backend,
    /// The model.
    Llm,
}

impl DebugEvent {
    /// Any event; secrets are redacted from `data` and `description`.
    #[must_use]
    pub fn new(
        id: String,
        timestamp: i64,
        kind: DebugKind,
        source: DebugSource,
        mut data: Value,
        description: &str,
    ) -> Self {
        redact::value(&mut data);
        Self {
            id,
            timestamp,
            kind,
            source,
            data,
            description: redact::text(description).into_owned(),
        }
    }

    /// The debug event of a run's event. Deltas have none: the complete item follows. `detail` accompanies the event
    /// while the run is live: the person's message, or the request to a model.
    #[must_use]
    pub fn of(event: &RunEvent, detail: Option<&Value>) -> Option<Self> {
        let (kind, source, mut data, description) = described(&event.body, detail)?;
        if let (Some(Value::Object(detail)), Value::Object(fields)) = (detail, &mut data) {
            fields.extend(detail.clone());
        }
        if let (Some(agent), Value::Object(fields)) = (event.agent.id(), &mut data) {
            fields.insert("agent".to_owned(), Value::from(agent));
        }
        let id = format!("{}:{}", event.run, event.seq);
        Some(Self::new(id, event.at, kind, source, data, &description))
    }
}

/// The descriptions of the three events that each exchange has.
const RECEIVED: &str = "User message received";
const SENDING: &str = "Sending request to LLM";
const RESPONDED: &str = "LLM responded";

fn described(
    body: &EventBody,
    detail: Option<&Value>,
) -> Option<(DebugKind, DebugSource, Value, String)> {
    use DebugKind::{Error, Request, Response, Thought, ToolCall};
    use DebugSource::{Backend, Frontend, Llm};
    Some(match body {
        // It answers a message of a chat, or one in the request.
        EventBody::RunStarted { model, message, .. } if message.is_some() || detail.is_some() => (
            Request,
            Frontend,
            json!({"model": model}),
            RECEIVED.to_owned(),
        ),
        EventBody::RunStarted { model, .. } => (
            Request,
            Backend,
            json!({"model": model}),
            format!("A run begins with {model}"),
        ),
        EventBody::StepStarted {
            step,
            last: Some(why),
        } => (
            Request,
            Backend,
            json!({"step": step, "last": why}),
            "The agent's last step".to_owned(),
        ),
        EventBody::ModelRequested { model, messages } => (
            Request,
            Backend,
            json!({"model": model, "messageCount": messages}),
            SENDING.to_owned(),
        ),
        EventBody::TextFinished { text, answer, .. } => (
            Response,
            Llm,
            json!({"text": text, "answer": answer}),
            "The model wrote".to_owned(),
        ),
        EventBody::ReasoningFinished {
            text, duration_ms, ..
        } => (
            Thought,
            Llm,
            json!({"text": text, "durationMs": duration_ms}),
            "The model reasoned".to_owned(),
        ),
        EventBody::ToolStarted {
            call,
            name,
            arguments,
            ..
        } => (
            ToolCall,
            Llm,
            json!({"call": call, "name": name, "arguments": arguments}),
            format!("{name} is called"),
        ),
        EventBody::ToolHandedOver {
            call,
            name,
            arguments,
        } => (
            ToolCall,
            Llm,
            json!({"call": call, "name": name, "arguments": arguments}),
            format!("{name} is handed over"),
        ),
        EventBody::ToolFinished {
            call,
            name,
            result,
            error,
            stopped,
            duration_ms,
            ..
        } => {
            let (kind, how) = match (*stopped, *error) {
                (true, _) => (ToolCall, "was stopped"),
                (false, true) => (Error, "failed"),
                (false, false) => (ToolCall, "has ended"),
            };
            let data =
                json!({"call": call, "name": name, "result": result, "durationMs": duration_ms});
            (kind, Backend, data, format!("{name} {how}"))
        }
        EventBody::ApprovalAsked {
            approval,
            call,
            name,
            arguments,
            ..
        } => (
            Request,
            Backend,
            json!({"approval": approval, "call": call, "arguments": arguments}),
            format!("{name} waits for consent"),
        ),
        EventBody::ApprovalAnswered {
            approval,
            decision,
            reason,
            ..
        } => (
            Response,
            Frontend,
            json!({"approval": approval, "decision": decision, "reason": reason}),
            "The consent was decided".to_owned(),
        ),
        EventBody::QuestionAsked {
            question,
            text,
            options,
            schema,
            ..
        } => {
            let mut data = json!({"question": question, "options": options});
            if let Some(form) = schema {
                data["schema"] = form.schema();
            }
            (Request, Backend, data, text.clone())
        }
        EventBody::QuestionAnswered {
            question,
            answer,
            values,
            declined,
        } => {
            let mut data = json!({"question": question, "answer": answer});
            if let Some(values) = values {
                data["values"] = json!(values);
            }
            if *declined {
                data["declined"] = true.into();
            }
            (
                Response,
                Frontend,
                data,
                "The question was answered".to_owned(),
            )
        }
        EventBody::AgentStarted {
            name, call, task, ..
        } => (
            Request,
            Backend,
            json!({"name": name, "call": call, "task": task}),
            format!("Sub-agent {name} begins"),
        ),
        EventBody::AgentFinished { outcome, result } => (
            if *outcome == Outcome::Failed {
                Error
            } else {
                Response
            },
            Backend,
            json!({"outcome": outcome, "result": result}),
            "A sub-agent has ended".to_owned(),
        ),
        EventBody::ModelCalled {
            model,
            usage,
            duration_ms,
            first_token_ms,
            cost_micro_usd,
            broken_off,
        } => {
            let mut data = json!({"model": model, "usage": usage, "durationMs": duration_ms});
            for (name, figure) in [
                ("firstTokenMs", first_token_ms),
                ("costMicroUsd", cost_micro_usd),
            ] {
                if let Some(figure) = figure {
                    data[name] = (*figure).into();
                }
            }
            if *broken_off {
                data["brokenOff"] = true.into();
            }
            (Response, Llm, data, RESPONDED.to_owned())
        }
        EventBody::RunResumed { .. } => (
            Response,
            Backend,
            json!({"level": "info"}),
            RESUMED.to_owned(),
        ),
        EventBody::ContextCompacted {
            summary,
            tokens_before,
            tokens_after,
            model,
            usage,
            duration_ms,
            ..
        } => (
            Response,
            Llm,
            json!({"model": model, "usage": usage, "durationMs": duration_ms, "summary": summary}),
            compacted(summary, *tokens_before, *tokens_after),
        ),
        EventBody::InputReceived(input) => (
            Request,
            Frontend,
            input_event(body),
            format!("{RECEIVED} ({})", input.input_id),
        ),
        EventBody::InputApplied { .. } => {
            (Response, Backend, input_event(body), INPUT_READ.to_owned())
        }
        EventBody::InputRemoved { input_id } => (
            Request,
            Frontend,
            input_event(body),
            format!("User message removed ({input_id})"),
        ),
        EventBody::RunForked(Forked {
            from,
            after,
            guidance,
        }) => {
            let data = json!({"from": from, "after": after, "guidance": guidance});
            (Request, Frontend, data, FORKED.to_owned())
        }
        EventBody::Notice {
            level,
            message,
            sentence,
            failed_try,
        } => (
            if *failed_try || *level == NoticeLevel::Error {
                Error
            } else {
                Response
            },
            if *failed_try { Llm } else { Backend },
            match sentence {
                Some(sentence) => json!({"level": level, "sentence": sentence}),
                None => json!({"level": level}),
            },
            message.clone(),
        ),
        EventBody::HookStarted(call) => {
            let at = call.event.as_str();
            (
                Request,
                Backend,
                hook_event(body),
                format!("Hook {} is called ({at})", call.hook),
            )
        }
        EventBody::HookFinished(end) => {
            let mut data = hook_event(body);
            for (name, value) in [
                ("change", &end.change),
                ("context", &end.context.clone().map(Value::from)),
            ] {
                if let Some(value) = value {
                    data[name] = value.clone();
                }
            }
            (
                if end.error.is_some() { Error } else { Response },
                Backend,
                data,
                end.line(),
            )
        }
        EventBody::SourcesFound { sources } => (
            Response,
            Backend,
            json!({"sources": sources}),
            "Sources were found".to_owned(),
        ),
        EventBody::PlanChanged { todos } => (
            Response,
            Backend,
            json!({"todos": todos}),
            "The plan has changed".to_owned(),
        ),
        EventBody::FileChanged { path, deleted, .. } => (
            Response,
            Backend,
            file_change(body),
            if *deleted {
                format!("{path} was deleted")
            } else {
                format!("{path} has changed")
            },
        ),
        EventBody::MemoryUpdateStarted { .. } => (
            Request,
            Backend,
            memory_update(body),
            "Memory update started".to_owned(),
        ),
        EventBody::MemoryUpdateCompleted { error, .. } => {
            let (kind, end) = if error.is_some() {
                (Error, "failed")
            } else {
                (Response, "completed")
            };
            (
                kind,
                Backend,
                memory_update(body),
                format!("Memory update {end}"),
            )
        }
        EventBody::RunFinished {
            outcome,
            problem,
            usage,
            cost_micro_usd,
        } => (
            if *outcome == Outcome::Failed {
                Error
            } else {
                Response
            },
            // The last attempt of a model call ended the run.
            if problem
                .as_ref()
                .is_some_and(|problem| problem.code.is_of_model())
            {
                Llm
            } else {
                Backend
            },
            {
                let mut data = json!({"outcome": outcome, "problem": problem, "usage": usage});
                if let Some(cost) = cost_micro_usd {
                    data["costMicroUsd"] = json!(cost);
                }
                data
            },
            problem
                .as_ref()
                .map_or("The run has ended".to_owned(), |problem| {
                    problem.message.clone()
                }),
        ),
        EventBody::StepStarted { last: None, .. }
        | EventBody::Status { .. }
        | EventBody::TextStarted { .. }
        | EventBody::TextDelta { .. }
        | EventBody::ReasoningStarted { .. }
        | EventBody::ReasoningDelta { .. }
        | EventBody::ProviderData(_)
        | EventBody::ToolRequested { .. }
        | EventBody::ToolArgumentsDelta { .. }
        | EventBody::ToolProgress { .. }
        | EventBody::ToolOutput { .. } => return None,
    })
}
