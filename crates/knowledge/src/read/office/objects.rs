//! Charts and diagrams of a part as Markdown, by the IDs with which its text refers to them, and the texts drawn over a
//! sheet.

use std::collections::HashMap;

use super::{
    archive::Archive,
    chart::Chart,
    relations::Relations,
    writing::{Definitions, Writing},
};
use crate::unreadable::{Limits, Unreadable};

/// The charts and diagrams of a part.
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
    Ok(objects)
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
