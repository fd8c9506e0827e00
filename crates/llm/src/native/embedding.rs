//! The request formats of embedding models, and the maximum number of texts per request.

use provider::{
    bedrock::{self, EmbeddingFamily},
    gemini,
    openai::embeddings::{self, BadEmbeddings, Embedded},
};

use crate::ProviderKind;

/// Maximum number of texts per request to Vertex AI, whose requests have at most 20,000 tokens.
const MAX_VERTEX_TEXTS: usize = 20;

/// A format of embedding models.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EmbeddingFormat {
    /// OpenAI's.
    OpenAi,
    /// The Gemini API's.
    Gemini,
    /// Vertex AI's `predict`.
    Vertex {
        /// Maximum number of texts per request.
        max_texts: usize,
    },
    /// The format of a model family on Bedrock.
    Bedrock(EmbeddingFamily),
}

impl EmbeddingFormat {
    /// The format of a model of this kind of server; `None` if the model has no embeddings.
    pub(crate) fn of(kind: ProviderKind, model: &str) -> Option<Self> {
        match kind {
            ProviderKind::Openai | ProviderKind::OpenaiResponses | ProviderKind::Azure => {
                Some(Self::OpenAi)
            }
            ProviderKind::Gemini => Some(Self::Gemini),
            // These take one text at a time there.
            ProviderKind::Vertex if model.contains("gemini-embedding") => {
                Some(Self::Vertex { max_texts: 1 })
            }
            ProviderKind::Vertex => Some(Self::Vertex {
                max_texts: MAX_VERTEX_TEXTS,
            }),
            ProviderKind::Bedrock => EmbeddingFamily::of(model).map(Self::Bedrock),
            ProviderKind::Anthropic => None,
        }
    }

    /// Maximum number of texts per request; longer lists are split.
    pub(crate) fn max_texts(self) -> usize {
        match self {
            Self::OpenAi => usize::MAX,
            Self::Gemini => gemini::BATCH_EMBED_LIMIT,
            Self::Vertex { max_texts } => max_texts,
            Self::Bedrock(family) => family.max_texts(),
        }
    }

    pub(crate) fn encode(self, model: &str, texts: &[String], dimensions: Option<u64>) -> String {
        match self {
            Self::OpenAi => embeddings::encode(model, texts, dimensions),
            Self::Gemini => gemini::encode_embed(model, texts, dimensions),
            Self::Vertex { .. } => gemini::encode_vertex_embed(texts, dimensions),
            Self::Bedrock(family) => family.encode(texts, dimensions),
        }
    }

    pub(crate) fn decode(self, body: &[u8], count: usize) -> Result<Embedded, BadEmbeddings> {
        match self {
            Self::OpenAi => embeddings::decode(body, count),
            Self::Gemini | Self::Vertex { .. } => gemini::decode_embeddings(body, count),
            Self::Bedrock(_) => bedrock::decode_embeddings(body, count),
        }
    }
}
