//! The parameters of the model calls of a chat, an agent or a model.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, de::Error};
use serde_json::{Map, Value};

/// Maximum length of a system prompt.
const MAX_SYSTEM_PROMPT_BYTES: usize = 50_000;
/// Maximum number of stop sequences, and maximum length of each.
const MAX_STOP: usize = 16;
const MAX_STOP_BYTES: usize = 256;
/// Maximum number of tokens that can be asked for.
const MAX_OUTPUT_TOKENS: u64 = 100_000_000;

/// Parameters of model calls. An absent one leaves the choice to the layer below: a chat to its agent, an agent to its model,
/// a model to its provider. Deserialized values are within their limits; an empty text or list counts as absent.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelParameters {
    /// Appended to the agent's own instructions.
    #[serde(deserialize_with = "system_prompt")]
    pub system_prompt: Option<String>,
    /// 0 to 2. Providers whose scale ends at 1 get at most that.
    #[serde(deserialize_with = "temperature")]
    pub temperature: Option<f64>,
    /// 0 to 1.
    #[serde(deserialize_with = "top_p")]
    pub top_p: Option<f64>,
    /// Upper limit on the tokens of one answer, reasoning included.
    #[serde(deserialize_with = "max_output_tokens")]
    pub max_output_tokens: Option<u64>,
    /// Texts that end the answer.
    #[serde(deserialize_with = "stop")]
    pub stop: Option<Vec<String>>,
    /// Makes answers reproducible if the provider supports it.
    #[serde(deserialize_with = "seed")]
    pub seed: Option<i64>,
    /// How much the model is to reason.
    #[serde(deserialize_with = "reasoning_effort")]
    pub reasoning_effort: Option<ReasoningEffort>,
}

/// Levels of reasoning. A model that lacks one gets the nearest it has.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "lowercase")]
#[expect(missing_docs, reason = "the names say all there is")]
pub enum ReasoningEffort {
    None,
    Minimal,
    Low,
    Medium,
    High,
    XHigh,
}

/// A parameter that not every model takes.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
#[expect(
    missing_docs,
    reason = "each is the field of `ModelParameters` with its name"
)]
pub enum Parameter {
    Temperature,
    TopP,
    MaxOutputTokens,
    Stop,
    Seed,
    ReasoningEffort,
}

/// What was set but is not sent, because the model does not take it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LeftOut {
    /// The whole parameter.
    Parameter(Parameter),
    /// Some of the stop sequences.
    SomeStop,
}

static UNSET: ModelParameters = ModelParameters {
    system_prompt: None,
    temperature: None,
    top_p: None,
    max_output_tokens: None,
    stop: None,
    seed: None,
    reasoning_effort: None,
};

impl ModelParameters {
    /// Parameters of which none is set.
    #[must_use]
    pub fn unset() -> &'static Self {
        &UNSET
    }

    /// Whether none is set.
    #[must_use]
    pub fn is_unset(&self) -> bool {
        *self == UNSET
    }

    /// These, and what `below` sets where they set nothing.
    #[must_use]
    pub fn over(&self, below: &Self) -> Self {
        Self {
            system_prompt: self
                .system_prompt
                .as_ref()
                .or(below.system_prompt.as_ref())
                .cloned(),
            temperature: self.temperature.or(below.temperature),
            top_p: self.top_p.or(below.top_p),
            max_output_tokens: self.max_output_tokens.or(below.max_output_tokens),
            stop: self.stop.as_ref().or(below.stop.as_ref()).cloned(),
            seed: self.seed.or(below.seed),
            reasoning_effort: self.reasoning_effort.or(below.reasoning_effort),
        }
    }

    /// The same with the values that `change` holds; `null` takes one away. Other fields are passed over.
    ///
    /// # Errors
    /// What is wrong, in words that name the field.
    pub fn changed_by(&self, change: &Map<String, Value>) -> Result<Self, serde_json::Error> {
        let Value::Object(mut fields) = serde_json::to_value(self)? else {
            return Ok(self.clone());
        };
        for (name, value) in &mut fields {
            if let Some(new) = change.get(name) {
                *value = new.clone();
            }
        }
        Self::deserialize(fields)
    }

    /// Whether the parameter is set.
    #[must_use]
    pub fn has(&self, parameter: Parameter) -> bool {
        match parameter {
            Parameter::Temperature => self.temperature.is_some(),
            Parameter::TopP => self.top_p.is_some(),
            Parameter::MaxOutputTokens => self.max_output_tokens.is_some(),
            Parameter::Stop => self.stop.is_some(),
            Parameter::Seed => self.seed.is_some(),
            Parameter::ReasoningEffort => self.reasoning_effort.is_some(),
        }
    }

    /// The same without the parameter.
    #[must_use]
    pub fn without(mut self, parameter: Parameter) -> Self {
        match parameter {
            Parameter::Temperature => self.temperature = None,
            Parameter::TopP => self.top_p = None,
            Parameter::MaxOutputTokens => self.max_output_tokens = None,
            Parameter::Stop => self.stop = None,
            Parameter::Seed => self.seed = None,
            Parameter::ReasoningEffort => self.reasoning_effort = None,
        }
        self
    }
}

