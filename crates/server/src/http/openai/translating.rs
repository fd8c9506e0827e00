//! Calls a model whose server uses another format than the client, and translates the answer to the client's format.

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
use tokio::time::sleep;
use tokio_util::sync::CancellationToken;
use wire::{
    gateway::{AnswerEncoder, CallIds, PlainRequest, Used},
    openai::text_bytes,
};

use super::{passing, requested_model::RequestedModel};
use crate::{
    app::App,
    error::ApiError,
    gateway::usage::{PaidCall, UsageEstimate},
    http::streams::{KEEP_ALIVE_AFTER, event_stream},
    identity::auth::Caller,
    platform::request_context,
};

/// Calls the requested model. `metadata` is the client's metadata of the request, for trusted servers; `encoder` makes
/// the answer's encoder for the provider, which [`llm::ChatModel::provider`] names.
///
/// # Errors
/// 404 for an unknown model, 429 if a limit is reached, or the error of the model's server.
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
    let expected = UsageEstimate {
        input_tokens,
        max_output_tokens: asked.passing.max_output_tokens,
        prices: model.prices,
    };
    let paid =
        PaidCall::begin(&app.usage, caller.principal(), model.model.name(), expected).await?;
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
    // The status is part of the headers, so wait for the first event.
    let first = next(&mut call)
        .await
        .map_err(|error| asked.failed(app, caller, error))?;
    let encoder = encoder(model.model.provider());
    let call_ids = CallIds::after(&request.messages);
    let mut answer = Answer {
        call,
        encoder,
        call_ids,
        paid: Some(paid),
        input_tokens,
        written_bytes: 0,
        ending: app.ending.clone(),
    };
    match request.stream {
        true => Ok(answer.stream(first)),
        false => answer.whole(first).await,
    }
}

/// The next event of the answer. Ignores [`News::TextWasReasoning`]: streamed text cannot be taken back.
async fn next(call: &mut ModelCall) -> Result<AnswerEvent, ModelError> {
    loop {
        if let News::Piece(event) = next_news(call).await? {
            return Ok(event);
        }
    }
}

enum News {
    Piece(AnswerEvent),
    /// The text so far was reasoning.
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

/// An answer that is being translated.
struct Answer {
    call: ModelCall,
    encoder: Box<dyn AnswerEncoder>,
    call_ids: CallIds,
    /// `None` once paid.
    paid: Option<PaidCall>,
    /// Estimated size of the request.
    input_tokens: u64,
    written_bytes: usize,
    /// Cancelled when the server is stopping and the time for answers is over.
    ending: CancellationToken,
}

impl Answer {
    /// Reads to the end and returns a single response.
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
        let event = tokio::select! {
            biased;
            event = next(&mut self.call) => event,
            () = sleep(KEEP_ALIVE_AFTER) => {
                return (Bytes::from_static(KEEP_ALIVE.as_bytes()), false);
            }
            () = self.ending.cancelled() => Err(passing::stopping()),
        };
        let mut frames = Vec::new();
        let is_over = match event {
            Ok(event) => {
                self.count(&event);
                self.take(event, &mut frames)
            }
            Err(error) => {
                tracing::warn!(%error, "translated answer was interrupted");
                self.encoder.fail(error.code, &error.message, &mut frames);
                true
            }
        };
        (written(&frames), is_over)
    }

    /// Encodes an event; returns whether it was the last.
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

    /// Counts the received bytes, for a usage estimate.
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
    /// A caller who disconnects pays for what was received until then.
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
