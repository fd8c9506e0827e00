//! The URLs of each kind of provider, and the header that carries its key.

use provider::{anthropic, bedrock, gemini, url_path};
use reqwest::{
    Url,
    header::{AUTHORIZATION, HeaderName},
};

use super::{aws::AwsKey, google::ServiceAccount};
use crate::{ProviderKind, openai::ServerSettings};

/// The call for Bedrock's second list of models.
pub(crate) const FOUNDATION_MODELS: &str = "foundation-models";

/// The URL of a call of `model`; `call` is OpenAI's name for it, such as `chat/completions` or `models`.
pub(crate) fn url(server: &ServerSettings, model: &str, call: &str) -> Url {
    let base = &server.base_url;
    let options = &server.options;
    let answers = call == "chat/completions";
    let embeds = call == "embeddings";
    match server.kind {
        ProviderKind::OpenaiResponses if answers => base.join("responses"),
        ProviderKind::Openai | ProviderKind::OpenaiResponses => base.join(call),
        ProviderKind::Azure => match &options.api_version {
            Some(version) => azure_deployment(base.join(""), model, call, version),
            None => base.join(call),
        },
        ProviderKind::Anthropic if answers => base.join("messages"),
        ProviderKind::Anthropic if call == "models" => base.join("models?limit=1000"),
        ProviderKind::Anthropic => base.join(call),
        ProviderKind::Gemini if answers => base.join(&gemini::path(model, gemini::Method::Stream)),
        ProviderKind::Gemini if embeds => {
            base.join(&gemini::path(model, gemini::Method::BatchEmbed))
        }
        ProviderKind::Gemini => base.join(gemini::MODELS_PATH),
        ProviderKind::Vertex if answers || embeds => {
            let method = if embeds {
                gemini::Method::Predict
            } else {
                gemini::Method::Stream
            };
            let project = options.project.as_deref().unwrap_or_default();
            let location = options.location.as_deref().unwrap_or_default();
            base.join(&gemini::vertex_path(project, location, model, method))
        }
        ProviderKind::Vertex => base.join(gemini::VERTEX_MODELS_PATH),
        ProviderKind::Bedrock if answers => base.join(&bedrock::path(model)),
        ProviderKind::Bedrock if embeds => base.join(&bedrock::embedding_path(model)),
        // Lists of models and of inference profiles, which newer models need, are on another host than answers.
        ProviderKind::Bedrock => {
            let mut url = base.join(match call {
                FOUNDATION_MODELS => FOUNDATION_MODELS,
                _ => "inference-profiles?maxResults=1000",
            });
            let host =
                url.host_str()
                    .unwrap_or_default()
                    .replacen("bedrock-runtime.", "bedrock.", 1);
            // The URL had a host before.
            let _ = url.set_host(Some(&host));
            url
        }
    }
}

/// The older URLs of Azure, which name a model by its deployment.
fn azure_deployment(mut url: Url, model: &str, call: &str, version: &str) -> Url {
    let path = url.path().trim_end_matches('/');
    let root = path.strip_suffix("/v1").unwrap_or(path).to_owned();
    let path = match call {
        "models" => format!("{root}/models"),
        call => format!("{root}/deployments/{}/{call}", url_path::segment(model)),
    };
    url.set_path(&path);
    url.query_pairs_mut().append_pair("api-version", version);
    url
}

/// Headers of each request, in addition to the key.
pub(crate) fn headers(kind: ProviderKind) -> &'static [(&'static str, &'static str)] {
    match kind {
        ProviderKind::Anthropic => &[(anthropic::VERSION_HEADER, anthropic::VERSION)],
        _ => &[],
    }
}

