//! A generated, deterministic web on loopback: pages with known facts, and traps for crawlers. It records all requests.

mod apps;
mod facts;
mod pages;
mod pdf;
mod search;
#[cfg(test)]
mod tests;
mod traps;

use std::{
    collections::HashMap,
    io,
    net::SocketAddr,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use hyper::{Method, Response, body::Incoming, server::conn::http1, service::service_fn};
use hyper_util::rt::TokioIo;
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
};
use tokio_util::{sync::CancellationToken, task::TaskTracker};

use crate::{
    Reply,
    body::{OpenRequest, ScriptedBody},
    reply::Kind,
};

pub use apps::SHOWN_BY_SCRIPT;
pub use facts::{Fact, FactKind};
use pages::Page;
pub use traps::{ENDLESS, HUGE, LOOP, NEVER_ANSWERS, PRIVATE, SWOLLEN, TRICKLE};

/// An answered request.
#[derive(Debug, Clone)]
pub struct Visit {
    /// The path with its query.
    pub target: String,
    /// Its headers.
    pub headers: hyper::HeaderMap,
    /// The status of the response.
    pub status: u16,
    /// When it arrived.
    pub at: Instant,
}

/// A running web; dropping it closes it.
///
/// - `/` links to all of its 225 pages; `/sitemap.xml` lists them too.
/// - `/search?q=&format=json` answers like SearXNG, with these pages.
/// - [`ClosedWeb::facts`] has questions with their answers, and the pages that contain them.
/// - Traps: `/calendar/2026/1`, `/session?sid=1`, `/maze/a/`, `/redirect/50`, [`LOOP`], [`HUGE`], [`ENDLESS`],
///   [`TRICKLE`], [`NEVER_ANSWERS`], [`SWOLLEN`], `/dead/1`; pages below `/private/` are disallowed for robots.
/// - Pages that are empty until their scripts have run: `/app` shows [`SHOWN_BY_SCRIPT`], `/app/spy` tries all ways to
///   reach the canary, `/app/endless` computes forever, `/app/busy` changes and sends requests forever, and
///   `/app/greedy` takes 3 GB of memory.
/// - Pages below `/planted/` instruct agents to request an address at [`ClosedWeb::canary`], which must not happen.
#[derive(Debug)]
pub struct ClosedWeb {
    address: SocketAddr,
    canary: SocketAddr,
    shared: Arc<Shared>,
    stop: CancellationToken,
}

#[derive(Debug)]
struct Shared {
    origin: String,
    canary: String,
    pages: HashMap<String, Page>,
    facts: Vec<Fact>,
    index: search::Index,
    open: watch::Sender<usize>,
    visits: Mutex<Vec<Visit>>,
    canary_visits: Mutex<Vec<String>>,
    robots: Mutex<String>,
    changed: Mutex<HashMap<String, String>>,
}

/// Which of the two listeners received a request.
#[derive(Clone, Copy)]
enum Door {
    Web,
    Canary,
}

impl ClosedWeb {
    /// Starts it on two free ports of the loopback address, one for the web and one for the canary.
    ///
    /// # Errors
    /// If no port is available.
    pub async fn start() -> io::Result<Self> {
        let web = TcpListener::bind("127.0.0.1:0").await?;
        let canary = TcpListener::bind("127.0.0.1:0").await?;
        let address = web.local_addr()?;
        let canary_address = canary.local_addr()?;
        let origin = format!("http://{address}");
        let canary_origin = format!("http://{canary_address}");
        let (pages, facts) = pages::all(&origin, &canary_origin);
        let index = search::Index::of(pages.iter().filter(|page| page.is_found));
        let shared = Arc::new(Shared {
            robots: Mutex::new(traps::robots(&origin)),
            pages: pages
                .into_iter()
                .map(|page| (page.path.clone(), page))
                .collect(),
            canary: canary_origin,
            origin,
            facts,
            index,
            open: watch::channel(0).0,
            visits: Mutex::default(),
            canary_visits: Mutex::default(),
            changed: Mutex::default(),
        });
        let stop = CancellationToken::new();
        for (listener, door) in [(web, Door::Web), (canary, Door::Canary)] {
            TaskTracker::new().spawn(accept(listener, door, Arc::clone(&shared), stop.clone()));
        }
        Ok(Self {
            address,
            canary: canary_address,
            shared,
            stop,
        })
    }

    /// The address it listens on.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The origin, such as `http://127.0.0.1:4321`.
    #[must_use]
    pub fn origin(&self) -> &str {
        &self.shared.origin
    }

    /// The URL of a page.
    #[must_use]
    pub fn url(&self, path: &str) -> String {
        format!("{}{path}", self.shared.origin)
    }

    /// The origin of the addresses in injected instructions; for a crawler it is another host.
    #[must_use]
    pub fn canary(&self) -> String {
        format!("http://{}", self.canary)
    }

