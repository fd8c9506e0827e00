//! A request in the format of its provider, and other forms of it for a server that refuses the first.

use bytes::Bytes;
use domain::Message;
use reqwest::header::HeaderMap;
use wire::{
    openai::Tool,
    provider::{ModelRequest, Parameters, Reasoning, openai_responses::without_refused_parameter},
};

use super::Format;
use crate::{ChatRequest, ToolMode, openai::fault::Refusal};

/// One request, encoded.
#[derive(Debug)]
pub(crate) struct NativeAsk {
    format: Format,
    body: Bytes,
    /// Beside those of every request.
    headers: HeaderMap,
    /// The same without what providers wanted back, for one that refuses it: it was made for another account, or has expired.
    plain: Option<Bytes>,
}

impl NativeAsk {
    pub(crate) fn new(request: &ChatRequest<'_>, model: &str, format: Format) -> Self {
        let tools: Vec<Tool<'_>> = match request.tool_mode {
            ToolMode::Off => Vec::new(),
            ToolMode::Native | ToolMode::Schema | ToolMode::Prompt => request
                .tools
                .iter()
                .map(|tool| Tool {
                    name: &tool.name,
                    description: &tool.description,
                    parameters: &tool.parameters,
                })
                .collect(),
        };
        let parameters = parameters(request);
        let encode = |messages: &[Message]| {
            let request =
                ModelRequest { model, messages, tools: &tools, parameters: &parameters, stream: true };
            Bytes::from(format.encode(&request))
        };
        let has_data = request.messages.iter().any(|message| message.provenance.is_some());
        let plain = has_data.then(|| {
            let strip = |message: &Message| Message { provenance: None, ..message.clone() };
            encode(&request.messages.iter().map(strip).collect::<Vec<_>>())
        });
        let body = encode(request.messages);
        let (messages, parameters) = (request.messages, &parameters);
        let headers =
            format.headers(&ModelRequest { model, messages, tools: &tools, parameters, stream: true });
        Self { format, body, headers, plain }
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn headers(&self) -> &HeaderMap {
        &self.headers
    }

    pub(crate) fn body(&self) -> Bytes {
        self.body.clone()
    }

    /// The JSON, to be changed.
    pub(crate) fn body_mut(&mut self) -> &mut Bytes {
        &mut self.body
    }

    /// Turns to another form after a refusal, if there is one that was not tried. Says what is left out now, where that
    /// is a parameter.
    pub(crate) fn use_other_form(&mut self, refusal: Option<&Refusal>) -> Option<Option<&'static str>> {
        if self.format == Format::Responses
            && let Some(Refusal { status, body, .. }) = refusal
            && let Some(without) = without_refused_parameter(&self.body, *status, body)
        {
            self.body = without.body.into();
            return Some(Some(without.parameter));
        }
        self.body = self.plain.take()?;
        Some(None)
    }
}

fn parameters(request: &ChatRequest<'_>) -> Parameters {
    let mut parameters = request.extra.map(Parameters::of_chat).unwrap_or_default();
    parameters.temperature = request.temperature.map(f64::from).or(parameters.temperature);
    parameters.max_output_tokens = request.max_output_tokens.or(parameters.max_output_tokens);
    if request.without_thinking {
        parameters.reasoning = Some(Reasoning::Off);
    }
    if let Some(format) = request.answer_format {
        parameters.answer_format = Parameters::answer_format_of_chat(format);
    }
    parameters
}
