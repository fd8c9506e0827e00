//! Finds tool calls that a model was instructed to write as text: in a code fence, in tags, or in prose. Text is
//! emitted at once unless it may be the beginning of a call.

mod code;
mod marker;

use std::ops::Range;

use marker::{Marker, MarkerMatch, list_at};

use super::{
    call_json::{completed, read_instructed_calls, unreadable},
    code_tag::Code,
    json_scan::{Scan, Verdict},
};

/// Languages of a code fence around calls.
const CALL_FENCES: [&str; 4] = ["json", "tool_call", "tool_calls", "tool_code"];
/// Languages of a code fence around a code tag.
const CODE_FENCES: [&str; 4] = ["python", "xml", "html", "code_interpreter"];

/// Maximum length of a call, bytes; longer ones are text.
const MAX_CALL_BYTES: usize = 1 << 20;
/// A call after more prose than this is an example, unless it has the instructed form, bytes.
const MAX_PROSE_BYTES: usize = 500;
/// How much of a rejected call is searched again for a call inside, bytes.
const MAX_RESCAN_BYTES: usize = 500;

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text for the person.
    Text(String),
    /// A tool call.
    Call {
        /// The name as written.
        name: String,
        /// JSON text of an object, unless the call is unreadable.
        arguments: String,
    },
}

/// The call syntax that a model was instructed to use.
#[derive(Debug, Clone, Default)]
pub(crate) struct CallSyntax {
    /// The tool that runs code in tags.
    pub(crate) code: Option<String>,
    /// A note below code in tags that no tool runs now; `None` if such tags are plain text.
    pub(crate) not_run: Option<String>,
    /// Whether an unreadable call is emitted so that the model can correct it. If not, it is text.
    pub(crate) corrects: bool,
}

/// Extracts the calls from the text of a model.
#[derive(Debug)]
pub(crate) struct TextCallParser {
    tools: Vec<String>,
    syntax: CallSyntax,
    /// Unreleased text, after this many consumed bytes; after a marker was found, it begins with that.
    held: String,
    taken: usize,
    state: State,
    position: Position,
    /// Only space precedes the held text in its line.
    line_is_blank: bool,
    /// The held text is in a quoted line.
    line_is_quoted: bool,
    /// How much text was released.
    prose_bytes: usize,
    /// The character before the held text.
    before: Option<char>,
    /// The text is in a code fence that contains no call.
    in_fence: bool,
    /// The code that is being read is in a code fence, which is hidden.
    code_in_fence: bool,
    /// The model has written calls and continues with text that it cannot know.
    is_done: bool,
    /// The model has written an empty list of calls.
    has_called_nothing: bool,
}

/// The position of the held text in the answer, which decides whether leading white space counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Position {
    /// Nothing was released: the whole answer may be one call.
    Start,
    /// After a call: white space is dropped.
    AfterCall,
    InText,
}

#[derive(Debug)]
enum State {
    Flowing,
    /// A marker was found; the JSON after it has not begun.
    Opening(Marker),
    /// A JSON value that may be a call is being read.
    Inside {
        marker: Marker,
        scan: Scan,
        calls: Vec<Piece>,
    },
    /// Calls were read up to `end`; the closing marker may follow.
    Closing {
        marker: Marker,
        end: usize,
        calls: Vec<Piece>,
    },
    /// The held text begins with code that is being read.
    Coding(Code),
    /// Code was shown; the closing fence around it may follow.
    Unfencing,
}

impl TextCallParser {
    pub(crate) fn new(
        tools: impl IntoIterator<Item = impl Into<String>>,
        syntax: CallSyntax,
    ) -> Self {
        Self {
            tools: tools.into_iter().map(Into::into).collect(),
            syntax,
            held: String::new(),
            taken: 0,
            state: State::Flowing,
            position: Position::Start,
            line_is_blank: true,
            line_is_quoted: false,
            prose_bytes: 0,
            before: None,
            in_fence: false,
            code_in_fence: false,
            is_done: false,
            has_called_nothing: false,
        }
    }

