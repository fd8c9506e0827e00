//! Maps all errors to HTTP: status, stable code, an actionable sentence, and a cause for the log.

use std::{any::Any, fmt};

use agent::workspace::FileProblem;
use axum::{
    extract::rejection::{PathRejection, QueryRejection},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse, Response},
};
use domain::{LocalizedText, Problem, ProblemCode};
use futures_util::FutureExt;
use llm::ModelError;
use run_registry::ReadError;
use serde_json::{Value, json};
use store::StoreError;

use crate::{messages, platform::request_context};

/// A request that failed. The cause is for the log only.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{problem}")]
pub struct ApiError {
    status: StatusCode,
    problem: Problem,
    cause: Option<String>,
    retry_after_s: Option<u64>,
    field: Option<String>,
}

/// What was refused; in the response's extensions, for protocol adapters that use another format.
#[derive(Debug, Clone)]
pub struct Refusal {
    /// The problem as reported to the caller.
    pub problem: Problem,
    /// The invalid field of the request, if it is one.
    pub field: Option<String>,
}

impl ApiError {
    /// An error with the status for `code`.
    pub fn new(code: ProblemCode, words: impl Into<LocalizedText>) -> Self {
        Self::of(Problem::new(code, words))
    }

    fn of(problem: Problem) -> Self {
        let code = problem.code;
        Self {
            status: status(code),
            problem,
            cause: None,
            retry_after_s: None,
            field: None,
        }
    }

    /// 400: the request is not valid for this route.
    pub fn invalid(message: impl Into<LocalizedText>) -> Self {
        Self::new(ProblemCode::InvalidRequest, message)
    }

    /// 400: this field must be a number from `least` to `most`.
    #[must_use]
    pub fn out_of_range(field: &str, least: u64, most: u64) -> Self {
        let refused = messages::Requests::OutOfRange {
            field: field.to_owned(),
            least,
            most,
        };
        Self::invalid(refused).with_field(Some(field))
    }

    /// 403.
    pub fn forbidden(message: impl Into<LocalizedText>) -> Self {
        Self::new(ProblemCode::Forbidden, message)
    }

    /// 404.
    pub fn not_found(message: impl Into<LocalizedText>) -> Self {
        Self::new(ProblemCode::NotFound, message)
    }

    /// 409.
    pub fn conflict(message: impl Into<LocalizedText>) -> Self {
        Self::new(ProblemCode::Conflict, message)
    }

    /// 401; distinguishes an invalid key from a missing one.
    #[must_use]
    pub fn unauthenticated(with_key: bool) -> Self {
        let message = if with_key {
            "This API key is not valid. Make one in the settings or with `glasshouse key create`."
                .into()
        } else {
            LocalizedText::from(messages::Requests::SignInFirst)
        };
        Self::new(ProblemCode::Unauthenticated, message)
    }

    /// Whether the request may be valid, but the server cannot fulfil it at the moment.
    #[must_use]
    pub fn is_ours(&self) -> bool {
        self.status.is_server_error()
    }

    /// The message and its cause, for administrators.
    pub(crate) fn with_cause(&self) -> String {
        match &self.cause {
            Some(cause) => format!("{self} ({cause})"),
            None => self.to_string(),
        }
    }

    /// 429 with the time to wait.
    #[must_use]
    pub fn rate_limited(wait_s: u64) -> Self {
        let message = messages::Requests::TooManyTries { count: wait_s };
        Self {
            retry_after_s: Some(wait_s),
            ..Self::new(ProblemCode::RateLimited, message)
        }
    }

    /// 429 for a usage limit, which may last for hours.
    pub fn limited(message: impl Into<LocalizedText>, wait_s: u64) -> Self {
        Self {
            retry_after_s: Some(wait_s),
            ..Self::new(ProblemCode::RateLimited, message)
        }
    }

    /// 401 for an invalid credential.
    pub fn bad_credential(message: impl Into<LocalizedText>) -> Self {
        Self::new(ProblemCode::Unauthenticated, message)
    }

    /// 403 for a suspended account; only for callers who have proved that it is theirs.
    #[must_use]
    pub fn suspended() -> Self {
        Self::forbidden(messages::Accounts::AccountSuspended)
    }

    /// 413.
    #[must_use]
    pub fn too_large(limit_bytes: usize) -> Self {
        let message = match limit_bytes as u64 {
            limit @ ..1_000_000 => messages::Requests::RequestTooLargeHere {
                limit: limit / 1000,
            },
            limit => messages::Requests::RequestTooLarge {
                limit: limit / 1_000_000,
            },
        };
        Self::new(ProblemCode::TooLarge, message)
    }

