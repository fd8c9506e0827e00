//! What model calls used.

use serde::{Deserialize, Serialize};

/// Tokens used by one or more model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Usage {
    /// Tokens read by the model.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub input_tokens: u64,
    /// Tokens written by the model, reasoning included.
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub output_tokens: u64,
}

impl Usage {
    /// Input and output together.
    #[must_use]
    pub fn total_tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
    }
}
