//! The tool calls of one answer: validated, approved if required, run concurrently, and answered in order.

use std::{
    panic::AssertUnwindSafe,
    sync::{
        Arc, Mutex, OnceLock, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use domain::{EventBody, LocalizedText, Message, event::ToolFile, message::arguments_value};
use futures_util::{FutureExt, StreamExt, stream};
use serde_json::Value;
use tokio::time::Instant;

use crate::{
    answer::RequestedCall,
    approval::{Approval, approve, without_asking},
    hooks::{
        KeptResult, after_tool, before_edited_tool, before_tool, context_of_call, keep_result,
        kept_result, withdraw_before_tool,
    },
    journal::{CallEnd, CallResult},
    long_results::{Shortened, shorten},
    messages,
    pending_input::AtWork,
    step::millis,
    tool::{Tool, ToolContext, ToolFailure, Toolbox},
    tool_files::parts_for_model,
    tools::find_tools,
    turns::AgentContext,
};

/// Runs all calls concurrently, except those of the caller's own tools, and returns the tool messages in the order of
/// the calls.
pub(crate) async fn run_calls(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    calls: &[RequestedCall],
) -> Vec<Message> {
    let calls: Vec<&RequestedCall> = calls
        .iter()
        .filter(|call| !tools.is_client(&call.written.name))
        .collect();
    if calls.is_empty() {
        return Vec::new();
    }
    let mut ids = calls.iter().map(|call| &call.id);
    if !ids.any(|id| agent.journal.has_begun_call(id)) {
        agent.status(describe(&calls)).await;
    }
    let limit_bytes = model_result_bytes(agent, calls.len());
    run_side_by_side(agent, tools, &calls, limit_bytes).await
}

/// Runs these calls concurrently, and returns the tool messages in order, with at most `limit_bytes` of each result.
pub(crate) async fn run_side_by_side(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    calls: &[&RequestedCall],
    limit_bytes: usize,
) -> Vec<Message> {
    // Boxed because the compiler cannot prove that futures from a borrowing closure are `Send`.
    let calls: Vec<_> = calls
        .iter()
        .map(|call| run_call(agent, tools, call, limit_bytes).boxed())
        .collect();
    stream::iter(calls)
        .buffered(agent.run.limits.parallel_calls.max(1))
        .collect()
        .await
}

/// Emits calls that our own code makes instead of a model.
pub(crate) async fn request_ours(
    agent: &AgentContext,
    wanted: Vec<(&str, Value)>,
) -> Vec<RequestedCall> {
    let mut calls = Vec::with_capacity(wanted.len());
    for (name, arguments) in wanted {
        let call = agent.journal.next_item('c');
        let delta = arguments.to_string();
        agent
            .emitter
            .emit(EventBody::ToolRequested {
                call: call.clone(),
                name: name.to_owned(),
                model_id: None,
                by_provider: false,
            })
            .await;
        let arguments = EventBody::ToolArgumentsDelta {
            call: call.clone(),
            delta: delta.clone(),
        };
        agent.emitter.emit(arguments).await;
        calls.push(RequestedCall::of_ours(call, name, delta));
    }
    calls
}

fn describe(calls: &[&RequestedCall]) -> LocalizedText {
    match calls {
        [call] => format!("{}…", call.written.name).into(),
        calls => messages::Runs::RunningTools {
            count: calls.len() as u64,
        }
        .into(),
    }
}

/// The outcome of a call.
struct Finished {
    arguments: Value,
    result: Result<String, ToolFailure>,
    /// A note for the model, appended to the result.
    note: Option<String>,
    /// The files that the call produced.
    files: Vec<ToolFile>,
    took: Duration,
    /// Whether it took effect is unknown.
    in_doubt: bool,
    /// Marks the call as running until its end is logged.
    at_work: Option<AtWork>,
}

impl Finished {
    /// The outcome of a call that was not run.
    fn refused(arguments: Value, why: ToolFailure) -> Self {
        let result = Err(why);
        Self {
            arguments,
            result,
            note: None,
            files: Vec::new(),
            took: Duration::ZERO,
            in_doubt: false,
            at_work: None,
        }
    }

    /// The result before hooks see it.
    fn to_keep(&self) -> KeptResult {
        let (Ok(text) | Err(ToolFailure(text))) = &self.result;
        let note = self.note.clone();
        let files = self.files.clone();
        KeptResult {
            text: text.clone(),
            error: self.result.is_err(),
            note,
            files,
        }
    }

    /// The outcome of a call that ran before the server stopped while hooks were checking its result.
    fn before(arguments: Value, kept: KeptResult) -> Self {
        let KeptResult {
            text,
            error,
            note,
            files,
        } = kept;
        let result = if error {
            Err(ToolFailure(text))
        } else {
            Ok(text)
        };
        Self {
            arguments,
            result,
            note,
            files,
            took: Duration::ZERO,
            in_doubt: false,
            at_work: None,
        }
    }
}

/// Sent to the model for a call that was running when the server stopped and must not be repeated blindly.
pub(crate) const IN_DOUBT: &str = "The server stopped while this ran, so it is not known whether it was done. Find out before \
    you call it again.";

async fn run_call(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    call: &RequestedCall,
    limit_bytes: usize,
) -> Message {
    let relearn = |result: &CallResult| relearn(agent, tools, call, result);
    let perform = |started| perform(agent, tools, call, started, limit_bytes);
    let result = agent.journal.call(&call.id, relearn, perform).await;
    message_for_model(agent, call, result, limit_bytes).await
}

/// Updates in-memory state from a recorded call, as running it would have done.
fn relearn(agent: &AgentContext, tools: &Toolbox, call: &RequestedCall, result: &CallResult) {
    agent
        .code
        .note(&agent.run, tools, &call.written, result.error);
    if let (Some(tool), false) = (tools.get(&call.written.name), result.error) {
        let arguments = arguments_value(&call.written.arguments);
        agent.learn_of_call(tool, &arguments, &result.text);
    }
}

/// Performs a call. It was interrupted by a restart if it had `started`.
async fn perform(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    call: &RequestedCall,
    started: Option<Value>,
    limit_bytes: usize,
) -> CallEnd {
    let finished = carry_out(agent, tools, call, started).await;
    let error = finished.result.is_err();
    let text = finished.result.unwrap_or_else(|failure| failure.0);
    let note = agent
        .code
        .note(&agent.run, tools, &call.written, error)
        .map(str::to_owned)
        .or(finished.note);
    let Shortened { text, file } = shorten(agent, &call.written.name, text, limit_bytes).await;
    let (text, truncated) = cut(text, agent.run.limits.result_bytes);
    let result = CallResult {
        text,
        error,
        note,
        files: finished.files,
    };
    let event = EventBody::ToolFinished {
        call: call.id.clone(),
        name: call.written.name.clone(),
        arguments: finished.arguments,
        result: result.text.clone(),
        model_note: result.note.clone(),
        error,
        truncated,
        duration_ms: millis(finished.took),
        stopped: false,
        in_doubt: finished.in_doubt,
        file,
        files: result.files.clone(),
    };
    CallEnd {
        result,
        finished: event,
        at_work: finished.at_work,
    }
}

/// Runs a call, or resolves one that had `started` with these arguments before a restart.
async fn carry_out(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    call: &RequestedCall,
    started: Option<Value>,
) -> Finished {
    let id = call.id.as_str();
    let name = call.written.name.as_str();
    let arguments = arguments_value(&call.written.arguments);
    let (mut finished, context) = match (check(agent, tools, call, &arguments), started) {
        (tool, Some(arguments)) => {
            let finished = match (kept_result(agent, id).await, tool) {
                (Some(result), _) => Finished::before(arguments, result),
                (None, Ok(tool)) => run_again(agent, tool, id, arguments).await,
                // The call was running, and its tool no longer exists.
                (None, Err(_)) => in_doubt(agent, id, arguments).await,
            };
            (finished, context_of_call(agent, id, name).await)
        }
        (Ok(tool), None) => match approve_and_run(agent, tools, tool, id, arguments).await {
            Ok(run) => run,
            Err(refused) => return refused,
        },
        (Err(failure), None) => {
            // Its tool may have been removed while the server was down.
            agent.journal.withdraw_approval(id).await;
            withdraw_before_tool(agent, id, name).await;
            return Finished::refused(arguments, failure);
        }
    };
    // Uses the tool's own result, not the hooks' version.
    if let (Some(tool), Ok(result)) = (tools.get(name), &finished.result) {
        agent.learn_of_call(tool, &finished.arguments, result);
    }
    let went_well = finished.result.is_ok();
    if !finished.in_doubt {
        keep_result(agent, id, name, || finished.to_keep()).await;
    }
    finished.result = after_tool(
        agent,
        id,
        name,
        &finished.arguments,
        finished.result,
        context,
    )
    .await;
    if went_well && finished.result.is_err() {
        // A hook that denies a result also denies its files.
        finished.files.clear();
    }
    finished
}

/// The result for the model, which is shorter than the one in the log, to save context.
async fn message_for_model(
    agent: &AgentContext,
    call: &RequestedCall,
    result: CallResult,
    limit_bytes: usize,
) -> Message {
    let CallResult {
        text,
        error,
        note,
        files,
    } = result;
    let (text, _) = cut(text, limit_bytes);
    let text = model_result(text, error, note.as_deref());
    let mut message = Message {
        is_error: error,
        ..Message::tool_result(call.written.id.clone(), text)
    };
    message
        .content
        .extend(parts_for_model(&agent.run.deps.workspace, &files).await);
    message
}

/// A result as text for the model. It is never empty, even if the tool returned nothing.
pub(crate) fn model_result(result: String, error: bool, note: Option<&str>) -> String {
    let is_silent = result.trim().is_empty();
    let result = match (error, note) {
        (true, _) if is_silent => "Error: it failed and returned nothing.".to_owned(),
        (true, _) => format!("Error: {result}"),
        (false, Some(note)) if is_silent => return note.to_owned(),
        (false, None) if is_silent => NOTHING_RETURNED.to_owned(),
        (false, _) => result,
    };
    match note {
        Some(note) => format!("{result}\n\n{note}"),
        None => result,
    }
}

/// Sent to the model if a call succeeded without returning anything.
const NOTHING_RETURNED: &str = "It completed and returned nothing.";

/// Maximum number of bytes that the model reads of each of `count` results: together they get a third of its window.
fn model_result_bytes(agent: &AgentContext, count: usize) -> usize {
    let window = agent.models.chosen().settings().context_tokens;
    let window_bytes = window.map_or(u64::MAX, |tokens| tokens.saturating_mul(4));
    let share = usize::try_from(window_bytes / 3).unwrap_or(usize::MAX) / count.max(1);
    share.clamp(MIN_RESULT_BYTES, MODEL_RESULT_BYTES)
}

const MIN_RESULT_BYTES: usize = 200;

/// About 16,000 tokens.
pub(crate) const MODEL_RESULT_BYTES: usize = 64_000;

fn check<'a>(
    agent: &AgentContext,
    tools: &'a Toolbox,
    call: &RequestedCall,
    arguments: &Value,
) -> Result<&'a Arc<Tool>, ToolFailure> {
    let name = &call.written.name;
    let tool = tools
        .get(name)
        .filter(|_| may_use(agent, name))
        .ok_or_else(|| {
            let mut names = tools.names();
            names.retain(|name| may_use(agent, name));
            ToolFailure(if name == llm::openai::UNREADABLE {
                format!(
                    "The tool call could not be parsed: it names no tool. The tools are: {}.",
                    names.join(", ")
                )
            } else if names.is_empty() {
                format!("There is no tool {name}: no tools are left. Answer with what you know.")
            } else {
                format!(
                    "There is no tool {name}. The tools are: {}.",
                    names.join(", ")
                )
            })
        })?;
    if let Value::String(_) = arguments {
        return Err(ToolFailure(
            "The arguments are not valid JSON. Send one JSON object.".into(),
        ));
    }
    tool.check(arguments)
        .map_err(|faults| ToolFailure(format!("The arguments do not fit: {faults}")))?;
    Ok(tool)
}