    /// The requests to the canary; there must be none.
    #[must_use]
    pub fn canary_visits(&self) -> Vec<String> {
        self.shared
            .canary_visits
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Questions whose answers are in the pages.
    #[must_use]
    pub fn facts(&self) -> &[Fact] {
        &self.shared.facts
    }

    /// The sorted paths of all linked pages, excluding traps.
    #[must_use]
    pub fn paths(&self) -> Vec<String> {
        let mut paths: Vec<_> = self.shared.pages.keys().cloned().collect();
        paths.sort();
        paths
    }

    /// The requests so far, excluding those to the canary.
    #[must_use]
    pub fn visits(&self) -> Vec<Visit> {
        self.shared
            .visits
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// Number of requests for a path, with any query.
    #[must_use]
    pub fn count(&self, path: &str) -> usize {
        let is_it = |visit: &Visit| visit.target.split('?').next() == Some(path);
        self.visits().iter().filter(|visit| is_it(visit)).count()
    }

    /// Number of requests currently being answered.
    #[must_use]
    pub fn open_requests(&self) -> usize {
        *self.shared.open.borrow()
    }

    /// Sets the content of `/robots.txt`.
    pub fn set_robots(&self, text: &str) {
        text.clone_into(
            &mut self
                .shared
                .robots
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        );
    }

    /// Changes the text of a page, as its author would; `body` is HTML.
    pub fn change(&self, path: &str, body: &str) {
        let mut changed = self
            .shared
            .changed
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        changed.insert(path.to_owned(), pages::document(path, body));
    }
}

impl Drop for ClosedWeb {
    fn drop(&mut self) {
        self.stop.cancel();
    }
}

async fn accept(listener: TcpListener, door: Door, shared: Arc<Shared>, stop: CancellationToken) {
    let connections = TaskTracker::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            () = stop.cancelled() => return,
        };
        // A failed accept, for example because of too many open files, is transient.
        let Ok((stream, _)) = accepted else { continue };
        connections.spawn(serve_connection(
            stream,
            door,
            Arc::clone(&shared),
            stop.clone(),
        ));
    }
}

async fn serve_connection(
    stream: TcpStream,
    door: Door,
    shared: Arc<Shared>,
    stop: CancellationToken,
) {
    let _ = stream.set_nodelay(true);
    let service = service_fn(move |request| {
        let shared = Arc::clone(&shared);
        async move { shared.answer(door, &request) }
    });
    let connection = http1::Builder::new().serve_connection(TokioIo::new(stream), service);
    tokio::select! {
        _ = connection => {}
        () = stop.cancelled() => {}
    }
}

impl Shared {
    fn answer(
        &self,
        door: Door,
        request: &hyper::Request<Incoming>,
    ) -> io::Result<Response<ScriptedBody>> {
        let target = request
            .uri()
            .path_and_query()
            .map_or("/", |target| target.as_str())
            .to_owned();
        let reply = match door {
            Door::Canary => {
                self.canary_visits
                    .lock()
                    .unwrap_or_else(PoisonError::into_inner)
                    .push(target);
                return play(
                    &Reply::status(200, &[], "You should not have come here."),
                    &self.open,
                );
            }
            Door::Web if request.method() != Method::GET => Reply::status(405, &[], "Only GET."),
            Door::Web => self.reply(request),
        };
        let Kind::Answer { status, .. } = &*reply.0 else {
            return Err(io::Error::other("the connection ends here"));
        };
        let headers = request.headers().clone();
        let status = *status;
        let at = Instant::now();
        let visit = Visit {
            target,
            headers,
            status,
            at,
        };
        self.visits
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .push(visit);
        play(&reply, &self.open)
    }

    fn reply(&self, request: &hyper::Request<Incoming>) -> Reply {
        let path = request.uri().path();
        let query = request.uri().query().unwrap_or_default();
        match path {
            "/robots.txt" => {
                let robots = self.robots.lock().unwrap_or_else(PoisonError::into_inner);
                return Reply::status(200, &[("content-type", "text/plain")], &robots);
            }
            "/sitemap.xml" => {
                let mut paths: Vec<_> = self.pages.values().filter(|page| page.is_found).collect();
                paths.sort_by(|one, other| one.path.cmp(&other.path));
                let paths: Vec<_> = paths.iter().map(|page| page.path.as_str()).collect();
                return traps::sitemap(&self.origin, &paths);
            }
            "/search" => return self.index.reply(&self.origin, query),
            _ => {}
        }
        if let Some(page) = self.pages.get(path) {
            let changed = self.changed.lock().unwrap_or_else(PoisonError::into_inner);
            return page.reply(request.headers(), changed.get(path).map(String::as_str));
        }
        traps::reply(path, query, &self.canary).unwrap_or_else(|| {
            html(
                404,
                &pages::document("Not found", "<p>There is no such page.</p>"),
            )
        })
    }
}

fn html(status: u16, page: &str) -> Reply {
    Reply::status(
        status,
        &[("content-type", "text/html; charset=utf-8")],
        page,
    )
}

fn play(reply: &Reply, open: &watch::Sender<usize>) -> io::Result<Response<ScriptedBody>> {
    let Kind::Answer {
        status, headers, ..
    } = &*reply.0
    else {
        return Err(io::Error::other("the connection ends here"));
    };
    let mut response = Response::builder().status(*status);
    for (name, value) in headers {
        response = response.header(name, value);
    }
    let body = ScriptedBody::new(Arc::clone(&reply.0), OpenRequest::new(open.clone()));
    response.body(body).map_err(io::Error::other)
}
