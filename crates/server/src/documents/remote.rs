//! Has documents read by services: recordings by a model that transcribes them, and other files by the external document
//! reader. It runs apart from the reading on this machine, so that neither waits for the other.

use std::sync::{Arc, atomic::AtomicBool};

use bytes::Bytes;
use domain::LocalizedText;
use knowledge::{Document, READER_VERSION, Recording, Unreadable};
use store::{ClaimedReading, ReadingFailure, ReadingResult, ReadingTask, SlowReading, StoreError};
use tokio::task::spawn_blocking;

use super::{
    Documents,
    reader::{Reader, ReaderError},
    reading::{as_column, read, settled, text},
};
use crate::{
    error::ApiError,
    platform::{
        config::{ReaderSettings, TranscriptionSettings},
        jobs::Next,
    },
};

/// Time before another server may take over a document, milliseconds; it is extended meanwhile.
const CLAIM_MS: i64 = 180_000;
/// Delay before the first retry, milliseconds; it doubles.
const RETRY_MS: i64 = 10_000;
/// Failures after which a document is no longer retried automatically.
const MAX_FAILURES: u64 = 4;

/// What reads a document.
enum Service {
    Transcription(TranscriptionSettings, Recording),
    Reader(Box<ReaderSettings>),
}

/// Why a service has not read a document.
pub(super) enum RemoteFailure {
    /// The service works, but there is no text.
    Unreadable(Unreadable),
    /// The service does not work.
    Service {
        code: &'static str,
        words: LocalizedText,
        retry: Retry,
    },
}

/// Whether a service is asked again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Retry {
    /// A few times.
    Soon,
    /// After these seconds, however often.
    After(u64),
    /// Only if a person wants it.
    No,
}

impl Documents {
    /// Has the next document read by a service.
    pub(crate) async fn read_remotely_next(self: Arc<Self>) -> Result<Next, ApiError> {
        let now = self.clock.now_ms();
        let until = now.saturating_add(CLAIM_MS);
        let claimed = self
            .store
            .claim_slow_reading(SlowReading::Remote, now, until);
        let Some(of) = claimed.await? else {
            return Ok(Next::Idle);
        };
        let file = match self.store.document_file(of.unread.id).await {
            Ok(file) => Arc::new(file),
            // Concurrently deleted.
            Err(StoreError::NotFound) => return Ok(Next::Now),
            Err(error) => return Err(error.into()),
        };
        let Some(service) = self.service_for(&of.unread.name, &file) else {
            // The settings have changed. It is read like other files, and then says what is missing.
            self.store.requeue_slow_reading(&of.unread).await?;
            self.look_again();
            return Ok(Next::Now);
        };
        let asked = tokio::select! {
            asked = self.ask(&service, &of, &file) => asked?,
            read = self.extend_claim_while_wanted(&of.unread) => {
                read?;
                return Ok(Next::Now);
            }
        };
        match asked {
            Ok(document) => {
                let read = text(document).map_err(ApiError::internal)?;
                self.settle_picture(&of, &read).await?;
            }
            Err(failure) => self.settle_failure(&service, &of, file, failure).await?,
        }
        Ok(Next::Now)
    }

    /// The name and version of the external document reader, or why it does not answer; `None` if there is none.
    pub(crate) async fn reader_version(&self) -> Option<Result<String, LocalizedText>> {
        let settings = self.config.now().knowledge.reader.clone()?;
        let reader = Reader {
            settings,
            outbound: self.outbound.clone(),
        };
        Some(reader.version().await.map_err(ReaderError::words))
    }

    /// The service for a file, as far as is known without reading it here.
    fn service_for(&self, name: &str, file: &[u8]) -> Option<Service> {
        let knowledge = &self.config.now().knowledge;
        let ending = ending(name);
        let reader = || knowledge.reader.clone().map(Box::new).map(Service::Reader);
        match Recording::of(&ending, file) {
            None => reader(),
            Some(_) if is_named(knowledge.reader.as_ref(), &ending) => reader(),
            Some(recording) => knowledge
                .transcription
                .clone()
                .map(|settings| Service::Transcription(settings, recording)),
        }
    }

    /// Whether a service reads a file before this server tries to.
    pub(super) fn is_read_remotely_first(&self, name: &str, file: &[u8]) -> bool {
        let knowledge = &self.config.now().knowledge;
        let ending = ending(name);
        let is_recording = || Recording::of(&ending, file).is_some();
        is_named(knowledge.reader.as_ref(), &ending)
            || knowledge.reader.as_ref().is_some_and(|it| it.files.all) && !is_recording()
    }

    /// Whether a service reads a file that this server has read with this result.
    /// `sees_more` says whether pictures in it can be read here.
    pub(super) fn is_read_remotely_after(
        &self,
        read: &Result<Document, Unreadable>,
        sees_more: bool,
    ) -> bool {
        let knowledge = &self.config.now().knowledge;
        let reader = knowledge.reader.as_ref();
        let takes_scans = reader.is_some_and(|it| it.files.scans);
        let takes_unreadable = reader.is_some_and(|it| it.files.unreadable);
        match read {
            Ok(document) => takes_scans && !document.unread.is_empty(),
            Err(Unreadable::Recording) => knowledge.transcription.is_some(),
            Err(Unreadable::Picture | Unreadable::NoRecognition | Unreadable::NotRecognized) => {
                takes_scans || takes_unreadable && !sees_more
            }
            Err(
                Unreadable::UnknownFormat
                | Unreadable::Damaged { .. }
                | Unreadable::NoText
                | Unreadable::TooSlow { .. }
                | Unreadable::TooMuchMemory
                | Unreadable::Fault { .. },
            ) => takes_unreadable,
            // A limit or a password is the same elsewhere.
            Err(_) => false,
        }
    }

