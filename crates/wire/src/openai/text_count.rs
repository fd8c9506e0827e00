//! Estimates the output tokens of a passed-through answer, if the server does not count them itself.

/// Keys of the model's text, with the opening quote of the value.
const NAMES: [&[u8]; 8] = [
    b"\"content",
    b"\"reasoning_content",
    b"\"reasoning",
    b"\"refusal",
    b"\"arguments",
    b"\"text",
    b"\"thinking",
    b"\"partial_json",
];
/// Holds text only in streams of `/v1/responses`, which repeat everything when a part is done.
const DELTA: &[u8] = b"\"delta";

/// Counts text as it passes. It may be split anywhere; only a split key is missed.
#[derive(Debug, Default)]
pub(super) struct TextCount {
    bytes: u64,
    /// Texts that are not empty.
    texts: u64,
    place: Place,
    /// Whether the current text is empty so far.
    is_empty: bool,
    only_deltas: bool,
}

#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
enum Place {
    #[default]
    BetweenTexts,
    InText,
    /// After a backslash in a text.
    Escaped,
}

impl TextCount {
    /// Tokens of the text so far: servers send one text per token, or four bytes are one.
    pub(super) fn tokens(&self, is_stream: bool) -> u64 {
        let by_size = self.bytes.div_ceil(4);
        if is_stream {
            by_size.max(self.texts)
        } else {
            by_size
        }
    }

    /// Reads the next bytes.
    pub(super) fn feed(&mut self, bytes: &[u8]) {
        let mut at = 0;
        while at < bytes.len() {
            at += match self.place {
                Place::BetweenTexts => self.next_text(&bytes[at..]),
                Place::InText => self.more_text(&bytes[at..]),
                Place::Escaped => {
                    self.place = Place::InText;
                    self.count(1);
                    1
                }
            };
        }
    }

    /// Advances to the next text, or to the end.
    fn next_text(&mut self, bytes: &[u8]) -> usize {
        for colon in memchr::memchr_iter(b':', bytes) {
            let Some(name) = bytes[..colon].strip_suffix(b"\"") else {
                continue;
            };
            let behind = &bytes[colon + 1..];
            let start = usize::from(behind.starts_with(b" "));
            if behind.get(start) != Some(&b'"') {
                continue;
            }
            let is_delta = name.ends_with(DELTA);
            self.only_deltas |= is_delta;
            if is_delta || (!self.only_deltas && NAMES.iter().any(|known| name.ends_with(known))) {
                self.place = Place::InText;
                self.is_empty = true;
                return colon + start + 2;
            }
        }
        bytes.len()
    }

    /// Advances to the end of the text, to its next escape, or to the end.
    fn more_text(&mut self, bytes: &[u8]) -> usize {
        let end = memchr::memchr2(b'"', b'\\', bytes);
        let length = end.unwrap_or(bytes.len());
        self.count(length);
        let Some(end) = end else { return length };
        self.place = if bytes[end] == b'"' {
            Place::BetweenTexts
        } else {
            Place::Escaped
        };
        end + 1
    }

    fn count(&mut self, bytes: usize) {
        self.bytes += bytes as u64;
        if bytes > 0 && std::mem::take(&mut self.is_empty) {
            self.texts += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counted(pieces: &[&str]) -> (u64, u64) {
        let mut count = TextCount::default();
        pieces.iter().for_each(|piece| count.feed(piece.as_bytes()));
        (count.bytes, count.texts)
    }

    #[test]
    fn texts_of_each_format_are_counted() {
        for (answer, expected) in [
            (
                r#"data: {"id":"1","choices":[{"delta":{"role":"assistant","content":""}}]}"#,
                (0, 0),
            ),
            (
                r#"data: {"choices":[{"delta":{"content":"four"}}],"usage":null}"#,
                (4, 1),
            ),
            (
                r#"data: {"choices": [{"delta": {"content": "a\"b\\"}}]}"#,
                (4, 1),
            ),
            (
                r#"{"delta":{"reasoning_content":"ab","tool_calls":[{"function":{"name":"x","arguments":"{}"}}]}}"#,
                (4, 2),
            ),
            (
                r#"{"type":"content_block_delta","delta":{"type":"text_delta","text":"abc"}}"#,
                (3, 1),
            ),
            (
                r#"{"delta":{"type":"thinking_delta","thinking":"abc"}}{"delta":{"partial_json":"{\"a"}}"#,
                (6, 2),
            ),
            (
                r#"{"content":[{"type":"text","text":"abc"}],"stop_reason":"end_turn"}"#,
                (3, 1),
            ),
            // A text that quotes JSON counts only once.
            (r#"{"content":"say \"text\":\"x\""}"#, (14, 1)),
            // Vectors have none.
            (r#"{"data":[{"embedding":[1.0]}],"model":"m"}"#, (0, 0)),
        ] {
            assert_eq!(counted(&[answer]), expected, "{answer}");
        }
    }

    #[test]
    fn repeated_text_counts_once() {
        let stream = concat!(
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"ab\"}\n\n",
            "data: {\"type\":\"response.output_text.delta\",\"delta\":\"cd\"}\n\n",
            "data: {\"type\":\"response.output_text.done\",\"text\":\"abcd\"}\n\n",
            "data: {\"type\":\"response.function_call_arguments.done\",\"arguments\":\"{}\"}\n\n",
        );
        assert_eq!(counted(&[stream]), (4, 2));
    }

    #[test]
    fn a_text_may_be_cut_anywhere() {
        let name = r#"{"content":""#;
        let text = r#"a\"b\\c"#;
        for at in 0..=text.len() {
            let (begin, end) = text.split_at(at);
            assert_eq!(
                counted(&[&format!("{name}{begin}"), end, "\"}"]),
                (5, 1),
                "{begin}"
            );
        }
    }
}
