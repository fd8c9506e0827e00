//! HTTP requests to URLs that a server names: restricted to allowed hosts, and bounded in size and time.

use std::{net::IpAddr, time::Duration};

use domain::LocalizedText;
use outbound::{Answer, Fault, Limits, Outbound, Request, plain_host};
use reqwest::{Method, StatusCode, Url, header::ACCEPT};
use serde_json::Value;

use crate::messages;

const LIMITS: Limits = Limits {
    time: Duration::from_secs(20),
    body_bytes: 256_000,
    hops: 0,
};
/// Names of this machine: an administrator who chooses one of them has chosen all.
const THIS_MACHINE: [&str; 3] = ["localhost", "127.0.0.1", "::1"];

/// The HTTP access of the sign-in to one server.
pub struct Web<'a> {
    /// The guarded client.
    pub outbound: &'a Outbound,
    /// The server's own URL, which the administrator configured.
    pub server: &'a Url,
    /// The hosts that the administrator configured, see [`chosen_hosts`].
    pub chosen: &'a [String],
    /// The text for people of a request that failed.
    pub fault_text: fn(Fault) -> LocalizedText,
}

/// The hosts that the administrator configured with a server: its own, and that of the configured issuer. They may be
/// on this machine or in its network; hosts that only the server names may not.
#[must_use]
pub fn chosen_hosts(server: &Url, issuer: Option<&str>) -> Vec<String> {
    let issuer = issuer.and_then(|issuer| issuer.parse().ok());
    let mut hosts: Vec<String> = [Some(server), issuer.as_ref()]
        .into_iter()
        .flatten()
        .filter_map(plain_host)
        .collect();
    if hosts.iter().any(|host| is_this_machine(host)) {
        hosts.extend(THIS_MACHINE.map(str::to_owned));
    }
    hosts
}

/// Whether two URLs have the same scheme, host and port.
#[must_use]
pub fn same_server(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

impl Web<'_> {
    /// The parsed URL if it may be requested: over `https`, or on hosts that the administrator configured.
    ///
    /// # Errors
    /// If it may not be requested.
    pub fn allowed(&self, text: &str) -> Result<Url, messages::OAuth> {
        let url = self
            .outbound
            .address(text, self.chosen)
            .map_err(|fault| self.unusable(fault))?;
        let is_chosen = plain_host(&url).is_some_and(|host| self.chosen.contains(&host));
        let may_be_plain =
            is_chosen && self.server.scheme() == "http" || self.outbound.is_named(&url);
        if url.scheme() == "https" || may_be_plain {
            Ok(url)
        } else {
            Err(self.unusable(Fault::NoAddress))
        }
    }

    /// Fetches a JSON object; `None` if there is none.
    pub(crate) async fn find(&self, url: &Url) -> Result<Option<Value>, messages::OAuth> {
        let (status, value) = self.json(self.request(Method::GET, url.as_str())?).await?;
        Ok(Some(value).filter(|value| status.is_success() && value.is_object()))
    }

    pub(crate) fn request(&self, method: Method, url: &str) -> Result<Request, messages::OAuth> {
        let request = Request::new(method, self.allowed(url)?, LIMITS);
        Ok(request
            .chosen(self.chosen)
            .header(ACCEPT, "application/json"))
    }

    /// Sends a request; a body that is not JSON becomes null.
    ///
    /// # Errors
    /// If it fails.
    pub async fn json(&self, request: Request) -> Result<(StatusCode, Value), messages::OAuth> {
        let answer = self
            .outbound
            .send(request)
            .await
            .map_err(|fault| self.unusable(fault))?;
        Ok((
            answer.status,
            serde_json::from_slice(&answer.body).unwrap_or_default(),
        ))
    }

    /// Sends a request and reads only the head of the response.
    pub(crate) async fn head(&self, request: Request) -> Result<Answer, messages::OAuth> {
        self.outbound
            .send(request.head_only())
            .await
            .map_err(|fault| self.unusable(fault))
    }

    fn unusable(&self, fault: Fault) -> messages::OAuth {
        messages::OAuth::SignInAddressUnusable {
            why: (self.fault_text)(fault),
        }
    }
}

fn is_this_machine(host: &str) -> bool {
    host == "localhost"
        || host
            .parse::<IpAddr>()
            .is_ok_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use outbound::Allowed;

    use super::*;

    #[test]
    fn a_server_far_away_does_not_send_us_to_this_machine() {
        let outbound = Outbound::new(Allowed::parse(&["idp.internal".to_owned()]).unwrap());
        for (server, url, allowed) in [
            ("https://a.example/mcp", "https://login.example/token", true),
            ("https://a.example/mcp", "http://login.example/token", false),
            ("https://a.example/mcp", "http://a.example/token", false),
            ("http://a.example/mcp", "http://a.example:9/token", true),
            (
                "https://a.example/mcp",
                "http://169.254.169.254/latest",
                false,
            ),
            ("https://a.example/mcp", "https://127.0.0.1/token", false),
            (
                "https://a.example/mcp",
                "https://[::ffff:10.0.0.1]/token",
                false,
            ),
            ("https://a.example/mcp", "https://2130706433/token", false),
            ("https://a.example/mcp", "https://100.64.0.1/token", false),
            ("https://a.example/mcp", "https://100.128.0.1/token", true),
            ("https://a.example/mcp", "https://0.1.2.3/token", false),
            ("https://a.example/mcp", "file:///etc/passwd", false),
            ("https://a.example/mcp", "https://a:b@login.example/", false),
            ("https://a.example/mcp", "nonsense", false),
            ("https://a.example/mcp", "http://idp.internal/token", true),
            ("https://10.0.0.1/mcp", "https://10.0.0.1:9/token", true),
            ("https://10.0.0.1/mcp", "https://10.0.0.2/token", false),
            ("http://10.0.0.1/mcp", "http://10.0.0.2/token", false),
            ("http://127.0.0.1:1/mcp", "http://localhost:2/token", true),
            ("http://127.0.0.1:1/mcp", "http://10.0.0.1/token", false),
            (
                "http://127.0.0.1:1/mcp",
                "http://login.example/token",
                false,
            ),
            ("http://10.0.0.1/mcp", "https://login.example/token", true),
        ] {
            let server: Url = server.parse().unwrap();
            let chosen = chosen_hosts(&server, None);
            let web = Web {
                outbound: &outbound,
                server: &server,
                chosen: &chosen,
                fault_text: |fault| fault.to_string().into(),
            };
            assert_eq!(web.allowed(url).is_ok(), allowed, "{server} → {url}");
        }
    }

    #[test]
    fn the_sign_in_that_the_settings_name_is_chosen_too() {
        let server: Url = "https://a.example/mcp".parse().unwrap();
        assert_eq!(
            chosen_hosts(&server, Some("https://10.0.0.9/realm")),
            ["a.example", "10.0.0.9"]
        );
        assert!(chosen_hosts(&server, Some("http://[::1]:8")).contains(&"localhost".to_owned()));
    }
}
