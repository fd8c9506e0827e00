//! Messages: limits of accounts and keys, and permissions that were removed.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Limits of accounts and keys, and permissions that were removed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Limits {
    // Limits of accounts, and permissions that were removed.
    #[error("{who} has reached its limit of {most} a {span}. It resets in {wait}.")]
    LimitAccount {
        who: LocalizedText,
        most: LocalizedText,
        span: LocalizedText,
        wait: LocalizedText,
    },
    #[error("This account")]
    ThisAccount,
    #[error("A group of this account")]
    GroupOfAccount,
    #[error("This key")]
    ThisKey,
    #[error("This person")]
    ThisPerson,
    #[error("{count} requests")]
    Requests { count: u64 },
    #[error("{count} tokens")]
    Tokens { count: u64 },
    #[error("minute")]
    Minute,
    #[error("day")]
    Day,
    #[error("month")]
    Month,
    #[error("{count} seconds")]
    Seconds { count: u64 },
    #[error("{count} minutes")]
    Minutes { count: u64 },
    #[error("{count} hours")]
    Hours { count: u64 },
    #[error("{count} days")]
    Days { count: u64 },
    #[error(
        "You may no longer use the model {name}: an administrator has changed the permissions."
    )]
    ModelNotYours { name: String },
    #[error(
        "You may no longer use the agent {name}: an administrator has changed the permissions."
    )]
    AgentNotYours { name: String },
    #[error(
        "You may no longer use the workspace {name}: an administrator has changed the permissions."
    )]
    WorkspaceNotYours { name: String },
}

impl CodedMessage for Limits {}
