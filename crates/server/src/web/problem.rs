//! Why there is no page, or nothing was found: in words for people and for models.

use std::fmt;

use domain::LocalizedText;
use knowledge::Unreadable;
use outbound::Fault;

use crate::{messages, platform::outbound_fault::fault_sentence};

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
    NotText(LocalizedText),
    /// It came, and its text cannot be had.
    Unreadable(Unreadable),
    /// Its server has no image there.
    NoImage(u16),
    /// It is no image of a format that is passed on.
    NotImage,
    /// Its scripts would show something, and did not.
    Scripts(LocalizedText),
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
    pub(crate) fn sentence(&self) -> messages::Web {
        match self {
            Self::Fault(fault) => fault_sentence(*fault),
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
                limit: super::search::QUERY_CHARS as u64,
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

fn of_status(status: u16) -> messages::Web {
    match status {
        404 | 410 => messages::Web::NoPage { status },
        401 | 402 | 403 | 407 | 451 => messages::Web::PageClosed { status },
        429 => messages::Web::SiteBusy,
        500.. => messages::Web::SiteFault { status },
        _ => messages::Web::WithoutPage { status },
    }
}
