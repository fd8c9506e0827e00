//! The JSON of a document by Docling: its Markdown, and the page that each of its items is on.

use std::collections::HashSet;

use serde::Deserialize;

use crate::document::Page;

/// What Docling puts in the place of a picture.
const PICTURE: &str = "<!-- image -->";
/// How much of an item is looked for in the Markdown, and how far from the item before it, in bytes.
const NEEDLE_BYTES: usize = 200;
const WINDOW_BYTES: usize = 20_000;

#[derive(Deserialize)]
pub(super) struct DoclingAnswer {
    pub(super) document: DoclingDocument,
    pub(super) status: String,
}

#[derive(Deserialize)]
pub(super) struct DoclingDocument {
    #[serde(default)]
    pub(super) md_content: Option<String>,
    #[serde(default)]
    pub(super) json_content: Option<Items>,
}

/// The items of a document: a tree, by references such as `#/texts/0`.
#[derive(Default, Deserialize)]
#[serde(default)]
pub(super) struct Items {
    body: Item,
    groups: Vec<Item>,
    texts: Vec<Item>,
    tables: Vec<Item>,
    pictures: Vec<Item>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Item {
    children: Vec<Reference>,
    content_layer: Option<String>,
    text: String,
    data: Option<Table>,
    prov: Vec<Place>,
}

#[derive(Deserialize)]
struct Reference {
    #[serde(rename = "$ref")]
    to: String,
}

#[derive(Deserialize)]
struct Place {
    page_no: u32,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Table {
    table_cells: Vec<Cell>,
}

#[derive(Default, Deserialize)]
#[serde(default)]
struct Cell {
    text: String,
}

impl Items {
    /// The beginnings of the pages in a text that contains the items in order. The marks that Docling can put between
    /// pages come after the lists and slides in which a page ends, and skip blank pages.
    pub(super) fn pages_in(&self, text: &str) -> Vec<Page> {
        let mut pages: Vec<Page> = Vec::new();
        let mut from = 0;
        for item in self.in_order() {
            let Some(page) = item.prov.first().map(|place| place.page_no) else {
                continue;
            };
            let Some(found) = found(text, from, item.words()) else {
                continue;
            };
            let is_next = pages.last().is_none_or(|last| last.number < page);
            if is_next {
                // With the mark of a heading, list or table before it.
                let line = text[..found].rfind('\n').map_or(0, |at| at + 1);
                let start = line.max(pages.last().map_or(0, |last| last.start));
                pages.push(Page {
                    number: page,
                    start,
                });
            }
            from = found + 1;
        }
        if let Some(first) = pages.first_mut() {
            first.start = 0;
        }
        pages
    }

    /// The items of the body in reading order.
    fn in_order(&self) -> Vec<&Item> {
        let mut items = Vec::new();
        let mut seen = HashSet::new();
        let mut open: Vec<&Reference> = self.body.children.iter().rev().collect();
        while let Some(Reference { to }) = open.pop() {
            let Some(item) = self.item(to).filter(|_| seen.insert(to.as_str())) else {
                continue;
            };
            if item
                .content_layer
                .as_deref()
                .is_some_and(|layer| layer != "body")
            {
                continue;
            }
            items.push(item);
            open.extend(item.children.iter().rev());
        }
        items
    }

    fn item(&self, reference: &str) -> Option<&Item> {
        let (list, at) = reference.strip_prefix("#/")?.split_once('/')?;
        let list = match list {
            "groups" => &self.groups,
            "texts" => &self.texts,
            "tables" => &self.tables,
            "pictures" => &self.pictures,
            _ => return None,
        };
        list.get(at.parse::<usize>().ok()?)
    }
}

impl Item {
    /// Its first words.
    fn words(&self) -> &str {
        let cells = self.data.iter().flat_map(|table| &table.table_cells);
        let mut texts = [self.text.as_str()]
            .into_iter()
            .chain(cells.map(|cell| cell.text.as_str()))
            .map(str::trim);
        texts.find(|text| !text.is_empty()).unwrap_or_default()
    }
}

/// Where these words are, not far from there.
fn found(text: &str, from: usize, words: &str) -> Option<usize> {
    let words = cut(words.lines().next().unwrap_or_default(), 0, NEEDLE_BYTES);
    let from = text.ceil_char_boundary(from.min(text.len()));
    let window = cut(text, from, WINDOW_BYTES);
    let at = window.find(words).filter(|_| !words.is_empty())?;
    Some(from + at)
}

/// At most so many bytes from there, between characters.
fn cut(text: &str, from: usize, bytes: usize) -> &str {
    let start = text.ceil_char_boundary(from.min(text.len()));
    let end = text.floor_char_boundary(start.saturating_add(bytes).min(text.len()));
    &text[start..end]
}

/// Markdown without the marks for pictures, and with the characters that Docling escapes as they are.
pub(super) fn unescaped(markdown: &str) -> String {
    let lines = markdown.lines().filter(|line| line.trim() != PICTURE);
    let lines: Vec<&str> = lines.collect();
    super::super::plain::tidy(&lines.join("\n"))
        .replace("\\_", "_")
        .replace("&lt;", "<")
        .replace("&gt;", ">")
        .replace("&amp;", "&")
}
