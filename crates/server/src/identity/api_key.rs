//! Makes bearer keys, for the API and the command line alike.

use domain::{ApiKeyId, UserId};
use llm::Secret;
use store::{ApiKey, ApiKeyRights, NewApiKey, NewSecret, Store};

use crate::{
    error::ApiError,
    identity::auth::KEY_PREFIX,
    messages,
    platform::secret::{Sealer, hash_token, random_token},
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
            _ => Err(ApiError::invalid(messages::Accounts::BadKeyName)),
        }
    }
}

/// Makes a key for `user` that is good for all its owner may. The secret is not kept and cannot be shown again.
///
/// # Errors
/// Where the database does not answer.
pub async fn create_key(
    store: &Store,
    user: UserId,
    name: KeyName,
    now_ms: i64,
) -> Result<(ApiKey, Secret), ApiError> {
    create_key_for(store, user, name, ApiKeyRights::default(), None, now_ms).await
}

/// Makes a key that is good for `rights`. A front end may sign its people's names with the secret in `signing`.
///
/// # Errors
/// Where the database does not answer.
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

/// Gives a key another secret; the one before is good until `old_until`, or not at all.
///
/// # Errors
/// 404 where the user has no such key.
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

/// A secret, and enough of it to know it by, too little to guess the rest.
fn new_secret() -> Result<(Secret, String), ApiError> {
    let secret = random_token(KEY_PREFIX).map_err(ApiError::internal)?;
    let prefix = secret.reveal().chars().take(KEY_PREFIX.len() + 6).collect();
    Ok((secret, prefix))
}
