//! One model call: sends the request, retries and fails over, and reads the answer on demand.

use std::{pin::Pin, sync::Arc, time::Duration};

use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use reqwest::{
    Method, Response,
    header::{self, HeaderMap, HeaderValue},
};
use tokio::{
    task::yield_now,
    time::{Instant, sleep_until, timeout},
};

use super::{
    INCLUDE_STATUS, ModelEndpoint, OpenAiSettings, Target,
    encoded_request::{AnswerReader, EncodedRequest},
    fault::{self, Fault, Retry},
    inflate::{self, Inflate},
    pool::Attempts,
    read_pacer::ReadPacer,
    retry,
};
use crate::{CallerInfo, IdleTimer, ModelError, ModelEvent};

/// How much of an error page is read.
const ERROR_BODY_LIMIT_BYTES: usize = 64 << 10;

/// How long to wait for a finished answer to end, so that its connection can be reused.
const DRAIN_TIME: Duration = Duration::from_millis(20);

/// How long to wait for token counts and the end of the stream after the model has finished.
const WAIT_AFTER_FINISH: Duration = Duration::from_secs(5);

type Opening = Pin<Box<dyn Future<Output = Result<Response, Fault>> + Send>>;

/// A call of an OpenAI-compatible server.
pub(crate) struct OpenAiCall {
    endpoint: Arc<ModelEndpoint>,
    /// The target of the current attempt; `None` before the first.
    target: Option<Arc<Target>>,
    /// The targets that have failed since the last wait.
    attempts: Attempts,
    ask: EncodedRequest,
    /// In addition to those of every call.
    headers: HeaderMap,
    /// The caller, disclosed to trusted servers only.
    caller: Option<Arc<CallerInfo>>,
    stage: Stage,
    failed_attempts: u32,
    /// Expires when the server has been silent for too long.
    silence: IdleTimer,
    /// The failure to handle once the events before it are emitted.
    fault: Option<Fault>,
}

enum Stage {
    /// The request is to be sent at this time.
    Waiting(Instant),
    /// The request was sent.
    Opening(Opening),
    /// The answer is being read.
    Reading(Box<Reading>),
}

struct Reading {
    response: Response,
    /// Set if the server compresses the answer.
    inflate: Option<Inflate>,
    answer: AnswerReader,
    gather: ReadPacer,
}

impl OpenAiCall {
    pub(super) fn new(
        endpoint: Arc<ModelEndpoint>,
        ask: EncodedRequest,
        headers: HeaderMap,
        caller: Option<Arc<CallerInfo>>,
    ) -> Self {
        let now = Instant::now();
        Self {
            endpoint,
            target: None,
            attempts: Attempts::default(),
            ask,
            headers,
            caller,
            stage: Stage::Waiting(now),
            failed_attempts: 0,
            silence: IdleTimer::new(now),
            fault: None,
        }
    }

    /// Asks the server to report its activity.
    pub(crate) fn request_status(&mut self) {
        self.headers
            .insert(INCLUDE_STATUS, HeaderValue::from_static("true"));
    }

    /// The next event. Cancel-safe: all progress is in `self`.
    pub(crate) async fn next(&mut self) -> Result<ModelEvent, ModelError> {
        loop {
            if let Stage::Reading(reading) = &mut self.stage
                && let Some(event) = reading.answer.pop()
            {
                return Ok(event);
            }
            if let Some(left_out) = self.ask.next_left_out() {
                return Ok(ModelEvent::ParameterLeftOut(left_out));
            }
            if let Some(fault) = self.fault.take()
                && let Some(event) = self.retry_after_fault(fault)?
            {
                return Ok(event);
            }
            if let Err(fault) = self.advance().await {
                if let Stage::Reading(reading) = &mut self.stage {
                    reading.answer.break_off();
                }
                self.fault = Some(fault);
            }
        }
    }

