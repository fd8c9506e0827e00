//! The formats and their codecs.

use wire::provider::{AnswerDecoder, AnswerError, ModelRequest, anthropic, gemini, openai_responses};

use crate::ProviderKind;

/// A format that has a codec of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Messages,
    GenerateContent,
    Responses,
}

impl Format {
    /// The format that servers of this kind speak; nothing where it is Chat Completions.
    pub(crate) fn of(kind: ProviderKind) -> Option<Self> {
        match kind {
            ProviderKind::Openai | ProviderKind::Azure => None,
            ProviderKind::OpenaiResponses => Some(Self::Responses),
            ProviderKind::Anthropic => Some(Self::Messages),
            ProviderKind::Gemini | ProviderKind::Vertex => Some(Self::GenerateContent),
            ProviderKind::Bedrock => None,
        }
    }

    /// Who can take back what it gives: all providers of the format.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::Messages => "anthropic",
            Self::GenerateContent => "gemini",
            Self::Responses => "openai_responses",
        }
    }

    pub(crate) fn encode(self, request: &ModelRequest<'_>) -> Vec<u8> {
        match self {
            Self::Messages => anthropic::encode(request),
            Self::GenerateContent => gemini::encode(request),
            Self::Responses => openai_responses::encode(request),
        }
    }

    /// What an answer with this status, which is none of success, says is wrong.
    pub(crate) fn error(self, status: u16, body: &str) -> AnswerError {
        match self {
            Self::Messages => anthropic::error(status, body),
            Self::GenerateContent => gemini::error(status, body),
            Self::Responses => openai_responses::error(status, body),
        }
    }

    pub(crate) fn decoder(self) -> Box<dyn AnswerDecoder> {
        match self {
            Self::Messages => Box::new(anthropic::Decoder::default()),
            Self::GenerateContent => Box::new(gemini::Decoder::default()),
            Self::Responses => Box::new(openai_responses::ResponsesDecoder::default()),
        }
    }
}
