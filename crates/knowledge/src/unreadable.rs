//! Why a file cannot be read, as messages for its sender.

use serde::{Deserialize, Serialize};

/// Why there is no text of a file. The names are stable, since the web app translates them.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Unreadable {
    /// The file itself exceeds the limit.
    #[error("The file is too large: at most {} MB are read.", limit_bytes / 1_000_000)]
    TooLarge {
        /// Maximum size of a file, bytes.
        limit_bytes: u64,
    },
    /// The unpacked content exceeds the limit.
    #[error("The file unpacks to more than {} MB, so it was not read.", limit_bytes / 1_000_000)]
    UnpacksTooLarge {
        /// Maximum total unpacked size, bytes.
        limit_bytes: u64,
    },
    /// The text exceeds the limit per document.
    #[error("The document has more than {} MB of text. Split it.", limit_bytes / 1_000_000)]
    TooMuchText {
        /// Maximum size of the text, bytes.
        limit_bytes: u64,
    },
    /// It has too many pages.
    #[error("The document has more than {limit} pages. Split it.")]
    TooManyPages {
        /// Maximum number of pages.
        limit: u32,
    },
    /// It is protected by a password.
    #[error("The file is protected by a password. Save it without one.")]
    Encrypted,
    /// It is of a supported format but damaged.
    #[error("The file is damaged or incomplete: it cannot be read as {format}.")]
    Damaged {
        /// The common name of the format, such as “PDF”.
        format: String,
    },
    /// It was made with a program whose files are not read.
    #[error(
        "The file was made with {format} or an older version. Save it in a newer format, such as DOCX or PDF."
    )]
    TooOld {
        /// The last version of the program whose files are not read, such as “Word 95”.
        format: String,
    },
    /// It was read but contains no words.
    #[error("No text was found in the file.")]
    NoText,
    /// Its pages are pictures, and no program that recognizes text is installed.
    #[error(
        "The pages are pictures, and text recognition is not installed on the server. An administrator can install Tesseract."
    )]
    NoRecognition,
    /// Its pages are pictures, none of which could be read.
    #[error("The pages are pictures, and their text could not be recognized.")]
    NotRecognized,
    /// The format is not supported.
    #[error("Files of this kind cannot be read as text.")]
    UnknownFormat,
    /// A picture, and there is neither text recognition nor a vision model.
    #[error(
        "A picture is read by text recognition or by a vision model, and this server has neither. An administrator can install Tesseract, or name a model: knowledge.vision_model."
    )]
    Picture,
    /// A recording of sound, and no model that transcribes it is named.
    #[error(
        "No model for transcription is named, so recordings are not read. An administrator can name one: knowledge.transcription_model."
    )]
    Recording,
    /// The document reader elsewhere answered that it cannot read the file, or with something else than a document.
    #[error("The external document reader could not read the file.")]
    NotConverted,
    /// A picture that claims to have more pixels than is safe to decode.
    #[error("The picture is too large: at most {limit} megapixels are looked at.")]
    TooManyPixels {
        /// The limit in megapixels.
        limit: u32,
    },
    /// Reading timed out.
    #[error("Reading the file took longer than {limit_seconds} seconds and was ended.")]
    TooSlow {
        /// The time limit, seconds.
        limit_seconds: u64,
    },
    /// Reading exceeded the memory limit.
    #[error("Reading the file needs too much memory.")]
    TooMuchMemory,
    /// The reading process failed for a reason unrelated to the file.
    #[error("The file could not be read because of a fault of the server: {cause}")]
    Fault {
        /// The cause, for an administrator.
        cause: String,
    },
}

impl Unreadable {
    pub(crate) fn damaged(format: &str) -> Self {
        Self::Damaged {
            format: format.to_owned(),
        }
    }
}

/// Resource limits for reading a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Maximum size of a file, bytes.
    pub file_bytes: u64,
    /// Maximum total unpacked size, bytes.
    pub unpacked_bytes: u64,
    /// Maximum size of its text, bytes.
    pub text_bytes: u64,
    /// Maximum number of pages, slides or sheets.
    pub pages: u32,
    /// Maximum size of a picture, bytes.
    pub picture_bytes: u64,
    /// Maximum size of a picture according to its header, megapixels.
    pub picture_megapixels: u32,
    /// Time limit, seconds. Only enforced in a separate process.
    pub seconds: u64,
    /// Memory limit, bytes. Only enforced in a separate process.
    pub memory_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            file_bytes: 100_000_000,
            unpacked_bytes: 300_000_000,
            text_bytes: 20_000_000,
            pages: 5000,
            picture_bytes: 10_000_000,
            picture_megapixels: 50,
            seconds: 120,
            memory_bytes: 1_500_000_000,
        }
    }
}
