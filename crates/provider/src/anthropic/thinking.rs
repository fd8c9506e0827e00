//! Maps the requested reasoning to the thinking parameters of each model generation, and limits the output tokens.

use serde::Serialize;

use super::model::{Capabilities, Thinking, ThinkingOff};
use crate::{Effort, Parameters, Reasoning, ToolChoice};

/// The minimum budget of the API.
const MIN_BUDGET: u64 = 1024;
/// The budget if the caller only switches thinking on.
const DEFAULT_BUDGET: u64 = 10_000;
/// Tokens reserved for the answer in addition to a budget.
const ANSWER_TOKENS: u64 = 8192;
/// `max_tokens` of models with adaptive thinking at high effort.
const THOROUGH_TOKENS: u64 = 64_000;

/// The field `thinking`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(crate) enum ThinkingConfig {
    Enabled {
        budget_tokens: u64,
    },
    Adaptive {
        #[serde(skip_serializing_if = "Option::is_none")]
        display: Option<&'static str>,
    },
    Disabled,
    BetweenTools,
}

/// The resolved parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Plan {
    pub(crate) thinking: Option<ThinkingConfig>,
    /// `output_config.effort`.
    pub(crate) effort: Option<&'static str>,
    pub(crate) max_tokens: u64,
}

impl Plan {
    /// `may_budget`: whether the conversation allows a budget; see `Conversation::calls_without_thinking`.
    pub(crate) fn new(parameters: &Parameters, model: &Capabilities, may_budget: bool) -> Self {
        let (thinking, effort) = match parameters.reasoning {
            None => (None, None),
            Some(Reasoning::Off) => off(model),
            Some(reasoning) => on(reasoning, model),
        };
        let forced = matches!(
            parameters.tool_choice,
            ToolChoice::Required | ToolChoice::Tool(_)
        );
        let thinking = thinking
            .filter(|it| !matches!(it, ThinkingConfig::Enabled { .. }) || (may_budget && !forced))
            .and_then(|it| {
                let is_callers = matches!(parameters.reasoning, Some(Reasoning::Budget(_)));
                match parameters.max_output_tokens {
                    Some(max) => within(it, max.min(model.max_output), is_callers),
                    None => within(it, model.max_output, true),
                }
            });
        let max_tokens = match (parameters.max_output_tokens, thinking) {
            (Some(max), _) => max,
            (None, Some(ThinkingConfig::Enabled { budget_tokens })) => model
                .default_output
                .max(budget_tokens.saturating_add(ANSWER_TOKENS)),
            (None, _) if matches!(effort, Some("high" | "xhigh" | "max")) => THOROUGH_TOKENS,
            (None, _) => model.default_output,
        };
        Self {
            thinking,
            effort,
            max_tokens: max_tokens.clamp(1, model.max_output),
        }
    }

    pub(crate) fn thinks(&self) -> bool {
        matches!(
            self.thinking,
            Some(ThinkingConfig::Enabled { .. } | ThinkingConfig::Adaptive { .. })
        )
    }
}

