//! Synchronizes collections with the sources that the server asks.

use std::{future::Future, sync::Arc, time::Duration};

use domain::{LocalizedText, SyncId};
use sources::{Listing, Source, SourceProblem};
use store::{ClaimedSync, Manifest, StoreError, SyncItemState, SyncState};

use super::{
    Patterns, SourceOptions, Sources, feed,
    items::{is_valid, stored, unstored},
    problem_words,
};
use crate::{error::ApiError, messages, platform::jobs::Next};

/// How long another server waits before it takes over, milliseconds.
const CLAIM_MS: i64 = 300_000;
/// How often the claim is extended.
const HOLD: Duration = Duration::from_secs(20);
/// Number of documents that are looked up at a time.
const BATCH: u32 = 100;
/// Maximum number of schedules that are started at a time.
const DUE: u32 = 20;
/// After so many failures in a row, the source is taken to be unavailable.
const MAX_FAILURES: usize = 10;

/// Why a synchronization is not completed.
enum Stop {
    /// It was cancelled, or is another server's now.
    Lost,
    /// The source cannot be asked.
    Failed(LocalizedText),
    /// The database failed.
    Error(ApiError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        Self::Error(error.into())
    }
}

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        Self::Error(error)
    }
}

impl Sources {
    /// Begins synchronizations that are due and works on one that is running. If the server stops, another one
    /// continues.
    pub(crate) async fn synchronize_next(self: Arc<Self>) -> Result<Next, ApiError> {
        self.begin_due().await?;
        let now = self.clock.now_ms();
        let Some(claimed) = self.store.claim_sync(now, now + CLAIM_MS).await? else {
            return Ok(Next::Idle);
        };
        tokio::select! {
            () = self.stopping.cancelled() => {
                self.store.hold_sync(claimed.sync.id, 0).await?;
                return Ok(Next::Done);
            }
            worked = self.work(&claimed) => match worked {
                Ok(()) | Err(Stop::Lost) => {}
                Err(Stop::Failed(why)) => {
                    let now = self.clock.now_ms();
                    self.store.fail_sync(claimed.sync.id, &why.to_column(), now).await?;
                }
                Err(Stop::Error(error)) => {
                    // It is tried again, but not at once.
                    self.store.hold_sync(claimed.sync.id, self.clock.now_ms() + CLAIM_MS / 10).await?;
                    return Err(error);
                }
            },
        }
        Ok(Next::Now)
    }

