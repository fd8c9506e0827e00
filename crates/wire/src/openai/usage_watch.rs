//! Watches an answer that is passed through for the tokens used, without decoding the rest of it.

use domain::Usage;
use memchr::memmem;
use serde::Deserialize;
use serde_json::value::RawValue;

use super::usage_reader::UsageReport;

/// The only place that tells of tokens. In a text of the answer its quotes would be escaped.
const USAGE: &[u8] = b"\"usage\"";
/// A longer `usage` is not looked into, name and spaces included.
const LIMIT_BYTES: usize = 8 << 10;

/// Watches an answer go by for the tokens used.
#[derive(Debug, Default)]
pub struct UsageWatch {
    /// The end of what came, where a `usage` may have begun in it.
    kept: Vec<u8>,
    report: Option<UsageReport>,
    /// Where the brace is that ends the last `usage`, if that does not say a cost.
    open_end: Option<usize>,
    size_bytes: u64,
    /// Events of a stream.
    events: u64,
}

/// What stands behind the name `usage`.
enum Behind<'a> {
    /// The object, and its length with all before it.
    Object(&'a str, usize),
    /// Something else.
    Nothing,
    /// It is not all there yet.
    More,
}

impl UsageWatch {
    /// Looks at the next bytes, cut anywhere. Gives the place of the brace in them that ends a `usage` without a cost.
    pub fn feed(&mut self, bytes: &[u8]) -> Option<usize> {
        self.open_end = None;
        self.size_bytes += bytes.len() as u64;
        self.events += memmem::find_iter(bytes, b"data:").count() as u64;
        if self.kept.is_empty() {
            let keep = self.read(bytes);
            self.kept.extend_from_slice(&bytes[keep..]);
            self.open_end
        } else {
            let mut kept = std::mem::take(&mut self.kept);
            let before = kept.len();
            kept.extend_from_slice(bytes);
            let keep = self.read(&kept);
            self.kept = kept.split_off(keep);
            // An object that ends here was not all there before.
            self.open_end.and_then(|end| end.checked_sub(before))
        }
    }

    /// Tokens written so far, where nobody says: servers send an event for each, or nearly so, and a whole answer has
    /// four bytes for each.
    #[must_use]
    pub fn estimated_output_tokens(&self) -> u64 {
        if self.events > 0 { self.events } else { self.size_bytes / 4 }
    }

    /// What the server has counted so far.
    #[must_use]
    pub fn counted(&self) -> Option<Usage> {
        self.report.map(|report| report.usage)
    }

    /// The tokens used, once the answer is over; what the server has not counted is estimated, `input_tokens` by the
    /// caller.
    #[must_use]
    pub fn finish(self, input_tokens: u64) -> Usage {
        let estimated = self.estimated_output_tokens();
        let is_stream = self.events > 0;
        match self.report {
            None => Usage::estimate(input_tokens, estimated),
            // What embeds says nothing of output, as there is none.
            Some(UsageReport { usage, counts_output: false }) if is_stream => {
                Usage { output_tokens: estimated, estimated: true, ..usage }
            }
            Some(report) => report.usage,
        }
    }

    /// Takes what is there, and gives where that begins which the next bytes may complete.
    fn read(&mut self, bytes: &[u8]) -> usize {
        let mut from = 0;
        // Nearly all chunks have none, or `null`.
        while let Some(at) = memmem::find(&bytes[from..], USAGE) {
            let start = from + at;
            let rest = &bytes[start + USAGE.len()..];
            let near = rest.get(..LIMIT_BYTES).unwrap_or(rest);
            match behind(near) {
                Behind::Object(json, length) => {
                    if let Some(report) = UsageReport::read(json) {
                        let says_cost = report.usage.reported_cost_micro_usd.is_some();
                        self.open_end = (!says_cost).then_some(start + USAGE.len() + length - 1);
                        self.report = Some(match self.report {
                            Some(before) => before.followed_by(report),
                            None => report,
                        });
                    }
                    from = start + USAGE.len() + length;
                }
                Behind::More if near.len() < LIMIT_BYTES => return start,
                Behind::More | Behind::Nothing => from = start + USAGE.len(),
            }
        }
        // The name is in one line.
        if bytes.ends_with(b"\n") {
            bytes.len()
        } else {
            from.max(bytes.len().saturating_sub(USAGE.len() - 1))
        }
    }
}

fn behind(bytes: &[u8]) -> Behind<'_> {
    let spaces = |bytes: &[u8]| bytes.iter().take_while(|byte| byte.is_ascii_whitespace()).count();
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

