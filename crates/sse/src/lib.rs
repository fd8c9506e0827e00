//! Server-sent events: an incremental decoder, and an encoder of frames.

use std::{borrow::Cow, io::Write};

/// The comment that keeps an idle stream open.
pub const KEEP_ALIVE: &str = ": keep-alive\n\n";

/// An event to send.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Frame {
    /// The position from which a reader can resume.
    pub id: Option<u64>,
    /// The event's name, if the protocol gives it one.
    pub event: Option<&'static str>,
    /// The content, usually one line of JSON.
    pub data: String,
}

impl Frame {
    /// Appends the encoded frame: LF only, one blank line at the end.
    pub fn write(&self, out: &mut Vec<u8>) {
        if let Some(event) = self.event {
            write_field(out, "event", event);
        }
        if let Some(id) = self.id {
            // Writing to a vector cannot fail.
            let _ = writeln!(out, "id: {id}");
        }
        write_data(&self.data, out);
    }
}

/// Appends an event with only data.
pub fn write_data(data: &str, out: &mut Vec<u8>) {
    // JSON has no line breaks; other text needs one field per line.
    let mut rest = data;
    while let Some(at) = memchr::memchr2(b'\r', b'\n', rest.as_bytes()) {
        write_field(out, "data", &rest[..at]);
        let end = if rest[at..].starts_with("\r\n") {
            at + 2
        } else {
            at + 1
        };
        rest = &rest[end..];
    }
    write_field(out, "data", rest);
    out.push(b'\n');
}

fn write_field(out: &mut Vec<u8>, name: &str, value: &str) {
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(b": ");
    out.extend_from_slice(value.as_bytes());
    out.push(b'\n');
}

/// A received event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field, if there was one.
    pub name: Option<&'a str>,
    /// The `id` field of this event, if there was one.
    pub id: Option<&'a str>,
    /// The `data` fields joined with LF. Bytes that are not UTF-8 are replaced by U+FFFD.
    pub data: Cow<'a, str>,
}

/// A line or an event exceeds the limit of the decoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an event is larger than {limit_bytes} bytes")]
pub struct TooLarge {
    /// The limit.
    pub limit_bytes: usize,
}

/// Decodes a stream of server-sent events from chunks of any size. Lines may end in LF, CR or CRLF.
#[derive(Debug)]
pub struct Decoder {
    limit_bytes: usize,
    /// Received bytes; those before `start` are consumed, those before `scanned` contain no line end.
    buffer: Vec<u8>,
    start: usize,
    scanned: usize,
    at_beginning: bool,
    after_cr: bool,
    /// The event so far.
    data: Vec<u8>,
    has_data: bool,
    name: Option<String>,
    id: Option<String>,
    /// The event was returned and is dropped by the next call.
    delivered: bool,
    overflowed: bool,
    /// Each JSON object is an event.
    splits_objects: bool,
}

impl Decoder {
    /// A decoder with a limit for lines and events.
    #[must_use]
    pub fn new(limit_bytes: usize) -> Self {
        Self {
            limit_bytes,
            buffer: Vec::new(),
            start: 0,
            scanned: 0,
            at_beginning: true,
            after_cr: false,
            data: Vec::new(),
            has_data: false,
            name: None,
            id: None,
            delivered: false,
            overflowed: false,
            splits_objects: false,
        }
    }

    /// For a stream of JSON objects, some servers of which omit the blank line between two of them.
    #[must_use]
    pub fn splitting_objects(mut self) -> Self {
        self.splits_objects = true;
        self
    }

    /// Takes the next bytes. Call [`Self::next`] until it has nothing more before feeding again.
    pub fn feed(&mut self, bytes: &[u8]) {
        if self.start > 0 {
            self.buffer.drain(..self.start);
            self.scanned -= self.start;
            self.start = 0;
        }
        self.buffer.extend_from_slice(bytes);
    }

