//! Reads request bodies, within a size limit per body and a memory limit for all of them together.

use std::{error::Error as _, time::Duration};

use axum::{
    body::Body,
    extract::Request,
    http::{HeaderMap, StatusCode, header},
};
use bytes::Bytes;
use http_body_util::BodyExt;

use crate::{
    app::App,
    error::ApiError,
    identity::auth::{Caller, RunnerCaller},
    messages,
    platform::{body_memory::Reservation, listen::TooSlow},
};

/// The largest body of an unauthenticated request.
const ANONYMOUS_LIMIT_BYTES: usize = 64_000;

/// A body with the memory reserved for it.
struct Held {
    bytes: Bytes,
    _memory: Reservation,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

/// Reads the whole body, at most `limit_bytes`, and less if the caller is not signed in.
///
/// # Errors
/// If the body is too long, incomplete, too slow, or there is no memory for it.
pub(crate) async fn read_body(
    app: &App,
    request: Request,
    limit_bytes: usize,
) -> Result<Bytes, ApiError> {
    let extensions = request.extensions();
    let is_signed_in =
        extensions.get::<Caller>().is_some() || extensions.get::<RunnerCaller>().is_some();
    let limit_bytes = if is_signed_in {
        limit_bytes
    } else {
        limit_bytes.min(ANONYMOUS_LIMIT_BYTES)
    };
    let expects_continue = request.headers().contains_key(header::EXPECT);
    if let Err(refused) = check_head(request.headers(), limit_bytes as u64) {
        // A client that asked before sending will not send the body; those of other clients are read and discarded.
        if !expects_continue {
            discard(request.into_body()).await;
        }
        return Err(refused);
    }
    let mut memory = app.body_memory.reserve(is_signed_in);
    // Reserve everything at once, so that the upload does not fail half-way. The announced length of an unauthenticated
    // caller is not trusted.
    let announced = content_length(request.headers()).filter(|_| is_signed_in);
    memory
        .grow_to(
            announced
                .and_then(|bytes| usize::try_from(bytes).ok())
                .unwrap_or(0),
        )
        .await?;
    let bytes = collect(request.into_body(), limit_bytes, &mut memory).await?;
    if !memory.is_held() {
        return Ok(bytes);
    }
    Ok(Bytes::from_owner(Held {
        bytes,
        _memory: memory,
    }))
}

/// A single chunk is returned as it is. Several are copied into one buffer, as each holds a whole buffer of the
/// connection, even for a single byte.
async fn collect(
    mut body: Body,
    limit_bytes: usize,
    memory: &mut Reservation,
) -> Result<Bytes, ApiError> {
    let Some(first) = next_data(&mut body).await? else {
        return Ok(Bytes::new());
    };
    let mut received = first.len();
    let mut joined: Option<Vec<u8>> = None;
    loop {
        if received > limit_bytes {
            drop(joined);
            memory.release();
            discard(body).await;
            return Err(ApiError::too_large(limit_bytes));
        }
        memory.grow_to(received).await?;
        let Some(next) = next_data(&mut body).await? else {
            break;
        };
        received += next.len();
        joined
            .get_or_insert_with(|| first.to_vec())
            .extend_from_slice(&next);
    }
    Ok(joined.map_or(first, Bytes::from))
}

/// The next chunk of a body.
///
/// # Errors
/// If the body is incomplete or too slow.
pub(crate) async fn next_data(body: &mut Body) -> Result<Option<Bytes>, ApiError> {
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| match error.source() {
            Some(cause) if cause.is::<TooSlow>() => ApiError::invalid(messages::Requests::TooSlow)
                .with_status(StatusCode::REQUEST_TIMEOUT),
            _ => ApiError::invalid(messages::Requests::BrokeOff),
        })?;
        if let Ok(data) = frame.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

/// Rejects a body by its headers: one that is too long, and one that is compressed. Bodies are never decompressed, as a
/// small one could expand to a huge one.
///
/// # Errors
/// 413 if it is too long, 415 if it is compressed.
pub(crate) fn check_head(headers: &HeaderMap, limit_bytes: u64) -> Result<(), ApiError> {
    let coding = headers.get(header::CONTENT_ENCODING);
    if coding.is_some_and(|coding| !coding.as_bytes().eq_ignore_ascii_case(b"identity")) {
        let message =
            "The request's body is packed, as its Content-Encoding says. Send it as it is.";
        return Err(ApiError::invalid(message).with_status(StatusCode::UNSUPPORTED_MEDIA_TYPE));
    }
    if content_length(headers).is_some_and(|length| length > limit_bytes) {
        return Err(ApiError::too_large(
            usize::try_from(limit_bytes).unwrap_or(usize::MAX),
        ));
    }
    Ok(())
}

fn content_length(headers: &HeaderMap) -> Option<u64> {
    headers
        .get(header::CONTENT_LENGTH)?
        .to_str()
        .ok()?
        .parse()
        .ok()
}

/// Reads and discards the rest of a body, within limits: most clients read the response only once they have sent
/// everything, and would lose it if the connection were closed before.
pub(crate) async fn discard(mut body: Body) {
    const MAX_BYTES: usize = 512_000_000;
    let read_on = async {
        let mut read = 0;
        while let Some(Ok(frame)) = body.frame().await {
            read += frame.data_ref().map_or(0, Bytes::len);
            if read > MAX_BYTES {
                break;
            }
        }
    };
    let _ = tokio::time::timeout(Duration::from_secs(20), read_on).await;
}

#[cfg(test)]
mod tests {
    use std::sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    };

    use super::*;
    use crate::platform::body_memory::BodyMemory;

    /// A chunk with a buffer of its own, as hyper's have; counts how many of them are alive.
    struct Buffer(Arc<AtomicUsize>);

    impl AsRef<[u8]> for Buffer {
        fn as_ref(&self) -> &[u8] {
            b"x"
        }
    }

    impl Drop for Buffer {
        fn drop(&mut self) {
            self.0.fetch_sub(1, Ordering::Relaxed);
        }
    }

    #[tokio::test]
    async fn a_body_that_comes_byte_by_byte_holds_no_buffers() {
        let alive = Arc::new(AtomicUsize::new(0));
        let most = Arc::new(AtomicUsize::new(0));
        let pieces = (0..1000).map({
            let alive = Arc::clone(&alive);
            let most = Arc::clone(&most);
            move |_| {
                most.fetch_max(alive.fetch_add(1, Ordering::Relaxed), Ordering::Relaxed);
                Ok::<_, std::io::Error>(Bytes::from_owner(Buffer(Arc::clone(&alive))))
            }
        });
        let body = Body::from_stream(futures_util::stream::iter(pieces));
        let read = collect(body, 1000, &mut BodyMemory::new(0).reserve(true))
            .await
            .unwrap();
        assert_eq!(&read[..], [b'x'; 1000]);
        assert!(most.load(Ordering::Relaxed) <= 2, "{most:?}");
        assert_eq!(alive.load(Ordering::Relaxed), 0);
    }
}
