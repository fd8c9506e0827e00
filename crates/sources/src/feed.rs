//! An RSS, Atom or JSON feed, whose entries become HTML files.

use std::collections::BTreeMap;

use bytes::Bytes;
use feed_rs::{
    model::{Entry, Feed as ParsedFeed, Text},
    parser,
};
use outbound::{Outbound, Request};
use reqwest::{
    Method, Url,
    header::{ACCEPT, AUTHORIZATION},
};
use serde::{Deserialize, Serialize};
use tokio::sync::Mutex;

use crate::{
    Item, ItemMetadata, Listing, Readers, SourceProblem, Surroundings,
    http::{self, Client},
    name,
    problem::malformed,
};

/// Maximum number of redirects.
const MAX_HOPS: u32 = 5;
/// What we accept, best first.
const KINDS: &str = "application/atom+xml, application/rss+xml, application/feed+json, application/xml;q=0.9, \
                     text/xml;q=0.9, application/json;q=0.8, */*;q=0.1";
/// Maximum length of a language, bytes: that of a feed is repeated in each entry.
const MAX_LANGUAGE_BYTES: usize = 35;
/// Number of characters of a hash that distinguish entries with the same title.
const UNIQUE_CHARS: usize = 8;

/// A feed: RSS 0.9 to 2.0, Atom or JSON Feed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, schemars::JsonSchema)]
#[schemars(inline)]
pub struct FeedSettings {
    /// Its address.
    pub url: String,
    /// The user, if the feed is not public. The secret is the password.
    #[serde(default)]
    pub user: String,
}

/// A feed with checked settings.
pub(crate) struct Feed {
    url: Url,
    authorization: Option<String>,
    /// The entries that were listed last, by their id.
    fetched: Mutex<BTreeMap<String, Bytes>>,
}

impl Feed {
    pub(crate) fn new(
        settings: &FeedSettings,
        secret: &str,
        outbound: &Outbound,
    ) -> Result<Self, SourceProblem> {
        let url = http::address_with_query(outbound, "url", &settings.url)?;
        let authorization = http::basic(&settings.user, secret)?;
        if authorization.is_some() {
            http::check_encrypted(outbound, "url", &url)?;
        }
        Ok(Self {
            url,
            authorization,
            fetched: Mutex::default(),
        })
    }

    /// Lists the entries that the feed has now.
    pub(crate) async fn list(&self, surroundings: &Surroundings) -> Result<Listing, SourceProblem> {
        let mut fetched = self.fetched.lock().await;
        let mut listing = Listing {
            is_window: true,
            ..Listing::default()
        };
        let mut contents = BTreeMap::new();
        for document in self.fetch(&surroundings.outbound).await? {
            // Some feeds repeat entries; the newest comes first.
            if contents.contains_key(&document.item.id) {
                continue;
            }
            contents.insert(document.item.id.clone(), document.content);
            listing.add(document.item, surroundings.limits)?;
        }
        *fetched = contents;
        Ok(listing)
    }

    /// Reads an entry.
    pub(crate) async fn read(
        &self,
        item: &Item,
        surroundings: &Surroundings,
    ) -> Result<Bytes, SourceProblem> {
        let mut fetched = self.fetched.lock().await;
        if !fetched.contains_key(&item.id) {
            for document in self.fetch(&surroundings.outbound).await? {
                fetched.entry(document.item.id).or_insert(document.content);
            }
        }
        let content = fetched.get(&item.id).cloned();
        // It is not said to be gone, since feeds drop old entries.
        let content = content.ok_or_else(|| malformed("the feed has dropped this entry"))?;
        if content.len() > surroundings.limits.item_bytes {
            return Err(SourceProblem::TooLarge);
        }
        Ok(content)
    }

    async fn fetch(&self, outbound: &Outbound) -> Result<Vec<Document>, SourceProblem> {
        let client = Client::new(outbound);
        let answer = client.send(|| {
            let limits = http::list_limits(MAX_HOPS);
            let request = Request::new(Method::GET, self.url.clone(), limits).header(ACCEPT, KINDS);
            Ok(match &self.authorization {
                Some(value) => request.header(AUTHORIZATION, value),
                None => request,
            })
        });
        let answer = http::succeeded(answer.await?)?;
        let base = answer.url.to_string();
        let parsing = tokio::task::spawn_blocking(move || parse(&answer.body, &base));
        let parsed = parsing.await;
        parsed.map_err(|error| malformed(&error.to_string()))?
    }
}

