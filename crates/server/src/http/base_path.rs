//! Serves all routes also below the path of `public_url`, so that it does not matter whether the proxy in front keeps
//! that path or strips it.

use axum::{
    Router,
    extract::Request,
    http::{Uri, uri::PathAndQuery},
};
use tower::ServiceExt;

/// `routes`, which are also found below `base`, the path of `public_url`.
pub(super) fn also_below(base: &str, routes: Router) -> Router {
    if base.is_empty() {
        return routes;
    }
    let base = base.to_owned();
    Router::new().fallback(move |mut request: Request| {
        if let Some(uri) = without(&base, request.uri()) {
            *request.uri_mut() = uri;
        }
        routes.clone().oneshot(request)
    })
}

/// The URI without the path `base` at its beginning; `None` if it does not have it.
fn without(base: &str, uri: &Uri) -> Option<Uri> {
    let rest = uri.path_and_query()?.as_str().strip_prefix(base)?;
    let rest: PathAndQuery = match rest.as_bytes().first() {
        Some(b'/') => rest.parse().ok()?,
        None | Some(b'?') => format!("/{rest}").parse().ok()?,
        _ => return None,
    };
    let mut parts = uri.clone().into_parts();
    parts.path_and_query = Some(rest);
    Uri::from_parts(parts).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{http::table, platform::config::OWN_SEGMENTS};

    #[test]
    fn the_path_is_stripped_once_and_only_as_a_whole() {
        for (uri, expected) in [
            ("/ai", Some("/")),
            ("/ai?x=1", Some("/?x=1")),
            ("/ai/", Some("/")),
            ("/ai/v1/models?a=/ai/b", Some("/v1/models?a=/ai/b")),
            ("/ai/ai/c/1", Some("/ai/c/1")),
            ("/ai//v1/models", Some("//v1/models")),
            ("https://a.example/ai/c/1", Some("https://a.example/c/1")),
            ("/ai2/c/1", None),
            ("/AI/c/1", None),
            ("/v1/ai", None),
            ("/", None),
            ("*", None),
        ] {
            let found = without("/ai", &uri.parse().unwrap());
            assert_eq!(
                found.map(|uri| uri.to_string()).as_deref(),
                expected,
                "{uri}"
            );
        }
    }

    #[test]
    fn no_base_can_be_mistaken_for_a_route() {
        for route in table() {
            let first = route.path.split('/').nth(1).unwrap_or_default();
            assert!(
                first.is_empty() || OWN_SEGMENTS.contains(&first),
                "{first} is missing in OWN_SEGMENTS"
            );
        }
    }
}
