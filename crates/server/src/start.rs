//! The binary's start and shutdown: the tour's model, the link to open, the signals.

use std::net::{IpAddr, SocketAddr, UdpSocket};

use llm::ChatModel;
use store::StoreError;

use crate::{app::App, platform::config::Auth};

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
    let origin = match &app.config.now().public_url {
        Some(url) => url.origin(),
        None => format!("http://{}", reachable(listening_on)),
    };
    match &app.identity.setup_token {
        Some(token) => format!("{origin}/setup?token={}", token.reveal()),
        None => origin,
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

/// Listens for Ctrl-C or, from a service manager, SIGTERM, from the call on: one that arrives before the future is polled
/// counts, too.
#[cfg(unix)]
pub fn asked_to_stop() -> impl Future<Output = ()> + Send {
    use tokio::signal::unix::{Signal, SignalKind, signal};
    let interrupted = signal(SignalKind::interrupt());
    let terminated = signal(SignalKind::terminate());
    let receive = async |listening: std::io::Result<Signal>| match listening {
        Ok(mut signal) => _ = signal.recv().await,
        Err(_) => std::future::pending().await,
    };
    async move {
        tokio::select! {
            () = receive(interrupted) => {}
            () = receive(terminated) => {}
        }
    }
}

/// Waits for Ctrl-C.
#[cfg(not(unix))]
pub async fn asked_to_stop() {
    if tokio::signal::ctrl_c().await.is_err() {
        std::future::pending::<()>().await;
    }
}
