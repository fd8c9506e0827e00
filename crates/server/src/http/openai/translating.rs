//! Asks a model for a program that speaks another format than the model's server does, and writes its answer in the
//! program's own.

use std::{io, sync::Arc};

use axum::{
    body::Body,
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{ModelParameters, ProblemCode, Usage};
use futures_util::stream;
use llm::{ChatRequest, FinishReason, ModelCall, ModelError, ModelEvent, ToolMode, ToolSpec};
use provider::{AnswerEvent, StopReason};
use serde_json::{Map, Value};
use sse::{Frame, KEEP_ALIVE};
use tokio::time::timeout;
use wire::{
    gateway::{AnswerEncoder, CallIds, PlainRequest, Used},
    openai::text_bytes,
};

use super::requested_model::RequestedModel;
use crate::{
    app::App,
    error::ApiError,
    gateway::usage::{PaidCall, UsageEstimate},
    http::streams::{KEEP_ALIVE_AFTER, event_stream},
    identity::auth::Caller,
    platform::request_context,
};

/// Asks the model that is meant. `metadata` is what the program says of the request, for servers that are trusted; `encoder`
/// makes the encoder of the answer for the provider that it comes from, which [`llm::ChatModel::provider`] names.
///
/// # Errors
/// 404 for a model that is not there, 429 where a limit is reached, and what the model's server says is wrong.
pub(in crate::http) async fn ask(
    app: &Arc<App>,
    caller: &Caller,
    asked: &RequestedModel<'_>,
    body: &[u8],
    request: PlainRequest,
    metadata: Map<String, Value>,
    encoder: impl FnOnce(&str) -> Box<dyn AnswerEncoder>,
) -> Result<Response, ApiError> {
    let model = app
        .models
        .resolve(Some(&asked.id), &app.gateway.permit_of(caller));
    let model = model.map_err(|error| error.with_field(Some("model")))?;
    let input_tokens = text_bytes(body) / 4;
    let wish = UsageEstimate {
        input_tokens,
        max_output_tokens: asked.passing.max_output_tokens,
        prices: model.prices,
    };
    let paid = PaidCall::begin(&app.usage, caller.principal(), model.model.name(), wish).await?;
    let about = app
        .gateway
        .caller_info(&model.authority, None, metadata)
        .await?;
    let tools: Vec<ToolSpec> = request
        .tools
        .into_iter()
        .map(|tool| ToolSpec {
            name: tool.name,
            description: tool.description,
            parameters: tool.parameters.into(),
        })
        .collect();
    let mut call = model.model.call(&ChatRequest {
        messages: &request.messages,
        tools: &tools,
        tool_mode: ToolMode::Native,
        tool_prompt: None,
        parameters: ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: Some(&request.fields),
        trace: Some(&request_context::passed_on()),
        caller: about.as_ref(),
    });
    // The head of a response says how it went, so something of the answer has to be there first.
    let first = next(&mut call)
        .await
        .map_err(|error| asked.failed(app, caller, error))?;
    let (encoder, call_ids) = (
        encoder(model.model.provider()),
        CallIds::after(&request.messages),
    );
    let mut answer = Answer {
        call,
        encoder,
        call_ids,
        paid: Some(paid),
        input_tokens,
        written_bytes: 0,
    };
    match request.stream {
        true => Ok(answer.stream(first)),
        false => answer.whole(first).await,
    }
}

/// The next piece of the answer. What is streamed cannot be taken back.
async fn next(call: &mut ModelCall) -> Result<AnswerEvent, ModelError> {
    loop {
        if let News::Piece(event) = next_news(call).await? {
            return Ok(event);
        }
    }
}

enum News {
    Piece(AnswerEvent),
    /// The text so far turns out to be reasoning.
    TextWasReasoning,
}

async fn next_news(call: &mut ModelCall) -> Result<News, ModelError> {
    loop {
        let event = call.next().await.unwrap_or_else(|| {
            Err(ModelError::new(
                ProblemCode::ModelProtocol,
                agent::messages::Runs::AnswerWithoutEnd,
            ))
        });
        return Ok(News::Piece(match event? {
            ModelEvent::TextDelta(delta) => AnswerEvent::Text(delta),
            ModelEvent::ReasoningDelta(delta) => AnswerEvent::Reasoning(delta),
            ModelEvent::ToolCallStarted { index, id, name } => {
                AnswerEvent::CallStarted { index, id, name }
            }
            ModelEvent::ToolArgumentsDelta { index, delta } => {
                AnswerEvent::Arguments { index, delta }
            }
            ModelEvent::ProviderData { part, data } => AnswerEvent::Data { part, data },
            ModelEvent::ServerTool(news) => AnswerEvent::ServerTool(news),
            ModelEvent::Citations(citations) => AnswerEvent::Citations(citations),
            ModelEvent::Finished { reason, usage } => AnswerEvent::Finished {
                reason: stop_reason(reason),
                usage,
            },
            ModelEvent::TextWasReasoning => return Ok(News::TextWasReasoning),
            ModelEvent::Retrying { .. }
            | ModelEvent::FailedOver { .. }
            | ModelEvent::ToolsRefused { .. }
            | ModelEvent::ParameterLeftOut(_)
            | ModelEvent::Status { .. } => continue,
        }));
    }
}

fn take_for_reasoning(event: &mut AnswerEvent) {
    if let AnswerEvent::Text(text) = event {
        *event = AnswerEvent::Reasoning(std::mem::take(text));
    }
}

fn stop_reason(reason: FinishReason) -> StopReason {
    match reason {
        FinishReason::Stop | FinishReason::CallsNothing => StopReason::Stop,
        FinishReason::ToolCalls => StopReason::ToolCalls,
        FinishReason::Length => StopReason::Length,
        FinishReason::ContentFilter => StopReason::Refused,
        FinishReason::Paused => StopReason::Paused,
    }
}

/// An answer on its way through.
struct Answer {
    call: ModelCall,
    encoder: Box<dyn AnswerEncoder>,
    call_ids: CallIds,
    /// Nothing once it is paid.
    paid: Option<PaidCall>,
    /// What was sent, by rule of thumb.
    input_tokens: u64,
    written_bytes: usize,
}

impl Answer {
    /// Reads on to the end and gives all of it.
    async fn whole(&mut self, first: AnswerEvent) -> Result<Response, ApiError> {
        self.count(&first);
        let mut events = vec![first];
        while !matches!(events.last(), Some(AnswerEvent::Finished { .. })) {
            match next_news(&mut self.call).await? {
                News::Piece(event) => {
                    self.count(&event);
                    events.push(event);
                }
                News::TextWasReasoning => events.iter_mut().for_each(take_for_reasoning),
            }
        }
        let mut unsent = Vec::new();
        for event in events {
            self.take(event, &mut unsent);
            unsent.clear();
        }
        Ok(axum::Json(self.encoder.whole()).into_response())
    }

    fn stream(mut self, first: AnswerEvent) -> Response {
        let mut frames = Vec::new();
        self.encoder.begin(&mut frames);
        self.count(&first);
        let is_over = self.take(first, &mut frames);
        let begin = written(&frames);
        let rest = (!is_over).then_some(self);
        let body = stream::unfold(Some((Some(begin), rest)), |state| async move {
            match state? {
                (Some(begin), rest) => Some((Ok::<_, io::Error>(begin), Some((None, rest)))),
                (None, rest) => {
                    let mut answer = rest?;
                    let (bytes, is_over) = answer.next_bytes().await;
                    Some((Ok(bytes), Some((None, (!is_over).then_some(answer)))))
                }
            }
        });
        event_stream(Body::from_stream(body))
    }

    /// The next bytes of a stream, and whether they are the last.
    async fn next_bytes(&mut self) -> (Bytes, bool) {
        let Ok(event) = timeout(KEEP_ALIVE_AFTER, next(&mut self.call)).await else {
            return (Bytes::from_static(KEEP_ALIVE.as_bytes()), false);
        };
        let mut frames = Vec::new();
        let is_over = match event {
            Ok(event) => {
                self.count(&event);
                self.take(event, &mut frames)
            }
            Err(error) => {
                tracing::warn!(%error, "a translated answer broke off");
                self.encoder.fail(error.code, &error.message, &mut frames);
                true
            }
        };
        (written(&frames), is_over)
    }

    /// Writes a piece; says whether it was the last.
    fn take(&mut self, event: AnswerEvent, frames: &mut Vec<Frame>) -> bool {
        match event {
            AnswerEvent::Finished { reason, usage } => {
                let usage = usage.unwrap_or_else(|| self.estimate());
                let cost_micro_usd = self.paid.take().and_then(|paid| paid.end(usage));
                self.encoder.finish(
                    reason,
                    Used {
                        usage,
                        cost_micro_usd,
                    },
                    frames,
                );
                true
            }
            AnswerEvent::CallStarted { index, id, name } => {
                let id = self.call_ids.unique(id);
                self.encoder
                    .push(AnswerEvent::CallStarted { index, id, name }, frames);
                false
            }
            event => {
                self.encoder.push(event, frames);
                false
            }
        }
    }

    /// Counts what has come, for an estimate.
    fn count(&mut self, event: &AnswerEvent) {
        self.written_bytes += match event {
            AnswerEvent::Text(delta)
            | AnswerEvent::Reasoning(delta)
            | AnswerEvent::Arguments { delta, .. } => delta.len(),
            _ => 0,
        };
    }

    fn estimate(&self) -> Usage {
        Usage::estimate(self.input_tokens, (self.written_bytes / 4) as u64)
    }
}

impl Drop for Answer {
    /// Whoever leaves in the middle pays for what came until then.
    fn drop(&mut self) {
        if let Some(paid) = self.paid.take() {
            paid.end(self.estimate());
        }
    }
}

fn written(frames: &[Frame]) -> Bytes {
    let mut out = Vec::new();
    for frame in frames {
        frame.write(&mut out);
    }
    out.into()
}
