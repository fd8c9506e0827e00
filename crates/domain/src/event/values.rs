//! What events are made of beside texts and numbers.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{RunId, UserId};

/// How a run or a sub-agent ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Outcome {
    /// The agent gave its answer.
    Completed,
    /// It was stopped by a person or a program.
    Cancelled,
    /// A fault ended it.
    Failed,
    /// A limit ended it; what it had written is kept.
    Limited,
    /// It waits for the caller to run the tools that were handed over.
    HandedOver,
}

/// What a person decided about a tool call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Decision {
    /// Run it.
    Allow,
    /// It is not run; the model is informed.
    Deny,
    /// The run ended before a decision.
    Withdrawn,
    /// The time for a decision ran out; the model is informed.
    Expired,
}

/// What a tool's schema says of one argument.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ArgumentInfo {
    /// The argument.
    pub name: String,
    /// What it is called.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub title: Option<String>,
    /// What it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub description: Option<String>,
    /// Its possible values, if it is one of several texts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<String>>"))]
    pub choices: Vec<String>,
}

/// How far a consent holds that was given for more than one call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Remembered {
    /// In this chat.
    Chat,
    /// In all of the person's chats.
    Always,
}

/// What a person has written to a run while it goes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[schemars(inline)]
pub struct ReceivedInput {
    /// Unique within the run; the sender may choose it.
    pub input_id: String,
    /// When it is read.
    pub mode: InputMode,
    /// The sub-agent that it is for, such as `a2.1`; the main agent where absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub agent: Option<String>,
    /// Who wrote it.
    pub by: Author,
    /// The text.
    pub content: String,
}

impl ReceivedInput {
    /// The text as the model reads it: with the author's name, unless the author owns the run.
    #[must_use]
    pub fn text_for_model(&self) -> String {
        if self.by.is_owner {
            return self.content.clone();
        }
        format!("{}: {}", self.by.plain_name(), self.content)
    }
}

/// When an input to a running run is read.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum InputMode {
    /// At the agent's next step.
    Steer,
    /// In the chat's next turn, once the run has ended.
    Queue,
    /// Now: the current step ends, with what it has written so far.
    Interrupt,
}

/// Who wrote a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Author {
    /// The account.
    pub id: UserId,
    /// The name.
    pub name: String,
    /// Whether it is the owner of the run and its chat.
    pub is_owner: bool,
}

impl Author {
    /// The name on one line.
    #[must_use]
    pub fn plain_name(&self) -> String {
        self.name.split_whitespace().collect::<Vec<_>>().join(" ")
    }
}

/// How much a notice matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum NoticeLevel {
    /// Good to know.
    Info,
    /// Something was lost or slow.
    Warning,
    /// Something failed.
    Error,
}

/// How many facts about a person were changed at once.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct FactCounts {
    /// Newly learned ones.
    pub added: u32,
    /// Known ones in other words.
    pub changed: u32,
    /// Those that hold no longer.
    pub removed: u32,
}

/// One task of a plan.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Todo {
    /// What is to be done.
    pub content: String,
    /// How far it is.
    pub status: TodoStatus,
}

/// How far a task is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum TodoStatus {
    /// Not begun.
    Pending,
    /// Being done now.
    InProgress,
    /// Done.
    Completed,
}

/// Where a statement comes from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Source {
    /// The number it is cited by, as text.
    pub id: String,
    /// Its title.
    pub title: String,
    /// Its address.
    pub url: String,
    /// The words it is cited for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub quote: Option<String>,
    /// Whether the quote was found word for word in what is kept of the source; absent if it was not checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub verified: Option<bool>,
    /// The address here of what is kept of the source, at the quote.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub copy: Option<String>,
    /// The places of the run's texts that cite it, if the model's provider names them. An event that repeats the source adds places.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<Vec<CitedPlace>>"))]
    pub cited: Vec<CitedPlace>,
}

/// A place in a text that cites a source.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct CitedPlace {
    /// The text item.
    pub item: String,
    /// Where it begins, in characters (Unicode scalar values).
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub start: u64,
    /// Where it ends.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub end: u64,
    /// Why the quote, which is in the source, does not show what the sentence here says; absent if nothing speaks against it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub unconfirmed: Option<Unconfirmed>,
}

/// What of a sentence is not in the quotes that it cites.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[serde(rename_all = "snake_case")]
pub enum Unconfirmed {
    /// A number, an amount or a date.
    Number,
    /// One of both negates what the other says.
    Negation,
    /// A name or an acronym.
    Name,
    /// Words in quotation marks.
    Quotation,
}

impl Source {
    /// A source that was not checked.
    #[must_use]
    pub fn new(id: String, title: String, url: String, quote: Option<String>) -> Self {
        Self {
            id,
            title,
            url,
            quote,
            verified: None,
            copy: None,
            cited: Vec::new(),
        }
    }
}

/// The run that another one was forked from, and where.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[schemars(inline)]
pub struct Forked {
    /// The run it was taken from.
    pub from: RunId,
    /// The last event taken; it has the same number here.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub after: u64,
    /// The person's answer to the model.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub guidance: Option<String>,
}
