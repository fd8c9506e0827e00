//! Finds tool calls that a model wrote into its text: in a code fence, in `<tool_call>` tags, or as the
//! whole answer. Text flows on at once unless it may be the beginning of a call.

use std::ops::Range;

use serde_json::Value;

use super::json_scan::{self, Scan, Verdict};

const FENCE: &str = "```";
const TAG: &str = "<tool_call>";
const TAG_END: &str = "</tool_call>";

/// A piece of what the model meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text for the person.
    Text(String),
    /// A tool call.
    Call {
        /// An offered tool.
        name: String,
        /// JSON text of an object.
        arguments: String,
    },
}

/// Reads text and sorts out calls of the offered tools.
#[derive(Debug)]
pub(crate) struct Rescue {
    tools: Vec<String>,
    /// Text not let through yet; where a marker was found it begins with that.
    held: String,
    state: State,
    place: Place,
}

/// Where in the answer the held text stands, which says what white space at its beginning means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Place {
    /// Nothing was let through: the whole answer may be one call.
    Start,
    /// Behind a call: white space is no text.
    AfterCall,
    InText,
}

#[derive(Debug)]
enum State {
    Flowing,
    /// A marker was found; the JSON behind it has not begun.
    Opening(Marker),
    /// A JSON value that may be a call is being read.
    Inside {
        marker: Marker,
        scan: Scan,
        calls: Vec<Piece>,
    },
    /// Calls were read up to `end`; the marker's other end may follow.
    Closing {
        marker: Marker,
        end: usize,
        calls: Vec<Piece>,
    },
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Marker {
    Fence,
    Tag,
    /// None: the answer itself begins with JSON.
    Bare,
}

impl Marker {
    fn text(self) -> &'static str {
        match self {
            Self::Fence => FENCE,
            Self::Tag => TAG,
            Self::Bare => "",
        }
    }
}

impl Rescue {
    pub(crate) fn new(tools: impl IntoIterator<Item = impl Into<String>>) -> Self {
        let tools = tools.into_iter().map(Into::into).collect();
        Self { tools, held: String::new(), state: State::Flowing, place: Place::Start }
    }

    /// Reads more text.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.held.push_str(text);
        while self.step(out) {}
    }

    /// The text has ended: what is still held is decided now.
    pub(crate) fn finish(&mut self, out: &mut Vec<Piece>) {
        if let State::Closing { calls, .. } = std::mem::replace(&mut self.state, State::Flowing) {
            self.deliver(calls, self.held.len(), out);
        }
        if self.place == Place::AfterCall && self.held.trim().is_empty() {
            self.held.clear();
        }
        self.release(self.held.len(), out);
    }

    /// One step; says whether another one may follow.
    fn step(&mut self, out: &mut Vec<Piece>) -> bool {
        match std::mem::replace(&mut self.state, State::Flowing) {
            State::Flowing => self.look_for_marker(out),
            State::Opening(marker) => self.look_for_json(marker, out),
            State::Inside { marker, scan, calls } => self.read_json(marker, scan, calls, out),
            State::Closing { marker, end, calls } => self.look_for_end(marker, end, calls, out),
        }
    }

    fn look_for_marker(&mut self, out: &mut Vec<Piece>) -> bool {
        let space = self.held.len() - self.held.trim_start().len();
        if self.place != Place::InText && space == self.held.len() {
            return false;
        }
        if self.place == Place::Start && self.held[space..].starts_with(['{', '[']) {
            self.state = inside(Marker::Bare, space, Vec::new());
            return true;
        }
        if self.place == Place::AfterCall {
            self.held.drain(..space);
        }
        let found = [Marker::Fence, Marker::Tag]
            .into_iter()
            .filter_map(|marker| Some((self.held.find(marker.text())?, marker)))
            .min_by_key(|(at, _)| *at);
        match found {
            Some((at, marker)) => {
                self.release(at, out);
                self.state = State::Opening(marker);
                true
            }
            None => {
                let maybe = [FENCE, TAG].map(|marker| partial_suffix(&self.held, marker));
                self.release(self.held.len() - maybe[0].max(maybe[1]), out);
                false
            }
        }
    }

    fn look_for_json(&mut self, marker: Marker, out: &mut Vec<Piece>) -> bool {
        let after = &self.held[marker.text().len()..];
        let info = after.find(['\n', '{', '[']).unwrap_or(after.len());
        let language = after[..info].trim();
        let fits = match marker {
            Marker::Fence => ["json", "tool_call", "tool_code"].iter().any(|known| {
                if info < after.len() {
                    language.is_empty() || language == *known
                } else {
                    known.starts_with(language)
                }
            }),
            Marker::Tag | Marker::Bare => language.is_empty(),
        };
        let rest = after[info..].trim_start();
        if fits && rest.is_empty() {
            self.state = State::Opening(marker);
            return false;
        }
        if fits && rest.starts_with(['{', '[']) {
            self.state = inside(marker, self.held.len() - rest.len(), Vec::new());
        } else {
            self.release(marker.text().len(), out);
        }
        true
    }

    fn read_json(
        &mut self,
        marker: Marker,
        mut scan: Scan,
        mut calls: Vec<Piece>,
        out: &mut Vec<Piece>,
    ) -> bool {
        match scan.advance(&self.held, &self.tools) {
            Verdict::Undecided => {
                self.state = State::Inside { marker, scan, calls };
                return false;
            }
            Verdict::No => self.give_up(marker, calls, scan.from()..scan.from() + 1, out),
            Verdict::Whole(end) => match read_calls(&self.held[scan.from()..end], &self.tools) {
                Some(more) => {
                    calls.extend(more);
                    self.state = State::Closing { marker, end, calls };
                }
                None => self.give_up(marker, calls, scan.from()..end, out),
            },
        }
        true
    }

    /// What looked like a call is none. Earlier calls stand, unless the answer had to be calls only.
    fn give_up(&mut self, marker: Marker, calls: Vec<Piece>, json: Range<usize>, out: &mut Vec<Piece>) {
        if marker == Marker::Bare || calls.is_empty() {
            self.release(json.end, out);
        } else {
            self.deliver(calls, json.start, out);
            self.release(json.len(), out);
        }
    }

    /// Hands out calls, which were written in the first `size` bytes of the held text.
    fn deliver(&mut self, calls: Vec<Piece>, size: usize, out: &mut Vec<Piece>) {
        out.extend(calls);
        self.held.drain(..size);
        self.place = Place::AfterCall;
    }

    fn look_for_end(&mut self, marker: Marker, end: usize, calls: Vec<Piece>, out: &mut Vec<Piece>) -> bool {
        let rest = self.held[end..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
        let closing = match marker {
            Marker::Fence => FENCE,
            Marker::Tag => TAG_END,
            Marker::Bare => "",
        };
        if rest.is_empty() || (rest.len() < closing.len() && closing.starts_with(rest)) {
            self.state = State::Closing { marker, end, calls };
            return false;
        }
        let rest_at = self.held.len() - rest.len();
        if rest.starts_with(['{', '[']) {
            self.state = inside(marker, rest_at, calls);
        } else if marker == Marker::Bare {
            self.release(end, out);
        } else {
            let closed = if rest.starts_with(closing) { closing.len() } else { 0 };
            self.deliver(calls, rest_at + closed, out);
        }
        true
    }

    /// Lets the first `size` bytes of the held text through.
    fn release(&mut self, size: usize, out: &mut Vec<Piece>) {
        if size > 0 {
            let text: String = self.held.drain(..size).collect();
            self.place = Place::InText;
            out.push(Piece::Text(text));
        }
    }
}

