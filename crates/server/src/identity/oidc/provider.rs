//! The OpenID provider: its metadata and keys, code exchange and ID token validation.

use std::{
    fmt,
    sync::Arc,
    time::{Duration, Instant},
};

use domain::LocalizedText;
use outbound::{Outbound, plain_host};
use reqwest::{
    Method, StatusCode, Url,
    header::{AUTHORIZATION, HeaderValue},
};
use serde_json::{Map, Value};
use tokio::sync::Mutex;

use super::{
    Problem, groups,
    jwt::{Bad, Keys},
};
use crate::{
    identity::{
        oauth::{Client, Web, chosen_hosts},
        provisioning::ProviderGroups,
    },
    platform::config::Oidc,
};

/// How long the provider's metadata is cached.
const KNOWN_FOR: Duration = Duration::from_secs(3600);
/// The minimum time between fetches of the keys if no key matches.
const KEYS_AGAIN_AFTER: Duration = Duration::from_secs(30);
/// Tolerated clock skew between two machines, in seconds.
const LEEWAY_S: f64 = 60.0;

/// The cached metadata of the provider.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Option<(Instant, Arc<About>)>>);

/// The provider's metadata.
#[derive(Debug)]
pub(super) struct About {
    pub(super) authorize: Url,
    token: String,
    user_info: Option<String>,
    keys_at: String,
    methods: Vec<String>,
    /// Whether the redirect back contains the issuer (RFC 9207).
    pub(super) names_issuer: bool,
    keys: Mutex<(Instant, Keys)>,
}

/// A client of the provider.
pub(super) struct Provider<'a> {
    pub(super) settings: &'a Oidc,
    pub(super) outbound: &'a Outbound,
    chosen: Vec<String>,
}

/// The claims about a user.
pub(super) struct Claims {
    pub(super) claims: Map<String, Value>,
    pub(super) groups: ProviderGroups,
}

/// The authorization code of a callback, with the secrets of the pending sign-in.
pub(super) struct Code<'a> {
    pub(super) code: &'a str,
    pub(super) verifier: &'a str,
    pub(super) nonce: &'a str,
    pub(super) redirect: &'a str,
}

impl<'a> Provider<'a> {
    pub(super) fn new(settings: &'a Oidc, outbound: &'a Outbound) -> Self {
        let mut chosen = chosen_hosts(&settings.url, None);
        chosen.extend(plain_host(&settings.url));
        chosen.extend(settings.groups_url.as_ref().and_then(plain_host));
        Self {
            settings,
            outbound,
            chosen,
        }
    }

    fn web(&self) -> Web<'_> {
        Web {
            outbound: self.outbound,
            server: &self.settings.url,
            chosen: &self.chosen,
        }
    }

    /// The provider's metadata, fetched once an hour.
    pub(super) async fn about(&self, known: &Known) -> Result<Arc<About>, Problem> {
        let mut known = known.0.lock().await;
        if let Some((_, about)) = known.as_ref().filter(|(at, _)| at.elapsed() < KNOWN_FOR) {
            return Ok(Arc::clone(about));
        }
        let about = Arc::new(self.discover().await.map_err(unreachable)?);
        *known = Some((Instant::now(), Arc::clone(&about)));
        Ok(about)
    }

    async fn discover(&self) -> Result<About, LocalizedText> {
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
        if text("issuer") != Some(&self.settings.issuer) {
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
        Ok(About {
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
    pub(super) async fn person(
        &self,
        about: &About,
        code: &Code<'_>,
        now_ms: i64,
    ) -> Result<Claims, Problem> {
        let web = self.web();
        let secret = self
            .settings
            .client_secret
            .as_ref()
            .map(llm::Secret::reveal);
        let client = Client::known(&self.settings.client_id, secret, &about.methods);
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
                Problem::Unreachable
            } else {
                Problem::Refused
            });
        };
        let mut claims = self.verify(about, token).await?;
        check(&claims, self.settings, code.nonce, now_ms)?;
        let access = text("access_token");
        let has_answered = match access {
            Some(access) => self.add_user_info(about, access, &mut claims).await?,
            None => true,
        };
        let groups = self.groups(&claims, access, has_answered).await;
        Ok(Claims { claims, groups })
    }

    /// The groups in the claim; if the provider omits the claim, those of the directory; otherwise none.
    async fn groups(
        &self,
        claims: &Map<String, Value>,
        access: Option<&str>,
        has_answered: bool,
    ) -> ProviderGroups {
        let path = &self.settings.groups_claim;
        if let Some(groups) = groups::in_claims(claims, path) {
            return ProviderGroups::Known(groups);
        }
        match (
            groups::are_left_out(claims, path),
            &self.settings.groups_url,
            access,
        ) {
            (true, Some(place), Some(access)) => {
                groups::ask(&self.web(), place, path, access).await
            }
            (true, ..) => {
                tracing::warn!(
                    "the OpenID provider omits a user's groups; set oidc.groups_url to fetch them"
                );
                ProviderGroups::Unknown
            }
            // The claim may be in the user info, which could not be read.
            (false, ..) if !has_answered => ProviderGroups::Unknown,
            (false, ..) => ProviderGroups::Known(Vec::new()),
        }
    }

    async fn verify(&self, about: &About, token: &str) -> Result<Map<String, Value>, Problem> {
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
                Err(Problem::Refused)
            }
        }
    }

    /// Adds claims of the user info that the token lacks. Returns whether the provider was able to answer.
    async fn add_user_info(
        &self,
        about: &About,
        access: &str,
        claims: &mut Map<String, Value>,
    ) -> Result<bool, Problem> {
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
            if more.get("sub") == claims.get("sub") {
                for (name, value) in more {
                    claims.entry(name).or_insert(value);
                }
            }
        }
        Ok(!status.is_server_error() && status != StatusCode::TOO_MANY_REQUESTS)
    }
}

/// Checks that the token is for this client, currently valid, and for the sign-in that was begun here.
fn check(
    claims: &Map<String, Value>,
    settings: &Oidc,
    nonce: &str,
    now_ms: i64,
) -> Result<(), Problem> {
    let text = |key: &str| claims.get(key).and_then(Value::as_str);
    let number = |key: &str| claims.get(key).and_then(Value::as_f64);
    #[expect(
        clippy::cast_precision_loss,
        reason = "seconds of the year 200,000 are exact"
    )]
    let now = now_ms as f64 / 1000.0;
    let ours = settings.client_id.as_str();
    let (is_for_us, is_for_others) = match claims.get("aud") {
        Some(Value::String(one)) => (one == ours, false),
        Some(Value::Array(all)) => (all.iter().any(|one| one == ours), all.len() > 1),
        _ => (false, false),
    };
    let checks = [
        ("iss", text("iss") == Some(&settings.issuer)),
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
            Err(Problem::Refused)
        }
    }
}

/// The reason goes to the log only; users see a general message.
fn unreachable(problem: impl fmt::Display) -> Problem {
    tracing::warn!(%problem, "request to the OpenID provider failed");
    Problem::Unreachable
}
