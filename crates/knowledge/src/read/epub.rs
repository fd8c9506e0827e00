//! Books (EPUB): the chapters in reading order as Markdown.

use std::collections::HashMap;

use super::{
    html,
    office::{Archive, Item, Items},
    plain,
};
use crate::{
    document::Document,
    unreadable::{Limits, Unreadable},
};

/// Algorithms that only make fonts unusable outside the book.
const FONT_ALGORITHMS: [&str; 2] = [
    "http://www.idpf.org/2008/embedding",
    "http://ns.adobe.com/pdf/enc#RC",
];

/// Reads a book.
///
/// # Errors
/// If it is protected, damaged, or too long.
pub(super) fn read(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    read_book(bytes, limits).map_err(|why| match why {
        Unreadable::Damaged { .. } => damaged(),
        why => why,
    })
}

fn damaged() -> Unreadable {
    Unreadable::damaged("EPUB")
}

fn read_book(bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut archive = Archive::open(bytes, limits.unpacked_bytes)?;
    if let Some(xml) = archive.text("META-INF/encryption.xml")?
        && is_encrypted(&xml)?
    {
        return Err(Unreadable::Encrypted);
    }
    let container = archive
        .text("META-INF/container.xml")?
        .ok_or_else(damaged)?;
    let package_path = package_path(&container)?.ok_or_else(damaged)?;
    let package = archive.text(&package_path)?.ok_or_else(damaged)?;
    let package = Package::read(&package)?;
    let mut text = String::new();
    for href in &package.chapters {
        // A chapter that is missing does not affect the rest.
        let Some(chapter) = archive.bytes(&resolved(&package_path, href))? else {
            continue;
        };
        let chapter = plain::decode_page(&chapter, None);
        text.push_str(html::read_whole(&chapter)?.trim());
        text.push_str("\n\n");
        if text.len() as u64 > limits.text_bytes {
            return Err(Unreadable::TooMuchText {
                limit_bytes: limits.text_bytes,
            });
        }
    }
    let document = Document::of_markdown(text);
    let title = Some(package.title).filter(|title| !title.is_empty());
    Ok(Document {
        title: title.or(document.title),
        ..document
    })
}

fn is_encrypted(xml: &str) -> Result<bool, Unreadable> {
    for item in Items::new(xml) {
        if let Item::Open(tag) = item?
            && tag.name == "EncryptionMethod"
            && let Some(algorithm) = tag.attribute("Algorithm")
            && !FONT_ALGORITHMS.contains(&algorithm.as_str())
        {
            return Ok(true);
        }
    }
    Ok(false)
}

fn package_path(container: &str) -> Result<Option<String>, Unreadable> {
    for item in Items::new(container) {
        if let Item::Open(tag) = item?
            && tag.name == "rootfile"
        {
            return Ok(tag.attribute("full-path"));
        }
    }
    Ok(None)
}

/// What the package file says: the title and the chapters in order.
#[derive(Default)]
struct Package {
    title: String,
    chapters: Vec<String>,
}

impl Package {
    fn read(xml: &str) -> Result<Self, Unreadable> {
        let mut package = Self::default();
        let mut files = HashMap::new();
        let mut is_title = false;
        for item in Items::new(xml) {
            match item? {
                Item::Open(tag) => match tag.name.as_str() {
                    "title" => is_title = package.title.is_empty(),
                    "item" => {
                        if let (Some(id), Some(href)) = (tag.attribute("id"), tag.attribute("href"))
                        {
                            files.insert(id, href);
                        }
                    }
                    "itemref" => {
                        let file = tag.attribute("idref").and_then(|id| files.get(&id));
                        package.chapters.extend(file.cloned());
                    }
                    _ => {}
                },
                Item::Text(text) if is_title => package.title.push_str(text.trim()),
                Item::Text(_) => {}
                Item::Close(_) => is_title = false,
            }
        }
        Ok(package)
    }
}

/// The path in the archive of a file that is named relative to another.
fn resolved(base: &str, href: &str) -> String {
    let href = href.split('#').next().unwrap_or_default();
    let folder = base.rsplit_once('/').map_or("", |(folder, _)| folder);
    let href = percent_decoded(href);
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(href.split('/')) {
        match part {
            "" | "." => {}
            ".." => _ = parts.pop(),
            part => parts.push(part),
        }
    }
    parts.join("/")
}