    /// Restarts at the beginning of the text, and returns the held text.
    pub(crate) fn restart(&mut self) -> String {
        let held = self.held.split_off(self.taken);
        *self = Self::new(
            std::mem::take(&mut self.tools),
            std::mem::take(&mut self.syntax),
        );
        held
    }

    /// Reads more text.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Piece>) {
        self.held.push_str(text);
        while !self.is_done && self.step(out) {}
        self.held.drain(..self.taken);
        self.taken = 0;
    }

    /// The text has ended: held text is decided now. `is_cut` if the answer was truncated.
    pub(crate) fn finish(&mut self, is_cut: bool, out: &mut Vec<Piece>) {
        if self.is_done {
            return;
        }
        match std::mem::replace(&mut self.state, State::Flowing) {
            State::Closing { calls, .. } => self.deliver(calls, self.held.len(), out),
            State::Inside {
                marker,
                scan,
                calls,
            } => self.finish_call(marker, &scan, calls, is_cut, out),
            State::Coding(code) => {
                self.finish_code(&code, self.held.len(), self.held.len(), is_cut, out)
            }
            State::Flowing | State::Opening(_) | State::Unfencing => {}
        }
        if self.position == Position::AfterCall && self.rest().trim().is_empty() {
            self.taken = self.held.len();
        }
        self.release(self.rest().len(), out);
        self.held.clear();
        self.taken = 0;
    }

    /// Whether further text does not matter.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether the model has only written an empty list of calls.
    pub(crate) fn calls_nothing(&self) -> bool {
        self.has_called_nothing && self.position == Position::Start
    }

    fn rest(&self) -> &str {
        &self.held[self.taken..]
    }

    /// One step; returns whether another one may follow.
    fn step(&mut self, out: &mut Vec<Piece>) -> bool {
        match std::mem::replace(&mut self.state, State::Flowing) {
            State::Flowing => self.find_marker(out),
            State::Opening(Marker::Code) => self.find_code(out),
            State::Opening(marker) => self.find_json(marker, out),
            State::Inside {
                marker,
                scan,
                calls,
            } => self.read_json(marker, scan, calls, out),
            State::Closing { marker, end, calls } => self.find_end(marker, end, calls, out),
            State::Coding(code) => self.read_code(code, out),
            State::Unfencing => self.find_fence_end(),
        }
    }

    fn find_marker(&mut self, out: &mut Vec<Piece>) -> bool {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start().len();
        if self.position != Position::InText && space == rest.len() {
            return false;
        }
        if self.position == Position::AfterCall {
            self.taken += space;
        }
        let (at, sight) = self.next_marker();
        // Text that an instructed model writes before its first word is dropped, too.
        let is_first = self.position == Position::Start && at == space;
        match sight {
            Some(MarkerMatch::Perhaps) if is_first => false,
            Some(MarkerMatch::Marker(marker)) => {
                if is_first {
                    self.taken += at;
                } else {
                    self.release(at, out);
                }
                self.state = match marker {
                    Marker::Line { is_list } => inside(Marker::Line { is_list }, 0, Vec::new()),
                    marker => State::Opening(marker),
                };
                true
            }
            Some(MarkerMatch::Perhaps) | None => {
                self.release(at, out);
                false
            }
        }
    }

    /// The first place with a marker or a partial one; the end of the text if there is none.
    fn next_marker(&self) -> (usize, Option<MarkerMatch>) {
        let rest = self.rest();
        let mut line_is_blank = self.line_is_blank;
        let mut before = self.before;
        let mut line_is_quoted = self.line_is_quoted;
        for (at, c) in rest.char_indices() {
            let here = &rest[at..];
            let sight = match c {
                '`' | '<' | '{' | '[' if line_is_quoted => None,
                '`' => Marker::Fence.at(here),
                '<' => Marker::Tag
                    .at(here)
                    .or_else(|| Marker::Code.at(here).filter(|_| self.knows_code())),
                '{' | '[' if self.in_fence => None,
                '{' | '[' if line_is_blank => {
                    Some(MarkerMatch::Marker(Marker::Line { is_list: false }))
                }
                '{' if !matches!(before, Some('`' | '"' | '\'' | '“' | '«')) => list_at(here),
                _ => None,
            };
            if sight.is_some() {
                return (at, sight);
            }
            line_is_quoted = c != '\n' && (line_is_quoted || (line_is_blank && c == '>'));
            line_is_blank = c == '\n' || (line_is_blank && c.is_whitespace());
            before = Some(c);
        }
        (rest.len(), None)
    }

    fn find_json(&mut self, marker: Marker, out: &mut Vec<Piece>) -> bool {
        let after = &self.rest()[marker.text().len()..];
        let is_fence = marker == Marker::Fence;
        if is_fence
            && self.in_fence
            && after
                .lines()
                .next()
                .is_none_or(|line| line.trim().is_empty())
        {
            if !after.contains('\n') {
                self.state = State::Opening(marker);
                return false;
            }
            self.in_fence = false;
            self.release(marker.text().len(), out);
            return true;
        }
        let with_code = is_fence && self.knows_code();
        let is_begin = |c: char| matches!(c, '\n' | '{' | '[') || (with_code && c == '<');
        let info = after.find(is_begin).unwrap_or(after.len());
        let language = after[..info].trim();
        let is_one_of = |known: &[&str]| {
            known.iter().any(|known| match info < after.len() {
                true => language.is_empty() || language == *known,
                false => known.starts_with(language),
            })
        };
        let (fits, fits_code) = match marker {
            Marker::Fence => {
                let fits = is_one_of(&CALL_FENCES);
                (fits, with_code && (fits || is_one_of(&CODE_FENCES)))
            }
            Marker::Tag | Marker::Code | Marker::Line { .. } => (language.is_empty(), false),
        };
        let rest = after[info..].trim_start();
        let from = self.rest().len() - rest.len();
        if (fits || fits_code) && rest.is_empty() {
            self.state = State::Opening(marker);
            return false;
        }
        match Marker::Code.at(rest).filter(|_| fits_code) {
            Some(MarkerMatch::Perhaps) => {
                self.state = State::Opening(marker);
                false
            }
            Some(MarkerMatch::Marker(code)) => {
                self.taken += from;
                self.code_in_fence = true;
                self.state = State::Opening(code);
                true
            }
            None if fits && rest.starts_with(['{', '[']) => {
                self.state = inside(marker, from, Vec::new());
                true
            }
            None => {
                self.in_fence |= is_fence && self.line_is_blank;
                self.release(marker.text().len(), out);
                true
            }
        }
    }

    fn read_json(
        &mut self,
        marker: Marker,
        mut scan: Scan,
        mut calls: Vec<Piece>,
        out: &mut Vec<Piece>,
    ) -> bool {
        let rest = &self.held[self.taken..];
        match scan.advance(rest, &self.tools) {
            Verdict::Undecided if rest.len() - scan.from() > MAX_CALL_BYTES => {
                self.reject_candidate(marker, calls, scan.from()..rest.len(), out);
            }
            Verdict::Undecided => {
                self.state = State::Inside {
                    marker,
                    scan,
                    calls,
                };
                return false;
            }
            Verdict::No => {
                let size = if scan.size() > MAX_RESCAN_BYTES {
                    scan.size()
                } else {
                    1
                };
                self.reject_candidate(marker, calls, scan.from()..scan.from() + size, out);
            }
            Verdict::Whole(end) => {
                let json = &rest[scan.from()..end];
                let read = match self.is_example(marker, &scan) {
                    true => None,
                    false => read_instructed_calls(json, &self.tools)
                        .or_else(|| self.as_unreadable(&scan, json)),
                };
                match read {
                    Some(more) => {
                        calls.extend(more);
                        self.state = State::Closing { marker, end, calls };
                    }
                    None => self.reject_candidate(marker, calls, scan.from()..end, out),
                }
            }
        }
        true
    }

    /// Whether a call is only an example within prose. A call in the instructed form is meant.
    fn is_example(&self, marker: Marker, scan: &Scan) -> bool {
        let is_among_words = match marker {
            Marker::Fence => self.position == Position::InText,
            _ => self.prose_bytes > MAX_PROSE_BYTES,
        };
        is_among_words && !scan.is_list()
    }

    /// An unreadable call, if the model is to correct it.
    fn as_unreadable(&self, scan: &Scan, json: &str) -> Option<Vec<Piece>> {
        (self.syntax.corrects && scan.is_meant()).then(|| vec![unreadable(json, &self.tools)])
    }

    /// The text has ended within a call.
    fn finish_call(
        &mut self,
        marker: Marker,
        scan: &Scan,
        mut calls: Vec<Piece>,
        is_cut: bool,
        out: &mut Vec<Piece>,
    ) {
        let json = &self.rest()[scan.from()..];
        let whole = completed(json).filter(|_| !is_cut);
        let read = match self.is_example(marker, scan) {
            true => None,
            false => {
                let read = whole.and_then(|json| read_instructed_calls(&json, &self.tools));
                read.or_else(|| self.as_unreadable(scan, json))
            }
        };
        if read.is_some() || !calls.is_empty() {
            calls.extend(read.into_iter().flatten());
            self.deliver(calls, self.held.len(), out);
        }
    }

    /// The candidate is no call. Earlier calls are kept.
    fn reject_candidate(
        &mut self,
        marker: Marker,
        calls: Vec<Piece>,
        json: Range<usize>,
        out: &mut Vec<Piece>,
    ) {
        if calls.is_empty() {
            self.in_fence |= marker == Marker::Fence;
            self.release(json.end, out);
        } else {
            self.deliver(calls, json.start, out);
            self.release(json.len(), out);
        }
    }

    /// Emits calls, which took up the first `size` bytes of the held text.
    fn deliver(&mut self, calls: Vec<Piece>, size: usize, out: &mut Vec<Piece>) {
        // The model may also write that it calls nothing.
        match calls.is_empty() {
            true => self.has_called_nothing = true,
            false => self.position = Position::AfterCall,
        }
        out.extend(calls);
        self.taken += size.min(self.rest().len());
        (self.line_is_blank, self.line_is_quoted, self.before) = (true, false, None);
    }

    fn find_end(
        &mut self,
        marker: Marker,
        end: usize,
        calls: Vec<Piece>,
        out: &mut Vec<Piece>,
    ) -> bool {
        let held = self.rest();
        let rest =
            held[end..].trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | ';'));
        let closing = marker.end();
        if rest.is_empty() || (rest.len() < closing.len() && closing.starts_with(rest)) {
            self.state = State::Closing { marker, end, calls };
            return false;
        }
        let rest_at = held.len() - rest.len();
        if rest.starts_with(['{', '[']) {
            self.state = inside(marker, rest_at, calls);
        } else {
            let closed = if rest.starts_with(closing) {
                closing.len()
            } else {
                0
            };
            self.deliver(calls, rest_at + closed, out);
        }
        true
    }

    /// Releases the first `size` bytes of the held text.
    fn release(&mut self, size: usize, out: &mut Vec<Piece>) {
        if size > 0 {
            let text = self.rest()[..size].to_owned();
            self.taken += size;
            self.emit(text, out);
        }
    }

    /// Emits text, unless it follows a call: the model has not seen the result, and makes one up.
    fn emit(&mut self, text: String, out: &mut Vec<Piece>) {
        if self.position == Position::AfterCall {
            self.is_done = true;
            self.taken = self.held.len();
            return;
        }
        let line = text.rsplit('\n').next().unwrap_or_default();
        let is_whole_line = line.len() < text.len();
        let was_blank = is_whole_line || self.line_is_blank;
        let was_quoted = !is_whole_line && self.line_is_quoted;
        self.line_is_quoted = was_quoted || (was_blank && line.trim_start().starts_with('>'));
        self.line_is_blank = was_blank && line.trim().is_empty();
        self.prose_bytes += text.len();
        self.before = text.chars().next_back();
        self.position = Position::InText;
        out.push(Piece::Text(text));
    }
}

fn inside(marker: Marker, from: usize, calls: Vec<Piece>) -> State {
    let is_list = marker == Marker::Line { is_list: true };
    State::Inside {
        marker,
        scan: if is_list {
            Scan::new_list(from)
        } else {
            Scan::new(from)
        },
        calls,
    }
}

#[cfg(test)]
mod tests;