/// An entry as a document.
#[derive(Debug, PartialEq, Eq)]
struct Document {
    item: Item,
    content: Bytes,
}

/// The entries of a feed. Relative links are relative to `base`.
fn parse(body: &[u8], base: &str) -> Result<Vec<Document>, SourceProblem> {
    let parser = parser::Builder::new()
        .base_uri(Some(base))
        // A made-up id would be another one the next time.
        .id_generator(|_, _, _| String::new())
        .sanitize_content(false)
        .build();
    let feed = parser
        .parse(body)
        .map_err(|error| malformed(&format!("this is no feed: {error}")))?;
    Ok(feed
        .entries
        .iter()
        .map(|entry| document(&feed, entry))
        .collect())
}

fn document(feed: &ParsedFeed, entry: &Entry) -> Document {
    let content = html(feed, entry);
    let link = page(entry);
    let version = name::hash(content.as_bytes());
    let id = [entry.id.trim(), link.unwrap_or_default(), &version];
    let id = id.into_iter().find(|id| !id.is_empty()).unwrap_or(&version);
    let modified = entry.updated.or(entry.published);
    let modified_ms = modified.map(|at| at.timestamp_millis());
    // The name must not change when an entry is corrected.
    let published = entry.published.or(entry.updated);
    let title = entry.title.as_ref().map(plain).unwrap_or_default();
    let unique: String = name::hash(id.as_bytes())
        .chars()
        .take(UNIQUE_CHARS)
        .collect();
    let name = name::of_title(
        published.map(|at| at.timestamp_millis()),
        &title,
        &unique,
        "html",
    );
    let content = Bytes::from(content);
    Document {
        item: Item {
            id: id.to_owned(),
            name,
            version,
            size_bytes: Some(content.len() as u64),
            modified_ms,
            url: link.map(str::to_owned),
            readers: Readers::All,
            metadata: metadata(entry, &title),
        },
        content,
    }
}

fn metadata(entry: &Entry, title: &str) -> ItemMetadata {
    let categories = entry.categories.iter();
    let mut metadata = ItemMetadata {
        tags: categories
            .map(|category| category.label.clone().unwrap_or(category.term.clone()))
            .collect(),
        ..ItemMetadata::default()
    };
    let authors = entry
        .authors
        .iter()
        .filter_map(|person| person.name.as_deref());
    let authors = authors.map(str::trim).filter(|name| !name.is_empty());
    let authors: Vec<&str> = authors.collect();
    metadata.set("title", Some(title).filter(|title| !title.is_empty()));
    metadata.set("author", (!authors.is_empty()).then_some(authors));
    metadata.set("published", entry.published.map(|at| at.to_rfc3339()));
    metadata
}

/// The page of an entry.
fn page(entry: &Entry) -> Option<&str> {
    let is_page = |rel: &Option<String>| matches!(rel.as_deref(), None | Some("alternate"));
    let mut links = entry.links.iter().filter(|link| is_page(&link.rel));
    let link =
        links.find(|link| link.href.starts_with("http://") || link.href.starts_with("https://"));
    link.map(|link| &*link.href)
}

/// The entry as a page.
fn html(feed: &ParsedFeed, entry: &Entry) -> String {
    let title = entry.title.as_ref().map(plain).unwrap_or_default();
    let title = escape(&title);
    let mut page = String::from("<!doctype html>\n<html");
    let language = entry.language.as_ref().or(feed.language.as_ref());
    if let Some(language) = language.filter(|text| text.len() <= MAX_LANGUAGE_BYTES) {
        page += &format!(" lang=\"{}\"", escape(language));
    }
    page += &format!("><head><meta charset=\"utf-8\"><title>{title}</title></head>\n<body>\n");
    if !title.is_empty() {
        page += &format!("<h1>{title}</h1>\n");
    }
    let authors = entry
        .authors
        .iter()
        .map(|author| escape(author.name.as_deref().unwrap_or_default().trim()));
    let mut facts: Vec<String> = authors.filter(|name| !name.is_empty()).collect();
    facts.extend(entry.published.map(|at| at.format("%Y-%m-%d").to_string()));
    if !facts.is_empty() {
        page += &format!("<p>{}</p>\n", facts.join(", "));
    }
    page += &body(entry);
    if let Some(link) = self::page(entry) {
        let link = escape(link);
        page += &format!("\n<p><a href=\"{link}\">{link}</a></p>");
    }
    page += "\n</body></html>\n";
    page
}

