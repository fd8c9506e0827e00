//! An event with its place in the log.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::EventBody;
use crate::{AgentPath, RunId};

/// One entry of a run's log. Its JSON is the stored form and the native stream.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct RunEvent {
    /// The run whose log this is.
    pub run: RunId,
    /// Position in the log: 1, 2, 3 … without repeats.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub seq: u64,
    /// Milliseconds since 1970-01-01 UTC, by the server's clock.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub at: i64,
    /// Which agent did it; empty is the main agent.
    #[serde(default, skip_serializing_if = "AgentPath::is_main")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<AgentPath>"))]
    pub agent: AgentPath,
    /// What happened.
    pub body: EventBody,
}
