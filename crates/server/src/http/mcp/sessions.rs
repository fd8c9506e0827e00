//! Ownership, limits and idle times of MCP sessions.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use store::Principal;
use tokio::time::Instant;

/// How long a session without a stream or call is kept.
const IDLE: Duration = Duration::from_secs(30 * 60);
/// Maximum number of sessions per principal; beyond it, a new one evicts the one that was idle for longest.
const MAX_PER_PRINCIPAL: usize = 100;
/// The same per account, including all its keys and the people of its front ends.
const MAX_PER_ACCOUNT: usize = 1_000;

/// All sessions by id.
#[derive(Debug, Default)]
pub(super) struct Sessions(Mutex<HashMap<String, Arc<Session>>>);

/// One session. It is in use while anyone else holds a reference.
#[derive(Debug)]
pub(super) struct Session {
    pub(super) id: String,
    principal: Principal,
    last_used: Mutex<Instant>,
    /// When its use was last stored.
    noted: Mutex<Instant>,
}

impl Session {
    /// Whether its use has to be stored, so that it does not count as idle.
    pub(super) fn is_due(&self, now: Instant) -> bool {
        let mut noted = self.noted.lock().unwrap_or_else(PoisonError::into_inner);
        let is_due = now.saturating_duration_since(*noted) > IDLE / 6;
        if is_due {
            *noted = now;
        }
        is_due
    }

    fn last_used(&self) -> Instant {
        *self
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl Sessions {
    /// The session, if this individual started it, with whichever key.
    pub(super) fn of(&self, id: &str, principal: &Principal) -> Option<Arc<Session>> {
        let session = self
            .lock()
            .get(id)
            .filter(|session| session.principal.is_same_individual(principal))
            .cloned()?;
        *session
            .last_used
            .lock()
            .unwrap_or_else(PoisonError::into_inner) = Instant::now();
        Some(session)
    }

    /// Adds a session, and returns the ids of those to close. If a limit is reached and all other sessions are in use,
    /// there is no session, and the new id is the one to close.
    pub(super) fn begin(
        &self,
        id: String,
        principal: Principal,
        now: Instant,
    ) -> (Option<Arc<Session>>, Vec<String>) {
        let mut all = self.lock();
        let own = |session: &Session| session.principal == principal;
        let of_account = |session: &Session| session.principal.account == principal.account;
        let count = |is_counted: &dyn Fn(&Session) -> bool| {
            all.values().filter(|session| is_counted(session)).count()
        };
        let has_many = count(&own) >= MAX_PER_PRINCIPAL;
        let account_has_many = count(&of_account) >= MAX_PER_ACCOUNT;
        let mut ended = Vec::new();
        if has_many || account_has_many {
            let goes_first = |session: &Session| {
                if has_many {
                    own(session)
                } else {
                    of_account(session)
                }
            };
            let idle = all
                .iter()
                .filter(|(_, session)| Arc::strong_count(session) == 1 && goes_first(session));
            let Some(oldest) = idle
                .min_by_key(|(_, session)| session.last_used())
                .map(|(id, _)| id.clone())
            else {
                return (None, vec![id]);
            };
            all.remove(&oldest);
            ended.push(oldest);
        }
        let session = Arc::new(Session {
            id: id.clone(),
            principal,
            last_used: Mutex::new(now),
            noted: Mutex::new(now),
        });
        all.insert(id, Arc::clone(&session));
        (Some(session), ended)
    }

    /// Removes a session that has ended.
    pub(super) fn forget(&self, id: &str) {
        self.lock().remove(id);
    }

    /// Removes sessions that have been idle for too long, and returns their ids.
    pub(super) fn take_idle(&self, now: Instant) -> Vec<String> {
        let is_idle = |session: &Arc<Session>| {
            Arc::strong_count(session) == 1
                && now.saturating_duration_since(session.last_used()) > IDLE
        };
        self.lock()
            .extract_if(|_, session| is_idle(session))
            .map(|(id, _)| id)
            .collect()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<String, Arc<Session>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use domain::UserId;

    use super::*;

    fn some_principal() -> Principal {
        Principal::of_account(UserId::generate())
    }

    #[test]
    fn a_session_is_its_owners_and_ends_when_nobody_uses_it() {
        let sessions = Sessions::default();
        let ada = some_principal();
        let bob = some_principal();
        let begun = Instant::now();
        let (session, ended) = sessions.begin("a".into(), ada.clone(), begun);
        assert!(
            ended.is_empty()
                && sessions.of("a", &ada).is_some()
                && sessions.of("a", &bob).is_none()
        );
        let later = Instant::now() + IDLE + Duration::from_secs(1);
        assert_eq!(
            sessions.take_idle(later),
            Vec::<String>::new(),
            "a stream is open"
        );
        drop(session);
        assert_eq!(sessions.take_idle(Instant::now()), Vec::<String>::new());
        assert_eq!(sessions.take_idle(later), ["a"]);
        assert!(sessions.of("a", &ada).is_none());
    }

    #[test]
    fn one_too_many_ends_the_one_idle_for_longest() {
        let sessions = Sessions::default();
        let ada = some_principal();
        let begun = Instant::now();
        let mut held = Vec::new();
        for number in 0..MAX_PER_PRINCIPAL {
            let at = begun + Duration::from_secs(number as u64);
            held.extend(sessions.begin(number.to_string(), ada.clone(), at).0);
        }
        let (refused, ended) = sessions.begin("new".into(), ada.clone(), begun);
        assert!(refused.is_none());
        assert_eq!(ended, ["new"], "all others are in use");
        held.clear();
        let (session, ended) = sessions.begin("new".into(), ada.clone(), begun);
        assert!(session.is_some());
        assert_eq!(ended, ["0"]);
        assert!(
            sessions
                .begin("of another".into(), some_principal(), begun)
                .1
                .is_empty()
        );
    }

    #[test]
    fn the_people_of_a_front_end_have_sessions_of_their_own_within_the_accounts_bound() {
        let sessions = Sessions::default();
        let account = some_principal();
        let person = |number: usize| Principal {
            person: Some(format!("p{number}")),
            ..account.clone()
        };
        let begun = Instant::now();
        for number in 0..MAX_PER_ACCOUNT {
            let at = begun + Duration::from_millis(number as u64);
            assert!(
                sessions
                    .begin(number.to_string(), person(number), at)
                    .1
                    .is_empty()
            );
        }
        assert!(sessions.of("1", &person(1)).is_some() && sessions.of("1", &person(2)).is_none());
        assert!(sessions.of("1", &account).is_none());
        let (session, ended) = sessions.begin("new".into(), person(7), begun);
        assert!(session.is_some());
        assert_eq!(
            ended,
            ["0"],
            "the one of the account that was idle for longest"
        );
    }
}
