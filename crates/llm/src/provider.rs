//! The kinds of provider APIs, and the options that determine their URLs.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

pub use domain::{Capabilities, ListedModel};
use provider::gemini;

/// Maximum length of an option's value, bytes.
const MAX_OPTION_BYTES: usize = 100;

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

    /// Whether its format is Chat Completions.
    #[must_use]
    pub fn speaks_chat_completions(self) -> bool {
        matches!(self, Self::Openai | Self::Azure)
    }

    /// The provider's base URL, if it is the same for all customers.
    #[must_use]
    pub fn usual_address(self) -> Option<&'static str> {
        match self {
            Self::Openai | Self::OpenaiResponses => Some("https://api.openai.com/v1"),
            Self::Anthropic => Some("https://api.anthropic.com/v1"),
            Self::Gemini => Some(gemini::BASE_URL),
            Self::Vertex | Self::Bedrock | Self::Azure => None,
        }
    }

    /// The base URL for these options, if none is set. The options must be checked before.
    #[must_use]
    pub fn address(self, options: &ProviderOptions) -> Option<String> {
        match self {
            Self::Bedrock => options.region.as_ref().map(|region| {
                // The regions in China are a separate partition.
                let china = if region.starts_with("cn-") { ".cn" } else { "" };
                format!("https://bedrock-runtime.{region}.amazonaws.com{china}")
            }),
            Self::Vertex => options.location.as_deref().map(gemini::vertex_base_url),
            _ => self.usual_address().map(str::to_owned),
        }
    }

    /// The options of this kind, and whether they are required.
    #[must_use]
    pub fn options(self) -> &'static [(&'static str, bool)] {
        match self {
            Self::Bedrock => &[("region", true), ("profile", false)],
            Self::Vertex => &[("project", true), ("location", true)],
            Self::Azure => &[("api_version", false)],
            Self::Openai | Self::OpenaiResponses | Self::Anthropic | Self::Gemini => &[],
        }
    }

    /// The path prefix to use if a person entered only the host.
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

/// Options that some kinds need in addition to URL and key.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[schemars(rename = "ProviderSettings")]
#[serde(default, deny_unknown_fields)]
pub struct ProviderOptions {
    /// `bedrock`: the AWS region, such as `eu-central-1`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub region: Option<String>,
    /// `bedrock`: the profile of AWS's shared files to take credentials from, if the connection has no key.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub profile: Option<String>,
    /// `azure`: the API version of a URL with deployments, such as `2024-10-21`; the v1 URL needs none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub api_version: Option<String>,
    /// `vertex`: the project at Google Cloud.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// `vertex`: the location of its models, such as `europe-west4` or `global`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub location: Option<String>,
}

