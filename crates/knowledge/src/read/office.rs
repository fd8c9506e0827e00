//! Office documents, which are ZIP archives of XML, as Markdown. Parsed as a stream within limits. Entities other than
//! the five of XML are not expanded, so nothing can blow up and nothing is fetched.

mod archive;
mod binary;
mod bullets;
mod chart;
mod math;
mod number_format;
mod number_pattern;
mod numbering;
mod objects;
mod package;
mod relations;
mod sheet_details;
mod sheet_table;
mod sheets;
mod slides;
mod styles;
mod symbols;
mod word;
mod writing;
mod xml;

use self::relations::Relations;
use crate::{
    read::Format,
    unreadable::{Limits, Unreadable},
};

pub(super) use self::{
    archive::Archive,
    binary::{doc, format as binary_format, old_program, ppt, xls},
    sheets::xlsx,
    slides::pptx,
    word::docx,
    xml::{Item, Items, Tag},
};

/// The main parts as most programs name them.
const DOCX: &str = "word/document.xml";
const PPTX: &str = "ppt/presentation.xml";
const XLSX: &str = "xl/workbook.xml";
/// The file's relationships may have this size when the format is detected.
const RELATIONS_BYTES: u64 = 1_000_000;
/// A file has one main part; more are only tried in damaged files.
const MAX_MAIN_PARTS: usize = 4;

/// Detects the format of an archive.
///
/// # Errors
/// If it is not one of these formats.
pub(super) fn format(bytes: &[u8]) -> Result<Format, Unreadable> {
    let (format, _) = main_part(&mut Archive::open(bytes, RELATIONS_BYTES)?)?;
    Ok(format)
}

/// The format, and the main part: the one that the file's relationships name, or one under its usual name.
fn main_part(archive: &mut Archive<'_>) -> Result<(Format, String), Unreadable> {
    let relations = Relations::of(archive, "").unwrap_or_default();
    for part in relations.of_kind("officeDocument").take(MAX_MAIN_PARTS) {
        let format = match archive.root(part).as_deref() {
            Some("document") => Format::Docx,
            Some("presentation") => Format::Pptx,
            Some("workbook") => Format::Xlsx,
            _ => continue,
        };
        return Ok((format, part.to_owned()));
    }
    let usual = [
        (Format::Docx, DOCX),
        (Format::Pptx, PPTX),
        (Format::Xlsx, XLSX),
    ];
    let found = usual.into_iter().find(|(_, part)| archive.has(part));
    found
        .map(|(format, part)| (format, part.to_owned()))
        .ok_or(Unreadable::UnknownFormat)
}

/// A main part with its relationships.
struct Main {
    xml: String,
    relations: Relations,
}

impl Main {
    fn of(archive: &mut Archive<'_>) -> Result<Self, Unreadable> {
        let (_, part) = main_part(archive)?;
        Ok(Self {
            xml: archive.text(&part)?.ok_or_else(damaged)?,
            relations: Relations::of(archive, &part)?,
        })
    }

    /// The parts listed in elements of this name, in order, with the names given there.
    fn ordered_parts(&self, element: &str) -> Result<Vec<(String, String)>, Unreadable> {
        if self.relations.is_empty() {
            return Err(damaged());
        }
        let mut parts = Vec::new();
        for item in Items::new(&self.xml) {
            if let Item::Open(tag) = item?
                && tag.name == element
                && let Some(id) = tag.prefixed_attribute("id")
                && let Some(path) = self.relations.path(&id)
            {
                parts.push((tag.attribute("name").unwrap_or_default(), path.to_owned()));
            }
        }
        Ok(parts)
    }

    /// The part of a kind, or the one under its usual name.
    fn part<'a>(&'a self, kind: &'a str, usual: &'a str) -> &'a str {
        self.relations.of_kind(kind).next().unwrap_or(usual)
    }
}

/// Checks the number of slides or sheets.
fn check_pages(pages: usize, limits: &Limits) -> Result<(), Unreadable> {
    if pages > limits.pages as usize {
        return Err(Unreadable::TooManyPages {
            limit: limits.pages,
        });
    }
    Ok(())
}

fn damaged() -> Unreadable {
    Unreadable::damaged("an Office document")
}

#[cfg(test)]
mod tests;