/// Whether the tool may currently be used, which can change during a run.
fn may_use(agent: &AgentContext, tool: &str) -> bool {
    tool == find_tools::NAME
        || agent
            .run
            .deps
            .quota
            .as_ref()
            .is_none_or(|quota| quota.allows_tool(tool))
}

/// Runs a call if hooks and, where required, a person approve it. Also returns the context that hooks add to its
/// result.
///
/// # Errors
/// If the call is not run.
async fn approve_and_run(
    agent: &Arc<AgentContext>,
    tools: &Toolbox,
    tool: &Arc<Tool>,
    call: &str,
    mut arguments: Value,
) -> Result<(Finished, Vec<String>), Finished> {
    // Hooks come first, so that the person approves what will actually run.
    let mut context = match before_tool(agent, tool, call, &mut arguments).await {
        Ok(context) => context,
        Err(denial) => {
            agent.journal.withdraw_approval(call).await;
            return Err(Finished::refused(arguments, denial));
        }
    };
    let given = match approve(agent, tools, tool, call, &arguments).await {
        Ok(Approval::Asked(None)) => None,
        Ok(Approval::Asked(Some(edited))) => {
            arguments = edited;
            match before_edited_tool(agent, tool, call, &arguments).await {
                Ok(more) => context.extend(more),
                Err(denial) => return Err(Finished::refused(arguments, denial)),
            }
            None
        }
        Ok(Approval::NotAsked(remembered)) => remembered,
        Err(refusal) => return Err(Finished::refused(arguments, refusal)),
    };
    if !may_use(agent, tool.name()) {
        // People may take long to answer.
        let gone = format!("There is no tool {} any more.", tool.name());
        return Err(Finished::refused(arguments, ToolFailure(gone)));
    }
    let at_work = at_work(agent, tool).await;
    let started = EventBody::ToolStarted {
        call: call.to_owned(),
        name: tool.name().to_owned(),
        arguments: arguments.clone(),
        repeatable: tool.kind().repeatable,
    };
    if tool.kind().repeatable {
        agent.emitter.emit(started).await;
    } else {
        // A server that takes over after a crash must know that the call may have run.
        agent.emitter.emit_stored(started).await;
    }
    if let Some(remembered) = given {
        let message = without_asking(remembered).to_owned();
        agent
            .emitter
            .emit(EventBody::ToolProgress {
                call: call.to_owned(),
                message,
            })
            .await;
    }
    Ok((
        run_now(agent, tool, call, arguments, at_work, false).await,
        context,
    ))
}

