//! The response object of a running or finished run.

use domain::{Outcome, Problem, ProblemCode, RunId};
use serde_json::{Map, Value, json};

use super::{ids::response_id, item::Item};
use crate::{
    gateway::Used,
    openai::{completion_encoder::failure, usage::add_cost},
};

/// The end of a run in the terms of this format.
#[derive(Debug, Clone)]
pub(super) struct End {
    status: &'static str,
    completed_at: Option<i64>,
    /// Why it failed, if it did.
    pub(super) problem: Option<Problem>,
    incomplete: Option<&'static str>,
    used: Used,
}

impl End {
    /// `at` is in seconds since 1970.
    pub(super) fn new(at: i64, outcome: Outcome, problem: Option<&Problem>, used: Used) -> Self {
        let status = match outcome {
            Outcome::Completed | Outcome::HandedOver => "completed",
            Outcome::Limited => "incomplete",
            Outcome::Cancelled => "cancelled",
            Outcome::Failed => "failed",
        };
        let (code, message) = failure(problem);
        Self {
            status,
            completed_at: (status == "completed").then_some(at),
            problem: (outcome == Outcome::Failed).then(|| Problem::new(code, message)),
            // The only limit among the format's reasons.
            incomplete: (outcome == Outcome::Limited).then_some("max_output_tokens"),
            used,
        }
    }

    /// The event for it.
    pub(super) fn event(&self) -> &'static str {
        match self.status {
            "completed" => "response.completed",
            "failed" => "response.failed",
            // The format has no event for a cancelled response.
            _ => "response.incomplete",
        }
    }
}

/// The object. `begun` holds the run and its start, in seconds since 1970.
pub(super) fn object(
    begun: Option<(RunId, i64)>,
    echo: &Map<String, Value>,
    output: &[Item],
    end: Option<&End>,
) -> Value {
    let problem = end.and_then(|end| end.problem.as_ref());
    let mut fields = Map::new();
    let mut add = |name: &str, value: Value| _ = fields.insert(name.to_owned(), value);
    add("id", json!(begun.map(|(run, _)| response_id(run))));
    add("object", json!("response"));
    add("created_at", json!(begun.map_or(0, |(_, at)| at)));
    add("status", json!(end.map_or("in_progress", |end| end.status)));
    add("completed_at", json!(end.and_then(|end| end.completed_at)));
    add(
        "error",
        json!(problem.map(|it| json!({"code": error_code(it.code), "message": it.message}))),
    );
    let reason = end.and_then(|end| end.incomplete);
    add(
        "incomplete_details",
        json!(reason.map(|reason| json!({"reason": reason}))),
    );
    echo.iter()
        .for_each(|(name, value)| add(name, value.clone()));
    add("output", output.iter().map(Item::to_json).collect());
    add("usage", json!(end.map(|end| usage(end.used))));
    Value::Object(fields)
}

fn usage(
    Used {
        usage,
        cost_micro_usd,
    }: Used,
) -> Value {
    let mut written = json!({
        "input_tokens": usage.input_tokens,
        "input_tokens_details": {
            "cached_tokens": usage.cached_tokens,
            "cache_write_tokens": usage.cache_write_tokens,
        },
        "output_tokens": usage.output_tokens,
        "output_tokens_details": {"reasoning_tokens": usage.reasoning_tokens},
        "total_tokens": usage.total_tokens(),
    });
    if usage.estimated {
        written["estimated"] = true.into();
    }
    add_cost(&mut written, cost_micro_usd);
    written
}

/// The format has a closed list of codes for this field.
fn error_code(code: ProblemCode) -> &'static str {
    match code {
        ProblemCode::RateLimited | ProblemCode::ModelRateLimited => "rate_limit_exceeded",
        ProblemCode::InvalidRequest
        | ProblemCode::ModelRejected
        | ProblemCode::ModelContextFull
        | ProblemCode::TooLarge => "invalid_prompt",
        ProblemCode::Unauthenticated
        | ProblemCode::Forbidden
        | ProblemCode::NotFound
        | ProblemCode::Conflict
        | ProblemCode::KeyReused
        | ProblemCode::ModelNotFound
        | ProblemCode::LimitReached
        | ProblemCode::ModelUnavailable
        | ProblemCode::ModelUnreachable
        | ProblemCode::ModelUnauthorized
        | ProblemCode::ModelFailed
        | ProblemCode::ModelProtocol
        | ProblemCode::ModelTimeout
        | ProblemCode::Interrupted
        | ProblemCode::Unavailable
        | ProblemCode::StorageFull
        | ProblemCode::Internal => "server_error",
    }
}
