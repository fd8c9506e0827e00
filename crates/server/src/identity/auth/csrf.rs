//! Protection against cross-site request forgery and DNS rebinding.

use axum::{
    extract::Request,
    http::{HeaderMap, Method, Version, header},
};

use crate::{
    error::ApiError,
    identity::auth::caller::bearer,
    messages,
    platform::config::{Auth, Config},
};

/// Rejects requests without exactly one host, requests for a foreign host name if the server only listens on loopback
/// (DNS rebinding), and requests that another site's page made the browser send.
///
/// # Errors
/// 400 without exactly one host, otherwise 403 with what to do.
pub fn check_origin(config: &Config, request: &Request) -> Result<(), ApiError> {
    let headers = request.headers();
    check_one_host(request)?;
    let host = host(request);
    check_host(config, host)?;
    // A page can send a bearer key to another site only if that site allows it by CORS, which this server does only for
    // origins that the administrator named.
    let could_be_forged = config.auth == Auth::None || bearer(headers).is_none();
    if could_be_forged
        && (changes_something(request.method()) || headers.contains_key(header::UPGRADE))
    {
        check_same_origin(config, headers, host)?;
    }
    Ok(())
}

/// Rejects requests, even with a key, from pages that belong neither to this server nor to an origin that the
/// administrator named.
///
/// # Errors
/// 403 with what to do.
pub fn check_named_origin(config: &Config, request: &Request) -> Result<(), ApiError> {
    let Some(origin) = request.headers().get(header::ORIGIN) else {
        return Ok(());
    };
    let named = |origin: &str| {
        config
            .cors_allow_origins
            .iter()
            .any(|known| known == origin)
    };
    if origin.to_str().is_ok_and(named) {
        return Ok(());
    }
    check_same_origin(config, request.headers(), host(request))
}

/// The base URL at which the client reaches this server, without a trailing slash: `public_url`, or the host of the
/// request if nobody else can control that name. It has a path if `public_url` has one.
///
/// # Errors
/// 400 with what to do.
pub fn own_url(config: &Config, headers: &HeaderMap) -> Result<String, ApiError> {
    if let Some(public) = &config.public_url {
        return Ok(public.base());
    }
    let host = headers
        .get(header::HOST)
        .and_then(|value| value.to_str().ok())
        .unwrap_or_default();
    let name = host_name(host);
    let is_address = name
        .trim_matches(['[', ']'])
        .parse::<std::net::IpAddr>()
        .is_ok();
    if name == "localhost" || is_address {
        Ok(format!("{}://{host}", config.scheme()))
    } else {
        Err(ApiError::invalid(messages::Requests::NoPublicUrl))
    }
}

/// The origin of [`own_url`].
///
/// # Errors
/// As [`own_url`].
pub fn own_origin(config: &Config, headers: &HeaderMap) -> Result<String, ApiError> {
    let mut url = own_url(config, headers)?;
    url.truncate(url.len() - config.base_path().len());
    Ok(url)
}

/// Whether a page of another site made a browser send this, according to its `Origin` header.
pub(super) fn is_foreign(config: &Config, request: &Request) -> bool {
    request.headers().contains_key(header::ORIGIN)
        && check_same_origin(config, request.headers(), host(request)).is_err()
}

/// Whether the request is addressed to the public URL's host.
pub(super) fn is_public_host(config: &Config, request: &Request) -> bool {
    config.public_url.as_ref().is_some_and(|public| {
        let usual = if public.secure { ":443" } else { ":80" };
        let plain = |authority: &str| {
            let authority = authority.to_ascii_lowercase();
            authority
                .strip_suffix(usual)
                .map(str::to_owned)
                .unwrap_or(authority)
        };
        plain(host(request)) == plain(&public.authority)
    })
}

/// As RFC 9112 requires: with several hosts, a proxy may have used a different one.
fn check_one_host(request: &Request) -> Result<(), ApiError> {
    let mut hosts = request.headers().get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(_), None) => Ok(()),
        (None, _)
            if request.version() < Version::HTTP_11 || request.uri().authority().is_some() =>
        {
            Ok(())
        }
        _ => Err(ApiError::invalid("Send one header Host.")),
    }
}

