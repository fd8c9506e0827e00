//! Messages: any request.

use domain::CodedMessage;
use schemars::JsonSchema;
use serde::Serialize;

/// Any request.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Requests {
    // Not found.
    #[error("Not found, or it is not yours.")]
    NoSuchThing,
    #[error("The id in the address is not valid.")]
    NoSuchId,
    #[error("This file belongs to another version of the app. Reload the page.")]
    OtherVersion,
    #[error(
        "This has changed in the meantime or already exists. Load it again and repeat your change."
    )]
    ChangedMeanwhile,

    // Invalid values.
    #[error("`{field}` must be {least} to {most}.")]
    OutOfRange {
        field: String,
        least: u64,
        most: u64,
    },
    #[error("{field} must be 1 to {most}.")]
    NotUpTo { field: String, most: u64 },
    #[error("`{field}` must be 1 to {limit} bytes.")]
    TextBytes { field: String, limit: u64 },
    #[error("`{field}` can have at most {limit} bytes.")]
    TextTooLong { field: String, limit: u64 },
    #[error("`{field}` can have at most {limit} characters.")]
    TooManyCharacters { field: String, limit: u64 },
    #[error("`{field}` must be 1 to {limit} characters on one line.")]
    LineCharacters { field: String, limit: u64 },
    #[error("`{field}` can have at most {limit} characters, and no NUL.")]
    PlainCharacters { field: String, limit: u64 },
    #[error("`{field}` must be 1 to {limit} bytes on one line.")]
    LineBytes { field: String, limit: u64 },
    #[error("`{field}` is missing.")]
    FieldMissing { field: String },
    #[error("Write a day like 2026-11-23.")]
    BadDay,
    #[error("`from` must be a day before `to`, at most ten years before.")]
    BadDays,
    #[error("Search for at most {limit} characters.")]
    LongSearch { limit: u64 },
    #[error("The request is larger than the limit of {limit} MB. Send less.")]
    RequestTooLarge { limit: u64 },
    #[error("The request is larger than the limit of {limit} kB here. Send less.")]
    RequestTooLargeHere { limit: u64 },
    #[error("The request body was cut off. Send it again.")]
    BrokeOff,
    #[error("The request body was sent too slowly. Send it again.")]
    TooSlow,

    // Access and rate limits.
    #[error("Sign in first; programs send “Authorization: Bearer gh_…”.")]
    SignInFirst,
    #[error("Only an administrator may do this.")]
    OnlyAdministrators,
    #[error(
        "This request came from another web site. Open Glasshouse itself; programs use an API key."
    )]
    FromOtherSite,
    #[error(
        "This server answers only as localhost or 127.0.0.1. Behind a proxy, set public_url to the address that people \
         open."
    )]
    OnlyLocalhost,
    #[error("An administrator must first set public_url to the address that people open.")]
    NoPublicUrl,
    #[error(
        "The proxy must forward the host name that people open (the Host header), as in public_url."
    )]
    ProxyHidesHost,
    #[error("The proxy did not identify you clearly.")]
    ProxyUnclear,
    #[error("Too many attempts. Wait {count} seconds and try again.")]
    TooManyTries { count: u64 },

    // Failures of the server.
    #[error("Something went wrong on the server. See its log.")]
    ServerFault,
    #[error("The server is receiving too many large requests. Try again in a moment.")]
    BodiesFull,
    #[error("The server is stopping.")]
    Stopping,
    #[error("The database does not answer. Try again in a moment.")]
    DatabaseSilent,
    #[error("The storage of files does not answer. Try again in a moment.")]
    ContentsUnreachable,
    #[error("The server has no disk space left to store this. Free up some space and try again.")]
    DiskFull,
    #[error("This server has just lost the connection to its database. Try again in a moment.")]
    DatabaseLost,
}

impl CodedMessage for Requests {}
