//! Codec for Google's `generateContent` and `streamGenerateContent`, of the Gemini API and Vertex AI.

mod answer;
mod content;
mod embedding;
mod error;
mod generation;
mod media;
mod model_list;
mod names;
mod partial_args;
mod request;
mod usage;

pub use crate::tool_schema::subset::lower as lower_schema;
pub use answer::Decoder;
pub use embedding::{BATCH_EMBED_LIMIT, decode_embeddings, encode_embed, encode_vertex_embed};
pub use error::error;
pub use model_list::{ListedModel, ModelPage, models};
pub use request::{encode, encode_with_left_out, unsupported};

use domain::Parameter;

use super::{OptionalField, url_path::segments};

/// The owner of a message's blocks, see [`domain::Message::blocks`].
pub const PROVIDER: &str = "gemini";

/// Fields that requests can do without.
pub const OPTIONAL_FIELDS: &[OptionalField] = &[
    OptionalField::new(
        &["generationConfig", "temperature"],
        &["temperature"],
        Some(Parameter::Temperature),
    ),
    OptionalField::new(
        &["generationConfig", "topP"],
        &["topP", "top_p"],
        Some(Parameter::TopP),
    ),
    OptionalField::new(
        &["generationConfig", "stopSequences"],
        &["stopSequences", "stop_sequences"],
        Some(Parameter::Stop),
    ),
    OptionalField::new(
        &["generationConfig", "seed"],
        &["seed"],
        Some(Parameter::Seed),
    ),
    OptionalField::new(
        &["generationConfig", "thinkingConfig"],
        &[
            "thinking",
            "thinkingConfig",
            "thinking_config",
            "thinking_budget",
            "thinking_level",
            "budget",
        ],
        Some(Parameter::ReasoningEffort),
    ),
];

/// The header for a key of the Gemini API, or of Vertex AI in express mode.
pub const KEY_HEADER: &str = "x-goog-api-key";

/// The base URL of the Gemini API, for the paths of this module.
pub const BASE_URL: &str = "https://generativelanguage.googleapis.com/v1beta";

/// The path of the model list, with the largest page.
pub const MODELS_PATH: &str = "models?pageSize=1000";

/// The path of Vertex AI's list of Google's models. It is below the version, not below a project.
pub const VERTEX_MODELS_PATH: &str = "publishers/google/models?pageSize=1000";

/// The method of a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// A streamed answer.
    Stream,
    /// Embeddings of several texts; the Gemini API.
    BatchEmbed,
    /// Embeddings of texts; Vertex AI.
    Predict,
}

impl Method {
    fn suffix(self) -> &'static str {
        match self {
            Self::Stream => "streamGenerateContent?alt=sse",
            Self::BatchEmbed => "batchEmbedContents",
            Self::Predict => "predict",
        }
    }
}

/// The path and query below the base URL of the Gemini API. Qualified names, such as `tunedModels/x`, stay unchanged.
#[must_use]
pub fn path(model: &str, method: Method) -> String {
    let kind = if model.contains('/') { "" } else { "models/" };
    format!("{kind}{}:{}", segments(model), method.suffix())
}

/// The path and query below Vertex AI's base URL. `project` is an id or number, `location` a region or `global`.
#[must_use]
pub fn vertex_path(project: &str, location: &str, model: &str, method: Method) -> String {
    let place = format!("projects/{project}/locations/{location}");
    let method = method.suffix();
    let name = segments(model.strip_prefix("models/").unwrap_or(model));
    match name.split_once('/') {
        Some(("projects", _)) => format!("{name}:{method}"),
        // An endpoint is a model that the project serves itself.
        Some(("endpoints" | "publishers", _)) => format!("{place}/{name}:{method}"),
        _ => format!("{place}/publishers/google/models/{name}:{method}"),
    }
}

/// The base URL of Vertex AI for a location, for the paths of this module.
#[must_use]
pub fn vertex_base_url(location: &str) -> String {
    match location {
        "global" => "https://aiplatform.googleapis.com/v1".to_owned(),
        // Multi-region locations have separate hosts.
        "us" | "eu" => format!("https://aiplatform.{location}.rep.googleapis.com/v1"),
        region => format!("https://{region}-aiplatform.googleapis.com/v1"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_those_of_the_recordings() {
        let stream = |name: &str| format!("{name}:streamGenerateContent?alt=sse");
        for (model, at) in [
            ("gemini-2.5-flash", "models/gemini-2.5-flash"),
            ("models/gemini-3-pro-preview", "models/gemini-3-pro-preview"),
            ("tunedModels/mine", "tunedModels/mine"),
        ] {
            assert_eq!(path(model, Method::Stream), stream(at));
        }
        assert_eq!(
            path("text-embedding-004", Method::BatchEmbed),
            "models/text-embedding-004:batchEmbedContents"
        );
        let usual = "projects/p-1/locations/global/publishers/google/models/gemini-2.0-flash";
        let whole = "projects/q/locations/us-east1/endpoints/7";
        for (model, at) in [
            ("gemini-2.0-flash", usual),
            ("models/gemini-2.0-flash", usual),
            ("publishers/google/models/gemini-2.0-flash", usual),
            ("endpoints/7", "projects/p-1/locations/global/endpoints/7"),
            (whole, whole),
        ] {
            assert_eq!(
                vertex_path("p-1", "global", model, Method::Stream),
                stream(at)
            );
        }
    }

    #[test]
    fn vertex_has_a_host_for_each_location() {
        assert_eq!(
            vertex_base_url("europe-west4"),
            "https://europe-west4-aiplatform.googleapis.com/v1"
        );
        assert_eq!(
            vertex_base_url("global"),
            "https://aiplatform.googleapis.com/v1"
        );
        assert_eq!(
            vertex_base_url("eu"),
            "https://aiplatform.eu.rep.googleapis.com/v1"
        );
    }
}
