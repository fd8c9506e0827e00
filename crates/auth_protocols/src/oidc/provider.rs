//! The OpenID provider: its metadata and keys, code exchange and ID token validation.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::LocalizedText;
use outbound::{Fault, Outbound, plain_host};
use reqwest::{
    Method, StatusCode, Url,
    header::{AUTHORIZATION, HeaderValue},
};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::{
    claims::{merge, subject},
    groups::{self, GroupsClaim},
    jwt::{Bad, Keys},
};
use crate::oauth::{Client, Web, chosen_hosts};

/// How long the provider's metadata is cached.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
/// The minimum time between fetches of the keys if no key matches.
const KEYS_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// Tolerated clock skew between two machines, in seconds.
const LEEWAY_S: f64 = 60.0;

/// How to speak to a provider.
#[derive(Clone, Copy)]
pub struct Settings<'a> {
    /// The issuer, exactly as the provider writes it.
    pub issuer: &'a str,
    /// The issuer as a URL for requests.
    pub url: &'a Url,
    /// Our client id.
    pub client_id: &'a str,
    /// Our client secret, if the provider requires one.
    pub client_secret: Option<&'a str>,
    /// The path of the groups claim, one name per level.
    pub groups_claim: &'a [String],
    /// Where groups are requested that the token omits; its host may be in a private network.
    pub groups_url: Option<&'a Url>,
}

/// Why a sign-in at the provider failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ProviderFault {
    /// It refused the code, or its answer is invalid.
    #[error("the OpenID provider's response is invalid")]
    Refused,
    /// It cannot be reached, or it fails.
    #[error("the OpenID provider cannot be reached")]
    Unreachable,
}

/// The cached metadata of the provider.
#[derive(Debug, Default)]
pub struct MetadataCache(Mutex<Option<Cached>>);

#[derive(Debug)]
struct Cached {
    issuer: String,
    fetched_at: Instant,
    about: Arc<ProviderMetadata>,
}

/// The provider's metadata.
#[derive(Debug)]
pub struct ProviderMetadata {
    /// The authorization endpoint, for the browser.
    pub authorize: Url,
    token: String,
    user_info: Option<String>,
    keys_at: String,
    methods: Vec<String>,
    /// Whether the redirect back contains the issuer (RFC 9207).
    pub names_issuer: bool,
    keys: Mutex<(Instant, Keys)>,
}

/// A client of the provider.
pub struct Provider<'a> {
    settings: Settings<'a>,
    outbound: &'a Outbound,
    chosen: Vec<String>,
    fault_text: fn(Fault) -> LocalizedText,
}

/// The claims about a user.
pub struct Claims {
    /// The claims of the ID token and of the user info.
    pub claims: Map<String, Value>,
    /// The groups in the claims.
    pub groups: GroupsClaim,
    /// The access token, if the provider issued one.
    pub access: Option<String>,
}

/// The authorization code of a callback, with the secrets of the pending sign-in.
pub struct Code<'a> {
    /// The authorization code.
    pub code: &'a str,
    /// The PKCE verifier.
    pub verifier: &'a str,
    /// The nonce that the ID token has to contain.
    pub nonce: &'a str,
    /// The redirect URL of the authorization request.
    pub redirect: &'a str,
}

impl<'a> Provider<'a> {
    /// A client; `fault_text` is the text for people of a request that failed.
    #[must_use]
    pub fn new(
        settings: Settings<'a>,
        outbound: &'a Outbound,
        fault_text: fn(Fault) -> LocalizedText,
    ) -> Self {
        let mut chosen = chosen_hosts(settings.url, None);
        chosen.extend(plain_host(settings.url));
        chosen.extend(settings.groups_url.and_then(plain_host));
        Self {
            settings,
            outbound,
            chosen,
            fault_text,
        }
    }

