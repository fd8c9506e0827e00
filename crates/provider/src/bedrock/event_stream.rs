//! AWS's binary event stream: frames with headers, a payload and two checksums.
//!
//! A frame is its length and that of its headers (32 bits each, big-endian), their CRC32, the headers, the payload, and the
//! CRC32 of all before.

/// Length of the two lengths and their checksum.
const PRELUDE: usize = 12;
/// Length of the checksum at the end.
const CHECKSUM: usize = 4;

/// A received frame.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Message {
    /// The event type. For faults that end the stream this is `exception/` and the type, such as
    /// `exception/throttlingException`.
    pub name: String,
    /// The payload, usually JSON. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub data: String,
}

/// Why bytes are no frame.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// The frame is larger than the decoder's limit.
    #[error("a frame of {size} bytes is larger than {limit} bytes")]
    TooLarge {
        /// The announced size.
        size: usize,
        /// The limit.
        limit: usize,
    },
    /// A checksum does not match: bytes were changed, or it is another format.
    #[error("a frame has a wrong checksum")]
    Checksum,
    /// The lengths or headers are invalid.
    #[error("a frame is malformed")]
    Malformed,
}

/// Decodes frames from chunks of any size.
#[derive(Debug)]
pub struct FrameDecoder {
    limit_bytes: usize,
    /// Received bytes; those before `start` are consumed.
    buffer: Vec<u8>,
    start: usize,
    failed: bool,
}

impl FrameDecoder {
    /// A decoder that gives up on frames of more than `limit_bytes`.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            buffer: Vec::new(),
            start: 0,
            failed: false,
        }
    }

    /// Takes the next bytes. Call [`Self::next`] until it has nothing more before feeding again.
    pub fn feed(&mut self, bytes: &[u8]) {
        self.buffer.drain(..self.start);
        self.start = 0;
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete frame.
    ///
    /// # Errors
    /// The first fault; after it the decoder yields nothing more.
    #[expect(
        clippy::should_implement_trait,
        reason = "more frames may come after it had none"
    )]
    pub fn next(&mut self) -> Option<Result<Message, FrameError>> {
        if self.failed {
            return None;
        }
        let next = self.read().transpose();
        self.failed = matches!(next, Some(Err(_)));
        next
    }

    fn read(&mut self) -> Result<Option<Message>, FrameError> {
        let bytes = &self.buffer[self.start..];
        let Some((prelude, _)) = bytes.split_at_checked(PRELUDE) else {
            return Ok(None);
        };
        // A length is not used before its checksum was verified.
        check(prelude)?;
        let size = number(prelude);
        let headers_size = number(&prelude[4..]);
        if size > self.limit_bytes {
            return Err(FrameError::TooLarge {
                size,
                limit: self.limit_bytes,
            });
        }
        let Some(payload_size) = size
            .checked_sub(PRELUDE + CHECKSUM)
            .and_then(|it| it.checked_sub(headers_size))
        else {
            return Err(FrameError::Malformed);
        };
        let Some(frame) = bytes.get(..size) else {
            return Ok(None);
        };
        check(frame)?;
        let (headers, payload) =
            frame[PRELUDE..PRELUDE + headers_size + payload_size].split_at(headers_size);
        let message = message(headers, payload)?;
        self.start += size;
        Ok(Some(message))
    }
}

/// Checks the CRC32 in the last four bytes.
fn check(bytes: &[u8]) -> Result<(), FrameError> {
    let (checked, sum) = bytes.split_at(bytes.len() - CHECKSUM);
    match crc32fast::hash(checked).to_be_bytes() == sum {
        true => Ok(()),
        false => Err(FrameError::Checksum),
    }
}

/// The 32-bit number at the beginning.
fn number(bytes: &[u8]) -> usize {
    bytes
        .iter()
        .take(4)
        .fold(0, |number, byte| number << 8 | usize::from(*byte))
}

fn message(headers: &[u8], payload: &[u8]) -> Result<Message, FrameError> {
    let mut found = Headers::default();
    let mut rest = headers;
    while !rest.is_empty() {
        rest = header(rest, &mut found).ok_or(FrameError::Malformed)?;
    }
    let data = String::from_utf8_lossy(payload).into_owned();
    let text = |text: Option<&str>| text.unwrap_or_default().to_owned();
    Ok(match found.message_type {
        Some("exception") => Message {
            name: format!("exception/{}", text(found.exception_type)),
            data,
        },
        Some("error") => {
            let words = serde_json::json!({ "message": text(found.error_message) });
            Message {
                name: format!("exception/{}", text(found.error_code)),
                data: words.to_string(),
            }
        }
        _ => Message {
            name: text(found.event_type),
            data,
        },
    })
}

/// The headers that we use.
#[derive(Default)]
struct Headers<'a> {
    message_type: Option<&'a str>,
    event_type: Option<&'a str>,
    exception_type: Option<&'a str>,
    error_code: Option<&'a str>,
    error_message: Option<&'a str>,
}

