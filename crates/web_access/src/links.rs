//! Extracts the links of a page in one pass over its bytes; content that is not HTML has none.

use reqwest::Url;

use crate::address::tidy;

/// Maximum number of links taken from a page.
const MAX_LINKS: usize = 1000;
/// Maximum length of a URL to crawl, bytes.
const URL_BYTES: usize = 1000;
/// Maximum depth of a path; deeper ones are likely crawler traps.
const PATH_PARTS: usize = 12;
/// Query parameters that identify sessions, not pages.
const SESSIONS: [&str; 6] = [
    "sid",
    "sessionid",
    "session_id",
    "phpsessid",
    "jsessionid",
    "s",
];

/// The pages of the same site that a page links to, without duplicates.
#[must_use]
pub fn links(page: &[u8], at: &Url) -> Vec<Url> {
    let html = String::from_utf8_lossy(page);
    let mut found: Vec<Url> = Vec::new();
    let mut seen = std::collections::HashSet::new();
    for piece in html.split('<').skip(1) {
        let Some(rest) = piece
            .strip_prefix(['a', 'A'])
            .filter(|rest| rest.starts_with(char::is_whitespace))
        else {
            continue;
        };
        let Some(link) = href(rest).and_then(|link| at.join(&link).ok()) else {
            continue;
        };
        let Some(link) = worth_asking(link, at) else {
            continue;
        };
        if seen.insert(link.as_str().to_owned()) {
            found.push(link);
        }
        if found.len() >= MAX_LINKS {
            break;
        }
    }
    found
}

/// The value of `href` in the text after `<a`.
fn href(tag: &str) -> Option<String> {
    let lower = tag.to_ascii_lowercase();
    let place = lower
        .match_indices("href")
        .map(|(place, _)| place)
        .find(|place| {
            let before = lower[..*place].chars().next_back().unwrap_or(' ');
            before.is_whitespace() || matches!(before, '"' | '\'')
        })?;
    let value = tag[place + 4..]
        .trim_start()
        .strip_prefix('=')?
        .trim_start();
    let value = match value.chars().next()? {
        quote @ ('"' | '\'') => value[1..].split(quote).next()?,
        _ => value
            .split(|char: char| char.is_whitespace() || char == '>')
            .next()?,
    };
    Some(value.trim().replace("&amp;", "&"))
}

/// The normalized link, if it is on the same site and not a crawler trap.
pub(super) fn worth_asking(mut link: Url, at: &Url) -> Option<Url> {
    if link.origin() != at.origin() || !link.username().is_empty() {
        return None;
    }
    tidy(&mut link);
    let path = link.path().to_ascii_lowercase();
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    // Traps repeat path segments: three times the same one is too many.
    let repeats = parts
        .iter()
        .any(|part| parts.iter().filter(|other| *other == part).count() >= 3);
    if link.as_str().len() > URL_BYTES
        || parts.len() > PATH_PARTS
        || repeats
        || path.contains(";jsessionid")
    {
        return None;
    }
    let names = link
        .query()
        .unwrap_or_default()
        .split('&')
        .filter_map(|pair| pair.split('=').next());
    let is_session = names
        .map(str::to_ascii_lowercase)
        .any(|name| SESSIONS.contains(&name.as_str()));
    (!is_session).then_some(link)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_of_the_same_site_are_found_and_traps_are_not() {
        let at: Url = "https://e.example/a/".parse().unwrap();
        let page = "<a href=\"b?x=1&amp;y=2#z\">1</a><A class='x' HREF='/c'>2</A><a data-href=/no href=/d>3</a><a href = e >\
            <a href=\"https://other.example/\"><abbr href=/no><a name=x><a href=\"/?sid=4\"><a href='/m/m/m'><a href='b?x=1&y=2'>\
            <a href='mailto:x@y'><a href=\"javascript:alert(1)\"><a href=\"/open";
        let found: Vec<String> = links(page.as_bytes(), &at)
            .iter()
            .map(|link| link.as_str()[17..].to_owned())
            .collect();
        assert_eq!(found, ["/a/b?x=1&y=2", "/c", "/d", "/a/e", "/open"]);
        assert!(links(&[0xff; 1000], &at).is_empty());
        assert!(links("<a href=".repeat(10_000).as_bytes(), &at).len() <= 1);
        let many: String = (0..5000).map(|n| format!("<a href=/{n}>")).collect();
        assert_eq!(links(many.as_bytes(), &at).len(), MAX_LINKS);
    }
}
