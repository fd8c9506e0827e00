//! Properties of web pages: elements of the head, also in the vocabularies of Open Graph and Dublin Core.

use dom_query::Document as Dom;

use crate::properties::Properties;

/// Number of bytes in which the head of a page is.
const HEAD_BYTES: usize = 500_000;
/// The names of `meta` elements, and the keys that they have here, the best first.
const NAMES: [(&str, &str); 31] = [
    ("author", "author"),
    ("article:author", "author"),
    ("dc.creator", "author"),
    ("dcterms.creator", "author"),
    ("citation_author", "author"),
    ("parsely-author", "author"),
    ("article:published_time", "published"),
    ("datepublished", "published"),
    ("citation_publication_date", "published"),
    ("citation_date", "published"),
    ("dc.date.issued", "published"),
    ("dcterms.issued", "published"),
    ("parsely-pub-date", "published"),
    ("date", "published"),
    ("dc.date", "published"),
    ("dcterms.created", "created"),
    ("article:modified_time", "modified"),
    ("og:updated_time", "modified"),
    ("datemodified", "modified"),
    ("last-modified", "modified"),
    ("dcterms.modified", "modified"),
    ("og:site_name", "site"),
    ("application-name", "site"),
    ("og:title", "title"),
    ("dc.title", "title"),
    ("dc.publisher", "publisher"),
    ("citation_journal_title", "publisher"),
    ("dc.language", "language"),
    ("content-language", "language"),
    ("article:section", "category"),
    ("dc.subject", "subject"),
];

/// Reads the head of a page.
pub(super) fn page(page: &str) -> Option<Properties> {
    let mut end = page.len().min(HEAD_BYTES);
    while !page.is_char_boundary(end) {
        end -= 1;
    }
    let beginning = &page[..end];
    let head = match beginning.to_ascii_lowercase().find("<body") {
        Some(body) => &beginning[..body],
        None => beginning,
    };
    let dom = Dom::from(head);
    let mut metas: Vec<(String, String)> = Vec::new();
    for meta in dom.select("meta[content]").iter() {
        let attribute = |name: &str| meta.attr(name).map(|value| value.trim().to_lowercase());
        let name = attribute("name")
            .or_else(|| attribute("property"))
            .or_else(|| attribute("itemprop"))
            .or_else(|| attribute("http-equiv"));
        if let (Some(name), Some(content)) = (name, meta.attr("content")) {
            metas.push((name, content.to_string()));
        }
    }
    let mut properties = Properties::default();
    for (name, key) in NAMES {
        if properties.fields.contains_key(key) {
            continue;
        }
        for (_, content) in metas.iter().filter(|(other, _)| other == name) {
            // The authors of Facebook are addresses of profiles.
            if key != "author" || !content.starts_with("http") {
                properties.add(key, content);
            }
        }
    }
    // Keywords are for search engines, and often for those of long ago; tags of articles are chosen by their authors.
    for (_, tag) in metas.iter().filter(|(name, _)| name == "article:tag") {
        properties.add_keywords(tag);
    }
    if let Some(language) = dom.select("html[lang]").attr("lang") {
        properties.add_missing("language", &language);
    }
    Some(properties)
}
