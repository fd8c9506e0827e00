//! Detects the format of a file by its content, and by its name if the content is ambiguous.

use memchr::memmem;

use super::{
    html, mail,
    office::{self, Archive},
    outlook, picture, plain,
};
use crate::{picture::Picture, recording::Recording, unreadable::Unreadable};

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
    /// Documents of Word 97 to 2003.
    Doc,
    /// Presentations of PowerPoint 97 to 2003.
    Ppt,
    /// Workbooks of Excel 5 to 2003.
    Xls,
    /// OpenDocument texts, spreadsheets and presentations.
    OpenDocument,
    /// Books.
    Epub,
    /// Rich Text Format.
    Rtf,
    /// Web pages.
    Html,
    /// Web pages saved with their parts (MHTML).
    WebArchive,
    /// E-mail messages as files.
    Mail,
    /// E-mail messages saved by Outlook.
    OutlookMail,
    /// Jupyter notebooks.
    Notebook,
    /// Tables as delimited text, such as CSV.
    Delimited,
    /// A picture, whose text has to be recognized.
    Picture,
    /// A recording, which has to be transcribed.
    Recording,
    /// Markdown.
    Markdown,
    /// Text, code: anything that is text itself.
    Plain,
}

/// Signature of Outlook messages, old and encrypted Office files.
const COMPOUND_FILE: &[u8] = &[0xd0, 0xcf, 0x11, 0xe0, 0xa1, 0xb1, 0x1a, 0xe1];
/// Supported extensions of Office documents.
const OFFICE_ENDINGS: [&str; 6] = ["docx", "docm", "pptx", "pptm", "xlsx", "xlsm"];
/// Supported extensions of OpenDocument files that are ZIP archives.
const OPEN_ENDINGS: [&str; 6] = ["odt", "ods", "odp", "ott", "ots", "otp"];
/// Maximum size of the media type in an archive.
const MIMETYPE_BYTES: u64 = 256;
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
        if is_pdf(&ending, bytes) {
            return Ok(Self::Pdf);
        }
        let is_office = OFFICE_ENDINGS.contains(&ending.as_str());
        let is_zipped = is_office || OPEN_ENDINGS.contains(&ending.as_str());
        if bytes.starts_with(b"PK\x03\x04") {
            return zipped(bytes).map_err(|why| match why {
                // Many other formats are ZIP archives, and one that does not unpack cannot be identified further.
                Unreadable::Damaged { .. } if !is_zipped => Unreadable::damaged("a ZIP archive"),
                why => why,
            });
        }
        if bytes.starts_with(COMPOUND_FILE) {
            return outlook::format(bytes, &ending, is_office);
        }
        if let Some(program) = office::old_program(bytes, &ending) {
            return Err(Unreadable::TooOld {
                format: program.to_owned(),
            });
        }
        if bytes.starts_with(b"{\\rtf") {
            return Ok(Self::Rtf);
        }
        if Picture::media_type(bytes).is_some() || picture::is_scan(bytes) {
            return Ok(Self::Picture);
        }
        if Recording::of(&ending, bytes).is_some() {
            return Ok(Self::Recording);
        }
        match ending.as_str() {
            "pdf" => Err(Unreadable::damaged("PDF")),
            _ if is_zipped => Err(Unreadable::damaged("an Office document")),
            "fodt" | "fods" | "fodp" => Ok(Self::OpenDocument),
            "epub" => Err(Unreadable::damaged("EPUB")),
            "msg" => Err(Unreadable::damaged("an e-mail")),
            "html" | "htm" | "xhtml" => Ok(Self::Html),
            "eml" => Ok(Self::Mail),
            "mht" | "mhtml" => Ok(Self::WebArchive),
            "ipynb" => Ok(Self::Notebook),
            "md" | "markdown" => Ok(Self::Markdown),
            _ if plain::is_binary(beginning) => Err(Unreadable::UnknownFormat),
            "csv" | "tsv" | "tab" | "psv" => Ok(Self::Delimited),
            _ if html::is_page(beginning) => Ok(Self::Html),
            "" if mail::is_mail(beginning) => Ok(Self::Mail),
            _ => Ok(Self::Plain),
        }
    }
}

