//! The one HTTP client every model connection shares, so that connections are reused.

use std::time::Duration;

use reqwest::{Client, ClientBuilder, redirect};

/// Connections to model servers. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct HttpClient {
    remote: Client,
    local: Client,
}

/// The client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the HTTP client: {0}")]
pub struct HttpClientError(#[from] reqwest::Error);

impl HttpClient {
    /// A client that trusts the certificates the operating system trusts.
    ///
    /// # Errors
    /// Where the TLS library cannot be set up.
    pub fn new() -> Result<Self, HttpClientError> {
        // Fails only where somebody installed a provider before, which is as good.
        let _ = rustls::crypto::ring::default_provider().install_default();
        Ok(Self { remote: build(settings)?, local: build(|| settings().no_proxy())? })
    }

    /// The client to use for `url`: a proxy from the environment is never asked for this machine's servers.
    pub(crate) fn for_url(&self, url: &reqwest::Url) -> &Client {
        if is_this_machine(url) { &self.local } else { &self.remote }
    }
}

fn settings() -> ClientBuilder {
    Client::builder()
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(60))
        // A redirected POST loses its body, and the key must not travel to another host.
        .redirect(redirect::Policy::none())
        .user_agent(concat!("glasshouse/", env!("CARGO_PKG_VERSION")))
}

/// A machine without any certificates can still talk to the model server next door over plain HTTP.
fn build(settings: impl Fn() -> ClientBuilder) -> Result<Client, reqwest::Error> {
    settings().build().or_else(|error| {
        tracing::warn!(%error, "no system certificates: https model servers cannot be reached");
        settings().tls_certs_only([]).build()
    })
}

fn is_this_machine(url: &reqwest::Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_matches(['[', ']']).parse::<std::net::IpAddr>();
    host == "localhost" || address.is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn timing() {
        for _ in 0..3 { let t = std::time::Instant::now(); let _c = HttpClient::new(); println!("{:?}", t.elapsed()); }
    }
    #[test]
    fn knows_this_machine() {
        for (url, local) in [
            ("http://localhost:11434/v1", true),
            ("http://127.0.0.2:1/", true),
            ("http://[::1]:8080/", true),
            ("https://api.example.com/v1", false),
            ("http://10.0.0.1/", false),
        ] {
            assert_eq!(is_this_machine(&url.parse().unwrap()), local, "{url}");
        }
    }
}
