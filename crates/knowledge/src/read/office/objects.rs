//! Charts, diagrams and imported documents of a part as Markdown, by the IDs with which its text refers to them, and the
//! texts drawn over a sheet.

use std::collections::HashMap;

use super::{
    archive::Archive,
    chart::Chart,
    relations::Relations,
    writing::{Definitions, Writing},
};
use crate::{
    read::{Format, html, plain, rtf, web_archive},
    unreadable::{Limits, Unreadable},
};

/// The charts, diagrams and imported documents of a part.
///
/// # Errors
/// If one cannot be unpacked, or a limit is exceeded.
pub(super) fn read_all(
    archive: &mut Archive<'_>,
    relations: &Relations,
    limits: &Limits,
) -> Result<HashMap<String, String>, Unreadable> {
    let mut objects = HashMap::new();
    for (id, part) in relations.ids_of_kind("chart") {
        if let Some(xml) = archive.text(part)? {
            objects.insert(id.to_owned(), Chart::read(&xml).markdown(limits)?);
        }
    }
    for (id, part) in relations.ids_of_kind("diagramData") {
        if let Some(xml) = archive.text(part)? {
            objects.insert(id.to_owned(), texts(&xml, HashMap::new(), limits)?);
        }
    }
    for (id, part) in relations.ids_of_kind("aFChunk") {
        if let Some(bytes) = archive.bytes(part)? {
            objects.insert(id.to_owned(), imported(part, &bytes, limits)?);
        }
    }
    Ok(objects)
}

/// A document in another format that Word imports when it opens the file, as programs write it that convert web pages.
fn imported(name: &str, bytes: &[u8], limits: &Limits) -> Result<String, Unreadable> {
    let read = Format::of(name, bytes).and_then(|format| match format {
        Format::Html => html::read_whole(&plain::decode_page(bytes, None)),
        Format::WebArchive => web_archive::read_whole(bytes),
        Format::Rtf => rtf::read(bytes, limits).map(|document| document.text),
        Format::Plain => plain::decode(bytes),
        _ => Err(Unreadable::UnknownFormat),
    });
    match read {
        Ok(text) => Ok(format!("{}\n\n", text.trim())),
        Err(Unreadable::Damaged { .. } | Unreadable::UnknownFormat) => Ok(String::new()),
        Err(why) => Err(why),
    }
}

/// The texts drawn over a sheet, and the titles of its charts, whose values are in cells.
///
/// # Errors
/// If a part cannot be unpacked, or a limit is exceeded.
pub(super) fn drawn(
    archive: &mut Archive<'_>,
    relations: &Relations,
    limits: &Limits,
) -> Result<String, Unreadable> {
    let mut text = String::new();
    for part in relations.of_kind("drawing") {
        let Some(xml) = archive.text(part)? else {
            continue;
        };
        let relations = Relations::of(archive, part)?;
        let mut titles = HashMap::new();
        for (id, part) in relations.ids_of_kind("chart") {
            if let Some(xml) = archive.text(part)? {
                titles.insert(id.to_owned(), Chart::read(&xml).titles());
            }
        }
        text.push_str(&texts(&xml, titles, limits)?);
    }
    Ok(text)
}

/// The texts of shapes, with these objects where they are referred to. Damaged shapes are left out.
fn texts(
    xml: &str,
    objects: HashMap<String, String>,
    limits: &Limits,
) -> Result<String, Unreadable> {
    let definitions = Definitions::default();
    let mut writing = Writing::new(&definitions, limits).with_objects(objects);
    match writing.read(xml) {
        Err(Unreadable::Damaged { .. }) => Ok(String::new()),
        Err(why) => Err(why),
        Ok(()) => Ok(writing.finish().0),
    }
}
