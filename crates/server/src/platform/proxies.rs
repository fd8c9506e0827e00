//! Determines the client's address behind reverse proxies. Otherwise all people would share the proxy's address, and
//! one who guesses passwords would lock everyone out.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

use axum::http::HeaderMap;
use ipnet::IpNet;

const FORWARDED_FOR: &str = "x-forwarded-for";

/// Trusted proxies, as networks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Proxies(Vec<IpNet>);

impl Proxies {
    /// Parses addresses and networks, such as `127.0.0.1` and `172.16.0.0/12`.
    ///
    /// # Errors
    /// If one is neither.
    pub fn parse(texts: &[String]) -> anyhow::Result<Self> {
        let parse = |text: &String| {
            network_of(text.trim()).ok_or_else(|| {
                anyhow::anyhow!(
                    "has “{text}”, but takes addresses and networks, such as 127.0.0.1 or 172.16.0.0/12"
                )
            })
        };
        texts
            .iter()
            .filter(|text| !text.trim().is_empty())
            .map(parse)
            .collect::<anyhow::Result<_>>()
            .map(Self)
    }

    /// The client's address for a request from `peer`: the last address in the header, from the right, that is not a
    /// trusted proxy. Anything to the left of it could be forged.
    #[must_use]
    pub fn client(&self, peer: IpAddr, headers: &HeaderMap) -> IpAddr {
        let mut nearest = peer.to_canonical();
        let lines = headers
            .get_all(FORWARDED_FOR)
            .iter()
            .map(|line| line.to_str().unwrap_or_default());
        let all: Vec<&str> = lines.flat_map(|line| line.split(',')).collect();
        for said in all.into_iter().rev() {
            if !self.has(nearest) {
                break;
            }
            let Some(address) = address(said.trim()) else {
                break;
            };
            nearest = address;
        }
        nearest
    }

    /// The union with others.
    #[must_use]
    pub fn and(mut self, others: &Self) -> Self {
        self.0.extend_from_slice(&others.0);
        self
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether no network is wider than these prefix lengths for IPv4 and IPv6.
    #[must_use]
    pub fn are_narrow(&self, min_v4: u8, min_v6: u8) -> bool {
        self.0.iter().all(|network| match network {
            IpNet::V4(network) => network.prefix_len() >= min_v4,
            IpNet::V6(network) => network.prefix_len() >= min_v6,
        })
    }

    /// Whether this is the address of a trusted proxy.
    #[must_use]
    pub fn has(&self, address: IpAddr) -> bool {
        self.0.iter().any(|network| network.contains(&address))
    }
}

/// An address as proxies write it, some with a port.
fn address(text: &str) -> Option<IpAddr> {
    let plain = text.parse::<IpAddr>().ok();
    let address = plain.or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()));
    address
        .or_else(|| text.trim_matches(['[', ']']).parse().ok())
        .map(|address| address.to_canonical())
}

/// `172.16.0.0/12`, or a single address. `None` also for the network of all addresses: anyone could then forge their
/// address.
fn network_of(text: &str) -> Option<IpNet> {
    let (address, bits) = text.split_once('/').unwrap_or((text, ""));
    let address: IpAddr = address.parse().ok()?;
    let network = match bits {
        "" => IpNet::from(address),
        bits => IpNet::new(address, bits.parse().ok()?).ok()?,
    };
    (network.prefix_len() > 0).then_some(network)
}

/// The unit of per-address limits: with IPv6, everyone has a /64 network to choose addresses from.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX)).into(),
        v4 => v4,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_word_of_proxies_is_taken() {
        let proxies = Proxies::parse(&[
            "127.0.0.1".into(),
            "172.16.0.0/12".into(),
            "fd00::/8".into(),
        ])
        .unwrap();
        for (peer, said, client) in [
            ("127.0.0.1", &["203.0.113.7"][..], "203.0.113.7"),
            ("::ffff:127.0.0.1", &["203.0.113.7"], "203.0.113.7"),
            ("127.0.0.1", &["1.1.1.1, 203.0.113.7"], "203.0.113.7"),
            ("127.0.0.1", &["1.1.1.1", "203.0.113.7"], "203.0.113.7"),
            ("127.0.0.1", &["203.0.113.7, 172.31.0.2"], "203.0.113.7"),
            ("fd00::1", &["[2001:db8::1]:4000"], "2001:db8::1"),
            ("127.0.0.1", &["203.0.113.7:80"], "203.0.113.7"),
            ("127.0.0.1", &["nonsense"], "127.0.0.1"),
            (
                "127.0.0.1",
                &["203.0.113.7, nonsense, 172.31.0.2"],
                "172.31.0.2",
            ),
            ("127.0.0.1", &[], "127.0.0.1"),
            ("172.32.0.1", &["203.0.113.7"], "172.32.0.1"),
            ("203.0.113.9", &["203.0.113.7"], "203.0.113.9"),
        ] {
            let headers = said
                .iter()
                .map(|line| (FORWARDED_FOR.parse().unwrap(), line.parse().unwrap()));
            let headers: HeaderMap = headers.collect();
            let found = proxies.client(peer.parse().unwrap(), &headers);
            assert_eq!(found, client.parse::<IpAddr>().unwrap(), "{peer} {said:?}");
        }
        assert_eq!(
            Proxies::parse(&[String::new()]).unwrap(),
            Proxies::default()
        );
        for bad in [
            "0.0.0.0/0",
            "*",
            "10.0.0.0/33",
            "proxy.example.org",
            "::/0",
            "10.0.0.1/-1",
        ] {
            assert!(Proxies::parse(&[bad.into()]).is_err(), "{bad}");
        }
    }
}
