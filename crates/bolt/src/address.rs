//! Parses the address of a graph database.

use std::fmt;

/// The default port.
const USUAL_PORT: u16 = 7687;

/// The address of a graph database.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Address {
    /// Host name or IP address, without brackets.
    pub(crate) host: String,
    pub(crate) port: u16,
    /// Whether to use TLS.
    pub(crate) encrypted: bool,
}

/// It is not the address of a graph database.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error(
    "must be an address such as bolt://127.0.0.1:7687 or neo4j+s://graph.example.org, without a user name in it"
)]
pub struct NoAddress;

impl Address {
    /// Parses `bolt://host:port` and the like. With `+s` after `bolt` or `neo4j`, the connection uses TLS.
    ///
    /// # Errors
    /// [`NoAddress`].
    pub fn parse(text: &str) -> Result<Self, NoAddress> {
        let (scheme, rest) = text.split_once("://").ok_or(NoAddress)?;
        let encrypted = match scheme {
            "bolt" | "neo4j" => false,
            "bolt+s" | "neo4j+s" => true,
            _ => return Err(NoAddress),
        };
        let place = rest.strip_suffix('/').unwrap_or(rest);
        let (host, port) = match place.strip_prefix('[') {
            Some(number) => {
                let (host, port) = number.split_once(']').ok_or(NoAddress)?;
                (
                    host,
                    port.strip_prefix(':')
                        .or(port.is_empty().then_some(""))
                        .ok_or(NoAddress)?,
                )
            }
            None => place.split_once(':').unwrap_or((place, "")),
        };
        let port = if port.is_empty() {
            USUAL_PORT
        } else {
            port.parse().map_err(|_| NoAddress)?
        };
        let is_plain = |letter: char| letter.is_ascii_alphanumeric() || ".-_:".contains(letter);
        if host.is_empty() || port == 0 || !host.chars().all(is_plain) {
            return Err(NoAddress);
        }
        Ok(Self {
            host: host.to_owned(),
            port,
            encrypted,
        })
    }
}

impl fmt::Display for Address {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.host.contains(':') {
            write!(f, "[{}]:{}", self.host, self.port)
        } else {
            write!(f, "{}:{}", self.host, self.port)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_as_people_write_them() {
        let read = |text| Address::parse(text).map(|it| (it.to_string(), it.encrypted));
        assert_eq!(
            read("bolt://127.0.0.1:7688"),
            Ok(("127.0.0.1:7688".into(), false))
        );
        assert_eq!(
            read("neo4j+s://a.example/"),
            Ok(("a.example:7687".into(), true))
        );
        assert_eq!(read("bolt+s://[::1]:1"), Ok(("[::1]:1".into(), true)));
        assert_eq!(read("neo4j://[::1]"), Ok(("[::1]:7687".into(), false)));
        for bad in [
            "",
            "http://a",
            "bolt://",
            "bolt://u:p@a",
            "bolt://a:x",
            "bolt://a:0",
            "bolt://a/b",
            "bolt://[::1",
            "bolt+ssc://a",
        ] {
            assert_eq!(read(bad), Err(NoAddress), "{bad}");
        }
    }
}