    /// 500: an internal error; `cause` goes to the log.
    pub fn internal(cause: impl fmt::Display) -> Self {
        let message = messages::Requests::ServerFault;
        Self {
            cause: Some(cause.to_string()),
            ..Self::new(ProblemCode::Internal, message)
        }
    }

    /// 503: this server is stopping. Another one, or the next process, can answer.
    #[must_use]
    pub fn stopping() -> Self {
        Self::new(ProblemCode::Unavailable, messages::Requests::Stopping).with_retry_after(1)
    }

    /// 500: a log that cannot be read further.
    #[must_use]
    pub fn of_log(error: impl Into<ReadError>) -> Self {
        match error.into() {
            ReadError::Store(StoreError::Corrupt(cause)) => {
                let message = messages::Chats::DamagedLog;
                Self {
                    cause: Some(cause),
                    ..Self::new(ProblemCode::Internal, message)
                }
            }
            error => error.into(),
        }
    }

    /// The same error with another status.
    #[must_use]
    pub fn with_status(self, status: StatusCode) -> Self {
        Self { status, ..self }
    }

    /// The same error with the seconds to wait before a retry.
    #[must_use]
    pub fn with_retry_after(self, wait_s: u64) -> Self {
        Self {
            retry_after_s: Some(wait_s),
            ..self
        }
    }

    /// The same error about this field of the request.
    #[must_use]
    pub fn with_field(self, field: Option<&str>) -> Self {
        Self {
            field: field.map(str::to_owned),
            ..self
        }
    }

    /// The problem as reported to the caller.
    #[must_use]
    pub fn problem(&self) -> &Problem {
        &self.problem
    }
}

/// The status for a code.
fn status(code: ProblemCode) -> StatusCode {
    match code {
        ProblemCode::InvalidRequest => StatusCode::BAD_REQUEST,
        ProblemCode::Unauthenticated => StatusCode::UNAUTHORIZED,
        ProblemCode::Forbidden => StatusCode::FORBIDDEN,
        ProblemCode::NotFound | ProblemCode::ModelNotFound => StatusCode::NOT_FOUND,
        ProblemCode::Conflict => StatusCode::CONFLICT,
        ProblemCode::TooLarge | ProblemCode::ModelContextFull => StatusCode::PAYLOAD_TOO_LARGE,
        ProblemCode::RateLimited | ProblemCode::ModelRateLimited => StatusCode::TOO_MANY_REQUESTS,
        ProblemCode::ModelRejected | ProblemCode::LimitReached | ProblemCode::KeyReused => {
            StatusCode::UNPROCESSABLE_ENTITY
        }
        // Not 401: the caller's own credential was valid.
        ProblemCode::ModelUnreachable
        | ProblemCode::ModelUnauthorized
        | ProblemCode::ModelFailed
        | ProblemCode::ModelProtocol => StatusCode::BAD_GATEWAY,
        ProblemCode::ModelTimeout => StatusCode::GATEWAY_TIMEOUT,
        ProblemCode::Interrupted | ProblemCode::Unavailable | ProblemCode::ModelUnavailable => {
            StatusCode::SERVICE_UNAVAILABLE
        }
        ProblemCode::StorageFull => StatusCode::INSUFFICIENT_STORAGE,
        ProblemCode::Internal => StatusCode::INTERNAL_SERVER_ERROR,
    }
}

/// The failure of a model call or a run. Callers react in the same way to every model that is unavailable, so an
/// unreachable server gets the common code.
impl From<Problem> for ApiError {
    fn from(mut problem: Problem) -> Self {
        if problem.code == ProblemCode::ModelUnreachable {
            problem.code = ProblemCode::ModelUnavailable;
        }
        Self::of(problem)
    }
}

impl From<ModelError> for ApiError {
    fn from(error: ModelError) -> Self {
        let retry_after_s = error.retry_after_s.map(u64::from);
        Self {
            retry_after_s,
            ..Problem::from(error).into()
        }
    }
}

