//! An HTTP client for untrusted URLs of pages, models, people and other servers, with protection against SSRF: it
//! reaches only the public internet and the administrator's exceptions, also through DNS and redirects.

mod address;
mod allowed;
mod connection;
mod request;
mod resolving;

use std::{
    net::IpAddr,
    sync::{Arc, OnceLock},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use reqwest::{
    Client, ClientBuilder, Response, Url,
    header::{ACCEPT_ENCODING, CONTENT_ENCODING, HeaderValue},
    redirect,
};

pub use allowed::{Allowed, plain_host};
pub use request::{Answer, Limits, Request, location};
use resolving::Guard;
pub use resolving::{Lookup, system_lookup};

/// Maximum length of a URL, bytes.
const URL_LIMIT_BYTES: usize = 4_000;
/// Ports above 1023 of other services than the web, after the Fetch standard.
const OTHER_PORTS: [u16; 18] = [
    1719, 1720, 1723, 2049, 3659, 4045, 4190, 5060, 5061, 6000, 6566, 6665, 6666, 6667, 6668, 6669,
    6679, 6697,
];

/// Why a request failed. None reveals the address of a name or its content.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum Fault {
    /// The text is no web URL.
    #[error(
        "It is no address that can be asked: it must begin with https:// and have no user name in it"
    )]
    NoAddress,
    /// The target is forbidden.
    #[error(
        "It leads to this machine, into a private network or to a port that is not for the web, which only an \
         administrator can allow (outbound.allow)"
    )]
    NotAllowed,
    /// There is no HTTP server.
    #[error("It cannot be reached")]
    Unreachable,
    /// Timed out.
    #[error("It does not answer in time")]
    Slow,
    /// Too many redirects.
    #[error("It redirects too often")]
    TooManyHops,
    /// The body exceeds the limit.
    #[error("Its answer is too large")]
    TooLarge,
    /// It is compressed although that was not requested, so its real size is unknown.
    #[error("Its answer is compressed, which was not asked for")]
    Compressed,
    /// The body broke off.
    #[error("The connection was lost in the middle of its answer")]
    CutOff,
}

/// The client. Cheap to clone; clones share their connections.
#[derive(Clone)]
pub struct Outbound(Arc<Clients>);

struct Clients {
    allowed: Allowed,
    lookup: Lookup,
    /// Reading the system's certificates takes a while, so clients are built on first use.
    guarded: OnceLock<Client>,
    /// For hosts that the administrator has listed.
    chosen: OnceLock<Client>,
    /// For plain HTTP to this machine, if listed: no certificates and no proxy.
    local: OnceLock<Client>,
}

/// The client for a URL.
enum ClientKind {
    Guarded,
    Chosen,
}

impl Outbound {
    /// A client for the public internet and the exceptions in `allowed`.
    #[must_use]
    pub fn new(allowed: Allowed) -> Self {
        Self::with_lookup(allowed, system_lookup())
    }

    /// As [`Outbound::new`], with another resolver.
    #[must_use]
    pub fn with_lookup(allowed: Allowed, lookup: Lookup) -> Self {
        // Fails only if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let guarded = OnceLock::new();
        let chosen = OnceLock::new();
        let local = OnceLock::new();
        Self(Arc::new(Clients {
            allowed,
            lookup,
            guarded,
            chosen,
            local,
        }))
    }

    /// The URL, if it may be requested as far as can be checked without resolving its name; `chosen` are hosts of the
    /// administrator.
    ///
    /// # Errors
    /// `NoAddress` and `NotAllowed`.
    pub fn address(&self, text: &str, chosen: &[String]) -> Result<Url, Fault> {
        let url: Option<Url> = (text.len() <= URL_LIMIT_BYTES)
            .then(|| text.parse().ok())
            .flatten();
        let url = url.ok_or(Fault::NoAddress)?;
        self.0.client_kind(&url, chosen).map(|_| url)
    }

    /// Whether the administrator has listed the host of a URL, or the network of its literal address.
    #[must_use]
    pub fn is_named(&self, url: &Url) -> bool {
        plain_host(url)
            .is_some_and(|host| self.0.allowed.names(&host) || self.0.allowed.has_network_of(&host))
    }

    /// Sends it, follows redirects, and reads the whole response.
    ///
    /// # Errors
    /// Any fault; an unsuccessful status is none.
    pub async fn send(&self, request: Request) -> Result<Answer, Fault> {
        let time = request.limits.time;
        tokio::time::timeout(time, self.0.follow(request))
            .await
            .unwrap_or(Err(Fault::Slow))
    }
}

impl Clients {
    async fn follow(&self, mut request: Request) -> Result<Answer, Fault> {
        for _ in 0..=request.limits.hops {
            let response = self.send_once(&request).await?;
            let status = response.status();
            match request.next(status, response.headers())? {
                Some(to) => request = request.moved(to, status),
                None => return read(response, &request).await,
            }
        }
        Err(Fault::TooManyHops)
    }

