//! The text of an e-mail: which of its alternative parts holds it, and in which encoding.

use std::{borrow::Cow, collections::HashSet};

use encoding_rs::Encoding;
use mail_parser::{
    Encoding as Transfer, Message, MessagePart, MimeHeaders, PartType,
    decoders::{base64::base64_decode, quoted_printable::quoted_printable_decode},
};

use crate::{
    read::{charset, html, plain},
    unreadable::Unreadable,
};

/// A plain part that is shorter than this fraction of the HTML part is not a version of the whole message.
const MIN_LENGTH: usize = 4;

/// The text of a message as Markdown. Its HTML is read if its plain text is missing, or only says so.
///
/// # Errors
/// If it is a web page that cannot be read.
pub(super) fn text(message: &Message<'_>) -> Result<String, Unreadable> {
    let plain = joined(message, message.text_bodies())?;
    if message.html_body == message.text_body {
        return Ok(plain);
    }
    let rich = joined(message, message.html_bodies())?;
    Ok(if is_stub(&plain, &rich) { rich } else { plain })
}

fn joined<'a>(
    message: &Message<'_>,
    parts: impl Iterator<Item = &'a MessagePart<'a>>,
) -> Result<String, Unreadable> {
    let mut text = String::new();
    for part in parts {
        let decoded = decoded(message, part);
        let part = match &part.body {
            PartType::Text(_) => plain::tidy(&decoded),
            PartType::Html(_) => html::read_whole(&decoded)?,
            _ => continue,
        };
        text.push('\n');
        text.push_str(part.trim());
        text.push('\n');
    }
    Ok(text)
}

/// Whether a plain text is no version of this HTML: it is blank, far shorter, or most of its words are others.
fn is_stub(plain: &str, rich: &str) -> bool {
    let words = |text: &str| -> HashSet<String> {
        text.split(|char: char| !char.is_alphanumeric())
            .filter(|word| !word.is_empty())
            .map(str::to_lowercase)
            .collect()
    };
    let rich = without_addresses(rich);
    let plain_words = words(plain);
    let rich_words = words(&rich);
    if plain_words.len() >= rich_words.len() {
        return false;
    }
    let shared = plain_words.intersection(&rich_words).count();
    plain.trim().len() * MIN_LENGTH < rich.trim().len() || shared * 2 < plain_words.len()
}

/// Markdown without the addresses of links, which newsletters have long ones of.
fn without_addresses(markdown: &str) -> String {
    let mut parts = markdown.split("](");
    let mut text = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        text.push_str("](");
        text.push_str(part.find(')').map_or(part, |end| &part[end..]));
    }
    text
}

/// The text of a part. If its encoding is not declared, or wrongly, it is detected.
pub(in crate::read) fn decoded<'a>(
    message: &Message<'_>,
    part: &'a MessagePart<'_>,
) -> Cow<'a, str> {
    let text = part.text_contents().unwrap_or_default();
    if is_declared(part) && !text.contains('\u{fffd}') {
        return Cow::Borrowed(text);
    }
    let Some(bytes) = transferred(message, part) else {
        return Cow::Borrowed(text);
    };
    if matches!(part.body, PartType::Html(_)) {
        Cow::Owned(plain::decode_page(&bytes, None))
    } else {
        Cow::Owned(charset::decoded(&bytes, None).into_owned())
    }
}

/// Whether the part declares an encoding. Text declared as ASCII may be in any other.
fn is_declared(part: &MessagePart<'_>) -> bool {
    let label = part.content_type().and_then(|it| it.attribute("charset"));
    label.is_some_and(|label| {
        !label.to_ascii_lowercase().contains("ascii")
            && (label.eq_ignore_ascii_case("utf-7")
                || Encoding::for_label(label.as_bytes()).is_some())
    })
}

/// The bytes of a part without its transfer encoding.
fn transferred(message: &Message<'_>, part: &MessagePart<'_>) -> Option<Vec<u8>> {
    let span = part.raw_body_offset() as usize..part.raw_end_offset() as usize;
    let raw = message.raw_message.get(span)?;
    match part.encoding {
        Transfer::None => Some(raw.to_vec()),
        Transfer::QuotedPrintable => quoted_printable_decode(raw),
        Transfer::Base64 => base64_decode(raw),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stub_is_told_from_a_version_of_the_message() {
        let rich = "The contract was signed on Friday by both sides and costs 400 euros a month.";
        for (plain, expected) in [
            ("", true),
            (" \n", true),
            ("Your mail program cannot show this message.", true),
            ("The contract", true),
            ("The contract was signed on Friday by both sides.", false),
            (
                "THE CONTRACT was signed on Friday by both sides and costs 400 euros a month",
                false,
            ),
        ] {
            assert_eq!(is_stub(plain, rich), expected, "{plain}");
        }
        let linked = format!(
            "The contract costs [400 euros](https://example.org/{})",
            "x".repeat(500)
        );
        assert!(!is_stub("The contract costs 400 euros", &linked));
        assert!(!is_stub("Only the plain part has words.", "A picture"));
    }
}
