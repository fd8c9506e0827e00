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

#[cfg(test)]
mod tests {
    use super::*;

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
