//! Accepts connections: HTTP/1 only, slow headers cut off, a bounded number at a time, drained at the end.

use std::{convert::Infallible, net::SocketAddr, pin::pin, sync::Arc, time::Duration};

use axum::{Router, extract::Request};
use hyper::{body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::Semaphore,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};
use tower::Service;

use crate::config::Config;

/// How to serve connections.
#[derive(Debug, Clone, Copy)]
pub struct ListenOptions {
    /// The most connections at a time; more wait in the kernel.
    pub connection_limit: usize,
    /// How long a client may take to send a request's header, and may keep an idle connection.
    pub header_timeout: Duration,
    /// How long to wait for open requests when stopping.
    pub drain: Duration,
}

impl ListenOptions {
    /// As configured.
    #[must_use]
    pub fn new(config: &Config) -> Self {
        Self {
            connection_limit: config.connection_limit,
            header_timeout: Duration::from_secs(10),
            drain: config.drain,
        }
    }
}

/// The other end of the connection a request came on; in the request's extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// Serves `router` on all `listeners` until `stopping`, then lets open requests end within the drain time.
/// Streams should watch `stopping` themselves and end.
pub async fn serve(
    listeners: Vec<TcpListener>,
    router: Router,
    options: ListenOptions,
    stopping: CancellationToken,
) {
    let connections = TaskTracker::new();
    let slots = Arc::new(Semaphore::new(options.connection_limit));
    let accepting = listeners
        .into_iter()
        .map(|listener| accept(listener, &router, options.header_timeout, &slots, &connections, &stopping));
    // Each ends, and closes its listener, as soon as we are stopping.
    futures_util::future::join_all(accepting).await;
    connections.close();
    if tokio::time::timeout(options.drain, connections.wait()).await.is_err() {
        tracing::warn!(open = connections.len(), "stopping with requests still open");
    }
}

async fn accept(
    listener: TcpListener,
    router: &Router,
    header_timeout: Duration,
    slots: &Arc<Semaphore>,
    connections: &TaskTracker,
    stopping: &CancellationToken,
) {
    let mut http = http1::Builder::new();
    // A small buffer bounds what an idle connection costs; headers beyond it are refused.
    http.timer(TokioTimer::new()).header_read_timeout(header_timeout).max_buf_size(64 * 1024);
    loop {
        let next = async {
            let slot = slots.clone().acquire_owned().await;
            (slot, listener.accept().await)
        };
        let (slot, accepted) = tokio::select! {
            () = stopping.cancelled() => return,
            next = next => next,
        };
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: trying again at once would spin.
                tracing::warn!(%error, "cannot accept a connection");
                tokio::time::sleep(Duration::from_millis(100)).await;
                continue;
            }
        };
        // Without this a small write waits for the client's acknowledgement, some 40 ms.
        let _ = stream.set_nodelay(true);
        let (http, router, stopping) = (http.clone(), router.clone(), stopping.clone());
        connections.spawn(async move {
            let _slot = slot;
            answer(&http, stream, router, Peer(peer), stopping).await;
        });
    }
}

async fn answer(
    http: &http1::Builder,
    stream: TcpStream,
    router: Router,
    peer: Peer,
    stopping: CancellationToken,
) {
    // `Router` is behind a reference count, so that cloning it for a request copies no routes.
    let service = service_fn(move |request: Request<Incoming>| {
        let mut router = router.clone();
        async move {
            let mut request = request.map(axum::body::Body::new);
            request.extensions_mut().insert(peer);
            let response: Result<_, Infallible> = router.call(request).await;
            response
        }
    });
    let mut connection = pin!(http.serve_connection(TokioIo::new(stream), service).with_upgrades());
    let ended = tokio::select! {
        ended = connection.as_mut() => ended,
        () = stopping.cancelled() => {
            connection.as_mut().graceful_shutdown();
            connection.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, peer = %peer.0, "connection ended badly");
    }
}
