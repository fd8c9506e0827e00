//! Ranks search results by reciprocal rank fusion, and selects what to read with a limit per site.

use std::collections::HashMap;

use super::Hit;

/// The constant of reciprocal rank fusion. The smaller it is, the more the top ranks of a list count.
const RANK_OFFSET: usize = 10;
/// Maximum number of results of one site per round, as long as there are others.
const OF_ONE_SITE: usize = 2;

/// A result to read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Candidate {
    /// The library that it comes from.
    pub(crate) library: String,
    pub(crate) hit: Hit,
}

/// Merges the results of several queries into one list, best first, without duplicate addresses.
pub(crate) fn fused(found: Vec<Vec<Hit>>) -> Vec<Hit> {
    let mut scored: Vec<(f64, Hit)> = Vec::new();
    for hits in found {
        for (rank, hit) in hits.into_iter().enumerate() {
            let score = score(rank);
            match scored.iter_mut().find(|(_, known)| known.url == hit.url) {
                Some((sum, _)) => *sum += score,
                None => scored.push((score, hit)),
            }
        }
    }
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    scored.into_iter().map(|(_, hit)| hit).collect()
}

#[expect(clippy::cast_precision_loss, reason = "ranks are small")]
fn score(rank: usize) -> f64 {
    1.0 / (RANK_OFFSET + rank) as f64
}

/// The best `most` results of all lists, excluding `known` ones.
pub(crate) fn best(
    found: Vec<(String, Vec<Hit>)>,
    known: impl Fn(&str) -> bool,
    most: usize,
) -> Vec<Candidate> {
    let mut places: HashMap<String, usize> = HashMap::new();
    let mut scored: Vec<(f64, Candidate)> = Vec::new();
    for (library, hits) in found {
        for (rank, hit) in hits.into_iter().enumerate() {
            let key = same_address(&hit.url);
            if known(&key) {
                continue;
            }
            let score = score(rank);
            let at = *places.entry(key).or_insert(scored.len());
            match scored.get_mut(at) {
                Some((sum, _)) => *sum += score,
                None => scored.push((
                    score,
                    Candidate {
                        library: library.clone(),
                        hit,
                    },
                )),
            }
        }
    }
    // Stable: among equals, the one found first wins.
    scored.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut of_site: HashMap<String, usize> = HashMap::new();
    let mut chosen = Vec::new();
    let mut others = Vec::new();
    for (_, candidate) in scored {
        let site = of_site.entry(site(&candidate.hit.url)).or_default();
        *site += 1;
        if *site > OF_ONE_SITE && candidate.hit.url.starts_with("http") {
            others.push(candidate);
        } else {
            chosen.push(candidate);
        }
    }
    chosen.extend(others);
    chosen.truncate(most);
    chosen
}

/// An address normalized for comparison, without parts that do not change the page.
pub(crate) fn same_address(url: &str) -> String {
    let url = url.split('#').next().unwrap_or_default();
    let (address, query) = url
        .split_once('?')
        .map_or((url, ""), |(address, query)| (address, query));
    let kept: Vec<&str> = query
        .split('&')
        .filter(|part| !part.is_empty() && !part.starts_with("utm_"))
        .filter(|part| {
            let of_a_passage = ["from=", "to=", "version="];
            url.starts_with("http") || !of_a_passage.iter().any(|name| part.starts_with(name))
        })
        .collect();
    let address = address.trim_end_matches('/');
    let address = address
        .strip_prefix("https://")
        .or(address.strip_prefix("http://"))
        .unwrap_or(address);
    let address = address.strip_prefix("www.").unwrap_or(address);
    if kept.is_empty() {
        address.to_owned()
    } else {
        format!("{address}?{}", kept.join("&"))
    }
}

fn site(url: &str) -> String {
    same_address(url)
        .split('/')
        .next()
        .unwrap_or_default()
        .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hit(url: &str) -> Hit {
        Hit {
            title: url.to_owned(),
            url: url.to_owned(),
            snippet: String::new(),
        }
    }

    fn check(found: &[&[&str]], most: usize, expected: &[&str]) {
        let found = found
            .iter()
            .map(|list| ("web".to_owned(), list.iter().map(|url| hit(url)).collect()));
        let best = best(found.collect(), |url| url == "known.example", most);
        let urls: Vec<&str> = best
            .iter()
            .map(|candidate| candidate.hit.url.as_str())
            .collect();
        assert_eq!(urls, expected);
    }

    #[test]
    fn lists_become_one() {
        let urls = |list: &[&str]| list.iter().map(|url| hit(url)).collect::<Vec<_>>();
        let one = fused(vec![urls(&["/a?from=1", "/b"]), urls(&["/c", "/b"])]);
        assert_eq!(one, urls(&["/b", "/a?from=1", "/c"]));
    }

    #[test]
    fn results_of_several_queries_come_first_and_sites_take_turns() {
        check(
            &[
                &["https://a.example/1", "https://b.example/"],
                &["https://c.example/", "http://www.b.example#x"],
            ],
            2,
            &["https://b.example/", "https://a.example/1"],
        );
        check(
            &[&[
                "https://a.example/1",
                "https://a.example/2",
                "https://a.example/3",
                "https://b.example/",
            ]],
            3,
            &[
                "https://a.example/1",
                "https://a.example/2",
                "https://b.example/",
            ],
        );
        check(
            &[&[
                "https://known.example/",
                "https://a.example/?utm_source=x",
                "https://a.example",
            ]],
            5,
            &["https://a.example/?utm_source=x"],
        );
        check(&[], 5, &[]);
    }

    #[test]
    fn a_document_is_one_place() {
        assert_eq!(
            same_address("/knowledge/c/d?from=1&to=2&version=3"),
            "/knowledge/c/d"
        );
        assert_eq!(
            same_address("https://a.example/?from=1"),
            "a.example?from=1"
        );
    }
}