fn changes_something(method: &Method) -> bool {
    !matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn host(request: &Request) -> &str {
    let header = request
        .headers()
        .get(header::HOST)
        .and_then(|value| value.to_str().ok());
    request
        .uri()
        .authority()
        .map(|authority| authority.as_str())
        .or(header)
        .unwrap_or("")
}

fn check_host(config: &Config, host: &str) -> Result<(), ApiError> {
    if !config.loopback_only() {
        return Ok(());
    }
    let public = config.public_url.as_ref().map(|url| url.authority.as_str());
    let ours = matches!(host_name(host), "localhost" | "127.0.0.1" | "[::1]")
        || public.is_some_and(|public| public.eq_ignore_ascii_case(host));
    if ours {
        Ok(())
    } else {
        Err(ApiError::forbidden(messages::Requests::OnlyLocalhost))
    }
}

/// The host without its port; IPv6 addresses keep their brackets.
fn host_name(host: &str) -> &str {
    match host.rsplit_once(':') {
        Some((name, port)) if !name.is_empty() && port.bytes().all(|b| b.is_ascii_digit()) => name,
        _ => host,
    }
}

fn check_same_origin(config: &Config, headers: &HeaderMap, host: &str) -> Result<(), ApiError> {
    let text = |name: &str| headers.get(name).map(|value| value.to_str().unwrap_or(""));
    let same = match (text("sec-fetch-site"), text("origin")) {
        (Some(site), _) => matches!(site, "same-origin" | "none"),
        (None, Some(origin)) => {
            let host_of = origin.split_once("://").map(|(_, host)| host);
            let public = config
                .public_url
                .as_ref()
                .map(crate::platform::config::PublicUrl::origin);
            host_of.is_some_and(|own| own.eq_ignore_ascii_case(host))
                || public.is_some_and(|public| public.eq_ignore_ascii_case(origin))
        }
        // Browsers always send one of the two here, so this is not a browser.
        (None, None) => true,
    };
    if same {
        Ok(())
    } else {
        Err(ApiError::forbidden(messages::Requests::FromOtherSite))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::platform::config::{Environment, Flags};

    fn config(public_url: &str) -> Config {
        let environment = Environment::from([
            ("HOME".to_owned(), "/nonexistent".to_owned()),
            ("GLASSHOUSE_PUBLIC_URL".to_owned(), public_url.to_owned()),
        ]);
        Config::from_parts(&Flags::default(), &environment).unwrap()
    }

    #[test]
    fn only_our_own_names_are_answered() {
        let config = config("https://ai.example.org");
        for (host, ours) in [
            ("localhost", true),
            ("localhost:8000", true),
            ("127.0.0.1:1234", true),
            ("[::1]:8000", true),
            ("ai.example.org", true),
            ("AI.example.org", true),
            ("evil.example", false),
            ("localhost.evil.example:8000", false),
            ("127.0.0.1.evil.example", false),
            ("", false),
        ] {
            assert_eq!(check_host(&config, host).is_ok(), ours, "{host}");
        }
    }

    #[test]
    fn other_sites_are_refused() {
        let config = config("https://ai.example.org");
        for (name, value, host, same) in [
            ("sec-fetch-site", "same-origin", "localhost:8000", true),
            ("sec-fetch-site", "none", "localhost:8000", true),
            ("sec-fetch-site", "same-site", "localhost:8000", false),
            ("sec-fetch-site", "cross-site", "localhost:8000", false),
            ("origin", "http://localhost:8000", "localhost:8000", true),
            ("origin", "https://ai.example.org", "10.0.0.5:8000", true),
            ("origin", "http://localhost:9000", "localhost:8000", false),
            ("origin", "https://evil.example", "localhost:8000", false),
            ("origin", "null", "localhost:8000", false),
            ("accept", "*/*", "localhost:8000", true),
        ] {
            let mut headers = HeaderMap::new();
            headers.insert(name, value.parse().unwrap());
            assert_eq!(
                check_same_origin(&config, &headers, host).is_ok(),
                same,
                "{name}: {value}"
            );
        }
    }
}
