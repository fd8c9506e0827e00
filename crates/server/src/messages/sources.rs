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
    SourceSettingInvalid {
        field: String,
        reason: LocalizedText,
    },
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

    // Why a setting of a source is invalid.
    #[error("It is empty, too long or has characters that are not allowed.")]
    SettingCharacters,
    #[error("It is too long.")]
    SettingTooLong,
    #[error("It must be between {least} and {most}.")]
    SettingOutOfRange { least: u64, most: u64 },
    #[error("There are more than {count}, the maximum.")]
    SettingTooMany { count: u64 },
    #[error("The address must end with its path, without ? and #.")]
    SettingAddressWithQuery,
    #[error("The address must begin with https://.")]
    SettingNotEncrypted,
    #[error("It must be the name or the address of a server.")]
    SettingNoHost,
    #[error(
        "Without encryption, only servers can be used that an administrator allows (outbound.allow)."
    )]
    SettingUnencrypted,
    #[error("There is a password, but no user.")]
    SettingNoUser,
    #[error("It must be a path such as docs/en.")]
    SettingNoPath,
    #[error("No branch or tag can have this name.")]
    SettingNoBranch,
    #[error("It may contain only letters, digits, dots, dashes and underscores.")]
    SettingNotPlain,
    #[error("AWS needs a region, such as eu-central-1.")]
    SettingNoRegion,
    #[error("The bucket is in the region {region}.")]
    SettingOtherRegion { region: String },
    #[error("The bucket is in another region.")]
    SettingUnknownRegion,
    #[error("There is a secret, but no ID of a key.")]
    SettingNoKeyId,
    #[error("One of them is no key of a space.")]
    SettingNoSpace,
    #[error("It is only for Confluence Cloud.")]
    SettingOnlyCloud,
    #[error("It is neither the address nor the ID of a folder or a shared drive.")]
    SettingNoDriveId,
    #[error("Only a service account can act for a person.")]
    SettingOnlyServiceAccounts,
    #[error("It is neither the ID nor a domain of a directory.")]
    SettingNoTenant,
    #[error("A OneDrive has only one library.")]
    SettingOneLibrary,
    #[error("Either a site or a person is needed.")]
    SettingSiteOrUser,
    #[error("This server does not read pages of the web (web.fetch).")]
    SettingNoWeb,
    #[error("The stored settings cannot be read: {reason}. Enter them again.")]
    SettingsUnreadable { reason: String },
}

impl CodedMessage for Sources {}
