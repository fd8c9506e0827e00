//! Passwords: hashing and checking them without stopping everything else.

use std::sync::{Arc, OnceLock};

use argon2::{
    Argon2,
    password_hash::{PasswordHasher, PasswordVerifier, phc::PasswordHash},
};
use tokio::sync::Semaphore;

use crate::error::ApiError;

/// Hashes at a time. One takes about 20 ms and 19 MiB, so more would starve the rest of the server.
const AT_A_TIME: usize = 2;

/// Hashes passwords with Argon2id, on the threads for blocking work.
#[derive(Debug)]
pub struct Passwords {
    turns: Arc<Semaphore>,
    /// The hash of a random password, checked when there is no such user, so that the answer takes as long.
    nobody: Arc<OnceLock<String>>,
}

impl Default for Passwords {
    fn default() -> Self {
        Self { turns: Arc::new(Semaphore::new(AT_A_TIME)), nobody: Arc::default() }
    }
}

impl Passwords {
    /// The hash to store, in PHC form.
    ///
    /// # Errors
    /// Where the machine has no randomness.
    pub async fn hash(&self, password: String) -> Result<String, ApiError> {
        self.in_turn(move || hash(&password)).await?
    }

    /// Whether `password` is the one `stored` was made of; without a stored hash it never is, but takes as long.
    ///
    /// # Errors
    /// Where the machine has no randomness.
    pub async fn verify(&self, password: String, stored: Option<String>) -> Result<bool, ApiError> {
        let nobody = self.nobody.clone();
        self.in_turn(move || match stored {
            Some(stored) => Ok(matches(&password, &stored)),
            None => {
                if nobody.get().is_none() {
                    let random = crate::secret::random_token("").map_err(ApiError::internal)?;
                    let _ = nobody.set(hash(random.reveal())?);
                }
                let _ = matches(&password, nobody.get().map_or("", String::as_str));
                Ok(false)
            }
        })
        .await?
    }

    async fn in_turn<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let turn = self.turns.clone().acquire_owned().await.map_err(ApiError::internal)?;
        tokio::task::spawn_blocking(move || {
            let _turn = turn;
            work()
        })
        .await
        .map_err(ApiError::internal)
    }
}

fn hash(password: &str) -> Result<String, ApiError> {
    let hash: PasswordHash =
        Argon2::default().hash_password(password.as_bytes()).map_err(ApiError::internal)?;
    Ok(hash.to_string())
}

fn matches(password: &str, stored: &str) -> bool {
    PasswordHash::new(stored)
        .is_ok_and(|hash| Argon2::default().verify_password(password.as_bytes(), &hash).is_ok())
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
            assert_eq!(passwords.verify(password.to_owned(), stored).await.unwrap(), fits);
        }
    }

    /// Whether there is such a user cannot be told by the time an answer takes.
    #[tokio::test]
    async fn nobodys_password_takes_the_same_work() {
        let passwords = Passwords::default();
        let stored = passwords.hash("correct horse".to_owned()).await.unwrap();
        passwords.verify("a".to_owned(), None).await.unwrap();
        let nobody = passwords.nobody.get().unwrap().clone();
        // The algorithm, its version and its costs; then the salt and the hash, of the same lengths.
        let work = |hash: &str| hash.split('$').take(4).map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(work(&nobody), work(&stored));
        assert_eq!(nobody.len(), stored.len());
        passwords.verify("b".to_owned(), None).await.unwrap();
        assert_eq!(passwords.nobody.get(), Some(&nobody), "made once: no second hash gives it away");
    }
}
