//! Extracts text from files of many formats. Any input gives a document or an error message. For untrusted files use
//! [`crate::ReadingProcess`], since some parsers cannot be limited in time and memory.

mod charset;
mod compound;
mod converted;
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
mod picture;
mod plain;
mod properties;
mod rtf;
mod table;
mod web_archive;
#[cfg(test)]
mod zipped;

pub(crate) use self::converted::read_converted;
pub use self::{charset::decode, converted::Converter, format::Format};
use crate::{
    document::Document,
    recognition::{Recognition, UnreadReason},
    unreadable::{Limits, Unreadable},
};

/// Raised when files are read in another way than before. Documents that an earlier version has read are read again.
pub const READER_VERSION: u64 = 2;

/// Maximum nesting depth of e-mails that are read.
const MAX_INSIDE: u32 = 2;

/// What applies to the reading of a file and of those in it.
pub(crate) struct Scope<'a, 'b> {
    limits: &'a Limits,
    recognition: &'a mut Recognition<'b>,
    /// The nesting depth in other files.
    inside: u32,
}

impl<'a, 'b> Scope<'a, 'b> {
    pub(crate) fn new(limits: &'a Limits, recognition: &'a mut Recognition<'b>) -> Self {
        Self {
            limits,
            recognition,
            inside: 0,
        }
    }

    /// The scope of a file in this one.
    fn deeper(&mut self) -> Scope<'_, 'b> {
        Scope {
            limits: self.limits,
            recognition: self.recognition,
            inside: self.inside + 1,
        }
    }
}

/// Reads a file, but not the text in pictures. `name` is the name given by its sender.
///
/// # Errors
/// The reason why there is no text.
pub fn read(name: &str, bytes: &[u8], limits: &Limits) -> Result<Document, Unreadable> {
    let mut recognition = Recognition::new(None);
    read_in(name, bytes, &mut Scope::new(limits, &mut recognition))
}

/// Reads a file.
///
/// # Errors
/// The reason why there is no text.
pub(crate) fn read_in(
    name: &str,
    bytes: &[u8],
    scope: &mut Scope<'_, '_>,
) -> Result<Document, Unreadable> {
    let limits = scope.limits;
    if bytes.len() as u64 > limits.file_bytes {
        return Err(Unreadable::TooLarge {
            limit_bytes: limits.file_bytes,
        });
    }
    let document = check(read_inside(name, bytes, scope)?, limits)?;
    let properties = properties::read(name, bytes, &document, limits);
    Ok(Document {
        properties,
        ..document
    })
}

fn read_inside(
    name: &str,
    bytes: &[u8],
    scope: &mut Scope<'_, '_>,
) -> Result<Document, Unreadable> {
    let limits = scope.limits;
    Ok(match Format::of(name, bytes)? {
        Format::Pdf => pdf::read(bytes, limits, scope.recognition)?,
        Format::Docx => office::docx(bytes, limits)?,
        Format::Pptx => office::pptx(bytes, limits)?,
        Format::Xlsx => office::xlsx(bytes, limits)?,
        Format::Doc => office::doc(bytes, limits)?,
        Format::Ppt => office::ppt(bytes, limits)?,
        Format::Xls => office::xls(bytes, limits)?,
        Format::Html => html::read(&plain::decode_page(bytes, None))?,
        Format::WebArchive => web_archive::read(bytes)?,
        Format::Mail | Format::OutlookMail if scope.inside > MAX_INSIDE => {
            return Err(Unreadable::UnknownFormat);
        }
        Format::Mail => mail::read(bytes, scope)?,
        Format::OutlookMail => outlook::read(bytes, scope)?,
        Format::OpenDocument => open_document::read(bytes, limits)?,
        Format::Epub => epub::read(bytes, limits)?,
        Format::Rtf => rtf::read(bytes, limits)?,
        Format::Notebook => notebook::read(bytes, limits)?,
        Format::Delimited => delimited::read(bytes, limits)?,
        Format::Picture => picture::read(bytes, limits, scope.recognition)?,
        Format::Recording => return Err(Unreadable::Recording),
        Format::Markdown => Document::of_markdown(plain::decode(bytes)?),
        Format::Plain => Document {
            text: plain::decode(bytes)?,
            ..Document::default()
        },
    })
}

/// Checks that apply to documents of every format.
pub(crate) fn check(document: Document, limits: &Limits) -> Result<Document, Unreadable> {
    if document.text.len() as u64 > limits.text_bytes {
        return Err(Unreadable::TooMuchText {
            limit_bytes: limits.text_bytes,
        });
    }
    if !document.text.contains(char::is_alphanumeric) {
        let mut reasons = document.unread.iter().map(|page| page.reason);
        return Err(match reasons.next() {
            None => Unreadable::NoText,
            Some(UnreadReason::NoRecognition) => Unreadable::NoRecognition,
            Some(_) => Unreadable::NotRecognized,
        });
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