    /// The HTTP access to the provider.
    #[must_use]
    pub fn web(&self) -> Web<'_> {
        Web {
            outbound: self.outbound,
            server: self.settings.url,
            chosen: &self.chosen,
            fault_text: self.fault_text,
        }
    }

    /// The provider's metadata, fetched once an hour.
    ///
    /// # Errors
    /// If it cannot be fetched or is invalid.
    pub async fn about(
        &self,
        known: &MetadataCache,
    ) -> Result<Arc<ProviderMetadata>, ProviderFault> {
        let mut known = known.0.lock().await;
        // Administrators may have changed the provider.
        let is_usable = |cached: &&Cached| {
            cached.issuer == self.settings.issuer && cached.fetched_at.elapsed() < KNOWN_FOR
        };
        if let Some(cached) = known.as_ref().filter(is_usable) {
            return Ok(Arc::clone(&cached.about));
        }
        let about = Arc::new(self.discover().await.map_err(unreachable)?);
        *known = Some(Cached {
            issuer: self.settings.issuer.to_owned(),
            fetched_at: Instant::now(),
            about: Arc::clone(&about),
        });
        Ok(about)
    }

    /// Fetches the provider's metadata and keys.
    ///
    /// # Errors
    /// What is wrong, in words for an administrator.
    pub async fn discover(&self) -> Result<ProviderMetadata, LocalizedText> {
        let web = self.web();
        let place = format!(
            "{}/.well-known/openid-configuration",
            self.settings.issuer.trim_end_matches('/')
        );
        let about = web.find(&web.allowed(&place)?).await?;
        let about = about.ok_or_else(|| {
            LocalizedText::from(format!("There is no description of a provider at {place}."))
        })?;
        let text = |key: &str| about.get(key).and_then(Value::as_str);
        if text("issuer") != Some(self.settings.issuer) {
            let named = text("issuer").unwrap_or("nothing");
            return Err(format!("The provider calls itself {named}.").into());
        }
        let place = |key: &str| match text(key) {
            Some(place) => web.allowed(place).map_err(LocalizedText::from),
            None => Err(format!("The provider does not name its {key}.").into()),
        };
        let words = |key: &str| {
            let words = about
                .get(key)
                .and_then(Value::as_array)
                .map_or(&[][..], Vec::as_slice);
            words
                .iter()
                .filter_map(Value::as_str)
                .map(str::to_owned)
                .collect::<Vec<_>>()
        };
        let keys_at: String = place("jwks_uri")?.into();
        Ok(ProviderMetadata {
            authorize: place("authorization_endpoint")?,
            token: place("token_endpoint")?.into(),
            user_info: place("userinfo_endpoint").ok().map(String::from),
            methods: words("token_endpoint_auth_methods_supported"),
            names_issuer: about.get("authorization_response_iss_parameter_supported")
                == Some(&Value::Bool(true)),
            keys: Mutex::new((Instant::now(), self.keys(&keys_at).await?)),
            keys_at,
        })
    }

    async fn keys(&self, place: &str) -> Result<Keys, LocalizedText> {
        let set = self.web().find(&self.web().allowed(place)?).await?;
        set.map(|set| Keys::read(&set))
            .ok_or_else(|| "The provider does not show its keys.".into())
    }

    /// Exchanges the code and returns the claims about the user.
    ///
    /// # Errors
    /// If the provider refuses the code or cannot be reached, or the ID token is not valid for this sign-in.
    pub async fn person(
        &self,
        about: &ProviderMetadata,
        code: &Code<'_>,
        now_ms: i64,
    ) -> Result<Claims, ProviderFault> {
        let web = self.web();
        let Settings {
            client_id,
            client_secret,
            groups_claim,
            ..
        } = self.settings;
        let client = Client::known(client_id, client_secret, &about.methods);
        let request = web
            .request(Method::POST, &about.token)
            .map_err(unreachable)?;
        let form = client.form(
            request,
            &[
                ("grant_type", "authorization_code"),
                ("code", code.code),
                ("code_verifier", code.verifier),
                ("redirect_uri", code.redirect),
            ],
        );
        let (status, said) = web.json(form).await.map_err(unreachable)?;
        let text = |key: &str| said.get(key).and_then(Value::as_str);
        let Some(token) = text("id_token").filter(|_| status.is_success()) else {
            let error: String = text("error").unwrap_or_default().chars().take(60).collect();
            tracing::warn!(
                status = status.as_u16(),
                error,
                "the OpenID provider refused the code exchange"
            );
            return Err(if status.is_server_error() {
                ProviderFault::Unreachable
            } else {
                ProviderFault::Refused
            });
        };
        let mut claims = self.verify(about, token).await?;
        check(&claims, &self.settings, code.nonce, now_ms)?;
        let access = text("access_token");
        let has_answered = match access {
            Some(access) => self.add_user_info(about, access, &mut claims).await?,
            None => true,
        };
        Ok(Claims {
            groups: groups::of(&claims, groups_claim, has_answered),
            access: access.map(str::to_owned),
            claims,
        })
    }

    async fn verify(
        &self,
        about: &ProviderMetadata,
        token: &str,
    ) -> Result<Map<String, Value>, ProviderFault> {
        let mut held = about.keys.lock().await;
        let mut verified = held.1.verify(token);
        if verified == Err(Bad::Key) && held.0.elapsed() > KEYS_AGAIN_AFTER {
            *held = (
                Instant::now(),
                self.keys(&about.keys_at).await.map_err(unreachable)?,
            );
            verified = held.1.verify(token);
        }
        match verified {
            Ok(Value::Object(claims)) => Ok(claims),
            other => {
                tracing::warn!(outcome = ?other.err(), "invalid ID token from the OpenID provider");
                Err(ProviderFault::Refused)
            }
        }
    }

    /// Adds claims of the user info that the token lacks. Returns whether the provider was able to answer.
    async fn add_user_info(
        &self,
        about: &ProviderMetadata,
        access: &str,
        claims: &mut Map<String, Value>,
    ) -> Result<bool, ProviderFault> {
        let Some(place) = about
            .user_info
            .as_ref()
            .filter(|_| HeaderValue::try_from(access).is_ok())
        else {
            return Ok(true);
        };
        let request = self
            .web()
            .request(Method::GET, place)
            .map_err(unreachable)?;
        let request = request.header(AUTHORIZATION, &format!("Bearer {access}"));
        let (status, said) = self.web().json(request).await.map_err(unreachable)?;
        if let (true, Value::Object(more)) = (status.is_success(), said) {
            // The user info could be that of another user.
            let own = subject(claims);
            if own.is_some() && own == subject(&more) {
                merge(claims, more);
            }
        }
        Ok(!status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS)
    }
}

