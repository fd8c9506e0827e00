//! Determines which of the set parameters a request contains, in any format.

use domain::{LeftOut, ModelParameters, Parameter, ReasoningEffort};

use super::{Effort, Parameters, Reasoning};

/// The parameters in a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Sent {
    pub(crate) temperature: bool,
    pub(crate) top_p: bool,
    pub(crate) max_output_tokens: bool,
    /// The number of stop sequences.
    pub(crate) stop: usize,
    pub(crate) seed: bool,
    /// Also true if the model does so by default.
    pub(crate) reasoning: bool,
}

impl Parameters {
    /// The set parameters that are not sent.
    pub(crate) fn left_out(&self, sent: &Sent) -> Vec<LeftOut> {
        let set = [
            (
                self.temperature.is_some(),
                sent.temperature,
                Parameter::Temperature,
            ),
            (self.top_p.is_some(), sent.top_p, Parameter::TopP),
            (
                self.max_output_tokens.is_some(),
                sent.max_output_tokens,
                Parameter::MaxOutputTokens,
            ),
            (!self.stop.is_empty(), sent.stop > 0, Parameter::Stop),
            (self.seed.is_some(), sent.seed, Parameter::Seed),
            (
                self.reasoning.is_some(),
                sent.reasoning,
                Parameter::ReasoningEffort,
            ),
        ];
        let whole = set
            .into_iter()
            .filter(|(is_set, is_sent, _)| *is_set && !is_sent);
        let whole = whole.map(|(_, _, parameter)| LeftOut::Parameter(parameter));
        let is_cut = sent.stop > 0 && sent.stop < self.stop.len();
        whole.chain(is_cut.then_some(LeftOut::SomeStop)).collect()
    }

    /// The same, overridden by the parameters that people have set.
    #[must_use]
    pub fn under(self, set: &ModelParameters) -> Self {
        Self {
            temperature: set.temperature.or(self.temperature),
            top_p: set.top_p.or(self.top_p),
            max_output_tokens: set.max_output_tokens.or(self.max_output_tokens),
            stop: set.stop.clone().unwrap_or(self.stop),
            seed: set.seed.or(self.seed),
            reasoning: set.reasoning_effort.map(Reasoning::from).or(self.reasoning),
            ..self
        }
    }
}

impl From<ReasoningEffort> for Reasoning {
    fn from(effort: ReasoningEffort) -> Self {
        match effort {
            ReasoningEffort::None => Self::Off,
            ReasoningEffort::Minimal => Self::Effort(Effort::Minimal),
            ReasoningEffort::Low => Self::Effort(Effort::Low),
            ReasoningEffort::Medium => Self::Effort(Effort::Medium),
            ReasoningEffort::High => Self::Effort(Effort::High),
            ReasoningEffort::XHigh => Self::Effort(Effort::XHigh),
        }
    }
}

/// The parameters that a model never accepts, independent of the rest of a request; `left_out` is that of its format.
pub(crate) fn never_taken(left_out: impl Fn(&ModelParameters) -> Vec<LeftOut>) -> Vec<Parameter> {
    let all = ModelParameters {
        system_prompt: None,
        temperature: Some(0.5),
        top_p: Some(0.5),
        max_output_tokens: Some(1),
        stop: Some(vec!["x".to_owned()]),
        seed: Some(1),
        reasoning_effort: Some(ReasoningEffort::High),
    };
    // Some are refused only in combination, so each is tried alone.
    let alone = |kept: Parameter| {
        let others = Parameter::ALL
            .into_iter()
            .filter(|parameter| *parameter != kept);
        others.fold(all.clone(), ModelParameters::without)
    };
    Parameter::ALL
        .into_iter()
        .filter(|parameter| !left_out(&alone(*parameter)).is_empty())
        .collect()
}

#[cfg(test)]
mod tests {
    use domain::{Message, Role};
    use serde_json::{Value, json};

    use super::*;
    use crate::{ModelRequest, ToolChoice, anthropic, bedrock, gemini, openai_responses};

