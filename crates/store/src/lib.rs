//! Persistent storage in SQLite or PostgreSQL: one file per entity.
//!
//! Times are milliseconds since 1970-01-01 UTC and given by the caller, as ids are. Text may contain any character
//! except U+0000, which PostgreSQL cannot store: on both databases it becomes U+FFFD, in stored values and in lookups
//! alike. JSON (message content, settings, summaries) and the content of files keep it.

mod accounts;
mod agents;
mod allowed_calls;
mod alternatives;
mod api_keys;
mod attachments;
mod audit;
mod backup;
mod chat_organization;
mod chat_search;
mod chats;
mod claims;
mod collection_readers;
mod connections;
mod copy;
mod crawls;
mod db;
mod document_copies;
mod document_filters;
mod document_metadata;
mod document_readers;
mod embeddings;
mod error;
mod events;
mod exports;
mod facts;
mod file_versions;
mod files;
mod forks;
mod graph;
mod groups;
mod hook_inputs;
mod idempotency;
mod identities;
mod imports;
mod invitations;
mod knowledge;
mod learning;
mod leases;
mod log_partitions;
mod mcp_servers;
mod mcp_sessions;
mod mcp_sign_ins;
mod memories;
mod messages;
mod migrations;
mod minute_usage;
mod objects;
mod pages;
mod passkeys;
mod password_resets;
mod pauses;
mod pgvector;
mod pipelines;
mod pool;
mod pooler;
mod postgres_url;
mod principal;
mod program_calls;
mod program_leases;
mod program_turns;
mod push_subscriptions;
mod query;
mod queued_turns;
mod repair;
mod rereading;
mod run_inputs;
mod runners;
mod runs;
mod schedules;
mod schema;
mod sealed_logs;
mod search;
mod second_factors;
mod sessions;
mod setting_changes;
mod settings;
mod shared_waits;
mod sharing;
mod sign_in_failures;
mod slow_reading;
mod sources;
mod sums;
mod synced_documents;
mod syncs;
mod transaction;
mod usage;
mod users;
mod webhooks;
mod writer;

use std::{
    sync::{Arc, OnceLock},
    time::Duration,
};

pub use accounts::{Account, AccountChange};
pub use allowed_calls::AllowedCall;
pub use alternatives::Alternatives;
pub use api_keys::{ApiKey, ApiKeyRights, KeyHolder, KeyScope, NewApiKey, NewSecret};
pub use attachments::Attachment;
pub use audit::{AuditEntry, AuditFilter};
pub use chat_organization::{ChatOrganization, ChatOrganizationChange, Folder, TagCount};
pub use chat_search::{
    ChatSearch, Found, FoundMessage, FoundPlace, SearchDue, SearchPiece, SearchWord,
};
pub use chats::{Chat, ChatPage};
pub use collection_readers::{CollectionReaders, ReadersChange};
pub use connections::{Connection, ConnectionKey};
pub use copy::{Damage, Datum, Part, Restored, dump, restore};
pub use crawls::{Crawl, CrawlPage, CrawlState, CrawledPage, Visited};
pub use document_copies::{CitedTexts, DocumentCopy};
pub use document_filters::{
    Bounds, DocumentFilter, FilterScope, MetadataCondition, MetadataTest, WantedRange, WantedValue,
};
pub use document_metadata::{
    DocumentMetadata, KnownKey, KnownMetadata, KnownValue, MetadataChange, MetadataLimits,
    MetadataOrigin, MetadataValue, ShownMetadata,
};
pub use document_readers::DocumentReaders;
pub use embeddings::{
    EmbeddedDocument, Embedding, EmbeddingProgress, EmbeddingSpace, EmbeddingTask, MAX_FAILURES,
    Vectors,
};
pub use error::StoreError;
pub use events::{LogPosition, NewInLog, Segment};
pub use facts::{Fact, MemoryUse};
pub use file_versions::{FileVersion, PastFile};
pub use files::{FileContent, FileRow};
pub use forks::{FileState, Fork};
pub use graph::{
    Entity, GraphAlias, GraphPiece, GraphQuote, GraphScope, GraphShare, GraphTask, GraphedDocument,
    Relation, SharedEntity, SharedRelation, Subgraph, WholeShare, Words,
};
pub use groups::{AllGroups, Group, GroupMember, PermissionRow};
pub use idempotency::{IdempotencyKey, StartedBefore};
pub use imports::{ChatImport, EndedRun};
pub use invitations::{Invitation, InvitedUser, NewInvitation};
pub use knowledge::{
    Collection, CollectionChange, CollectionLimits, Document, DocumentState, ListedCollection,
    ReadingResult, ReadingTask,
};
pub use learning::{ChatToLearnFrom, Learned, NewFact};
pub use leases::{ActiveRun, LeftRuns, Renewal};
pub use log_partitions::ArrangedPartitions;
pub use mcp_servers::StoredMcpServer;
pub use mcp_sessions::StoredMcpSession;
pub use mcp_sign_ins::McpSignIn;
pub use memories::{Memory, MemoryAuthor, MemoryCall, MemoryChange, MemoryChanged, MemoryContent};
pub use messages::{ChatMessage, NewTurn};
pub use minute_usage::MinuteUsage;
pub use objects::{Moved, MovedTo, OBJECT_BYTES, OBJECT_GRACE_MS};
pub use pages::{NewPage, Page};
pub use passkeys::{NewPasskey, Passkey, PasskeyHolder, UsedChallenge};
pub use password_resets::NewPasswordReset;
pub use pauses::OwnedDocument;
pub use pgvector::{VectorMatch, VectorPoint};
pub use pipelines::{PipelineCall, PipelineSum};
pub use principal::Principal;
pub use program_calls::{LeasedProgramCall, NewProgramCall, ProgramCall, ProgramCallState};
pub use program_leases::ProgramFileStored;
pub use push_subscriptions::{NewPushSubscription, PushSubscription};
pub use query::noting_damage;
pub use queued_turns::QueuedTurn;
pub use runners::RunnerRow;
pub use runs::{NewRun, Run};
pub use schedules::{NewSchedule, Schedule, ScheduleContent, Settled, Turn, TurnKind};
pub use schema::Migrated;
pub use sealed_logs::Sealed;
pub use second_factors::SecondFactor;
pub use sessions::{NewSession, Session, SessionLifetime};
pub use setting_changes::{SettingChanges, SettingTopic};
pub use shared_waits::UpstreamPause;
pub use sharing::{ChatReader, SharedChat, Sharing};
pub use sign_in_failures::SignInFailures;
pub use slow_reading::{ClaimedReading, ReadingFailure, SlowReading};
pub use sources::StoredSource;
pub use synced_documents::SyncedDocument;
pub use syncs::{ClaimedSync, Manifest, SourceItem, Sync, SyncItem, SyncItemState, SyncState};
pub use usage::{
    Booking, Outcome as BookingOutcome, RunUsage, UsageBy, UsageKey, UsageOf, UsageRow, UsageSum,
};
pub use users::{AddressProof, NewUser, User, UserRole, UserWithPassword};
pub use webhooks::{Delivery, Notice, Webhook};

