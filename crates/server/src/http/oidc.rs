//! Sign-in with an OpenID Connect provider: the redirect there and the callback.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, HeaderValue, StatusCode, header},
    response::{AppendHeaders, IntoResponse, Response},
};
use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use schemars::JsonSchema;
use serde::Deserialize;

use super::{
    cookies::set_cookie,
    second_step::{self, Entered},
};
use crate::{
    app::App,
    error::ApiError,
    http::{extract::Query, openapi::Operations},
    identity::{
        audit::Noted,
        auth::{cookie, own_url},
        oidc::{Back, SignedIn},
        provisioning::{Ended, Problem},
    },
    messages,
    platform::{
        client_info::ClientInfo,
        config::{Config, Oidc},
    },
};

/// The redirect URI.
const CALLBACK: &str = "/oauth/login/callback";
/// The cookie that holds the state of the sign-in. Not `__Host-`, which requires the path `/`.
const COOKIE: &str = "glasshouse_sign_in";

/// Where to go after the sign-in.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "OauthSignIn")]
pub(super) struct Next {
    /// A path on this server.
    #[serde(default)]
    next: String,
}

/// `GET /oauth/login`: sends the browser to the provider.
pub(super) async fn begin(
    State(app): State<Arc<App>>,
    headers: HeaderMap,
    Query(Next { next }): Query<Next>,
) -> Result<Response, ApiError> {
    let config = app.config.now();
    let settings = settings(&config)?;
    let redirect = callback_url(&config, &headers)?;
    match app.identity.begin_oidc(settings, redirect, &next).await {
        Ok(begun) => go(
            begun.url.into(),
            [cookie_of(&config, &begun.kept, begun.lasts_s)?],
        ),
        Err(Ended::Problem(problem)) => tell(&config, problem, &next, []),
        Err(Ended::Fault(error)) => Err(error),
    }
}

/// `GET /oauth/login/callback`: signs the browser in, or redirects to the sign-in page with the problem.
pub(super) async fn callback(
    State(app): State<Arc<App>>,
    place: ClientInfo,
    headers: HeaderMap,
    noted: Noted,
    back: Result<Query<Back>, ApiError>,
) -> Result<Response, ApiError> {
    let config = app.config.now();
    let settings = settings(&config)?;
    let back = back.map(|Query(back)| back).unwrap_or_default();
    // Single use, whatever the result.
    let forget = cookie_of(&config, "", 0)?;
    match app
        .identity
        .finish_oidc(settings, cookie(&headers, COOKIE), &back)
        .await
    {
        Ok(SignedIn {
            user,
            mut next,
            groups_are_known,
        }) => {
            noted.by(&user);
            noted.with("provider", &settings.name);
            if !groups_are_known {
                noted.with("groups", "kept as they were: the provider did not say them");
                next = with_notice(&next);
            }
            match second_step::enter(&app, &user, &place, &noted).await? {
                Entered::In(session) => go(config.address_of(&next), [forget, session]),
                Entered::CodeNeeded(ticket) => {
                    let next = utf8_percent_encode(&next, NON_ALPHANUMERIC);
                    let place = config.address_of(&format!("/login?step=code&next={next}"));
                    go(place, [forget, ticket])
                }
            }
        }
        Err(Ended::Problem(problem)) => {
            noted.nothing();
            let address = place.address;
            tracing::warn!(%address, problem = problem.word(), "sign-in with the OpenID provider failed");
            tell(&config, problem, "", [forget])
        }
        Err(Ended::Fault(error)) => Err(error),
    }
}

/// The address to which the provider sends the browser back.
pub(super) fn callback_url(config: &Config, headers: &HeaderMap) -> Result<String, ApiError> {
    Ok(format!("{}{CALLBACK}", own_url(config, headers)?))
}

fn settings(config: &Config) -> Result<&Oidc, ApiError> {
    config
        .oidc
        .as_ref()
        .ok_or_else(|| ApiError::forbidden(messages::Accounts::NoProvider))
}

/// Redirects to the sign-in page, which shows the problem.
fn tell<const N: usize>(
    config: &Config,
    problem: Problem,
    next: &str,
    cookies: [HeaderValue; N],
) -> Result<Response, ApiError> {
    let next = utf8_percent_encode(next, NON_ALPHANUMERIC);
    let place = format!("/login?problem={}&next={next}", problem.word());
    go(config.address_of(&place), cookies)
}

/// The same address, with a notice that the groups were not changed.
fn with_notice(next: &str) -> String {
    let (path, fragment) = next.split_at(next.find('#').unwrap_or(next.len()));
    let joined_by = if path.contains('?') { '&' } else { '?' };
    format!("{path}{joined_by}notice=groups_kept{fragment}")
}

fn go<const N: usize>(place: String, cookies: [HeaderValue; N]) -> Result<Response, ApiError> {
    let place = HeaderValue::try_from(place).map_err(ApiError::internal)?;
    let no_store = HeaderValue::from_static("no-store");
    let cookies = AppendHeaders(cookies.map(|cookie| (header::SET_COOKIE, cookie)));
    let head = [(header::LOCATION, place), (header::CACHE_CONTROL, no_store)];
    Ok((StatusCode::SEE_OTHER, head, cookies).into_response())
}

fn cookie_of(config: &Config, value: &str, max_age_s: i64) -> Result<HeaderValue, ApiError> {
    set_cookie(config, COOKIE, "/oauth/login", value, max_age_s)
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.operation(
        "GET /oauth/login",
        "Redirects the browser to the [provider](docs/team/single-sign-on.md) that signs people in",
    )
    .details("Sets a cookie for the callback; 403 if there is no provider.")
    .query::<Next>()
    .answers_nothing(303);
    api.operation("GET /oauth/login/callback", "Receives the browser from the provider")
        .details("Redirects to `next` with the session's cookie (and `notice=groups_kept` in its query if the \
         provider [left the groups out](docs/team/single-sign-on.md#groups-that-the-token-leaves-out)), \
         to `/login?step=code` if a code is required, or to `/login?problem=`… `unknown`, `denied`, \
         `refused`, `unreachable`, `not_allowed`, `groups_unknown`, `no_account`, `address_taken`, \
         `no_address`, `suspended` or `not_set_up`.")
        .query::<Back>()
        .answers_nothing(303);
}

#[cfg(test)]
mod tests {
    use super::with_notice;

    #[test]
    fn the_notice_leads_nowhere_else() {
        for (next, expected) in [
            ("/", "/?notice=groups_kept"),
            ("/c/1?x=2", "/c/1?x=2&notice=groups_kept"),
            ("/c/1?x=2#m", "/c/1?x=2&notice=groups_kept#m"),
            ("/c/1#?", "/c/1?notice=groups_kept#?"),
        ] {
            assert_eq!(with_notice(next), expected);
        }
    }
}
