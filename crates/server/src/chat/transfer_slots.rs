//! Per-user and global limits on concurrent exports and imports.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use domain::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{error::ApiError, messages};

/// Maximum number of transfers, including those that only wait for slow readers and senders.
const MAX_TRANSFERS: usize = 64;
/// Maximum number of imports processed concurrently: each may hold many megabytes and keep the database busy.
const MAX_AT_WORK: usize = 2;
/// The `Retry-After` of refused requests, seconds.
const WAIT_S: u64 = 20;

/// The transfers in progress.
#[derive(Debug, Clone)]
pub(crate) struct TransferSlots {
    going: Arc<Mutex<HashSet<UserId>>>,
    at_work: Arc<Semaphore>,
}

/// A transfer in progress; ends when dropped.
#[derive(Debug)]
pub(crate) struct Held(TransferSlots, UserId);

impl Default for TransferSlots {
    fn default() -> Self {
        Self {
            going: Arc::default(),
            at_work: Arc::new(Semaphore::new(MAX_AT_WORK)),
        }
    }
}

impl TransferSlots {
    /// Starts a transfer.
    ///
    /// # Errors
    /// 409 if the user has one in progress, 429 if there are too many.
    pub(crate) fn begin(&self, user: UserId) -> Result<Held, ApiError> {
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        if going.contains(&user) {
            return Err(ApiError::conflict(messages::Chats::StillMoving));
        }
        if going.len() >= MAX_TRANSFERS {
            return Err(ApiError::rate_limited(WAIT_S));
        }
        going.insert(user);
        Ok(Held(self.clone(), user))
    }

    /// Waits until an import may be processed.
    ///
    /// # Errors
    /// Never: the semaphore is not closed.
    pub(crate) async fn turn(&self) -> Result<OwnedSemaphorePermit, ApiError> {
        Arc::clone(&self.at_work)
            .acquire_owned()
            .await
            .map_err(ApiError::internal)
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.0
            .going
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .remove(&self.1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_for_each_and_few_in_all() {
        let slots = TransferSlots::default();
        let ids: Vec<UserId> = (0..=MAX_TRANSFERS).map(|_| UserId::generate()).collect();
        let mut held: Vec<Held> = ids[..MAX_TRANSFERS]
            .iter()
            .map(|id| slots.begin(*id).unwrap())
            .collect();
        let status = |id| slots.begin(id).err().unwrap().problem().code;
        assert_eq!(status(ids[0]), domain::ProblemCode::Conflict);
        assert_eq!(status(ids[MAX_TRANSFERS]), domain::ProblemCode::RateLimited);
        held.remove(0);
        slots.begin(ids[MAX_TRANSFERS]).unwrap();
    }
}
