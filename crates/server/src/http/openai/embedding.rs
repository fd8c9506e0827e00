//! Embeddings of models whose server does not use OpenAI's format.

use std::sync::Arc;

use axum::{
    http::HeaderMap,
    response::{IntoResponse, Response},
};
use domain::Usage;
use wire::openai::embeddings::{EmbeddingRequest, encode_answer};

use super::{invalid, passing, requested_model::RequestedModel};
use crate::{
    app::App,
    error::ApiError,
    gateway::{
        models::ModelServer,
        usage::{PaidCall, UsageEstimate},
    },
    identity::auth::Caller,
};

/// Answers a request in OpenAI's format.
///
/// # Errors
/// 400 for a model without embeddings, 429 if a limit is reached, or the error of the model's server.
pub(super) async fn answer(
    app: &Arc<App>,
    caller: &Caller,
    headers: &HeaderMap,
    ModelServer {
        upstream,
        trusted,
        prices,
    }: ModelServer,
    body: &[u8],
    asked: &RequestedModel<'_>,
) -> Result<Response, ApiError> {
    if !upstream.embeds() {
        let model = asked.id.clone();
        let kind = upstream.kind().name().to_owned();
        return Err(
            ApiError::invalid(llm::messages::Models::NoEmbeddings { model, kind })
                .with_field(Some("model")),
        );
    }
    let EmbeddingRequest {
        texts,
        dimensions,
        base64,
    } = EmbeddingRequest::decode(body).map_err(invalid)?;
    let input_tokens = texts.iter().map(|text| text.len() as u64).sum::<u64>() / 4;
    let expected = UsageEstimate {
        input_tokens,
        max_output_tokens: Some(0),
        prices,
    };
    let paid = PaidCall::begin(&app.usage, caller.principal(), upstream.model(), expected).await?;
    let forward_context = passing::forward_context(caller, headers, trusted);
    let embedded = upstream
        .embed(
            &forward_context,
            &texts,
            dimensions,
            passing::WHOLE_ANSWER_TIMEOUT,
        )
        .await;
    let embedded = embedded.map_err(|no| asked.failed(app, caller, no.into_error()))?;
    let usage = match embedded.input_tokens {
        Some(counted) => Usage::of(counted, 0),
        None => Usage::estimate(input_tokens, 0),
    };
    let cost = paid.end(usage);
    let answer = encode_answer(&asked.passing.model, &embedded.vectors, base64, usage, cost);
    Ok(axum::Json(answer).into_response())
}
