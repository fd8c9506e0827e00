//! Extracts the token usage of a passed-through answer, without decoding the rest of it.

use domain::Usage;
use memchr::memmem;
use provider::openai::read_usage;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::text_count::TextCount;

/// The key of the usage. In a text of the answer its quotes would be escaped.
const USAGE: &[u8] = b"\"usage\"";
/// Maximum length of a `usage`, including name and spaces.
const LIMIT_BYTES: usize = 8 << 10;

/// Watches a passing answer for its token usage.
#[derive(Debug, Default)]
pub struct UsageWatch {
    /// The end of the received bytes, if a `usage` may have begun in it.
    kept: Vec<u8>,
    counted: Option<Usage>,
    is_stream: bool,
    text: TextCount,
    /// Estimated tokens of the text before the last `usage`.
    tokens_reported: u64,
}

/// The value of the key `usage`.
enum Behind<'a> {
    /// The object, and its end offset.
    Object(&'a str, usize),
    /// Something else.
    Nothing,
    /// It is incomplete.
    More,
}

impl UsageWatch {
    /// Reads the next bytes, split anywhere. Returns the offset in them of the brace that ends a `usage`, as long as
    /// the server has not reported a cost.
    pub fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        self.is_stream = self.is_stream || memmem::find(bytes, b"data:").is_some();
        let mut kept = std::mem::take(&mut self.kept);
        let before = kept.len();
        let end = if before == 0 {
            let (keep, end) = self.read(bytes);
            kept.extend_from_slice(&bytes[keep..]);
            self.kept = kept;
            end
        } else {
            kept.extend_from_slice(bytes);
            let (keep, end) = self.read(&kept);
            self.kept = kept.split_off(keep);
            end
        };
        // An object that ends here was incomplete before.
        let end = end.and_then(|end| end.checked_sub(before));
        let (reported, rest) = bytes.split_at(end.unwrap_or(0));
        self.text.feed(reported);
        if end.is_some() {
            self.tokens_reported = self.text.tokens(self.is_stream);
        }
        self.text.feed(rest);
        let says_cost = self
            .counted
            .is_some_and(|usage| usage.reported_cost_micro_usd.is_some());
        end.filter(|_| !says_cost)?.checked_sub(1)
    }

    /// The server's counts so far.
    #[must_use]
    pub fn counted(&self) -> Option<Usage> {
        self.counted
    }

    /// The usage of a finished or interrupted answer; missing counts are estimated, `input_tokens` by the caller.
    #[must_use]
    pub fn finish(self, input_tokens: u64) -> Usage {
        let written = self.text.tokens(self.is_stream);
        let Some(usage) = self.counted else {
            return Usage::estimate(input_tokens, written);
        };
        // Some servers count nothing, or only the input in the first event; and an interrupted stream has text that is
        // not counted yet.
        let uncounted = match usage.output_tokens {
            0 => written,
            _ if self.is_stream => written.saturating_sub(self.tokens_reported),
            _ => 0,
        };
        let is_input_counted = usage.input_tokens > 0;
        Usage {
            input_tokens: if is_input_counted {
                usage.input_tokens
            } else {
                input_tokens
            },
            output_tokens: usage.output_tokens + uncounted,
            estimated: usage.estimated || uncounted > 0 || !is_input_counted,
            ..usage
        }
    }

    /// Reads the available bytes. Returns the start of an incomplete part, and the end of the last `usage`.
    fn read(&mut self, bytes: &[u8]) -> (usize, Option<usize>) {
        let mut from = 0;
        let mut end = None;
        // Nearly all chunks have none, or `null`.
        while let Some(at) = memmem::find(&bytes[from..], USAGE) {
            let start = from + at;
            let rest = &bytes[start + USAGE.len()..];
            let near = rest.get(..LIMIT_BYTES).unwrap_or(rest);
            match behind(near) {
                Behind::Object(json, length) => {
                    from = start + USAGE.len() + length;
                    if let Some(usage) = read_usage(json) {
                        end = Some(from);
                        self.counted = Some(
                            self.counted
                                .map_or(usage, |before| before.followed_by(usage)),
                        );
                    }
                }
                Behind::More if near.len() < LIMIT_BYTES => return (start, end),
                Behind::More | Behind::Nothing => from = start + USAGE.len(),
            }
        }
        // The name is on one line.
        let keep = match bytes.ends_with(b"\n") {
            true => bytes.len(),
            false => from.max(bytes.len().saturating_sub(USAGE.len() - 1)),
        };
        (keep, end)
    }
}