    async fn ask(
        &self,
        service: &Service,
        of: &ClaimedReading,
        file: &Arc<Vec<u8>>,
    ) -> Result<Result<Document, RemoteFailure>, ApiError> {
        match service {
            Service::Transcription(settings, recording) => {
                Ok(self.transcribe(settings, of, *recording, file).await)
            }
            Service::Reader(settings) => {
                let reader = Reader {
                    settings: (**settings).clone(),
                    outbound: self.outbound.clone(),
                };
                let converted = reader
                    .convert(&ending(&of.unread.name), Bytes::copy_from_slice(file))
                    .await;
                match converted {
                    Ok(answer) => {
                        let read = self.read_converted(&reader, answer).await?;
                        Ok(read.map_err(RemoteFailure::Unreadable))
                    }
                    Err(error) => Ok(Err(failure(error))),
                }
            }
        }
    }

    /// Reads the answer of a document reader in a process of its own, as files are read.
    async fn read_converted(
        &self,
        reader: &Reader,
        answer: Bytes,
    ) -> Result<Result<Document, Unreadable>, ApiError> {
        let process = self.reader.clone();
        let limits = self.reading_limits();
        let converter = reader.converter();
        let read = move || {
            process.read_converted_until(converter, &answer, &limits, &AtomicBool::new(false))
        };
        spawn_blocking(read).await.map_err(ApiError::internal)
    }

    /// Retries a document that a service has not read, or reads it here as far as possible.
    async fn settle_failure(
        &self,
        service: &Service,
        of: &ClaimedReading,
        file: Arc<Vec<u8>>,
        failure: RemoteFailure,
    ) -> Result<(), ApiError> {
        let problem = match failure {
            RemoteFailure::Service { code, words, retry } => {
                tracing::info!(document = %of.unread.id, code, %words, "a service did not read a document");
                let problem = as_column(code, &words);
                if let Some(again) = self.next_try(of, &problem, retry) {
                    let recorded = self.store.record_reading_failure(&of.unread, &again);
                    return Ok(recorded.await?);
                }
                ReadingResult::Problem(problem)
            }
            RemoteFailure::Unreadable(why) => settled(Err(why)).map_err(ApiError::internal)?,
        };
        match service {
            Service::Transcription(..) => self.settle_picture(of, &problem).await,
            Service::Reader(_) => self.read_here_instead(of, file, problem).await,
        }
    }

    /// When to ask again; `None` if that is up to a person.
    fn next_try(&self, of: &ClaimedReading, problem: &str, retry: Retry) -> Option<ReadingFailure> {
        let failures = of.failures + 1;
        let (failures, wait_ms) = match retry {
            Retry::Soon if failures < MAX_FAILURES => (failures, RETRY_MS << of.failures),
            Retry::After(seconds) => {
                let wait_ms = i64::try_from(seconds).unwrap_or(i64::MAX / 2_000);
                (of.failures, wait_ms.saturating_mul(1_000))
            }
            Retry::Soon | Retry::No => return None,
        };
        Some(ReadingFailure {
            failures,
            problem: problem.to_owned(),
            due_at: self.clock.now_ms().saturating_add(wait_ms),
        })
    }

    /// Reads a file on this server because the document reader did not; `problem` is why not.
    async fn read_here_instead(
        &self,
        of: &ClaimedReading,
        file: Arc<Vec<u8>>,
        problem: ReadingResult,
    ) -> Result<(), ApiError> {
        let read = read(self.reader.clone(), &of.unread, file, self.reading_limits()).await?;
        if self.can_see_more(&read).await {
            let queued = self
                .store
                .queue_slow_reading(&of.unread, SlowReading::Pictures);
            queued.await?;
            self.to_see.notify_one();
            return Ok(());
        }
        let Ok(document) = read else {
            return self.settle_picture(of, &problem).await;
        };
        let read = text(document).map_err(ApiError::internal)?;
        let settled = self.store.settle_document(
            &of.unread,
            &read,
            Some(READER_VERSION),
            self.clock.now_ms(),
        );
        settled.await?;
        self.to_embed.notify_one();
        self.to_graph.notify_one();
        Ok(())
    }

    /// Leaves a document to a service.
    pub(super) async fn leave_to_service(&self, unread: &ReadingTask) -> Result<(), StoreError> {
        self.store
            .queue_slow_reading(unread, SlowReading::Remote)
            .await?;
        self.to_read_remotely.notify_one();
        Ok(())
    }
}

fn failure(error: ReaderError) -> RemoteFailure {
    let (code, retry) = match &error {
        ReaderError::Later(_) => ("reader_failed", Retry::Soon),
        ReaderError::Failed(_) => ("reader_failed", Retry::No),
    };
    RemoteFailure::Service {
        code,
        words: error.words(),
        retry,
    }
}

/// Whether the document reader is set to read files with this ending.
fn is_named(reader: Option<&ReaderSettings>, ending: &str) -> bool {
    reader.is_some_and(|it| it.files.name(ending))
}

/// The ending of a name in lower case, without the dot.
fn ending(name: &str) -> String {
    let ending = name.rsplit_once('.').map(|(_, ending)| ending);
    ending.unwrap_or_default().to_lowercase()
}
