//! Presentations: each slide is a page, with its charts, diagrams and the speaker's notes.

use super::{
    Archive, Main, chart, check_pages,
    relations::Relations,
    writing::{Content, Definitions, Writing},
};
use crate::{
    document::{Document, Page},
    unreadable::{Limits, Unreadable},
};

/// Reads a presentation.
pub(in crate::read) fn pptx(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
    let slides = Main::of(&mut archive)?.ordered_parts("sldId")?;
    check_pages(slides.len(), limits)?;
    let mut text = String::new();
    let mut pages = Vec::new();
    for ((_, slide), number) in slides.iter().zip(1..) {
        pages.push(Page {
            number,
            start: text.len(),
        });
        text.push_str(&slide_text(&mut archive, slide, limits)?);
    }
    Ok(Document {
        pages,
        ..Document::of_markdown(text)
    })
}

fn slide_text(
    archive: &mut Archive<'_>,
    slide: &str,
    limits: &Limits,
) -> Result<String, Unreadable> {
    let Some(xml) = archive.text(slide)? else {
        return Ok(String::new());
    };
    let definitions = Definitions::default();
    let relations = Relations::of(archive, slide)?;
    let charts = chart::read_all(archive, &relations, limits)?;
    let mut writing = Writing::new(&definitions, limits).with_charts(charts);
    writing.read(&xml)?;
    for diagram in relations.of_kind("diagramData") {
        if let Some(xml) = archive.text(diagram)? {
            writing.read(&xml)?;
        }
    }
    let (mut text, _) = writing.finish();
    for notes in relations.of_kind("notesSlide") {
        if let Some(xml) = archive.text(notes)? {
            let mut writing = Writing::new(&definitions, limits).only(Content::Notes);
            writing.read(&xml)?;
            text.push_str(&writing.finish().0);
        }
    }
    Ok(text)
}