    async fn begin_due(&self) -> Result<(), ApiError> {
        let now = self.clock.now_ms();
        for source in self.store.due_sources(now, DUE).await? {
            let begun = self
                .store
                .begin_sync(source, SyncId::generate(), false, now);
            match begun.await {
                // The previous one is not done, or it was just deleted.
                Ok(()) | Err(StoreError::Conflict(_) | StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    async fn work(&self, claimed: &ClaimedSync) -> Result<(), Stop> {
        let (source, patterns) = self.open(claimed).map_err(Stop::Failed)?;
        let sync = claimed.sync.id;
        let collection = claimed.source.collection;
        let mut position = None;
        if !claimed.sync.listed {
            let (listing, listed_at) = self.listing(claimed, &source).await?;
            position = feed::position(&listing, listed_at);
            let manifest = self.manifest(listing, &patterns);
            let now = self.clock.now_ms();
            let listed = self.store.list_sync(collection, sync, &manifest, now).await;
            listed.map_err(lost)?;
        }
        self.receive_missing(claimed, &source).await?;
        let completed = self.complete(claimed.owner, collection, sync, None).await;
        if completed.map_err(Stop::Error)?.state == SyncState::Done {
            self.keep_position(&claimed.source, position).await?;
        }
        Ok(())
    }

    /// The documents of a source: what has changed since the last synchronization, or all. With when all were listed last.
    async fn listing(
        &self,
        claimed: &ClaimedSync,
        source: &Source,
    ) -> Result<(Listing, i64), Stop> {
        let failed = |problem: SourceProblem| Stop::Failed(self.words(&problem));
        let sync = claimed.sync.id;
        let now = self.clock.now_ms();
        if let Some((position, known)) = self.known(claimed.source.id, now).await? {
            let asked = source.list_changes(&position.at, known);
            if let Some(listing) = self.holding(sync, asked).await?.map_err(failed)? {
                return Ok((listing, position.listed_at));
            }
        }
        let listing = self.holding(sync, source.list()).await?.map_err(failed)?;
        Ok((listing, now))
    }

    fn open(&self, claimed: &ClaimedSync) -> Result<(Source, Patterns), LocalizedText> {
        let of_error = |error: ApiError| error.problem().clone().words();
        let secret = self.secret(&claimed.source).map_err(of_error)?;
        let settings = claimed.source.settings.clone().unwrap_or_default();
        let options: SourceOptions = serde_json::from_value(settings).map_err(|error| {
            LocalizedText::from(messages::Sources::SettingsUnreadable {
                reason: error.to_string(),
            })
        })?;
        let patterns = Patterns::new(&options).map_err(of_error)?;
        let source = Source::new(options.from, &secret, self.surroundings());
        let source = source.map_err(|problem| self.words(&problem))?;
        Ok((source.reading_pages(Arc::clone(&self.pages)), patterns))
    }

    /// What a source has, without what is left out or invalid.
    fn manifest(&self, listing: Listing, patterns: &Patterns) -> Manifest {
        let is_whole = !listing.is_window && listing.problems.is_empty();
        let mut problems: Vec<_> = listing
            .problems
            .into_iter()
            .map(|part| (part.name, self.words(&part.problem).to_column()))
            .collect();
        let mut items = Vec::with_capacity(listing.items.len());
        for item in listing.items.into_iter().map(stored) {
            if !patterns.admits(&item.name) {
                continue;
            }
            if is_valid(&item) {
                items.push(item);
            } else {
                let why = LocalizedText::from(messages::Sources::BadSourceDocument);
                problems.push((item.name, why.to_column()));
            }
        }
        Manifest {
            items,
            problems,
            is_whole,
        }
    }

    async fn receive_missing(&self, claimed: &ClaimedSync, source: &Source) -> Result<(), Stop> {
        let sync = claimed.sync.id;
        let mut after = String::new();
        let mut failures = 0;
        loop {
            let missing = [SyncItemState::Missing];
            let batch = self.store.sync_items(sync, &missing, &after, BATCH).await?;
            let Some(last) = batch.last() else {
                return Ok(());
            };
            after.clone_from(&last.item.id);
            for missing in batch {
                let id = missing.item.id.clone();
                let item = unstored(missing.item);
                let why = match self.holding(sync, source.read(&item)).await? {
                    Ok(content) => {
                        failures = 0;
                        let collection = claimed.source.collection;
                        let received = self.receive(claimed.owner, collection, sync, &id, &content);
                        match received.await {
                            Ok(_) => continue,
                            Err(error) if error.is_ours() => return Err(error.into()),
                            Err(error) => error.problem().clone().words(),
                        }
                    }
                    Err(problem) => {
                        failures = if concerns_all(&problem) {
                            failures + 1
                        } else {
                            0
                        };
                        let why = self.words(&problem);
                        if failures == MAX_FAILURES {
                            return Err(Stop::Failed(why));
                        }
                        why
                    }
                };
                self.store.fail_item(sync, &id, &why.to_column()).await?;
            }
        }
    }

    /// Extends the claim while something is being waited for, and ends if it is lost.
    async fn holding<T>(&self, sync: SyncId, work: impl Future<Output = T>) -> Result<T, Stop> {
        tokio::pin!(work);
        loop {
            let until = self.clock.now_ms() + CLAIM_MS;
            if !self.store.hold_sync(sync, until).await? {
                return Err(Stop::Lost);
            }
            tokio::select! {
                done = &mut work => return Ok(done),
                () = tokio::time::sleep(HOLD) => {}
            }
        }
    }

    fn words(&self, problem: &SourceProblem) -> LocalizedText {
        problem_words(problem, self.surroundings().limits)
    }
}

fn lost(error: StoreError) -> Stop {
    match error {
        StoreError::NotFound => Stop::Lost,
        error => error.into(),
    }
}

/// Whether a problem with a document is one with the whole source.
fn concerns_all(problem: &SourceProblem) -> bool {
    match problem {
        SourceProblem::Refused
        | SourceProblem::Limited
        | SourceProblem::Unreachable(_)
        | SourceProblem::NoProgram(_)
        | SourceProblem::Settings { .. } => true,
        SourceProblem::Status { status } => *status >= 500,
        SourceProblem::NotFound
        | SourceProblem::Gone
        | SourceProblem::TooLarge
        | SourceProblem::TooMany
        | SourceProblem::Malformed(_)
        | SourceProblem::File(_) => false,
    }
}
