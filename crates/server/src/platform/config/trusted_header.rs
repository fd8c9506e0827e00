//! `[trusted_header]`: a reverse proxy that signs people in and names them in a header of each request.

use anyhow::ensure;
use axum::http::HeaderName;
use serde::Deserialize;

use super::admission::Admission;
use crate::platform::proxies::Proxies;

/// Headers with another meaning, which any client sends.
const OTHERS: [&str; 12] = [
    "authorization",
    "connection",
    "content-length",
    "content-type",
    "cookie",
    "forwarded",
    "host",
    "origin",
    "referer",
    "sec-fetch-site",
    "user-agent",
    "x-forwarded-for",
];
/// Minimum prefix lengths of proxy networks: two wider ones could cover all addresses.
const MIN_PREFIX_V4: u8 = 8;
const MIN_PREFIX_V6: u8 = 7;

/// A reverse proxy that authenticates people.
#[derive(Debug, Clone)]
pub struct TrustedHeader {
    /// The header with the proxy's user name.
    pub user: HeaderName,
    /// The header with the e-mail address; if `None`, the user name is the address.
    pub email: Option<HeaderName>,
    /// The header with the display name.
    pub name: Option<HeaderName>,
    /// The header with the groups.
    pub groups: Option<HeaderName>,
    /// The separator between groups.
    pub groups_separator: String,
    /// The proxies whose headers are trusted.
    pub proxies: Proxies,
    /// The proxy's sign-out URL.
    pub sign_out_url: Option<String>,
    /// Who is admitted.
    pub admission: Admission,
}

impl TrustedHeader {
    /// All headers that describe the person.
    pub(crate) fn headers(&self) -> impl Iterator<Item = &HeaderName> {
        let more = [&self.email, &self.name, &self.groups];
        std::iter::once(&self.user).chain(more.into_iter().flatten())
    }
}

/// As written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawTrustedHeader {
    user: String,
    email: String,
    name: String,
    groups: String,
    groups_separator: String,
    proxies: Vec<String>,
    sign_out_url: String,
    admin_groups: Vec<String>,
    allowed_groups: Vec<String>,
    create_accounts: bool,
    link_by_email: bool,
}

impl RawTrustedHeader {
    /// `None` if no header is set.
    pub(super) fn check(self) -> anyhow::Result<Option<TrustedHeader>> {
        if self.user.trim().is_empty() {
            return Ok(None);
        }
        let proxies = Proxies::parse(&self.proxies)
            .map_err(|error| anyhow::anyhow!("trusted_header.proxies {error}"))?;
        ensure!(
            !proxies.is_empty(),
            "trusted_header.proxies is empty, so anybody could say who they are: name the addresses that the proxy \
             connects from, such as 127.0.0.1"
        );
        ensure!(
            proxies.are_narrow(MIN_PREFIX_V4, MIN_PREFIX_V6),
            "trusted_header.proxies has a network that is too wide: everybody in it could be anybody here. Name the \
             addresses that the proxy connects from"
        );
        ensure!(
            !self.groups_separator.is_empty(),
            "trusted_header.groups_separator is empty"
        );
        let is_grouped = !self.admin_groups.is_empty() || !self.allowed_groups.is_empty();
        ensure!(
            !is_grouped || !self.groups.trim().is_empty(),
            "trusted_header names groups, but not the header that they stand in: set trusted_header.groups"
        );
        let sign_out_url = Some(self.sign_out_url).filter(|url| !url.is_empty());
        let is_good = |url: &String| {
            url.starts_with("https://") || url.starts_with("http://") || is_path(url)
        };
        ensure!(
            sign_out_url.as_ref().is_none_or(is_good),
            "trusted_header.sign_out_url must be an address, or a path at the proxy such as /oauth2/sign_out"
        );
        let optional = |key, text: &str| match text.trim() {
            "" => Ok(None),
            text => header(key, text).map(Some),
        };
        Ok(Some(TrustedHeader {
            user: header("user", &self.user)?,
            email: optional("email", &self.email)?,
            name: optional("name", &self.name)?,
            groups: optional("groups", &self.groups)?,
            groups_separator: self.groups_separator,
            proxies,
            sign_out_url,
            admission: Admission {
                admin_groups: self.admin_groups,
                allowed_groups: self.allowed_groups,
                create_accounts: self.create_accounts,
                link_by_email: self.link_by_email,
            },
        }))
    }
}

fn is_path(url: &str) -> bool {
    url.starts_with('/') && !url[1..].starts_with(['/', '\\'])
}

fn header(key: &str, text: &str) -> anyhow::Result<HeaderName> {
    let name: Option<HeaderName> = text.trim().parse().ok();
    name.filter(|name| !OTHERS.contains(&name.as_str())).ok_or_else(|| {
        anyhow::anyhow!(
            "trusted_header.{key} is “{text}”, but must be the name of a header that only the proxy sends, such as \
             X-Forwarded-User"
        )
    })
}
