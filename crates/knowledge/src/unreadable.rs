//! Why a file cannot be read, in sentences for those who sent it.

use serde::{Deserialize, Serialize};

/// Why there is no text of a file. The names are stable: the web app has words for each in other languages.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize)]
#[serde(tag = "code", rename_all = "snake_case")]
pub enum Unreadable {
    /// The file itself is beyond the limit.
    #[error("The file is too large: at most {} MB are read.", limit_bytes / 1_000_000)]
    TooLarge {
        /// Bytes of the file.
        limit_bytes: u64,
    },
    /// What is packed in the file is beyond the limit.
    #[error("The file unpacks to more than {} MB, so it was not read.", limit_bytes / 1_000_000)]
    UnpacksTooLarge {
        /// Bytes of all that is unpacked.
        limit_bytes: u64,
    },
    /// There is more text than is kept of one document.
    #[error("The document has more than {} MB of text. Split it.", limit_bytes / 1_000_000)]
    TooMuchText {
        /// Bytes of text.
        limit_bytes: u64,
    },
    /// There are more pages than are read.
    #[error("The document has more than {limit} pages. Split it.")]
    TooManyPages {
        /// How many are read.
        limit: u32,
    },
    /// A password is asked.
    #[error("The file is protected by a password. Save it without one.")]
    Encrypted,
    /// It is of a format that we read, and damaged.
    #[error("The file is damaged or incomplete: it cannot be read as {format}.")]
    Damaged {
        /// As people call it, such as “PDF”.
        format: String,
    },
    /// It was read, and no words are in it.
    #[error("No text was found in the file. Scanned pages need text recognition first.")]
    NoText,
    /// A format that we do not read.
    #[error("Files of this kind cannot be read as text.")]
    UnknownFormat,
    /// A picture, which has no text of its own.
    #[error(
        "A picture is read by a model that sees, and this server has none. An administrator can name one: knowledge.vision_model."
    )]
    Picture,
    /// A picture that says it has more pixels than anybody should unpack.
    #[error("The picture is too large: at most {limit} megapixels are looked at.")]
    TooManyPixels {
        /// Millions of pixels.
        limit: u32,
    },
    /// Reading was given up.
    #[error("Reading the file took longer than {limit_seconds} seconds and was ended.")]
    TooSlow {
        /// The time it had.
        limit_seconds: u64,
    },
    /// Reading was ended by the limit of memory.
    #[error("Reading the file needs too much memory.")]
    TooMuchMemory,
    /// The process that reads could not do its work, for a reason that is not the file's.
    #[error("The file could not be read because of a fault of the server: {cause}")]
    Fault {
        /// For an administrator.
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

/// What a file may cost.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// Bytes of a file.
    pub file_bytes: u64,
    /// Bytes of all that is unpacked of it.
    pub unpacked_bytes: u64,
    /// Bytes of its text.
    pub text_bytes: u64,
    /// Pages, slides and sheets.
    pub pages: u32,
    /// Bytes of a picture.
    pub picture_bytes: u64,
    /// Millions of pixels of a picture, as it says itself.
    pub picture_megapixels: u32,
    /// Until reading is given up. Only a process of its own can be held to it.
    pub seconds: u64,
    /// Bytes of memory that reading may take. Only a process of its own can be held to it.
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