impl ReasoningEffort {
    /// All of them, from none to much.
    pub const ALL: [Self; 6] = [
        Self::None,
        Self::Minimal,
        Self::Low,
        Self::Medium,
        Self::High,
        Self::XHigh,
    ];

    /// The level of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|level| level.name() == name)
    }

    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Minimal => "minimal",
            Self::Low => "low",
            Self::Medium => "medium",
            Self::High => "high",
            Self::XHigh => "xhigh",
        }
    }
}

impl Parameter {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Temperature,
        Self::TopP,
        Self::MaxOutputTokens,
        Self::Stop,
        Self::Seed,
        Self::ReasoningEffort,
    ];

    /// Its name in the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Temperature => "temperature",
            Self::TopP => "top_p",
            Self::MaxOutputTokens => "max_output_tokens",
            Self::Stop => "stop",
            Self::Seed => "seed",
            Self::ReasoningEffort => "reasoning_effort",
        }
    }
}

/// Reads a field, which may be `null`; `wanted` says what belongs there.
fn field<'de, D: Deserializer<'de>, T>(
    deserializer: D,
    name: &str,
    wanted: &str,
    read: impl FnOnce(&Value) -> Option<T>,
) -> Result<Option<T>, D::Error> {
    let value = Value::deserialize(deserializer)?;
    if value.is_null() {
        return Ok(None);
    }
    let wrong = || D::Error::custom(format!("`{name}` must be {wanted}"));
    read(&value).map(Some).ok_or_else(wrong)
}

fn system_prompt<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    let wanted = format!("a text of at most {MAX_SYSTEM_PROMPT_BYTES} bytes");
    let text = field(deserializer, "system_prompt", &wanted, |value| {
        value
            .as_str()
            .filter(|text| text.len() <= MAX_SYSTEM_PROMPT_BYTES)
            .map(str::to_owned)
    })?;
    Ok(text.filter(|text| !text.trim().is_empty()))
}

fn temperature<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    field(
        deserializer,
        "temperature",
        "a number from 0 to 2",
        |value| value.as_f64().filter(|number| (0.0..=2.0).contains(number)),
    )
}

fn top_p<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<f64>, D::Error> {
    field(deserializer, "top_p", "a number from 0 to 1", |value| {
        value.as_f64().filter(|number| (0.0..=1.0).contains(number))
    })
}

fn max_output_tokens<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    let wanted = format!("a whole number from 1 to {MAX_OUTPUT_TOKENS}");
    field(deserializer, "max_output_tokens", &wanted, |value| {
        value
            .as_u64()
            .filter(|count| (1..=MAX_OUTPUT_TOKENS).contains(count))
    })
}

fn stop<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<Vec<String>>, D::Error> {
    let wanted = format!("a list of at most {MAX_STOP} texts of 1 to {MAX_STOP_BYTES} bytes");
    let texts = field(deserializer, "stop", &wanted, |value| {
        let texts = value.as_array().filter(|texts| texts.len() <= MAX_STOP)?;
        let text = |text: &Value| {
            text.as_str()
                .filter(|text| (1..=MAX_STOP_BYTES).contains(&text.len()))
                .map(str::to_owned)
        };
        texts.iter().map(text).collect::<Option<Vec<_>>>()
    })?;
    Ok(texts.filter(|texts| !texts.is_empty()))
}

