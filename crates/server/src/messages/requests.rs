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
    #[error("There is no such thing, or it is not yours.")]
    NoSuchThing,
    #[error("The id in the address is not one of ours.")]
    NoSuchId,
    #[error("This file is of another version of the app. Load the page again.")]
    OtherVersion,
    #[error("This has changed meanwhile or exists already. Look at it again, then repeat.")]
    ChangedMeanwhile,

    // Invalid values.
    #[error("`{field}` must be {least} to {most}.")]
    OutOfRange {
        field: String,
        least: u64,
        most: u64,
    },
    #[error("{field} has to be from 1 to {most}.")]
    NotUpTo { field: String, most: u64 },
    #[error("`{field}` must be 1 to {limit} bytes.")]
    TextBytes { field: String, limit: u64 },
    #[error("`{field}` may have {limit} bytes.")]
    TextTooLong { field: String, limit: u64 },
    #[error("`{field}` may have {limit} characters.")]
    TooManyCharacters { field: String, limit: u64 },
    #[error("`{field}` must be 1 to {limit} characters on one line.")]
    LineCharacters { field: String, limit: u64 },
    #[error("`{field}` may have {limit} characters, and no NUL.")]
    PlainCharacters { field: String, limit: u64 },
    #[error("`{field}` has 1 to {limit} bytes, on one line.")]
    LineBytes { field: String, limit: u64 },
    #[error("`{field}` is missing.")]
    FieldMissing { field: String },
    #[error("A day is written like 2026-11-23.")]
    BadDay,
    #[error("`from` is a day before `to`, at most ten years before.")]
    BadDays,
    #[error("Search for at most {limit} characters.")]
    LongSearch { limit: u64 },
    #[error("The request is larger than {limit} MB, which is the limit. Send less.")]
    RequestTooLarge { limit: u64 },
    #[error("The request is larger than {limit} kB, which is the limit here. Send less.")]
    RequestTooLargeHere { limit: u64 },
    #[error("The request's body broke off. Send it again.")]
    BrokeOff,
    #[error("The request's body came too slowly. Send it again.")]
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
        "This server answers only as localhost or 127.0.0.1. Where a proxy stands in front, set public_url to the address \
         people type."
    )]
    OnlyLocalhost,
    #[error("An administrator has to set public_url to the address people type, first.")]
    NoPublicUrl,
    #[error(
        "The proxy has to pass on the name that people type (the header Host), as public_url has it."
    )]
    ProxyHidesHost,
    #[error("The proxy does not say clearly who this is.")]
    ProxyUnclear,
    #[error("Too many tries. Wait {count} seconds and try again.")]
    TooManyTries { count: u64 },

    // Failures of the server.
    #[error("Something went wrong in the server. Its log says what.")]
    ServerFault,
    #[error("The server is reading too many large requests. Try again in a moment.")]
    BodiesFull,
    #[error("The server is stopping.")]
    Stopping,
    #[error("The database does not answer. Try again in a moment.")]
    DatabaseSilent,
    #[error("The server has no room left to store this. Make room on its disk and try again.")]
    DiskFull,
    #[error("This server has just lost touch with its database. Try again in a moment.")]
    DatabaseLost,
}

impl CodedMessage for Requests {}