fn inside(marker: Marker, from: usize, calls: Vec<Piece>) -> State {
    State::Inside { marker, scan: Scan::new(from), calls }
}

/// The length of the longest real prefix of `marker` that `text` ends with.
fn partial_suffix(text: &str, marker: &str) -> usize {
    (1..marker.len()).rev().find(|size| text.ends_with(&marker[..*size])).unwrap_or(0)
}

/// The calls in a JSON text, if it consists of calls of offered tools.
pub(crate) fn read_calls(json: &str, tools: &[String]) -> Option<Vec<Piece>> {
    match serde_json::from_str(json).ok()? {
        Value::Array(list) if !list.is_empty() => list.iter().map(|call| read_call(call, tools)).collect(),
        value => Some(vec![read_call(&value, tools)?]),
    }
}

fn read_call(value: &Value, tools: &[String]) -> Option<Piece> {
    let value = value.get("function").filter(|inner| inner.is_object()).unwrap_or(value);
    let fields = value.as_object()?;
    let name = json_scan::NAME_KEYS.iter().find_map(|key| fields.get(*key)?.as_str())?;
    if !tools.iter().any(|tool| tool == name) {
        return None;
    }
    let arguments = json_scan::ARGUMENT_KEYS.iter().find_map(|key| fields.get(*key));
    let arguments = match arguments {
        Some(Value::Object(arguments)) => serde_json::to_string(arguments).ok()?,
        Some(Value::String(text)) if text.trim_start().starts_with('{') => text.clone(),
        Some(Value::Null) => "{}".to_owned(),
        Some(_) => return None,
        // An object that only has a name may be anything, but nothing else could be meant here.
        None if fields.len() == 1 => "{}".to_owned(),
        None => return None,
    };
    Some(Piece::Call { name: name.to_owned(), arguments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn read(tokens: &[&str]) -> Vec<Piece> {
        let mut rescue = Rescue::new(["ls", "write_file"]);
        let mut out = Vec::new();
        for token in tokens {
            rescue.push(token, &mut out);
        }
        rescue.finish(&mut out);
        joined(out)
    }

    fn joined(pieces: Vec<Piece>) -> Vec<Piece> {
        let mut joined: Vec<Piece> = Vec::new();
        for piece in pieces {
            match (joined.last_mut(), piece) {
                (Some(Piece::Text(text)), Piece::Text(more)) => text.push_str(&more),
                (_, piece) => joined.push(piece),
            }
        }
        joined
    }

    fn text(text: &str) -> Piece {
        Piece::Text(text.to_owned())
    }

    fn ls(arguments: &str) -> Piece {
        Piece::Call { name: "ls".into(), arguments: arguments.to_owned() }
    }

    /// The same result however the text is cut.
    fn check(whole: &str, expected: &[Piece]) {
        assert_eq!(read(&[whole]), expected, "{whole}");
        let tokens: Vec<String> = whole.chars().map(String::from).collect();
        let tokens: Vec<&str> = tokens.iter().map(String::as_str).collect();
        assert_eq!(read(&tokens), expected, "{whole} by character");
    }

    #[test]
    fn finds_calls_where_models_write_them() {
        let call = r#"{"name": "ls", "arguments": {"path": "/"}}"#;
        let found = ls(r#"{"path":"/"}"#);
        check(&format!("```json\n{call}\n```"), std::slice::from_ref(&found));
        check(&format!("```\n{call}\n```\n"), std::slice::from_ref(&found));
        check(&format!("<tool_call>{call}</tool_call>\nDone."), &[found.clone(), text("Done.")]);
        check(&format!("```json\n{call}\n{{\"x\": 1}}\n```"), &[found.clone(), text("{\"x\": 1}\n```")]);
        check(&format!("I look.\n```json\n{call}\n```"), &[text("I look.\n"), found.clone()]);
        check(&format!("<tool_call>\n{call}\n</tool_call>"), std::slice::from_ref(&found));
        check(
            &format!("<tool_call>{call}</tool_call><tool_call>{call}</tool_call>"),
            &[found.clone(), found.clone()],
        );
        check(&format!(" \n{call}\n"), std::slice::from_ref(&found));
        check(&format!("{call}\n{call}"), &[found.clone(), found.clone()]);
        check(&format!("[{call},{call}]"), &[found.clone(), found.clone()]);
        check(&format!("```json\n{call}\n{call}\n```"), &[found.clone(), found.clone()]);
        check(&format!("```json\n{call}"), std::slice::from_ref(&found));
        check(
            r#"{"type":"function","function":{"name":"ls","parameters":{"path":"/"}}}"#,
            std::slice::from_ref(&found),
        );
        check(r#"{"arguments":{"path":"/"},"name":"ls"}"#, std::slice::from_ref(&found));
        check(r#"{"tool":"ls","args":"{\"path\":\"/\"}"}"#, std::slice::from_ref(&found));
        check(r#"{"name":"ls"}"#, &[ls("{}")]);
    }

    #[test]
    fn leaves_everything_else_alone() {
        for whole in [
            "Hello, `code` and ``more`` and < and <b>.",
            "```rust\nfn main() {}\n```",
            "```json\n{\"name\": \"Ada\", \"arguments\": {}}\n```",
            "```json\n{\"a\": [1, 2, {\"name\": \"ls\"}]}\n```",
            "```json\n[1, 2]\n```",
            "```\nplain\n```",
            "<tool_call>none</tool_call>",
            r#"{"name": "ls", "size": 3}"#,
            r#"{"name": "ls", "arguments": [1]}"#,
            r#"{"name": "ls", "arguments": {}} is how you call it."#,
            r#"See {"name": "ls", "arguments": {}}"#,
            r#"{"name": "ls", "arguments": {"path""#,
            "{",
            "[",
            "```json",
            "``",
            "<tool_c",
            "",
        ] {
            check(whole, &if whole.is_empty() { vec![] } else { vec![text(whole)] });
        }
    }

    #[test]
    fn text_is_not_delayed() {
        let mut rescue = Rescue::new(["ls"]);
        for (token, expected) in [
            ("A list: ", "A list: "),
            ("`", ""),
            ("x` ", "`x` "),
            ("```", ""),
            ("rust\n", "```rust\n"),
            ("let", "let"),
            ("```json\n{\"na", ""),
            ("me\":\"A", ""),
            ("da\",", "```json\n{\"name\":\"Ada\","),
            ("}", "}"),
        ] {
            let mut out = Vec::new();
            rescue.push(token, &mut out);
            let expected = if expected.is_empty() { vec![] } else { vec![text(expected)] };
            assert_eq!(joined(out), expected, "{token:?}");
        }
    }

    proptest! {
        #[test]
        fn nothing_is_lost(
            tokens in proptest::collection::vec(
                prop_oneof![
                    Just("```"), Just("`"), Just("json"), Just("\n"), Just("{"), Just("}"), Just("\""),
                    Just("\"name\":"), Just("\"no\""), Just("<tool_call>"), Just("</tool_call>"), Just("é"),
                    Just("["), Just("]"), Just(","), Just("\\"), Just(" "),
                ],
                0..30,
            )
        ) {
            let whole = tokens.concat();
            let expected = if whole.is_empty() { vec![] } else { vec![text(&whole)] };
            prop_assert_eq!(read(&tokens), expected);
        }
    }
}
