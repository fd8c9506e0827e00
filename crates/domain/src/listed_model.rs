//! A model as listed by its server: its id, limits and capabilities.

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize};

use crate::Parameter;

/// A model as listed by its server. Unspecified fields are `None`.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct ListedModel {
    /// The model id for requests.
    pub id: String,
    /// The display name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_name: Option<String>,
    /// The context window: tokens of prompt and answer together.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub context_tokens: Option<u64>,
    /// Maximum output, tokens.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_output_tokens: Option<u64>,
    /// The capabilities.
    #[serde(skip_serializing_if = "Capabilities::is_unknown")]
    pub abilities: Capabilities,
}

/// The capabilities of a model. An absent one is unknown.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ModelAbilities")]
#[serde(default)]
pub struct Capabilities {
    /// Answers in chats; false for models that embed, rerank, transcribe, speak or draw.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub chat: Option<bool>,
    /// Reads images.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vision: Option<bool>,
    /// Hears audio.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub audio: Option<bool>,
    /// Reads PDF files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pdf: Option<bool>,
    /// Calls tools.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<bool>,
    /// Answers in a given JSON schema.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub structured_output: Option<bool>,
    /// Thinks before it answers.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reasoning: Option<bool>,
    /// The accepted effort levels, in its server's spelling: `low`, `high`. Empty if unknown.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub reasoning_efforts: Vec<String>,
    /// The parameters it does not accept.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub unsupported_parameters: Vec<Parameter>,
}

impl Capabilities {
    /// Whether nothing is known.
    #[must_use]
    pub fn is_unknown(&self) -> bool {
        *self == Self::default()
    }

    /// The common capabilities of both.
    fn in_common(&self, other: &Self) -> Self {
        let both = |a: Option<bool>, b: Option<bool>| match (a, b) {
            (Some(a), Some(b)) => Some(a && b),
            (known, None) | (None, known) => known,
        };
        let efforts = match (&self.reasoning_efforts[..], &other.reasoning_efforts[..]) {
            (known, []) | ([], known) => known.to_vec(),
            (ours, theirs) => ours
                .iter()
                .filter(|effort| theirs.contains(effort))
                .cloned()
                .collect(),
        };
        let mut unsupported_parameters = self.unsupported_parameters.clone();
        unsupported_parameters.extend(&other.unsupported_parameters);
        unsupported_parameters.sort_unstable();
        unsupported_parameters.dedup();
        Self {
            chat: both(self.chat, other.chat),
            vision: both(self.vision, other.vision),
            audio: both(self.audio, other.audio),
            pdf: both(self.pdf, other.pdf),
            tools: both(self.tools, other.tools),
            structured_output: both(self.structured_output, other.structured_output),
            reasoning: both(self.reasoning, other.reasoning),
            reasoning_efforts: efforts,
            unsupported_parameters,
        }
    }
}

impl ListedModel {
    /// A model of which only the id is known.
    #[must_use]
    pub fn named(id: impl Into<String>) -> Self {
        Self {
            id: id.into(),
            ..Self::default()
        }
    }

    /// The properties common to two servers.
    #[must_use]
    pub fn in_common(&self, other: &Self) -> Self {
        let least = |a: Option<u64>, b: Option<u64>| a.into_iter().chain(b).min();
        Self {
            id: self.id.clone(),
            display_name: self
                .display_name
                .clone()
                .or_else(|| other.display_name.clone()),
            context_tokens: least(self.context_tokens, other.context_tokens),
            max_output_tokens: least(self.max_output_tokens, other.max_output_tokens),
            abilities: self.abilities.in_common(&other.abilities),
        }
    }
}

/// Earlier versions stored the id alone.
impl<'de> Deserialize<'de> for ListedModel {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged)]
        enum Stored {
            Id(String),
            Model {
                id: String,
                display_name: Option<String>,
                context_tokens: Option<u64>,
                max_output_tokens: Option<u64>,
                #[serde(default)]
                abilities: Capabilities,
            },
        }
        Ok(match Stored::deserialize(deserializer)? {
            Stored::Id(id) => Self::named(id),
            Stored::Model {
                id,
                display_name,
                context_tokens,
                max_output_tokens,
                abilities,
            } => Self {
                id,
                display_name,
                context_tokens,
                max_output_tokens,
                abilities,
            },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn model() -> ListedModel {
        ListedModel {
            id: "m".to_owned(),
            display_name: Some("M".to_owned()),
            context_tokens: Some(1000),
            max_output_tokens: Some(100),
            abilities: Capabilities {
                vision: Some(true),
                tools: Some(false),
                reasoning_efforts: vec!["low".to_owned(), "high".to_owned()],
                unsupported_parameters: vec![Parameter::Seed],
                ..Capabilities::default()
            },
        }
    }

    #[test]
    fn reads_current_and_earlier_stored_forms() {
        let text = serde_json::to_string(&[model(), ListedModel::named("n")]).unwrap();
        assert!(text.ends_with(r#",{"id":"n"}]"#), "{text}");
        assert_eq!(
            serde_json::from_str::<Vec<ListedModel>>(&text).unwrap(),
            [model(), ListedModel::named("n")]
        );
        let earlier = serde_json::from_str::<Vec<ListedModel>>(r#"["a","b"]"#).unwrap();
        assert_eq!(earlier, [ListedModel::named("a"), ListedModel::named("b")]);
    }

    #[test]
    fn common_capabilities_of_two_servers() {
        let other = ListedModel {
            context_tokens: Some(500),
            abilities: Capabilities {
                vision: Some(false),
                audio: Some(true),
                reasoning_efforts: vec!["high".to_owned()],
                unsupported_parameters: vec![Parameter::Stop],
                ..Capabilities::default()
            },
            ..ListedModel::named("m")
        };
        let expected = ListedModel {
            context_tokens: Some(500),
            abilities: Capabilities {
                vision: Some(false),
                audio: Some(true),
                tools: Some(false),
                reasoning_efforts: vec!["high".to_owned()],
                unsupported_parameters: vec![Parameter::Stop, Parameter::Seed],
                ..Capabilities::default()
            },
            ..model()
        };
        assert_eq!(model().in_common(&other), expected);
    }
}