    async fn advance(&mut self) -> Result<(), Fault> {
        let settings = &self.endpoint.settings;
        match &mut self.stage {
            Stage::Waiting(until) => {
                // Even an expired sleep takes until the timer's next tick, a millisecond or two.
                if *until > Instant::now() {
                    sleep_until(*until).await;
                }
                let target = match &self.target {
                    Some(target) => Arc::clone(target),
                    None => Arc::new(self.endpoint.first()?),
                };
                self.target = Some(Arc::clone(&target));
                self.silence
                    .set(Instant::now() + settings.first_token_timeout);
                let mut headers = self.headers.clone();
                let mut body = self.ask.body(&target);
                headers.extend(self.ask.headers().cloned().unwrap_or_default());
                if let Some(caller) = target.may_know(self.caller.as_deref()) {
                    headers.extend(caller.headers().clone());
                    body = caller.body_for(body, target.server.settings.kind);
                }
                self.stage = Stage::Opening(Box::pin(open(target, headers, body)));
                Ok(())
            }
            Stage::Opening(opening) => {
                let response = tokio::select! {
                    opened = opening => opened?,
                    () = self.silence.expired() => {
                        return Err(Fault::no_first_token(settings.first_token_timeout));
                    }
                };
                let Some(target) = &self.target else {
                    return Err(Fault::truncated());
                };
                self.ask.was_accepted(target, &settings.pool);
                let inflate = Inflate::of(response.headers(), target)?;
                let answer = self.ask.answer(&settings.pool);
                let reading = Reading {
                    response,
                    inflate,
                    answer,
                    gather: ReadPacer::new(),
                };
                self.stage = Stage::Reading(Box::new(reading));
                Ok(())
            }
            Stage::Reading(reading) => {
                let Some(target) = &self.target else {
                    return Err(Fault::truncated());
                };
                let had_begun = reading.answer.has_begun();
                let has_begun = reading.read_on(&mut self.silence, target, settings).await?;
                if let Some(begins_inside) = reading.answer.begins_inside() {
                    settings.pool.note_begins_inside(begins_inside);
                }
                if has_begun {
                    let is_complete = reading.answer.is_complete();
                    let wait = if is_complete {
                        WAIT_AFTER_FINISH
                    } else {
                        Duration::MAX
                    };
                    self.silence
                        .set(Instant::now() + settings.idle_timeout.min(wait));
                    if !had_begun {
                        self.endpoint.record_success(target);
                    }
                } else if reading.answer.is_at_work() {
                    // An agent may work longer than that before its first token; a comment is a sign of life too.
                    self.silence
                        .set(Instant::now() + settings.first_token_timeout);
                }
                Ok(())
            }
        }
    }

    /// Prepares another attempt, at once on another target if there is one, else after a wait; or returns the fault.
    /// The attempt is reported unless it only changes the form of the request.
    fn retry_after_fault(&mut self, fault: Fault) -> Result<Option<ModelEvent>, ModelError> {
        let begun = matches!(&self.stage, Stage::Reading(reading) if reading.answer.has_begun());
        if begun {
            return Err(fault.into_error());
        }
        if let Some(event) = self.ask.use_other_form(&fault, self.target.as_deref()) {
            self.stage = Stage::Waiting(Instant::now());
            return Ok(event);
        }
        if let Some(target) = self.target.take() {
            target.record_fault(&fault);
            if self.attempts.add(target.key, &fault)
                && let Some(next) = self.endpoint.next(&self.attempts)
            {
                target.server.record_failover();
                let words = next.instead_of(&target, fault.error.words()).into();
                self.target = Some(Arc::new(next));
                self.stage = Stage::Waiting(Instant::now());
                return Ok(Some(ModelEvent::FailedOver { words }));
            }
        }
        self.schedule_retry(fault).map(Some)
    }

    /// No other target is left: retries all of them later, if that may help.
    fn schedule_retry(&mut self, fault: Fault) -> Result<ModelEvent, ModelError> {
        let settings = &self.endpoint.settings;
        self.attempts.forget();
        self.failed_attempts += 1;
        let wait = match fault.retry {
            Retry::Soon => retry::backoff(settings.retry_wait, self.failed_attempts),
            Retry::After(hint) if hint <= retry::MAX_RETRY_WAIT => {
                retry::hinted_wait(hint, settings.retry_wait)
            }
            Retry::After(_)
            | Retry::No
            | Retry::OtherForm
            | Retry::WithoutTools
            | Retry::WithoutMedia(_) => {
                return Err(fault.into_error());
            }
        };
        if self.failed_attempts >= settings.attempts {
            return Err(fault.into_error());
        }
        self.stage = Stage::Waiting(Instant::now() + wait);
        let failed_attempts = self.failed_attempts;
        let max_attempts = settings.attempts;
        let reason = fault.error.words();
        let wait_ms = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX);
        tracing::debug!(
            model = settings.model,
            wait_ms,
            reason = reason.message,
            "retrying a model call"
        );
        Ok(ModelEvent::Retrying {
            failed_attempts,
            max_attempts,
            wait_ms,
            reason,
        })
    }
}

