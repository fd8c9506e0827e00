//! E-mails as Markdown: subject, who and when, the words, and the names of what is attached.

use std::fmt::Write;

use mail_parser::{Address, MessageParser, MimeHeaders, PartType};

use crate::{document::Document, read::html, unreadable::Unreadable};

/// Reads an e-mail.
///
/// # Errors
/// Where it is none.
pub(super) fn read(bytes: &[u8]) -> Result<Document, Unreadable> {
    let damaged = || Unreadable::damaged("an e-mail");
    let message = MessageParser::default().parse(bytes).ok_or_else(damaged)?;
    if message.headers().is_empty() {
        return Err(damaged());
    }
    let mut text = String::new();
    if let Some(subject) = message.subject() {
        _ = writeln!(text, "# {}\n", subject.replace('\n', " "));
    }
    for (name, people) in [("From", message.from()), ("To", message.to()), ("Cc", message.cc())] {
        if let Some(people) = people {
            _ = writeln!(text, "{name}: {}", named(people));
        }
    }
    if let Some(date) = message.date() {
        _ = writeln!(text, "Date: {}", date.to_rfc3339());
    }
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(words) => _ = write!(text, "\n{}\n", super::plain::tidy(words).trim()),
            PartType::Html(page) => _ = write!(text, "\n{}\n", html::read(page)?.text),
            _ => {}
        }
    }
    let attached: Vec<&str> = message.attachments().filter_map(|part| part.attachment_name()).collect();
    if !attached.is_empty() {
        _ = writeln!(text, "\nAttached: {}", attached.join(", "));
    }
    Ok(Document::of_markdown(text))
}

fn named(people: &Address<'_>) -> String {
    let one = |person: &mail_parser::Addr<'_>| match (person.name(), person.address()) {
        (Some(name), Some(address)) => format!("{name} <{address}>"),
        (name, address) => name.or(address).unwrap_or_default().to_owned(),
    };
    people.iter().map(one).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_email_is_read_with_its_headers() {
        let mail = "From: =?utf-8?B?0JDQvdC90LA=?= <anna@example.org>\r\nTo: team@example.org\r\n\
            Subject: =?utf-8?Q?D=C3=A9ploiement?=\r\nDate: Mon, 23 Nov 2026 10:00:00 +0000\r\n\
            MIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=b\r\n\r\n\
            --b\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Transfer-Encoding: quoted-printable\r\n\r\n\
            The caf=C3=A9 opens on Friday.\r\n--b\r\nContent-Type: application/pdf\r\n\
            Content-Disposition: attachment; filename=\"plan.pdf\"\r\n\r\nxx\r\n--b--\r\n";
        let document = read(mail.as_bytes()).unwrap();
        assert_eq!(document.title.as_deref(), Some("Déploiement"));
        for words in ["From: Анна <anna@example.org>", "2026-11-23", "The café opens", "Attached: plan.pdf"]
        {
            assert!(document.text.contains(words), "{words} in {}", document.text);
        }
        assert!(read(b"").is_err());
    }
}