/// Checks that the token is for this client, currently valid, and for the sign-in that was begun here.
fn check(
    claims: &Map<String, Value>,
    settings: &Settings<'_>,
    nonce: &str,
    now_ms: i64,
) -> Result<(), ProviderFault> {
    let text = |key: &str| claims.get(key).and_then(Value::as_str);
    let number = |key: &str| claims.get(key).and_then(Value::as_f64);
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds of the year 200,000 are exact"
    )]
    let now = now_ms as f64 / 1000.0;
    let ours = settings.client_id;
    let (is_for_us, is_for_others) = match claims.get("aud") {
        Some(Value::String(one)) => (one == ours, false),
        Some(Value::Array(all)) => (all.iter().any(|one| one == ours), all.len() > 1),
        _ => (false, false),
    };
    let checks = [
        ("iss", text("iss") == Some(settings.issuer)),
        ("aud", is_for_us),
        (
            "azp",
            text("azp").map_or(!is_for_others, |party| party == ours),
        ),
        (
            "exp",
            number("exp").is_some_and(|until| until + LEEWAY_S > now),
        ),
        (
            "iat",
            number("iat").is_some_and(|from| from - LEEWAY_S <= now),
        ),
        (
            "nbf",
            number("nbf").is_none_or(|from| from - LEEWAY_S <= now),
        ),
        ("nonce", text("nonce") == Some(nonce)),
    ];
    match checks.iter().find(|(_, is_good)| !is_good) {
        None => Ok(()),
        Some((claim, _)) => {
            tracing::warn!(
                claim,
                "an ID token of the OpenID provider does not match the sign-in"
            );
            Err(ProviderFault::Refused)
        }
    }
}

/// The reason goes to the log only; users see a general message.
fn unreachable(problem: impl fmt::Display) -> ProviderFault {
    tracing::warn!(%problem, "request to the OpenID provider failed");
    ProviderFault::Unreachable
}
