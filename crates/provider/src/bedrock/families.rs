//! The capabilities of model families on Bedrock, beyond the fields that all share.

use serde_json::{Map, Value, json};

use crate::{
    Effort, Parameters, Reasoning,
    anthropic::{
        model::{Capabilities, Thinking, abilities},
        thinking::Plan,
    },
};

/// A model family, derived from the name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Family {
    Claude(Capabilities),
    Nova,
    /// Models of OpenAI.
    GptOss,
    Qwen,
    Other,
}

/// Where a prompt can be marked for caching.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Caching {
    pub(super) prompt: bool,
    pub(super) tools: bool,
}

impl Family {
    pub(super) fn of(model: &str) -> Self {
        match model {
            model if model.contains("claude") => Self::Claude(abilities(model)),
            model if model.contains("amazon.nova") => Self::Nova,
            model if model.contains("openai.gpt-oss") => Self::GptOss,
            model if model.contains("qwen.") => Self::Qwen,
            _ => Self::Other,
        }
    }

    pub(super) fn caching(self) -> Caching {
        match self {
            Self::Claude(model) => {
                let caches = model.thinking != Thinking::None;
                Caching {
                    prompt: caches,
                    tools: caches,
                }
            }
            Self::Nova => Caching {
                prompt: true,
                tools: false,
            },
            Self::GptOss | Self::Qwen | Self::Other => Caching {
                prompt: false,
                tools: false,
            },
        }
    }

    /// Whether `temperature`, and `top_p` with it, are accepted by a model that does not think.
    pub(super) fn sampling(self) -> (bool, bool) {
        match self {
            Self::Claude(model) => (model.sampling, model.both_samplings),
            _ => (true, true),
        }
    }

    /// Whether a tool call can be forced.
    pub(super) fn forced_choice(self) -> bool {
        !matches!(
            self,
            Self::Claude(Capabilities {
                forced_choice: false,
                ..
            }) | Self::GptOss
        )
    }

    /// Whether `outputConfig` is supported, as far as known.
    pub(super) fn json_schema(self, model: &str) -> bool {
        const KNOWN: [&str; 6] = [
            "google.",
            "minimax.",
            "mistral.mistral-large-3",
            "nvidia.",
            "qwen.",
            "zai.",
        ];
        match self {
            Self::Claude(claude) => claude.json_schema,
            _ => KNOWN.iter().any(|family| model.contains(family)),
        }
    }

    /// `additionalModelRequestFields` and, if the reasoning requires one, the output token limit.
    pub(super) fn reasoning(
        self,
        parameters: &Parameters,
        has_tools: bool,
        may_budget: bool,
    ) -> Asked {
        match (self, parameters.reasoning) {
            (_, None) | (Self::Other, _) => Asked::default(),
            (Self::Claude(model), Some(_)) => {
                claude(Plan::new(parameters, &model, may_budget), &model, has_tools)
            }
            (Self::Nova, Some(reasoning)) => match effort(reasoning) {
                None => Asked::default(),
                Some(effort) => Asked::of(
                    json!({"reasoningConfig": {"type": "enabled", "maxReasoningEffort": effort}}),
                ),
            },
            (Self::GptOss, Some(reasoning)) => {
                Asked::of(json!({"reasoning_effort": effort(reasoning).unwrap_or("low")}))
            }
            (Self::Qwen, Some(reasoning)) => match effort(reasoning) {
                None => Asked::default(),
                Some(effort) => Asked::of(json!({ "reasoning_config": effort })),
            },
        }
    }
}

/// Reasoning fields besides those that all models share.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) fields: Map<String, Value>,
    pub(super) thinks: bool,
    pub(super) max_tokens: Option<u64>,
}

impl Asked {
    fn of(fields: Value) -> Self {
        match fields {
            Value::Object(fields) => Self {
                fields,
                thinks: true,
                max_tokens: None,
            },
            _ => Self::default(),
        }
    }
}

fn claude(plan: Plan, model: &Capabilities, has_tools: bool) -> Asked {
    let mut fields = Map::new();
    if let Some(thinking) = plan.thinking {
        // Serializing a plain enum cannot fail.
        fields.insert(
            "thinking".to_owned(),
            serde_json::to_value(thinking).unwrap_or_default(),
        );
    }
    if let Some(effort) = plan.effort {
        fields.insert("output_config".to_owned(), json!({ "effort": effort }));
    }
    if plan.thinks() && has_tools && model.interleaving_beta {
        fields.insert(
            "anthropic_beta".to_owned(),
            json!(["interleaved-thinking-2025-05-14"]),
        );
    }
    Asked {
        fields,
        thinks: plan.thinks(),
        max_tokens: plan.thinks().then_some(plan.max_tokens),
    }
}

/// The level as one of the three values that these models know; `None` for no reasoning.
fn effort(reasoning: Reasoning) -> Option<&'static str> {
    match reasoning {
        Reasoning::Off => None,
        Reasoning::Effort(Effort::Minimal | Effort::Low) | Reasoning::Budget(..=4096) => {
            Some("low")
        }
        Reasoning::Effort(Effort::Medium) | Reasoning::Budget(..=12_288) => Some("medium"),
        Reasoning::On | Reasoning::Effort(_) | Reasoning::Budget(_) => Some("high"),
    }
}
