//! What copies of our rows in other databases share. The rows say what there is: from time to time, and when something has
//! changed, both are compared, and what differs is copied or taken out. So it does not matter what was missed while one of the
//! two was away, and nothing has to be remembered.

use std::time::Duration;

use data_encoding::HEXLOWER;
use futures_util::future::BoxFuture;
use serde_json::json;
use store::StoreError;
use tokio::sync::Notify;

use crate::{documents::Documents, error::ApiError, platform::secret::random_bytes};

/// The setting that tells our part of a database that others use, too, from theirs.
const HOME: &str = "knowledge.home";
/// How often both are compared where nothing is known to have changed.
const LOOK: Duration = Duration::from_secs(30);
/// The pause after a failure; it doubles.
const FIRST_PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// Why a copy could not be made.
pub(super) enum NoCopy<E> {
    /// Of the other database.
    There(E),
    /// Of ours.
    Here(ApiError),
}

impl<E> From<ApiError> for NoCopy<E> {
    fn from(error: ApiError) -> Self {
        Self::Here(error)
    }
}

impl<E> From<StoreError> for NoCopy<E> {
    fn from(error: StoreError) -> Self {
        Self::Here(error.into())
    }
}

/// Copies what is to be copied until the server stops. `copy` is told whether all is to be looked at as if for the first time;
/// `note` is told what the other database does not do.
pub(super) async fn keep_copying<'a, E>(
    documents: &'a Documents,
    changed: &Notify,
    copy: impl Fn(bool) -> BoxFuture<'a, Result<(), NoCopy<E>>>,
    note: impl Fn(&E),
) {
    let (mut pause, mut is_new) = (FIRST_PAUSE, true);
    loop {
        let copied = tokio::select! {
            () = documents.stopping.cancelled() => return,
            copied = copy(is_new) => copied,
        };
        is_new = copied.is_err();
        let wait = if is_new { pause } else { LOOK };
        pause = if is_new {
            (pause * 2).min(LONGEST_PAUSE)
        } else {
            FIRST_PAUSE
        };
        match copied {
            Ok(()) => {}
            Err(NoCopy::There(error)) => note(&error),
            Err(NoCopy::Here(error)) => {
                tracing::warn!(%error, "what is to be copied could not be read; trying again");
            }
        }
        tokio::select! {
            () = documents.stopping.cancelled() => return,
            // Changes do not make a server well.
            () = changed.notified(), if !is_new => {}
            () = tokio::time::sleep(wait) => {}
        }
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
