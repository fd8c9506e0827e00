//! Properties of archives: Office documents, OpenDocument, EPUB.

use super::super::office::{Archive, Item, Items};
use crate::{properties::Properties, unreadable::Limits};

/// Maximum length of the text of an element, bytes.
const TEXT_BYTES: usize = 10_000;
/// Elements of Dublin Core and others, and the keys that they have here.
const NAMES: [(&str, &str); 17] = [
    ("title", "title"),
    ("subject", "subject"),
    ("creator", "author"),
    ("initial-creator", "author"),
    ("description", "description"),
    ("language", "language"),
    ("publisher", "publisher"),
    ("category", "category"),
    ("contentStatus", "status"),
    ("lastModifiedBy", "modified by"),
    ("created", "created"),
    ("creation-date", "created"),
    ("modified", "modified"),
    ("date", "date"),
    ("Company", "company"),
    ("Manager", "manager"),
    ("identifier", "identifier"),
];

/// The elements of an XML part that have text, in order.
fn elements(xml: &str) -> Vec<(String, String)> {
    let mut found = Vec::new();
    let mut open: Option<(String, String)> = None;
    for item in Items::new(xml).map_while(Result::ok) {
        match item {
            Item::Open(tag) => open = Some((tag.name, String::new())),
            Item::Text(text) => {
                if let Some((_, so_far)) = &mut open
                    && so_far.len() < TEXT_BYTES
                {
                    so_far.push_str(&text);
                }
            }
            Item::Close(_) => found.extend(open.take().filter(|(_, text)| !text.trim().is_empty())),
        }
    }
    found
}

fn key_of(element: &str) -> Option<&'static str> {
    let known = NAMES.iter().find(|(name, _)| *name == element);
    known.map(|(_, key)| *key)
}

/// The core properties of Word, Excel and PowerPoint files, and the company.
pub(super) fn office(bytes: &[u8], limits: &Limits) -> Option<Properties> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes).ok()?;
    let mut properties = Properties::default();
    for part in ["docProps/core.xml", "docProps/app.xml"] {
        let Ok(Some(xml)) = archive.text(part) else {
            continue;
        };
        for (element, text) in elements(&xml) {
            match element.as_str() {
                "keywords" => properties.add_keywords(&text),
                "identifier" => {}
                element => {
                    if let Some(key) = key_of(element) {
                        properties.add_missing(key, &text);
                    }
                }
            }
        }
    }
    if let Ok(Some(xml)) = archive.text("docProps/custom.xml") {
        custom(&xml, &mut properties);
    }
    Some(properties)
}

/// Properties that people have defined.
fn custom(xml: &str, properties: &mut Properties) {
    let mut name = None;
    let mut kind = String::new();
    let mut value = String::new();
    for item in Items::new(xml).map_while(Result::ok) {
        match item {
            Item::Open(tag) if tag.name == "property" => {
                name = tag.attribute("name");
                value.clear();
            }
            Item::Open(tag) => kind = tag.name,
            Item::Text(text) if name.is_some() && value.len() < TEXT_BYTES => value.push_str(&text),
            Item::Text(_) => {}
            Item::Close(closed) if closed == "property" => {
                // Programs store their own state in names with underscores.
                if let Some(name) = name.take().filter(|name| !name.starts_with('_')) {
                    add_custom(&name.to_lowercase(), &kind, value.trim(), properties);
                }
            }
            Item::Close(_) => {}
        }
    }
}

fn add_custom(name: &str, kind: &str, value: &str, properties: &mut Properties) {
    if value.is_empty() || properties.fields.contains_key(name) {
        return;
    }
    let number = || value.parse::<f64>().ok().map(serde_json::Value::from);
    let typed = match kind {
        "bool" => Some((value == "true" || value == "1").into()),
        "i1" | "i2" | "i4" | "i8" | "int" | "uint" | "r4" | "r8" | "decimal" => number(),
        _ => None,
    };
    match typed {
        Some(value) => properties.add_value(name, value),
        None => properties.add(name, value),
    }
}

/// The metadata of OpenDocument files, which may be a single XML file.
pub(super) fn open_document(bytes: &[u8], limits: &Limits) -> Option<Properties> {
    let meta = if bytes.starts_with(b"PK") {
        let mut archive = Archive::open(bytes, limits.unpacked_bytes).ok()?;
        archive.text("meta.xml").ok()??
    } else {
        let text = super::plain::decode(bytes).ok()?;
        let end = text.find("</office:meta>")?;
        text[..end].to_owned()
    };
    let mut properties = Properties::default();
    let mut last_editor = String::new();
    for (element, text) in elements(&meta) {
        match element.as_str() {
            "keyword" => properties.add_keywords(&text),
            // The person who saved it last; the author is another element.
            "creator" => last_editor = text,
            "date" => properties.add_missing("modified", &text),
            element => {
                if let Some(key) = key_of(element) {
                    properties.add_missing(key, &text);
                }
            }
        }
    }
    properties.add_missing("author", &last_editor);
    properties.add("modified by", &last_editor);
    Some(properties)
}

/// The metadata in the package of a book.
pub(super) fn epub(bytes: &[u8], limits: &Limits) -> Option<Properties> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes).ok()?;
    let container = archive.text("META-INF/container.xml").ok()??;
    let path = Items::new(&container).find_map(|item| match item {
        Ok(Item::Open(tag)) if tag.name == "rootfile" => tag.attribute("full-path"),
        _ => None,
    })?;
    let package = archive.text(&path).ok()??;
    let end = package.find("<manifest").unwrap_or(package.len());
    let mut properties = Properties::default();
    for (element, text) in elements(&package[..end]) {
        match element.as_str() {
            "subject" => properties.add_keywords(&text),
            "creator" => properties.add("author", &text),
            "date" => properties.add_missing("published", &text),
            "title" | "language" | "publisher" | "identifier" => {
                properties.add_missing(key_of(&element).unwrap_or_default(), &text);
            }
            _ => {}
        }
    }
    Some(properties)
}
