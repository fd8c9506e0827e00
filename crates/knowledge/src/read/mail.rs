//! E-mails as Markdown: subject, people, date, text, and the readable attachments.

use std::fmt::Write;

use mail_parser::{Address, MessageParser, MessagePart, MimeHeaders, PartType};

use super::{html, read_inside};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Maximum number of attachments that are read; of others, only the names are listed.
const MAX_ATTACHMENTS: usize = 50;

/// Reads an e-mail with its attachments. `inside` is its nesting depth in other e-mails.
///
/// # Errors
/// If it is not an e-mail.
pub(super) fn read(bytes: &[u8], limits: &Limits, inside: u32) -> Result<Document, Unreadable> {
    let damaged = || Unreadable::damaged("an e-mail");
    let message = MessageParser::default().parse(bytes).ok_or_else(damaged)?;
    if message.headers().is_empty() {
        return Err(damaged());
    }
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
    for part in message.text_bodies() {
        match &part.body {
            PartType::Text(words) => _ = write!(text, "\n{}\n", super::plain::tidy(words).trim()),
            PartType::Html(page) => _ = write!(text, "\n{}\n", html::read(page)?.text),
            _ => {}
        }
    }
    let attached: Vec<_> = message
        .attachments()
        .map(|part| (name_of(part), part))
        .collect();
    if !attached.is_empty() {
        let names: Vec<&str> = attached.iter().map(|(name, _)| name.as_str()).collect();
        _ = writeln!(text, "\nAttached: {}", names.join(", "));
    }
    for (name, part) in attached.iter().take(MAX_ATTACHMENTS) {
        if text.len() as u64 > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
        // An attachment that cannot be read does not affect the rest.
        match read_inside(name, part.contents(), limits, inside + 1) {
            Ok(document) => _ = write!(text, "\n## Attached: {name}\n\n{}\n", document.text.trim()),
            Err(why) => _ = write!(text, "\n## Attached: {name}\n\n({why})\n"),
        }
    }
    Ok(Document::of_markdown(text))
}

/// The name of an attachment, on one line.
fn name_of(part: &MessagePart<'_>) -> String {
    let is_mail = matches!(part.body, PartType::Message(_));
    let name = part
        .attachment_name()
        .unwrap_or(if is_mail { "message.eml" } else { "attachment" });
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    // Its format is detected by the extension.
    if is_mail && !name.ends_with(".eml") {
        name + ".eml"
    } else {
        name
    }
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
        let document = read(mail.as_bytes(), &Limits::default(), 0).unwrap();
        assert_eq!(document.title.as_deref(), Some("Déploiement"));
        for words in [
            "From: Анна <anna@example.org>",
            "2026-11-23",
            "The café opens",
            "Attached: plan.pdf",
        ] {
            assert!(
                document.text.contains(words),
                "{words} in {}",
                document.text
            );
        }
        assert!(
            document
                .text
                .contains("(The file is damaged or incomplete: it cannot be read as PDF.)")
        );
        assert!(read(b"", &Limits::default(), 0).is_err());
    }

    fn mail(subject: &str, kind: &str, name: &str, attached: &str) -> String {
        format!(
            "From: a@example.org\r\nSubject: {subject}\r\nMIME-Version: 1.0\r\n\
             Content-Type: multipart/mixed; boundary={subject}\r\n\r\n\
             --{subject}\r\nContent-Type: text/plain\r\n\r\nSee below.\r\n\
             --{subject}\r\nContent-Type: {kind}\r\nContent-Disposition: attachment; filename=\"{name}\"\r\n\r\n\
             {attached}\r\n--{subject}--\r\n"
        )
    }

    #[test]
    fn what_is_attached_is_read_to_a_depth() {
        let read = |mail: &str| read(mail.as_bytes(), &Limits::default(), 0).unwrap();
        let page = "<html><body><p>The walrus costs 400 euros, and it costs them every single year.</p></body></html>";
        let document = read(&mail("One", "text/html", "offer.html", page));
        assert!(
            document.text.contains("## Attached: offer.html")
                && document.text.contains("400 euros"),
            "{}",
            document.text
        );
        assert!(
            document
                .headings
                .iter()
                .any(|heading| heading.title == "Attached: offer.html")
        );
        let inner = mail("Inner", "text/csv", "prices.csv", "walrus,400");
        let document = read(&mail("Outer", "message/rfc822", "inner.eml", &inner));
        assert!(document.text.contains("walrus,400"), "{}", document.text);
        // Endlessly nested e-mails, as an attacker might send.
        let mut nested = inner;
        for depth in 0..40 {
            nested = mail(
                &format!("Depth{depth}"),
                "message/rfc822",
                "inner.eml",
                &nested,
            );
        }
        let document = read(&nested);
        assert!(
            document.text.contains("Depth39") && !document.text.contains("walrus"),
            "{}",
            document.text
        );
    }
}
