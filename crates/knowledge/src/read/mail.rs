//! E-mails as Markdown: subject, people, date, text, and the readable attachments.

pub(super) mod body;

use std::{borrow::Cow, fmt::Write};

use mail_parser::{Address, Message, MessageParser, MessagePart, MimeHeaders, PartType};
use memchr::memmem;

use super::{Scope, charset, read_inside};
use crate::{
    document::{Document, Page, UnreadPage},
    picture::Picture,
    unreadable::{Limits, Unreadable},
};

/// Maximum number of attachments that are read; of others, only the names are listed.
const MAX_ATTACHMENTS: usize = 50;
/// File names of attachments without one, by media type.
const NAMES: [(&str, &str); 12] = [
    ("text/calendar", "invite.ics"),
    ("text/html", "attachment.html"),
    ("text/csv", "attachment.csv"),
    ("text/markdown", "attachment.md"),
    ("text/rtf", "attachment.rtf"),
    ("application/rtf", "attachment.rtf"),
    ("application/pdf", "attachment.pdf"),
    ("application/json", "attachment.json"),
    ("image/jpeg", "picture.jpg"),
    ("image/svg+xml", "picture.svg"),
    ("message/rfc822", "message.eml"),
    ("message/global", "message.eml"),
];

/// Reads an e-mail with its attachments.
///
/// # Errors
/// If it is not an e-mail.
pub(super) fn read(bytes: &[u8], scope: &mut Scope<'_, '_>) -> Result<Document, Unreadable> {
    let source = with_utf8_headers(without_beginning(bytes));
    let message = parsed(&source)?;
    let mut mail = Mail::new(headers(&message) + &body::text(&message)?);
    let attached = message.attachments().map(|part| {
        let content = match part.body {
            PartType::Text(_) | PartType::Html(_) => {
                Cow::Owned(body::decoded(&message, part).into_owned().into_bytes())
            }
            _ => Cow::Borrowed(part.contents()),
        };
        (name_of(part), Attached::File(content))
    });
    mail.attach(attached.collect(), scope)?;
    Ok(mail.finish())
}

/// Whether a file without a known extension is an e-mail.
pub(super) fn is_mail(beginning: &[u8]) -> bool {
    let beginning = String::from_utf8_lossy(without_beginning(beginning));
    let headers: Vec<&str> = beginning
        .lines()
        .take_while(|line| !line.is_empty())
        .filter_map(|line| line.split_once(':'))
        .map(|(name, _)| name)
        .collect();
    let has = |name: &str| headers.iter().any(|it| it.eq_ignore_ascii_case(name));
    has("MIME-Version") && (has("From") || has("Received") || has("Content-Type"))
}

/// Parses a message.
///
/// # Errors
/// If it is none.
pub(super) fn parsed(source: &[u8]) -> Result<Message<'_>, Unreadable> {
    MessageParser::default()
        .parse(source)
        .filter(|message| !message.headers().is_empty())
        .ok_or_else(|| Unreadable::damaged("an e-mail"))
}

/// Leaves out a byte order mark and blank lines before the headers.
pub(super) fn without_beginning(bytes: &[u8]) -> &[u8] {
    bytes
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(bytes)
        .trim_ascii_start()
}

/// Headers should be ASCII or UTF-8. In others, which old programs write, the encoding is detected.
pub(super) fn with_utf8_headers(bytes: &[u8]) -> Cow<'_, [u8]> {
    let end = ["\r\n\r\n", "\n\n"]
        .iter()
        .filter_map(|blank| memmem::find(bytes, blank.as_bytes()))
        .min()
        .unwrap_or(bytes.len());
    let (headers, rest) = bytes.split_at(end);
    if std::str::from_utf8(headers).is_ok() {
        return Cow::Borrowed(bytes);
    }
    let mut source = charset::decoded(headers, None).into_owned().into_bytes();
    source.extend_from_slice(rest);
    Cow::Owned(source)
}

fn headers(message: &Message<'_>) -> String {
    let mut text = String::new();
    if let Some(subject) = message.subject() {
        _ = writeln!(text, "# {}\n", subject.replace('\n', " "));
    }
    for (name, people) in [
        ("From", message.from()),
        ("To", message.to()),
        ("Cc", message.cc()),
    ] {
        if let Some(people) = people {
            _ = writeln!(text, "{name}: {}", named(people));
        }
    }
    if let Some(date) = message.date() {
        _ = writeln!(text, "Date: {}", date.to_rfc3339());
    }
    text
}

/// What is attached to a message.
pub(super) enum Attached<'a> {
    File(Cow<'a, [u8]>),
    /// Another message, which is read already.
    Message(Result<Document, Unreadable>),
}

