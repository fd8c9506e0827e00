//! Limits on concurrent exports and imports: one for each account, also where several servers share the database, and a number
//! for each server.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, PoisonError},
};

use domain::UserId;
use store::Store;
use tokio::{
    runtime::Handle,
    sync::{OwnedSemaphorePermit, Semaphore},
};

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
    store: Store,
    going: Arc<Mutex<HashSet<UserId>>>,
    at_work: Arc<Semaphore>,
}

/// A transfer in progress; ends when dropped.
#[derive(Debug)]
pub(crate) struct Held {
    slots: TransferSlots,
    user: UserId,
    /// Other servers know about it.
    is_shared: bool,
}

impl TransferSlots {
    pub(crate) fn new(store: Store) -> Self {
        Self {
            store,
            going: Arc::default(),
            at_work: Arc::new(Semaphore::new(MAX_AT_WORK)),
        }
    }

    /// Starts a transfer.
    ///
    /// # Errors
    /// 409 if the user has one in progress, 429 if there are too many.
    pub(crate) async fn begin(&self, user: UserId) -> Result<Held, ApiError> {
        let mut held = self.begin_here(user)?;
        if self.store.is_shared() {
            if !self.store.begin_transfer(user).await? {
                return Err(ApiError::conflict(messages::Chats::StillMoving));
            }
            held.is_shared = true;
        }
        Ok(held)
    }

    fn begin_here(&self, user: UserId) -> Result<Held, ApiError> {
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        if going.contains(&user) {
            return Err(ApiError::conflict(messages::Chats::StillMoving));
        }
        if going.len() >= MAX_TRANSFERS {
            return Err(ApiError::rate_limited(WAIT_S));
        }
        going.insert(user);
        Ok(Held {
            slots: self.clone(),
            user,
            is_shared: false,
        })
    }

    fn end_here(&self, user: UserId) {
        let mut going = self.going.lock().unwrap_or_else(PoisonError::into_inner);
        going.remove(&user);
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
        let (slots, user) = (self.slots.clone(), self.user);
        let (true, Ok(runtime)) = (self.is_shared, Handle::try_current()) else {
            slots.end_here(user);
            return;
        };
        // In this order, so that the next one of this server does not lose its row.
        runtime.spawn(async move {
            if let Err(error) = slots.store.end_transfer(user).await {
                tracing::warn!(%error, "other servers refuse an account's exports until this one stops");
            }
            slots.end_here(user);
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn one_for_each_and_few_in_all() {
        let slots = TransferSlots::new(Store::open("sqlite::memory:").await.unwrap());
        let ids: Vec<UserId> = (0..=MAX_TRANSFERS).map(|_| UserId::generate()).collect();
        let mut held = Vec::new();
        for id in &ids[..MAX_TRANSFERS] {
            held.push(slots.begin(*id).await.unwrap());
        }
        let status = async |id| slots.begin(id).await.err().unwrap().problem().code;
        assert_eq!(status(ids[0]).await, domain::ProblemCode::Conflict);
        assert_eq!(
            status(ids[MAX_TRANSFERS]).await,
            domain::ProblemCode::RateLimited
        );
        held.remove(0);
        slots.begin(ids[MAX_TRANSFERS]).await.unwrap();
    }
}
