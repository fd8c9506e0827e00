//! Detects the type of a file (text, picture or other) from its first bytes, never from its name.

/// File types by their first bytes; `*` matches any byte.
const KINDS: [(&[u8], &str); 16] = [
    (b"\x89PNG\r\n\x1a\n", "a PNG picture"),
    (b"\xff\xd8\xff", "a JPEG picture"),
    (b"GIF8", "a GIF picture"),
    (b"RIFF****WEBP", "a WebP picture"),
    (b"RIFF****WAVE", "a WAV sound"),
    (b"%PDF-", "a PDF document"),
    (b"PK\x03\x04", "a ZIP archive or an office document"),
    (b"PK\x05\x06", "an empty ZIP archive"),
    (b"\x1f\x8b", "a gzip archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ\0", "an xz archive"),
    (b"(\xb5/\xfd", "a Zstandard archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"PAR1", "a Parquet table"),
    (b"\x7fELF", "a program"),
    (b"\x93NUMPY", "a NumPy array"),
];

/// Pictures that a browser may show: first bytes and media types. SVG is excluded, as it is a document.
const PICTURES: [(&[u8], &str); 5] = [
    (b"\x89PNG\r\n\x1a\n", "image/png"),
    (b"\xff\xd8\xff", "image/jpeg"),
    (b"GIF87a", "image/gif"),
    (b"GIF89a", "image/gif"),
    (b"RIFF****WEBP", "image/webp"),
];

/// The media type of a picture that a browser may show; `None` for anything else.
#[must_use]
pub fn picture_type(bytes: &[u8]) -> Option<&'static str> {
    PICTURES
        .iter()
        .find(|(start, _)| begins_with(bytes, start))
        .map(|(_, media_type)| *media_type)
}

/// Other media that a browser plays or shows: first bytes and media types.
const MEDIA: [(&[u8], &str); 12] = [
    (b"RIFF****WAVE", "audio/wav"),
    (b"ID3", "audio/mpeg"),
    (b"\xff\xfb", "audio/mpeg"),
    (b"\xff\xf3", "audio/mpeg"),
    (b"\xff\xf2", "audio/mpeg"),
    (b"OggS", "audio/ogg"),
    (b"fLaC", "audio/flac"),
    (b"****ftypM4A ", "audio/mp4"),
    (b"****ftypqt  ", "video/quicktime"),
    (b"****ftyp", "video/mp4"),
    (b"\x1aE\xdf\xa3", "video/webm"),
    (b"%PDF-", "application/pdf"),
];

/// Pictures in an ISO base media container like MP4's, which not every browser shows.
const BOXED_PICTURES: [&[u8]; 3] = [b"****ftyphei", b"****ftypmif1", b"****ftypavif"];

/// The media type of a picture, sound, video or PDF document; `None` for anything else.
#[must_use]
pub fn media_type(bytes: &[u8]) -> Option<&'static str> {
    if BOXED_PICTURES.iter().any(|start| begins_with(bytes, start)) {
        return None;
    }
    let media = || MEDIA.iter().find(|(start, _)| begins_with(bytes, start));
    picture_type(bytes).or_else(|| media().map(|(_, media_type)| *media_type))
}

/// Whether it is an SVG drawing, which a page may show as an image but never as a document.
#[must_use]
pub(crate) fn is_drawing(path: &str, bytes: &[u8]) -> bool {
    path.to_ascii_lowercase().ends_with(".svg")
        && as_text(bytes).is_some_and(|text| text.contains("<svg"))
}

/// Whether the name is that of a picture or a drawing.
#[must_use]
pub(crate) fn seems_picture(path: &str) -> bool {
    let ending = path
        .rsplit_once('.')
        .map(|(_, ending)| ending.to_ascii_lowercase());
    ending.is_some_and(|ending| {
        ["png", "jpg", "jpeg", "gif", "webp", "svg"].contains(&ending.as_str())
    })
}

/// The text, if it is UTF-8 without NUL characters.
#[must_use]
pub fn as_text(bytes: &[u8]) -> Option<&str> {
    std::str::from_utf8(bytes)
        .ok()
        .filter(|text| !text.contains('\0'))
}

/// The type, as part of a sentence.
pub(super) fn describe(bytes: &[u8]) -> &'static str {
    KINDS
        .iter()
        .find(|(start, _)| begins_with(bytes, start))
        .map_or("binary data", |(_, kind)| *kind)
}

fn begins_with(bytes: &[u8], start: &[u8]) -> bool {
    bytes.len() >= start.len()
        && start
            .iter()
            .zip(bytes)
            .all(|(expected, byte)| *expected == b'*' || expected == byte)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pictures_are_known_by_their_bytes() {
        for (bytes, media_type) in [
            (&b"\x89PNG\r\n\x1a\n1234"[..], Some("image/png")),
            (b"\xff\xd8\xff\xe0", Some("image/jpeg")),
            (b"GIF89a", Some("image/gif")),
            (b"RIFF\x01\x02\x03\x04WEBPVP8 ", Some("image/webp")),
            (b"RIFF\x01\x02\x03\x04WAVE", None),
            (b"\x89PNG", None),
            (b"<svg xmlns=\"http://www.w3.org/2000/svg\"/>", None),
            (b"<html>", None),
            (b"", None),
        ] {
            assert_eq!(picture_type(bytes), media_type, "{bytes:?}");
        }
    }

    #[test]
    fn media_are_known_by_their_bytes() {
        for (bytes, expected) in [
            (&b"\x89PNG\r\n\x1a\n1234"[..], Some("image/png")),
            (b"RIFF\x01\x02\x03\x04WAVEfmt ", Some("audio/wav")),
            (b"ID3\x04", Some("audio/mpeg")),
            (b"\0\0\0\x20ftypM4A \0", Some("audio/mp4")),
            (b"\0\0\0\x20ftypisom\0", Some("video/mp4")),
            (b"\0\0\0\x20ftypheic\0", None),
            (b"\x1aE\xdf\xa3\x01", Some("video/webm")),
            (b"%PDF-1.7", Some("application/pdf")),
            (b"<svg/>", None),
            (b"<html>", None),
        ] {
            assert_eq!(media_type(bytes), expected, "{bytes:?}");
        }
    }

    #[test]
    fn text_is_utf8_without_nul() {
        assert_eq!(as_text("Привет".as_bytes()), Some("Привет"));
        assert_eq!(as_text(b"a\0b"), None);
        assert_eq!(as_text(b"\xff\xfe"), None);
        assert_eq!(
            (describe(b"%PDF-1.7"), describe(b"\0\x01")),
            ("a PDF document", "binary data")
        );
    }
}
