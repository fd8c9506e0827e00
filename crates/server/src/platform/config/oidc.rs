//! `[oidc]`: an OpenID Connect provider for signing in.

use auth_protocols::oidc;
use llm::Secret;
use reqwest::Url;
use serde::Deserialize;

use super::admission::Admission;

/// An OpenID Connect provider.
#[derive(Debug, Clone)]
pub struct Oidc {
    /// The label of its sign-in button.
    pub name: String,
    /// The issuer, exactly as the provider writes it.
    pub issuer: String,
    /// The issuer as a URL for requests.
    pub url: Url,
    /// Our client id.
    pub client_id: String,
    /// Our client secret, if the provider requires one.
    pub client_secret: Option<Secret>,
    /// The requested scopes, separated by spaces.
    pub scopes: String,
    /// The path of the groups claim, one name per level.
    pub groups_claim: Vec<String>,
    /// Where to request groups that the token omits; `None` if nowhere.
    pub groups_url: Option<Url>,
    /// Who is admitted.
    pub admission: Admission,
}

impl Oidc {
    /// What speaking to the provider takes.
    pub(crate) fn provider(&self) -> oidc::Settings<'_> {
        oidc::Settings {
            issuer: &self.issuer,
            url: &self.url,
            client_id: &self.client_id,
            client_secret: self.client_secret.as_ref().map(Secret::reveal),
            groups_claim: &self.groups_claim,
            groups_url: self.groups_url.as_ref(),
        }
    }
}

/// As written in the file.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawOidc {
    issuer: String,
    client_id: String,
    client_secret: String,
    name: String,
    scopes: Vec<String>,
    groups_claim: String,
    groups_url: String,
    admin_groups: Vec<String>,
    allowed_groups: Vec<String>,
    create_accounts: bool,
    link_by_email: bool,
}

impl RawOidc {
    /// `None` if no issuer is set.
    pub(super) fn check(self) -> anyhow::Result<Option<Oidc>> {
        if self.issuer.is_empty() {
            return Ok(None);
        }
        let url: Option<Url> = self.issuer.parse().ok();
        let url =
            url.filter(|url| matches!(url.scheme(), "http" | "https") && url.query().is_none());
        let url = url.ok_or_else(|| {
            anyhow::anyhow!(
                "oidc.issuer is “{}”, but must be an address such as https://id.example.org",
                self.issuer
            )
        })?;
        anyhow::ensure!(
            !self.client_id.is_empty(),
            "oidc.client_id is missing: make a client at the provider"
        );
        let is_name =
            |scope: &String| !scope.is_empty() && scope.bytes().all(|byte| byte.is_ascii_graphic());
        anyhow::ensure!(
            self.scopes.iter().all(is_name),
            "oidc.scopes holds what is no name of a scope"
        );
        let mut scopes = self.scopes;
        if !scopes.iter().any(|scope| scope == "openid") {
            scopes.insert(0, "openid".to_owned());
        }
        let groups_url = match self.groups_url.as_str() {
            "" => None,
            text => {
                let url = text
                    .parse()
                    .ok()
                    .filter(|place: &Url| place.scheme() == "https" || place.host() == url.host());
                Some(url.ok_or_else(|| {
                    anyhow::anyhow!(
                        "oidc.groups_url is “{text}”, but must be an https address such as \
                         https://graph.microsoft.com/v1.0/me/getMemberObjects"
                    )
                })?)
            }
        };
        Ok(Some(Oidc {
            name: self.name,
            url,
            issuer: self.issuer,
            client_id: self.client_id,
            client_secret: (!self.client_secret.is_empty())
                .then(|| Secret::new(self.client_secret)),
            scopes: scopes.join(" "),
            groups_claim: self.groups_claim.split('.').map(str::to_owned).collect(),
            groups_url,
            admission: Admission {
                admin_groups: self.admin_groups,
                allowed_groups: self.allowed_groups,
                create_accounts: self.create_accounts,
                link_by_email: self.link_by_email,
            },
        }))
    }
}
