//! Which format a model server speaks, and what its address needs beside a host.

use serde::{Deserialize, Serialize};

pub use domain::{Abilities, ListedModel};

/// The format of a model server's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProviderKind {
    /// OpenAI's Chat Completions, which most servers speak.
    #[default]
    Openai,
    /// OpenAI's Responses.
    OpenaiResponses,
    /// Anthropic's Messages.
    Anthropic,
    /// Google's Generative Language API.
    Gemini,
    /// Gemini models on Google Cloud.
    Vertex,
    /// Amazon Bedrock's Converse.
    Bedrock,
    /// OpenAI's models on Azure.
    Azure,
}

impl ProviderKind {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::Openai,
        Self::OpenaiResponses,
        Self::Anthropic,
        Self::Gemini,
        Self::Vertex,
        Self::Bedrock,
        Self::Azure,
    ];

    /// Its name in settings and the API.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Openai => "openai",
            Self::OpenaiResponses => "openai_responses",
            Self::Anthropic => "anthropic",
            Self::Gemini => "gemini",
            Self::Vertex => "vertex",
            Self::Bedrock => "bedrock",
            Self::Azure => "azure",
        }
    }

    /// The kind of this name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// Where the provider answers, where all its customers ask at the same address.
    #[must_use]
    pub fn usual_address(self) -> Option<&'static str> {
        match self {
            Self::Openai | Self::OpenaiResponses => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some("https://generativelanguage.googleapis.com/v1beta"),
            Self::Vertex | Self::Bedrock | Self::Azure => None,
        }
    }

    /// What the path of its address begins with where a person named only the host.
    #[must_use]
    pub(crate) fn usual_path(self) -> &'static str {
        match self {
            Self::Openai | Self::OpenaiResponses | Self::Anthropic => "/v1",
            Self::Gemini => "/v1beta",
            Self::Vertex => "/v1",
            Self::Bedrock => "",
            Self::Azure => "/openai/v1",
        }
    }
}

/// What some kinds need beside address and key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderOptions {
    /// `bedrock`: the AWS region, such as `eu-central-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// `azure`: the version of an address with deployments, such as `2024-10-21`; the v1 address needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// `vertex`: the project at Google Cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// `vertex`: where its models run, such as `europe-west4` or `global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_json() {
        for kind in ProviderKind::ALL {
            assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
            assert_eq!(ProviderKind::of_name(kind.name()), Some(kind));
        }
        assert_eq!(ProviderKind::of_name("ollama"), None);
    }
}