/// The content of an entry; else its summary, or what it says about its pictures and films.
fn body(entry: &Entry) -> String {
    let content = entry.content.as_ref();
    let content = content.and_then(|content| {
        let body = content.body.as_deref()?;
        Some(marked_up(body, content.content_type.as_ref()))
    });
    let summary = || entry.summary.as_ref().map(rich);
    let media = || {
        let texts = entry
            .media
            .iter()
            .filter_map(|one| one.description.as_ref());
        texts.map(rich).collect::<Vec<_>>().join("\n")
    };
    let has_text = |text: &String| !text.trim().is_empty();
    content
        .filter(has_text)
        .or_else(|| summary().filter(has_text))
        .unwrap_or_else(media)
}

fn rich(text: &Text) -> String {
    marked_up(&text.content, text.content_type.as_ref())
}

/// A text as HTML.
fn marked_up(text: &str, kind: &str) -> String {
    if kind.starts_with("text/html") || kind.starts_with("application/xhtml") {
        text.to_owned()
    } else {
        let paragraphs = text
            .split("\n\n")
            .map(|part| format!("<p>{}</p>", escape(part)));
        paragraphs.collect::<Vec<_>>().join("\n")
    }
}

/// A title without markup.
fn plain(text: &Text) -> String {
    if !text.content_type.as_ref().contains("html") {
        return text.content.trim().to_owned();
    }
    let mut plain = String::new();
    let mut is_tag = false;
    for char in text.content.chars() {
        match char {
            '<' => is_tag = true,
            '>' if is_tag => is_tag = false,
            char if !is_tag => plain.push(char),
            _ => {}
        }
    }
    // Those that titles have.
    for (entity, char) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#39;", "'"),
        ("&#8217;", "’"),
        ("&nbsp;", " "),
        ("&amp;", "&"),
    ] {
        plain = plain.replace(entity, char);
    }
    plain.trim().to_owned()
}

