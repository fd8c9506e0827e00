//! The audit log: each request to a route with an audit name adds an entry with the actor, the address and the subject.
//! The route table assigns the names; handlers add details.

use std::{
    fmt::Display,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{AuditEntryId, UserId};
use serde::Serialize;
use serde_json::{Map, Value, json};
use store::{ApiKey, AuditEntry, User};

use crate::{
    error::ApiError,
    identity::{
        Identity,
        auth::{Caller, Credential},
    },
    platform::{client_info::ClientInfo, request_context},
};

/// The maximum size of a value in the details, in bytes of JSON. A longer value is replaced by its length.
const MAX_VALUE_BYTES: usize = 2_000;

/// The audit entry of a request. Extracts on routes that have an audit name.
#[derive(Debug, Clone)]
pub(crate) struct Noted(Arc<Mutex<Note>>);

#[derive(Debug)]
struct Note {
    entry: AuditEntry,
    when: When,
}

/// When the entry is stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum When {
    Done,
    Always,
    Never,
}

/// A new entry about the current request; the actor and the subject are added later.
fn line(at: i64, action: &str, place: Option<&ClientInfo>) -> AuditEntry {
    AuditEntry {
        id: AuditEntryId::generate(),
        at,
        actor: None,
        actor_email: None,
        key: None,
        address: place.map(|place| place.address.to_string()),
        request: request_context::request_id(),
        action: action.to_owned(),
        subject: None,
        subject_name: None,
        details: None,
    }
}

/// A key created for `owner` on the command line.
pub(crate) fn key_by_command(key: &ApiKey, owner: &User, at: i64) -> AuditEntry {
    let details = json!({"by": "command line", "owner": owner.email});
    AuditEntry {
        subject: Some(key.id.to_string()),
        subject_name: Some(key.name.clone()),
        details: details.as_object().cloned(),
        ..line(at, "key.create", None)
    }
}

/// A second factor of `owner` that was reset on the command line.
pub(crate) fn second_factor_by_command(owner: &User, at: i64) -> AuditEntry {
    AuditEntry {
        subject: Some(owner.id.to_string()),
        subject_name: Some(owner.email.clone()),
        details: json!({"by": "command line"}).as_object().cloned(),
        ..line(at, "second_factor.reset", None)
    }
}

/// An account that was created by the authenticating proxy, or whose role changed with the proxy's groups.
pub(crate) fn by_proxy(user: &User, action: &str, role: &str, at: i64) -> AuditEntry {
    AuditEntry {
        subject: Some(user.id.to_string()),
        subject_name: Some(user.email.clone()),
        details: json!({"by": "proxy", "role": role}).as_object().cloned(),
        ..line(at, action, None)
    }
}

fn done_by(entry: &mut AuditEntry, caller: &Caller) {
    (entry.actor, entry.actor_email) = (Some(caller.id()), Some(caller.user.email.clone()));
    entry.key = match caller.credential {
        Credential::Key(key) => Some(key),
        Credential::Session(_) | Credential::Proxy | Credential::Local => None,
    };
}

impl Noted {
    /// An entry about a request, stored if the request succeeds.
    pub(crate) fn new(
        at: i64,
        action: &str,
        place: Option<&ClientInfo>,
        caller: Option<&Caller>,
        subject: Option<String>,
    ) -> Self {
        let mut entry = line(at, action, place);
        if let Some(caller) = caller {
            done_by(&mut entry, caller);
        }
        entry.subject = subject;
        Self(Arc::new(Mutex::new(Note {
            entry,
            when: When::Done,
        })))
    }

    /// The entry, if it is to be stored after a request that succeeded or failed.
    pub(crate) fn entry(&self, is_done: bool) -> Option<AuditEntry> {
        let note = self.lock();
        let stays = match note.when {
            When::Done => is_done,
            When::Always => true,
            When::Never => false,
        };
        stays.then(|| note.entry.clone())
    }

    /// Sets the actor, if only the handler knows it.
    pub(crate) fn by(&self, user: &User) {
        let mut note = self.lock();
        (note.entry.actor, note.entry.actor_email) = (Some(user.id), Some(user.email.clone()));
    }

    /// Sets the subject's id and display name.
    pub(crate) fn about(&self, subject: impl Display, name: impl Into<String>) {
        let mut note = self.lock();
        let subject = redact::text(&subject.to_string()).into_owned();
        (note.entry.subject, note.entry.subject_name) = (Some(subject), Some(name.into()));
    }

    /// Sets the display name of the subject in the URL.
    pub(crate) fn called(&self, name: impl Into<String>) {
        self.lock().entry.subject_name = Some(name.into());
    }

    /// Adds a detail. Never a secret.
    pub(crate) fn with(&self, name: &str, value: impl Serialize) {
        // A value that cannot be serialized is left out.
        let Ok(value) = serde_json::to_value(value) else {
            return;
        };
        if !value.is_null() {
            let details = &mut self.lock().entry.details;
            let mut value = short(value);
            redact::value(&mut value);
            details
                .get_or_insert_with(Map::new)
                .insert(name.to_owned(), value);
        }
    }

    /// Replaces the action by another one, which is stored even if the request fails.
    pub(crate) fn instead(&self, action: &str) {
        let mut note = self.lock();
        note.entry.action = action.to_owned();
        note.when = When::Always;
    }

    /// Discards the entry, because nothing notable was done.
    pub(crate) fn nothing(&self) {
        self.lock().when = When::Never;
    }

    fn lock(&self) -> MutexGuard<'_, Note> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bounds the size of a value.
fn short(value: Value) -> Value {
    match value.to_string().len() {
        bytes if bytes > MAX_VALUE_BYTES => Value::from(format!("{bytes} bytes")),
        _ => value,
    }
}

impl Identity {
    /// Records that the caller views something; it may be shown only if this succeeds.
    ///
    /// # Errors
    /// If the entry cannot be stored.
    pub(crate) async fn note_look(
        &self,
        action: &str,
        caller: &Caller,
        place: &ClientInfo,
        subject: String,
        subject_name: String,
        details: Map<String, Value>,
    ) -> Result<(), ApiError> {
        let mut entry = line(self.clock.now_ms(), action, Some(place));
        done_by(&mut entry, caller);
        entry.subject = Some(subject);
        entry.subject_name = Some(subject_name);
        entry.details = Some(details);
        Ok(self.store.add_to_audit(&entry).await?)
    }

    /// Stores an entry, or logs it if the database fails, as the action is already done.
    pub(crate) async fn note_or_log(&self, entry: &AuditEntry) {
        if let Err(error) = self.store.add_to_audit(entry).await {
            let AuditEntry {
                at,
                actor,
                key,
                address,
                action,
                subject,
                ..
            } = entry;
            let actor = actor.map(|id: UserId| id.to_string());
            let key = key.map(|id| id.to_string());
            tracing::error!(%error, at, ?actor, ?key, ?address, action, ?subject, "failed to store an audit log entry");
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_long_values_the_length_is_told() {
        assert_eq!(short(json!({"a": 1})), json!({"a": 1}));
        assert_eq!(short(json!("x".repeat(2_000))), json!("2002 bytes"));
    }
}
