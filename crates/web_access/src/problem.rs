//! Why a page could not be read or a search failed, in words for people and models.

use std::fmt;

use domain::LocalizedText;
use knowledge::Unreadable;
use outbound::Fault;

use crate::{messages, search::QUERY_CHARS};

/// Why a page could not be read or a search failed. No variant discloses what a name resolves to or what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WebProblem {
    /// The request was refused by the guard, or got no answer.
    Fault(Fault),
    /// `robots.txt` disallows it.
    Robots,
    /// The server answered with this error status.
    Status(u16),
    /// It has no text, for example because it is an image or a program.
    NotText(LocalizedText),
    /// It was downloaded, but its text cannot be extracted.
    Unreadable(Unreadable),
    /// The image's server answered with this status.
    NoImage(u16),
    /// It is not an image of a supported format.
    NotImage,
    /// The page needs scripts, and running them failed.
    Scripts(LocalizedText),
    /// No search is configured.
    NoSearch,
    /// The search query is invalid.
    BadQuery,
    /// The search failed.
    Search(String),
    /// An internal error.
    Internal,
}

impl WebProblem {
    /// The message.
    #[must_use]
    pub fn sentence(&self) -> messages::Web {
        match self {
            Self::Fault(fault) => fault_message(*fault),
            Self::Robots => messages::Web::RobotsRefuse,
            Self::Status(status) => of_status(*status),
            Self::NotText(what) => messages::Web::NotText { what: what.clone() },
            Self::Unreadable(why) => messages::Web::PageUnreadable {
                why: why.to_string().into(),
            },
            Self::NoImage(status) => messages::Web::NoImage { status: *status },
            Self::NotImage => messages::Web::NotImage,
            Self::Scripts(why) => messages::Web::PageNeedsScripts { why: why.clone() },
            Self::NoSearch => messages::Web::NoWebSearch,
            Self::BadQuery => messages::Web::BadWebQuery {
                limit: QUERY_CHARS as u64,
            },
            Self::Search(why) => messages::Web::WebSearchFailed { why: why.clone() },
            Self::Internal => messages::Web::OwnFault,
        }
    }
}

impl fmt::Display for WebProblem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.sentence().fmt(f)
    }
}

impl std::error::Error for WebProblem {}

impl From<Fault> for WebProblem {
    fn from(fault: Fault) -> Self {
        Self::Fault(fault)
    }
}

/// The message of an outbound request that failed.
#[must_use]
pub fn fault_message(fault: Fault) -> messages::Web {
    match fault {
        Fault::NoAddress => messages::Web::NoAddress,
        Fault::NotAllowed => messages::Web::AddressNotAllowed,
        Fault::Unreachable => messages::Web::Unreachable,
        Fault::Slow => messages::Web::Slow,
        Fault::TooManyHops => messages::Web::TooManyRedirects,
        Fault::TooLarge => messages::Web::AnswerTooLarge,
        Fault::Compressed => messages::Web::AnswerCompressed,
        Fault::CutOff => messages::Web::AnswerCutOff,
    }
}

fn of_status(status: u16) -> messages::Web {
    match status {
        404 | 410 => messages::Web::NoPage { status },
        401 | 402 | 403 | 407 | 451 => messages::Web::PageClosed { status },
        429 => messages::Web::SiteBusy,
        500.. => messages::Web::SiteFault { status },
        _ => messages::Web::WithoutPage { status },
    }
}
