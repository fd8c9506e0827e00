//! Deletes what has expired: sessions, secrets, links, invitations, old runs and logs.

use std::{sync::Arc, time::Duration};

use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;

use crate::{
    chat::{idempotency::REMEMBERED_MS, pipelines},
    platform::{clock::Clock, config::Config},
};

const INTERVAL: Duration = Duration::from_secs(3600);
/// How long uploads are kept that no message has used: a day.
const UNSENT_FILES_MS: i64 = 24 * 3_600_000;
/// How long expired invitations are still listed.
const INVITATIONS_SHOWN_MS: i64 = 30 * 24 * 3_600_000;

/// Deletes expired rows once an hour until the server stops.
pub(crate) async fn keep_house(
    store: Store,
    clock: Clock,
    config: Arc<Config>,
    stopping: CancellationToken,
) {
    loop {
        purge(&store, clock.now_ms(), &config).await;
        tokio::select! {
            () = stopping.cancelled() => return,
            () = tokio::time::sleep(INTERVAL) => {}
        }
    }
}

async fn purge(store: &Store, now: i64, config: &Config) {
    report("sessions", store.purge_sessions(now).await);
    report("secrets of old keys", store.purge_ended_secrets(now).await);
    report("passkey challenges", store.purge_used_challenges(now).await);
    report(
        "password reset links",
        store.purge_password_resets(now).await,
    );
    let invitations = store.purge_invitations(now - INVITATIONS_SHOWN_MS).await;
    report("invitations", invitations);
    report(
        "audit log entries",
        store.purge_audit(now - config.audit_ms).await,
    );
    report(
        "runs without a chat",
        store.purge_runs(now - config.retention_ms).await,
    );
    report("hook inputs", store.purge_hook_inputs().await);
    report(
        "unsent files",
        store.purge_unsent_files(now - UNSENT_FILES_MS).await,
    );
    let calls = store.purge_pipeline_calls(now - pipelines::KEPT_MS).await;
    report("pipeline calls", calls);
    let keys = store.forget_idempotency_keys(now - REMEMBERED_MS).await;
    report("idempotency keys", keys);
}

/// One failure does not keep the rest from being deleted.
fn report<T>(what: &'static str, deleted: Result<T, StoreError>) {
    if let Err(error) = deleted {
        tracing::warn!(%error, what, "cannot delete expired rows");
    }
}
