//! Relationships between the parts of an Office document, and its main part (Open Packaging Conventions).

use std::collections::HashMap;

use super::{
    archive::Archive,
    xml::{Item, Items, Tag},
};
use crate::unreadable::Unreadable;

/// The relationships of a part, in the order of the file.
#[derive(Debug, Default)]
pub(super) struct Relations {
    inside: Vec<Relation>,
    by_id: HashMap<String, usize>,
    /// Addresses outside the file, by ID.
    links: HashMap<String, String>,
}

#[derive(Debug)]
struct Relation {
    id: String,
    /// The end of the type, such as `styles`; what precedes it differs between versions of the standard.
    kind: String,
    path: String,
}

impl Relations {
    /// Reads the relationships of a part, or of the whole file if `part` is empty. They end where they are damaged.
    ///
    /// # Errors
    /// If they cannot be unpacked.
    pub(super) fn of(archive: &mut Archive<'_>, part: &str) -> Result<Self, Unreadable> {
        let (folder, file) = part.rsplit_once('/').unwrap_or(("", part));
        let Some(xml) = archive.text(&joined(folder, &format!("_rels/{file}.rels")))? else {
            return Ok(Self::default());
        };
        let mut relations = Self::default();
        for item in Items::new(&xml) {
            match item {
                Ok(Item::Open(tag)) if tag.name == "Relationship" => relations.add(folder, &tag),
                Ok(_) => {}
                Err(_) => break,
            }
        }
        Ok(relations)
    }

    fn add(&mut self, folder: &str, tag: &Tag) {
        let (Some(id), Some(target)) = (tag.attribute("Id"), tag.attribute("Target")) else {
            return;
        };
        if tag.attribute("TargetMode").as_deref() == Some("External") {
            self.links.insert(id, target);
            return;
        }
        let kind = tag.attribute("Type").unwrap_or_default();
        self.by_id.insert(id.clone(), self.inside.len());
        self.inside.push(Relation {
            id,
            kind: kind.rsplit('/').next().unwrap_or_default().to_owned(),
            path: joined(folder, &target),
        });
    }

    pub(super) fn is_empty(&self) -> bool {
        self.inside.is_empty()
    }

    /// The part with this ID.
    pub(super) fn path(&self, id: &str) -> Option<&str> {
        let found = self.inside.get(*self.by_id.get(id)?)?;
        Some(&found.path)
    }

    /// The address outside the file with this ID.
    pub(super) fn link(&self, id: &str) -> Option<&str> {
        self.links.get(id).map(String::as_str)
    }

    /// The parts of a kind.
    pub(super) fn of_kind<'a>(&'a self, kind: &'a str) -> impl Iterator<Item = &'a str> {
        self.ids_of_kind(kind).map(|(_, path)| path)
    }

    /// The IDs and parts of a kind.
    pub(super) fn ids_of_kind<'a>(
        &'a self,
        kind: &'a str,
    ) -> impl Iterator<Item = (&'a str, &'a str)> {
        let of_kind = self.inside.iter().filter(move |it| it.kind == kind);
        of_kind.map(|it| (it.id.as_str(), it.path.as_str()))
    }
}

/// Resolves a target against a folder; one that begins with a slash is absolute.
fn joined(folder: &str, target: &str) -> String {
    let base = if target.starts_with('/') { "" } else { folder };
    let mut path = Vec::new();
    for step in base.split('/').chain(target.split('/')) {
        match step {
            "" | "." => {}
            ".." => _ = path.pop(),
            step => path.push(step),
        }
    }
    path.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_are_resolved_against_the_folder_of_the_part() {
        for (folder, target, expected) in [
            ("word", "styles.xml", "word/styles.xml"),
            ("xl/worksheets", "../comments1.xml", "xl/comments1.xml"),
            ("xl", "/xl/worksheets/a.xml", "xl/worksheets/a.xml"),
            ("", "word/document2.xml", "word/document2.xml"),
            ("ppt", "./slides//a.xml", "ppt/slides/a.xml"),
            ("a", "../../../etc/passwd", "etc/passwd"),
        ] {
            assert_eq!(joined(folder, target), expected);
        }
    }
}
