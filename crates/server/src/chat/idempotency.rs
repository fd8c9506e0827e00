//! Idempotency keys: requests of a principal with the same `Idempotency-Key` start one run, and repeated ones get that
//! run.

use axum::http::HeaderMap;
use domain::ProblemCode;
use ring::digest::{Context, SHA256};
use store::{IdempotencyKey, Principal, Run, StartedBefore, Store};

use crate::error::ApiError;

const HEADER: &str = "idempotency-key";
const LIMIT_CHARS: usize = 255;
/// Minimum time a key is remembered, milliseconds.
pub(crate) const REMEMBERED_MS: i64 = 24 * 3600 * 1000;

/// The idempotency key of a request to `path` with this body, if its headers have one.
///
/// # Errors
/// 400 if the key is invalid: empty, too long, or not printable ASCII.
pub(crate) fn idempotency_key(
    headers: &HeaderMap,
    path: &str,
    body: &[u8],
) -> Result<Option<IdempotencyKey>, ApiError> {
    let Some(value) = headers.get(HEADER) else {
        return Ok(None);
    };
    let key = value.to_str().unwrap_or_default().trim();
    if key.is_empty() || key.len() > LIMIT_CHARS {
        let message = format!(
            "Idempotency-Key has to have 1 to {LIMIT_CHARS} letters, digits or signs of ASCII."
        );
        return Err(ApiError::invalid(message));
    }
    let mut hash = Context::new(&SHA256);
    // A path contains no line feed.
    [path.as_bytes(), b"\n", body]
        .into_iter()
        .for_each(|part| hash.update(part));
    let mut request_hash = [0; 32];
    request_hash.copy_from_slice(hash.finish().as_ref());
    Ok(Some(IdempotencyKey {
        key: key.to_owned(),
        request_hash,
    }))
}

/// Idempotency keys of requests that start runs.
pub struct Idempotency {
    pub(crate) store: Store,
}

impl Idempotency {
    /// Calls `begin`, or `again` with the run that an earlier request with the key has started. `begin` has to store
    /// the key with the run.
    ///
    /// # Errors
    /// Those of `begin` and `again`; 422 if the earlier request was a different one.
    pub(crate) async fn once<T>(
        &self,
        principal: &Principal,
        key: Option<IdempotencyKey>,
        begin: impl AsyncFnOnce(Option<IdempotencyKey>) -> Result<T, ApiError>,
        again: impl AsyncFnOnce(Run) -> Result<T, ApiError>,
    ) -> Result<T, ApiError> {
        let Some(key) = key else {
            return begin(None).await;
        };
        if let Some(run) = self.started_before(principal, &key).await? {
            return again(run).await;
        }
        match begin(Some(key.clone())).await {
            Ok(begun) => Ok(begun),
            // A concurrent request was faster, or the database stored the run and its reply was lost.
            Err(error) => match self.started_before(principal, &key).await {
                Ok(Some(run)) => again(run).await,
                Ok(None) | Err(_) => Err(error),
            },
        }
    }

    /// The run that an earlier request with this key has started.
    ///
    /// # Errors
    /// 422 if that was a different request.
    pub(crate) async fn started_before(
        &self,
        principal: &Principal,
        key: &IdempotencyKey,
    ) -> Result<Option<Run>, ApiError> {
        match self.store.started_before(principal, key).await? {
            None => Ok(None),
            Some(StartedBefore {
                run,
                same_request: true,
            }) => Ok(Some(self.store.run(run).await?)),
            Some(_) => Err(ApiError::new(
                ProblemCode::KeyReused,
                "This Idempotency-Key was sent with another request before. Take a new one for each new request.",
            )),
        }
    }
}
