//! Addresses and connections for other programs and protocols than our HTTP client, with the same guard.

use std::{
    net::{IpAddr, SocketAddr},
    time::Duration,
};

use reqwest::Url;
use tokio::net::TcpStream;

use crate::{Fault, Outbound, is_free, plain_host, resolving::permitted};

/// Timeout of a connection, over all addresses of its host.
const CONNECT_TIMEOUT: Duration = Duration::from_secs(15);

impl Outbound {
    /// The addresses at which the host of a web URL may be reached now. A program that connects to it must use these and
    /// not resolve the name again, and must check redirects itself.
    ///
    /// # Errors
    /// `NoAddress`, `NotAllowed` and `Unreachable`.
    pub async fn resolve(&self, url: &Url) -> Result<Vec<SocketAddr>, Fault> {
        self.0.client_kind(url, &[])?;
        let host = plain_host(url).ok_or(Fault::NoAddress)?;
        let port = url.port_or_known_default().ok_or(Fault::NoAddress)?;
        self.addresses(&host, port).await
    }

    /// Connects to a host for a protocol whose ports are `ports`. Ports above 1023 that belong to no other service are
    /// allowed too, and all ports of hosts that the administrator has listed by name.
    ///
    /// # Errors
    /// `NoAddress`, `NotAllowed`, `Unreachable` and `Slow`.
    pub async fn connect(&self, host: &str, port: u16, ports: &[u16]) -> Result<TcpStream, Fault> {
        let host = normal_host(host).ok_or(Fault::NoAddress)?;
        if !self.0.allowed.names(&host) && !ports.contains(&port) && !is_free(port) {
            return Err(Fault::NotAllowed);
        }
        let connecting = async {
            let addresses = self.addresses(&host, port).await?;
            let connected = TcpStream::connect(&*addresses).await;
            connected.map_err(|_| Fault::Unreachable)
        };
        let connected = tokio::time::timeout(CONNECT_TIMEOUT, connecting).await;
        connected.unwrap_or(Err(Fault::Slow))
    }

    /// Whether the administrator has listed a host, or the network of a literal address.
    #[must_use]
    pub fn is_named_host(&self, host: &str) -> bool {
        normal_host(host)
            .is_some_and(|host| self.0.allowed.names(&host) || self.0.allowed.has_network_of(&host))
    }

    async fn addresses(&self, host: &str, port: u16) -> Result<Vec<SocketAddr>, Fault> {
        let found = match host.parse::<IpAddr>() {
            Ok(address) => vec![address],
            Err(_) => (self.0.lookup)(host.to_owned())
                .await
                .map_err(|_| Fault::Unreachable)?,
        };
        let found = if self.0.allowed.names(host) {
            found
        } else {
            permitted(found, &self.0.allowed)?
        };
        if found.is_empty() {
            return Err(Fault::Unreachable);
        }
        let with_port = |address| SocketAddr::new(address, port);
        Ok(found.into_iter().map(with_port).collect())
    }
}

/// A host as URLs have it: lower case, in ASCII, addresses in their normal form. `None` if it is more than a host.
fn normal_host(host: &str) -> Option<String> {
    let host = host.trim();
    if host.contains(['/', '@', '?', '#', '\\']) || host.contains(char::is_whitespace) {
        return None;
    }
    let is_v6 = host.parse::<std::net::Ipv6Addr>().is_ok();
    if host.contains(':') && !is_v6 {
        return None;
    }
    let url = if is_v6 {
        format!("http://[{host}]/")
    } else {
        format!("http://{host}/")
    };
    let url: Url = url.parse().ok()?;
    plain_host(&url)
}

#[cfg(test)]
mod tests {
    use std::{io, sync::Arc};

    use super::*;
    use crate::Allowed;

    /// Resolves `public.example` to a public and a private address, `inside.example` to a private one.
    fn outbound(allowed: &[&str]) -> Outbound {
        let allowed: Vec<_> = allowed.iter().map(|entry| (*entry).to_owned()).collect();
        let lookup: crate::Lookup = Arc::new(|name| {
            Box::pin(async move {
                let found = match &*name {
                    "public.example" => vec!["10.0.0.1", "1.1.1.1"],
                    "inside.example" => vec!["127.0.0.1"],
                    _ => return Err(io::ErrorKind::NotFound.into()),
                };
                Ok(found.into_iter().map(|one| one.parse().unwrap()).collect())
            })
        });
        Outbound::with_lookup(Allowed::parse(&allowed).unwrap(), lookup)
    }

    #[tokio::test]
    async fn only_permitted_addresses_are_resolved() {
        for (url, allowed, expected) in [
            ("https://public.example/a", None, Ok("1.1.1.1:443")),
            ("http://public.example:8080/", None, Ok("1.1.1.1:8080")),
            ("https://inside.example/", None, Err(Fault::NotAllowed)),
            (
                "https://inside.example/",
                Some("127.0.0.0/8"),
                Ok("127.0.0.1:443"),
            ),
            (
                "https://INSIDE.example./",
                Some("inside.example"),
                Ok("127.0.0.1:443"),
            ),
            ("https://nowhere.example/", None, Err(Fault::Unreachable)),
            ("https://127.0.0.1/", None, Err(Fault::NotAllowed)),
            ("https://0x7f.1/", None, Err(Fault::NotAllowed)),
            ("https://[::ffff:127.0.0.1]/", None, Err(Fault::NotAllowed)),
            ("https://[2606:4700::1]/", None, Ok("[2606:4700::1]:443")),
            ("https://public.example:22/", None, Err(Fault::NotAllowed)),
            ("https://a@public.example/", None, Err(Fault::NoAddress)),
            ("ssh://public.example/", None, Err(Fault::NoAddress)),
        ] {
            let found = outbound(allowed.as_slice())
                .resolve(&url.parse().unwrap())
                .await;
            let expected = expected.map(|address| vec![address.parse().unwrap()]);
            assert_eq!(found, expected, "{url}");
        }
    }

    #[tokio::test]
    async fn connections_have_the_same_guard() {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        for (host, port, allowed, expected) in [
            ("inside.example", port, None, Err(Fault::NotAllowed)),
            ("127.0.0.1", port, None, Err(Fault::NotAllowed)),
            ("127.1", port, None, Err(Fault::NotAllowed)),
            ("::1", port, None, Err(Fault::NotAllowed)),
            ("inside.example", port, Some("127.0.0.1"), Ok(())),
            ("127.0.0.1", port, Some("127.0.0.1"), Ok(())),
            ("Inside.Example.", port, Some("inside.example"), Ok(())),
            ("public.example", 25, None, Err(Fault::NotAllowed)),
            ("public.example", 6667, None, Err(Fault::NotAllowed)),
            ("public.example:80", 993, None, Err(Fault::NoAddress)),
            ("a@inside.example", port, None, Err(Fault::NoAddress)),
            ("", port, None, Err(Fault::NoAddress)),
            ("nowhere.example", 993, None, Err(Fault::Unreachable)),
        ] {
            let outbound = outbound(allowed.as_slice());
            let connected = outbound.connect(host, port, &[143, 993]).await;
            assert_eq!(connected.map(|_| ()), expected, "{host}:{port}");
        }
    }

    #[test]
    fn listed_hosts_are_known() {
        let outbound = outbound(&["mail.example", "10.0.0.0/8"]);
        for (host, expected) in [
            ("Mail.Example.", true),
            ("10.1.2.3", true),
            ("mail.example.com", false),
            ("1.1.1.1", false),
            ("mail.example/", false),
        ] {
            assert_eq!(outbound.is_named_host(host), expected, "{host}");
        }
    }
}
