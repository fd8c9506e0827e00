//! Who just now takes their data along or brings some: one of it at a time for each person, and few on the whole server.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use domain::UserId;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{error::ApiError, messages};

/// Most at a time, those among them that only wait for slow readers and senders.
const MOST: usize = 64;
/// Most imports that are read and written at a time: each may hold many megabytes and keep the database busy.
const MAX_AT_WORK: usize = 2;
/// How long whoever is too many is asked to wait.
const WAIT_S: u64 = 20;

/// The exports and imports that are going on.
#[derive(Debug, Clone)]
pub(crate) struct TransferSlots {
    going: Arc<Mutex<HashSet<UserId>>>,
    at_work: Arc<Semaphore>,
}

/// One of them; over when dropped.
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
    /// Begins with one.
    ///
    /// # Errors
    /// 409 where the person has one going, 429 where too many others have.
    pub(crate) fn begin(&self, user: UserId) -> Result<Held, ApiError> {
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        if going.contains(&user) {
            return Err(ApiError::conflict(messages::Chats::StillMoving));
        }
        if going.len() >= MOST {
            return Err(ApiError::rate_limited(WAIT_S));
        }
        going.insert(user);
        Ok(Held(self.clone(), user))
    }

    /// Waits until an import may begin to work.
    ///
    /// # Errors
    /// Never, as nobody closes it.
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
        let ids: Vec<UserId> = (0..=MOST).map(|_| UserId::generate()).collect();
        let mut held: Vec<Held> = ids[..MOST]
            .iter()
            .map(|id| slots.begin(*id).unwrap())
            .collect();
        let status = |id| slots.begin(id).err().unwrap().problem().code;
        assert_eq!(status(ids[0]), domain::ProblemCode::Conflict);
        assert_eq!(status(ids[MOST]), domain::ProblemCode::RateLimited);
        held.remove(0);
        slots.begin(ids[MOST]).unwrap();
    }
}
