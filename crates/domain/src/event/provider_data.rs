//! What providers want back.

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Opaque data of a provider, such as the signature of a piece of reasoning or reasoning in encrypted form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct ProviderData {
    /// The reasoning, text or call it belongs to; nothing where it is a part of the answer by itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub item: Option<String>,
    /// What kind of part it is that has no item: reasoning that nobody can read, or a block of the provider's own.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub reasoning: bool,
    /// Of a text, how much of it there was: its bytes before this data, and since the data before, are what it is about.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
    pub at: Option<u64>,
    /// Who can take it back: providers of the same format share a name.
    pub provider: String,
    /// The provider's JSON.
    #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
    pub data: Value,
}
