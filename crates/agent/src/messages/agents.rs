//! Messages: why the definition of an agent cannot be used.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why the definition of an agent cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Agents {
    #[error(
        "`parameters.system_prompt` cannot be set for an agent: its `instructions` are its system prompt."
    )]
    AgentSystemPrompt,
    // Agents.
    #[error(
        "`name` must be 1 to {limit} lowercase letters, digits and “-”, begin with a letter and not end with “-”."
    )]
    BadAgentName { limit: u64 },
    #[error("`name` cannot be “{name}”: this name is reserved.")]
    AgentNameReserved { name: String },
    #[error("`title` must have 1 to {limit} characters in one line.")]
    BadAgentTitle { limit: u64 },
    #[error("`description` must say in 1 to {limit} characters what the agent is for.")]
    BadAgentDescription { limit: u64 },
    #[error("`instructions` must have 1 to {limit} bytes.")]
    BadInstructions { limit: u64 },
    #[error(
        "`model` must be the id of a model, 1 to {limit} bytes; leave it out for the default one."
    )]
    BadAgentModel { limit: u64 },
    #[error("`tools` has “{tool}”: a star is allowed only at the end, as in “files__*”.")]
    StarWithin { tool: String },
    #[error("`{field}` has more than {limit} names.")]
    TooManyNames { field: String, limit: u64 },
    #[error("`{field}` has a name that is empty or longer than {limit} bytes.")]
    BadNameInList { field: String, limit: u64 },
    #[error(
        "`limits.steps` and `limits.tokens` must be at least 1; leave them out for the server's own."
    )]
    NoStepsOrTokens,
    #[error("`limits.usd` must be 0.000001 to 1000000000.")]
    BadAgentCost,
    #[error("`limits.minutes` must be 0.001 to {most}.")]
    BadAgentMinutes { most: u64 },
}

impl CodedMessage for Agents {}
