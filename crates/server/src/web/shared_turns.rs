//! Turns at websites, which all servers of a database take together.

use std::time::Duration;

use futures_util::{FutureExt, future::BoxFuture};
use store::Store;
use web_access::SharedTurns;

/// Turns that the database hands out.
pub(super) struct TurnsOfAll(pub(super) Store);

impl SharedTurns for TurnsOfAll {
    fn next<'a>(&'a self, origin: &'a str, pause: Duration) -> BoxFuture<'a, Duration> {
        async move {
            let next = self.0.next_host_turn(origin, pause).await;
            next.unwrap_or_else(|error| {
                tracing::debug!(%error, origin, "other servers may ask a website at the same time");
                Duration::ZERO
            })
        }
        .boxed()
    }
}
