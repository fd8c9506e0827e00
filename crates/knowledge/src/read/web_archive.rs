//! Web pages saved with their parts (MHTML): the page itself is read.

use mail_parser::PartType;

use super::{html, mail};
use crate::{document::Document, unreadable::Unreadable};

/// Reads a web archive, which is an e-mail without recipients.
///
/// # Errors
/// If it is damaged, or has no page.
pub(super) fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
    let (page, subject) = page(bytes)?;
    let document = html::read(&page)?;
    Ok(Document {
        title: document.title.or(subject),
        ..document
    })
}

/// Reads all of the page, which is a part of another document.
///
/// # Errors
/// If it is damaged, or has no page.
pub(super) fn read_whole(bytes: &[u8]) -> Result<String, Unreadable> {
    html::read_whole(&page(bytes)?.0)
}

/// The page and its subject.
///
/// # Errors
/// If it is damaged, or has no page.
pub(super) fn page(bytes: &[u8]) -> Result<(String, Option<String>), Unreadable> {
    let damaged = || Unreadable::damaged("a web page");
    let source = mail::with_utf8_headers(mail::without_beginning(bytes));
    let message = mail::parsed(&source).map_err(|_| damaged())?;
    let page = message
        .parts
        .iter()
        .find(|part| matches!(part.body, PartType::Html(_)))
        .ok_or_else(damaged)?;
    let subject = message.subject().map(str::to_owned);
    Ok((mail::body::decoded(&message, page).into_owned(), subject))
}
