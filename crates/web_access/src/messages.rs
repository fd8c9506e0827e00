//! Messages for people that this crate raises, each with a stable code for translation. Their English texts exist only
//! here.

use domain::{CodedMessage, LocalizedText};
use schemars::JsonSchema;
use serde::Serialize;

/// Pages of the web, and searching it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema, thiserror::Error)]
#[serde(tag = "code", content = "params", rename_all = "snake_case")]
#[expect(missing_docs, reason = "their texts say it")]
pub enum Web {
    // Pages of the web.
    #[error("It is not a usable address: it must begin with https:// and contain no user name.")]
    NoAddress,
    #[error(
        "It leads to this machine, to a private network or to a port that is not for the web. Only an administrator \
         can allow that (outbound.allow)."
    )]
    AddressNotAllowed,
    #[error("It cannot be reached.")]
    Unreachable,
    #[error("It does not answer in time.")]
    Slow,
    #[error("It redirects too often.")]
    TooManyRedirects,
    #[error("Its answer is too large.")]
    AnswerTooLarge,
    #[error("Its answer is compressed, although that was not requested.")]
    AnswerCompressed,
    #[error("The connection was lost in the middle of its answer.")]
    AnswerCutOff,
    #[error(
        "The site's robots.txt asks programs not to read this page, so it was not read. Use another source."
    )]
    RobotsRefuse,
    #[error("Page not found (HTTP {status}).")]
    NoPage { status: u16 },
    #[error("The site does not allow us to read this page (HTTP {status}). Use another source.")]
    PageClosed { status: u16 },
    #[error("The site asks us to wait (HTTP 429). Try again later, or use another source.")]
    SiteBusy,
    #[error("The site's server failed (HTTP {status}). Try again later.")]
    SiteFault { status: u16 },
    #[error("The site answered without a page (HTTP {status}).")]
    WithoutPage { status: u16 },
    #[error("The content at this address is {what}, not text, and cannot be read.")]
    NotText { what: LocalizedText },
    #[error("a picture")]
    APicture,
    #[error("audio or video")]
    SoundOrFilm,
    #[error("The site answered without an image (HTTP {status}).")]
    NoImage { status: u16 },
    #[error("This is not a PNG, JPEG, GIF or WebP image.")]
    NotImage,
    #[error("The page was loaded but cannot be read. {why}")]
    PageUnreadable { why: LocalizedText },
    #[error("The page shows nothing until its scripts have run, and {why}")]
    PageNeedsScripts { why: LocalizedText },
    #[error("they did not end in time.")]
    ScriptsSlow,
    #[error("they took more memory or disk space than one page may use.")]
    ScriptsTooLarge,
    #[error("the browser of this server could not be started.")]
    BrowserNotStarted,
    #[error("the browser of this server failed.")]
    BrowserFailed,
    #[error("the browser cannot be started on this system.")]
    BrowserNotHere,
    #[error("Crawl4AI could not load it: {why}.")]
    Crawl4aiFailed { why: String },
    #[error(
        "Web search is not set up on this server. An administrator can set it up (web.search)."
    )]
    NoWebSearch,
    #[error("A search must have 1 to {limit} characters.")]
    BadWebQuery { limit: u64 },
    #[error("The search did not work: {why}")]
    WebSearchFailed { why: String },
    #[error("The server could not do it because of an internal error.")]
    OwnFault,
}

impl CodedMessage for Web {}
