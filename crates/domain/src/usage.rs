//! The usage of model calls.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

/// Tokens of one model call, as its server counts them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Default)]
pub struct TokenCount(u64);

impl TokenCount {
    /// Larger counts are errors of the server: no model call comes near it.
    pub const MAX: Self = Self(1_000_000_000);

    /// `None` if the figure is above [`Self::MAX`].
    #[must_use]
    pub fn new(tokens: u64) -> Option<Self> {
        (tokens <= Self::MAX.0).then_some(Self(tokens))
    }

    /// The count in a JSON number's text; some servers write `12.0`. `None` if it is negative, above [`Self::MAX`] or
    /// no number.
    #[must_use]
    pub fn from_json(text: &str) -> Option<Self> {
        let tokens = text.parse::<f64>().ok().filter(|tokens| *tokens >= 0.0)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "a float cast saturates"
        )]
        let tokens = tokens as u64;
        Self::new(tokens)
    }

    /// The number.
    #[must_use]
    pub fn get(self) -> u64 {
        self.0
    }
}

/// Tokens used by one or more model calls.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS))]
pub struct Usage {
    /// Tokens read by the model.
    #[serde(deserialize_with = "bounded")]
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub input_tokens: u64,
    /// Tokens written by the model, reasoning included.
    #[serde(deserialize_with = "bounded")]
    #[cfg_attr(feature = "typescript", ts(type = "number"))]
    pub output_tokens: u64,
    /// Of those read, the ones that the provider had in its cache.
    #[serde(default, deserialize_with = "bounded", skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<f64>"))]
    pub cached_tokens: u64,
    /// Of those read, the ones that the provider has put into its cache.
    #[serde(default, deserialize_with = "bounded", skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<f64>"))]
    pub cache_write_tokens: u64,
    /// Of those written, the ones of reasoning.
    #[serde(default, deserialize_with = "bounded", skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<f64>"))]
    pub reasoning_tokens: u64,
    /// Of those read and written, the ones of sound.
    #[serde(default, deserialize_with = "bounded", skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<f64>"))]
    pub audio_tokens: u64,
    /// Of `audio_tokens`, the ones written.
    #[serde(default, deserialize_with = "bounded", skip_serializing_if = "is_zero")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<f64>"))]
    pub audio_output_tokens: u64,
    /// The cost that the provider reported, in millionths of a US dollar. It is used if no price is known here.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<f64>"))]
    pub reported_cost_micro_usd: Option<u64>,
    /// Whether any of it is an estimate, as a model server did not count.
    #[serde(default, skip_serializing_if = "is_false")]
    #[cfg_attr(feature = "typescript", ts(optional, as = "Option<bool>"))]
    pub estimated: bool,
}

impl Usage {
    /// More than all calls of a run use together, and exact as a JavaScript number.
    pub const MAX_TOKENS: u64 = 1_000_000_000_000_000;

    /// Input and output tokens of unspecified kinds.
    #[must_use]
    pub const fn of(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            input_tokens,
            output_tokens,
            cached_tokens: 0,
            cache_write_tokens: 0,
            reasoning_tokens: 0,
            audio_tokens: 0,
            audio_output_tokens: 0,
            reported_cost_micro_usd: None,
            estimated: false,
        }
    }

    /// Estimated input and output tokens, if the model server did not count.
    #[must_use]
    pub const fn estimate(input_tokens: u64, output_tokens: u64) -> Self {
        Self {
            estimated: true,
            ..Self::of(input_tokens, output_tokens)
        }
    }

    /// The usage of one call.
    #[must_use]
    pub fn of_call(input: TokenCount, output: TokenCount) -> Self {
        Self::of(input.0, output.0)
    }

    /// Merges a later count of the same call. Counts only increase.
    #[must_use]
    pub fn followed_by(self, later: Self) -> Self {
        Self {
            input_tokens: self.input_tokens.max(later.input_tokens),
            output_tokens: self.output_tokens.max(later.output_tokens),
            cached_tokens: self.cached_tokens.max(later.cached_tokens),
            cache_write_tokens: self.cache_write_tokens.max(later.cache_write_tokens),
            reasoning_tokens: self.reasoning_tokens.max(later.reasoning_tokens),
            audio_tokens: self.audio_tokens.max(later.audio_tokens),
            audio_output_tokens: self.audio_output_tokens.max(later.audio_output_tokens),
            reported_cost_micro_usd: self
                .reported_cost_micro_usd
                .max(later.reported_cost_micro_usd),
            estimated: self.estimated || later.estimated,
        }
    }

    /// Input and output together.
    #[must_use]
    pub fn total_tokens(self) -> u64 {
        self.input_tokens.saturating_add(self.output_tokens)
    }
}

impl std::ops::AddAssign for Usage {
    fn add_assign(&mut self, other: Self) {
        let add = |sum: &mut u64, more: u64| *sum = sum.saturating_add(more).min(Self::MAX_TOKENS);
        add(&mut self.input_tokens, other.input_tokens);
        add(&mut self.output_tokens, other.output_tokens);
        add(&mut self.cached_tokens, other.cached_tokens);
        add(&mut self.cache_write_tokens, other.cache_write_tokens);
        add(&mut self.reasoning_tokens, other.reasoning_tokens);
        add(&mut self.audio_tokens, other.audio_tokens);
        add(&mut self.audio_output_tokens, other.audio_output_tokens);
        if let Some(cost) = other.reported_cost_micro_usd {
            add(self.reported_cost_micro_usd.get_or_insert(0), cost);
        }
        self.estimated = self.estimated || other.estimated;
    }
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_zero(tokens: &u64) -> bool {
    *tokens == 0
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde passes a reference"
)]
fn is_false(flag: &bool) -> bool {
    !*flag
}

/// Logs and summaries may come from imports and from earlier versions, which accepted any number.
fn bounded<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    Ok(u64::deserialize(deserializer)?.min(Usage::MAX_TOKENS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_count_is_bounded_by_one_call() {
        for (text, count) in [
            ("12", Some(12)),
            ("12.0", Some(12)),
            ("0", Some(0)),
            ("1000000000", Some(1_000_000_000)),
            ("1000000001", None),
            ("18446744073709551615", None),
            ("1e999", None),
            ("-1", None),
            ("\"12\"", None),
            ("null", None),
            ("NaN", None),
        ] {
            assert_eq!(
                TokenCount::from_json(text).map(TokenCount::get),
                count,
                "{text}"
            );
        }
    }

    #[test]
    fn totals_stay_within_their_bound() {
        let text = r#"{"input_tokens":18446744073709551615,"output_tokens":7}"#;
        let mut usage: Usage = serde_json::from_str(text).unwrap();
        assert_eq!(usage, Usage::of(Usage::MAX_TOKENS, 7));
        usage += usage;
        assert_eq!(usage, Usage::of(Usage::MAX_TOKENS, 14));
    }

    #[test]
    fn unset_fields_are_not_written() {
        let plain = serde_json::to_string(&Usage::of(1, 2)).unwrap();
        assert_eq!(plain, r#"{"input_tokens":1,"output_tokens":2}"#);
        let mut sum = Usage {
            reported_cost_micro_usd: Some(5),
            ..Usage::of(1, 2)
        };
        sum += Usage::estimate(1, 1);
        assert_eq!(
            (sum.reported_cost_micro_usd, sum.estimated, sum.input_tokens),
            (Some(5), true, 2)
        );
        let read: Usage = serde_json::from_value(serde_json::to_value(sum).unwrap()).unwrap();
        assert_eq!(read, sum);
    }
}
