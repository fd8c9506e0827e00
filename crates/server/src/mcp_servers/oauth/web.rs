//! Requests to addresses that a server has named: only where they may go, bounded in size and time, and without following
//! redirects.

use std::{net::IpAddr, time::Duration};

use llm::HttpClient;
use reqwest::{RequestBuilder, Response, StatusCode, Url};
use serde_json::Value;

const ANSWER_LIMIT_BYTES: usize = 256_000;
const TIME_LIMIT: Duration = Duration::from_secs(20);
const URL_LIMIT_BYTES: usize = 2_000;

/// The web as seen by the sign-in to one server.
pub(in crate::mcp_servers) struct Web<'a> {
    pub(in crate::mcp_servers) http: &'a HttpClient,
    /// The server's own address, which the administrator has chosen.
    pub(in crate::mcp_servers) server: &'a Url,
}

/// Whether two addresses are of the same host and port, with the same scheme.
pub(in crate::mcp_servers) fn same_server(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

impl Web<'_> {
    /// The address, where we may go there: over `https`, or to the server's own host. A server far away does not send us
    /// to this machine or to its neighbours' plain HTTP.
    pub(super) fn allowed(&self, text: &str) -> Result<Url, String> {
        let url: Option<Url> = (text.len() <= URL_LIMIT_BYTES).then(|| text.parse().ok()).flatten();
        let url = url.filter(|url| url.username().is_empty() && url.password().is_none() && url.has_host());
        let url = url.ok_or("It names an address for signing in that is none.")?;
        let own_host = url.host_str() == self.server.host_str() && url.scheme() == self.server.scheme();
        let near = is_near(self.server);
        let allowed = match url.scheme() {
            "https" => near || !is_near(&url),
            "http" => near && is_near(&url),
            _ => false,
        };
        if own_host || allowed {
            Ok(url)
        } else {
            Err("It names an address for signing in that is not safe: it must begin with https:// and not lead to this \
                 machine."
                .to_owned())
        }
    }

    /// A JSON object; nothing where there is none.
    pub(super) async fn find(&self, url: &Url) -> Result<Option<Value>, String> {
        let (status, value) = self.json(self.request(reqwest::Method::GET, url.as_str())?).await?;
        Ok(Some(value).filter(|value| status.is_success() && value.is_object()))
    }

    pub(super) fn request(&self, method: reqwest::Method, url: &str) -> Result<RequestBuilder, String> {
        let url = self.allowed(url)?;
        let client = self.http.for_url(&url).map_err(|error| format!("{error}."))?;
        Ok(client.request(method, url).header("accept", "application/json"))
    }

    /// Sends it; what is no JSON is null.
    pub(super) async fn json(&self, request: RequestBuilder) -> Result<(StatusCode, Value), String> {
        let whole = async {
            let response = request.send().await?;
            let status = response.status();
            Ok((status, read(response).await?))
        };
        let (status, body) = whole_in_time(whole).await?;
        Ok((status, serde_json::from_slice(&body).unwrap_or_default()))
    }

    /// Sends it; only the head of the answer counts.
    pub(super) async fn head(&self, request: RequestBuilder) -> Result<Response, String> {
        whole_in_time(request.send()).await
    }
}

async fn whole_in_time<T>(answer: impl Future<Output = Result<T, reqwest::Error>>) -> Result<T, String> {
    match tokio::time::timeout(TIME_LIMIT, answer).await {
        Ok(Ok(answer)) => Ok(answer),
        Ok(Err(error)) => Err(format!("What signs people in cannot be reached: {}.", innermost(&error))),
        Err(_) => Err("What signs people in does not answer.".to_owned()),
    }
}

/// The first cause: those around it have the whole address, with what is secret in it.
fn innermost(error: &(dyn std::error::Error + 'static)) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let words = cause.to_string();
    if words.contains("://") { "it failed".to_owned() } else { words.chars().take(200).collect() }
}

/// What fits into the limit; the rest is no JSON then.
async fn read(mut response: Response) -> Result<Vec<u8>, reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await? {
        if body.len() + chunk.len() > ANSWER_LIMIT_BYTES {
            return Ok(Vec::new());
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// Whether an address names this machine or what only its network can reach.
fn is_near(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']).trim_end_matches('.');
    match host.parse::<IpAddr>().map(|address| address.to_canonical()) {
        Ok(IpAddr::V4(address)) => {
            address.is_loopback()
                || address.is_private()
                || address.is_link_local()
                || address.octets()[0] == 0
                // What providers and private networks have between themselves, 100.64.0.0/10.
                || address.octets()[0] == 100 && address.octets()[1] & 0xc0 == 64
        }
        Ok(IpAddr::V6(address)) => {
            address.is_loopback()
                || address.is_unspecified()
                || address.is_unique_local()
                || address.is_unicast_link_local()
        }
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_server_far_away_does_not_send_us_to_this_machine() {
        let http = HttpClient::new().unwrap();
        for (server, url, allowed) in [
            ("https://a.example/mcp", "https://login.example/token", true),
            ("https://a.example/mcp", "http://login.example/token", false),
            ("https://a.example/mcp", "http://a.example/token", false),
            ("http://a.example/mcp", "http://a.example:9/token", true),
            ("https://a.example/mcp", "http://169.254.169.254/latest", false),
            ("https://a.example/mcp", "https://127.0.0.1/token", false),
            ("https://a.example/mcp", "https://[::ffff:10.0.0.1]/token", false),
            ("https://a.example/mcp", "https://2130706433/token", false),
            ("https://a.example/mcp", "https://localhost./token", false),
            ("https://a.example/mcp", "https://100.64.0.1/token", false),
            ("https://a.example/mcp", "https://100.128.0.1/token", true),
            ("https://a.example/mcp", "https://0.1.2.3/token", false),
            ("https://a.example/mcp", "file:///etc/passwd", false),
            ("https://a.example/mcp", "https://a:b@login.example/", false),
            ("https://a.example/mcp", "nonsense", false),
            ("http://127.0.0.1:1/mcp", "http://localhost:2/token", true),
            ("http://127.0.0.1:1/mcp", "http://login.example/token", false),
            ("http://10.0.0.1/mcp", "https://login.example/token", true),
        ] {
            let server: Url = server.parse().unwrap();
            let web = Web { http: &http, server: &server };
            assert_eq!(web.allowed(url).is_ok(), allowed, "{server} → {url}");
        }
    }
}
