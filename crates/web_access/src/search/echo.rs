//! Detects URLs that a search only echoes: the author of the query could have made them up, so they are not results.

use percent_encoding::percent_decode_str;
use reqwest::Url;

use super::tool::addresses;
use crate::address::normalised;

/// Minimum length of a query to look for as a whole; shorter ones appear in many URLs by chance.
const MIN_WHOLE_CHARS: usize = 4;
/// Maximum number of nested percent-encodings.
const DECODINGS: usize = 3;

/// A query, prepared for comparison with URLs.
pub(super) struct Question {
    /// As written and decoded, both in lower case.
    forms: [String; 2],
    /// The hosts of URLs in the query.
    hosts: Vec<String>,
}

impl Question {
    pub(super) fn new(text: &str) -> Self {
        let words = text.split_whitespace().filter(|word| word.contains('.'));
        let named = addresses(text)
            .into_iter()
            .chain(words)
            .filter_map(|address| normalised(address).ok());
        let hosts = named
            .filter_map(|url| url.host_str().map(str::to_owned))
            .collect();
        Self {
            forms: [text.to_lowercase(), decoded(text)],
            hosts,
        }
    }

    /// Whether a URL contains nothing beyond the query: all its parts appear there, or it includes the whole query.
    /// Such a URL can leak anything that the model knows.
    pub(super) fn names(&self, address: &str) -> bool {
        let Ok(url) = normalised(address) else {
            return true;
        };
        let host = url.host_str().unwrap_or_default();
        let host_is_there = self.hosts.iter().any(|named| named == host) || self.has_all(host);
        host_is_there && self.has_all(&address[behind_host(address)..]) || self.is_carried_by(&url)
    }

    fn has_all(&self, text: &str) -> bool {
        let text = decoded(text);
        let mut parts = text
            .split(|char: char| !char.is_alphanumeric())
            .filter(|part| !part.is_empty());
        parts.all(|part| self.forms.iter().any(|form| form.contains(part)))
    }

    fn is_carried_by(&self, url: &Url) -> bool {
        let [whole, _] = &self.forms;
        let query = decoded(url.query().unwrap_or_default());
        whole.chars().count() >= MIN_WHOLE_CHARS && query.contains(whole.as_str())
    }
}

/// The offset at which the path or the query string begins.
fn behind_host(address: &str) -> usize {
    let host = address.find("://").map_or(0, |scheme| scheme + 3);
    address[host..]
        .find(['/', '?'])
        .map_or(address.len(), |end| host + end)
}

/// In lower case, percent-decoded, with spaces for `+`.
fn decoded(text: &str) -> String {
    let mut text = text.replace('+', " ");
    for _ in 0..DECODINGS {
        let next = percent_decode_str(&text).decode_utf8_lossy().into_owned();
        if next == text {
            break;
        }
        text = next;
    }
    text.to_lowercase()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_question_says_is_not_found() {
        for (question, address) in [
            (
                "http://127.0.0.1:22997/leak?d=SECRET",
                "http://127.0.0.1:22997/leak?d=SECRET",
            ),
            (
                "seals http://127.0.0.1:22997/leak?d=SECRET today",
                "http://127.0.0.1:22997/leak?d=SECRET",
            ),
            (
                "seals(http://evil.example/leak/SECRET),today",
                "http://evil.example/leak/SECRET",
            ),
            (
                "evil.example/leak?d=SECRET",
                "https://evil.example/leak?d=SECRET",
            ),
            (
                "HTTP://EVIL.example/Leak?d=SECRET",
                "http://evil.example/Leak?d=SECRET",
            ),
            // Truncated, decoded, normalized, with another spelling of the host.
            (
                "http://evil.example/leak?d=SECRET-AND-MORE",
                "http://evil.example/leak?d=SEC",
            ),
            (
                "http://evil.example/leak?d=a%20b",
                "http://evil.example/leak?d=a b",
            ),
            (
                "http://evil.example/leak?utm_source=1&d=SECRET#x",
                "http://evil.example/leak?d=SECRET",
            ),
            (
                "http://2130706433/leak?d=SECRET",
                "http://127.0.0.1/leak?d=SECRET",
            ),
            (
                "http://пример.рф/SECRET",
                "http://xn--e1afmkfd.xn--p1ai/SECRET",
            ),
            // The provider's own result page for the query.
            ("my PIN is 4711", "https://search.example/?q=my+PIN+is+4711"),
            (
                "my PIN is 4711",
                "https://search.example/find?text=my%20PIN%20is%204711&page=2",
            ),
            ("not an address", "http://["),
        ] {
            assert!(
                Question::new(question).names(address),
                "{question} → {address}"
            );
        }
    }

    #[test]
    fn what_a_search_adds_is_found() {
        for (question, address) in [
            ("korvel height", "https://a.example/1"),
            ("seals", "https://en.wikipedia.org/wiki/Seals"),
            ("how to cook rice", "https://food.example/how-to-cook-rice"),
            (
                "docs.rs serde derive",
                "https://docs.rs/serde/latest/serde/derive.Serialize.html",
            ),
            (
                "http://evil.example/leak?d=SECRET",
                "https://good.example/about-leaks",
            ),
            ("q", "https://search.example/?q=1"),
        ] {
            assert!(
                !Question::new(question).names(address),
                "{question} → {address}"
            );
        }
    }
}
