//! The format and dimensions of a picture, read from its header. Nothing is decoded, and the dimensions are only
//! trusted as a reason to refuse it.

use crate::unreadable::{Limits, Unreadable};

/// A picture that can be passed to a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Picture {
    /// As in a `data:` URL.
    pub media_type: &'static str,
    /// Width in pixels, according to the header.
    pub width: u32,
    /// Height in pixels, according to the header.
    pub height: u32,
}

const PNG: &[u8] = b"\x89PNG\r\n\x1a\n";
const JPEG: &[u8] = b"\xff\xd8\xff";
/// Maximum length of a side, pixels; models scale pictures to less than that anyway.
const MAX_SIDE: u32 = 30_000;

impl Picture {
    /// The format of a picture by its first bytes; `None` if it is not a known one.
    #[must_use]
    pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
        if bytes.starts_with(PNG) {
            Some("image/png")
        } else if bytes.starts_with(JPEG) {
            Some("image/jpeg")
        } else if bytes.starts_with(b"GIF87a") || bytes.starts_with(b"GIF89a") {
            Some("image/gif")
        } else if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WEBP") {
            Some("image/webp")
        } else {
            None
        }
    }

    /// A picture within the limits; `None` if the file is not a picture.
    ///
    /// # Errors
    /// If its dimensions are unknown or exceed the limits.
    pub fn of(bytes: &[u8], limits: &Limits) -> Option<Result<Self, Unreadable>> {
        let media_type = Self::media_type(bytes)?;
        let Some((width, height)) =
            size(media_type, bytes).filter(|(width, height)| width * height > 0)
        else {
            return Some(Err(Unreadable::damaged("a picture")));
        };
        if bytes.len() as u64 > limits.picture_bytes {
            return Some(Err(Unreadable::TooLarge {
                limit_bytes: limits.picture_bytes,
            }));
        }
        let limit = limits.picture_megapixels;
        let is_bomb = width * height > u64::from(limit) * 1_000_000
            || width.max(height) > u64::from(MAX_SIDE);
        if is_bomb {
            return Some(Err(Unreadable::TooManyPixels { limit }));
        }
        let side = |pixels: u64| u32::try_from(pixels).unwrap_or(MAX_SIDE);
        Some(Ok(Self {
            media_type,
            width: side(width),
            height: side(height),
        }))
    }
}

fn size(media_type: &str, bytes: &[u8]) -> Option<(u64, u64)> {
    match media_type {
        "image/png" => {
            let is_header = bytes.get(12..16)? == b"IHDR";
            is_header.then(|| Some((big(bytes.get(16..20)?), big(bytes.get(20..24)?))))?
        }
        "image/gif" => Some((little(bytes.get(6..8)?), little(bytes.get(8..10)?))),
        "image/jpeg" => jpeg(bytes),
        _ => webp(bytes),
    }
}

/// The dimensions are in the frame header, after segments that state their lengths.
fn jpeg(bytes: &[u8]) -> Option<(u64, u64)> {
    let mut at = 2;
    loop {
        let mark = *bytes.get(at)?;
        let kind = *bytes.get(at + 1)?;
        if mark != 0xff {
            return None;
        }
        match kind {
            // Fill bytes may precede a marker.
            0xff => at += 1,
            0xc0..=0xcf if !matches!(kind, 0xc4 | 0xc8 | 0xcc) => {
                return Some((
                    big(bytes.get(at + 7..at + 9)?),
                    big(bytes.get(at + 5..at + 7)?),
                ));
            }
            // The picture data begins without a frame header.
            0xd8..=0xda => return None,
            _ => {
                let length = usize::try_from(big(bytes.get(at + 2..at + 4)?)).ok()?;
                at += 2 + length.max(2);
            }
        }
    }
}

