//! Values of forms: texts that may be empty, and whether a secret stays with the server that it was entered for.

use reqwest::Url;

/// The text without surrounding white space; `None` if nothing is left.
pub(crate) fn filled(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}

/// Whether both are URLs with the same scheme, host and port, so that one may get the secrets of the other.
pub(crate) fn is_same_origin(one: &str, other: &str) -> bool {
    let origin = |text: &str| text.parse().map(|url: Url| url.origin()).ok();
    origin(one).is_some_and(|one| Some(one) == origin(other))
}

/// Whether a secret for one of these servers may be sent to the other: URLs of the same origin, or names of the same host
/// with any port.
pub(crate) fn is_same_server(one: &str, other: &str) -> bool {
    match one.contains("://") || other.contains("://") {
        true => is_same_origin(one, other),
        false => host(one).eq_ignore_ascii_case(host(other)),
    }
}

fn host(address: &str) -> &str {
    let host = address.trim();
    match host.rsplit_once(':') {
        // Not within an IPv6 address.
        Some((host, _)) if !host.contains(':') || host.ends_with(']') => host,
        _ => host,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_are_urls_or_hosts() {
        for (one, other, is_same) in [
            ("smtp.example.org", "SMTP.example.org:25", true),
            ("smtp.example.org", "smtp.example.com", false),
            ("https://id.example.org/a", "https://id.example.org/b", true),
            ("https://id.example.org", "http://id.example.org", false),
            ("https://id.example.org", "id.example.org", false),
            (
                "https://id.example.org",
                "https://id.example.org.evil.example",
                false,
            ),
            (
                "https://id.example.org",
                "https://id.example.org@evil.example",
                false,
            ),
            ("[::1]:25", "[::1]:26", true),
            ("::1", "::2", false),
            ("", "smtp.example.org", false),
        ] {
            assert_eq!(is_same_server(one, other), is_same, "{one} {other}");
        }
    }

    #[test]
    fn secrets_stay_with_their_origin() {
        let at = "https://example.org/mcp";
        for (other, is_same) in [
            ("https://example.org/other?x=1", true),
            ("https://example.org:443/", true),
            ("http://example.org/mcp", false),
            ("https://example.org:8443/mcp", false),
            ("https://example.org.evil.example/mcp", false),
            ("https://example.org@evil.example/mcp", false),
            ("", false),
        ] {
            assert_eq!(is_same_origin(at, other), is_same, "{other}");
        }
        // Two texts that are no addresses are not the same place.
        assert!(!is_same_origin("x", "x"));
    }
}
