//! Opaque data of providers that has to be sent back to them.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// Opaque data of a provider, such as the signature of a piece of reasoning or reasoning in encrypted form.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
#[schemars(inline)]
pub struct ProviderData {
    /// The reasoning, text or call that it belongs to; absent if it is a block of its own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional))]
    pub item: Option<String>,
    /// If it is a block of its own: whether it is reasoning without text, such as encrypted reasoning.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub reasoning: bool,
    /// For data of a text: the byte offset at which the part that it belongs to ends. That part begins where the one before ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, type = "number"))]
    pub at: Option<u64>,
    /// The provider that accepts it; providers of the same format share a name.
    pub provider: String,
    /// The provider's JSON.
    #[cfg_attr(feature = "typescript", ts(type = "unknown"))]
    pub data: Value,
}
