//! Makes bearer keys, for the API and the command line alike.

use domain::{ApiKeyId, UserId};
use llm::Secret;
use store::{ApiKey, NewApiKey, Store};

use crate::{
    auth::KEY_PREFIX,
    error::ApiError,
    secret::{hash_token, random_token},
};

/// What people call a key: 1 to 100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName(String);

impl KeyName {
    /// Reads a name; white space around it is dropped.
    ///
    /// # Errors
    /// 400 where it is empty or too long.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let name = text.trim();
        match name.chars().count() {
            1..=100 => Ok(Self(name.to_owned())),
            _ => Err(ApiError::invalid("A key needs a name of 1 to 100 characters, to know it by later.")),
        }
    }
}

/// Makes a key for `user`. The secret is not kept and cannot be shown again.
///
/// # Errors
/// Where the database does not answer.
pub async fn create_key(
    store: &Store,
    user: UserId,
    name: KeyName,
    now_ms: i64,
) -> Result<(ApiKey, Secret), ApiError> {
    let secret = random_token(KEY_PREFIX).map_err(ApiError::internal)?;
    // Enough to know it by, too little to guess the rest.
    let prefix = secret.reveal().chars().take(KEY_PREFIX.len() + 6).collect::<String>();
    let id = ApiKeyId::generate();
    let new = NewApiKey {
        id,
        user,
        name: name.0.clone(),
        prefix: prefix.clone(),
        secret_hash: hash_token(secret.reveal()),
        created_at: now_ms,
    };
    store.create_api_key(&new).await?;
    Ok((ApiKey { id, name: name.0, prefix, created_at: now_ms, last_used_at: None }, secret))
}