use db::Db;
use schema::Migrating;
use writer::Writer;

/// The usual maximum of connections to PostgreSQL.
pub const DEFAULT_CONNECTIONS: u32 = 10;

/// The database. Cheap to clone; all clones are one.
#[derive(Debug, Clone)]
pub struct Store(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    db: Db,
    writer: Writer,
    objects: OnceLock<objects::Objects>,
}

impl Store {
    /// Opens `sqlite::memory:`, `sqlite:///path/to/file.db` or `postgres://…`, creates a missing file (its folder must
    /// exist) and migrates the schema.
    ///
    /// # Errors
    /// `Unavailable` if the database does not answer or the address is wrong, `Corrupt` if the file is not a database,
    /// `Schema` if a newer version of this program has changed it so that this one does not work with it.
    pub async fn open(url: &str) -> Result<Self, StoreError> {
        Self::open_with(url, DEFAULT_CONNECTIONS).await
    }

    /// The same with at most that many connections to PostgreSQL, besides three for the lease, commands and the writer.
    ///
    /// # Errors
    /// Those of [`Store::open`].
    pub async fn open_with(url: &str, connections: u32) -> Result<Self, StoreError> {
        Self::start(Db::open(url, connections).await?).await
    }

    async fn start(db: Db) -> Result<Self, StoreError> {
        groups::fold_provider_names(&db).await?;
        let writer = Writer::start(db.for_writer());
        Ok(Self(Arc::new(Inner {
            db,
            writer,
            objects: OnceLock::new(),
        })))
    }

    /// As [`Store::open_with`], for a database whose schema another process migrates.
    ///
    /// # Errors
    /// As [`Store::open`], and `Schema` if the schema is too old.
    pub async fn open_migrated(url: &str, connections: u32) -> Result<Self, StoreError> {
        Self::start(Db::open_migrated(url, connections).await?).await
    }

    /// Migrates the schema of a database, and closes it.
    ///
    /// # Errors
    /// As [`Store::open`].
    pub async fn migrate(url: &str) -> Result<Migrated, StoreError> {
        let (db, migrated) =
            Db::open_with(url, DEFAULT_CONNECTIONS, Migrating::UpTo(i64::MAX)).await?;
        db.close().await;
        Ok(migrated)
    }

    /// Whether a pooler gives each transaction another session of PostgreSQL.
    #[must_use]
    pub fn is_pooled_by_transaction(&self) -> bool {
        self.db().is_pooled_by_transaction()
    }

    /// Checks that the database answers.
    ///
    /// # Errors
    /// `Unavailable` if it does not.
    pub async fn ping(&self) -> Result<(), StoreError> {
        self.db().ping().await
    }

    /// For how long PostgreSQL has not answered the writer of logs; zero if it answers.
    #[must_use]
    pub fn writer_silent_for(&self) -> Duration {
        self.0.writer.silent_for()
    }

    /// Checks that the database answers the writer of logs.
    ///
    /// # Errors
    /// `Unavailable` if it does not.
    pub async fn ping_writer(&self) -> Result<(), StoreError> {
        self.0.writer.ping().await
    }

    /// Commits queued writes and closes all connections; later operations return `Unavailable`.
    pub async fn close(&self) {
        self.0.writer.stop().await;
        self.db().close().await;
    }

    fn db(&self) -> &Db {
        &self.0.db
    }
}
