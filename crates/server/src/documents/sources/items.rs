//! Checks the documents that sources and clients list.

use std::collections::HashSet;

use jiff::Timestamp;
use sources::{Item, ItemMetadata, Readers};
use store::{DocumentReaders, SourceItem};

use super::{
    super::metadata::{cleaned, fields_view},
    MAX_DOCUMENTS,
};
use crate::{error::ApiError, messages};

/// Maximum length of an id, a version or an address, bytes.
const ID_BYTES: usize = 2_000;
/// Maximum length of a name, bytes.
const NAME_BYTES: usize = 1_000;
/// Maximum number of readers of a document.
const MAX_READERS: usize = 10_000;

/// Checks the documents of a client.
///
/// # Errors
/// 400 with the reason.
pub(crate) fn check_items(items: &[SourceItem]) -> Result<(), ApiError> {
    if items.len() as u64 > MAX_DOCUMENTS {
        let count = MAX_DOCUMENTS;
        return Err(ApiError::invalid(
            messages::Sources::TooManySourceDocuments { count },
        ));
    }
    let mut ids = HashSet::new();
    for item in items {
        if !is_valid(item) {
            return Err(ApiError::invalid(messages::Sources::BadSourceDocument));
        }
        if !ids.insert(&item.id) {
            let id = item.id.chars().take(200).collect();
            return Err(ApiError::invalid(messages::Sources::SameSourceId { id }));
        }
    }
    Ok(())
}

pub(super) fn is_valid(item: &SourceItem) -> bool {
    let is_text = |text: &str, most: usize| {
        !text.is_empty() && text.len() <= most && !text.chars().any(char::is_control)
    };
    let is_path = item
        .name
        .split('/')
        .all(|part| !matches!(part.trim(), "" | "." | ".."));
    let are_readers = item.readers.as_ref().is_none_or(|readers| {
        let names = [&readers.people, &readers.groups, &readers.domains];
        names.iter().map(|set| set.len()).sum::<usize>() <= MAX_READERS
            && names.iter().all(|set| set.iter().all(|n| is_text(n, 320)))
            && readers.domains.iter().all(|domain| is_domain(domain))
    });
    is_text(&item.id, ID_BYTES)
        && is_text(&item.version, ID_BYTES)
        && is_text(&item.name, NAME_BYTES)
        && item.url.as_deref().is_none_or(|url| is_text(url, ID_BYTES))
        && item
            .size_bytes
            .is_none_or(|size| i64::try_from(size).is_ok())
        && is_path
        && are_readers
}

/// Without characters that are patterns in SQL.
fn is_domain(domain: &str) -> bool {
    let is_plain = |char: char| char.is_alphanumeric() || matches!(char, '.' | '-');
    domain.chars().all(is_plain)
}

/// A document of a source in its stored form.
pub(super) fn stored(item: Item) -> SourceItem {
    let mut fields = item.metadata.fields;
    let modified = item.modified_ms.map(Timestamp::from_millisecond);
    if let Some(Ok(at)) = modified {
        fields.insert("modified".to_owned(), at.to_string().into());
    }
    let web = |url: &String| url.starts_with("https://") || url.starts_with("http://");
    SourceItem {
        name: valid_name(&item.name),
        version: item.version,
        size_bytes: item.size_bytes,
        modified_at: item.modified_ms,
        url: item.url.filter(web),
        readers: match item.readers {
            Readers::All => None,
            Readers::Only {
                people,
                groups,
                domains,
            } => Some(DocumentReaders {
                people: people.into_iter().collect(),
                groups: groups.into_iter().collect(),
                domains: domains.into_iter().collect(),
            }),
        },
        metadata: cleaned(&item.metadata.tags, &fields),
        id: item.id,
    }
}

/// A stored document for its source, with its readers and metadata.
pub(super) fn unstored(item: SourceItem) -> Item {
    let readers = match item.readers {
        None => Readers::All,
        Some(readers) => Readers::Only {
            people: readers.people.into_iter().collect(),
            groups: readers.groups.into_iter().collect(),
            domains: readers.domains.into_iter().collect(),
        },
    };
    Item {
        id: item.id,
        name: item.name,
        version: item.version,
        size_bytes: item.size_bytes,
        modified_ms: item.modified_at,
        url: item.url,
        readers,
        metadata: ItemMetadata {
            tags: item.metadata.tags,
            fields: fields_view(&item.metadata.fields).into_iter().collect(),
        },
    }
}

/// The name without empty parts and control characters, and not too long; its ending stays.
fn valid_name(name: &str) -> String {
    let parts = name
        .split('/')
        .map(|part| part.replace(char::is_control, " "));
    let parts = parts.filter(|part| !matches!(part.trim(), "" | "." | ".."));
    let name = parts.collect::<Vec<_>>().join("/");
    if name.len() <= NAME_BYTES {
        return name;
    }
    let ending = name.rfind('.').map(|at| &name[at..]);
    let ending = ending.filter(|ending| ending.len() <= 20).unwrap_or("");
    let mut most = NAME_BYTES - ending.len();
    while !name.is_char_boundary(most) {
        most -= 1;
    }
    format!("{}{ending}", &name[..most])
}

#[cfg(test)]
mod tests {
    use store::DocumentMetadata;

    use super::*;

    fn item(name: &str) -> SourceItem {
        SourceItem {
            id: "1".to_owned(),
            name: name.to_owned(),
            version: "v".to_owned(),
            size_bytes: None,
            modified_at: None,
            url: None,
            readers: None,
            metadata: DocumentMetadata::default(),
        }
    }

    #[test]
    fn names_are_paths() {
        for (name, expected) in [
            ("a.md", true),
            ("Übersicht/第1章.md", true),
            ("a b/c d.md", true),
            ("", false),
            ("/a", false),
            ("a/", false),
            ("a//b", false),
            ("a/../b", false),
            ("..", false),
            ("a\nb", false),
            (&"a".repeat(1001), false),
        ] {
            assert_eq!(is_valid(&item(name)), expected, "{name}");
        }
        for (name, expected) in [
            ("a.md", "a.md"),
            ("../../etc/pass\nwd", "etc/pass wd"),
            ("/a//b.md", "a/b.md"),
        ] {
            assert_eq!(valid_name(name), expected);
        }
        let long = valid_name(&format!("{}.docx", "ж".repeat(600)));
        assert!(long.len() <= NAME_BYTES && long.ends_with("ж.docx"));
    }

    #[test]
    fn invalid_documents_are_refused() {
        let readers = |domain: &str| DocumentReaders {
            domains: [domain.to_owned()].into(),
            ..DocumentReaders::default()
        };
        let with = |change: fn(&mut SourceItem)| {
            let mut item = item("a");
            change(&mut item);
            is_valid(&item)
        };
        assert!(!with(|item| item.id.clear()));
        assert!(!with(|item| item.version = "\0".to_owned()));
        assert!(!with(|item| item.url = Some(String::new())));
        assert!(!with(|item| item.size_bytes = Some(u64::MAX)));
        let mut restricted = item("a");
        for (domain, expected) in [
            ("example.org", true),
            ("bücher.example", true),
            ("%", false),
        ] {
            restricted.readers = Some(readers(domain));
            assert_eq!(is_valid(&restricted), expected, "{domain}");
        }
        assert!(check_items(&[item("a"), item("b")]).is_err());
    }
}
