//! Messages: why a prompt template cannot be used.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Why a prompt template cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Pipelines {
    // Pipelines and tasks.
    #[error("Line {line}, column {column}: {why}")]
    WrongTemplate {
        line: u64,
        column: u64,
        why: LocalizedText,
    },
    #[error("A template has at most {limit} bytes.")]
    LongTemplate { limit: u64 },
    #[error("“|” stands only in MESSAGES, not in {name}.")]
    BarInVariable { name: String },
    #[error("“:” stands only in MESSAGES and prompt, not in {name}.")]
    ColonInVariable { name: String },
    #[error("There is no variable {name}.")]
    NoSuchVariable { name: String },
    #[error("The variable {name} is not there for this template.")]
    VariableNotHere { name: String },
    #[error("“{text}” is to be start:N, end:N or middletruncate:N.")]
    BadCut { text: String },
    #[error("The template has to name MESSAGES or prompt, or the model sees nothing of it.")]
    TemplateNeedsConversation,
    #[error("The template has to name {name}, or the model sees nothing of it.")]
    TemplateNeeds { name: String },
    #[error(
        "The template has to name the tag <code_interpreter>, or the model sees nothing of it."
    )]
    TemplateNeedsTag,
}

impl CodedMessage for Pipelines {}
