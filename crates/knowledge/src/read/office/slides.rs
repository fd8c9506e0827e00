//! Presentations: each slide is a page, with its charts, diagrams, the speaker's notes and comments.

use std::{collections::HashMap, mem};

use super::{
    Archive, Item, Items, Main, check_pages, objects,
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
    let main = Main::of(&mut archive)?;
    let slides = main.ordered_parts("sldId")?;
    check_pages(slides.len(), limits)?;
    let authors = authors(&mut archive, &main.relations)?;
    let mut text = String::new();
    let mut pages = Vec::new();
    for ((_, slide), number) in slides.iter().zip(1..) {
        pages.push(Page {
            number,
            start: text.len(),
        });
        text.push_str(&slide_text(&mut archive, slide, &authors, limits)?);
    }
    Ok(Document {
        pages,
        ..Document::of_markdown(text)
    })
}

fn slide_text(
    archive: &mut Archive<'_>,
    slide: &str,
    authors: &HashMap<String, String>,
    limits: &Limits,
) -> Result<String, Unreadable> {
    let Some(xml) = archive.text(slide)? else {
        return Ok(String::new());
    };
    let definitions = Definitions::default();
    let relations = Relations::of(archive, slide)?;
    let objects = objects::read_all(archive, &relations, limits)?;
    let mut writing = Writing::new(&definitions, limits).with_objects(objects);
    writing.read(&xml)?;
    let (mut text, _) = writing.finish();
    for notes in relations.of_kind("notesSlide") {
        if let Some(xml) = archive.text(notes)? {
            let mut writing = Writing::new(&definitions, limits).only(Content::Notes);
            writing.read(&xml)?;
            text.push_str(&writing.finish().0);
        }
    }
    for comments in relations.of_kind("comments") {
        if let Some(xml) = archive.text(comments)? {
            write_comments(&xml, authors, &mut text);
        }
    }
    Ok(text)
}

/// The names of those who commented, by ID. There is a part for old and one for new programs.
fn authors(
    archive: &mut Archive<'_>,
    relations: &Relations,
) -> Result<HashMap<String, String>, Unreadable> {
    let mut authors = HashMap::new();
    for part in ["commentAuthors", "authors"]
        .iter()
        .flat_map(|kind| relations.of_kind(kind))
    {
        let xml = archive.text(part)?.unwrap_or_default();
        for item in Items::new(&xml).map_while(Result::ok) {
            if let Item::Open(tag) = item
                && let (Some(id), Some(name)) = (tag.attribute("id"), tag.attribute("name"))
            {
                authors.insert(id, name);
            }
        }
    }
    Ok(authors)
}

/// Writes the comments on a slide and the replies to them, up to where they are damaged.
fn write_comments(xml: &str, authors: &HashMap<String, String>, text: &mut String) {
    // The author of the comment, and that of the open reply.
    let mut open: Vec<&str> = Vec::new();
    let mut replies = String::new();
    let mut words = String::new();
    let mut is_in_text = false;
    for item in Items::new(xml).map_while(Result::ok) {
        match item {
            Item::Open(tag) => match tag.name.as_str() {
                "cm" | "reply" => {
                    let id = tag.attribute("authorId").unwrap_or_default();
                    open.push(authors.get(&id).map_or("", |name| name.trim()));
                }
                "text" | "t" => is_in_text = true,
                "br" => words.push(' '),
                _ => {}
            },
            Item::Text(part) if is_in_text => words.push_str(&part),
            Item::Text(_) => {}
            Item::Close(name) => match name.as_str() {
                "text" | "t" => is_in_text = false,
                "p" => words.push(' '),
                // Replies are listed before the text of their comment.
                "reply" => replies.push_str(&remark(open.pop(), &mem::take(&mut words))),
                "cm" => {
                    text.push_str(&remark(open.pop(), &mem::take(&mut words)));
                    text.push_str(&mem::take(&mut replies));
                }
                _ => {}
            },
        }
    }
}

/// A block with what someone wrote, empty if it has no words.
fn remark(author: Option<&str>, text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().collect();
    let author = author.filter(|author| !author.is_empty());
    match words.join(" ") {
        words if words.is_empty() => words,
        words => author.map_or_else(
            || format!("{words}\n\n"),
            |author| format!("{author}: {words}\n\n"),
        ),
    }
}
