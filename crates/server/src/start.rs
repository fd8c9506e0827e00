//! The binary's start and shutdown: the tour's model, the link to open, the signals.

use std::{
    net::{IpAddr, SocketAddr, UdpSocket},
    sync::Arc,
    time::Duration,
};

use futures_util::future::{join, select_all};
use llm::ChatModel;
use store::StoreError;
#[cfg(unix)]
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::{
    app::App,
    platform::{config::Auth, listen::LAST_WORDS},
};

/// The tour's pause between words, that of a fast model.
const TOUR_PACE_MS: u64 = 20;

/// The model that plays the tour.
#[must_use]
pub fn tour() -> ChatModel {
    agent::tour::model(TOUR_PACE_MS)
}

/// The URL to open in a browser: the page, or the set-up link if others could come first.
#[must_use]
pub fn link(app: &App, listening_on: SocketAddr) -> String {
    let config = app.config.now();
    let base_url = match &config.public_url {
        Some(url) => url.base(),
        None => format!("{}://{}", config.scheme(), reachable(listening_on)),
    };
    match &app.identity.setup_token {
        Some(token) => format!("{base_url}/setup?token={}", token.reveal()),
        None => base_url,
    }
}

/// What a person at the terminal does next, and where the data is.
///
/// # Errors
/// If the database does not answer.
pub async fn next_steps(app: &App) -> Result<String, StoreError> {
    let has_models = app.models.catalogue().models.iter().any(|it| !it.tour);
    let next = match (&app.config.now().auth, app.store.has_users().await?) {
        (Auth::Password, false) => "open the address and create the first account",
        _ if has_models => "open the address",
        _ => "open the address and connect a model, or take the tour",
    };
    let config = app.config.now();
    let folder = config.data_dir.display();
    Ok(format!(
        "  Data folder  {folder}\n  Next step    {next}\n  Problems?    glasshouse doctor\n  Stop         Ctrl+C"
    ))
}

/// A connectable address: the unspecified address cannot be opened.
fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    SocketAddr::new(
        own_address().unwrap_or(IpAddr::from([127, 0, 0, 1])),
        address.port(),
    )
}

/// This machine's address in its network. Connecting a UDP socket sends nothing; it only makes the system choose an
/// interface. The remote address is reserved for documentation.
fn own_address() -> Option<IpAddr> {
    let socket = UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    Some(socket.local_addr().ok()?.ip())
}

/// Requests to stop: Ctrl-C or, from a service manager, SIGTERM. Those that arrive after [`StopRequests::listen`] count, even
/// before they are awaited.
#[cfg(unix)]
pub struct StopRequests {
    interrupted: std::io::Result<Signal>,
    terminated: std::io::Result<Signal>,
}

#[cfg(unix)]
impl StopRequests {
    /// Begins to listen.
    #[must_use]
    pub fn listen() -> Self {
        Self {
            interrupted: signal(SignalKind::interrupt()),
            terminated: signal(SignalKind::terminate()),
        }
    }

    /// Waits for the next request.
    pub async fn next(&mut self) {
        let receive = async |listening: &mut std::io::Result<Signal>| match listening {
            Ok(signal) => _ = signal.recv().await,
            Err(_) => std::future::pending().await,
        };
        tokio::select! {
            () = receive(&mut self.interrupted) => {}
            () = receive(&mut self.terminated) => {}
        }
    }
}

/// Requests to stop: Ctrl-C.
#[cfg(not(unix))]
pub struct StopRequests;

#[cfg(not(unix))]
impl StopRequests {
    /// Begins to listen.
    #[must_use]
    pub fn listen() -> Self {
        Self
    }

    /// Waits for the next request.
    pub async fn next(&mut self) {
        if tokio::signal::ctrl_c().await.is_err() {
            std::future::pending::<()>().await;
        }
    }
}

/// Serves until it is asked to stop, then lets what is in progress end, in this order:
///
/// 1. The server is no longer ready, and background work starts nothing more. If several servers share the database, it
///    still accepts requests for a while, so that load balancers notice.
/// 2. It accepts no more. Runs are handed over after their current model call or tool call, and requests may end.
/// 3. When the time is over, what is left is cut off.
///
/// Another request to stop skips the rest of the waiting.
pub async fn serve_until_stopped(
    app: &Arc<App>,
    serving: impl Future<Output = ()>,
    mut requests: StopRequests,
) {
    let hurry = CancellationToken::new();
    let following = async {
        requests.next().await;
        app.draining.cancel();
        requests.next().await;
        tracing::warn!("asked to stop again; stopping at once");
        hurry.cancel();
        tokio::time::sleep(LAST_WORDS).await;
    };
    let served = CancellationToken::new();
    let serving = async {
        serving.await;
        served.cancel();
    };
    let stopping = join(serving, drain(app, &hurry, &served));
    tokio::select! {
        ((), ()) = stopping => {}
        () = following => {}
    }
}

/// Leads through the phases of a shutdown. `hurry` skips all waiting; `served` is cancelled when no request is left.
async fn drain(app: &App, hurry: &CancellationToken, served: &CancellationToken) {
    app.draining.cancelled().await;
    let config = app.config.now();
    let is_shared = app.store.is_shared();
    if is_shared && !app.stopping.is_cancelled() {
        tracing::info!(delay = ?config.shutdown_delay, "stopping: not ready any more");
        wait(config.shutdown_delay, &[hurry, &app.stopping]).await;
    }
    app.stopping.cancel();
    tracing::info!(drain = ?config.drain, "stopping: letting what is in progress end");
    let time_is_up = Instant::now() + config.drain;
    let left = || time_is_up.saturating_duration_since(Instant::now());
    app.runs.drain(wait(left(), &[hurry])).await;
    if is_shared {
        // Readers that cannot reconnect follow their runs on other servers.
        wait(left(), &[hurry, served]).await;
    }
    app.runs.end_readers();
    wait(left(), &[hurry, served]).await;
    app.ending.cancel();
}

/// Waits for this time, or until one of the tokens is cancelled.
async fn wait(time: Duration, tokens: &[&CancellationToken]) {
    let cancelled = tokens.iter().map(|token| Box::pin(token.cancelled()));
    // Either result is fine.
    drop(tokio::time::timeout(time, select_all(cancelled)).await);
}
