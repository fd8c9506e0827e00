//! Exports the traces of finished runs to a collector, as OTLP over HTTP with JSON. In the background: a run only
//! leaves its id, and if the collector is down, traces are dropped and counted.

use std::{sync::Arc, time::Duration};

use axum::http::{HeaderMap, StatusCode, header};
use domain::RunId;
use llm::HttpClient;
use tokio::sync::broadcast::{
    Receiver,
    error::{RecvError, TryRecvError},
};
use tokio_util::sync::CancellationToken;
use wire::otlp::{Content, Span, request, spans_of};

use crate::{
    platform::{config::Tracing, metrics::Metrics},
    runtime::conversation::Conversations,
};

/// Maximum number of spans per request.
const BATCH_SPANS: usize = 512;
/// Timeout of a request.
const PATIENCE: Duration = Duration::from_secs(10);
/// Pauses before retries.
const PAUSES: [Duration; 3] = [
    Duration::from_millis(500),
    Duration::from_secs(2),
    Duration::from_secs(5),
];

/// Exports runs as they end, until the server stops and the queue is empty.
pub(crate) async fn export(
    conversations: Arc<Conversations>,
    metrics: Arc<Metrics>,
    http: HttpClient,
    tracing: Tracing,
    mut ended: Receiver<RunId>,
    stopping: CancellationToken,
) {
    while let Some(run) = next(&metrics, &stopping, &mut ended).await {
        let sent = export_run(&conversations, &http, &tracing, run, &stopping).await;
        match sent {
            Ok(true) => metrics.note_trace(true),
            Ok(false) => {}
            Err(problem) => {
                metrics.note_trace(false);
                tracing::warn!(%run, problem, "failed to export a trace");
            }
        }
    }
}

/// The next run that has ended; while the server is stopping, only runs that have ended already. Missed runs are
/// counted.
async fn next(
    metrics: &Metrics,
    stopping: &CancellationToken,
    ended: &mut Receiver<RunId>,
) -> Option<RunId> {
    loop {
        let missed = tokio::select! {
            run = ended.recv() => match run {
                Ok(run) => return Some(run),
                Err(RecvError::Closed) => return None,
                Err(RecvError::Lagged(missed)) => missed,
            },
            () = stopping.cancelled() => match ended.try_recv() {
                Ok(run) => return Some(run),
                Err(TryRecvError::Empty | TryRecvError::Closed) => return None,
                Err(TryRecvError::Lagged(missed)) => missed,
            },
        };
        (0..missed).for_each(|_| metrics.note_trace(false));
    }
}

/// Returns whether the trace had to be sent.
async fn export_run(
    conversations: &Conversations,
    http: &HttpClient,
    tracing: &Tracing,
    run: RunId,
    stopping: &CancellationToken,
) -> Result<bool, String> {
    let origin = conversations
        .store
        .run(run)
        .await
        .map_err(|error| error.to_string())?
        .origin
        .unwrap_or_default();
    // The caller that started the trace does not sample it.
    if origin
        .parent
        .as_ref()
        .is_some_and(|parent| !parent.is_sampled())
    {
        return Ok(false);
    }
    let log = conversations
        .log_of(run)
        .await
        .map_err(|error| error.problem().message.clone())?;
    let content = if tracing.content {
        Content::With
    } else {
        Content::Without
    };
    for spans in spans_of(&log, &origin, content).chunks(BATCH_SPANS) {
        send(http, tracing, spans, stopping).await?;
    }
    Ok(true)
}

/// Sends one request, and retries if the collector is temporarily unavailable.
async fn send(
    http: &HttpClient,
    tracing: &Tracing,
    spans: &[Span],
    stopping: &CancellationToken,
) -> Result<(), String> {
    let body = request(&tracing.service_name, env!("CARGO_PKG_VERSION"), spans).to_string();
    let client = http
        .for_url(&tracing.endpoint)
        .map_err(|error| error.to_string())?;
    let mut pauses = PAUSES.iter();
    loop {
        let mut headers: HeaderMap = tracing.headers.clone();
        headers.insert(
            header::CONTENT_TYPE,
            header::HeaderValue::from_static("application/json"),
        );
        let answer = client
            .post(tracing.endpoint.clone())
            .headers(headers)
            .timeout(PATIENCE);
        let problem = match answer.body(body.clone()).send().await {
            Ok(answer) if answer.status().is_success() => return Ok(()),
            Ok(answer) if !may_pass(answer.status()) => {
                return Err(format!("the collector answered {}", answer.status()));
            }
            Ok(answer) => format!("the collector answered {}", answer.status()),
            Err(error) => error.without_url().to_string(),
        };
        // Shutdown does not wait for the collector.
        let Some(pause) = pauses.next().filter(|_| !stopping.is_cancelled()) else {
            return Err(problem);
        };
        tokio::select! {
            () = stopping.cancelled() => {}
            () = tokio::time::sleep(*pause) => {}
        }
    }
}

fn may_pass(status: StatusCode) -> bool {
    matches!(status.as_u16(), 429 | 502 | 503 | 504)
}
