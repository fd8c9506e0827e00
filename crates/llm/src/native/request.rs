//! A request in the format of its provider, with variants for a server that refuses the first.

use bytes::Bytes;
use domain::{LeftOut, Message};
use provider::{ModelRequest, OptionalField, Parameters, Reasoning, openai::Tool};
use reqwest::header::HeaderMap;

use super::Format;
use crate::{ChatRequest, ToolMode};

/// One encoded request.
#[derive(Debug)]
pub(crate) struct NativeRequest {
    format: Format,
    body: Bytes,
    /// In addition to those of every request.
    headers: HeaderMap,
    /// The same without provider data, for a provider that refuses it: it was made for another account, or has expired.
    plain: Option<Bytes>,
}

impl NativeRequest {
    /// Encodes a request. Returns the parameters that are not sent.
    pub(crate) fn new(
        request: &ChatRequest<'_>,
        model: &str,
        format: Format,
    ) -> (Self, Vec<LeftOut>) {
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
        let messages = request.messages;
        let encoded = ModelRequest {
            model,
            messages,
            tools: &tools,
            parameters: &parameters,
            stream: true,
        };
        let (body, mut left_out) = format.encode_with_left_out(&encoded);
        if request.parameters.is_unset() {
            // Fields set by the caller directly are not reported.
            left_out.clear();
        }
        let has_data = messages.iter().any(|message| message.provenance.is_some());
        let plain = has_data.then(|| {
            let strip = |message: &Message| Message {
                provenance: None,
                ..message.clone()
            };
            let messages: Vec<Message> = messages.iter().map(strip).collect();
            format
                .encode(&ModelRequest {
                    messages: &messages,
                    ..encoded
                })
                .into()
        });
        (
            Self {
                format,
                body: body.into(),
                headers: format.headers(&encoded),
                plain,
            },
            left_out,
        )
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

    /// The JSON, for changes.
    pub(crate) fn body_mut(&mut self) -> &mut Bytes {
        &mut self.body
    }

    /// Removes a field.
    pub(crate) fn leave_out(&mut self, field: &OptionalField) {
        for body in std::iter::once(&mut self.body).chain(&mut self.plain) {
            if let Some(without) = field.removed_from(body) {
                *body = without.into();
            }
        }
    }

    /// Switches to the form without provider data, if there is one that was not tried.
    pub(crate) fn use_plain(&mut self) -> bool {
        match self.plain.take() {
            Some(plain) => {
                self.body = plain;
                true
            }
            None => false,
        }
    }
}

fn parameters(request: &ChatRequest<'_>) -> Parameters {
    let mut parameters = request
        .extra
        .map(Parameters::of_chat)
        .unwrap_or_default()
        .under(request.parameters);
    if request.without_thinking {
        parameters.reasoning = Some(Reasoning::Off);
    }
    if let Some(format) = request.answer_format {
        parameters.answer_format = Parameters::answer_format_of_chat(format);
    }
    parameters
}
