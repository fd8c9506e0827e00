//! What copies of our rows in other databases share. The rows say what there is: from time to time, and when something has
//! changed, both are compared, and what differs is copied or taken out. So it does not matter what was missed while one of the
//! two was away, and nothing has to be remembered.

use data_encoding::HEXLOWER;
use serde_json::json;
use store::StoreError;

use crate::{documents::Documents, error::ApiError, platform::secret::random_bytes};

/// The setting that tells our part of a database that others use, too, from theirs.
const HOME: &str = "knowledge.home";
/// Why a copy could not be made.
pub(super) enum ReplicaError<E> {
    /// Of the other database.
    There(E),
    /// Of ours.
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
    /// A number of this installation, 16 hexadecimal digits: all servers on our database have the same.
    pub(super) async fn home(&self) -> Result<String, ApiError> {
        let fresh = HEXLOWER.encode(&random_bytes::<8>().map_err(ApiError::internal)?);
        let home = self.store.setting_or(HOME, &json!(fresh)).await?;
        Ok(home.as_str().unwrap_or_default().to_owned())
    }
}
