//! Encodes call parameters as fields of Chat Completions, in the dialect of each kind of server.

use domain::{LeftOut, ModelParameters, Parameter};
use serde::Serialize;

use crate::{
    Parameters, Reasoning, Sent, effort_name, never_taken, openai_family::ModelFamily,
    refused_field::OptionalField,
};

/// Maximum number of stop sequences of OpenAI.
const MAX_STOP: usize = 4;

/// Fields that requests can do without.
pub const OPTIONAL_FIELDS: &[OptionalField] = &[
    OptionalField::new(
        &["temperature"],
        &["temperature"],
        Some(Parameter::Temperature),
    ),
    OptionalField::new(&["top_p"], &["top_p"], Some(Parameter::TopP)),
    OptionalField::new(&["stop"], &["stop"], Some(Parameter::Stop)),
    OptionalField::new(&["seed"], &["seed"], Some(Parameter::Seed)),
    OptionalField::new(
        &["reasoning_effort"],
        &["reasoning_effort"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["reasoning"],
        &["reasoning"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(
        &["thinking"],
        &["thinking"],
        Some(Parameter::ReasoningEffort),
    ),
    OptionalField::new(&["parallel_tool_calls"], &["parallel_tool_calls"], None),
    OptionalField::new(&["stream_options"], &["stream_options"], None),
];

/// The protocol variant of a server, derived from its host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Dialect {
    /// OpenAI itself, and its models on Azure.
    OpenAi,
    /// `reasoning: {effort}`.
    OpenRouter,
    /// Reasoning is switched by `thinking: {type}`: Z.ai, DeepSeek, Kimi.
    Thinking,
    /// `reasoning_effort`, as in most servers that support reasoning.
    Other,
}

impl Dialect {
    /// The dialect of the server with this host name.
    #[must_use]
    pub fn of_host(host: &str) -> Self {
        const OPENAI: [&str; 3] = [
            "api.openai.com",
            "openai.azure.com",
            "services.ai.azure.com",
        ];
        const THINKING: [&str; 4] = ["z.ai", "bigmodel.cn", "deepseek.com", "moonshot.ai"];
        let is_of = |domain: &str| {
            host.strip_suffix(domain)
                .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
        };
        match () {
            () if OPENAI.into_iter().any(is_of) => Self::OpenAi,
            () if is_of("openrouter.ai") => Self::OpenRouter,
            () if THINKING.into_iter().any(is_of) || is_of("moonshot.cn") => Self::Thinking,
            () => Self::Other,
        }
    }
}

/// The fields for the set parameters.
#[derive(Debug, Clone, Copy, Default, Serialize)]
pub struct ParameterFields<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    temperature: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    top_p: Option<f64>,
    #[serde(skip_serializing_if = "<[String]>::is_empty")]
    stop: &'a [String],
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning_effort: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    reasoning: Option<ReasoningField>,
    #[serde(skip_serializing_if = "Option::is_none")]
    thinking: Option<Thinking>,
}

#[derive(Debug, Clone, Copy, Serialize)]
struct ReasoningField {
    effort: &'static str,
}

#[derive(Debug, Clone, Copy, Serialize)]
#[serde(tag = "type", rename_all = "snake_case")]
enum Thinking {
    Enabled,
    Disabled,
}

impl<'a> ParameterFields<'a> {
    /// The fields for `set` and a model of this name, and the parameters that it does not accept. The output token
    /// limit, which has two names, is not among them.
    #[must_use]
    pub fn new(set: &'a ModelParameters, model: &str, dialect: Dialect) -> (Self, Vec<LeftOut>) {
        let family = ModelFamily::of(model);
        let wanted = set.reasoning_effort.map(Reasoning::from);
        let effort = wanted
            .filter(|_| family.reasons())
            .and_then(|wanted| effort(wanted, family));
        let takes_sampling = family.takes_sampling(effort);
        let stop = set.stop.as_deref().unwrap_or_default();
        let max = if dialect == Dialect::OpenAi {
            MAX_STOP
        } else {
            usize::MAX
        };
        let mut fields = Self {
            temperature: set.temperature.filter(|_| takes_sampling),
            top_p: set.top_p.filter(|_| takes_sampling),
            stop: &stop[..stop.len().min(max)],
            seed: set.seed,
            ..Self::default()
        };
        match dialect {
            Dialect::OpenAi | Dialect::Other => fields.reasoning_effort = effort,
            Dialect::OpenRouter => {
                fields.reasoning = effort.map(|effort| ReasoningField { effort })
            }
            Dialect::Thinking => {
                let is_off = wanted == Some(Reasoning::Off);
                fields.thinking = effort.map(|_| {
                    if is_off {
                        Thinking::Disabled
                    } else {
                        Thinking::Enabled
                    }
                });
                fields.reasoning_effort = effort.filter(|_| !is_off);
            }
        }
        let sent = Sent {
            temperature: fields.temperature.is_some(),
            top_p: fields.top_p.is_some(),
            max_output_tokens: true,
            stop: fields.stop.len(),
            seed: true,
            reasoning: effort.is_some() || (wanted == Some(Reasoning::Off) && !family.reasons()),
        };
        let left_out = Parameters::default().under(set).left_out(&sent);
        (fields, left_out)
    }
}

/// The level as a value of the model's family; other models get it unchanged.
fn effort(wanted: Reasoning, family: ModelFamily) -> Option<&'static str> {
    match (family, wanted) {
        (ModelFamily::Unknown, Reasoning::Effort(effort)) => Some(effort_name(effort)),
        _ => family.effort(wanted),
    }
}