impl From<StoreError> for ApiError {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::NotFound => Self::not_found(messages::Requests::NoSuchThing),
            // Its text is an internal name, such as that of a column.
            StoreError::Conflict(_) => Self::conflict(messages::Requests::ChangedMeanwhile),
            StoreError::Unavailable(cause) | StoreError::Deadlock(cause) => Self {
                cause: Some(cause),
                ..Self::new(ProblemCode::Unavailable, messages::Requests::DatabaseSilent)
            },
            StoreError::ObjectStorage(cause) => Self {
                cause: Some(cause),
                ..Self::new(
                    ProblemCode::Unavailable,
                    messages::Requests::ContentsUnreachable,
                )
            },
            StoreError::Full(cause) => {
                let message = messages::Requests::DiskFull;
                Self {
                    cause: Some(cause),
                    ..Self::new(ProblemCode::StorageFull, message)
                }
            }
            StoreError::NotOurs => {
                let message = messages::Requests::DatabaseLost;
                Self::new(ProblemCode::Unavailable, message)
            }
            StoreError::Corrupt(cause) | StoreError::Refused(cause) | StoreError::Schema(cause) => {
                Self::internal(cause)
            }
        }
    }
}

impl From<ReadError> for ApiError {
    fn from(error: ReadError) -> Self {
        match error {
            ReadError::Stopping => Self::stopping(),
            ReadError::LostLease => Self::from(StoreError::NotOurs).with_retry_after(1),
            ReadError::Store(error) => error.into(),
        }
    }
}

impl From<FileProblem> for ApiError {
    fn from(problem: FileProblem) -> Self {
        match problem {
            // The message for models names tools.
            FileProblem::Missing(_) => Self::not_found(messages::Chats::NoSuchState),
            FileProblem::Conflict(_) => Self::conflict(messages::Chats::FileChanged),
            FileProblem::Refused(sentence) => Self::invalid(sentence),
            FileProblem::TooLarge(sentence) => Self::new(ProblemCode::TooLarge, sentence),
            FileProblem::Unavailable(sentence) => Self::new(ProblemCode::Unavailable, sentence),
            FileProblem::Full(sentence) => Self::new(ProblemCode::StorageFull, sentence),
        }
    }
}

impl From<QueryRejection> for ApiError {
    fn from(rejection: QueryRejection) -> Self {
        Self::invalid(format!(
            "The address's query does not fit: {}.",
            rejection.body_text()
        ))
    }
}

impl From<PathRejection> for ApiError {
    fn from(_: PathRejection) -> Self {
        Self::not_found(messages::Requests::NoSuchId)
    }
}

impl ApiError {
    /// The response body.
    #[must_use]
    pub fn body(&self) -> Value {
        let mut body = json!({ "error": &self.problem });
        if let Some(field) = &self.field {
            body["error"]["field"] = field.as_str().into();
        }
        if let Some(id) = request_context::request_id() {
            body["error"]["request_id"] = id.into();
        }
        body
    }
}

impl IntoResponse for ApiError {
    fn into_response(self) -> Response {
        // Responses with a retry time are due to limits; logging them would let an attacker fill the log.
        if self.status.is_server_error() && self.retry_after_s.is_none() {
            let cause = self.cause.as_deref().unwrap_or(&self.problem.message);
            tracing::error!(code = self.problem.code.as_str(), cause, "request failed");
        }
        let mut response = (self.status, axum::Json(self.body())).into_response();
        let headers = response.headers_mut();
        if let Some(wait_s) = self.retry_after_s {
            headers.insert(header::RETRY_AFTER, wait_s.into());
        }
        if self.status == StatusCode::UNAUTHORIZED {
            headers.insert(header::WWW_AUTHENTICATE, HeaderValue::from_static("Bearer"));
        }
        response.extensions_mut().insert(Refusal {
            problem: self.problem,
            field: self.field,
        });
        response
    }
}

/// Turns a panic in a handler into a 500.
///
/// # Errors
/// The panic.
pub async fn catch_panic(answer: impl Future<Output = Response>) -> Result<Response, ApiError> {
    let answer = std::panic::AssertUnwindSafe(answer).catch_unwind().await;
    answer.map_err(|panic| ApiError::internal(panic_text(&*panic)))
}

/// The message of a panic.
pub(crate) fn panic_text(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    format!("panic: {}", text.unwrap_or("without words"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_code_is_an_error_and_the_store_is_never_quoted() {
        for code in ProblemCode::ALL {
            assert!(
                status(code).is_client_error() || status(code).is_server_error(),
                "{code:?}"
            );
        }
        for error in [
            StoreError::Unavailable,
            StoreError::ObjectStorage,
            StoreError::Full,
            StoreError::Corrupt,
        ]
        .map(|it| it("secret".into()))
        {
            assert!(!ApiError::from(error).problem.message.contains("secret"));
        }
    }
}
