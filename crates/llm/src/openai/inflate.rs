//! Decompresses answers that a server has compressed although no encoding was requested.

use std::{
    borrow::Cow,
    io::{self, Write},
};

use flate2::write::{MultiGzDecoder, ZlibDecoder};
use reqwest::header::{CONTENT_ENCODING, HeaderMap};

use super::{Target, fault::Fault};
use crate::messages;

/// Input is decompressed in pieces of this size: each becomes at most a thousand times as large.
const PIECE_BYTES: usize = 1 << 10;

/// Compressed bytes in pieces, between which the output size is checked.
pub(crate) fn pieces(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.chunks(PIECE_BYTES)
}

/// Decompresses the bytes of one answer as they arrive.
pub(crate) enum Inflate {
    Gzip(MultiGzDecoder<Vec<u8>>),
    Zlib(ZlibDecoder<Vec<u8>>),
}

impl Inflate {
    /// The decompressor for an answer with these headers; `None` if it is not compressed.
    ///
    /// # Errors
    /// If the encoding is unknown.
    pub(crate) fn of(headers: &HeaderMap, target: &Target) -> Result<Option<Self>, Fault> {
        match encoding(headers).as_deref() {
            None | Some("" | "identity") => Ok(None),
            Some(name) => Self::named(name)
                .map(Some)
                .ok_or_else(|| unknown(name, target)),
        }
    }

    /// The error page decompressed, up to `limit_bytes`; unchanged if the encoding is unknown.
    pub(crate) fn page<'a>(
        headers: &HeaderMap,
        body: &'a [u8],
        limit_bytes: usize,
    ) -> Cow<'a, [u8]> {
        let Some(mut inflate) = encoding(headers).and_then(|name| Self::named(&name)) else {
            return Cow::Borrowed(body);
        };
        let mut page = Vec::new();
        for piece in pieces(body) {
            match inflate.unpack(piece) {
                Ok(more) if page.len() + more.len() <= limit_bytes => page.extend(more),
                _ => break,
            }
        }
        Cow::Owned(page)
    }

    fn named(encoding: &str) -> Option<Self> {
        match encoding {
            "gzip" | "x-gzip" => Some(Self::Gzip(MultiGzDecoder::new(Vec::new()))),
            "deflate" => Some(Self::Zlib(ZlibDecoder::new(Vec::new()))),
            _ => None,
        }
    }

    fn unpack(&mut self, bytes: &[u8]) -> io::Result<Vec<u8>> {
        match self {
            Self::Gzip(decoder) => {
                unpack(decoder, bytes).map(|()| std::mem::take(decoder.get_mut()))
            }
            Self::Zlib(decoder) => {
                unpack(decoder, bytes).map(|()| std::mem::take(decoder.get_mut()))
            }
        }
    }

    /// Decompresses more bytes.
    pub(crate) fn push(&mut self, bytes: &[u8], target: &Target) -> Result<Vec<u8>, Fault> {
        self.unpack(bytes)
            .map_err(|error| unknown(&error.to_string(), target))
    }
}

fn encoding(headers: &HeaderMap) -> Option<String> {
    let value = headers.get(CONTENT_ENCODING)?;
    Some(value.to_str().unwrap_or("?").trim().to_ascii_lowercase())
}

fn unpack(decoder: &mut impl Write, bytes: &[u8]) -> io::Result<()> {
    decoder.write_all(bytes)?;
    decoder.flush()
}

fn unknown(what: &str, target: &Target) -> Fault {
    let quote = format!("Content-Encoding: {what}");
    Fault::protocol(messages::Models::NotTheProtocol {
        server: target.shown(),
        quote,
    })
}

#[cfg(test)]
mod tests {
    use flate2::{Compression, write::GzEncoder};

    use super::*;

    #[test]
    fn error_pages_are_decompressed_up_to_a_limit() {
        let mut packed = GzEncoder::new(Vec::new(), Compression::default());
        packed.write_all(b"{\"error\":\"no\"}").unwrap();
        let packed = packed.finish().unwrap();
        let headers = |encoding: &'static str| {
            HeaderMap::from_iter([(CONTENT_ENCODING, encoding.parse().unwrap())])
        };
        assert_eq!(
            &*Inflate::page(&headers("GZIP"), &packed, 100),
            b"{\"error\":\"no\"}"
        );
        assert_eq!(&*Inflate::page(&headers("gzip"), &packed, 3), b"");
        assert_eq!(&*Inflate::page(&headers("br"), b"x", 100), b"x");
        assert_eq!(&*Inflate::page(&HeaderMap::new(), b"x", 100), b"x");
    }
}
