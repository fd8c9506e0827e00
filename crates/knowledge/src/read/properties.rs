//! Reads what files say of themselves. What cannot be read is left out: the text of the document counts.

mod compound;
mod front_matter;
mod markup;
mod packaged;
mod pdf;

use mail_parser::{Address, MessageParser};

use super::{Format, mail, plain, web_archive};
use crate::{document::Document, properties::Properties, unreadable::Limits};

/// Reads the properties of a file that has been read as `document`.
pub(super) fn read(name: &str, bytes: &[u8], document: &Document, limits: &Limits) -> Properties {
    let Ok(format) = Format::of(name, bytes) else {
        return Properties::default();
    };
    let mut properties = match format {
        Format::Docx | Format::Pptx | Format::Xlsx => packaged::office(bytes, limits),
        Format::Doc | Format::Ppt | Format::Xls => compound::read(bytes),
        Format::OpenDocument => packaged::open_document(bytes, limits),
        Format::Epub => packaged::epub(bytes, limits),
        Format::Pdf => pdf::read(bytes),
        Format::Html => markup::page(&plain::decode_page(bytes, None)),
        Format::WebArchive => web_archive::page(bytes)
            .ok()
            .and_then(|(page, _)| markup::page(&page)),
        Format::Markdown => front_matter::read(&plain::decode(bytes).unwrap_or_default()),
        Format::Notebook => notebook(bytes),
        Format::Mail => message(bytes),
        Format::OutlookMail => outlook_message(&document.text),
        Format::Rtf | Format::Delimited | Format::Picture | Format::Recording | Format::Plain => {
            None
        }
    }
    .unwrap_or_default();
    if let Some(title) = document.title.as_deref().filter(|_| has_title(format)) {
        properties.add_missing("title", title);
    }
    properties
}

/// Whether the title of the document is one that the file declares, or the heading of a page.
const fn has_title(format: Format) -> bool {
    matches!(
        format,
        Format::Html | Format::WebArchive | Format::Epub | Format::OpenDocument | Format::Markdown
    )
}

/// The headers of an e-mail.
fn message(bytes: &[u8]) -> Option<Properties> {
    let source = mail::with_utf8_headers(mail::without_beginning(bytes));
    let message = MessageParser::default().parse_headers(&*source)?;
    let mut properties = Properties::default();
    properties.add("subject", message.subject().unwrap_or_default());
    for (key, people) in [
        ("from", message.from()),
        ("to", message.to()),
        ("cc", message.cc()),
    ] {
        for person in people.iter().flat_map(|people| Address::iter(people)) {
            properties.add(key, &mail::person(person));
        }
    }
    if let Some(date) = message.date().filter(|date| date.is_valid()) {
        properties.add("date", &date.to_rfc3339());
    }
    let keywords = message.header("Keywords").and_then(|it| it.as_text_list());
    for keyword in keywords.into_iter().flatten() {
        properties.add_keywords(keyword);
    }
    Some(properties)
}

/// The headers of a message of Outlook, which are the beginning of its text.
fn outlook_message(text: &str) -> Option<Properties> {
    let mut properties = Properties::default();
    let mut rest = text;
    if let Some(titled) = text.strip_prefix("# ") {
        let (subject, after) = titled.split_once('\n')?;
        properties.add("subject", subject);
        rest = after.trim_start_matches('\n');
    }
    for line in rest.lines() {
        let Some((name, value)) = line.split_once(": ") else {
            break;
        };
        match name {
            "Date" => properties.add("date", value),
            "From" => properties.add("from", value),
            "To" | "Cc" => {
                for person in value.split_inclusive(">, ") {
                    properties.add(&name.to_lowercase(), person.trim_end_matches(", "));
                }
            }
            _ => break,
        }
    }
    Some(properties)
}

/// The title and the authors of a notebook.
fn notebook(bytes: &[u8]) -> Option<Properties> {
    let notebook: serde_json::Value = serde_json::from_slice(bytes).ok()?;
    let metadata = &notebook["metadata"];
    let mut properties = Properties::default();
    properties.add("title", metadata["title"].as_str().unwrap_or_default());
    for author in metadata["authors"].as_array().into_iter().flatten() {
        let name = author["name"].as_str().or(author.as_str());
        properties.add("author", name.unwrap_or_default());
    }
    let kernel = metadata["language_info"]["name"].as_str();
    properties.add("programming language", kernel.unwrap_or_default());
    for tag in metadata["tags"].as_array().into_iter().flatten() {
        properties.add_keywords(tag.as_str().unwrap_or_default());
    }
    Some(properties)
}

#[cfg(test)]
mod tests;