fn seed<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<i64>, D::Error> {
    field(deserializer, "seed", "a whole number", Value::as_i64)
}

fn reasoning_effort<'de, D: Deserializer<'de>>(
    deserializer: D,
) -> Result<Option<ReasoningEffort>, D::Error> {
    let wanted = r#""none", "minimal", "low", "medium", "high" or "xhigh""#;
    field(deserializer, "reasoning_effort", wanted, |value| {
        value.as_str().and_then(ReasoningEffort::of_name)
    })
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn read(value: Value) -> Result<ModelParameters, String> {
        serde_json::from_value(value).map_err(|error| error.to_string())
    }

    #[test]
    fn what_is_wrong_is_named() {
        let wrong = [
            ("temperature", json!({"temperature": 2.1})),
            ("temperature", json!({"temperature": -0.1})),
            ("top_p", json!({"top_p": 1.5})),
            ("max_output_tokens", json!({"max_output_tokens": 0})),
            ("stop", json!({"stop": vec!["x"; 17]})),
            ("stop", json!({"stop": [""]})),
            ("stop", json!({"stop": ["x".repeat(257)]})),
            (
                "system_prompt",
                json!({"system_prompt": "x".repeat(50_001)}),
            ),
            ("temprature", json!({"temprature": 1})),
            ("reasoning_effort", json!({"reasoning_effort": "much"})),
            ("seed", json!({"seed": 1.5})),
            ("max_output_tokens", json!({"max_output_tokens": -1})),
            ("temperature", json!({"temperature": "0.2"})),
        ];
        for (name, value) in wrong {
            let sentence = read(value.clone()).unwrap_err();
            assert!(
                sentence.contains(&format!("`{name}`")),
                "{value}: {sentence}"
            );
        }
    }

    #[test]
    fn empty_values_and_nulls_set_nothing() {
        let nothing = json!({"system_prompt": " \n", "stop": [], "temperature": null, "reasoning_effort": null});
        assert_eq!(read(nothing), Ok(ModelParameters::default()));
        let all = json!({"system_prompt": "Be brief.", "temperature": 0.0, "top_p": 1.0, "max_output_tokens": 1,
            "stop": ["\n"], "seed": -7, "reasoning_effort": "none"});
        let set = read(all.clone()).unwrap();
        assert!(
            Parameter::ALL
                .into_iter()
                .all(|parameter| set.has(parameter))
        );
        assert_eq!(serde_json::to_value(&set).unwrap(), all);
    }

    #[test]
    fn the_upper_layer_wins_field_by_field() {
        let set = |value| read(value).unwrap();
        let chat = set(json!({"temperature": 0.2, "stop": ["a"]}));
        let model = set(json!({"temperature": 0.9, "seed": 7, "system_prompt": "Be brief."}));
        let expected = set(
            json!({"temperature": 0.2, "stop": ["a"], "seed": 7, "system_prompt": "Be brief."}),
        );
        assert_eq!(chat.over(&model), expected);
        assert_eq!(expected.without(Parameter::Seed).seed, None);
    }

    #[test]
    fn a_change_keeps_unnamed_fields() {
        let set = read(json!({"temperature": 0.2, "seed": 7, "stop": ["x"]})).unwrap();
        let change = |change: Value| set.changed_by(change.as_object().unwrap());
        let changed =
            change(json!({"seed": null, "temperature": 1, "top_p": 0.5, "tool_mode": "off"}));
        assert_eq!(
            changed.unwrap(),
            read(json!({"temperature": 1, "top_p": 0.5, "stop": ["x"]})).unwrap()
        );
        assert!(
            change(json!({"temperature": 3}))
                .unwrap_err()
                .to_string()
                .contains("`temperature`")
        );
    }

    #[test]
    fn names_are_those_of_the_fields() {
        let fields = serde_json::to_value(ModelParameters::unset()).unwrap();
        for parameter in Parameter::ALL {
            assert!(fields.get(parameter.name()).is_some(), "{parameter:?}");
            assert_eq!(serde_json::to_value(parameter).unwrap(), parameter.name());
        }
        assert_eq!(
            serde_json::to_value(ReasoningEffort::XHigh).unwrap(),
            ReasoningEffort::XHigh.name()
        );
    }
}