fn percent_decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.as_bytes();
    while let Some((first, after)) = rest.split_first() {
        let digits = after.get(..2).filter(|_| *first == b'%');
        let digits = digits.and_then(|it| std::str::from_utf8(it).ok());
        match digits.and_then(|it| u8::from_str_radix(it, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(*first);
                rest = after;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::read::{
        Format,
        zipped::{zip, zip_bytes},
    };

    #[test]
    fn paths_are_relative_to_the_package() {
        for (base, href, expected) in [
            (
                "OEBPS/content.opf",
                "text/one%20two.xhtml#top",
                "OEBPS/text/one two.xhtml",
            ),
            ("OEBPS/content.opf", "../a.html", "a.html"),
            ("content.opf", "./%e4%b8%80.html", "一.html"),
            ("content.opf", "100%.html", "100%.html"),
        ] {
            assert_eq!(resolved(base, href), expected);
        }
    }

    const CONTAINER: &str =
        "<container><rootfiles><rootfile full-path=\"OEBPS/book.opf\"/></rootfiles></container>";
    const PACKAGE: &str = "<package><metadata><dc:title>Walruses</dc:title></metadata><manifest>\
        <item id=\"a\" href=\"text/one.xhtml\"/><item id=\"b\" href=\"text/two.xhtml\"/><item id=\"c\" href=\"gone.xhtml\"/>\
        </manifest><spine><itemref idref=\"b\"/><itemref idref=\"c\"/><itemref idref=\"a\"/></spine></package>";

    fn book(encryption: &str) -> Vec<u8> {
        zip(&[
            ("mimetype", "application/epub+zip"),
            ("META-INF/container.xml", CONTAINER),
            ("META-INF/encryption.xml", encryption),
            ("OEBPS/book.opf", PACKAGE),
            (
                "OEBPS/text/one.xhtml",
                "<html><head><title>no</title></head><body><h1>Second</h1><p>10<sup>6</sup> words.</p></body></html>",
            ),
            (
                "OEBPS/text/two.xhtml",
                "<html><body><h1>First</h1><p>Short.</p><aside>A note.</aside></body></html>",
            ),
        ])
    }

    #[test]
    fn chapters_are_read_in_order_and_whole() {
        let bytes = book("<encryption/>");
        assert_eq!(Format::of("a.zip", &bytes).unwrap(), Format::Epub);
        let document = read(&bytes, &Limits::default()).unwrap();
        assert_eq!(document.title.as_deref(), Some("Walruses"));
        assert_eq!(
            document.text,
            "# First\n\nShort.\n\nA note.\n\n# Second\n\n10^6 words.\n\n"
        );
    }

    #[test]
    fn a_chapter_may_be_in_an_old_encoding() {
        let chapter =
            "<?xml version='1.0' encoding='windows-1251'?><html><body><p>Морж</p></body></html>";
        let chapter = encoding_rs::WINDOWS_1251.encode(chapter).0;
        let bytes = zip_bytes(&[
            ("mimetype", b"application/epub+zip"),
            ("META-INF/container.xml", CONTAINER.as_bytes()),
            ("OEBPS/book.opf", PACKAGE.as_bytes()),
            ("OEBPS/text/one.xhtml", &chapter),
        ]);
        assert_eq!(read(&bytes, &Limits::default()).unwrap().text, "Морж\n\n");
    }

    #[test]
    fn protected_and_damaged_books_are_refused() {
        let method =
            |algorithm: &str| format!("<e><EncryptionMethod Algorithm=\"{algorithm}\"/></e>");
        let refusal = |bytes: &[u8]| read(bytes, &Limits::default()).err();
        assert_eq!(
            refusal(&book(&method(
                "http://www.w3.org/2001/04/xmlenc#aes128-cbc"
            ))),
            Some(Unreadable::Encrypted)
        );
        assert_eq!(refusal(&book(&method(FONT_ALGORITHMS[0]))), None);
        assert_eq!(
            refusal(&zip(&[("mimetype", "application/epub+zip")])),
            Some(damaged())
        );
        let bytes = book("<encryption/>");
        for end in (0..bytes.len()).step_by(31) {
            let _ = refusal(&bytes[..end]);
        }
    }
}
