//! HTTP/2 connections: limits against floods of streams, the time without requests after which they are closed, and an
//! orderly end with GOAWAY.

use std::{
    future::Future,
    pin::{Pin, pin},
    task::{Context, Poll},
    time::Duration,
};

use axum::{
    extract::Request,
    http::{HeaderValue, Uri, header},
};
use bytes::Bytes;
use http_body_util::BodyExt;
use hyper::{
    body::{Body, Frame, Incoming, SizeHint},
    rt::Executor,
    server::conn::http2,
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    runtime::Handle,
    time::timeout,
};
use tokio_util::{
    sync::{CancellationToken, DropGuard},
    task::TaskTracker,
};

use super::{AnswersRequests, MAX_HEAD_BYTES, connections::Activity};

/// The maximum number of requests at a time.
const MAX_STREAMS: u32 = 64;
/// The maximum number of requests that a client has reset before they were even begun, and of those that were reset
/// because of its errors.
const MAX_PENDING_RESETS: usize = 20;
const MAX_ERROR_RESETS: usize = 100;
/// How much of a body, and of all bodies of a connection, may be received before it is read.
const STREAM_WINDOW_BYTES: u32 = 128 * 1024;
const CONNECTION_WINDOW_BYTES: u32 = 512 * 1024;
/// The maximum amount of a response that waits for the client.
const SEND_BUFFER_BYTES: usize = 64 * 1024;

/// How much of an unread body is received, and for how long.
const MAX_UNREAD_BYTES: usize = 64 * 1024;
const UNREAD_TIME: Duration = Duration::from_secs(5);

/// Serves a connection until the client closes it, it is evicted or unused, or the server stops. Requests that are in
/// progress when it stops may end.
pub(super) async fn serve<S, V>(
    socket: S,
    service: V,
    activity: &Activity,
    idle_timeout: Duration,
    stopping: CancellationToken,
) -> hyper::Result<()>
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    V: AnswersRequests<Future: Send + 'static>,
{
    let streams = Streams::default();
    let _ended = streams.end_on_drop();
    let mut connection = pin!(builder(streams).serve_connection(TokioIo::new(socket), service));
    let mut is_ending = false;
    loop {
        tokio::select! {
            ended = connection.as_mut() => return ended,
            () = activity.evicted() => return Ok(()),
            () = activity.unused_for(idle_timeout) => {
                // The client was told to go, and has not gone.
                if is_ending {
                    return Ok(());
                }
            }
            () = stopping.cancelled(), if !is_ending => {}
        }
        is_ending = true;
        connection.as_mut().graceful_shutdown();
    }
}

fn builder(streams: Streams) -> http2::Builder<Streams> {
    let mut builder = http2::Builder::new(streams);
    builder
        .timer(TokioTimer::new())
        .max_concurrent_streams(MAX_STREAMS)
        .max_pending_accept_reset_streams(MAX_PENDING_RESETS)
        .max_local_error_reset_streams(MAX_ERROR_RESETS)
        .initial_stream_window_size(STREAM_WINDOW_BYTES)
        .initial_connection_window_size(CONNECTION_WINDOW_BYTES)
        .max_send_buf_size(SEND_BUFFER_BYTES)
        .max_header_list_size(MAX_HEAD_BYTES as u32);
    builder
}

/// Runs the requests of one connection, until it is over.
#[derive(Debug, Clone, Default)]
struct Streams {
    tasks: TaskTracker,
    over: CancellationToken,
}

impl Streams {
    fn end_on_drop(&self) -> DropGuard {
        self.over.clone().drop_guard()
    }
}

impl<F> Executor<F> for Streams
where
    F: Future<Output: Send> + Send + 'static,
{
    fn execute(&self, stream: F) {
        let over = self.over.clone();
        self.tasks
            .spawn(async move { over.run_until_cancelled(stream).await });
    }
}

/// The body of a request. If it is dropped unread and is short, the rest is received and ignored: some clients, such as
/// curl 7.88, report an error in place of the response if the stream is reset after it.
pub(super) struct RequestBody {
    incoming: Option<Incoming>,
    tasks: TaskTracker,
}

impl RequestBody {
    pub(super) fn new(incoming: Incoming, tasks: TaskTracker) -> Self {
        Self {
            incoming: Some(incoming),
            tasks,
        }
    }
}

impl Body for RequestBody {
    type Data = Bytes;
    type Error = hyper::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, hyper::Error>>> {
        match &mut self.incoming {
            Some(incoming) => Pin::new(incoming).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        self.incoming.as_ref().is_none_or(Body::is_end_stream)
    }

    fn size_hint(&self) -> SizeHint {
        self.incoming
            .as_ref()
            .map_or_else(SizeHint::default, Body::size_hint)
    }
}

impl Drop for RequestBody {
    fn drop(&mut self) {
        let unread = self.incoming.take().filter(|body| !body.is_end_stream());
        if let (Some(unread), Ok(runtime)) = (unread, Handle::try_current()) {
            let receiving = timeout(UNREAD_TIME, receive(unread));
            self.tasks.spawn_on(receiving, &runtime);
        }
    }
}

/// Receives a body and ignores it.
async fn receive(mut body: Incoming) {
    let mut bytes = 0;
    while let Some(Ok(frame)) = body.frame().await {
        bytes += frame.data_ref().map_or(0, Bytes::len);
        if bytes > MAX_UNREAD_BYTES {
            return;
        }
    }
}

/// The request in the form of HTTP/1, with the host in its header, so that nothing else has to know two.
pub(super) fn as_http1<B>(mut request: Request<B>) -> Request<B> {
    let Some(authority) = request.uri().authority() else {
        return request;
    };
    let (Ok(host), Some(path)) = (
        HeaderValue::from_str(authority.as_str()),
        request.uri().path_and_query().cloned(),
    ) else {
        return request;
    };
    request.headers_mut().insert(header::HOST, host);
    *request.uri_mut() = Uri::from(path);
    request
}

#[cfg(test)]
mod tests;