/// An invalid option of a kind, by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BadOption {
    /// The kind requires it.
    Missing(&'static str),
    /// The kind has no such option.
    Unknown(&'static str),
    /// Its value is invalid: it becomes a part of URLs.
    Invalid(&'static str),
}

impl ProviderOptions {
    /// Checks the options against this kind. An empty option is removed.
    ///
    /// # Errors
    /// The first invalid option.
    pub fn check(self, kind: ProviderKind) -> Result<Self, BadOption> {
        let trimmed = |option: Option<String>| {
            option
                .map(|text| text.trim().to_owned())
                .filter(|text| !text.is_empty())
        };
        let checked = Self {
            region: trimmed(self.region),
            profile: trimmed(self.profile),
            api_version: trimmed(self.api_version),
            project: trimmed(self.project),
            location: trimmed(self.location),
        };
        let is_valid = |text: &String| {
            let is_plain =
                |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '.' | '_' | ':');
            text.len() <= MAX_OPTION_BYTES
                && text.starts_with(|c: char| c.is_ascii_alphanumeric())
                && text.chars().all(is_plain)
        };
        for (name, value) in checked.named() {
            let known = kind.options().iter().find(|(option, _)| *option == name);
            match (known, value) {
                (None, Some(_)) => return Err(BadOption::Unknown(name)),
                (Some((_, true)), None) => return Err(BadOption::Missing(name)),
                (Some(_), Some(value)) if !is_valid(value) => return Err(BadOption::Invalid(name)),
                _ => {}
            }
        }
        Ok(checked)
    }

    /// The options that a kind has.
    #[must_use]
    pub fn only_of(&self, kind: ProviderKind) -> Self {
        let keep = |name: &str, value: &Option<String>| {
            value
                .clone()
                .filter(|_| kind.options().iter().any(|(option, _)| *option == name))
        };
        Self {
            region: keep("region", &self.region),
            profile: keep("profile", &self.profile),
            api_version: keep("api_version", &self.api_version),
            project: keep("project", &self.project),
            location: keep("location", &self.location),
        }
    }

    fn named(&self) -> [(&'static str, Option<&String>); 5] {
        [
            ("region", self.region.as_ref()),
            ("profile", self.profile.as_ref()),
            ("api_version", self.api_version.as_ref()),
            ("project", self.project.as_ref()),
            ("location", self.location.as_ref()),
        ]
    }
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

    fn options(region: &str, project: &str, location: &str) -> ProviderOptions {
        let text = |text: &str| Some(text.to_owned());
        ProviderOptions {
            region: text(region),
            project: text(project),
            location: text(location),
            ..ProviderOptions::default()
        }
    }

    #[test]
    fn options_depend_on_the_kind() {
        let checked = options(" eu-central-1 ", "", "")
            .check(ProviderKind::Bedrock)
            .unwrap();
        assert_eq!(
            checked,
            ProviderOptions {
                region: Some("eu-central-1".into()),
                ..Default::default()
            }
        );
        for (kind, given, wrong) in [
            (
                ProviderKind::Bedrock,
                options("", "", ""),
                BadOption::Missing("region"),
            ),
            (
                ProviderKind::Bedrock,
                options("a.example/?", "", ""),
                BadOption::Invalid("region"),
            ),
            (
                ProviderKind::Bedrock,
                options(".a", "", ""),
                BadOption::Invalid("region"),
            ),
            (
                ProviderKind::Vertex,
                options("", "p", " "),
                BadOption::Missing("location"),
            ),
            (
                ProviderKind::Vertex,
                options("r", "p", "l"),
                BadOption::Unknown("region"),
            ),
            (
                ProviderKind::Openai,
                options("r", "", ""),
                BadOption::Unknown("region"),
            ),
        ] {
            assert_eq!(given.check(kind), Err(wrong), "{kind:?}");
        }
        let all = options("r", "p", "l");
        assert_eq!(
            all.only_of(ProviderKind::Vertex),
            ProviderOptions {
                region: None,
                ..all.clone()
            }
        );
    }

    #[test]
    fn addresses_follow_from_options() {
        let check = |kind: ProviderKind, options: ProviderOptions, address: Option<&str>| {
            assert_eq!(kind.address(&options).as_deref(), address, "{kind:?}");
        };
        check(
            ProviderKind::Anthropic,
            ProviderOptions::default(),
            Some("https://api.anthropic.com/v1"),
        );
        check(ProviderKind::Azure, ProviderOptions::default(), None);
        let in_region = |region: &str| options(region, "", "");
        let frankfurt = "https://bedrock-runtime.eu-central-1.amazonaws.com";
        check(
            ProviderKind::Bedrock,
            in_region("eu-central-1"),
            Some(frankfurt),
        );
        let beijing = "https://bedrock-runtime.cn-north-1.amazonaws.com.cn";
        check(
            ProviderKind::Bedrock,
            in_region("cn-north-1"),
            Some(beijing),
        );
        let at = |location: &str| options("", "p", location);
        check(
            ProviderKind::Vertex,
            at("eu"),
            Some("https://aiplatform.eu.rep.googleapis.com/v1"),
        );
    }
}
