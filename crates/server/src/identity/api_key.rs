//! Creation and rotation of API keys, for the API and the command line.

use domain::{ApiKeyId, UserId};
use llm::Secret;
use store::{ApiKey, ApiKeyRights, NewApiKey, NewSecret, Store};

use crate::{
    error::ApiError,
    identity::auth::KEY_PREFIX,
    messages,
    platform::secret::{Sealer, hash_token, random_token},
};

/// The display name of a key: 1 to 100 characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyName(String);

impl KeyName {
    /// Validates a name; surrounding white space is trimmed.
    ///
    /// # Errors
    /// 400 if it is empty or too long.
    pub fn parse(text: &str) -> Result<Self, ApiError> {
        let name = text.trim();
        match name.chars().count() {
            1..=100 => Ok(Self(name.to_owned())),
            _ => Err(ApiError::invalid(messages::Accounts::BadKeyName)),
        }
    }
}

/// Creates a key for `user` with all rights of its owner. The secret is not stored and cannot be shown again.
///
/// # Errors
/// If the database fails.
pub async fn create_key(
    store: &Store,
    user: UserId,
    name: KeyName,
    now_ms: i64,
) -> Result<(ApiKey, Secret), ApiError> {
    create_key_for(store, user, name, ApiKeyRights::default(), None, now_ms).await
}

/// Creates a key with these `rights`. A front end can sign the identities of its users with the secret in `signing`.
///
/// # Errors
/// If the database fails.
pub(crate) async fn create_key_for(
    store: &Store,
    user: UserId,
    name: KeyName,
    rights: ApiKeyRights,
    signing: Option<(&Sealer, Secret)>,
    now_ms: i64,
) -> Result<(ApiKey, Secret), ApiError> {
    let (secret, prefix) = new_secret()?;
    let id = ApiKeyId::generate();
    let sealed = signing.map(|(sealer, secret)| sealer.seal(&id.to_string(), &secret));
    let new = NewApiKey {
        id,
        user,
        name: name.0,
        prefix,
        secret_hash: hash_token(secret.reveal()),
        created_at: now_ms,
        rights,
        sealed_signing_key: sealed.transpose().map_err(ApiError::internal)?,
    };
    store.create_api_key(&new).await?;
    Ok((store.api_key(user, id).await?, secret))
}

/// Replaces a key's secret; the old one stays valid until `old_until`, or is revoked at once if that is `None`.
///
/// # Errors
/// 404 if the user has no such key.
pub(crate) async fn rotate_key(
    store: &Store,
    user: UserId,
    id: ApiKeyId,
    old_until: Option<i64>,
    now_ms: i64,
) -> Result<(ApiKey, Secret), ApiError> {
    let (secret, prefix) = new_secret()?;
    let new = NewSecret {
        prefix,
        secret_hash: hash_token(secret.reveal()),
        old_until,
    };
    store.rotate_api_key(user, id, &new, now_ms).await?;
    Ok((store.api_key(user, id).await?, secret))
}

/// A new secret and its prefix, long enough to recognize the key but too short to help in guessing it.
fn new_secret() -> Result<(Secret, String), ApiError> {
    let secret = random_token(KEY_PREFIX).map_err(ApiError::internal)?;
    let prefix = secret.reveal().chars().take(KEY_PREFIX.len() + 6).collect();
    Ok((secret, prefix))
}
