//! The administrator's exceptions for requests beyond the public internet: host names and networks.

use std::net::IpAddr;

use ipnet::IpNet;
use reqwest::Url;

use crate::address::{is_global, network};

/// Maximum number of entries.
const MAX_ENTRIES: usize = 200;

/// Allowed targets outside of the public internet. Empty by default.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed {
    hosts: Vec<String>,
    networks: Vec<IpNet>,
}

impl Allowed {
    /// Parses host names, addresses and networks such as `10.0.0.0/8`. Empty entries are ignored.
    ///
    /// # Errors
    /// A sentence about the first invalid entry.
    pub fn parse(entries: &[String]) -> Result<Self, String> {
        let mut allowed = Self::default();
        if entries.len() > MAX_ENTRIES {
            return Err(format!("has more than {MAX_ENTRIES} entries"));
        }
        for entry in entries
            .iter()
            .map(|entry| entry.trim())
            .filter(|entry| !entry.is_empty())
        {
            if let Some(network) = network(entry) {
                allowed.networks.push(network);
                continue;
            }
            let host = host_of(entry).ok_or_else(|| {
                format!(
                    "has “{entry}”, but takes the name of a host, an address, or a network such as 10.0.0.0/8"
                )
            })?;
            allowed.hosts.push(host);
        }
        Ok(allowed)
    }

    /// Whether the host name is listed: then it may have any address.
    pub(crate) fn names(&self, host: &str) -> bool {
        self.hosts.iter().any(|named| named == host)
    }

    /// Whether a host is an address in a listed network.
    pub(crate) fn has_network_of(&self, host: &str) -> bool {
        host.parse::<IpAddr>()
            .is_ok_and(|address| self.contains(&address))
    }

    /// Whether an address may be reached.
    pub(crate) fn permits(&self, address: IpAddr) -> bool {
        is_global(address) || self.contains(&address)
    }

    fn contains(&self, address: &IpAddr) -> bool {
        self.networks
            .iter()
            .any(|network| network.contains(address))
    }
}

/// The normalized host; `None` if the entry is more than a host.
fn host_of(entry: &str) -> Option<String> {
    if entry.contains(['/', ':', '@', '?', '#', '\\', '*', '%'])
        || entry.chars().any(char::is_whitespace)
    {
        return None;
    }
    let url: Url = format!("http://{entry}/").parse().ok()?;
    let host = plain_host(&url)?;
    // Another spelling of an address.
    host.parse::<IpAddr>().is_err().then_some(host)
}

/// The host of a URL, without brackets and without a trailing dot.
#[must_use]
pub fn plain_host(url: &Url) -> Option<String> {
    let host = url
        .host_str()?
        .trim_matches(['[', ']'])
        .trim_end_matches('.');
    (!host.is_empty()).then(|| host.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(entry: &str) -> Result<Allowed, String> {
        Allowed::parse(&[entry.to_owned()])
    }

    #[test]
    fn entries_are_hosts_addresses_or_networks() {
        assert!(parse("IdP.internal.").unwrap().names("idp.internal"));
        assert!(
            !parse("internal").unwrap().names("idp.internal"),
            "not what is below it"
        );
        assert!(
            parse("10.0.0.0/8")
                .unwrap()
                .permits("10.1.1.1".parse().unwrap())
        );
        assert!(
            !parse("10.0.0.0/8")
                .unwrap()
                .permits("127.0.0.1".parse().unwrap())
        );
        assert_eq!(parse(" "), Ok(Allowed::default()));
        for wrong in [
            "http://idp",
            "idp:80",
            "a b",
            "*.internal",
            "10.0.0.0/99",
            "0x7f.1",
            "a@b",
            "127.1",
        ] {
            assert!(parse(wrong).unwrap_err().contains(wrong), "{wrong}");
        }
    }
}
