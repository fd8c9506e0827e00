//! Messages: sources of documents, and synchronizations with them.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Sources of documents, and synchronizations with them.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Sources {
    // Changing them.
    #[error("Source not found in this collection.")]
    NoSuchSource,
    #[error("The collection already has a source with this name.")]
    SourceNameTaken,
    #[error("The collection already has {count} sources, the maximum.")]
    TooManySources { count: u64 },
    #[error("Only administrators can add folders of the server.")]
    FoldersOfAdministrators,
    #[error("{pattern} is not a valid pattern of paths.")]
    BadPathPattern { pattern: String },
    #[error("There can be at most {count} patterns.")]
    TooManyPathPatterns { count: u64 },

    // Synchronizing.
    #[error("The source is already being synchronized.")]
    SyncRunning,
    #[error("Synchronization not found, or it has ended.")]
    NoSuchSync,
    #[error("The synchronization does not miss this document.")]
    NotMissing,
    #[error("A client sends the documents of this source.")]
    SyncedByClient,
    #[error("A source can have at most {count} documents.")]
    TooManySourceDocuments { count: u64 },
    #[error("Two documents have the id {id}.")]
    SameSourceId { id: String },
    #[error("The id, name or version of a document is empty, too long or has control characters.")]
    BadSourceDocument,
    #[error("The document was not received before the synchronization ended.")]
    NotReceived,
    #[error("There are too many documents with this name.")]
    NoFreeName,

    // Why a source cannot be listed or read.
    #[error("The setting {field} is invalid: {reason}")]
    SourceSettingInvalid { field: String, reason: String },
    #[error("The source refuses access. Check the secret and what it permits.")]
    SourceRefused,
    #[error("The source was not found. Check the settings.")]
    SourceNotFound,
    #[error("The document was deleted in the meantime.")]
    SourceDocumentGone,
    #[error("The document is larger than {limit} MB, the maximum.")]
    SourceDocumentTooLarge { limit: u64 },
    #[error("The source limits the number of requests. Try again later.")]
    SourceLimited,
    #[error("The connection to the source failed: {why}")]
    SourceUnreachable { why: LocalizedText },
    #[error("The source answers with the error {status}.")]
    SourceStatus { status: u16 },
    #[error("The answer of the source cannot be read: {reason}")]
    SourceMalformed { reason: String },
    #[error("{program} is not installed on the server.")]
    SourceNeedsProgram { program: String },
    #[error("The folder cannot be read: {reason}")]
    SourceFolderUnreadable { reason: String },
    #[error("The secret cannot be decrypted. Enter it again.")]
    SourceSecretUnreadable,
}

impl CodedMessage for Sources {}