/// The text of a message, to which attachments are added.
pub(super) struct Mail {
    text: String,
    pages: Vec<Page>,
    recognized: Vec<u32>,
    unread: Vec<UnreadPage>,
}

impl Mail {
    pub(super) fn new(text: String) -> Self {
        Self {
            text,
            pages: Vec::new(),
            recognized: Vec::new(),
            unread: Vec::new(),
        }
    }

    /// Adds the names and the texts of attachments.
    ///
    /// # Errors
    /// If there is too much text.
    pub(super) fn attach(
        &mut self,
        attached: Vec<(String, Attached<'_>)>,
        scope: &mut Scope<'_, '_>,
    ) -> Result<(), Unreadable> {
        let limits = scope.limits;
        if !attached.is_empty() {
            let names: Vec<&str> = attached.iter().map(|(name, _)| name.as_str()).collect();
            _ = writeln!(self.text, "\nAttached: {}", names.join(", "));
        }
        let mut paged = Vec::new();
        for (name, content) in attached.into_iter().take(MAX_ATTACHMENTS) {
            let document = match content {
                // Signatures and buttons are pictures; the list of names is enough.
                Attached::File(bytes) if Picture::media_type(&bytes).is_some() => continue,
                Attached::File(bytes) => read_inside(&name, &bytes, &mut scope.deeper()),
                Attached::Message(document) => document,
            };
            // An attachment that cannot be read does not affect the rest.
            if let Ok(document) = &document {
                self.recognized.extend(&document.recognized);
                self.unread.extend(&document.unread);
            }
            match document {
                Ok(document) if !document.pages.is_empty() => paged.push((name, document)),
                Ok(document) => self.add(&name, document.text.trim()),
                Err(why) => self.add(&name, &format!("({why})")),
            }
            self.check(limits)?;
        }
        // A page lasts to the beginning of the next, so nothing without pages follows.
        for (name, document) in paged {
            self.add_pages(&name, &document);
            self.check(limits)?;
        }
        Ok(())
    }

    fn add(&mut self, name: &str, text: &str) {
        _ = write!(self.text, "\n## Attached: {name}\n\n{text}\n");
    }

    fn add_pages(&mut self, name: &str, document: &Document) {
        let beginning = self.text.len();
        self.add(name, &document.text);
        let shift = self.text.len() - 1 - document.text.len();
        self.pages.extend(document.pages.iter().map(|page| Page {
            number: page.number,
            // The first page has the name above it.
            start: if page.start == 0 {
                beginning
            } else {
                page.start + shift
            },
        }));
    }

    fn check(&self, limits: &Limits) -> Result<(), Unreadable> {
        if self.text.len() as u64 > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
        Ok(())
    }

    pub(super) fn finish(self) -> Document {
        Document {
            pages: self.pages,
            recognized: self.recognized,
            unread: self.unread,
            ..Document::of_markdown(self.text)
        }
    }
}

/// The name of an attachment, on one line, with an ending that tells its format.
fn name_of(part: &MessagePart<'_>) -> String {
    let is_mail = matches!(part.body, PartType::Message(_));
    let default = if is_mail {
        "message.eml"
    } else {
        usual_name(part)
    };
    let name = part.attachment_name().unwrap_or(default);
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    let ending = default.rsplit_once('.').map(|(_, ending)| ending);
    match ending {
        Some(ending) if is_mail && !name.ends_with(".eml") || !name.contains('.') => {
            format!("{name}.{ending}")
        }
        _ => name,
    }
}

/// The name of an attachment that has none, by its media type.
fn usual_name(part: &MessagePart<'_>) -> &'static str {
    let kind = part.content_type();
    let media_type = kind.map(|kind| {
        let subtype = kind.subtype().unwrap_or_default();
        format!("{}/{subtype}", kind.ctype()).to_ascii_lowercase()
    });
    let media_type = media_type.unwrap_or_default();
    let listed = NAMES.iter().find(|(kind, _)| *kind == media_type);
    match (listed, media_type.split('/').next()) {
        (Some((_, name)), _) => name,
        (None, Some("image")) => "picture.png",
        (None, Some("text")) => "attachment.txt",
        (None, _) => "attachment",
    }
}

fn named(people: &Address<'_>) -> String {
    people.iter().map(person).collect::<Vec<_>>().join(", ")
}

/// A name with an address.
pub(super) fn person(person: &mail_parser::Addr<'_>) -> String {
    match (person.name(), person.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    }
}

#[cfg(test)]
mod tests;
