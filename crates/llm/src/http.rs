//! The HTTP client that all model connections share, so that connections are reused.

use std::{
    net::{IpAddr, Ipv6Addr},
    sync::{Arc, OnceLock},
    time::Duration,
};

use reqwest::{Client, ClientBuilder, Url, redirect};

/// Connections to model servers. Cheap to clone; clones share their connections.
#[derive(Debug, Clone)]
pub struct HttpClient(Arc<Clients>);

#[derive(Debug)]
struct Clients {
    /// For plain HTTP to this machine and its metadata services: no certificates and no proxy.
    local: Client,
    /// For everything else. Built on first use, since reading the system's certificates takes a while.
    remote: OnceLock<Client>,
}

/// The client could not be set up.
#[derive(Debug, thiserror::Error)]
#[error("cannot set up the HTTP client: {0}")]
pub struct HttpClientError(#[from] reqwest::Error);

impl HttpClient {
    /// A client that trusts the certificates the operating system trusts.
    ///
    /// # Errors
    /// If the TLS library cannot be set up.
    pub fn new() -> Result<Self, HttpClientError> {
        // Fails only if a provider is already installed, which is fine.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let local = settings().no_proxy().tls_certs_only([]).build()?;
        Ok(Self(Arc::new(Clients {
            local,
            remote: OnceLock::new(),
        })))
    }

    /// The client to use for `url`. It follows no redirects.
    ///
    /// # Errors
    /// If the TLS library cannot be set up.
    pub fn for_url(&self, url: &Url) -> Result<&Client, HttpClientError> {
        if url.scheme() == "http" && is_this_machine(url) {
            return Ok(&self.0.local);
        }
        if let Some(remote) = self.0.remote.get() {
            return Ok(remote);
        }
        let remote = build_remote()?;
        Ok(self.0.remote.get_or_init(|| remote))
    }
}

/// The credential services of AWS for instances and pods on IPv6 machines.
const METADATA_V6: [Ipv6Addr; 2] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254),
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),
];

fn settings() -> ClientBuilder {
    Client::builder()
        .tcp_nodelay(true)
        .connect_timeout(Duration::from_secs(10))
        .pool_idle_timeout(Duration::from_secs(60))
        // A redirected POST loses its body, and the key must not be sent to another host.
        .redirect(redirect::Policy::none())
        .user_agent(concat!("glasshouse/", env!("CARGO_PKG_VERSION")))
}

/// A machine without any certificates can still use a model server on its network over plain HTTP.
fn build_remote() -> Result<Client, reqwest::Error> {
    settings().build().or_else(|error| {
        tracing::warn!(%error, "no system certificates: https model servers are unreachable");
        settings().tls_certs_only([]).build()
    })
}

/// Includes the services that give a machine its cloud credentials.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    match host.trim_matches(['[', ']']).parse::<IpAddr>() {
        Ok(IpAddr::V4(address)) => address.is_loopback() || address.is_link_local(),
        Ok(IpAddr::V6(address)) => address.is_loopback() || METADATA_V6.contains(&address),
        Err(_) => matches!(host, "localhost" | "metadata.google.internal"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recognizes_loopback_addresses() {
        for (url, local) in [
            ("http://localhost:11434/v1", true),
            ("http://127.0.0.2:1/", true),
            ("http://[::1]:8080/", true),
            ("https://api.example.com/v1", false),
            ("http://10.0.0.1/", false),
            ("http://169.254.170.2/v2/credentials", true),
            ("http://[fd00:ec2::254]/latest/", true),
            ("http://metadata.google.internal/computeMetadata/v1/", true),
        ] {
            assert_eq!(is_this_machine(&url.parse().unwrap()), local, "{url}");
        }
    }
}
