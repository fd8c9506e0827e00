//! Normalizes URLs, so that each page has one.

use outbound::Fault;
use reqwest::Url;

use crate::WebProblem;

/// Tracking parameters, which do not change the page.
const TRACKING: [&str; 9] = [
    "fbclid",
    "gclid",
    "dclid",
    "msclkid",
    "mc_cid",
    "mc_eid",
    "igshid",
    "yclid",
    "_openstat",
];
/// Maximum length of a URL, bytes.
const LIMIT_BYTES: usize = 4000;

/// The URL under which a page is requested and stored: without a fragment or tracking parameters. A URL without a
/// scheme gets `https`.
///
/// # Errors
/// If the URL is invalid.
pub fn normalised(text: &str) -> Result<Url, WebProblem> {
    let text = text.trim();
    let no_address = || WebProblem::Fault(Fault::NoAddress);
    if text.is_empty() || text.len() > LIMIT_BYTES {
        return Err(no_address());
    }
    let url = match text.parse::<Url>() {
        Err(_) if text.contains('.') => format!("https://{text}").parse(),
        parsed => parsed,
    };
    let mut url = url.map_err(|_| no_address())?;
    if !matches!(url.scheme(), "http" | "https") || url.host_str().is_none() {
        return Err(no_address());
    }
    tidy(&mut url);
    Ok(url)
}

/// Removes the fragment and tracking parameters.
pub(super) fn tidy(url: &mut Url) {
    url.set_fragment(None);
    if url
        .query()
        .is_some_and(|query| query.is_empty() || query.split('&').any(is_tracking))
    {
        let kept: Vec<&str> = url
            .query()
            .unwrap_or_default()
            .split('&')
            .filter(|pair| !pair.is_empty() && !is_tracking(pair))
            .collect();
        let kept = kept.join("&");
        url.set_query((!kept.is_empty()).then_some(&kept));
    }
}

fn is_tracking(pair: &str) -> bool {
    let name = pair
        .split('=')
        .next()
        .unwrap_or_default()
        .to_ascii_lowercase();
    name.starts_with("utm_") || TRACKING.contains(&name.as_str())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_spelling_for_one_page() {
        for (text, expected) in [
            (
                " HTTP://Example.ORG:80/a/../b?x=1#part ",
                "http://example.org/b?x=1",
            ),
            ("https://example.org", "https://example.org/"),
            ("example.org/a", "https://example.org/a"),
            (
                "https://example.org/?utm_source=a&b=2&fbclid=x",
                "https://example.org/?b=2",
            ),
            ("https://example.org/?UTM_medium=a", "https://example.org/"),
            ("https://example.org/?", "https://example.org/"),
            (
                "https://münchen.example/ü",
                "https://xn--mnchen-3ya.example/%C3%BC",
            ),
        ] {
            assert_eq!(normalised(text).unwrap().as_str(), expected, "{text}");
        }
        for wrong in [
            "",
            "  ",
            "file:///etc/passwd",
            "javascript:alert(1)",
            "data:text/html,x",
            "nothing",
            &"x.".repeat(3000),
        ] {
            assert!(normalised(wrong).is_err(), "{wrong}");
        }
    }
}