/// The header that carries the key, and the prefix of its value; `None` if the key is used to sign.
pub(crate) fn key_header(
    kind: ProviderKind,
    key: Option<&str>,
) -> Option<(HeaderName, &'static str)> {
    match kind {
        ProviderKind::Openai | ProviderKind::OpenaiResponses => Some((AUTHORIZATION, "Bearer ")),
        ProviderKind::Anthropic => Some((HeaderName::from_static(anthropic::KEY_HEADER), "")),
        ProviderKind::Gemini => Some((HeaderName::from_static(gemini::KEY_HEADER), "")),
        ProviderKind::Vertex if key.is_some_and(|key| ServiceAccount::read(key).is_some()) => None,
        ProviderKind::Vertex => Some((HeaderName::from_static(gemini::KEY_HEADER), "")),
        ProviderKind::Bedrock if matches!(AwsKey::read(key), Some(AwsKey::Access(_))) => None,
        ProviderKind::Bedrock => Some((AUTHORIZATION, "Bearer ")),
        ProviderKind::Azure => Some((HeaderName::from_static("api-key"), "")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{BaseUrl, ProviderOptions};

    fn address(
        kind: ProviderKind,
        base: &str,
        options: ProviderOptions,
        model: &str,
        call: &str,
    ) -> String {
        let base_url = BaseUrl::parse_of(kind, base).unwrap();
        let server = ServerSettings {
            kind,
            options,
            ..ServerSettings::alone(base_url, None)
        };
        url(&server, model, call).to_string()
    }

    #[test]
    fn each_kind_has_its_urls() {
        let none = ProviderOptions::default;
        let some = |text: &str| Some(text.to_owned());
        let chat = "chat/completions";
        for (kind, base, options, model, call, expected) in [
            (
                ProviderKind::Openai,
                "http://h:1",
                none(),
                "m",
                chat,
                "http://h:1/v1/chat/completions",
            ),
            (
                ProviderKind::OpenaiResponses,
                "https://api.openai.com",
                none(),
                "m",
                chat,
                "https://api.openai.com/v1/responses",
            ),
            (
                ProviderKind::Anthropic,
                "https://api.anthropic.com",
                none(),
                "m",
                chat,
                "https://api.anthropic.com/v1/messages",
            ),
            (
                ProviderKind::Anthropic,
                "https://p.example/claude/v1/messages",
                none(),
                "m",
                "models",
                "https://p.example/claude/v1/models?limit=1000",
            ),
            (
                ProviderKind::Gemini,
                "https://generativelanguage.googleapis.com",
                none(),
                "models/gemini-3-pro",
                chat,
                "https://generativelanguage.googleapis.com/v1beta/models/gemini-3-pro:streamGenerateContent?alt=sse",
            ),
            (
                ProviderKind::Vertex,
                "https://europe-west4-aiplatform.googleapis.com",
                ProviderOptions {
                    project: some("p"),
                    location: some("europe-west4"),
                    ..none()
                },
                "gemini-3-pro",
                chat,
                "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/gemini-3-pro:streamGenerateContent?alt=sse",
            ),
            (
                ProviderKind::Gemini,
                "https://p.example/v1beta?team=a",
                none(),
                "tunedModels/mine?",
                chat,
                "https://p.example/v1beta/tunedModels/mine%3F:streamGenerateContent?team=a&alt=sse",
            ),
            (
                ProviderKind::Bedrock,
                "https://bedrock-runtime.eu-central-1.amazonaws.com",
                none(),
                "eu.anthropic.claude-sonnet-4-5-20250929-v1:0",
                chat,
                "https://bedrock-runtime.eu-central-1.amazonaws.com/model/eu.anthropic.claude-sonnet-4-5-20250929-v1%3A0/converse-stream",
            ),
            (
                ProviderKind::Gemini,
                "https://generativelanguage.googleapis.com",
                none(),
                "gemini-embedding-001",
                "embeddings",
                "https://generativelanguage.googleapis.com/v1beta/models/gemini-embedding-001:batchEmbedContents",
            ),
            (
                ProviderKind::Vertex,
                "https://europe-west4-aiplatform.googleapis.com",
                ProviderOptions {
                    project: some("p"),
                    location: some("europe-west4"),
                    ..none()
                },
                "text-embedding-005",
                "embeddings",
                "https://europe-west4-aiplatform.googleapis.com/v1/projects/p/locations/europe-west4/publishers/google/models/text-embedding-005:predict",
            ),
            (
                ProviderKind::Bedrock,
                "https://bedrock-runtime.eu-central-1.amazonaws.com",
                none(),
                "amazon.titan-embed-text-v2:0",
                "embeddings",
                "https://bedrock-runtime.eu-central-1.amazonaws.com/model/amazon.titan-embed-text-v2%3A0/invoke",
            ),
            (
                ProviderKind::Azure,
                "https://r.openai.azure.com",
                none(),
                "gpt",
                chat,
                "https://r.openai.azure.com/openai/v1/chat/completions",
            ),
            (
                ProviderKind::Azure,
                "https://r.openai.azure.com",
                ProviderOptions {
                    api_version: some("2024-10-21"),
                    ..none()
                },
                "my gpt",
                chat,
                "https://r.openai.azure.com/openai/deployments/my%20gpt/chat/completions?api-version=2024-10-21",
            ),
        ] {
            assert_eq!(address(kind, base, options, model, call), expected);
        }
    }
}