/// The format of a ZIP archive. Those that are no Office documents have their media type in a part of its own.
fn zipped(bytes: &[u8]) -> Result<Format, Unreadable> {
    let mut archive = Archive::open(bytes, MIMETYPE_BYTES)?;
    let mimetype = archive.text("mimetype").ok().flatten().unwrap_or_default();
    match mimetype.trim() {
        "application/epub+zip" => Ok(Format::Epub),
        kind if kind.starts_with("application/vnd.oasis.opendocument.") => Ok(Format::OpenDocument),
        _ if archive.has("META-INF/container.xml") => Ok(Format::Epub),
        _ => office::format(bytes),
    }
}

/// Whether it is a PDF, which may have other data before it. A text that mentions the signature is not.
fn is_pdf(ending: &str, bytes: &[u8]) -> bool {
    if ending == "pdf" {
        return memmem::find(bytes, b"%PDF-").is_some();
    }
    let Some(start) = memmem::find(&bytes[..bytes.len().min(SNIFFED_BYTES)], b"%PDF-") else {
        return false;
    };
    let before = &bytes[..start];
    let before = before.strip_prefix(b"\xef\xbb\xbf").unwrap_or(before);
    let is_first = before.trim_ascii().is_empty();
    memmem::find(&bytes[start..], b" obj").is_some()
        && (is_first || std::str::from_utf8(bytes).is_err())
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
            ("a", &b"%PDF-1.7 1 0 obj"[..], "Pdf"),
            ("a.txt", b"\xef\xbb\xbf%PDF-1.4 1 0 obj", "Pdf"),
            ("a", b"x\xff%PDF-1.4 1 0 obj", "Pdf"),
            ("a.pdf", b"junk %PDF-1.4", "Pdf"),
            (
                "a.md",
                b"A PDF begins with %PDF-1.4 and then 1 0 obj.",
                "Markdown",
            ),
            ("a.txt", b"%PDF- is how a PDF begins.", "Plain"),
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
                "The file is damaged or incomplete: it cannot be read as an Office document.",
            ),
            (
                "a.bin",
                COMPOUND_FILE,
                "Files of this kind cannot be read as text.",
            ),
            (
                "a.doc",
                b"\xdb\xa5\x2d\0",
                "The file was made with Word 95 or an older version. Save it in a newer format, such as DOCX or PDF.",
            ),
            (
                "a.xls",
                b"\x09\x04\x06\0\0\0\x10\0",
                "The file was made with Excel 4 or an older version. Save it in a newer format, such as DOCX or PDF.",
            ),
            (
                "a.msg",
                COMPOUND_FILE,
                "The file is damaged or incomplete: it cannot be read as an e-mail.",
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
                "a.odt",
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
            ("a", b"From: x\nTo: y\nMIME-Version: 1.0\n\n", "Mail"),
            ("a", b"From: x, To: y", "Plain"),
            ("a.mht", b"From: x", "WebArchive"),
            ("a.doc", b"{\\rtf1 x}", "Rtf"),
            ("a.rtf", b"x", "Plain"),
            ("a.TSV", b"x", "Delimited"),
            ("a.csv", b"n\0a\0,\0\n\0", "Delimited"),
            ("a.ipynb", b"{}", "Notebook"),
            ("a.png", b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "Picture"),
            ("a.txt", b"\xff\xd8\xff\xe0 JFIF", "Picture"),
            (
                "a.bmp",
                b"BM\x9e\0\0\0\0\0\0\0\x36\0\0\0\x28\0\0\0",
                "Picture",
            ),
            ("a.txt", b"BMW is a car maker in Munich.", "Plain"),
            ("a.tif", b"MM\0*\0\0\0\x08", "Picture"),
            ("a.mp3", b"ID3\x04\0\0\0\0\0\x23", "Recording"),
            ("a", b"OggS\0\x02\0\0", "Recording"),
            ("a", b"", "Plain"),
        ] {
            assert_eq!(format(name, bytes), expected, "{name}");
        }
    }
}
