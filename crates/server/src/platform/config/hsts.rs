//! `strict_transport_security`: the header that makes browsers use HTTPS only for the host (RFC 6797).

use axum::http::HeaderValue;

/// The header's value; `None` if it is not to be sent.
///
/// # Errors
/// A sentence with the expected form.
pub(super) fn parse(text: &str) -> anyhow::Result<Option<HeaderValue>> {
    if text.is_empty() {
        return Ok(None);
    }
    let invalid = || {
        anyhow::anyhow!(
            "strict_transport_security is “{text}”, but must be a header such as max-age=31536000, perhaps with \
             includeSubDomains and preload"
        )
    };
    let mut ages = 0;
    for directive in text.split(';').map(str::trim) {
        let (name, value) = match directive.split_once('=') {
            Some((name, value)) => (name, Some(value)),
            None => (directive, None),
        };
        match (name.to_ascii_lowercase().as_str(), value) {
            ("max-age", Some(seconds)) if seconds.parse::<u32>().is_ok() => ages += 1,
            ("includesubdomains" | "preload", None) => {}
            _ => return Err(invalid()),
        }
    }
    anyhow::ensure!(ages == 1, invalid());
    HeaderValue::from_str(text).map(Some).map_err(|_| invalid())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_the_directives_of_the_standard() {
        for (text, is_valid) in [
            ("max-age=300", true),
            ("max-age=0", true),
            ("max-age=31536000; includeSubDomains; preload", true),
            ("MAX-AGE=1;includesubdomains", true),
            ("includeSubDomains", false),
            ("max-age=1; max-age=2", false),
            ("max-age=year", false),
            ("max-age=-1", false),
            ("max-age=1\r\nX: y", false),
            ("31536000", false),
        ] {
            assert_eq!(parse(text).is_ok(), is_valid, "{text}");
        }
        assert_eq!(parse("").unwrap(), None);
    }
}
