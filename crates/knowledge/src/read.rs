//! Extracts text from files of many formats. Any input gives a document or an error message. For untrusted files use
//! [`crate::ReadingProcess`], since some parsers cannot be limited in time and memory.

mod charset;
mod delimited;
mod epub;
mod format;
mod html;
mod line;
mod list;
mod mail;
mod notebook;
mod office;
mod open_document;
mod outlook;
mod pdf;
mod plain;
mod rtf;
mod table;
mod web_archive;
#[cfg(test)]
mod zipped;

pub use self::{charset::decode, format::Format};
use crate::{
    document::Document,
    picture::Picture,
    unreadable::{Limits, Unreadable},
};

/// Raised when files are read in another way than before. Documents that an earlier version has read are read again.
pub const READER_VERSION: u64 = 1;

/// Maximum nesting depth of e-mails that are read.
const MAX_INSIDE: u32 = 2;

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
        Format::Html => html::read(&plain::decode_page(bytes, None))?,
        Format::WebArchive => web_archive::read(bytes)?,
        Format::Mail | Format::OutlookMail if inside > MAX_INSIDE => {
            return Err(Unreadable::UnknownFormat);
        }
        Format::Mail => mail::read(bytes, limits, inside)?,
        Format::OutlookMail => outlook::read(bytes, limits, inside)?,
        Format::OpenDocument => open_document::read(bytes, limits)?,
        Format::Epub => epub::read(bytes, limits)?,
        Format::Rtf => rtf::read(bytes, limits)?,
        Format::Notebook => notebook::read(bytes, limits)?,
        Format::Delimited => delimited::read(bytes, limits)?,
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