/// The parameters that a model of this name never accepts.
#[must_use]
pub fn unsupported(model: &str, dialect: Dialect) -> Vec<Parameter> {
    never_taken(|set| ParameterFields::new(set, model, dialect).1)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn check(model: &str, host: &str, set: Value, fields: Value, left_out: &[LeftOut]) {
        let set: ModelParameters = serde_json::from_value(set).unwrap();
        let (written, not_sent) = ParameterFields::new(&set, model, Dialect::of_host(host));
        assert_eq!(
            serde_json::to_value(written).unwrap(),
            fields,
            "{model} {host}"
        );
        assert_eq!(not_sent, left_out, "{model} {host}");
    }

    #[test]
    fn each_server_gets_its_own_form() {
        let high = || json!({"reasoning_effort": "high", "temperature": 0.2, "top_p": 0.9, "stop": ["x"], "seed": 7});
        let of = |effort: Value| {
            let mut fields = json!({"temperature": 0.2, "top_p": 0.9, "stop": ["x"], "seed": 7});
            fields
                .as_object_mut()
                .unwrap()
                .extend(effort.as_object().unwrap().clone());
            fields
        };
        check(
            "qwen3",
            "localhost",
            high(),
            of(json!({"reasoning_effort": "high"})),
            &[],
        );
        check(
            "z-ai/glm-4.6",
            "openrouter.ai",
            high(),
            of(json!({"reasoning": {"effort": "high"}})),
            &[],
        );
        let thinking = json!({"thinking": {"type": "enabled"}, "reasoning_effort": "high"});
        check("glm-5.2", "api.z.ai", high(), of(thinking), &[]);
        let off = || json!({"reasoning_effort": "none"});
        check(
            "deepseek-chat",
            "api.deepseek.com",
            off(),
            json!({"thinking": {"type": "disabled"}}),
            &[],
        );
        check(
            "z-ai/glm-4.6",
            "openrouter.ai",
            off(),
            json!({"reasoning": {"effort": "none"}}),
            &[],
        );
        // As recorded.
        check(
            "zai-glm-4.7",
            "api.cerebras.ai",
            off(),
            json!({"reasoning_effort": "none"}),
            &[],
        );
        check(
            "o3-mini",
            "api.openai.com",
            json!({"reasoning_effort": "high"}),
            json!({"reasoning_effort": "high"}),
            &[],
        );
    }

    #[test]
    fn unsupported_openai_parameters_are_omitted() {
        use Parameter::{ReasoningEffort, Temperature, TopP};
        let sampling = || json!({"temperature": 0.2, "top_p": 0.9});
        let neither = [LeftOut::Parameter(Temperature), LeftOut::Parameter(TopP)];
        check(
            "gpt-5-mini",
            "api.openai.com",
            sampling(),
            json!({}),
            &neither,
        );
        check(
            "openai/gpt-5-mini",
            "localhost",
            sampling(),
            json!({}),
            &neither,
        );
        check("gpt-4o", "api.openai.com", sampling(), sampling(), &[]);
        let effort = [LeftOut::Parameter(ReasoningEffort)];
        check(
            "gpt-4o",
            "api.openai.com",
            json!({"reasoning_effort": "high"}),
            json!({}),
            &effort,
        );
        check(
            "gpt-4o",
            "api.openai.com",
            json!({"reasoning_effort": "none"}),
            json!({}),
            &[],
        );
        let five = json!({"stop": ["a", "b", "c", "d", "e"]});
        let four = json!({"stop": ["a", "b", "c", "d"]});
        check(
            "gpt-4o",
            "acme.openai.azure.com",
            five.clone(),
            four,
            &[LeftOut::SomeStop],
        );
        check("llama", "localhost", five.clone(), five, &[]);
        assert_eq!(unsupported("o3", Dialect::OpenAi), [Temperature, TopP]);
        assert_eq!(unsupported("gpt-4o", Dialect::OpenAi), [ReasoningEffort]);
        assert_eq!(unsupported("llama", Dialect::Other), []);
    }

    #[test]
    fn dialects_are_derived_from_the_domain() {
        for (host, dialect) in [
            ("api.openai.com", Dialect::OpenAi),
            ("acme.services.ai.azure.com", Dialect::OpenAi),
            ("eu.openrouter.ai", Dialect::OpenRouter),
            ("notz.ai", Dialect::Other),
            ("z.ai.example.com", Dialect::Other),
            ("", Dialect::Other),
        ] {
            assert_eq!(Dialect::of_host(host), dialect, "{host}");
        }
    }
}
