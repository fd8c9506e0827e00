//! Unpacks an answer that the server has compressed although nobody has asked for that.

use std::io::{self, Write};

use domain::Sentence;
use flate2::write::{MultiGzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use super::{Target, fault::Fault};

/// Unpacks the bytes of one answer as they come.
pub(crate) enum Inflate {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
}

impl Inflate {
    /// What unpacks an answer with these headers; `None` if it is not packed.
    ///
    /// # Errors
    /// If we do not know how it is packed.
    pub(crate) fn of(headers: &HeaderMap, target: &Target) -> Result<Option<Self>, Fault> {
        let encoding = headers.get(CONTENT_ENCODING).map(|value| value.to_str().unwrap_or("?"));
        Ok(match encoding.map(|encoding| encoding.trim().to_ascii_lowercase()).as_deref() {
            None | Some("" | "identity") => None,
            Some("gzip" | "x-gzip") => Some(Self::Gzip(MultiGzDecoder::new(Vec::new()))),
            Some("deflate") => Some(Self::Zlib(ZlibDecoder::new(Vec::new()))),
            Some(other) => return Err(unknown(other, target)),
        })
    }

    /// Unpacks more bytes.
    pub(crate) fn push(&mut self, bytes: &[u8], target: &Target) -> Result<Vec<u8>, Fault> {
        let unpacked = match self {
            Self::Gzip(decoder) => unpack(decoder, bytes).map(|()| std::mem::take(decoder.get_mut())),
            Self::Zlib(decoder) => unpack(decoder, bytes).map(|()| std::mem::take(decoder.get_mut())),
        };
        unpacked.map_err(|error| unknown(&error.to_string(), target))
    }
}

fn unpack(decoder: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

fn unknown(what: &str, target: &Target) -> Fault {
    let quote = format!("Content-Encoding: {what}");
    Fault::protocol(Sentence::NotTheProtocol { server: target.shown(), quote })
}
