//! Names of documents whose sources allow more than a file system does, and the order of a listing.

use std::collections::{HashMap, HashSet};

use crate::{Item, Listing, SourceProblem};

/// Maximum length of a part of a name, characters.
const MAX_PART_CHARS: usize = 150;
/// Maximum length of a name, bytes.
const MAX_NAME_BYTES: usize = 1_000;
/// Maximum length of an extension that is kept when a name is shortened, characters.
const MAX_EXTENSION_CHARS: usize = 12;

/// A name with the folders that it is in, without characters that have a meaning in paths, and not too long.
pub(crate) fn path<'a>(folders: impl DoubleEndedIterator<Item = &'a str>, name: &str) -> String {
    let mut path = part(name);
    for folder in folders.rev() {
        let folder = part(folder);
        if folder.len() + 1 + path.len() > MAX_NAME_BYTES {
            break;
        }
        path = format!("{folder}/{path}");
    }
    path
}

/// One part of a path.
fn part(name: &str) -> String {
    let name = name.trim();
    let safe = |c: char| match c {
        '/' | '\\' => '_',
        c if c.is_control() => ' ',
        c => c,
    };
    let short: String = if name.chars().count() <= MAX_PART_CHARS {
        name.chars().map(safe).collect()
    } else {
        let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
        let extension = match extension.chars().count() {
            1..=MAX_EXTENSION_CHARS => format!(".{extension}"),
            _ => String::new(),
        };
        let stem = name
            .chars()
            .take(MAX_PART_CHARS - extension.chars().count());
        stem.chain(extension.chars()).map(safe).collect()
    };
    if short.is_empty() || short.chars().all(|c| c == '.') {
        "_".to_owned()
    } else {
        short
    }
}

/// Adds a document, unless there are too many.
pub(crate) fn add(listing: &mut Listing, item: Item, max: usize) -> Result<(), SourceProblem> {
    if listing.items.len() >= max {
        return Err(SourceProblem::TooMany);
    }
    listing.items.push(item);
    Ok(())
}

/// Sorts the documents by ID, keeps the last one of each ID, and numbers those of the same name.
pub(crate) fn finish(mut listing: Listing) -> Listing {
    let last: HashMap<String, usize> = listing
        .items
        .iter()
        .enumerate()
        .map(|(at, item)| (item.id.clone(), at))
        .collect();
    let mut at = 0;
    listing.items.retain(|item| {
        at += 1;
        last.get(&item.id) == Some(&(at - 1))
    });
    listing.items.sort_by(|a, b| a.id.cmp(&b.id));
    let mut names: HashSet<String> = HashSet::new();
    // Where to go on counting, so that many documents of one name do not take long.
    let mut counts: HashMap<String, usize> = HashMap::new();
    for item in &mut listing.items {
        if names.contains(&item.name) {
            let count = counts.entry(item.name.clone()).or_insert(1);
            let mut numbered;
            loop {
                *count += 1;
                numbered = number(&item.name, *count);
                if !names.contains(&numbered) {
                    break;
                }
            }
            item.name = numbered;
        }
        names.insert(item.name.clone());
    }
    listing
}

/// `a/b.md` becomes `a/b (2).md`.
fn number(name: &str, count: usize) -> String {
    let (stem, extension) = match name.rsplit_once('.') {
        Some((stem, extension))
            if !stem.is_empty() && !extension.contains('/') && !stem.ends_with('/') =>
        {
            (stem, format!(".{extension}"))
        }
        _ => (name, String::new()),
    };
    format!("{stem} ({count}){extension}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Readers;

    #[test]
    fn names_are_safe_and_short() {
        let long = format!("{}.docx", "ä".repeat(1_000));
        let short = format!("{}.docx", "ä".repeat(145));
        for (folders, name, expected) in [
            (vec!["a", "b"], "c.md", "a/b/c.md"),
            (vec![".."], "..", "_/_"),
            (vec!["a/b"], "c\\d\n.md", "a_b/c_d .md"),
            (vec![""], " ", "_/_"),
            (vec![], &*long, &*short),
            (vec!["x"; 1_000], "y", &*format!("{}y", "x/".repeat(499))),
        ] {
            assert_eq!(path(folders.into_iter(), name), expected);
        }
    }

    #[test]
    fn documents_of_the_same_name_are_numbered() {
        let item = |id: &str, name: &str| Item {
            id: id.to_owned(),
            name: name.to_owned(),
            version: String::new(),
            size_bytes: None,
            modified_ms: None,
            url: None,
            readers: Readers::All,
        };
        let items = vec![
            item("5", "a/.b"),
            item("4", "a/.b"),
            item("3", "a.b/c"),
            item("2", "x.md"),
            item("1", "x.md"),
            item("0", "x (2).md"),
            item("3", "a.b/c2"),
            item("6", "x.md"),
        ];
        let problems = Vec::new();
        let listing = finish(Listing {
            items,
            problems,
            is_window: false,
        });
        let names: Vec<_> = listing.items.iter().map(|item| &*item.name).collect();
        let expected = [
            "x (2).md", "x.md", "x (3).md", "a.b/c2", "a/.b", "a/.b (2)", "x (4).md",
        ];
        assert_eq!(names, expected);
    }
}