type Asked = (Option<ThinkingConfig>, Option<&'static str>);

fn off(model: &Capabilities) -> Asked {
    match model.off {
        ThinkingOff::Default => (None, None),
        ThinkingOff::Disabled => (Some(ThinkingConfig::Disabled), None),
        ThinkingOff::BetweenTools => (Some(ThinkingConfig::BetweenTools), None),
        ThinkingOff::Never => (None, Some("low")),
    }
}

fn on(reasoning: Reasoning, model: &Capabilities) -> Asked {
    let adaptive = |display, effort| (Some(ThinkingConfig::Adaptive { display }), effort);
    // Their thinking is omitted from the answer unless requested.
    let summarized = Some("summarized");
    match (model.thinking, reasoning) {
        (Thinking::None, _) => (None, None),
        (Thinking::Budget, _) | (Thinking::AdaptiveOrBudget, Reasoning::Budget(_)) => (
            Some(ThinkingConfig::Enabled {
                budget_tokens: budget(reasoning),
            }),
            None,
        ),
        (Thinking::AdaptiveOrBudget, Reasoning::Effort(level)) => {
            adaptive(None, effort(level, model))
        }
        (Thinking::AdaptiveOrBudget, _) => adaptive(None, None),
        (Thinking::Adaptive, Reasoning::Effort(level)) => {
            adaptive(summarized, effort(level, model))
        }
        (Thinking::Adaptive, Reasoning::Budget(tokens)) => {
            adaptive(summarized, effort(level_of(tokens), model))
        }
        (Thinking::Adaptive, _) => adaptive(summarized, None),
    }
}

fn budget(reasoning: Reasoning) -> u64 {
    match reasoning {
        Reasoning::Off | Reasoning::On => DEFAULT_BUDGET,
        Reasoning::Budget(tokens) => tokens.max(MIN_BUDGET),
        Reasoning::Effort(Effort::Minimal) => MIN_BUDGET,
        Reasoning::Effort(Effort::Low) => 2048,
        Reasoning::Effort(Effort::Medium) => DEFAULT_BUDGET,
        Reasoning::Effort(Effort::High) => 16_384,
        Reasoning::Effort(Effort::XHigh) => 32_768,
    }
}

/// The level that comes closest to a budget.
fn level_of(tokens: u64) -> Effort {
    match tokens {
        ..=4096 => Effort::Low,
        4097..=12_288 => Effort::Medium,
        12_289..=24_576 => Effort::High,
        24_577.. => Effort::XHigh,
    }
}

fn effort(level: Effort, model: &Capabilities) -> Option<&'static str> {
    match level {
        Effort::Minimal | Effort::Low => Some("low"),
        Effort::Medium => Some("medium"),
        Effort::High => Some("high"),
        Effort::XHigh => model.top_effort,
    }
}

