//! A short-lived cache of API keys, so that a busy client does not query the database with every request.

use std::{
    collections::{HashMap, HashSet},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{ApiKeyId, UserId};
use llm::Secret;
use store::{ApiKeyRights, KeyScope, User};
use tokio::time::Instant;

/// How long a changed account or key may still be used after another process on the same database has changed it.
const TIME: Duration = Duration::from_secs(1);
/// The maximum number of cached keys, at some 500 bytes each.
const MAX_KEYS: usize = 10_000;

/// A key presented by a caller.
#[derive(Debug)]
pub struct HeldKey {
    /// The key's id.
    pub id: ApiKeyId,
    /// The hash of the presented secret.
    pub secret_hash: [u8; 32],
    /// The key's owner.
    pub user: Arc<User>,
    /// The key's rights.
    pub rights: ApiKeyRights,
    /// The key that its front end signs the identities of its users with.
    pub signing_key: Option<Secret>,
    /// When the key or the presented secret expires, whichever is first.
    pub good_until: Option<i64>,
}

impl HeldKey {
    /// Whether it has this scope, within what its owner may do.
    #[must_use]
    pub fn allows(&self, scope: KeyScope) -> bool {
        self.rights
            .scopes
            .as_ref()
            .is_none_or(|scopes| scopes.contains(&scope))
    }

    /// Whether it is unrestricted and never expires, so that keys created with it cannot have more rights.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        let ApiKeyRights {
            scopes,
            models,
            expires_at,
            front_end,
        } = &self.rights;
        scopes.is_none() && models.is_none() && expires_at.is_none() && !front_end
    }

    /// Whether it may use a model or an agent.
    #[must_use]
    pub fn may_use(&self, model: &str) -> bool {
        self.rights
            .models
            .as_ref()
            .is_none_or(|models| models.iter().any(|allowed| allowed == model))
    }
}

/// Keys that were looked up within the last second, by the hashes of their secrets.
#[derive(Debug, Default)]
pub struct KnownKeys(Mutex<HashMap<[u8; 32], Known>>);

#[derive(Debug)]
struct Known {
    key: Arc<HeldKey>,
    until: Instant,
}

impl KnownKeys {
    /// The key, if it is still cached.
    pub(super) fn find(&self, hash: &[u8; 32], now: Instant) -> Option<Arc<HeldKey>> {
        let known = self.lock();
        let known = known.get(hash).filter(|known| known.until > now)?;
        Some(Arc::clone(&known.key))
    }

    /// Caches a key that was just read from the database.
    pub(super) fn remember(&self, hash: [u8; 32], key: Arc<HeldKey>, now: Instant) {
        let mut known = self.lock();
        if known.len() >= MAX_KEYS {
            known.retain(|_, known| known.until > now);
        }
        if known.len() < MAX_KEYS {
            known.insert(
                hash,
                Known {
                    key,
                    until: now + TIME,
                },
            );
        }
    }

    /// Evicts a key that was changed or deleted.
    pub fn forget(&self, id: ApiKeyId) {
        self.lock().retain(|_, known| known.key.id != id);
    }

    /// Evicts all keys of a user.
    pub fn forget_person(&self, person: UserId) {
        self.lock().retain(|_, known| known.key.user.id != person);
    }

    /// Evicts all keys of these users.
    pub(crate) fn forget_people(&self, people: &HashSet<UserId>) {
        self.lock()
            .retain(|_, known| !people.contains(&known.key.user.id));
    }

    /// Evicts the keys with these secrets.
    pub(crate) fn forget_secrets(&self, hashes: &HashSet<[u8; 32]>) {
        self.lock().retain(|hash, _| !hashes.contains(hash));
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<[u8; 32], Known>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use store::UserRole;

    use super::*;

    fn key(id: ApiKeyId) -> Arc<HeldKey> {
        let user = UserId::generate();
        let user = User {
            id: user,
            email: "ada@example.org".into(),
            name: "Ada".into(),
            role: UserRole::User,
            created_at: 0,
        };
        let user = Arc::new(user);
        let secret_hash = [0; 32];
        Arc::new(HeldKey {
            id,
            secret_hash,
            user,
            rights: ApiKeyRights::default(),
            signing_key: None,
            good_until: None,
        })
    }

    #[test]
    fn for_a_second_and_not_after_its_end() {
        let keys = KnownKeys::default();
        let now = Instant::now();
        let id = ApiKeyId::generate();
        let other = ApiKeyId::generate();
        keys.remember([1; 32], key(id), now);
        keys.remember([2; 32], key(other), now);
        assert_eq!(keys.find(&[1; 32], now).map(|key| key.id), Some(id));
        keys.forget(id);
        assert!(keys.find(&[1; 32], now).is_none() && keys.find(&[2; 32], now).is_some());
        assert!(keys.find(&[2; 32], now + TIME).is_none());
    }

    #[test]
    fn there_is_an_end_to_them() {
        let keys = KnownKeys::default();
        let now = Instant::now();
        let key = key(ApiKeyId::generate());
        let hash = |number: usize| {
            let mut hash = [0; 32];
            hash[..8].copy_from_slice(&number.to_le_bytes());
            hash
        };
        (0..=MAX_KEYS).for_each(|number| keys.remember(hash(number), Arc::clone(&key), now));
        assert!(keys.find(&hash(0), now).is_some() && keys.find(&hash(MAX_KEYS), now).is_none());
        keys.remember(hash(MAX_KEYS), key, now + TIME);
        assert!(keys.find(&hash(MAX_KEYS), now + TIME).is_some());
        assert_eq!(keys.lock().len(), 1);
    }
}
