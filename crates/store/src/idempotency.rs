//! Idempotency keys: find the run of a repeated request.

use domain::RunId;

use crate::{Principal, Store, StoreError};

/// The caller's key of a request. It is stored in the run's own row, so that both are stored or neither.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey {
    /// The key, unique per principal.
    pub key: String,
    /// SHA-256 of the request.
    pub request_hash: [u8; 32],
}

/// The run of an earlier request with the same key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StartedBefore {
    /// The run.
    pub run: RunId,
    /// Whether it was the same request.
    pub same_request: bool,
}

impl Store {
    /// The run that an earlier request of this principal with this key has started.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn started_before(
        &self,
        principal: &Principal,
        key: &IdempotencyKey,
    ) -> Result<Option<StartedBefore>, StoreError> {
        let sql = "SELECT id, request_hash FROM runs WHERE owner = $1 AND idempotency_key = $2 \
                   AND COALESCE(api_key, '') = $3 AND COALESCE(person, '') = $4";
        let query = self.db().read(sql).id(principal.account).text(&key.key);
        let query = query.text(&principal.key.map(|key| key.to_string()).unwrap_or_default());
        let row = query
            .text(principal.person.as_deref().unwrap_or_default())
            .fetch_optional()
            .await?;
        row.map(|row| {
            let same_request = row.get::<Vec<u8>>("request_hash")? == key.request_hash;
            Ok(StartedBefore {
                run: row.id("id")?,
                same_request,
            })
        })
        .transpose()
    }

    /// Deletes the keys of runs started before that time; returns their number.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn forget_idempotency_keys(&self, started_before: i64) -> Result<u64, StoreError> {
        let sql = "UPDATE runs SET idempotency_key = NULL, request_hash = NULL \
                   WHERE idempotency_key IS NOT NULL AND started_at < $1";
        self.db().write(sql).bind(started_before).execute().await
    }
}
