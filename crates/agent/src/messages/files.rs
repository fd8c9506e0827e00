//! Messages: why a file of a workspace cannot be read or written.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Why a file of a workspace cannot be read or written.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Files {
    #[error("A path can have at most {limit} bytes and no control characters.")]
    BadPath { limit: u64 },
    #[error("The path of a file is missing.")]
    PathMissing,
    #[error("{path} is not text: it is {what} of {size} bytes.")]
    FileNotText {
        path: String,
        what: String,
        size: u64,
    },
    #[error("Text has no NUL characters, and this tool writes text.")]
    NulInText,
    #[error("{from} already exists.")]
    FileThere { from: String },
    #[error("{from} cannot be moved to {to}. Copy it instead.")]
    CannotMove { from: String, to: String },
    #[error("The file would have {size} bytes and the limit is {limit}.")]
    FileTooLarge { size: u64, limit: u64 },
    #[error("The file would have {size} bytes and the limit is {limit}. Split it.")]
    TextTooLarge { size: u64, limit: u64 },
    #[error("The workspace holds {count} files, which is the limit.")]
    TooManyFiles { count: u64 },
    #[error(
        "The files would have {size} bytes in total and the limit is {limit}. Delete some that are no longer needed."
    )]
    FilesTooLarge { size: u64, limit: u64 },
    #[error(
        "This chat has stored earlier versions of {files} files, or {bytes} bytes, of its directory, which is the \
         limit. Continue in a new chat."
    )]
    DirectoryKept { files: u64, bytes: u64 },
    #[error("Too many results are stored among the files.")]
    TooManyResults,
    #[error("The server has no space left for files.")]
    NoRoomForFiles,
    #[error("The files cannot be reached at the moment. Try again.")]
    FilesUnreachable,

    // Directories of the server.
    #[error(
        "/{path} cannot be used: it is not a regular file, leads through a link, or is excluded (what is named {names} \
         is hidden)."
    )]
    PathUnusable { path: String, names: String },
    #[error("The file is larger than the limit of {limit} bytes.")]
    FileOverLimit { limit: u64 },
    #[error("The directory {name} is read-only here.")]
    DirectoryReadOnly { name: String },
    #[error("The disk of the directory {name} is full.")]
    DirectoryFull { name: String },
    #[error("The directory {name} cannot be used: {why}.")]
    DirectoryFails { name: String, why: String },
}

impl CodedMessage for Files {}
