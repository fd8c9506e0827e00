//! Office documents, which are ZIP archives of XML, as Markdown. Parsed as a stream within limits. Entities other than
//! the five of XML are not expanded, so nothing can blow up and nothing is fetched.

mod archive;
mod number_format;
mod package;
mod sheets;
mod writing;
mod xml;

use self::writing::{Styles, Writing};
use crate::{
    document::{Document, Page},
    read::Format,
    unreadable::{Limits, Unreadable},
};

pub(super) use self::{
    archive::Archive,
    sheets::xlsx,
    xml::{Item, Items, Tag},
};

const DOCX: &str = "word/document.xml";
const PPTX: &str = "ppt/presentation.xml";
const XLSX: &str = "xl/workbook.xml";

/// Detects the format of an archive.
///
/// # Errors
/// If it is not one of these formats.
pub(super) fn format(bytes: &[u8]) -> Result<Format, Unreadable> {
    let archive = Archive::open(bytes, 0)?;
    for (part, format) in [
        (DOCX, Format::Docx),
        (PPTX, Format::Pptx),
        (XLSX, Format::Xlsx),
    ] {
        if archive.has(part) {
            return Ok(format);
        }
    }
    Err(Unreadable::UnknownFormat)
}

/// Reads a Word document with its footnotes.
pub(super) fn docx(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
    let styles = archive
        .text("word/styles.xml")?
        .map(|xml| Styles::read(&xml))
        .unwrap_or_default();
    let mut writing = Writing::new(&styles, limits);
    let body = archive.text(DOCX)?.ok_or_else(damaged)?;
    writing.read(&body)?;
    for notes in ["word/footnotes.xml", "word/endnotes.xml"] {
        if let Some(xml) = archive.text(notes)? {
            writing.read(&xml)?;
        }
    }
    let (text, breaks) = writing.finish();
    let mut document = Document::of_markdown(text);
    if !breaks.is_empty() {
        let starts = std::iter::once(0).chain(breaks);
        document.pages = starts
            .zip(1..)
            .map(|(start, number)| Page { number, start })
            .collect();
    }
    Ok(document)
}

/// Reads a presentation: each slide is a page.
pub(super) fn pptx(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
    let slides = ordered_parts(&mut archive, PPTX, "sldId")?;
    if slides.len() > limits.pages as usize {
        return Err(Unreadable::TooManyPages {
            limit: limits.pages,
        });
    }
    let styles = Styles::default();
    let mut text = String::new();
    let mut pages = Vec::new();
    for ((_, slide), number) in slides.iter().zip(1..) {
        pages.push(Page {
            number,
            start: text.len(),
        });
        let Some(xml) = archive.text(slide)? else {
            continue;
        };
        let mut writing = Writing::new(&styles, limits);
        writing.read(&xml)?;
        text.push_str(&writing.finish().0);
    }
    Ok(Document {
        pages,
        ..Document::of_markdown(text)
    })
}

/// The parts listed by the main part in elements of this name, in order, with their names.
fn ordered_parts(
    archive: &mut Archive<'_>,
    main: &str,
    element: &str,
) -> Result<Vec<(String, String)>, Unreadable> {
    let (folder, file) = main.split_once('/').unwrap_or(("", main));
    let relations = archive
        .text(&format!("{folder}/_rels/{file}.rels"))?
        .ok_or_else(damaged)?;
    let mut targets = std::collections::HashMap::new();
    for item in Items::new(&relations) {
        if let Item::Open(tag) = item?
            && let (Some(id), Some(target)) = (tag.attribute("Id"), tag.attribute("Target"))
        {
            let path = target
                .strip_prefix('/')
                .map_or_else(|| format!("{folder}/{target}"), str::to_owned);
            targets.insert(id, path);
        }
    }
    let main = archive.text(main)?.ok_or_else(damaged)?;
    let mut parts = Vec::new();
    for item in Items::new(&main) {
        if let Item::Open(tag) = item?
            && tag.name == element
            && let Some(path) = tag.prefixed_attribute("id").and_then(|id| targets.get(&id))
        {
            parts.push((tag.attribute("name").unwrap_or_default(), path.clone()));
        }
    }
    Ok(parts)
}

fn damaged() -> Unreadable {
    Unreadable::damaged("an Office document")
}

#[cfg(test)]
mod tests;
