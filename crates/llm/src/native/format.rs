//! The native formats and their codecs.

use domain::{Capabilities, LeftOut, ListedModel, Parameter};
use provider::{
    AnswerDecoder, AnswerError, ModelRequest, OptionalField, anthropic, bedrock, gemini,
    openai::model_list, openai_responses, tool_schema::ToolFormat,
};
use reqwest::header::HeaderMap;

use crate::ProviderKind;

/// A format that has its own codec.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Messages,
    GenerateContent,
    Responses,
    Converse,
}

impl Format {
    /// The format of servers of this kind; `None` for Chat Completions.
    pub(crate) fn of(kind: ProviderKind) -> Option<Self> {
        match kind {
            ProviderKind::Openai | ProviderKind::Azure => None,
            ProviderKind::OpenaiResponses => Some(Self::Responses),
            ProviderKind::Anthropic => Some(Self::Messages),
            ProviderKind::Gemini | ProviderKind::Vertex => Some(Self::GenerateContent),
            ProviderKind::Bedrock => Some(Self::Converse),
        }
    }

    /// The owner of its opaque data: all providers of the format.
    pub(crate) fn provider(self) -> &'static str {
        match self {
            Self::Messages => anthropic::PROVIDER,
            Self::GenerateContent => gemini::PROVIDER,
            Self::Responses => openai_responses::PROVIDER,
            Self::Converse => bedrock::PROVIDER,
        }
    }

    /// The corresponding tool format.
    pub(crate) fn tool_format(self) -> ToolFormat {
        match self {
            Self::Messages => ToolFormat::Messages,
            Self::GenerateContent => ToolFormat::GenerateContent,
            Self::Responses => ToolFormat::Responses,
            Self::Converse => ToolFormat::Converse,
        }
    }

    pub(crate) fn encode(self, request: &ModelRequest<'_>) -> Vec<u8> {
        match self {
            Self::Messages => anthropic::encode(request),
            Self::GenerateContent => gemini::encode(request),
            Self::Responses => openai_responses::encode(request),
            Self::Converse => bedrock::encode(request),
        }
    }

    /// The encoded request, and the parameters that it leaves out.
    pub(crate) fn encode_with_left_out(
        self,
        request: &ModelRequest<'_>,
    ) -> (Vec<u8>, Vec<LeftOut>) {
        match self {
            Self::Messages => anthropic::encode_with_left_out(request),
            Self::GenerateContent => gemini::encode_with_left_out(request),
            Self::Responses => openai_responses::encode_with_left_out(request),
            Self::Converse => bedrock::encode_with_left_out(request),
        }
    }

    /// The parameters that a model of this name never accepts.
    pub(crate) fn unsupported(self, model: &str) -> Vec<Parameter> {
        match self {
            Self::Messages => anthropic::unsupported(model),
            Self::GenerateContent => gemini::unsupported(model),
            Self::Responses => openai_responses::unsupported(model),
            Self::Converse => bedrock::unsupported(model),
        }
    }

    /// Fields that can be removed from requests if a server refuses them.
    pub(crate) fn optional_fields(self) -> &'static [OptionalField] {
        match self {
            Self::Messages => anthropic::OPTIONAL_FIELDS,
            Self::GenerateContent => gemini::OPTIONAL_FIELDS,
            Self::Responses => openai_responses::OPTIONAL_FIELDS,
            Self::Converse => bedrock::OPTIONAL_FIELDS,
        }
    }

    /// Headers that a request needs in addition to those of its connection.
    pub(crate) fn headers(self, request: &ModelRequest<'_>) -> HeaderMap {
        let betas = match self {
            Self::Messages => anthropic::betas(request),
            Self::GenerateContent | Self::Responses | Self::Converse => Vec::new(),
        };
        let mut headers = HeaderMap::new();
        if let Ok(value) = betas.join(",").parse()
            && !betas.is_empty()
        {
            headers.insert(anthropic::BETA_HEADER, value);
        }
        headers
    }

    /// The error in an answer with this unsuccessful status.
    pub(crate) fn error(self, status: u16, headers: &HeaderMap, body: &str) -> AnswerError {
        match self {
            Self::Messages => anthropic::error(status, body),
            Self::GenerateContent => gemini::error(status, body),
            Self::Responses => openai_responses::error(status, body),
            Self::Converse => {
                let kind = headers
                    .get("x-amzn-errortype")
                    .and_then(|kind| kind.to_str().ok());
                bedrock::error(status, kind, body)
            }
        }
    }

    pub(crate) fn decoder(self) -> Box<dyn AnswerDecoder> {
        match self {
            Self::Messages => Box::new(anthropic::Decoder::default()),
            Self::GenerateContent => Box::new(gemini::Decoder::default()),
            Self::Responses => Box::new(openai_responses::ResponsesDecoder::default()),
            Self::Converse => Box::new(bedrock::Decoder::default()),
        }
    }

    /// Whether streams come in AWS's binary frames.
    pub(crate) fn is_framed(self) -> bool {
        self == Self::Converse
    }
}

/// The models in the list of a server of this kind; `None` if it is no list, or the kind uses OpenAI's.
pub(crate) fn listed(kind: ProviderKind, body: &str) -> Option<Vec<ListedModel>> {
    match kind {
        ProviderKind::Anthropic => {
            let page = anthropic::decode_models(body)?;
            // Gateways that speak Messages often list models in another format.
            let others = model_list::decode(body).unwrap_or_default();
            let better = |model: ListedModel| {
                let other = others
                    .iter()
                    .find(|other| other.id == model.id && model.context_tokens.is_none());
                other.cloned().unwrap_or(model)
            };
            Some(
                page.models
                    .into_iter()
                    .map(of_anthropic)
                    .map(better)
                    .collect(),
            )
        }
        ProviderKind::Gemini | ProviderKind::Vertex => {
            let page = gemini::models(body)?;
            let is_of_use = |model: &gemini::ListedModel| {
                model.generates != Some(false) || model.embeds == Some(true)
            };
            Some(
                page.models
                    .into_iter()
                    .filter(is_of_use)
                    .map(of_gemini)
                    .collect(),
            )
        }
        ProviderKind::Bedrock => Some(
            bedrock::decode_models(body)?
                .into_iter()
                .map(of_bedrock)
                .collect(),
        ),
        ProviderKind::Openai | ProviderKind::OpenaiResponses | ProviderKind::Azure => None,
    }
}

fn of_anthropic(model: anthropic::ListedModel) -> ListedModel {
    ListedModel {
        display_name: model.display_name,
        context_tokens: model.context_window,
        max_output_tokens: model.max_output_tokens,
        abilities: Capabilities {
            chat: Some(true),
            vision: model.images,
            pdf: model.documents,
            tools: Some(true),
            structured_output: model.structured_output,
            reasoning: model.reasoning,
            ..Capabilities::default()
        },
        ..ListedModel::named(&model.id)
    }
}

fn of_gemini(model: gemini::ListedModel) -> ListedModel {
    ListedModel {
        display_name: model.display_name,
        context_tokens: model.context_window,
        max_output_tokens: model.max_output_tokens,
        abilities: Capabilities {
            chat: model.generates,
            reasoning: model.reasons,
            ..Capabilities::default()
        },
        ..ListedModel::named(&model.name)
    }
}

fn of_bedrock(model: bedrock::ListedModel) -> ListedModel {
    ListedModel {
        display_name: model.display_name,
        abilities: Capabilities {
            vision: model.images,
            ..Capabilities::default()
        },
        ..ListedModel::named(&model.id)
    }
}
