//! Hashing and verification of passwords off the async threads.

use std::{
    ops::RangeInclusive,
    sync::{Arc, OnceLock},
};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// The maximum number of concurrent hashes. One takes about 20 ms and 19 MiB, so more would starve the rest of the
/// server.
const AT_A_TIME: usize = 2;

/// Accepted bcrypt costs: 12 is usual, and each step doubles the time. 14 takes about a second.
const FOREIGN_COSTS: RangeInclusive<u32> = 4..=14;

/// Hashes passwords with Argon2id, on the thread pool for blocking work.
#[derive(Debug)]
pub struct Passwords {
    turns: Arc<Semaphore>,
    /// The hash of a random password, verified if there is no such user, so that the response takes as long.
    decoy: Arc<OnceLock<String>>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self {
            turns: Arc::new(Semaphore::new(AT_A_TIME)),
            decoy: Arc::default(),
        }
    }
}

impl Passwords {
    /// The hash to store, in PHC form.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub async fn hash(&self, password: String) -> Result<String, ApiError> {
        self.in_turn(move || hash(&password)).await?
    }

    /// Whether `password` matches `stored`; without a stored hash it never does, but takes as long.
    ///
    /// # Errors
    /// If the system's random number generator fails.
    pub async fn verify(&self, password: String, stored: Option<String>) -> Result<bool, ApiError> {
        let decoy = self.decoy.clone();
        self.in_turn(move || match stored {
            Some(stored) => Ok(matches(&password, &stored)),
            None => {
                if decoy.get().is_none() {
                    let random =
                        crate::platform::secret::random_token("").map_err(ApiError::internal)?;
                    let _ = decoy.set(hash(random.reveal())?);
                }
                let _ = matches(&password, decoy.get().map_or("", String::as_str));
                Ok(false)
            }
        })
        .await?
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = self
            .turns
            .clone()
            .acquire_owned()
            .await
            .map_err(ApiError::internal)?;
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        })
        .await
        .map_err(ApiError::internal)
    }
}

/// Whether a hash is a bcrypt hash imported from another program: it is accepted, and replaced at the next sign-in.
#[must_use]
pub fn is_foreign(stored: &str) -> bool {
    stored.starts_with("$2")
}

/// Whether a hash can be imported: a complete bcrypt hash with a cost that does not take minutes.
#[must_use]
pub fn is_good_foreign(hash: &str) -> bool {
    let is_known = ["$2a$", "$2b$", "$2y$"]
        .iter()
        .any(|version| hash.starts_with(version));
    let cost = hash
        .parse::<bcrypt::HashParts>()
        .ok()
        .map(|parts| parts.get_cost());
    is_known && cost.is_some_and(|cost| FOREIGN_COSTS.contains(&cost))
}

fn hash(password: &str) -> Result<String, ApiError> {
    let hash: PasswordHash = Argon2::default()
        .hash_password(password.as_bytes())
        .map_err(ApiError::internal)?;
    Ok(hash.to_string())
}

fn matches(password: &str, stored: &str) -> bool {
    if is_foreign(stored) {
        // The cost is checked again, as others may have written to the database.
        return is_good_foreign(stored) && bcrypt::verify(password, stored).unwrap_or(false);
    }
    PasswordHash::new(stored).is_ok_and(|hash| {
        Argon2::default()
            .verify_password(password.as_bytes(), &hash)
            .is_ok()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn only_the_right_password_fits() {
        let passwords = Passwords::default();
        let stored = passwords.hash("correct horse".to_owned()).await.unwrap();
        assert!(stored.starts_with("$argon2id$"));
        for (password, stored, fits) in [
            ("correct horse", Some(stored.clone()), true),
            ("correct horsf", Some(stored), false),
            ("correct horse", Some(String::new()), false),
            ("correct horse", None, false),
        ] {
            assert_eq!(
                passwords.verify(password.to_owned(), stored).await.unwrap(),
                fits
            );
        }
    }

    /// Hashes of other programs for “correct horse”, and for a password that bcrypt truncates after 72 bytes.
    #[tokio::test]
    async fn hashes_of_bcrypt_fit_within_bounds() {
        let passwords = Passwords::default();
        let stored = bcrypt::hash("correct horse", 4).unwrap();
        let long = "пароль".repeat(10);
        let check = async |password: &str, stored: &str, fits: bool| {
            let right = passwords
                .verify(password.to_owned(), Some(stored.to_owned()))
                .await
                .unwrap();
            assert_eq!(right, fits, "{stored}");
        };
        for version in ["$2a$", "$2b$", "$2y$"] {
            let stored = stored.replacen("$2b$", version, 1);
            assert!(is_foreign(&stored) && is_good_foreign(&stored));
            check("correct horse", &stored, true).await;
            check("correct horsf", &stored, false).await;
        }
        check(&long, &bcrypt::hash(&long, 4).unwrap(), true).await;
        // A cost of 31 would take a day and a half; all others are not complete hashes.
        for hostile in [
            stored.replacen("$04$", "$31$", 1),
            stored.replacen("$04$", "$15$", 1),
            stored.replacen("$04$", "$03$", 1),
            stored.replacen("$04$", "$99$", 1),
            stored.replacen("$2b$", "$2x$", 1),
            stored[..59].to_owned(),
            format!("{stored}x"),
            "$2b$04$".to_owned(),
            "$2".to_owned(),
        ] {
            assert!(!is_good_foreign(&hostile), "{hostile}");
            check("correct horse", &hostile, false).await;
        }
    }

    /// Response times do not reveal whether a user exists.
    #[tokio::test]
    async fn nobodys_password_takes_the_same_work() {
        let passwords = Passwords::default();
        let stored = passwords.hash("correct horse".to_owned()).await.unwrap();
        passwords.verify("a".to_owned(), None).await.unwrap();
        let decoy = passwords.decoy.get().unwrap().clone();
        // The algorithm, its version and its costs; then the salt and the hash, of the same lengths.
        let work = |hash: &str| {
            hash.split('$')
                .take(4)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        assert_eq!(work(&decoy), work(&stored));
        assert_eq!(decoy.len(), stored.len());
        passwords.verify("b".to_owned(), None).await.unwrap();
        assert_eq!(
            passwords.decoy.get(),
            Some(&decoy),
            "made once: no second hash gives it away"
        );
    }
}
