//! Accepts connections: HTTP/1, and HTTP/2 if it is configured with TLS; timeouts for slow headers and bodies, limits per
//! address and in total, and draining at shutdown.

mod connections;
mod http2;
mod pace;
mod socket;
mod tls;

use std::{
    convert::Infallible,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};

use axum::{Router, body::Body, extract::Request, http::Version, response::Response};
use bytes::Bytes;
use hyper::{
    body::{Body as HttpBody, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service, service_fn},
};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    io::{AsyncRead, AsyncWrite},
    net::TcpListener,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Service as _;

pub use self::{connections::ConnectionLimits, tls::TlsFiles};
pub(crate) use self::{connections::Work, pace::TooSlow, tls::Tls};
use self::{
    connections::{Activity, Connections, InProgress},
    pace::Paced,
    socket::Socket,
};
use crate::platform::config::Config;

/// File descriptors reserved for everything but connections: the database, model servers, programs.
const OTHER_FILES: usize = 512;
/// The maximum size of a request's header.
const MAX_HEAD_BYTES: usize = 64 * 1024;
/// How long streams may take to deliver their end, when the time for requests in progress is over.
pub(crate) const LAST_WORDS: Duration = Duration::from_secs(2);

/// Options for serving connections.
#[derive(Debug, Clone)]
pub struct ListenOptions {
    /// Limits on open connections.
    pub connections: ConnectionLimits,
    /// Timeout for a request's header, which is also the idle timeout of a connection.
    pub header_timeout: Duration,
    /// How long to wait for open requests at shutdown, before they are cut off.
    pub drain: Duration,
}

impl ListenOptions {
    /// The configured options.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        let proxies = config.trusted_proxies.clone();
        let connections = ConnectionLimits {
            total: config.connection_limit,
            per_address: config.connections_per_address,
            proxies: match &config.trusted_header {
                Some(header) => proxies.and(&header.proxies),
                None => proxies,
            },
        };
        Self {
            connections,
            header_timeout: Duration::from_secs(10),
            drain: config.drain + LAST_WORDS,
        }
    }

    /// Lowers the limit on connections so that enough of `limit` file descriptors are left for everything else.
    #[must_use]
    pub fn within_files(mut self, limit: usize) -> Self {
        let most = (limit - OTHER_FILES.min(limit / 4)).max(1);
        let asked = self.connections.total;
        if asked > most {
            tracing::warn!(
                connection_limit = most,
                "connection_limit is {asked}, but the system allows {limit} open files; raise that limit for more"
            );
            self.connections.total = most;
        }
        self
    }
}

/// The remote end of the connection of a request; in the request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// A client's connection.
struct Connected {
    peer: Peer,
    activity: Arc<Activity>,
    /// How long it may be open without a request, with HTTP/2.
    idle_timeout: Duration,
    is_http2: bool,
}

/// Serves `router` on all `listeners` until `stopping`, then waits up to the drain time for open requests. Streams
/// should watch `stopping` themselves and end.
pub async fn serve(
    listeners: Vec<TcpListener>,
    router: Router,
    options: ListenOptions,
    stopping: CancellationToken,
) {
    serve_with_tls(listeners, router, options, None, stopping).await;
}

/// The same, with TLS on all listeners if there is `tls`.
pub(crate) async fn serve_with_tls(
    listeners: Vec<TcpListener>,
    router: Router,
    options: ListenOptions,
    tls: Option<Arc<Tls>>,
    stopping: CancellationToken,
) {
    let connections = TaskTracker::new();
    let open = Connections::new(options.connections);
    let accepting = listeners.into_iter().map(|listener| {
        accept(
            listener,
            &router,
            options.header_timeout,
            tls.as_ref(),
            &open,
            &connections,
            &stopping,
        )
    });
    // Each ends and closes its listener as soon as shutdown begins.
    futures_util::future::join_all(accepting).await;
    connections.close();
    if tokio::time::timeout(options.drain, connections.wait())
        .await
        .is_err()
    {
        tracing::warn!(
            open = connections.len(),
            "stopping with requests still open"
        );
    }
}

