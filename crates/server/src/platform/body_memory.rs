//! Limits the total memory of buffered request bodies.

use std::{
    sync::{
        Arc,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use domain::ProblemCode;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::{error::ApiError, messages};

/// Budget for the bodies of all anonymous callers together, bytes.
const ANONYMOUS_MEMORY_BYTES: usize = 16_000_000;
/// The first bytes of each body are not counted, so that signing in works even if others hold all memory. The limit on
/// connections bounds their total.
const FREE_BYTES: usize = 4096;
/// The unit of accounting, bytes.
const UNIT_BYTES: usize = 1024;
/// How long a body waits for memory.
const MEMORY_WAIT: Duration = Duration::from_secs(5);

/// The memory budget for buffered request bodies. Signed-in callers never wait for anonymous ones.
#[derive(Debug)]
pub struct BodyMemory {
    signed_in: Arc<Semaphore>,
    /// The size of `signed_in`, in units.
    signed_in_units: AtomicUsize,
    anonymous: Arc<Semaphore>,
}

impl BodyMemory {
    /// A budget of `bytes` for signed-in callers.
    pub(crate) fn new(bytes: usize) -> Self {
        let units = |bytes: usize| Arc::new(Semaphore::new(bytes.div_ceil(UNIT_BYTES)));
        Self {
            signed_in: units(bytes),
            signed_in_units: AtomicUsize::new(bytes.div_ceil(UNIT_BYTES)),
            anonymous: units(ANONYMOUS_MEMORY_BYTES),
        }
    }

    /// Grows the budget for signed-in callers to at least `bytes`, so that the largest body that is allowed now fits.
    pub(crate) fn grow(&self, bytes: usize) {
        let units = bytes.div_ceil(UNIT_BYTES);
        let before = self.signed_in_units.fetch_max(units, Ordering::Relaxed);
        self.signed_in.add_permits(units.saturating_sub(before));
    }

    pub(crate) fn reserve(&self, is_signed_in: bool) -> Reservation {
        let memory = if is_signed_in {
            &self.signed_in
        } else {
            &self.anonymous
        };
        Reservation {
            memory: Arc::clone(memory),
            held: None,
        }
    }
}

/// The memory reserved for one body, released on drop.
#[derive(Debug)]
pub(crate) struct Reservation {
    memory: Arc<Semaphore>,
    held: Option<OwnedSemaphorePermit>,
}

impl Reservation {
    /// Whether any memory is reserved.
    pub(crate) fn is_held(&self) -> bool {
        self.held.is_some()
    }

    /// Releases the memory.
    pub(crate) fn release(&mut self) {
        self.held = None;
    }

    /// Grows to `bytes` of a body; waits up to [`MEMORY_WAIT`] for memory to become free.
    pub(crate) async fn grow_to(&mut self, bytes: usize) -> Result<(), ApiError> {
        let needed = bytes.saturating_sub(FREE_BYTES).div_ceil(UNIT_BYTES);
        let missing = needed.saturating_sub(
            self.held
                .as_ref()
                .map_or(0, OwnedSemaphorePermit::num_permits),
        );
        if missing == 0 {
            return Ok(());
        }
        let missing = u32::try_from(missing).map_err(ApiError::internal)?;
        let more = Arc::clone(&self.memory).acquire_many_owned(missing);
        let more = tokio::time::timeout(MEMORY_WAIT, more)
            .await
            .map_err(|_| busy())?;
        let more = more.map_err(ApiError::internal)?;
        match &mut self.held {
            Some(held) => held.merge(more),
            None => self.held = Some(more),
        }
        Ok(())
    }
}

fn busy() -> ApiError {
    ApiError::new(ProblemCode::Unavailable, messages::Requests::BodiesFull)
        .with_retry_after(MEMORY_WAIT.as_secs())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn bodies_share_a_memory() {
        let all = BodyMemory::new(1_000_000);
        let mut first = all.reserve(true);
        first.grow_to(600_000).await.unwrap();
        let mut second = all.reserve(true);
        let refused = second.grow_to(600_000).await.unwrap_err();
        assert_eq!(refused.problem().code, ProblemCode::Unavailable);
        // Small bodies and those of other callers still fit.
        second.grow_to(FREE_BYTES).await.unwrap();
        let mut other = all.reserve(false);
        other.grow_to(64_000).await.unwrap();
        let (found, ()) = tokio::join!(second.grow_to(600_000), async move { drop(first) });
        found.unwrap();
    }

    #[tokio::test(start_paused = true)]
    async fn the_budget_grows_with_the_largest_body_and_never_shrinks() {
        let all = BodyMemory::new(1_000_000);
        assert!(all.reserve(true).grow_to(1_500_000).await.is_err());
        all.grow(2_000_000);
        all.grow(1_000_000);
        all.reserve(true).grow_to(1_500_000).await.unwrap();
        all.grow(2_000_000);
        assert!(all.reserve(true).grow_to(2_500_000).await.is_err());
    }

    #[tokio::test(start_paused = true)]
    async fn whoever_is_not_signed_in_takes_no_memory_from_those_who_are() {
        let all = BodyMemory::new(1_000_000);
        let mut held = Vec::new();
        for _ in 0..ANONYMOUS_MEMORY_BYTES / UNIT_BYTES / 59 {
            let mut one = all.reserve(false);
            one.grow_to(64_000).await.unwrap();
            held.push(one);
        }
        assert!(all.reserve(false).grow_to(64_000).await.is_err());
        all.reserve(false).grow_to(1000).await.unwrap();
        all.reserve(true).grow_to(900_000).await.unwrap();
    }
}
