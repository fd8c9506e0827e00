//! Hooks: what an administrator has called around runs, model calls, tool calls and answers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::Decision;

/// Where in a run a hook is called.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum HookEvent {
    /// The run is about to begin.
    BeforeRun,
    /// The run has ended; only its last event is missing.
    AfterRun,
    /// A model is about to be asked.
    BeforeModel,
    /// A model has answered.
    AfterModel,
    /// A tool call is about to be run, before consent is asked.
    BeforeTool,
    /// A tool call has been run.
    AfterTool,
    /// The main agent has written an answer and wants to end with it.
    BeforeAnswer,
    /// The answer stands and is about to be shown.
    AfterAnswer,
}

impl HookEvent {
    /// All of them, in the order of a run.
    pub const ALL: [Self; 8] = [
        Self::BeforeRun,
        Self::BeforeModel,
        Self::AfterModel,
        Self::BeforeTool,
        Self::AfterTool,
        Self::BeforeAnswer,
        Self::AfterAnswer,
        Self::AfterRun,
    ];

    /// The name as it stands in JSON.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::BeforeRun => "before_run",
            Self::AfterRun => "after_run",
            Self::BeforeModel => "before_model",
            Self::AfterModel => "after_model",
            Self::BeforeTool => "before_tool",
            Self::AfterTool => "after_tool",
            Self::BeforeAnswer => "before_answer",
            Self::AfterAnswer => "after_answer",
        }
    }

    /// Whether it comes before what it is named after.
    #[must_use]
    pub fn is_before(self) -> bool {
        matches!(
            self,
            Self::BeforeRun | Self::BeforeModel | Self::BeforeTool | Self::BeforeAnswer
        )
    }

    /// Whether it belongs to a tool call.
    #[must_use]
    pub fn is_of_tool(self) -> bool {
        matches!(self, Self::BeforeTool | Self::AfterTool)
    }
}

/// One call of one hook.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[schemars(inline)]
pub struct HookCall {
    /// Unique within the run.
    pub id: String,
    /// The hook's name.
    pub hook: String,
    /// Where in the run it is called.
    pub event: HookEvent,
    /// The tool call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub call: Option<String>,
    /// The name of that call's tool.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub tool: Option<String>,
    /// The number of the agent's model call that it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub step: Option<u32>,
    /// Whether it sees a call once more since a person has changed the arguments.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub edited: bool,
}

/// What came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[schemars(inline)]
pub struct HookEnd {
    /// The call of the hook.
    #[serde(flatten)]
    pub call: HookCall,
    /// The decision; `withdrawn` if the run ended first.
    pub decision: Decision,
    /// Why, in the hook's words.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub reason: Option<String>,
    /// What it put in place of the arguments, the result or the answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "unknown"))]
    pub change: Option<Value>,
    /// The text for the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub context: Option<String>,
    /// From the first try to the end, milliseconds.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub duration_ms: u64,
    /// What went wrong with the hook; then the decision is what its `fail` says.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub error: Option<String>,
}

impl HookEnd {
    /// The end of a call whose caller has stopped waiting.
    #[must_use]
    pub fn withdrawn(call: HookCall) -> Self {
        Self {
            call,
            decision: Decision::Withdrawn,
            reason: None,
            change: None,
            context: None,
            duration_ms: 0,
            error: None,
        }
    }

    /// Whether it did more than let things go on.
    #[must_use]
    pub fn is_notable(&self) -> bool {
        let Self {
            decision,
            change,
            context,
            error,
            ..
        } = self;
        *decision == Decision::Deny || change.is_some() || context.is_some() || error.is_some()
    }

    /// What it did, for people, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        let Self {
            call: HookCall {
                hook, event, tool, ..
            },
            decision,
            reason,
            change,
            context,
            error,
            ..
        } = self;
        let at = event.as_str();
        let about = tool
            .as_ref()
            .map_or_else(|| at.to_owned(), |tool| format!("{at} {tool}"));
        let did = match (decision, change, context) {
            (Decision::Deny, _, _) if error.is_some() => "failed and counts as a denial",
            (Decision::Allow, _, _) if error.is_some() => "failed and was passed over",
            (Decision::Deny, _, _) => "denied",
            (Decision::Withdrawn | Decision::Expired, _, _) => "was stopped",
            (Decision::Allow, Some(_), _) => "changed",
            (Decision::Allow, None, Some(_)) => "added context",
            (Decision::Allow, None, None) => "allowed",
        };
        let why = error
            .as_ref()
            .or(reason.as_ref())
            .map(|why| format!(": {why}"))
            .unwrap_or_default();
        format!("Hook {hook} ({about}) {did}{why}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for event in HookEvent::ALL {
            assert_eq!(serde_json::to_value(event).unwrap(), event.as_str());
        }
    }
}
