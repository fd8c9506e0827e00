//! The one event: everything a run does is a numbered `RunEvent` in the run's log.

mod deltas;
mod hooks;
mod names;
mod provider_data;
mod run_event;
mod texts;
mod tool_file;
mod values;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

pub use self::{provider_data::ProviderData, run_event::RunEvent, tool_file::ToolFile};
pub use hooks::{HookCall, HookEnd, HookEvent};
pub use texts::{FORKED, INPUT_READ, RESUMED, compacted, seq_after_restart};
pub use values::*;

use crate::{ChatId, Form, MessageCode, MessageId, Problem, Usage, localized_text::readable};

/// What happened. An *item* (text, reasoning, call, agent) has a start, perhaps deltas, and a finish with the whole value.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// First event of every log.
    RunStarted {
        /// The chat it belongs to, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        chat: Option<ChatId>,
        /// The assistant message it fills, if any.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        message: Option<MessageId>,
        /// The model the main agent uses.
        model: String,
    },
    /// An agent begins its model call number `step`.
    StepStarted {
        /// From 1, per agent.
        step: u32,
        /// Why it is the agent's last, if it is: a limit is near, so it gets no tools and has to answer.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        last: Option<String>,
    },
    /// The status line; each one replaces the one before.
    Status {
        /// A short phrase.
        description: String,
        /// The activity has ended.
        done: bool,
        /// The line should be taken away.
        hidden: bool,
        /// The phrase by its code, if it is one of ours.
        #[serde(
            default,
            deserialize_with = "readable",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "typescript", ts(optional))]
        sentence: Option<Box<MessageCode>>,
    },
    /// The agent begins to write text.
    TextStarted {
        /// Unique within the run.
        item: String,
    },
    /// More text.
    TextDelta {
        /// The text item.
        item: String,
        /// What to append.
        delta: String,
    },
    /// The text is whole.
    TextFinished {
        /// The text item.
        item: String,
        /// All of it.
        text: String,
        /// Whether this is the agent's last text, its answer; text before tool calls is commentary.
        answer: bool,
        /// Whether it turned out to be reasoning, as did all text before it in the same model call. `answer` is false then.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        reasoning: bool,
    },
    /// The model begins to reason.
    ReasoningStarted {
        /// Unique within the run.
        item: String,
    },
    /// More reasoning.
    ReasoningDelta {
        /// The reasoning item.
        item: String,
        /// What to append.
        delta: String,
    },
    /// The reasoning is whole.
    ReasoningFinished {
        /// The reasoning item.
        item: String,
        /// All of it.
        text: String,
        /// How long it took, milliseconds.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        duration_ms: u64,
    },
    /// Opaque data that has to be sent back to the provider with a part of the answer. It is only in the log and in model requests.
    ProviderData(ProviderData),
    /// The model begins to write a tool call: the item opens.
    ToolRequested {
        /// The call, unique within the run.
        call: String,
        /// The tool's name as the model wrote it.
        name: String,
        /// The model's own id of the call; absent if it is the same, in older logs and for calls that no model wrote.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        model_id: Option<String>,
        /// Whether the model's provider runs it: it is shown, and neither run nor sent back by us.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        by_provider: bool,
    },
    /// More of the arguments' JSON text.
    ToolArgumentsDelta {
        /// The call.
        call: String,
        /// What to append.
        delta: String,
    },
    /// The tool runs now, with these checked (and perhaps edited) arguments.
    ToolStarted {
        /// The call.
        call: String,
        /// The tool's name.
        name: String,
        /// The arguments it runs with.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        arguments: Value,
        /// Whether running it again after a crash does no harm. Where not, this event is on disk first.
        repeatable: bool,
    },
    /// News from a running tool.
    ToolProgress {
        /// The call.
        call: String,
        /// A line for people.
        message: String,
    },
    /// A running tool has printed output. Its result may contain less of it.
    ToolOutput {
        /// The call.
        call: String,
        /// What to append to what it printed before.
        text: String,
    },
    /// The call has ended.
    ToolFinished {
        /// The call.
        call: String,
        /// The tool's name.
        name: String,
        /// The arguments; a JSON string where the model's text was not JSON.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        arguments: Value,
        /// The result, or with `error` the reason of the failure. Empty if the tool returned nothing.
        result: String,
        /// What the model reads behind the result, such as how to go on from here. Not for people.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        model_note: Option<String>,
        /// Whether the call failed.
        error: bool,
        /// Whether the result was cut to the size limit.
        truncated: bool,
        /// From start to finish, waiting for people not counted, milliseconds.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        duration_ms: u64,
        /// Whether the end of its run or agent stopped it; `error` is true then too, for readers that know only success and failure.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        stopped: bool,
        /// Whether the effect of the call is unknown: the server stopped while it ran. `error` is true then too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        in_doubt: bool,
        /// The file of the chat that has the whole result, if it was long; then `result` has both ends of it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        file: Option<String>,
        /// The pictures, sounds and other files that the call produced, as states of files of the chat.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<ToolFile>>"))]
        files: Vec<ToolFile>,
    },
    /// The call is the caller's to run: the run ends here and another one continues with the result.
    ToolHandedOver {
        /// The call.
        call: String,
        /// The tool's name.
        name: String,
        /// The arguments; a JSON string where the model's text was not JSON.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        arguments: Value,
    },
    /// A call waits for a person's consent.
    ApprovalAsked {
        /// Unique within the run.
        approval: String,
        /// The call that waits.
        call: String,
        /// The tool's name.
        name: String,
        /// The arguments it would run with.
        #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
        arguments: Value,
        /// Whether the consent may be given for further calls too.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        may_remember: bool,
        /// Whether it opens an address that neither a person nor a search has named: that alone needs consent.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        new_address: bool,
        /// What the tool's schema says of its arguments, for people; those of which it says nothing are left out.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<ArgumentInfo>>"))]
        argument_info: Vec<ArgumentInfo>,
        /// How long it waits, milliseconds; without an end where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        expires_in_ms: Option<u64>,
    },
    /// The person decided, or the run ended first.
    ApprovalAnswered {
        /// The approval.
        approval: String,
        /// What was decided.
        decision: Decision,
        /// Why, in the person's words.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        reason: Option<String>,
        /// Whether the person changed the arguments.
        edited: bool,
        /// Where such calls are allowed from now on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        remembered: Option<Remembered>,
    },
    /// An agent asks the person something and waits.
    QuestionAsked {
        /// Unique within the run.
        question: String,
        /// The call that waits.
        call: String,
        /// The question.
        text: String,
        /// Suggested answers; any other text is allowed too.
        options: Vec<String>,
        /// The form to fill in, if it is not a free-text question: a flat JSON Schema, as in MCP's elicitation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "unknown"))]
        #[schemars(with = "Option<Map<String, Value>>")]
        schema: Option<Form>,
        /// How long it waits, milliseconds; without an end where absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        expires_in_ms: Option<u64>,
    },
    /// The person answered. All fields are empty if the question expired or the run ended first.
    QuestionAnswered {
        /// The question.
        question: String,
        /// The answer in words; where `declined`, why there is none, if that is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        answer: Option<String>,
        /// What was filled in, by the names of the form's fields.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(
            feature = "typescript",
            ts(optional, type = "{ [name: string]: unknown }")
        )]
        values: Option<Map<String, Value>>,
        /// Whether there will be no answer: the person declined, or cannot be asked.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        declined: bool,
    },
    /// The agent's plan is now this.
    PlanChanged {
        /// All tasks in order.
        todos: Vec<Todo>,
    },
    /// A file of the workspace changed.
    FileChanged {
        /// Absolute path in the workspace.
        path: String,
        /// Counts up from 1 with each change.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        version: u64,
        /// Size now, bytes.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        size_bytes: u64,
        /// Whether the file was deleted.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        deleted: bool,
        /// How many lines came; absent where it is not text, or too long to compare.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        added_lines: Option<u64>,
        /// How many lines went; absent where `added_lines` is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        removed_lines: Option<u64>,
    },
    /// What is remembered of the person begins to change: once per call, while it runs, and once per run that learns in the background.
    MemoryUpdateStarted {
        /// The call that does it; absent where the server learns from what the person has written.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        call: Option<String>,
        /// What the text is called; absent where short facts are learned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        name: Option<String>,
        /// The chat that is learned from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        chat: Option<ChatId>,
    },
    /// The change is made, or nothing was changed. Logs of before have it alone, as `memory_changed`.
    #[serde(alias = "memory_changed")]
    MemoryUpdateCompleted {
        /// The call that did it; absent where the server has learned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        call: Option<String>,
        /// What the text is called; absent where facts were learned.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        name: Option<String>,
        /// The one agent that has the text; absent where all have it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        only_for: Option<String>,
        /// The text's version: counts up from 1 with each change.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        version: Option<u64>,
        /// Whether the text is gone.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        deleted: bool,
        /// How many lines came; absent where that is not known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        added_lines: Option<u64>,
        /// How many lines went; absent where `added_lines` is.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        removed_lines: Option<u64>,
        /// How many facts were learned, changed and dropped. Their text is not in the log, so that forgetting them removes it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        facts: Option<FactCounts>,
        /// Why nothing was changed.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        error: Option<String>,
    },
    /// A hook of the administrator is called: the item opens.
    HookStarted(Box<HookCall>),
    /// The hook has decided, or failed.
    HookFinished(Box<HookEnd>),
    /// The agent found sources.
    SourcesFound {
        /// Newly found ones.
        sources: Vec<Source>,
    },
    /// A sub-agent starts; `agent` of the event is its path.
    AgentStarted {
        /// What it is called, for people.
        name: String,
        /// The tool call that caused it.
        call: String,
        /// What it was told to do.
        task: String,
        /// Which of the agents it is; absent in older logs.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        agent_type: Option<String>,
        /// The earlier sub-agent that it continues from, such as `1b2c3d4e/a2`: the end of that one's run's id, and its own.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        continues: Option<String>,
    },
    /// A sub-agent has ended; `agent` of the event is its path.
    AgentFinished {
        /// How it ended.
        outcome: Outcome,
        /// Its answer, or what went wrong.
        result: String,
    },
    /// A model is about to be called. Its prompt is not in the log, as it is made from the log and the chat.
    ModelRequested {
        /// The model asked.
        model: String,
        /// How many messages it is sent, the instructions among them.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        messages: u64,
    },
    /// A model call has ended.
    ModelCalled {
        /// The model asked.
        model: String,
        /// Tokens used.
        usage: Usage,
        /// Millionths of a US dollar, if the price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        cost_micro_usd: Option<u64>,
        /// From request to end, milliseconds.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        duration_ms: u64,
        /// From request to the first token, milliseconds.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        first_token_ms: Option<u64>,
        /// Whether it broke off or was stopped, so that there is no whole answer of it.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        broken_off: bool,
    },
    /// The older part of the agent's conversation with its model has become a summary, so that the rest has room.
    ContextCompacted {
        /// What the model sees instead. Empty if there is no summary: then the older part is left out.
        summary: String,
        /// The number of messages it replaces.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        messages: u64,
        /// How many of the latest messages stay unchanged, in addition to the instructions and the latest request.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        kept_messages: u64,
        /// How many requests of the person stay as they are; the latest always does.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        kept_requests: u64,
        /// Size of the conversation before, tokens by estimate.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        tokens_before: u64,
        /// Size of the conversation now, tokens by estimate.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        tokens_after: u64,
        /// The model that wrote the summary.
        model: String,
        /// Tokens that writing it used.
        usage: Usage,
        /// Millionths of a US dollar, if the price is known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        cost_micro_usd: Option<u64>,
        /// How long writing it took, milliseconds.
        #[cfg_attr(feature = "typescript", ts(type = "number"))]
        duration_ms: u64,
    },
    /// Something worth knowing that is not an answer: a retry, a limit, a cut.
    Notice {
        /// How much it matters.
        level: NoticeLevel,
        /// A sentence.
        message: String,
        /// The sentence by its code, if it is one of ours.
        #[serde(
            default,
            deserialize_with = "readable",
            skip_serializing_if = "Option::is_none"
        )]
        #[cfg_attr(feature = "typescript", ts(optional))]
        sentence: Option<Box<MessageCode>>,
        /// Whether it reports a failed attempt of a model call that is being retried.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        failed_try: bool,
    },
    /// A person has written to the run while it goes.
    InputReceived(Box<ReceivedInput>),
    /// The agent has read an input, which is in its conversation from step `step` on.
    InputApplied {
        /// The input.
        input_id: String,
        /// The step that it was read for.
        step: u32,
    },
    /// A person has withdrawn an input before an agent read it.
    InputRemoved {
        /// The input.
        input_id: String,
    },
    /// The server was restarted and the run goes on. What a model was writing has been closed and is written again.
    RunResumed {
        /// Whether the earlier server had released the run in an orderly way, for example to be updated, rather than crashed.
        #[serde(default, skip_serializing_if = "std::ops::Not::not")]
        #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
        released: bool,
    },
    /// What stands before this was done, and paid for, by the run that this one is a fork of. The main agent goes on.
    RunForked(Forked),
    /// Last event of every log.
    RunFinished {
        /// How it ended.
        outcome: Outcome,
        /// Why, if it did not simply complete.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional))]
        problem: Option<Problem>,
        /// All model calls of all agents.
        usage: Usage,
        /// Millionths of a US dollar, where prices are known.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
        cost_micro_usd: Option<u64>,
    },
}

#[cfg(test)]
mod tests;
