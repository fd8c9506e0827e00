//! Why there is no page, or nothing was found: in words for people and for models.

use std::fmt;

use domain::{Sentence, Words};
use knowledge::Unreadable;
use outbound::Fault;

use crate::platform::outbound_fault::fault_sentence;

/// Why there is no page, or nothing was found. None says where a name leads or what is there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum WebProblem {
    /// It was not asked, or did not answer.
    Fault(Fault),
    /// Its site wants no robots there.
    Robots,
    /// Its server refuses or stumbles.
    Status(u16),
    /// It is a picture, a program or the like.
    NotText(Words),
    /// It came, and its text cannot be had.
    Unreadable(Unreadable),
    /// Its server has no image there.
    NoImage(u16),
    /// It is no image of a format that is passed on.
    NotImage,
    /// Its scripts would show something, and did not.
    Scripts(Words),
    /// Nobody searches here.
    NoSearch,
    /// The search was asked something that it cannot be.
    BadQuery,
    /// The search did not work.
    Search(String),
    /// It is ours.
    Internal,
}

impl WebProblem {
    /// What is said of it.
    pub(crate) fn sentence(&self) -> Sentence {
        match self {
            Self::Fault(fault) => fault_sentence(*fault),
            Self::Robots => Sentence::RobotsRefuse,
            Self::Status(status) => of_status(*status),
            Self::NotText(what) => Sentence::NotText { what: what.clone() },
            Self::Unreadable(why) => Sentence::PageUnreadable {
                why: why.to_string().into(),
            },
            Self::NoImage(status) => Sentence::NoImage { status: *status },
            Self::NotImage => Sentence::NotImage,
            Self::Scripts(why) => Sentence::PageNeedsScripts { why: why.clone() },
            Self::NoSearch => Sentence::NoWebSearch,
            Self::BadQuery => Sentence::BadWebQuery {
                limit: super::search::QUERY_CHARS as u64,
            },
            Self::Search(why) => Sentence::WebSearchFailed { why: why.clone() },
            Self::Internal => Sentence::OwnFault,
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

fn of_status(status: u16) -> Sentence {
    match status {
        404 | 410 => Sentence::NoPage { status },
        401 | 402 | 403 | 407 | 451 => Sentence::PageClosed { status },
        429 => Sentence::SiteBusy,
        500.. => Sentence::SiteFault { status },
        _ => Sentence::WithoutPage { status },
    }
}
