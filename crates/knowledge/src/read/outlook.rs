//! E-mails saved by Outlook (MSG): the properties of a message, its recipients and its attachments, each a stream in a
//! compound file.

mod compressed_rtf;
mod properties;

use std::{borrow::Cow, fmt::Write};

use mail_parser::DateTime;

use self::properties::{Properties, Storage};
use super::{
    Format, MAX_INSIDE, Scope,
    charset::of_code_page,
    compound::Compound,
    html,
    mail::{Attached, Mail},
    office, plain, rtf,
};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Identifiers of properties, by the names in Microsoft's documentation without their prefix.
mod id {
    pub(super) const SUBJECT: u16 = 0x0037;
    pub(super) const CLIENT_SUBMIT_TIME: u16 = 0x0039;
    pub(super) const RECIPIENT_TYPE: u16 = 0x0c15;
    pub(super) const SENDER_NAME: u16 = 0x0c1a;
    pub(super) const SENDER_EMAIL_ADDRESS: u16 = 0x0c1f;
    pub(super) const DISPLAY_CC: u16 = 0x0e03;
    pub(super) const DISPLAY_TO: u16 = 0x0e04;
    pub(super) const MESSAGE_DELIVERY_TIME: u16 = 0x0e06;
    pub(super) const BODY: u16 = 0x1000;
    pub(super) const RTF_COMPRESSED: u16 = 0x1009;
    pub(super) const HTML: u16 = 0x1013;
    pub(super) const DISPLAY_NAME: u16 = 0x3001;
    pub(super) const EMAIL_ADDRESS: u16 = 0x3003;
    pub(super) const ATTACH_DATA: u16 = 0x3701;
    pub(super) const ATTACH_FILENAME: u16 = 0x3704;
    pub(super) const ATTACH_LONG_FILENAME: u16 = 0x3707;
    pub(super) const SMTP_ADDRESS: u16 = 0x39fe;
    pub(super) const SENDER_SMTP_ADDRESS: u16 = 0x5d01;
}

/// Stream of properties that every message has.
const PROPERTIES: &str = "__properties_version1.0";
/// Seconds from 1601, with which the times of Windows begin, to 1970.
const SECONDS_TO_1970: i64 = 11_644_473_600;

/// Detects the format of a compound file, whose name has this ending. `is_office` tells that it is one of an Office
/// document.
///
/// # Errors
/// If it is encrypted, damaged, or of an unsupported format.
pub(super) fn format(bytes: &[u8], ending: &str, is_office: bool) -> Result<Format, Unreadable> {
    match Compound::open(bytes) {
        Some(file) if file.has(&format!("/{PROPERTIES}")) => return Ok(Format::OutlookMail),
        Some(file) if file.has("/EncryptedPackage") => return Err(Unreadable::Encrypted),
        Some(file) => {
            if let Some(format) = office::binary_format(&file) {
                return Ok(format);
            }
        }
        None => {}
    }
    match ending {
        "msg" => Err(Unreadable::damaged("an e-mail")),
        "doc" | "dot" | "xls" | "xlt" | "ppt" | "pps" | "pot" => {
            Err(Unreadable::damaged("an Office document"))
        }
        // Office documents of today are compound files only if they are encrypted.
        _ if is_office => Err(Unreadable::Encrypted),
        _ => Err(Unreadable::UnknownFormat),
    }
}

/// Reads a message.
///
/// # Errors
/// If it is damaged, or has too much text.
pub(super) fn read(bytes: &[u8], scope: &mut Scope<'_, '_>) -> Result<Document, Unreadable> {
    read_message(&mut Storage::open(bytes)?, scope)
}

fn read_message(
    storage: &mut Storage<'_>,
    scope: &mut Scope<'_, '_>,
) -> Result<Document, Unreadable> {
    let properties = Properties::of_message(storage);
    let mut text = headers(storage, &properties);
    _ = write!(
        text,
        "\n{}\n",
        body(storage, &properties, scope.limits)?.trim()
    );
    let mut mail = Mail::new(text);
    let folders = storage.folders("__attach_version1.0_");
    let mut attached = Vec::new();
    for folder in folders {
        storage.within(&folder, |storage| {
            attached.push(attachment(storage, properties.code_page, scope));
        });
    }
    mail.attach(attached, scope)?;
    Ok(mail.finish())
}