fn webp(bytes: &[u8]) -> Option<(u64, u64)> {
    match bytes.get(12..16)? {
        b"VP8 " if bytes.get(23..26)? == b"\x9d\x01\x2a" => Some((
            little(bytes.get(26..28)?) & 0x3fff,
            little(bytes.get(28..30)?) & 0x3fff,
        )),
        b"VP8L" if *bytes.get(20)? == 0x2f => {
            let bits = little(bytes.get(21..25)?);
            Some(((bits & 0x3fff) + 1, (bits >> 14 & 0x3fff) + 1))
        }
        b"VP8X" => Some((
            little(bytes.get(24..27)?) + 1,
            little(bytes.get(27..30)?) + 1,
        )),
        _ => None,
    }
}

fn big(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

fn little(bytes: &[u8]) -> u64 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, byte| number << 8 | u64::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        [
            PNG,
            &13_u32.to_be_bytes(),
            b"IHDR",
            &width.to_be_bytes(),
            &height.to_be_bytes(),
            &[8, 2, 0, 0, 0],
        ]
        .concat()
    }

    fn of(bytes: &[u8]) -> Option<Result<(u32, u32), Unreadable>> {
        Picture::of(bytes, &Limits::default())
            .map(|picture| picture.map(|it| (it.width, it.height)))
    }

    #[test]
    fn each_kind_says_its_size() {
        let jpeg = b"\xff\xd8\xff\xe0\x00\x04ab\xff\xff\xc4\x00\x03x\xff\xc2\x00\x0b\x08\x00\x20\x00\x40\x01";
        let lossy = b"RIFF\x20\0\0\0WEBPVP8 \x10\0\0\0\x30\x01\0\x9d\x01\x2a\x40\x00\x20\x40";
        let lossless = b"RIFF\x20\0\0\0WEBPVP8L\x10\0\0\0\x2f\x3f\xc0\x07\x00";
        let extended = b"RIFF\x20\0\0\0WEBPVP8X\x0a\0\0\0\x10\0\0\0\x3f\0\0\x1f\0\0";
        for (bytes, media_type) in [
            (&png(64, 32)[..], "image/png"),
            (b"GIF89a\x40\0\x20\0\xf7\0\0", "image/gif"),
            (jpeg, "image/jpeg"),
            (lossy, "image/webp"),
            (lossless, "image/webp"),
            (extended, "image/webp"),
        ] {
            let picture = Picture::of(bytes, &Limits::default());
            assert_eq!(
                picture,
                Some(Ok(Picture {
                    media_type,
                    width: 64,
                    height: 32
                }))
            );
            // A truncated file must give an error, wherever it ends.
            for end in 12..bytes.len() {
                assert!(of(&bytes[..end]).is_some(), "{media_type} {end}");
            }
        }
        assert_eq!(of(b"%PDF-1.7"), None);
        assert_eq!(of(b"RIFF\x20\0\0\0WAVEfmt "), None);
        assert_eq!(of(b""), None);
    }

    #[test]
    fn what_cannot_be_looked_at_is_refused_unseen() {
        let damaged = Some(Err(Unreadable::damaged("a picture")));
        assert_eq!(of(b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR"), damaged);
        assert_eq!(of(&png(0, 5)), damaged);
        assert_eq!(of(b"\xff\xd8\xff\xda\x00\x00"), damaged);
        // Segments of length zero must not cause an endless loop.
        assert_eq!(
            of(&[&b"\xff\xd8"[..], &b"\xff\xe0\0\0".repeat(1000)].concat()),
            damaged
        );
        let bomb = Some(Err(Unreadable::TooManyPixels { limit: 50 }));
        assert_eq!(of(&png(60_000, 60_000)), bomb);
        assert_eq!(of(&png(u32::MAX, u32::MAX)), bomb);
        assert_eq!(of(&png(40_000, 1)), bomb);
        let large = [png(64, 32), vec![0; 10_000_001]].concat();
        assert_eq!(
            of(&large),
            Some(Err(Unreadable::TooLarge {
                limit_bytes: 10_000_000
            }))
        );
    }
}