    async fn send_once(&self, request: &Request) -> Result<Response, Fault> {
        let client = match self.client_kind(&request.url, &request.chosen)? {
            ClientKind::Guarded => get_or_make(&self.guarded, || {
                settings()
                    .no_proxy()
                    .dns_resolver(Guard::new(self.allowed.clone(), Arc::clone(&self.lookup)))
            }),
            ClientKind::Chosen
                if request.url.scheme() == "http" && is_this_machine(&request.url) =>
            {
                get_or_make(&self.local, || settings().no_proxy().tls_certs_only([]))
            }
            ClientKind::Chosen => get_or_make(&self.chosen, settings),
        }?;
        let mut asked = client.request(request.method.clone(), request.url.clone());
        asked = asked.headers(request.headers.clone());
        // An uncompressed body cannot expand.
        asked = asked.header(ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        if let Some(body) = &request.body {
            asked = asked.body(body.clone());
        }
        asked.send().await.map_err(|error| fault_of(&error))
    }

    /// Checks each hop. Literal addresses never reach the resolver, so they are checked here; those of names are
    /// checked when they are resolved.
    fn client_kind(&self, url: &Url, chosen: &[String]) -> Result<ClientKind, Fault> {
        let is_plain = matches!(url.scheme(), "http" | "https")
            && url.username().is_empty()
            && url.password().is_none()
            && url.as_str().len() <= URL_LIMIT_BYTES;
        let host = plain_host(url)
            .filter(|_| is_plain)
            .ok_or(Fault::NoAddress)?;
        if chosen.contains(&host) || self.allowed.names(&host) {
            return Ok(ClientKind::Chosen);
        }
        let port = url.port_or_known_default().unwrap_or_default();
        let is_web = matches!(port, 80 | 443) || is_free(port);
        let may_be_there = host
            .parse::<IpAddr>()
            .map_or(true, |address| self.allowed.permits(address));
        if is_web && may_be_there {
            Ok(ClientKind::Guarded)
        } else {
            Err(Fault::NotAllowed)
        }
    }
}

/// Whether a port belongs to no service in particular.
fn is_free(port: u16) -> bool {
    port >= 1024 && !OTHER_PORTS.contains(&port)
}

fn settings() -> ClientBuilder {
    Client::builder()
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(30))
        .pool_max_idle_per_host(4)
        // Each hop is checked here.
        .redirect(redirect::Policy::none())
        .referer(false)
        .user_agent(concat!("glasshouse/", env!("CARGO_PKG_VERSION")))
}

/// A machine without any certificates can still send plain HTTP requests.
fn get_or_make(
    place: &OnceLock<Client>,
    settings: impl Fn() -> ClientBuilder,
) -> Result<&Client, Fault> {
    if let Some(client) = place.get() {
        return Ok(client);
    }
    let made = settings().build().or_else(|error| {
        tracing::warn!(%error, "no system certificates: https addresses are unreachable");
        settings().tls_certs_only([]).build()
    });
    let made = made.map_err(|error| {
        tracing::warn!(%error, "cannot set up an HTTP client");
        Fault::Unreachable
    })?;
    Ok(place.get_or_init(|| made))
}

fn is_this_machine(url: &Url) -> bool {
    let host = plain_host(url).unwrap_or_default();
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

async fn read(mut response: Response, request: &Request) -> Result<Answer, Fault> {
    let status = response.status();
    let headers = response.headers().clone();
    let url = request.url.clone();
    let limit = request.limits.body_bytes;
    if limit == 0 {
        return Ok(Answer {
            status,
            headers,
            body: Bytes::new(),
            url,
        });
    }
    let is_plain = headers
        .get(CONTENT_ENCODING)
        .is_none_or(|encoding| encoding == "identity");
    let mut body = BytesMut::new();
    let cut_off = |error| match fault_of(&error) {
        Fault::Unreachable => Fault::CutOff,
        fault => fault,
    };
    while let Some(chunk) = response.chunk().await.map_err(cut_off)? {
        let left = limit - body.len();
        if is_plain && request.cuts && chunk.len() >= left {
            body.extend_from_slice(&chunk[..left]);
            break;
        }
        if !is_plain {
            return Err(Fault::Compressed);
        }
        if chunk.len() > left {
            return Err(Fault::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
    Ok(Answer {
        status,
        headers,
        body: body.freeze(),
        url,
    })
}

/// The details of the error are dropped: they may contain the address and its content.
fn fault_of(error: &reqwest::Error) -> Fault {
    let mut cause: &(dyn std::error::Error + 'static) = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
        if let Some(fault) = cause.downcast_ref::<Fault>() {
            return *fault;
        }
    }
    if error.is_timeout() {
        Fault::Slow
    } else {
        Fault::Unreachable
    }
}