/// Marks the call as running. Only this process will know its effect, unless the call is one that can be continued.
async fn at_work(agent: &AgentContext, tool: &Tool) -> Option<AtWork> {
    match tool.kind().goes_on {
        true => None,
        false => Some(agent.run.begin_work().await),
    }
}

/// Continues a call that was running when the server stopped.
async fn run_again(
    agent: &Arc<AgentContext>,
    tool: &Arc<Tool>,
    call: &str,
    arguments: Value,
) -> Finished {
    if tool.kind().repeatable || tool.kind().goes_on {
        let at_work = at_work(agent, tool).await;
        return run_now(agent, tool, call, arguments, at_work, true).await;
    }
    in_doubt(agent, call, arguments).await
}

async fn in_doubt(agent: &Arc<AgentContext>, call: &str, arguments: Value) -> Finished {
    agent.journal.withdraw_questions(call, 0).await;
    Finished {
        in_doubt: true,
        ..Finished::refused(arguments, ToolFailure(IN_DOUBT.to_owned()))
    }
}

async fn run_now(
    agent: &Arc<AgentContext>,
    tool: &Arc<Tool>,
    call: &str,
    arguments: Value,
    at_work: Option<AtWork>,
    is_continued: bool,
) -> Finished {
    let began = Instant::now();
    let _busy = (!tool.kind().goes_on).then(|| agent.run.active_time.busy());
    let note = Arc::default();
    let (result, files) = run_tool(agent, tool, call, arguments.clone(), &note, is_continued).await;
    let note = note.get().cloned();
    let took = began.elapsed();
    Finished {
        arguments,
        result,
        note,
        files,
        took,
        in_doubt: false,
        at_work,
    }
}