fn behind(bytes: &[u8]) -> Behind<'_> {
    let spaces = |bytes: &[u8]| {
        bytes
            .iter()
            .take_while(|byte| byte.is_ascii_whitespace())
            .count()
    };
    let colon = spaces(bytes);
    match bytes.get(colon) {
        None => return Behind::More,
        Some(b':') => {}
        Some(_) => return Behind::Nothing,
    }
    let start = colon + 1 + spaces(&bytes[colon + 1..]);
    match bytes.get(start) {
        None => return Behind::More,
        Some(b'{') => {}
        Some(_) => return Behind::Nothing,
    }
    let object = &bytes[start..];
    match first_value(object) {
        Ok(json) => Behind::Object(json.get(), start + json.get().len()),
        Err(error) if error.is_eof() || is_cut_in_a_number(object) => Behind::More,
        Err(_) => Behind::Nothing,
    }
}

fn first_value(bytes: &[u8]) -> serde_json::Result<&RawValue> {
    <&RawValue>::deserialize(&mut serde_json::Deserializer::from_slice(bytes))
}

/// Whether only the end of a number is missing: to `serde_json`, a trailing `1.` or `1e` is invalid, not incomplete.
fn is_cut_in_a_number(bytes: &[u8]) -> bool {
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let number = bytes
        .iter()
        .rev()
        .take_while(|byte| is_number(byte))
        .count();
    number > 0 && first_value(&bytes[..bytes.len() - number]).is_err_and(|error| error.is_eof())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const STREAM: &str = concat!(
        "data: {\"choices\":[{\"delta\":{\"content\":\"the \\\"usage\\\": {}\"}}],\"usage\":null}\n\n",
        "data: {\"choices\":[],\"usage\" : {\"prompt_tokens\":5,\"completion_tokens\":7,\n \"x\":{\"y\":\"}\"}}}\n\n",
        "data: [DONE]\n\n",
    );

    /// Each kind of number, which may be split after its point, its sign or its `e`.
    const NUMBERS: &str = "data: {\"usage\":{\"prompt_tokens\":5,\"x\":-1.5e-3,\"y\":2E+4,\"completion_tokens\":7}}\n\n";

    fn watched(pieces: &[&str]) -> Usage {
        let mut watch = UsageWatch::default();
        pieces
            .iter()
            .for_each(|piece| _ = watch.feed(piece.as_bytes()));
        watch.finish(100)
    }

    proptest! {
        #[test]
        fn usage_is_found_however_it_is_cut(cuts in proptest::collection::vec(0..STREAM.len(), 0..6)) {
            let mut cuts = cuts;
            cuts.extend([0, STREAM.len()]);
            cuts.sort_unstable();
            let pieces: Vec<&str> = cuts.windows(2).map(|cut| &STREAM[cut[0]..cut[1]]).collect();
            prop_assert_eq!(watched(&pieces), Usage::of(5, 7));
        }
    }

    #[test]
    fn a_number_may_be_cut_anywhere() {
        for at in 0..NUMBERS.len() {
            let (begin, end) = NUMBERS.split_at(at);
            assert_eq!(watched(&[begin, end]), Usage::of(5, 7), "{begin}");
        }
        // Invalid even when complete.
        let broken = "data: {\"usage\":{\"prompt_tokens\":1e,\"completion_tokens\":7}}\n\n";
        assert!(watched(&[broken]).estimated);
    }

    #[test]
    fn missing_counts_are_estimated_and_marked() {
        let chunk = |text: &str| {
            format!("data: {{\"choices\":[{{\"delta\":{{\"content\":\"{text}\"}}}}]}}\n\n")
        };
        let word = chunk("x");
        let long = chunk(&"x".repeat(240));
        assert_eq!(
            watched(&[&chunk(""), &word, &word, &word]),
            Usage::estimate(100, 3)
        );
        // A server may send much in one event.
        assert_eq!(watched(&[&chunk(""), &long]), Usage::estimate(100, 60));
        let whole = format!(
            "{{\"choices\":[{{\"message\":{{\"content\":\"{}\"}}}}]}}",
            "x".repeat(400)
        );
        assert_eq!(watched(&[&whole]), Usage::estimate(100, 100));
        // vercel/ai#2763: a server counts the input in the first chunk only.
        let first =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"total_tokens\":11}}\n\n";
        assert_eq!(watched(&[first, &word, &word]), Usage::estimate(11, 2));
        let embedded =
            r#"{"data":[{"embedding":[1]}],"usage":{"prompt_tokens":11,"total_tokens":11}}"#;
        assert_eq!(watched(&[embedded]), Usage::of(11, 0));
        // Zero counts for an answer with text are no counts.
        let zeros =
            "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":0,\"completion_tokens\":0}}\n\n";
        assert_eq!(watched(&[&word, &word, zeros]), Usage::estimate(100, 2));
    }

    #[test]
    fn text_behind_the_last_count_is_added_to_it() {
        // Anthropic counts at the beginning and at the end; this stream breaks off between.
        let start = r#"data: {"type":"message_start","message":{"usage":{"input_tokens":25,"output_tokens":1}}}"#;
        let delta = format!(
            r#"data: {{"delta":{{"type":"text_delta","text":"{}"}}}}"#,
            "x".repeat(40)
        );
        let end = r#"data: {"type":"message_delta","usage":{"output_tokens":13}}"#;
        let of = |input, output| Usage {
            estimated: true,
            ..Usage::of(input, output)
        };
        assert_eq!(watched(&[start, "\n\n", &delta, "\n\n"]), of(25, 11));
        assert_eq!(
            watched(&[start, "\n\n", &delta, "\n\n", end, "\n\n"]),
            Usage::of(25, 13)
        );
        assert_eq!(
            watched(&[&format!("{start}\n\n{delta}\n\n{end}\n\n")]),
            Usage::of(25, 13)
        );
    }

    #[test]
    fn whole_answers_also_long_and_broken_ones() {
        let usage = r#""usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
        assert_eq!(
            watched(&[&format!("{{\"choices\":[],{usage}")]),
            Usage::of(1, 2)
        );
        // Its end is in the last of many pieces.
        let text = "x".repeat(100_000);
        assert_eq!(
            watched(&["{\"a\":\"", &text, "\",\"us", &usage[3..]]),
            Usage::of(1, 2)
        );
        // The bytes around it do not matter.
        assert_eq!(
            watched(&["data: {\"choices\":[nonsense,", usage, "\n\n"]),
            Usage::of(1, 2)
        );
        assert_eq!(
            watched(&["data: {", usage, "\n\ndata: {\"usage\":\"\"}\n\n"]),
            Usage::of(1, 2)
        );
    }

    #[test]
    fn counts_of_a_stream_only_grow() {
        let chunk = |prompt: u64, completion: u64| {
            format!(
                "data: {{\"usage\":{{\"prompt_tokens\":{prompt},\"completion_tokens\":{completion}}}}}\n\n"
            )
        };
        assert_eq!(
            watched(&[&chunk(5, 1), &chunk(5, 2), &chunk(0, 0)]),
            Usage::of(5, 2)
        );
    }

    #[test]
    fn the_end_of_a_usage_without_cost_is_reported() {
        let begin = r#"data: {"usage":{"prompt_tokens":1,"x":{}"#;
        let end = "}}\n\n";
        let mut watch = UsageWatch::default();
        assert_eq!(
            watch.feed(format!("{begin}{end}").as_bytes()),
            Some(begin.len())
        );
        assert_eq!(watch.feed(b"data: [DONE]\n\n"), None);
        let mut cut = UsageWatch::default();
        assert_eq!(
            (cut.feed(begin.as_bytes()), cut.feed(end.as_bytes())),
            (None, Some(0))
        );
        let with_cost = r#"data: {"usage":{"prompt_tokens":1,"cost":0.5}}"#;
        assert_eq!(UsageWatch::default().feed(with_cost.as_bytes()), None);
    }

    #[test]
    fn an_endless_usage_is_dropped() {
        let mut watch = UsageWatch::default();
        watch.feed(b"\"usage\":{\"a\":\"");
        (0..100).for_each(|_| _ = watch.feed(&[b'x'; 4096]));
        assert!(watch.kept.len() < USAGE.len());
        watch.feed(b"\n\n");
        watch.feed(STREAM.as_bytes());
        assert_eq!(watch.finish(0), Usage::of(5, 7));
    }
}