/// A budget must be smaller than `max_tokens`. One that is not, or may not be large, leaves half of them to the answer;
/// if there is no room for it, thinking is off.
fn within(thinking: ThinkingConfig, max_tokens: u64, may_be_large: bool) -> Option<ThinkingConfig> {
    match thinking {
        ThinkingConfig::Enabled { budget_tokens }
            if !may_be_large || budget_tokens >= max_tokens =>
        {
            let budget_tokens = budget_tokens.min(max_tokens / 2);
            (budget_tokens >= MIN_BUDGET).then_some(ThinkingConfig::Enabled { budget_tokens })
        }
        thinking => Some(thinking),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::anthropic::model::abilities;

    fn plan(model: &str, parameters: &Parameters) -> (Value, Option<&'static str>, u64) {
        let plan = Plan::new(parameters, &abilities(model), true);
        (
            serde_json::to_value(plan.thinking).unwrap(),
            plan.effort,
            plan.max_tokens,
        )
    }

    #[test]
    fn each_generation_has_its_thinking_fields() {
        let enabled = |budget: u64| json!({"type": "enabled", "budget_tokens": budget});
        let adaptive = json!({"type": "adaptive"});
        let summarized = json!({"type": "adaptive", "display": "summarized"});
        let disabled = json!({"type": "disabled"});
        for (model, reasoning, thinking, effort, max_tokens) in [
            (
                "claude-3-5-haiku-latest",
                Reasoning::On,
                json!(null),
                None,
                8192,
            ),
            (
                "claude-3-7-sonnet-latest",
                Reasoning::On,
                enabled(10_000),
                None,
                18_192,
            ),
            ("claude-sonnet-4-0", Reasoning::Off, json!(null), None, 8192),
            (
                "claude-sonnet-4-5",
                Reasoning::Effort(Effort::XHigh),
                enabled(32_768),
                None,
                40_960,
            ),
            (
                "claude-opus-4-1",
                Reasoning::Budget(40_000),
                enabled(16_000),
                None,
                24_192,
            ),
            (
                "claude-sonnet-4-6",
                Reasoning::Budget(3000),
                enabled(3000),
                None,
                32_000,
            ),
            (
                "claude-opus-4-6",
                Reasoning::On,
                adaptive.clone(),
                None,
                32_000,
            ),
            (
                "claude-opus-4-6",
                Reasoning::Effort(Effort::High),
                adaptive.clone(),
                Some("high"),
                64_000,
            ),
            (
                "claude-opus-4-6",
                Reasoning::Effort(Effort::XHigh),
                adaptive,
                Some("max"),
                64_000,
            ),
            (
                "claude-opus-5",
                Reasoning::Effort(Effort::XHigh),
                summarized.clone(),
                Some("xhigh"),
                64_000,
            ),
            (
                "claude-opus-4-8",
                Reasoning::Budget(3000),
                summarized,
                Some("low"),
                32_000,
            ),
            ("claude-opus-4-8", Reasoning::Off, json!(null), None, 32_000),
            (
                "claude-sonnet-5",
                Reasoning::Off,
                disabled.clone(),
                None,
                32_000,
            ),
            (
                "claude-fable-5",
                Reasoning::Off,
                json!(null),
                Some("low"),
                32_000,
            ),
            ("glm-5", Reasoning::Off, disabled, None, 16_384),
            (
                "glm-5",
                Reasoning::Effort(Effort::Minimal),
                enabled(1024),
                None,
                16_384,
            ),
        ] {
            let parameters = Parameters {
                reasoning: Some(reasoning),
                ..Parameters::default()
            };
            assert_eq!(
                plan(model, &parameters),
                (thinking, effort, max_tokens),
                "{model} {reasoning:?}"
            );
        }
    }

    #[test]
    fn a_budget_leaves_room_for_the_answer() {
        let with = |max_output_tokens, tool_choice| Parameters {
            reasoning: Some(Reasoning::Budget(8000)),
            max_output_tokens: Some(max_output_tokens),
            tool_choice,
            ..Parameters::default()
        };
        let budget = |tokens: u64| json!({"type": "enabled", "budget_tokens": tokens});
        let model = "claude-sonnet-4-5";
        assert_eq!(
            plan(model, &with(20_000, ToolChoice::Auto)),
            (budget(8000), None, 20_000)
        );
        assert_eq!(
            plan(model, &with(4096, ToolChoice::Auto)),
            (budget(2048), None, 4096)
        );
        assert_eq!(
            plan(model, &with(1000, ToolChoice::Auto)),
            (json!(null), None, 1000)
        );
        assert_eq!(
            plan(model, &with(8001, ToolChoice::Auto)),
            (budget(8000), None, 8001),
            "as the caller wants"
        );
        assert_eq!(
            plan(model, &with(900_000, ToolChoice::Auto)),
            (budget(8000), None, 64_000)
        );
        let forced = with(20_000, ToolChoice::Required);
        assert_eq!(
            plan(model, &forced),
            (json!(null), None, 20_000),
            "a forced call excludes a budget"
        );
        let no_budget = Plan::new(&with(20_000, ToolChoice::Auto), &abilities(model), false);
        assert_eq!(no_budget.thinking, None);
        // However small the limit, more effort is never less thinking.
        for max_output_tokens in [1_500, 3_000, 12_000, 30_000] {
            let budgets = [
                Effort::Minimal,
                Effort::Low,
                Effort::Medium,
                Effort::High,
                Effort::XHigh,
            ]
            .map(|level| {
                let reasoning = Some(Reasoning::Effort(level));
                let parameters = Parameters {
                    reasoning,
                    ..with(max_output_tokens, ToolChoice::Auto)
                };
                plan(model, &parameters).0["budget_tokens"]
                    .as_u64()
                    .unwrap_or(0)
            });
            assert!(budgets.is_sorted(), "{max_output_tokens}: {budgets:?}");
        }
    }
}