impl Reading {
    /// Waits for more of the answer; returns whether it has begun.
    async fn read_on(
        &mut self,
        silence: &mut IdleTimer,
        target: &Target,
        settings: &OpenAiSettings,
    ) -> Result<bool, Fault> {
        self.gather.over().await;
        let chunk = tokio::select! {
            biased;
            chunk = self.response.chunk() => Some(chunk),
            () = silence.expired() => None,
        };
        self.take(chunk, target, settings)?;
        while self.gather.has_gathered() && !self.answer.is_over() {
            // The connection yields one piece per poll: it needs a turn to bring the next.
            yield_now().await;
            let Some(chunk) = self.response.chunk().now_or_never() else {
                break;
            };
            self.take(Some(chunk), target, settings)?;
        }
        // Never between the head of an answer and its first token.
        if self.answer.has_begun() {
            self.gather.begin();
        }
        if self.answer.is_over() {
            let _ = timeout(DRAIN_TIME, async {
                while let Ok(Some(_)) = self.response.chunk().await {}
            })
            .await;
        }
        Ok(self.answer.has_begun())
    }

    /// Handles a piece, the end, or an interruption; `None` if the silence has lasted too long.
    fn take(
        &mut self,
        chunk: Option<Result<Option<Bytes>, reqwest::Error>>,
        target: &Target,
        settings: &OpenAiSettings,
    ) -> Result<(), Fault> {
        match chunk {
            Some(Ok(Some(bytes))) => match &mut self.inflate {
                Some(inflate) => {
                    let mut pieces = inflate::pieces(&bytes);
                    pieces.try_for_each(|piece| {
                        self.answer.feed(&inflate.push(piece, target)?, target)
                    })
                }
                None => self.answer.feed(&bytes, target),
            },
            Some(Ok(None)) => self.answer.end(target),
            // The model was done: only the formal end or the usage is missing.
            Some(Err(_)) | None if self.answer.is_complete() => {
                self.answer.finish();
                Ok(())
            }
            Some(Err(_)) => Err(Fault::truncated()),
            None if self.answer.has_begun() => Err(Fault::went_silent(settings.idle_timeout)),
            None => Err(Fault::no_first_token(settings.first_token_timeout)),
        }
    }
}

impl std::fmt::Debug for OpenAiCall {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OpenAiCall")
            .field("reach", &self.endpoint)
            .finish_non_exhaustive()
    }
}

/// Sends the request and waits for the head of a successful answer.
async fn open(target: Arc<Target>, headers: HeaderMap, body: Bytes) -> Result<Response, Fault> {
    let request = target
        .request(Method::POST)?
        .headers(headers)
        .header(header::CONTENT_TYPE, "application/json")
        .header(header::ACCEPT, "text/event-stream")
        .body(body);
    let request = target.authorize(request).await?;
    target.log_forwarding();
    check(request.send().await, &target).await
}

/// The answer, or the fault for its status.
pub(crate) async fn check(
    answer: Result<Response, reqwest::Error>,
    target: &Target,
) -> Result<Response, Fault> {
    let mut response = answer.map_err(|error| fault::from_transport(&error, target))?;
    target.log_answer(&response);
    let status = response.status();
    if status.is_success() {
        return Ok(response);
    }
    let body = read_error(&mut response).await;
    Err(fault::from_status(
        status,
        response.headers(),
        &body,
        target,
    ))
}

/// The error page, cut at the limit.
pub(crate) async fn read_error(response: &mut Response) -> String {
    let mut body = BytesMut::new();
    // A partial error page is good enough, even if the connection breaks.
    while let Ok(Ok(Some(bytes))) = timeout(Duration::from_secs(5), response.chunk()).await {
        body.extend_from_slice(&bytes[..bytes.len().min(ERROR_BODY_LIMIT_BYTES - body.len())]);
        if body.len() >= ERROR_BODY_LIMIT_BYTES {
            break;
        }
    }
    let page = Inflate::page(response.headers(), &body, ERROR_BODY_LIMIT_BYTES);
    String::from_utf8_lossy(&page).into_owned()
}