    /// The next complete event, if there is one.
    ///
    /// # Errors
    /// [`TooLarge`] once; after it the decoder yields nothing more.
    #[expect(
        clippy::should_implement_trait,
        reason = "the event borrows from the decoder"
    )]
    pub fn next(&mut self) -> Option<Result<Event<'_>, TooLarge>> {
        if self.overflowed {
            return None;
        }
        self.forget_delivered();
        while let Some((from, to)) = self.next_line() {
            if from == to {
                if self.has_data {
                    return Some(Ok(self.deliver()));
                }
                // An event without data is ignored.
                (self.name, self.id) = (None, None);
                continue;
            }
            if self.splits_objects && self.is_next_object(from, to) {
                // Its line is read again once this event was returned.
                (self.start, self.scanned, self.after_cr) = (from, from, false);
                return Some(Ok(self.deliver()));
            }
            self.take_line(from, to);
            if self.data.len() > self.limit_bytes {
                return Some(Err(self.overflow()));
            }
        }
        if self.buffer.len() - self.start > self.limit_bytes {
            return Some(Err(self.overflow()));
        }
        None
    }

    /// The rest at the end of the stream, within the limit. By the standard an event without its blank line is dropped,
    /// but many servers omit the last one. Call it until it returns `None`.
    pub fn finish(&mut self) -> Option<Event<'_>> {
        if self.overflowed {
            return None;
        }
        self.forget_delivered();
        let from = self.start;
        let to = self.buffer.len();
        if self.splits_objects && self.is_next_object(from, to) {
            return Some(self.deliver());
        }
        self.start = to;
        self.scanned = to;
        if from < to {
            self.take_line(from, to);
        }
        self.overflowed = self.data.len() > self.limit_bytes;
        (self.has_data && !self.overflowed).then(|| self.deliver())
    }

    /// The range of the next complete line without its end.
    fn next_line(&mut self) -> Option<(usize, usize)> {
        if self.after_cr && self.start < self.buffer.len() {
            self.after_cr = false;
            if self.buffer[self.start] == b'\n' {
                self.start += 1;
                self.scanned = self.scanned.max(self.start);
            }
        }
        let found = self.buffer[self.scanned..]
            .iter()
            .position(|byte| matches!(byte, b'\n' | b'\r'));
        let Some(offset) = found else {
            self.scanned = self.buffer.len();
            return None;
        };
        let from = self.start;
        let to = self.scanned + offset;
        self.after_cr = self.buffer[to] == b'\r';
        self.start = to + 1;
        self.scanned = self.start;
        Some((from, to))
    }

    /// Whether a line begins a new object, which cannot occur inside the JSON of the current event.
    fn is_next_object(&self, from: usize, to: usize) -> bool {
        let line = &self.buffer[from..to];
        let is_next = self.has_data && self.data.ends_with(b"}");
        let data = line.strip_prefix(b"data:").filter(|_| is_next);
        data.is_some_and(|data| {
            data.trim_ascii_start().starts_with(b"{") || data.trim_ascii() == b"[DONE]"
        })
    }

    fn take_line(&mut self, from: usize, to: usize) {
        let mut line = &self.buffer[from..to];
        if std::mem::take(&mut self.at_beginning) {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        let (field, value) = match line.iter().position(|byte| *byte == b':') {
            Some(colon) => (&line[..colon], &line[colon + 1..]),
            None => (line, &[][..]),
        };
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" => {
                if self.has_data {
                    self.data.push(b'\n');
                }
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => self.name = Some(String::from_utf8_lossy(value).into_owned()),
            b"id" if !value.contains(&0) => {
                self.id = Some(String::from_utf8_lossy(value).into_owned())
            }
            // Comments begin with a colon: their field name is empty.
            _ => {}
        }
    }

    fn deliver(&mut self) -> Event<'_> {
        self.delivered = true;
        Event {
            name: self.name.as_deref().filter(|name| !name.is_empty()),
            id: self.id.as_deref(),
            data: String::from_utf8_lossy(&self.data),
        }
    }

    fn forget_delivered(&mut self) {
        if std::mem::take(&mut self.delivered) {
            self.data.clear();
            self.has_data = false;
            (self.name, self.id) = (None, None);
        }
    }

    fn overflow(&mut self) -> TooLarge {
        self.overflowed = true;
        (self.buffer, self.data) = (Vec::new(), Vec::new());
        (self.start, self.scanned) = (0, 0);
        TooLarge {
            limit_bytes: self.limit_bytes,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    type Owned = (Option<String>, Option<String>, String);

    fn decode(chunks: &[&[u8]]) -> Vec<Owned> {
        let owned = |event: Event<'_>| {
            (
                event.name.map(str::to_owned),
                event.id.map(str::to_owned),
                event.data.into_owned(),
            )
        };
        let mut decoder = Decoder::new(1000);
        let mut events = Vec::new();
        for chunk in chunks {
            decoder.feed(chunk);
            while let Some(event) = decoder.next() {
                events.push(owned(event.expect("small")));
            }
        }
        events.extend(decoder.finish().map(owned));
        events
    }

    fn check(stream: &str, data: &[&str]) {
        let decoded: Vec<String> = decode(&[stream.as_bytes()])
            .into_iter()
            .map(|event| event.2)
            .collect();
        assert_eq!(decoded, data, "{stream:?}");
    }

    #[test]
    fn every_kind_of_line() {
        check("data: a\n\ndata:b\n\n", &["a", "b"]);
        check("data: a\r\n\r\ndata: b\r\n\r\n", &["a", "b"]);
        check("data: a\r\rdata: b\r\r", &["a", "b"]);
        check("\u{FEFF}data: a\n\n", &["a"]);
        check("data: \u{FEFF}a\n\n\u{FEFF}data: b\n\n", &["\u{FEFF}a"]);
        check(": comment\ndata: a\n:\n\n", &["a"]);
        check("data: a\ndata: b\ndata\n\n", &["a\nb\n"]);
        check("data\n\ndata:\n\n", &["", ""]);
        check("data:  a \n\n", &[" a "]);
        check("unknown: x\ndata: a\nretry: 5\n\n", &["a"]);
        check("event: x\n\ndata: a\n\n", &["a"]);
        check("data: no blank line", &["no blank line"]);
        check("\n\n\r\n", &[]);
    }

    #[test]
    fn objects_without_blank_lines_between_them() {
        let check = |stream: &str, expected: &[&str]| {
            for size in [1, 5, 1000] {
                let mut decoder = Decoder::new(1000).splitting_objects();
                let mut data = Vec::new();
                for chunk in stream.as_bytes().chunks(size) {
                    decoder.feed(chunk);
                    while let Some(event) = decoder.next() {
                        data.push(event.expect("small").data.into_owned());
                    }
                }
                while let Some(event) = decoder.finish() {
                    data.push(event.data.into_owned());
                }
                assert_eq!(data, expected, "{stream:?} by {size}");
            }
        };
        check(
            "data: {\"a\":1}\ndata: {\"b\":2}\ndata: [DONE]\n",
            &["{\"a\":1}", "{\"b\":2}", "[DONE]"],
        );
        check(
            "data: {\"a\":1}\r\ndata: {\"b\":2}\r\n\r\n",
            &["{\"a\":1}", "{\"b\":2}"],
        );
        check(
            "data: {\"a\":1}\ndata:{\"b\":2}",
            &["{\"a\":1}", "{\"b\":2}"],
        );
        check(
            "data: {\"a\":\ndata: {\"b\":2}\ndata: }\n\n",
            &["{\"a\":\n{\"b\":2}\n}"],
        );
        check("data: {\"a\":1}\n\ndata: x\n\n", &["{\"a\":1}", "x"]);
    }

    #[test]
    fn names_and_ids_belong_to_one_event() {
        let events = decode(&[b"event: x\nid: 7\ndata: a\n\nid: n\0\ndata: b\n\n"]);
        assert_eq!(
            events,
            [
                (Some("x".into()), Some("7".into()), "a".into()),
                (None, None, "b".into())
            ]
        );
    }

    #[test]
    fn bytes_that_are_not_text_are_replaced() {
        assert_eq!(decode(&[b"data: a\xFFb\n\n"])[0].2, "a\u{FFFD}b");
    }

    #[test]
    fn gives_up_on_large_lines_and_large_events_once() {
        let too_large = Some(Err(TooLarge { limit_bytes: 100 }));
        let mut line = Decoder::new(100);
        line.feed(&[b'x'; 101]);
        assert_eq!(line.next(), too_large);
        line.feed(b"\n\ndata: a\n\n");
        assert_eq!(line.next(), None);
        let mut event = Decoder::new(100);
        event.feed("data: 0123456789\n".repeat(20).as_bytes());
        assert_eq!(event.next(), too_large);
        assert_eq!(event.finish(), None);
    }

    #[test]
    fn frames_come_back_as_they_were() {
        let mut bytes = Vec::new();
        Frame {
            id: Some(3),
            event: Some("message"),
            data: "a\nb\r\nc".into(),
        }
        .write(&mut bytes);
        Frame {
            id: None,
            event: None,
            data: "{}".into(),
        }
        .write(&mut bytes);
        assert_eq!(
            String::from_utf8_lossy(&bytes),
            "event: message\nid: 3\ndata: a\ndata: b\ndata: c\n\ndata: {}\n\n"
        );
        let first = (Some("message".into()), Some("3".into()), "a\nb\nc".into());
        assert_eq!(decode(&[&bytes]), [first, (None, None, "{}".into())]);
    }

    /// Pieces of valid and invalid streams.
    fn stream() -> impl Strategy<Value = Vec<u8>> {
        let piece = prop_oneof![
            Just(b"data: ".to_vec()),
            Just(b"\n".to_vec()),
            Just(b"\r".to_vec()),
            Just(b"\r\n".to_vec()),
            Just(b"\n\n".to_vec()),
            Just(b"id: 1".to_vec()),
            Just(b"event: e".to_vec()),
            Just(b": c".to_vec()),
            Just("é✓😀\u{FEFF}".as_bytes().to_vec()),
            proptest::collection::vec(any::<u8>(), 0..8),
        ];
        proptest::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
    }

    proptest! {
        #[test]
        fn chunking_changes_nothing(bytes in stream(), size in 1usize..7) {
            let chunks: Vec<&[u8]> = bytes.chunks(size).collect();
            prop_assert_eq!(decode(&chunks), decode(&[&bytes]));
        }

        #[test]
        fn never_panics(bytes in proptest::collection::vec(any::<u8>(), 0..300), limit in 0usize..50) {
            let mut decoder = Decoder::new(limit);
            for chunk in bytes.chunks(5) {
                decoder.feed(chunk);
                while decoder.next().is_some() {}
            }
            while decoder.finish().is_some() {}
        }
    }
}
