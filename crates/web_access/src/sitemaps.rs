//! Reads a site's sitemaps, including nested and compressed ones.

use std::{collections::HashSet, io::Read, time::Duration};

use flate2::read::GzDecoder;
use reqwest::Url;
use tokio::time::{Instant, timeout_at};

use crate::{WebClient, address::normalised, fetch::Fetched, links::worth_asking};

/// Maximum number of sitemaps of a site, and of URLs in them.
const MAX_SITEMAPS: usize = 20;
const MAX_ADDRESSES: usize = 5_000;
/// Maximum size of one, uncompressed, bytes.
const TEXT_BYTES: u64 = 20_000_000;
/// Time limit for all of them.
const TIME: Duration = Duration::from_secs(30);

impl WebClient {
    /// The pages listed in a site's sitemaps, without duplicates; empty if there are none. Sitemaps that fail to load
    /// are skipped.
    pub async fn named_pages(&self, site: &Url) -> Vec<Url> {
        let deadline = Instant::now() + TIME;
        let mut to_ask = self.sitemaps_of(site, deadline).await;
        let mut asked = HashSet::new();
        let mut seen = HashSet::new();
        let mut pages = Vec::new();
        while let Some(url) = to_ask.pop() {
            if asked.len() >= MAX_SITEMAPS || pages.len() >= MAX_ADDRESSES {
                break;
            }
            if url.origin() != site.origin() || !asked.insert(url.clone()) {
                continue;
            }
            let Ok(Ok(Fetched::New(body))) = timeout_at(deadline, self.fetch(&url, None)).await
            else {
                continue;
            };
            let text = text_of(&body.bytes);
            let named = addresses(&text).filter_map(|named| body.url.join(&named).ok());
            if text.contains("<sitemapindex") {
                to_ask.extend(named.take(MAX_SITEMAPS));
                continue;
            }
            let worth = named.filter_map(|page| worth_asking(page, site));
            let new = worth.filter(|page| seen.insert(page.as_str().to_owned()));
            pages.extend(new.take(MAX_ADDRESSES - pages.len()));
        }
        pages
    }

    /// The sitemaps named in `robots.txt`, or the default one.
    async fn sitemaps_of(&self, site: &Url, deadline: Instant) -> Vec<Url> {
        let host = self.hosts.of(&site.origin().ascii_serialization());
        let robots = match self.settings().robots {
            true => timeout_at(deadline, self.robots(&host, site))
                .await
                .ok()
                .and_then(Result::ok),
            false => None,
        };
        let named = robots
            .as_ref()
            .map(|robots| robots.sitemaps.as_slice())
            .unwrap_or_default();
        match named {
            [] => site.join("/sitemap.xml").into_iter().collect(),
            named => named
                .iter()
                .filter_map(|url| normalised(url).ok())
                .collect(),
        }
    }
}

/// The text, decompressed if needed and truncated to the limit.
fn text_of(bytes: &[u8]) -> String {
    let mut text = Vec::new();
    let whole = match bytes.starts_with(&[0x1f, 0x8b]) {
        true => GzDecoder::new(bytes)
            .take(TEXT_BYTES)
            .read_to_end(&mut text)
            .is_ok(),
        false => bytes.take(TEXT_BYTES).read_to_end(&mut text).is_ok(),
    };
    if !whole {
        tracing::debug!("failed to decompress a sitemap; using the beginning");
    }
    String::from_utf8_lossy(&text).into_owned()
}

/// The content of `<loc>` elements, or the lines of a plain text. A scan is enough: custom entities are not expanded,
/// and nothing is nested.
fn addresses(text: &str) -> Box<dyn Iterator<Item = String> + '_> {
    if !text.contains("<loc>") {
        let lines = text
            .lines()
            .map(str::trim)
            .filter(|line| line.starts_with("http"));
        return Box::new(lines.map(str::to_owned));
    }
    Box::new(text.split("<loc>").skip(1).filter_map(|piece| {
        let address = piece.split('<').next().unwrap_or_default().trim();
        // The guard limits them anyway; anything much longer is not a URL.
        (!address.is_empty() && address.len() <= 4_000).then(|| unescaped(address))
    }))
}

/// Replaces the five predefined XML entities.
fn unescaped(address: &str) -> String {
    let names = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&apos;", "'"),
        ("&amp;", "&"),
    ];
    names
        .iter()
        .fold(address.to_owned(), |address, (name, sign)| {
            address.replace(name, sign)
        })
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use flate2::{Compression, write::GzEncoder};

    use super::*;

    fn found(text: &str) -> Vec<String> {
        addresses(text).collect()
    }

    #[test]
    fn addresses_are_found_in_xml_and_in_lines() {
        let xml = "<?xml version=\"1.0\"?><!DOCTYPE x [<!ENTITY a \"aaaa\">]><urlset><url><loc> https://e.example/a?b=1&amp;c=2 \
            </loc><lastmod>2026</lastmod></url><url><loc>https://e.example/&a;</loc></url><url><loc></loc><loc>https://e.example/z";
        assert_eq!(
            found(xml),
            [
                "https://e.example/a?b=1&c=2",
                "https://e.example/&a;",
                "https://e.example/z"
            ]
        );
        assert_eq!(
            found("https://e.example/1\r\n\nnot this\nhttps://e.example/2"),
            ["https://e.example/1", "https://e.example/2"]
        );
        assert!(found("<html><body>No sitemap here").is_empty());
        assert!(found(&format!("<loc>{}", "x".repeat(100_000))).is_empty());
    }

    #[test]
    fn packed_ones_are_unpacked_within_bounds() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::best());
        packed
            .write_all(b"<urlset><url><loc>https://e.example/1</loc></url>")
            .unwrap();
        let packed = packed.finish().unwrap();
        assert_eq!(found(&text_of(&packed)), ["https://e.example/1"]);
        let cut = text_of(&packed[..packed.len() - 9]);
        assert!(cut.starts_with("<urlset>") || cut.is_empty(), "{cut}");
        let mut bomb = GzEncoder::new(Vec::new(), Compression::best());
        for _ in 0..30 {
            bomb.write_all(&vec![b' '; 1_000_000]).unwrap();
        }
        assert_eq!(text_of(&bomb.finish().unwrap()).len() as u64, TEXT_BYTES);
        assert_eq!(text_of(&[0x1f, 0x8b, 0, 0]), "");
    }
}
