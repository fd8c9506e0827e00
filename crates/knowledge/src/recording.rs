//! The format of a recording of sound, or of a film with sound, by its first bytes. Nothing is decoded.

/// A recording that can be passed to a model for transcription.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recording {
    /// The usual ending of its format, without the dot.
    pub ending: &'static str,
    /// Its media type.
    pub media_type: &'static str,
}

/// The number of bytes in which a WebM file says what it is.
const WEBM_HEAD_BYTES: usize = 64;
/// How much of an MP3 file may be something else, such as zeros, before its first frame.
const MP3_SEARCH_BYTES: usize = 4096;
/// MP4 files that are pictures.
const PICTURE_BRANDS: [&[u8]; 8] = [
    b"avif", b"avis", b"heic", b"heix", b"heim", b"mif1", b"msf1", b"jxl ",
];

const fn recording(ending: &'static str, media_type: &'static str) -> Recording {
    Recording { ending, media_type }
}

impl Recording {
    /// `None` if it is not a known one. `ending` is that of the file's name, in lower case; it decides only about MP3 files
    /// without a tag, whose beginning says little.
    #[must_use]
    pub fn of(ending: &str, bytes: &[u8]) -> Option<Self> {
        if bytes.starts_with(b"RIFF") && bytes.get(8..12) == Some(b"WAVE") {
            return Some(recording("wav", "audio/wav"));
        }
        if bytes.starts_with(b"fLaC") {
            return Some(recording("flac", "audio/flac"));
        }
        if bytes.starts_with(b"OggS") {
            return Some(recording("ogg", "audio/ogg"));
        }
        if bytes.starts_with(b"ID3") {
            return Some(recording("mp3", "audio/mpeg"));
        }
        if bytes.get(4..8) == Some(b"ftyp") {
            return mp4(bytes);
        }
        if is_webm(bytes) {
            return Some(recording("webm", "video/webm"));
        }
        let is_named = matches!(ending, "mp3" | "mpga" | "mpeg");
        (is_named && has_mp3_frames(bytes)).then(|| recording("mp3", "audio/mpeg"))
    }
}

/// The family of formats of MP4, QuickTime and 3GP; only the brand says whether it is sound alone.
fn mp4(bytes: &[u8]) -> Option<Recording> {
    let brand = bytes.get(8..12)?;
    if PICTURE_BRANDS.contains(&brand) {
        return None;
    }
    match brand {
        b"M4A " | b"M4B " | b"M4P " => Some(recording("m4a", "audio/mp4")),
        _ => Some(recording("mp4", "video/mp4")),
    }
}

fn is_webm(bytes: &[u8]) -> bool {
    let head = &bytes[..bytes.len().min(WEBM_HEAD_BYTES)];
    head.starts_with(b"\x1a\x45\xdf\xa3") && memchr::memmem::find(head, b"webm").is_some()
}

/// Whether two MPEG frames of layer 3 follow each other.
fn has_mp3_frames(bytes: &[u8]) -> bool {
    let searched = &bytes[..bytes.len().min(MP3_SEARCH_BYTES)];
    memchr::memchr_iter(0xff, searched).any(|at| {
        let length = bytes.get(at..).and_then(mp3_frame_bytes);
        length.is_some_and(|length| bytes.get(at + length..).and_then(mp3_frame_bytes).is_some())
    })
}

/// The length of the frame that begins here.
fn mp3_frame_bytes(bytes: &[u8]) -> Option<usize> {
    const KBITS: [[usize; 16]; 2] = [
        [
            0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 0,
        ],
        [
            0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160, 0,
        ],
    ];
    const HERTZ: [usize; 3] = [44_100, 48_000, 32_000];
    let head = bytes.get(..4)?;
    let (version, layer) = (head[1] >> 3 & 3, head[1] >> 1 & 3);
    let is_frame = head[0] == 0xff && head[1] >> 5 == 7 && version != 1 && layer == 1;
    if !is_frame {
        return None;
    }
    let is_first_version = version == 3;
    let kbits = KBITS[usize::from(!is_first_version)][usize::from(head[2] >> 4)];
    let hertz = HERTZ.get(usize::from(head[2] >> 2 & 3))?;
    let divided = match version {
        3 => 1,
        2 => 2,
        _ => 4,
    };
    let samples_by_8 = if is_first_version { 144 } else { 72 };
    let padding = usize::from(head[2] >> 1 & 1);
    (kbits > 0).then(|| samples_by_8 * kbits * 1000 / (hertz / divided) + padding)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ending(name: &str, bytes: &[u8]) -> Option<&'static str> {
        Recording::of(name, bytes).map(|it| it.ending)
    }

    #[test]
    fn formats_are_known_by_their_first_bytes() {
        for (bytes, expected) in [
            (&b"RIFF\x24\0\0\0WAVEfmt "[..], Some("wav")),
            (b"RIFF\x24\0\0\0WEBPVP8 ", None),
            (b"fLaC\0\0\0\x22", Some("flac")),
            (b"OggS\0\x02", Some("ogg")),
            (b"ID3\x04\0\0\0\0\0\x23", Some("mp3")),
            (b"\0\0\0\x20ftypM4A \0\0\0\0", Some("m4a")),
            (b"\0\0\0\x20ftypisom\0\0\x02\0", Some("mp4")),
            (b"\0\0\0\x14ftypqt  \0\0\0\0", Some("mp4")),
            (b"\0\0\0\x1cftypavif\0\0\0\0", None),
            (b"\0\0\0\x1cftypheic\0\0\0\0", None),
            (
                b"\x1a\x45\xdf\xa3\x9f\x42\x86\x81\x01\x42\xf7\x81\x01\x42\x82\x84webm\x42\x87",
                Some("webm"),
            ),
            (b"\x1a\x45\xdf\xa3\x9f\x42\x82\x88matroska", None),
            (b"\0\0\0\x20ftyp", None),
            (b"", None),
        ] {
            assert_eq!(
                ending("", bytes),
                expected,
                "{:?}",
                String::from_utf8_lossy(bytes)
            );
        }
    }

    #[test]
    fn an_mp3_file_without_a_tag_is_known_by_two_frames() {
        // 128 kbit/s and 44.1 kHz: 417 bytes.
        let mut frame = vec![0xff, 0xfb, 0x90, 0x00];
        frame.resize(417, 0);
        let two = [&frame[..], &frame].concat();
        assert_eq!(ending("mp3", &two), Some("mp3"));
        assert_eq!(ending("mp3", &[&[0; 100][..], &two].concat()), Some("mp3"));
        assert_eq!(ending("mp3", &frame), None);
        assert_eq!(ending("bin", &two), None, "not by its name");
        // 24 kHz, 64 kbit/s: 192 bytes.
        let mut low = vec![0xff, 0xf3, 0x84, 0x00];
        low.resize(192, 0);
        assert_eq!(ending("mp3", &[&low[..], &low].concat()), Some("mp3"));
        for end in 0..two.len() {
            let _ = ending("mp3", &two[..end]);
        }
        assert_eq!(ending("mp3", &[0xff; 5000]), None);
    }
}
