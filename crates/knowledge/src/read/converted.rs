//! Documents that another program has converted: the answers of Apache Tika and of Docling, with their pages.

mod docling;

use std::borrow::Cow;

use memchr::memmem;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use self::docling::{DoclingAnswer, unescaped};
use super::{check, html};
use crate::{
    document::{Document, Page},
    unreadable::{Limits, Unreadable},
};

/// The program that has converted a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Converter {
    /// Apache Tika's server: the JSON of `/rmeta/html`.
    Tika,
    /// Docling's server: the JSON of a conversion to Markdown and JSON.
    Docling,
}

/// Where Tika says that a page or a slide begins.
const TIKA_PAGES: [&str; 2] = ["<div class=\"page\">", "<div class=\"slide-content\">"];
/// Maximum number of files in a file that are read, such as attachments.
const MAX_EMBEDDED: usize = 200;

/// Reads the answer of a converter.
///
/// # Errors
/// The reason why there is no text.
pub(crate) fn read_converted(
    converter: Converter,
    answer: &[u8],
    limits: &Limits,
) -> Result<Document, Unreadable> {
    let document = match converter {
        Converter::Tika => tika(answer)?,
        Converter::Docling => docling(answer)?,
    };
    if document.pages.len() > limits.pages as usize {
        return Err(Unreadable::TooManyPages {
            limit: limits.pages,
        });
    }
    check(document, limits)
}

/// The file itself, and then the files in it.
fn tika(answer: &[u8]) -> Result<Document, Unreadable> {
    let files: Vec<Value> = serde_json::from_slice(answer).map_err(|_| Unreadable::NotConverted)?;
    let (main, embedded) = files.split_first().ok_or(Unreadable::NotConverted)?;
    let content = field(main, "X-TIKA:content").unwrap_or_default();
    let is_empty = !html::read_whole(&content)?.contains(char::is_alphanumeric);
    if is_empty && let Some(why) = tika_failure(main) {
        return Err(why);
    }
    let mut pages = Pages::default();
    for (number, part) in tika_pages(&content, main) {
        pages.add(number, &html::read_whole(part)?);
    }
    for file in embedded.iter().take(MAX_EMBEDDED) {
        let content = field(file, "X-TIKA:content").unwrap_or_default();
        let text = html::read_whole(&content)?;
        if text.contains(char::is_alphanumeric) {
            pages.append(&titled(file, text.trim()));
        }
    }
    Ok(pages.finish(field(main, "dc:title").map(Cow::into_owned)))
}

/// Why Tika could not read a file.
fn tika_failure(file: &Value) -> Option<Unreadable> {
    let failures = [
        "X-TIKA:EXCEPTION:container_exception",
        "X-TIKA:EXCEPTION:runtime",
        "X-TIKA:EXCEPTION:embedded_exception",
    ];
    let failure = failures.iter().find_map(|name| field(file, name))?;
    Some(match failure.contains("EncryptedDocumentException") {
        true => Unreadable::Encrypted,
        false => Unreadable::NotConverted,
    })
}

/// A field of Tika's metadata, the first value if there are several.
fn field<'a>(file: &'a Value, name: &str) -> Option<Cow<'a, str>> {
    let value = file.get(name)?;
    let value = value
        .as_array()
        .and_then(|list| list.first())
        .unwrap_or(value);
    value.as_str().map(Cow::Borrowed)
}

/// The pages of a file with their numbers; sheets are none.
fn tika_pages<'a>(content: &'a str, file: &Value) -> Vec<(Option<u32>, &'a str)> {
    let kind = field(file, "Content-Type").unwrap_or_default();
    let is_table = kind.contains("excel") || kind.contains("spreadsheet");
    let mut starts: Vec<usize> = TIKA_PAGES
        .iter()
        .filter(|_| !is_table)
        .flat_map(|mark| memmem::find_iter(content.as_bytes(), mark.as_bytes()))
        .collect();
    starts.sort_unstable();
    let first = starts.first().copied().unwrap_or(content.len());
    let before = Some((None, &content[..first])).filter(|(_, text)| !text.is_empty());
    let ends = starts.iter().skip(1).copied().chain([content.len()]);
    let pages = starts.iter().zip(ends).zip(1..);
    before
        .into_iter()
        .chain(pages.map(|((start, end), number)| (Some(number), &content[*start..end])))
        .collect()
}

/// The text of a file in a file, below its name unless it is a picture of the text.
fn titled(file: &Value, text: &str) -> String {
    let name = field(file, "resourceName")
        .filter(|_| field(file, "embeddedResourceType").is_none_or(|kind| kind != "INLINE"));
    match name
        .as_deref()
        .map(str::trim)
        .filter(|name| !name.is_empty())
    {
        Some(name) => format!("## {}\n\n{text}", name.replace(char::is_control, " ")),
        None => text.to_owned(),
    }
}

fn docling(answer: &[u8]) -> Result<Document, Unreadable> {
    let answer: DoclingAnswer =
        serde_json::from_slice(answer).map_err(|_| Unreadable::NotConverted)?;
    let markdown = answer
        .document
        .md_content
        .filter(|_| matches!(answer.status.as_str(), "success" | "partial_success"));
    let markdown = markdown.ok_or(Unreadable::NotConverted)?;
    let text = unescaped(&markdown).trim().to_owned();
    let items = answer.document.json_content.unwrap_or_default();
    let pages = items.pages_in(&text);
    Ok(Document {
        pages,
        ..Document::of_markdown(text)
    })
}

/// The text so far, with its pages.
#[derive(Default)]
struct Pages {
    text: String,
    pages: Vec<Page>,
}

impl Pages {
    /// Adds a page; `None` if the format has none.
    fn add(&mut self, number: Option<u32>, text: &str) {
        if let Some(number) = number {
            self.separate();
            self.pages.push(Page {
                number,
                start: self.text.len(),
            });
        }
        self.append(text.trim());
    }

    fn append(&mut self, text: &str) {
        if !text.is_empty() {
            self.separate();
            self.text.push_str(text);
        }
    }

    fn separate(&mut self) {
        if !self.text.is_empty() && !self.text.ends_with("\n\n") {
            self.text.push_str("\n\n");
        }
    }

    fn finish(self, title: Option<String>) -> Document {
        let document = Document::of_markdown(self.text);
        Document {
            title: title.filter(|it| !it.trim().is_empty()).or(document.title),
            pages: self.pages,
            ..document
        }
    }
}

#[cfg(test)]
mod tests;
