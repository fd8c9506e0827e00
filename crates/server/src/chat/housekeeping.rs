//! Deletes what has expired: sessions, secrets, links, invitations, old runs and logs.

use std::sync::Arc;

use store::Store;

use crate::{
    chat::idempotency::REMEMBERED_MS,
    pipelines,
    platform::{
        clock::Clock,
        jobs::{Failure, Steps},
        live_config::LiveConfig,
    },
};

/// How long uploads that no message uses are kept: a day.
const UNSENT_FILES_MS: i64 = 24 * 3_600_000;
/// How long what counts within an hour or less is kept.
const HOUR_MS: i64 = 3_600_000;
/// How long expired invitations are still listed.
const INVITATIONS_SHOWN_MS: i64 = 30 * 24 * 3_600_000;

/// Deletes rows that have expired.
pub(crate) struct Housekeeping {
    pub(crate) clock: Clock,
    pub(crate) config: LiveConfig,
    pub(crate) store: Store,
}

impl Housekeeping {
    /// Deletes everything that has expired by now. If one step fails, the others still run.
    pub(crate) async fn purge(self: Arc<Self>) -> Result<(), Failure> {
        let Self {
            clock,
            config,
            store,
        } = &*self;
        let now = clock.now_ms();
        let mut steps = Steps::default();
        steps.note("sessions", store.purge_sessions(now).await);
        steps.note("secrets of old keys", store.purge_ended_secrets(now).await);
        steps.note("passkey challenges", store.purge_used_challenges(now).await);
        let links = store.purge_password_resets(now).await;
        steps.note("password reset links", links);
        let invitations = store.purge_invitations(now - INVITATIONS_SHOWN_MS).await;
        steps.note("invitations", invitations);
        let audit = store.purge_audit(now - config.now().audit_ms).await;
        steps.note("audit log entries", audit);
        let runs = store.purge_runs(now - config.now().retention_ms).await;
        steps.note("runs without a chat", runs);
        steps.note("hook inputs", store.purge_hook_inputs().await);
        let files = store.purge_unsent_attachments(now - UNSENT_FILES_MS).await;
        steps.note("unsent files", files);
        let calls = store.purge_pipeline_calls(now - pipelines::KEPT_MS).await;
        steps.note("pipeline calls", calls);
        let keys = store.forget_idempotency_keys(now - REMEMBERED_MS).await;
        steps.note("idempotency keys", keys);
        let failures = store.purge_sign_in_failures(now - HOUR_MS).await;
        steps.note("failed sign-ins", failures);
        let sessions = store.purge_mcp_sessions(now - HOUR_MS).await;
        steps.note("MCP sessions", sessions);
        steps.note("turns of programs", store.purge_program_turns().await);
        steps.note("turns at websites", store.purge_host_turns().await);
        let pauses = store.purge_upstream_pauses().await;
        steps.note("pauses of model servers", pauses);
        steps.note("program calls", store.purge_program_calls().await);
        let minutes = store.purge_minute_usage((now - HOUR_MS) / 60_000).await;
        steps.note("usage of minutes", minutes);
        steps.finish()
    }
}
