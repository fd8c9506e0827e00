//! Word documents: the text with its headers, footers, notes and comments.

use std::collections::HashSet;

use super::{
    Archive, Main,
    numbering::Numbering,
    objects,
    styles::Styles,
    writing::{Content, Definitions, Writing},
};
use crate::{
    document::{Document, Page},
    unreadable::{Limits, Unreadable},
};

/// Reads a Word document.
pub(in crate::read) fn docx(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
    let main = Main::of(&mut archive)?;
    let styles = archive.text(main.part("styles", "word/styles.xml"))?;
    let numbering = archive.text(main.part("numbering", "word/numbering.xml"))?;
    let definitions = Definitions {
        styles: styles.map(|xml| Styles::read(&xml)).unwrap_or_default(),
        numbering: numbering
            .map(|xml| Numbering::read(&xml))
            .unwrap_or_default(),
    };
    let mut text = margins(&mut archive, &main, "header", &definitions, limits)?;
    let footers = margins(&mut archive, &main, "footer", &definitions, limits)?;
    let objects = objects::read_all(&mut archive, &main.relations, limits)?;
    let mut writing = Writing::new(&definitions, limits).with_objects(objects);
    writing.read(&main.xml)?;
    writing.add(&footers);
    for (kind, usual) in [
        ("footnotes", "word/footnotes.xml"),
        ("endnotes", "word/endnotes.xml"),
        ("comments", "word/comments.xml"),
    ] {
        if let Some(xml) = archive.text(main.part(kind, usual))? {
            writing.read(&xml)?;
        }
    }
    let (body, breaks) = writing.finish();
    let pages = pages(&breaks, text.len());
    text.push_str(&body);
    Ok(Document {
        pages,
        ..Document::of_markdown(text)
    })
}

/// The texts of all headers or footers, each once.
fn margins(
    archive: &mut Archive<'_>,
    main: &Main,
    kind: &str,
    definitions: &Definitions,
    limits: &Limits,
) -> Result<String, Unreadable> {
    let mut text = String::new();
    let mut known = HashSet::new();
    for part in main.relations.of_kind(kind) {
        let Some(xml) = archive.text(part)? else {
            continue;
        };
        let mut writing = Writing::new(definitions, limits).only(Content::Margin);
        writing.read(&xml)?;
        for block in writing.finish().0.split("\n\n").map(str::trim) {
            if !block.is_empty() && known.insert(block.to_owned()) {
                text.push_str(block);
                text.push_str("\n\n");
            }
        }
    }
    Ok(text)
}

/// The pages of a text that begins at `start`; what stands before it is on the first.
fn pages(breaks: &[usize], start: usize) -> Vec<Page> {
    if breaks.is_empty() {
        return Vec::new();
    }
    let later = breaks.iter().map(|place| start + place);
    std::iter::once(0)
        .chain(later)
        .zip(1..)
        .map(|(start, number)| Page { number, start })
        .collect()
}
