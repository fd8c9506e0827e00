//! Writes events of runs to the server's log, within a span that identifies the run.

use agent::PreparedRun;
use domain::{
    EventBody, MessageCode, Outcome, RunEvent, RunSummary,
    event::{Forked, NoticeLevel},
    trace::trace_id,
};
use tracing::{Span, field};

use crate::LiveRun;

/// The target of these lines: `log.level = "info,runs=off"` disables them.
const TARGET: &str = "runs";

/// The span of a run that is live here.
pub(crate) fn span(live: &LiveRun, run: &PreparedRun) -> Span {
    let origin = &run.deps.trace.origin;
    // At the error level, so that it is attached to errors whatever the log level is.
    tracing::error_span!(
        "run",
        id = %live.id,
        chat = live.chat.map(field::display),
        trace = trace_id(live.id, origin),
        request = origin.request.as_deref(),
        user = %live.principal.account,
        person = live.principal.person.as_deref(),
    )
}

/// Logs the start or the resumption of research.
pub(crate) fn note_research(run: &PreparedRun) {
    if let Some(research) = &run.input.research {
        tracing::info!(target: TARGET, turns = research.turns, "research mode detected");
    }
}

/// Logs an event for operators that follow a request; `summary` already includes it.
pub(crate) fn note(event: &RunEvent, summary: &RunSummary) {
    if event.body.is_delta() || !tracing::enabled!(target: TARGET, tracing::Level::INFO) {
        return;
    }
    // `None` for the main agent.
    let agent = event.agent.id();
    match &event.body {
        EventBody::RunStarted { model, .. } => tracing::info!(target: TARGET, model, "run started"),
        EventBody::RunResumed { .. } => tracing::info!(target: TARGET, "run resumed"),
        EventBody::InputReceived(input) => {
            tracing::info!(target: TARGET, input = input.input_id, mode = ?input.mode, "input received");
        }
        EventBody::InputApplied { input_id, step } => {
            tracing::info!(target: TARGET, agent, input = input_id, step, "input read");
        }
        EventBody::RunForked(Forked { from, .. }) => {
            tracing::info!(target: TARGET, %from, "run forked")
        }
        EventBody::ModelCalled {
            model,
            usage,
            duration_ms,
            first_token_ms,
            ..
        } => {
            let input_tokens = usage.input_tokens;
            let output_tokens = usage.output_tokens;
            tracing::info!(
                target: TARGET, agent, model, input_tokens, output_tokens, first_token_ms, ms = duration_ms, "model call"
            );
        }
        EventBody::AgentStarted { name, .. } => {
            tracing::debug!(target: TARGET, agent, name, "sub-agent started");
        }
        EventBody::ToolFinished {
            name,
            error,
            duration_ms,
            ..
        } => {
            tracing::debug!(target: TARGET, agent, tool = name, error, ms = duration_ms, "tool call");
        }
        EventBody::Status {
            description,
            sentence,
            done,
            hidden,
        } => match sentence.as_deref() {
            Some(MessageCode { code, .. }) if RESEARCH.contains(&code.as_str()) => {
                tracing::info!(target: TARGET, agent, "research: {description}");
            }
            _ => tracing::debug!(target: TARGET, agent, description, done, hidden, "status event"),
        },
        EventBody::Notice {
            level: NoticeLevel::Warning,
            message,
            ..
        } => {
            tracing::info!(target: TARGET, agent, "notice: {message}");
        }
        EventBody::RunFinished {
            outcome,
            problem,
            usage,
            ..
        } => {
            let input_tokens = usage.input_tokens;
            let output_tokens = usage.output_tokens;
            let outcome = name(*outcome);
            let ms = summary.duration_ms;
            let tools = summary.tools;
            let code = problem.as_ref().map(|problem| problem.code.as_str());
            tracing::info!(target: TARGET, outcome, code, ms, tools, input_tokens, output_tokens, "run finished");
        }
        _ => {}
    }
}

/// The message codes of research steps, from [`agent::messages::Runs`].
const RESEARCH: [&str; 4] = [
    "planning",
    "searching_in_turn",
    "reading_in_turn",
    "writing_report",
];

fn name(outcome: Outcome) -> &'static str {
    match outcome {
        Outcome::Completed => "completed",
        Outcome::Cancelled => "cancelled",
        Outcome::Failed => "failed",
        Outcome::Limited => "limited",
        Outcome::HandedOver => "handed_over",
    }
}