/// Reads a header; returns the bytes after it.
fn header<'a>(bytes: &'a [u8], found: &mut Headers<'a>) -> Option<&'a [u8]> {
    let (length, rest) = bytes.split_first()?;
    let (name, rest) = rest.split_at_checked(usize::from(*length))?;
    let (kind, rest) = rest.split_first()?;
    let size = match kind {
        0 | 1 => 0,
        2 => 1,
        3 => 2,
        4 => 4,
        5 | 8 => 8,
        6 | 7 => {
            let (length, rest) = rest.split_at_checked(2)?;
            let (value, rest) = rest.split_at_checked(number(length))?;
            let value = std::str::from_utf8(value).ok();
            let to = match name {
                b":message-type" => &mut found.message_type,
                b":event-type" => &mut found.event_type,
                b":exception-type" => &mut found.exception_type,
                b":error-code" => &mut found.error_code,
                b":error-message" => &mut found.error_message,
                _ => return Some(rest),
            };
            *to = value;
            return Some(rest);
        }
        9 => 16,
        _ => return None,
    };
    Some(rest.split_at_checked(size)?.1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(headers: &[u8], payload: &[u8]) -> Vec<u8> {
        let size = u32::try_from(PRELUDE + headers.len() + payload.len() + CHECKSUM).unwrap();
        let mut bytes = size.to_be_bytes().to_vec();
        bytes.extend(u32::try_from(headers.len()).unwrap().to_be_bytes());
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes.extend([headers, payload].concat());
        bytes.extend(crc32fast::hash(&bytes).to_be_bytes());
        bytes
    }

    fn text(name: &str, value: &str) -> Vec<u8> {
        let mut header = vec![u8::try_from(name.len()).unwrap()];
        header.extend(name.as_bytes());
        header.push(7);
        header.extend(u16::try_from(value.len()).unwrap().to_be_bytes());
        header.extend(value.as_bytes());
        header
    }

    fn read(bytes: &[u8]) -> Vec<Result<(String, String), FrameError>> {
        let mut decoder = FrameDecoder::new(1000);
        decoder.feed(bytes);
        std::iter::from_fn(|| decoder.next())
            .map(|next| next.map(|it| (it.name, it.data)))
            .collect()
    }

    #[test]
    fn events_exceptions_and_errors_are_distinguished() {
        let pair = |name: &str, data: &str| Ok((name.to_owned(), data.to_owned()));
        let event = [
            text(":message-type", "event"),
            text(":event-type", "messageStart"),
        ]
        .concat();
        let exception = [
            text(":exception-type", "throttlingException"),
            text(":message-type", "exception"),
        ]
        .concat();
        let error = [
            text(":message-type", "error"),
            text(":error-code", "InternalFailure"),
            text(":error-message", "oh"),
        ]
        .concat();
        // One header of each other type before.
        let others = [
            &b"\x01a\x00"[..],
            b"\x01b\x01",
            b"\x01c\x02\x00",
            b"\x01d\x03\x00\x00",
            b"\x01e\x04\x00\x00\x00\x00",
            b"\x01f\x05\x00\x00\x00\x00\x00\x00\x00\x00",
            b"\x01g\x06\x00\x01\xff",
            b"\x01h\x08\x00\x00\x00\x00\x00\x00\x00\x00",
            b"\x01i\x09\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00",
            &event,
        ]
        .concat();
        let bytes = [
            frame(&event, b"{}"),
            frame(&exception, b"slow"),
            frame(&error, b""),
            frame(&others, b"x"),
        ]
        .concat();
        let expected = [
            pair("messageStart", "{}"),
            pair("exception/throttlingException", "slow"),
            pair("exception/InternalFailure", r#"{"message":"oh"}"#),
            pair("messageStart", "x"),
        ];
        assert_eq!(read(&bytes), expected);
    }

    #[test]
    fn damage_is_found() {
        let good = frame(&text(":event-type", "a"), b"payload");
        assert_eq!(read(&good).len(), 1);
        assert_eq!(read(&good[..good.len() - 1]), []);
        for at in 0..good.len() {
            let mut bad = good.clone();
            bad[at] ^= 1;
            assert_eq!(
                read(&[bad, good.clone()].concat()),
                [Err(FrameError::Checksum)],
                "byte {at}"
            );
        }
        for header in [
            &b"\x05a"[..],
            b"\x01a",
            b"\x01a\x0a",
            b"\x01a\x07\x00\x09x",
            b"\x01a\x04\x00",
        ] {
            assert_eq!(
                read(&frame(header, b"")),
                [Err(FrameError::Malformed)],
                "{header:?}"
            );
        }
        let large = frame(b"", &[0; 1000]);
        assert_eq!(
            read(&large),
            [Err(FrameError::TooLarge {
                size: 1016,
                limit: 1000
            })]
        );
    }
}