async fn run_tool(
    agent: &Arc<AgentContext>,
    tool: &Tool,
    call: &str,
    arguments: Value,
    note: &Arc<OnceLock<String>>,
    is_continued: bool,
) -> (Result<String, ToolFailure>, Vec<ToolFile>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let files: Arc<Mutex<Vec<ToolFile>>> = Arc::default();
    let context = ToolContext {
        agent: Arc::clone(agent),
        call: call.to_owned(),
        asked: Arc::clone(&asked),
        note: Arc::clone(note),
        is_continued,
        is_busy: !tool.kind().goes_on,
        files: Arc::clone(&files),
    };
    let work = AssertUnwindSafe(tool.call(arguments, context)).catch_unwind();
    let result = if tool.kind().waits {
        work.await
    } else {
        match tokio::time::timeout(agent.run.limits.tool_time, work).await {
            Ok(result) => result,
            Err(_) => {
                let seconds = agent.run.limits.tool_time.as_secs();
                let sentence =
                    format!("The tool took longer than {seconds} seconds and was stopped.");
                return (Err(ToolFailure(sentence)), Vec::new());
            }
        }
    };
    let asked = asked.load(Ordering::Relaxed);
    agent.journal.withdraw_questions(call, asked).await;
    // The panic hook has reported it. The model gets an error message and the run continues.
    let result =
        result.unwrap_or_else(|_| Err(ToolFailure("The tool met a fault in the server.".into())));
    let files = std::mem::take(&mut *files.lock().unwrap_or_else(PoisonError::into_inner));
    (result, files)
}

