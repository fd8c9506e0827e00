//! Extracts text from files of many formats. Any input gives a document or an error message. For untrusted files use
//! [`crate::ReadingProcess`], since some parsers cannot be limited in time and memory.

mod html;
mod mail;
mod office;
mod pdf;
mod plain;

use crate::{
    document::Document,
    picture::Picture,
    unreadable::{Limits, Unreadable},
};

/// A file format.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Format {
    /// PDF.
    Pdf,
    /// Word documents.
    Docx,
    /// PowerPoint presentations.
    Pptx,
    /// Excel workbooks.
    Xlsx,
    /// Web pages.
    Html,
    /// E-mail messages as files.
    Mail,
    /// A picture, which has no text.
    Picture,
    /// Markdown.
    Markdown,
    /// Text, code, CSV: anything that is text itself.
    Plain,
}

/// Maximum nesting depth of e-mails that are read.
const MAX_INSIDE: u32 = 2;
/// Signature of old and of encrypted Office files.
const COMPOUND_FILE: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// Supported extensions of Office documents.
const OFFICE_ENDINGS: [&str; 6] = ["docx", "docm", "pptx", "pptm", "xlsx", "xlsm"];
/// Number of bytes examined to detect the format.
const SNIFFED_BYTES: usize = 1024;

impl Format {
    /// Detects the format by content, and by name if the content is ambiguous.
    ///
    /// # Errors
    /// If it is encrypted, or of an unsupported format.
    pub fn of(name: &str, bytes: &[u8]) -> Result<Self, Unreadable> {
        let ending = name
            .rsplit_once('.')
            .map(|(_, ending)| ending.to_ascii_lowercase())
            .unwrap_or_default();
        let beginning = &bytes[..bytes.len().min(SNIFFED_BYTES)];
        if beginning.windows(5).any(|window| window == b"%PDF-") {
            return Ok(Self::Pdf);
        }
        let is_office = OFFICE_ENDINGS.contains(&ending.as_str());
        if bytes.starts_with(b"PK\x03\x04") {
            return office::format(bytes).map_err(|why| match why {
                // Many other formats are ZIP archives, and one that does not unpack cannot be identified further.
                Unreadable::Damaged { .. } if !is_office => Unreadable::damaged("a ZIP archive"),
                why => why,
            });
        }
        if bytes.starts_with(COMPOUND_FILE) {
            return Err(if is_office {
                Unreadable::Encrypted
            } else {
                Unreadable::UnknownFormat
            });
        }
        if Picture::media_type(bytes).is_some() {
            return Ok(Self::Picture);
        }
        match ending.as_str() {
            "pdf" => Err(Unreadable::damaged("PDF")),
            _ if is_office => Err(Unreadable::damaged("an Office document")),
            "html" | "htm" | "xhtml" => Ok(Self::Html),
            "eml" => Ok(Self::Mail),
            "md" | "markdown" => Ok(Self::Markdown),
            _ if plain::is_binary(beginning) => Err(Unreadable::UnknownFormat),
            _ if html::is_page(beginning) => Ok(Self::Html),
            _ => Ok(Self::Plain),
        }
    }
}

/// Reads a file. `name` is the name given by its sender.
///
/// # Errors
/// The reason why there is no text.
pub fn read(name: &str, bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    if bytes.len() as u64 > limits.file_bytes {
        return Err(Unreadable::TooLarge {
            limit_bytes: limits.file_bytes,
        });
    }
    check(read_inside(name, bytes, limits, 0)?, limits)
}

/// Reads a file nested in this many others.
fn read_inside(
    name: &str,
    bytes: &[u8],
    limits: &Limits,
    inside: u32,
) -> Result<Document, Unreadable> {
    Ok(match Format::of(name, bytes)? {
        Format::Pdf => pdf::read(bytes, limits)?,
        Format::Docx => office::docx(bytes, limits)?,
        Format::Pptx => office::pptx(bytes, limits)?,
        Format::Xlsx => office::xlsx(bytes, limits)?,
        Format::Html => html::read(&plain::decode_page(bytes))?,
        Format::Mail if inside > MAX_INSIDE => return Err(Unreadable::UnknownFormat),
        Format::Mail => mail::read(bytes, limits, inside)?,
        Format::Picture => {
            Picture::of(bytes, limits).unwrap_or(Err(Unreadable::UnknownFormat))?;
            return Err(Unreadable::Picture);
        }
        Format::Markdown => Document::of_markdown(plain::decode(bytes)?),
        Format::Plain => Document {
            text: plain::decode(bytes)?,
            ..Document::default()
        },
    })
}

/// Checks that apply to documents of every format.
fn check(document: Document, limits: &Limits) -> Result<Document, Unreadable> {
    if document.text.len() as u64 > limits.text_bytes {
        return Err(Unreadable::TooMuchText {
            limit_bytes: limits.text_bytes,
        });
    }
    if !document.text.contains(char::is_alphanumeric) {
        return Err(Unreadable::NoText);
    }
    Ok(document)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn format(name: &str, bytes: &[u8]) -> String {
        match Format::of(name, bytes) {
            Ok(format) => format!("{format:?}"),
            Err(error) => error.to_string(),
        }
    }

    #[test]
    fn formats_are_told_by_what_files_hold() {
        for (name, bytes, expected) in [
            ("a", &b"%PDF-1.7 ..."[..], "Pdf"),
            ("a.txt", b"\xef\xbb\xbf%PDF-1.4", "Pdf"),
            (
                "a.pdf",
                b"hello",
                "The file is damaged or incomplete: it cannot be read as PDF.",
            ),
            (
                "a.docx",
                COMPOUND_FILE,
                "The file is protected by a password. Save it without one.",
            ),
            (
                "a.doc",
                COMPOUND_FILE,
                "Files of this kind cannot be read as text.",
            ),
            (
                "a.docx",
                b"PK\x03\x04",
                "The file is damaged or incomplete: it cannot be read as an Office document.",
            ),
            (
                "a.xlsx",
                b"hello",
                "The file is damaged or incomplete: it cannot be read as an Office document.",
            ),
            (
                "a.zip",
                b"PK\x03\x04",
                "The file is damaged or incomplete: it cannot be read as a ZIP archive.",
            ),
            ("a.HTM", b"x", "Html"),
            ("a", b" <!doctype HTML><p>", "Html"),
            ("a.rs", b"fn main() {}", "Plain"),
            ("README.MD", b"# x", "Markdown"),
            ("a.eml", b"From: x", "Mail"),
            ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "Picture"),
            ("a.txt", b"\xff\xd8\xff\xe0 JFIF", "Picture"),
            (
                "a.mp3",
                b"ID3\x04\0\0\0\0\0\x23",
                "Files of this kind cannot be read as text.",
            ),
            ("a", b"", "Plain"),
        ] {
            assert_eq!(format(name, bytes), expected, "{name}");
        }
    }

    #[test]
    fn limits_and_emptiness_are_told() {
        let limits = Limits {
            file_bytes: 10,
            text_bytes: 4,
            ..Limits::default()
        };
        let error = |bytes: &[u8]| read("a.txt", bytes, &limits).unwrap_err();
        assert_eq!(
            error(b"01234567890"),
            Unreadable::TooLarge { limit_bytes: 10 }
        );
        assert_eq!(error(b"01234"), Unreadable::TooMuchText { limit_bytes: 4 });
        assert_eq!(error(b" .\n"), Unreadable::NoText);
        assert_eq!(read("a.txt", b"0123", &limits).unwrap().text, "0123");
    }
}
