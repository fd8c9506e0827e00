//! `[mail]`: sending mail over SMTP.

use lettre::message::Mailbox;
use llm::Secret;
use serde::Deserialize;

/// Settings of sending mail.
#[derive(Debug, Clone)]
pub struct MailSettings {
    /// The host of the SMTP server.
    pub host: String,
    /// Its port.
    pub port: u16,
    /// How the connection is encrypted.
    pub security: MailSecurity,
    /// The user name and the password, if the server requires them.
    pub credentials: Option<(String, Secret)>,
    /// The sender.
    pub from: Mailbox,
}

/// How a connection to an SMTP server is encrypted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum MailSecurity {
    /// It begins in clear text and has to switch to TLS.
    Starttls,
    /// TLS from the start.
    Tls,
    /// Clear text.
    None,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawMail {
    server: String,
    security: MailSecurity,
    user: String,
    password: String,
    from: String,
}

impl MailSecurity {
    fn usual_port(self) -> u16 {
        match self {
            Self::Starttls => 587,
            Self::Tls => 465,
            Self::None => 25,
        }
    }
}

impl RawMail {
    /// `None` if no server is set.
    pub(super) fn check(self) -> anyhow::Result<Option<MailSettings>> {
        let server = self.server.trim();
        if server.is_empty() {
            return Ok(None);
        }
        let (host, port) = address(server, self.security.usual_port()).ok_or_else(|| {
            anyhow::anyhow!(
                "mail.server is “{server}”, but must be a host, or a host and a port, such as smtp.example.org:587"
            )
        })?;
        let from = self.from.trim().parse().map_err(|_| {
            anyhow::anyhow!(
                "mail.from is “{}”, but must be the address of the sender, such as ai@example.org",
                self.from
            )
        })?;
        let credentials = (!self.user.is_empty()).then(|| (self.user, Secret::new(self.password)));
        Ok(Some(MailSettings {
            host,
            port,
            security: self.security,
            credentials,
            from,
        }))
    }
}

/// The host and the port; an IPv6 address with a port is in brackets.
fn address(text: &str, usual_port: u16) -> Option<(String, u16)> {
    if let Ok(address) = text.parse::<std::net::SocketAddr>() {
        return Some((address.ip().to_string(), address.port()));
    }
    if let Ok(ip) = text.trim_matches(['[', ']']).parse::<std::net::IpAddr>() {
        return Some((ip.to_string(), usual_port));
    }
    let (host, port) = match text.split_once(':') {
        Some((host, port)) => (host, port.parse().ok()?),
        None => (text, usual_port),
    };
    let is_host = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_');
    (!host.is_empty() && host.bytes().all(is_host) && port > 0).then(|| (host.to_owned(), port))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_hosts_with_or_without_a_port() {
        for (text, expected) in [
            ("smtp.example.org", Some(("smtp.example.org", 587))),
            ("smtp.example.org:25", Some(("smtp.example.org", 25))),
            ("127.0.0.1:2525", Some(("127.0.0.1", 2525))),
            ("[::1]:2525", Some(("::1", 2525))),
            ("::1", Some(("::1", 587))),
            ("[::1]", Some(("::1", 587))),
            ("smtp://example.org", None),
            ("example.org:smtp", None),
            ("example.org:0", None),
            ("example.org:99999", None),
            ("me@example.org", None),
            (":25", None),
        ] {
            let expected = expected.map(|(host, port)| (host.to_owned(), port));
            assert_eq!(address(text, 587), expected, "{text}");
        }
    }
}