/// Cuts at a character boundary and notes it in the text.
fn cut(mut text: String, limit_bytes: usize) -> (String, bool) {
    if text.len() <= limit_bytes {
        return (text, false);
    }
    let whole = text.len();
    let mut end = limit_bytes;
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text.truncate(end);
    text.push_str(&format!("\n… cut here: {end} of {whole} bytes"));
    (text, true)
}

#[cfg(test)]
mod tests {
    use super::{cut, model_result};

    #[test]
    fn the_model_reads_something_in_any_case() {
        let check = |result: &str, error, note, expected: &str| {
            assert_eq!(model_result(result.to_owned(), error, note), expected);
        };
        check("x", false, None, "x");
        check("x", true, None, "Error: x");
        check("x", false, Some("(n)"), "x\n\n(n)");
        check("x", true, Some("(n)"), "Error: x\n\n(n)");
        check(" \n", false, None, "It completed and returned nothing.");
        check(
            "",
            false,
            Some("It printed nothing."),
            "It printed nothing.",
        );
        check(
            "",
            true,
            Some("(n)"),
            "Error: it failed and returned nothing.\n\n(n)",
        );
    }

    #[test]
    fn cuts_at_a_character() {
        assert_eq!(cut("short".into(), 5), ("short".into(), false));
        let (text, truncated) = cut("ёёё".into(), 3);
        assert!(
            truncated && text.starts_with("ё\n… cut here: 2 of 6 bytes"),
            "{text}"
        );
    }
}