/// Whether only the end of a number is missing: to `serde_json`, `1.` and `1e` at the end are invalid, not incomplete.
fn is_cut_in_a_number(bytes: &[u8]) -> bool {
    let is_number = |byte: &u8| matches!(byte, b'0'..=b'9' | b'+' | b'-' | b'.' | b'e' | b'E');
    let number = bytes.iter().rev().take_while(|byte| is_number(byte)).count();
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

    /// Each kind of number, which may be cut behind its point, its sign or its `e`.
    const NUMBERS: &str =
        "data: {\"usage\":{\"prompt_tokens\":5,\"x\":-1.5e-3,\"y\":2E+4,\"completion_tokens\":7}}\n\n";

    fn watched(pieces: &[&str]) -> Usage {
        let mut watch = UsageWatch::default();
        pieces.iter().for_each(|piece| _ = watch.feed(piece.as_bytes()));
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
        // What is no number even when it is whole.
        let broken = "data: {\"usage\":{\"prompt_tokens\":1e,\"completion_tokens\":7}}\n\n";
        assert!(watched(&[broken]).estimated);
    }

    #[test]
    fn what_is_not_said_is_estimated_and_marked() {
        let chunk = "data: {\"choices\":[]}\n\n";
        assert_eq!(watched(&[chunk, chunk, chunk]), Usage::estimate(100, 3));
        let whole = "x".repeat(400);
        assert_eq!(watched(&[&whole]), Usage::estimate(100, 100));
        // vercel/ai#2763: a server counts what it read in the first chunk, and then no more.
        let first = "data: {\"choices\":[],\"usage\":{\"prompt_tokens\":11,\"total_tokens\":11}}\n\n";
        assert_eq!(watched(&[first, chunk, chunk]), Usage::estimate(11, 3));
        let embedded = r#"{"data":[{"embedding":[1]}],"usage":{"prompt_tokens":11,"total_tokens":11}}"#;
        assert_eq!(watched(&[embedded]), Usage::of(11, 0));
    }

    #[test]
    fn whole_answers_also_long_and_broken_ones() {
        let usage = r#""usage":{"prompt_tokens":1,"completion_tokens":2}}"#;
        assert_eq!(watched(&[&format!("{{\"choices\":[],{usage}")]), Usage::of(1, 2));
        // Its end is in the last of many pieces.
        let text = "x".repeat(100_000);
        assert_eq!(watched(&["{\"a\":\"", &text, "\",\"us", &usage[3..]]), Usage::of(1, 2));
        // Whatever stands around it is not ours to judge.
        assert_eq!(watched(&["data: {\"choices\":[nonsense,", usage, "\n\n"]), Usage::of(1, 2));
        assert_eq!(watched(&["data: {", usage, "\n\ndata: {\"usage\":\"\"}\n\n"]), Usage::of(1, 2));
    }

    #[test]
    fn counts_of_a_stream_only_grow() {
        let chunk = |prompt: u64, completion: u64| {
            format!(
                "data: {{\"usage\":{{\"prompt_tokens\":{prompt},\"completion_tokens\":{completion}}}}}\n\n"
            )
        };
        assert_eq!(watched(&[&chunk(5, 1), &chunk(5, 2), &chunk(0, 0)]), Usage::of(5, 2));
    }

    #[test]
    fn the_end_of_a_usage_without_a_cost_is_told() {
        let (begin, end) = (r#"data: {"usage":{"prompt_tokens":1,"x":{}"#, "}}\n\n");
        let mut watch = UsageWatch::default();
        assert_eq!(watch.feed(format!("{begin}{end}").as_bytes()), Some(begin.len()));
        assert_eq!(watch.feed(b"data: [DONE]\n\n"), None);
        let mut cut = UsageWatch::default();
        assert_eq!((cut.feed(begin.as_bytes()), cut.feed(end.as_bytes())), (None, Some(0)));
        let with_cost = r#"data: {"usage":{"prompt_tokens":1,"cost":0.5}}"#;
        assert_eq!(UsageWatch::default().feed(with_cost.as_bytes()), None);
    }

    #[test]
    fn an_endless_usage_is_not_kept() {
        let mut watch = UsageWatch::default();
        watch.feed(b"\"usage\":{\"a\":\"");
        (0..100).for_each(|_| _ = watch.feed(&[b'x'; 4096]));
        assert!(watch.kept.len() < USAGE.len());
        watch.feed(b"\n\n");
        watch.feed(STREAM.as_bytes());
        assert_eq!(watch.finish(0), Usage::of(5, 7));
    }
}