fn headers(storage: &mut Storage<'_>, properties: &Properties) -> String {
    let mut text = String::new();
    let one_line = |text: String| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let mut string = |id| one_line(storage.string(id, properties.code_page));
    let subject = string(id::SUBJECT);
    let sender = named(
        string(id::SENDER_NAME),
        [
            string(id::SENDER_SMTP_ADDRESS),
            string(id::SENDER_EMAIL_ADDRESS),
        ],
    );
    let shown = [string(id::DISPLAY_TO), string(id::DISPLAY_CC)];
    let listed = recipients(storage, properties.code_page);
    if !subject.is_empty() {
        _ = writeln!(text, "# {subject}\n");
    }
    let [to, cc] = shown;
    let [listed_to, listed_cc] = listed;
    let prefer = |listed: Vec<String>, shown: String| {
        if listed.is_empty() {
            shown
        } else {
            listed.join(", ")
        }
    };
    for (name, people) in [
        ("From", sender),
        ("To", prefer(listed_to, to)),
        ("Cc", prefer(listed_cc, cc)),
    ] {
        if !people.is_empty() {
            _ = writeln!(text, "{name}: {people}");
        }
    }
    let sent = properties
        .time(id::CLIENT_SUBMIT_TIME)
        .or_else(|| properties.time(id::MESSAGE_DELIVERY_TIME));
    if let Some(seconds) = sent {
        _ = writeln!(
            text,
            "Date: {}",
            DateTime::from_timestamp(seconds).to_rfc3339()
        );
    }
    text
}

/// The recipients and those in copy.
fn recipients(storage: &mut Storage<'_>, code_page: u16) -> [Vec<String>; 2] {
    let mut people = [Vec::new(), Vec::new()];
    for folder in storage.folders("__recip_version1.0_") {
        storage.within(&folder, |storage| {
            let kind = Properties::of_part(storage).number(id::RECIPIENT_TYPE);
            let name = storage.string(id::DISPLAY_NAME, code_page);
            let addresses = [id::SMTP_ADDRESS, id::EMAIL_ADDRESS];
            let person = named(name, addresses.map(|id| storage.string(id, code_page)));
            match kind {
                Some(2) => people[1].push(person),
                // Hidden recipients are not shown.
                Some(3) => {}
                _ => people[0].push(person),
            }
        });
    }
    people
}

/// A name with the first address that is one: inside of an organization, they are paths in its directory.
fn named(name: String, addresses: [String; 2]) -> String {
    match addresses.into_iter().find(|it| it.contains('@')) {
        Some(address) if name.is_empty() || name == address => address,
        Some(address) => format!("{name} <{address}>"),
        None => name,
    }
}

fn body(
    storage: &mut Storage<'_>,
    properties: &Properties,
    limits: &Limits,
) -> Result<String, Unreadable> {
    let plain = storage.string(id::BODY, properties.code_page);
    if plain.contains(char::is_alphanumeric) {
        return Ok(plain::tidy(&plain));
    }
    let page = storage
        .binary(id::HTML)
        .map(|page| plain::decode_page(&page, of_code_page(properties.internet_code_page)));
    let page = page.unwrap_or_else(|| storage.string(id::HTML, properties.code_page));
    if !page.trim().is_empty() {
        return html::read_whole(&page);
    }
    let Some(compressed) = storage.binary(id::RTF_COMPRESSED) else {
        return Ok(plain);
    };
    let rtf = compressed_rtf::unpacked(&compressed, limits)?;
    Ok(rtf::read(&rtf, limits)?.text)
}

fn attachment(
    storage: &mut Storage<'_>,
    code_page: u16,
    scope: &mut Scope<'_, '_>,
) -> (String, Attached<'static>) {
    let names = [
        id::ATTACH_LONG_FILENAME,
        id::ATTACH_FILENAME,
        id::DISPLAY_NAME,
    ];
    let name = names
        .into_iter()
        .map(|id| storage.string(id, code_page))
        .map(|name| name.split_whitespace().collect::<Vec<_>>().join(" "))
        .find(|name| !name.is_empty())
        .unwrap_or_else(|| "attachment".to_owned());
    if let Some(data) = storage.binary(id::ATTACH_DATA) {
        return (name, Attached::File(Cow::Owned(data)));
    }
    let folder = properties::name_of(id::ATTACH_DATA, properties::OBJECT);
    let message = if scope.inside < MAX_INSIDE && storage.has(&folder) {
        storage.within(&folder, |storage| {
            read_message(storage, &mut scope.deeper())
        })
    } else {
        Err(Unreadable::UnknownFormat)
    };
    (name, Attached::Message(message))
}

#[cfg(test)]
mod tests;