fn escape(text: &str) -> String {
    quick_xml::escape::escape(text).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn one(body: &str) -> Document {
        let mut documents = parse(body.as_bytes(), "https://example.com/blog/feed").unwrap();
        assert_eq!(documents.len(), 1);
        documents.remove(0)
    }

    fn text(document: &Document) -> &str {
        std::str::from_utf8(&document.content).unwrap()
    }

    /// In the form of WordPress.
    #[test]
    fn rss() {
        let documents = parse(
            include_bytes!("../tests/data/feed_wordpress.xml"),
            "https://example.com/feed/",
        );
        let documents = documents.unwrap();
        let titles: Vec<_> = documents.iter().map(|one| &*one.item.name).collect();
        // Their ends are the SHA-256 of the ids.
        let expected = [
            "2026-11-28 Q&A What’s “new” in 2.0 44e9a76b.html",
            "2026-11-02 Hello, world! de33d4a3.html",
        ];
        assert_eq!(titles, expected);
        let first = &documents[0];
        assert_eq!(first.item.id, "https://example.com/?p=42");
        assert_eq!(first.item.modified_ms, Some(1_795_858_200_000));
        assert_eq!(
            first.item.url.as_deref(),
            Some("https://example.com/2026/11/28/new/")
        );
        assert_eq!(
            text(first),
            "<!doctype html>\n\
             <html lang=\"en-us\"><head><meta charset=\"utf-8\"><title>Q&amp;A: What’s “new” in 2.0?</title></head>\n\
             <body>\n<h1>Q&amp;A: What’s “new” in 2.0?</h1>\n<p>Ann, 2026-11-28</p>\n\
             <p>All of it &amp; more.</p>\n\
             <p><a href=\"https://example.com/2026/11/28/new/\">https://example.com/2026/11/28/new/</a></p>\n\
             </body></html>\n"
        );
        // There is only a description.
        assert!(text(&documents[1]).contains("<p>The first post […]</p>"));
    }

    /// In the form of GitHub's releases.
    #[test]
    fn atom() {
        let document = one(r#"<?xml version="1.0" encoding="UTF-8"?>
<feed xmlns="http://www.w3.org/2005/Atom" xmlns:media="http://search.yahoo.com/mrss/" xml:lang="en-US">
  <id>tag:github.com,2008:https://github.com/o/r/releases</id>
  <link type="application/atom+xml" rel="self" href="https://github.com/o/r/releases.atom"/>
  <title>Release notes from r</title>
  <updated>2026-11-20T10:00:00Z</updated>
  <entry>
    <id>tag:github.com,2008:Repository/1/v1.2</id>
    <updated>2026-11-20T10:00:00Z</updated>
    <link rel="alternate" type="text/html" href="https://github.com/o/r/releases/tag/v1.2"/>
    <title>v1.2</title>
    <content type="html">&lt;p&gt;Fixes &amp;lt;b&amp;gt;&lt;/p&gt;</content>
    <author><name>ann</name></author>
  </entry>
</feed>"#);
        assert_eq!(document.item.id, "tag:github.com,2008:Repository/1/v1.2");
        assert!(text(&document).contains("\n<p>Fixes &lt;b&gt;</p>\n"));
        assert!(document.item.name.starts_with("2026-11-20 v1.2 "));
        let url = document.item.url.as_deref();
        assert_eq!(url, Some("https://github.com/o/r/releases/tag/v1.2"));
    }

    #[test]
    fn rdf_and_json() {
        let rdf = one(
            r#"<rdf:RDF xmlns:rdf="http://www.w3.org/1999/02/22-rdf-syntax-ns#" xmlns="http://purl.org/rss/1.0/">
<channel rdf:about="https://example.com/"><title>News</title><link>https://example.com/</link><description/></channel>
<item rdf:about="https://example.com/1"><title>One</title><link>https://example.com/1</link><description>Text</description></item>
</rdf:RDF>"#,
        );
        assert_eq!(rdf.item.url.as_deref(), Some("https://example.com/1"));
        assert!(text(&rdf).contains("Text"));
        let json = one(
            r#"{"version": "https://jsonfeed.org/version/1.1", "title": "News", "items": [
                {"id": "7", "url": "https://example.com/7", "content_text": "a < b\n\nc", "date_published": "2026-11-20T10:00:00Z"}]}"#,
        );
        assert_eq!(json.item.id, "7");
        assert!(json.item.name.starts_with("2026-11-20 untitled "));
        assert!(text(&json).contains("<p>a &lt; b</p>\n<p>c</p>"));
    }

    #[test]
    fn versions_change_with_the_content_only() {
        let feed = |id: &str, text: &str| {
            one(&format!(
                "<rss version=\"2.0\"><channel><title>t</title><item><guid>{id}</guid><title>{text}</title></item></channel></rss>"
            ))
            .item
        };
        assert_eq!(feed("1", "a"), feed("1", "a"));
        assert_ne!(feed("1", "a").version, feed("1", "b").version);
        // Without an id and a link, the content is the id.
        let nameless = feed("", "a");
        assert_eq!(nameless.id, nameless.version);
        assert_eq!(nameless.id, feed("", "a").id);
    }

    #[test]
    fn what_is_no_feed_is_an_error() {
        for wrong in [
            "",
            "<html><body>Sign in</body></html>",
            "{\"error\": 1}",
            "<rss version=\"2.0\"><channel><title>t</title><item><guid>1</guid>",
            "<rss version=\"2.0\"><channel></rss>",
        ] {
            let parsed = parse(wrong.as_bytes(), "https://example.com/");
            assert!(
                matches!(parsed, Err(SourceProblem::Malformed(_))),
                "{wrong}: {parsed:?}"
            );
        }
    }
}
