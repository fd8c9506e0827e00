//! Web search and page fetching. All requests go out through [`outbound`], one at a time per host; what is searched for
//! by whom, and what becomes of a page, is up to the caller.

mod address;
mod fetch;
mod hosts;
mod image;
mod links;
pub mod messages;
mod problem;
mod robots;
mod scripts;
mod search;
mod settings;
mod sitemaps;

use std::{path::PathBuf, sync::Arc, time::Duration};

use futures_util::future::BoxFuture;
use knowledge::ReadingProcess;
use outbound::{Allowed, Outbound};
use tokio::sync::Semaphore;

pub use address::normalised;
pub use fetch::{Body, Fetched, PageText, Validators};
use hosts::Hosts;
pub use image::Image;
pub use links::links;
pub use problem::{WebProblem, fault_message};
use search::Cooldowns;
pub use search::{
    MAX_HITS, Provider, ProviderError, QUERY_CHARS, SearchProvider, Searched, WebHit,
    tool as search_tool,
};
pub use settings::{BrowserKind, BrowserSettings, SearchKind, SearchSettings, Settings};

/// Maximum number of pages whose text is extracted concurrently: each takes a process.
const READ_AT_ONCE: usize = 2;

/// Gives the settings as they are now; they may change while requests are made.
pub type CurrentSettings = Box<dyn Fn() -> Arc<Settings> + Send + Sync>;

/// Turns at websites that several programs share.
pub trait SharedTurns: Send + Sync {
    /// Takes the next turn at this origin, each at least that long after the one before. Returns how long it is until then.
    fn next<'a>(&'a self, origin: &'a str, pause: Duration) -> BoxFuture<'a, Duration>;
}

/// The client of search services and websites. What it knows about hosts is shared by all callers.
pub struct WebClient {
    settings: CurrentSettings,
    outbound: Outbound,
    /// Restricted to the open internet regardless of what an administrator allows: for subresources that pages request.
    open: Outbound,
    reader: ReadingProcess,
    hosts: Hosts,
    shared_turns: Option<Arc<dyn SharedTurns>>,
    searching: Semaphore,
    cooldowns: Cooldowns,
    reading: Arc<Semaphore>,
    browsing: Semaphore,
    picturing: Semaphore,
}

impl WebClient {
    /// `program` is the path of this executable, which is started again to extract text.
    #[must_use]
    pub fn new(settings: CurrentSettings, outbound: Outbound, program: PathBuf) -> Self {
        Self {
            settings,
            outbound,
            open: Outbound::new(Allowed::default()),
            reader: ReadingProcess::new(program),
            hosts: Hosts::default(),
            shared_turns: None,
            searching: Semaphore::new(search::AT_ONCE),
            cooldowns: Cooldowns::default(),
            reading: Arc::new(Semaphore::new(READ_AT_ONCE)),
            browsing: Semaphore::new(scripts::AT_ONCE),
            picturing: Semaphore::new(image::AT_ONCE),
        }
    }

    /// Shares its turns at websites with other programs.
    #[must_use]
    pub fn sharing_turns(self, turns: Arc<dyn SharedTurns>) -> Self {
        Self {
            shared_turns: Some(turns),
            ..self
        }
    }

    fn settings(&self) -> Arc<Settings> {
        (self.settings)()
    }
}
