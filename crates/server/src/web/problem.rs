//! Why there is no page, or nothing was found: in words for people and for models.

use knowledge::Unreadable;
use outbound::Fault;

/// Why there is no page, or nothing was found. None says where a name leads or what is there.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum WebProblem {
    /// It was not asked, or did not answer.
    #[error("{0}.")]
    Fault(#[from] Fault),
    /// Its site wants no robots there.
    #[error(
        "The site's robots.txt asks programs not to read this page, so it was not read. Use another source."
    )]
    Robots,
    /// Its server refuses or stumbles.
    #[error("{}", in_words(*.0))]
    Status(u16),
    /// It is a picture, a program or the like.
    #[error("At this address is no text but {0}, which cannot be read.")]
    NotText(String),
    /// It came, and its text cannot be had.
    #[error("The page came, but cannot be read. {0}")]
    Unreadable(Unreadable),
    /// Its scripts would show something, and did not.
    #[error("The page shows nothing until its scripts have run, and {0}")]
    Scripts(String),
    /// Nobody searches here.
    #[error("No search of the web is set up on this server. An administrator can name one (web.search).")]
    NoSearch,
    /// The search was asked something that it cannot be.
    #[error("A search needs 1 to {limit} characters.", limit = super::search::QUERY_CHARS)]
    BadQuery,
    /// The search did not work.
    #[error("The search did not work: {0}")]
    Search(String),
    /// It is ours.
    #[error("The server could not do it because of a fault of its own.")]
    Internal,
}

fn in_words(status: u16) -> String {
    match status {
        404 | 410 => format!("There is no page at this address (HTTP {status})."),
        401 | 402 | 403 | 407 | 451 => {
            format!("The site does not let us read this page (HTTP {status}). Use another source.")
        }
        429 => "The site asks us to wait (HTTP 429). Try it later, or use another source.".to_owned(),
        500.. => format!("The site's server has a fault (HTTP {status}). It may work later."),
        _ => format!("The site answered without a page (HTTP {status})."),
    }
}
