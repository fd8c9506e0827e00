//! Why a source cannot be listed or read.

use outbound::Fault;

/// Maximum length of the reason of a problem, characters. Some come from the source.
const MAX_REASON_CHARS: usize = 200;

/// Why a source, or a document of it, cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SourceProblem {
    /// A setting is invalid.
    #[error("the setting {field} is invalid: {reason}")]
    Settings {
        /// Its name.
        field: &'static str,
        /// Why.
        reason: SettingProblem,
    },
    /// The secret is missing, wrong or expired, or does not permit it.
    #[error("the source refuses access")]
    Refused,
    /// What the settings name does not exist.
    #[error("the source does not have it")]
    NotFound,
    /// The document was deleted since it was listed.
    #[error("the document is gone")]
    Gone,
    /// The document is larger than the limit.
    #[error("the document is too large")]
    TooLarge,
    /// There are more documents than the limit.
    #[error("the source has too many documents")]
    TooMany,
    /// The source asks to be left alone for longer than we wait.
    #[error("the source limits requests")]
    Limited,
    /// The request failed.
    #[error("the source cannot be reached: {0}")]
    Unreachable(#[from] Fault),
    /// The source answers with this error.
    #[error("the source answers with the error {status}")]
    Status {
        /// The HTTP status.
        status: u16,
    },
    /// The answer is not in the expected format.
    #[error("the source's answer cannot be read: {0}")]
    Malformed(String),
    /// A program that this kind needs is not installed.
    #[error("{0} is not installed on the server")]
    NoProgram(&'static str),
    /// The server's file system fails.
    #[error("the folder cannot be read: {0}")]
    File(String),
}

/// Why a setting is invalid.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SettingProblem {
    /// It is empty, too long, or has characters that such a value never has.
    #[error("it is empty, too long or has characters that are not allowed")]
    Characters,
    /// It is longer than it can be.
    #[error("it is too long")]
    TooLong,
    /// It is a number outside of its range.
    #[error("it must be between {least} and {most}")]
    OutOfRange {
        /// The smallest value.
        least: u32,
        /// The largest value.
        most: u32,
    },
    /// It has too many values.
    #[error("there are more than {most}")]
    TooMany {
        /// The maximum number.
        most: usize,
    },
    /// It is no address that may be requested.
    #[error("{0}")]
    Address(Fault),
    /// It is an address with a query, to which no path can be added.
    #[error("it must end with its path, without ? and #")]
    AddressWithQuery,
    /// It is an address that a secret cannot be sent to.
    #[error("it must begin with https://")]
    NotEncrypted,
    /// It is no host.
    #[error("it must be a name or an address")]
    NoHost,
    /// Connections without encryption are only for hosts that the administrator has listed.
    #[error(
        "only hosts that an administrator allows (outbound.allow) may be asked without encryption"
    )]
    Unencrypted,
    /// There is a password without a user.
    #[error("there is a password, but no user")]
    NoUser,
    /// It is no path of a folder.
    #[error("it must be a path such as docs/en")]
    NoPath,
    /// It is no name that a branch or tag can have.
    #[error("no branch can have this name")]
    NoBranch,
    /// It has other characters than letters, digits, dots, dashes and underscores.
    #[error("it may have letters, digits, dots, dashes and underscores only")]
    NotPlain,
    /// It is missing, and the store needs it.
    #[error("AWS needs one, such as eu-central-1")]
    NoRegion,
    /// The bucket is in another region.
    #[error("the bucket is in {0}")]
    OtherRegion(String),
    /// The bucket is in another region, which the store does not name.
    #[error("the bucket is in another region")]
    UnknownRegion,
    /// There is a secret without the ID of its key.
    #[error("there is a secret, but no ID of a key")]
    NoKeyId,
    /// One of the values is no key of a space.
    #[error("one is no key of a space")]
    NoSpace,
    /// It is only for Confluence Cloud.
    #[error("it is only for Cloud")]
    OnlyCloud,
    /// It is no ID of a folder or a drive.
    #[error("it is no ID of a folder or a shared drive")]
    NoDriveId,
    /// Only service accounts act for a person.
    #[error("it is for service accounts")]
    OnlyServiceAccounts,
    /// It is neither the ID nor a domain of a directory.
    #[error("it is no ID and no domain of a directory")]
    NoTenant,
    /// A OneDrive has only one library.
    #[error("a OneDrive has only one library")]
    OneLibrary,
    /// Either a site or a user is needed.
    #[error("either a site or a user is needed")]
    SiteOrUser,
    /// Websites cannot be read on this server.
    #[error("pages of the web cannot be read here")]
    NoWeb,
}

pub(crate) fn invalid(field: &'static str, reason: SettingProblem) -> SourceProblem {
    SourceProblem::Settings { field, reason }
}

pub(crate) fn malformed(reason: &str) -> SourceProblem {
    SourceProblem::Malformed(short(reason))
}

pub(crate) fn short(reason: &str) -> String {
    reason.chars().take(MAX_REASON_CHARS).collect()
}