    type Encode = fn(&ModelRequest<'_>) -> (Vec<u8>, Vec<LeftOut>);

    fn check(encode: Encode, model: &str, set: Value, expected: &[LeftOut]) {
        let set: ModelParameters = serde_json::from_value(set).unwrap();
        let parameters = &Parameters::default().under(&set);
        let messages = &[Message::text(Role::User, "hi")];
        let request = ModelRequest {
            model,
            messages,
            tools: &[],
            parameters,
            stream: true,
        };
        assert_eq!(encode(&request).1, expected, "{model}");
    }

    fn all() -> Value {
        json!({"temperature": 0.2, "top_p": 0.9, "max_output_tokens": 9000, "stop": ["x"], "seed": 7,
            "reasoning_effort": "high"})
    }

    #[test]
    fn each_format_reports_omitted_parameters() {
        use LeftOut::Parameter as P;
        use Parameter::{ReasoningEffort, Seed, Stop, Temperature, TopP};
        check(
            anthropic::encode_with_left_out,
            "claude-sonnet-4-0",
            all(),
            &[P(Temperature), P(TopP), P(Seed)],
        );
        check(
            anthropic::encode_with_left_out,
            "claude-opus-5",
            json!({"temperature": 0.2}),
            &[P(Temperature)],
        );
        check(
            anthropic::encode_with_left_out,
            "claude-3-5-haiku-latest",
            all(),
            &[P(Seed), P(ReasoningEffort)],
        );
        check(
            anthropic::encode_with_left_out,
            "claude-sonnet-4-5",
            json!({"temperature": 0, "top_p": 1}),
            &[P(TopP)],
        );
        check(
            anthropic::encode_with_left_out,
            "claude-3-5-haiku-latest",
            json!({"reasoning_effort": "none"}),
            &[],
        );
        check(
            anthropic::encode_with_left_out,
            "claude-sonnet-4-5",
            json!({"stop": ["\n"]}),
            &[P(Stop)],
        );
        check(
            anthropic::encode_with_left_out,
            "claude-sonnet-4-5",
            json!({"stop": ["\n", "x"]}),
            &[LeftOut::SomeStop],
        );
        check(gemini::encode_with_left_out, "gemini-2.5-flash", all(), &[]);
        check(
            gemini::encode_with_left_out,
            "gemini-2.0-flash",
            all(),
            &[P(ReasoningEffort)],
        );
        check(
            gemini::encode_with_left_out,
            "gemini-3-pro",
            json!({"stop": ["a", "b", "c", "d", "e", "f"]}),
            &[LeftOut::SomeStop],
        );
        check(
            openai_responses::encode_with_left_out,
            "gpt-5",
            all(),
            &[P(Temperature), P(TopP), P(Stop), P(Seed)],
        );
        check(
            openai_responses::encode_with_left_out,
            "gpt-4.1",
            all(),
            &[P(Stop), P(Seed), P(ReasoningEffort)],
        );
        check(
            openai_responses::encode_with_left_out,
            "gpt-5-pro",
            json!({"reasoning_effort": "none"}),
            &[P(ReasoningEffort)],
        );
        check(
            bedrock::encode_with_left_out,
            "amazon.nova-pro-v1:0",
            all(),
            &[P(Seed)],
        );
        check(
            bedrock::encode_with_left_out,
            "meta.llama3-1-8b-instruct-v1:0",
            all(),
            &[P(Seed), P(ReasoningEffort)],
        );
        check(
            bedrock::encode_with_left_out,
            "us.anthropic.claude-sonnet-4-5-20250929-v1:0",
            all(),
            &[P(Temperature), P(TopP), P(Seed)],
        );
    }

    #[test]
    fn unsupported_parameters_are_known_by_name() {
        use Parameter::{ReasoningEffort, Seed, Stop, Temperature, TopP};
        assert_eq!(
            anthropic::unsupported("claude-opus-5"),
            [Temperature, TopP, Seed]
        );
        // Each is taken, though not both at once.
        assert_eq!(anthropic::unsupported("claude-sonnet-4-5"), [Seed]);
        assert_eq!(gemini::unsupported("gemini-3-pro"), []);
        assert_eq!(gemini::unsupported("gemma-3-27b-it"), [ReasoningEffort]);
        assert_eq!(
            openai_responses::unsupported("gpt-4o"),
            [Stop, Seed, ReasoningEffort]
        );
        assert_eq!(bedrock::unsupported("qwen.qwen3-32b-v1:0"), [Seed]);
    }

    #[test]
    fn set_parameters_override_program_fields() {
        let written = Parameters {
            temperature: Some(1.0),
            stop: vec!["a".to_owned()],
            tool_choice: ToolChoice::None,
            ..Parameters::default()
        };
        let set = serde_json::from_value(json!({"temperature": 0.5, "reasoning_effort": "none"}))
            .unwrap();
        let expected = Parameters {
            temperature: Some(0.5),
            reasoning: Some(Reasoning::Off),
            ..written.clone()
        };
        assert_eq!(written.under(&set), expected);
    }
}
