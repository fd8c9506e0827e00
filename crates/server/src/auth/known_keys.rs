//! Remembers for a moment whose each key is, so that a busy program does not ask the database with every request.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{ApiKeyId, UserId};
use store::User;
use tokio::time::Instant;

/// How long an account or a key may go on after it was changed by another process on the same database.
const TIME: Duration = Duration::from_secs(1);
/// Keys remembered at a time, at some 500 bytes each.
const MOST: usize = 10_000;

/// Keys that were looked up within the last second, by their hashes.
#[derive(Debug, Default)]
pub struct KnownKeys(Mutex<HashMap<[u8; 32], Known>>);

#[derive(Debug)]
struct Known {
    id: ApiKeyId,
    user: Arc<User>,
    until: Instant,
}

impl KnownKeys {
    /// Whose key it is, where that is still known.
    pub(super) fn find(&self, hash: &[u8; 32], now: Instant) -> Option<(ApiKeyId, Arc<User>)> {
        let known = self.lock();
        let known = known.get(hash).filter(|known| known.until > now)?;
        Some((known.id, Arc::clone(&known.user)))
    }

    /// Remembers what the database said just now.
    pub(super) fn remember(&self, hash: [u8; 32], id: ApiKeyId, user: Arc<User>, now: Instant) {
        let mut known = self.lock();
        if known.len() >= MOST {
            known.retain(|_, known| known.until > now);
        }
        if known.len() < MOST {
            known.insert(hash, Known { id, user, until: now + TIME });
        }
    }

    /// The key is no more.
    pub fn forget(&self, id: ApiKeyId) {
        self.lock().retain(|_, known| known.id != id);
    }

    /// Whatever is known of this person's keys is no more.
    pub fn forget_person(&self, person: UserId) {
        self.lock().retain(|_, known| known.user.id != person);
    }

    /// Whatever is known of these people's keys is no more.
    pub(super) fn forget_people(&self, people: &HashSet<UserId>) {
        self.lock().retain(|_, known| !people.contains(&known.user.id));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use store::UserRole;

    use super::*;

    fn user() -> Arc<User> {
        let (id, role) = (UserId::generate(), UserRole::User);
        Arc::new(User { id, email: "ada@example.org".into(), name: "Ada".into(), role, created_at: 0 })
    }

    #[test]
    fn for_a_second_and_not_after_its_end() {
        let (keys, now) = (KnownKeys::default(), Instant::now());
        let (id, other) = (ApiKeyId::generate(), ApiKeyId::generate());
        keys.remember([1; 32], id, user(), now);
        keys.remember([2; 32], other, user(), now);
        assert_eq!(keys.find(&[1; 32], now).map(|(id, _)| id), Some(id));
        keys.forget(id);
        assert!(keys.find(&[1; 32], now).is_none() && keys.find(&[2; 32], now).is_some());
        assert!(keys.find(&[2; 32], now + TIME).is_none());
    }

    #[test]
    fn there_is_an_end_to_them() {
        let (keys, user, now, id) = (KnownKeys::default(), user(), Instant::now(), ApiKeyId::generate());
        let hash = |number: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_le_bytes());
            hash
        };
        (0..=MOST).for_each(|number| keys.remember(hash(number), id, Arc::clone(&user), now));
        assert!(keys.find(&hash(0), now).is_some() && keys.find(&hash(MOST), now).is_none());
        keys.remember(hash(MOST), id, user, now + TIME);
        assert!(keys.find(&hash(MOST), now + TIME).is_some());
        assert_eq!(keys.lock().len(), 1);
    }
}
