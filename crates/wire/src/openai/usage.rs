//! Usage with its cost.

use domain::Usage;
use provider::openai::chunk_encoder::usage_value;
use serde_json::Value;

/// Usage in OpenAI's format, with its cost if known: US dollars in `cost`, as in OpenRouter.
#[must_use]
pub fn priced_usage_value(usage: Usage, cost_micro_usd: Option<u64>) -> Value {
    let mut written = usage_value(usage);
    add_cost(&mut written, cost_micro_usd);
    written
}

/// Adds `cost` in US dollars, if it is known.
pub(crate) fn add_cost(usage: &mut Value, cost_micro_usd: Option<u64>) {
    if let Some(micro_usd) = cost_micro_usd {
        #[expect(
            clippy::cast_precision_loss,
            reason = "no run costs billions of dollars"
        )]
        let cost = micro_usd as f64 / 1e6;
        usage["cost"] = cost.into();
    }
}
