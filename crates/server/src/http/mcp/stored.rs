//! Sessions in the database: `rmcp` replays the handshake of one that began on another server, or before a restart.
//!
//! Its store knows only ids. Owners are checked around it: what it loads was read for the caller of this request, and what
//! it stores is written with that caller.

use std::cell::RefCell;

use futures_util::{
    FutureExt,
    future::{BoxFuture, ready},
};
use rmcp::{
    model::InitializeRequestParams,
    transport::streamable_http_server::session::store::{
        SessionState, SessionStore, SessionStoreError,
    },
};

tokio::task_local! {
    static HANDSHAKE: RefCell<Option<InitializeRequestParams>>;
}

/// Handles a request of a client whose session began with that handshake, if it is not known here. Also returns the
/// handshake of the session that the request began, if it did.
pub(super) async fn with_handshake<T>(
    known: Option<InitializeRequestParams>,
    request: impl Future<Output = T>,
) -> (T, Option<InitializeRequestParams>) {
    HANDSHAKE
        .scope(RefCell::new(known), async {
            let answer = request.await;
            (answer, HANDSHAKE.with(RefCell::take))
        })
        .await
}

/// The sessions of the request in progress.
pub(super) struct OfThisRequest;

// Written as `async_trait` expands it: three methods are no reason for a macro.
impl SessionStore for OfThisRequest {
    fn load<'s, 'i, 'f>(
        &'s self,
        _: &'i str,
    ) -> BoxFuture<'f, Result<Option<SessionState>, SessionStoreError>>
    where
        's: 'f,
        'i: 'f,
    {
        let known = HANDSHAKE.try_with(RefCell::take).ok().flatten();
        ready(Ok(known.map(SessionState::new))).boxed()
    }

    fn store<'s, 'i, 't, 'f>(
        &'s self,
        _: &'i str,
        state: &'t SessionState,
    ) -> BoxFuture<'f, Result<(), SessionStoreError>>
    where
        's: 'f,
        'i: 'f,
        't: 'f,
    {
        let begun = Some(state.initialize_params.clone());
        // There are no requests outside of `with_handshake`.
        _ = HANDSHAKE.try_with(|handshake| handshake.replace(begun));
        ready(Ok(())).boxed()
    }

    fn delete<'s, 'i, 'f>(&'s self, _: &'i str) -> BoxFuture<'f, Result<(), SessionStoreError>>
    where
        's: 'f,
        'i: 'f,
    {
        ready(Ok(())).boxed()
    }
}
