//! What the copies of our rows in other databases share. The rows are the source of truth: periodically and after
//! changes, both are compared and the differences are copied or deleted. So it does not matter what either missed while
//! it was away, and no queue of changes is needed.

use data_encoding::HEXLOWER;
use serde_json::json;
use store::StoreError;

use crate::{documents::Documents, error::ApiError, platform::secret::random_bytes};

/// The setting with the id that separates our data from others' in a shared database.
const HOME: &str = "knowledge.home";
/// Why copying failed.
pub(super) enum ReplicaError<E> {
    /// An error of the other database.
    There(E),
    /// An error of our own.
    Here(ApiError),
}

impl<E> From<ApiError> for ReplicaError<E> {
    fn from(error: ApiError) -> Self {
        Self::Here(error)
    }
}

impl<E> From<StoreError> for ReplicaError<E> {
    fn from(error: StoreError) -> Self {
        Self::Here(error.into())
    }
}

impl Documents {
    /// This installation's id, 16 hexadecimal digits, shared by all servers on our database.
    pub(super) async fn home(&self) -> Result<String, ApiError> {
        let fresh = HEXLOWER.encode(&random_bytes::<8>().map_err(ApiError::internal)?);
        let home = self.store.setting_or(HOME, &json!(fresh)).await?;
        Ok(home.as_str().unwrap_or_default().to_owned())
    }
}
