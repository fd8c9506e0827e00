//! What a sheet has besides its cells: merged ranges, links and comments.

use std::collections::{HashMap, HashSet};

use super::{
    archive::Archive,
    objects,
    relations::Relations,
    xml::{Item, Items, Tag},
};
use crate::unreadable::{Limits, Unreadable};

/// Maximum numbers of merged ranges and links of a sheet that are considered.
const MAX_MERGED: usize = 20_000;
const MAX_LINKS: usize = 20_000;

/// The place of a cell, counted from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Place {
    pub(super) row: u32,
    pub(super) column: u32,
}

impl Place {
    /// Parses a reference such as `AB12`.
    fn parse(reference: &str) -> Option<Self> {
        let reference = reference.replace('$', "");
        let letters = reference.find(|char: char| !char.is_ascii_alphabetic())?;
        let (letters, number) = reference.split_at_checked(letters)?;
        if !(1..=3).contains(&letters.len()) {
            return None;
        }
        let digit = |letter: u8| u32::from(letter.to_ascii_uppercase() - b'A') + 1;
        let column = letters
            .bytes()
            .fold(0, |sum, letter| sum * 26 + digit(letter));
        let row = number.parse::<u32>().ok()?.checked_sub(1)?;
        Some(Self {
            row,
            column: column - 1,
        })
    }

    /// The reference, such as `AB12`.
    pub(super) fn reference(self) -> String {
        let mut letters = Vec::new();
        let mut rest = u64::from(self.column) + 1;
        while rest > 0 {
            let digit = u8::try_from((rest - 1) % 26).unwrap_or(0);
            letters.insert(0, char::from(b'A' + digit));
            rest = (rest - 1) / 26;
        }
        let letters: String = letters.into_iter().collect();
        format!("{letters}{}", u64::from(self.row) + 1)
    }
}

/// Cells that are merged into one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Merged {
    pub(super) first: Place,
    pub(super) last: Place,
}

impl Merged {
    fn parse(range: &str) -> Option<Self> {
        let (first, last) = range.split_once(':')?;
        let (first, last) = (Place::parse(first)?, Place::parse(last)?);
        (first.row <= last.row && first.column <= last.column).then_some(Self { first, last })
    }
}

/// What a sheet has besides its cells.
#[derive(Debug, Default)]
pub(super) struct SheetDetails {
    /// By their first row.
    pub(super) merged: Vec<Merged>,
    pub(super) links: HashMap<Place, String>,
    /// Each begins with the reference of its cell.
    pub(super) comments: Vec<String>,
    /// The texts drawn over the cells.
    pub(super) drawn: String,
}

impl SheetDetails {
    /// Reads what stands behind a sheet's cells, and what its relationships lead to.
    ///
    /// # Errors
    /// If a part cannot be unpacked.
    pub(super) fn of(
        archive: &mut Archive<'_>,
        part: &str,
        sheet: &str,
        limits: &Limits,
    ) -> Result<Self, Unreadable> {
        let relations = Relations::of(archive, part)?;
        let mut details = Self::default();
        let cells_end = sheet.rfind("sheetData").unwrap_or(sheet.len());
        let rest = sheet[cells_end..]
            .split_once('>')
            .map_or("", |(_, rest)| rest);
        // It ends with the end of an element that began before the cells.
        for item in Items::new(rest).map_while(Result::ok) {
            if let Item::Open(tag) = item {
                details.note(&tag, &relations);
            }
        }
        details.merged.sort_by_key(|merged| merged.first);
        details.read_comments(archive, &relations)?;
        details.drawn = objects::drawn(archive, &relations, limits)?;
        Ok(details)
    }

    fn note(&mut self, tag: &Tag, relations: &Relations) {
        let range = tag.attribute("ref").unwrap_or_default();
        match tag.name.as_str() {
            "mergeCell" if self.merged.len() < MAX_MERGED => {
                self.merged.extend(Merged::parse(&range));
            }
            "hyperlink" if self.links.len() < MAX_LINKS => {
                let first = range.split(':').next().unwrap_or_default();
                let id = tag.prefixed_attribute("id").unwrap_or_default();
                let address = relations
                    .link(&id)
                    .filter(|address| is_web_address(address));
                if let (Some(place), Some(address)) = (Place::parse(first), address) {
                    self.links.insert(place, in_link(address));
                }
            }
            _ => {}
        }
    }

    fn read_comments(
        &mut self,
        archive: &mut Archive<'_>,
        relations: &Relations,
    ) -> Result<(), Unreadable> {
        let mut threads = Vec::new();
        for part in relations.of_kind("threadedComment") {
            if let Some(xml) = archive.text(part)? {
                threads.extend(comments(&xml, "threadedComment"));
            }
        }
        // For old programs, a thread is also a comment, with a remark about new versions.
        let known: HashSet<&str> = threads.iter().map(|(cell, _)| cell.as_str()).collect();
        let mut all = Vec::new();
        for part in relations.of_kind("comments") {
            if let Some(xml) = archive.text(part)? {
                let comments = comments(&xml, "comment").into_iter();
                all.extend(comments.filter(|(cell, _)| !known.contains(cell.as_str())));
            }
        }
        all.extend(threads);
        let lines = all
            .into_iter()
            .map(|(cell, text)| format!("{cell}: {text}"));
        self.comments = lines.collect();
        Ok(())
    }
}

/// The cells and texts of comments, up to where they are damaged.
fn comments(xml: &str, element: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut cell = String::new();
    let mut text = String::new();
    let mut is_in_text = false;
    let mut items = Items::new(xml);
    while let Some(Ok(item)) = items.next() {
        match item {
            Item::Open(tag) if tag.name == element => {
                cell = tag.attribute("ref").unwrap_or_default();
                text.clear();
            }
            // Aids for pronunciation.
            Item::Open(tag) if tag.name == "rPh" => {
                if items.skip_element().is_err() {
                    break;
                }
            }
            Item::Open(tag) if matches!(tag.name.as_str(), "t" | "text") => is_in_text = true,
            Item::Text(part) if is_in_text => text.push_str(&part),
            Item::Close(name) if matches!(name.as_str(), "t" | "text") => is_in_text = false,
            Item::Close(name) if name == element => {
                let text = text.replace("_x000D_", " ");
                let words: Vec<&str> = text.split_whitespace().collect();
                if !words.is_empty() {
                    found.push((cell.clone(), words.join(" ")));
                }
            }
            Item::Open(_) | Item::Text(_) | Item::Close(_) => {}
        }
    }
    found
}

fn is_web_address(address: &str) -> bool {
    let schemes = ["http://", "https://", "mailto:"];
    schemes.iter().any(|scheme| address.starts_with(scheme))
}

/// An address without the characters that end a link or a cell of a table.
fn in_link(address: &str) -> String {
    let address = address.replace('|', "%7C").replace(' ', "%20");
    address.replace('(', "%28").replace(')', "%29")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_references() {
        for (reference, row, column) in [
            ("A1", 0, 0),
            ("AB12", 11, 27),
            ("XFD1048576", 1_048_575, 16_383),
        ] {
            let place = Place { row, column };
            assert_eq!(Place::parse(reference), Some(place));
            assert_eq!(place.reference(), reference);
        }
        for wrong in ["", "1", "A", "A0", "ABCD1", "A1B", "é1", "A-1"] {
            assert_eq!(Place::parse(wrong), None, "{wrong}");
        }
        assert!(Merged::parse("B2:A1").is_none() && Merged::parse("A1").is_none());
    }
}