async fn accept(
    listener: TcpListener,
    router: &Router,
    header_timeout: Duration,
    tls: Option<&Arc<Tls>>,
    open: &Arc<Connections>,
    connections: &TaskTracker,
    stopping: &CancellationToken,
) {
    let mut http = http1::Builder::new();
    // A small buffer bounds the cost of an idle connection; larger headers are refused.
    http.timer(TokioTimer::new())
        .header_read_timeout(header_timeout)
        .max_buf_size(MAX_HEAD_BYTES);
    loop {
        let accepted = tokio::select! {
            () = stopping.cancelled() => return,
            accepted = listener.accept() => accepted,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Most likely out of file descriptors; retrying at once would spin.
                tracing::warn!(%error, "failed to accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Without this, a small write waits for the client's acknowledgement, some 40 ms.
        let _ = stream.set_nodelay(true);
        let slot = tokio::select! {
            () = stopping.cancelled() => return,
            slot = open.admit(peer.ip()) => slot,
        };
        let activity = Arc::clone(&slot.activity);
        let socket = Socket::new(stream, slot);
        let http = http.clone();
        let router = router.clone();
        let stopping = stopping.clone();
        let tls = tls.cloned();
        connections.spawn(async move {
            let mut caller = Connected {
                peer: Peer(peer),
                activity,
                idle_timeout: header_timeout,
                is_http2: false,
            };
            let Some(tls) = tls else {
                return answer(&http, socket, router, caller, stopping).await;
            };
            let shaken = tokio::select! {
                shaken = tokio::time::timeout(header_timeout, tls.accept(socket)) => shaken,
                () = caller.activity.evicted() => return,
                () = stopping.cancelled() => return,
            };
            match shaken {
                Ok(Ok(stream)) => {
                    caller.is_http2 = tls::is_http2(&stream);
                    answer(&http, stream, router, caller, stopping).await
                }
                Ok(Err(error)) => tracing::debug!(%error, %peer, "the TLS handshake failed"),
                Err(_) => tracing::debug!(%peer, "the TLS handshake took too long"),
            }
        });
    }
}

/// Serves a connection in the version of HTTP that was agreed on.
async fn answer<S>(
    http: &http1::Builder,
    socket: S,
    router: Router,
    caller: Connected,
    stopping: CancellationToken,
) where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let Connected {
        peer,
        activity,
        idle_timeout,
        is_http2,
    } = caller;
    let service = service(router, peer, Arc::clone(&activity));
    let ended = if is_http2 {
        http2::serve(socket, service, &activity, idle_timeout, stopping).await
    } else {
        let mut connection = pin!(
            http.serve_connection(TokioIo::new(socket), service)
                .with_upgrades()
        );
        tokio::select! {
            ended = connection.as_mut() => ended,
            () = activity.evicted() => Ok(()),
            () = stopping.cancelled() => {
                connection.as_mut().graceful_shutdown();
                connection.await
            }
        }
    };
    if activity.is_evicted() {
        tracing::debug!(peer = %peer.0, "evicted an idle connection");
        return;
    }
    // A connection still open is a WebSocket, which requires a signed-in person and has its own timeouts.
    activity.occupy();
    if let Err(error) = ended {
        tracing::debug!(%error, peer = %peer.0, "connection ended with an error");
    }
}

/// The service of a connection.
fn service(
    router: Router,
    peer: Peer,
    activity: Arc<Activity>,
) -> impl AnswersRequests<Future: Send + 'static> {
    let tasks = TaskTracker::new();
    service_fn(move |request: Request<Incoming>| {
        // `Router` is reference-counted, so cloning it for a request copies no routes.
        let mut router = router.clone();
        let progress = InProgress::begin(&activity);
        let unread = (request.version() == Version::HTTP_2).then(|| tasks.clone());
        async move {
            let work = Arc::clone(&progress.0);
            if request.body().is_end_stream() {
                work.received();
            }
            let ends = Arc::clone(&work);
            let ended = move || ends.received();
            let mut request = match unread {
                None => request.map(|body| Body::new(Paced::new(body, ended))),
                Some(tasks) => http2::as_http1(request).map(|body| {
                    let body = http2::RequestBody::new(body, tasks);
                    Body::new(Paced::new(body, ended))
                }),
            };
            request.extensions_mut().insert(peer);
            request.extensions_mut().insert(Arc::clone(&work));
            let response: Result<Response, Infallible> = router.call(request).await;
            work.begin_answer();
            response.map(|response| {
                response.map(|body| Answer {
                    body,
                    _progress: progress,
                })
            })
        }
    })
}

/// What a connection is served by.
trait AnswersRequests:
    Service<Request<Incoming>, Response = Response<Answer>, Error = Infallible>
{
}

impl<S> AnswersRequests for S where
    S: Service<Request<Incoming>, Response = Response<Answer>, Error = Infallible>
{
}

/// The body of a response. At its end the request is no longer in progress.
struct Answer {
    body: Body,
    _progress: InProgress,
}

impl HttpBody for Answer {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        Pin::new(&mut self.body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::proxies::Proxies;

    #[test]
    fn connections_leave_files_for_the_rest() {
        for (limit, files, total) in [
            (16_384, 65_536, 16_384),
            (16_384, 4096, 3584),
            (16_384, 1024, 768),
            (100, 4096, 100),
            (9, 1, 1),
        ] {
            let connections = ConnectionLimits {
                total: limit,
                per_address: 1,
                proxies: Proxies::default(),
            };
            let options = ListenOptions {
                connections,
                header_timeout: Duration::ZERO,
                drain: Duration::ZERO,
            };
            assert_eq!(
                options.within_files(files).connections.total,
                total,
                "{limit} of {files}"
            );
        }
    }
}
