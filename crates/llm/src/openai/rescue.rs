//! Finds tool calls in the text of a model that was told to write them: in a code fence, in tags, or among words. Text flows
//! on at once unless it may be the beginning of a call.

mod code;
mod marker;

use std::ops::Range;

use marker::{Marker, Sight, list_at};

use super::{
    code_tag::Code,
    json_scan::{Scan, Verdict},
    written_call::{completed, read_told_calls, unreadable},
};

/// What a fence around calls may be called.
const CALL_FENCES: [&str; 4] = ["json", "tool_call", "tool_calls", "tool_code"];
/// What a fence around a tag with code may be called.
const CODE_FENCES: [&str; 4] = ["python", "xml", "html", "code_interpreter"];

/// A longer call is let through as text, bytes.
const MOST_CALL_BYTES: usize = 1 << 20;
/// What is written like a call behind more words than that is an example, unless it has the form that the model was told,
/// bytes.
const MAX_PROSE_BYTES: usize = 500;
/// More of what is no call is not looked at again for a call inside, bytes.
const MOST_AGAIN_BYTES: usize = 500;

/// A piece of what the model meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// Text for the person.
    Text(String),
    /// A tool call.
    Call {
        /// As the model wrote it.
        name: String,
        /// JSON text of an object, unless the call cannot be read.
        arguments: String,
    },
}

/// What a model was told of writing calls.
#[derive(Debug, Clone, Default)]
pub(crate) struct Told {
    /// The tool that runs code in tags.
    pub(crate) code: Option<String>,
    /// What stands below code in tags where no tool runs it any more; nothing where such tags are text like any other.
    pub(crate) not_run: Option<String>,
    /// Whether a call that cannot be read is given out all the same, for the model to hear of it. If not, it is text.
    pub(crate) corrects: bool,
}

/// Reads the text of a model that was told to write calls, and sorts out those.
#[derive(Debug)]
pub(crate) struct Rescue {
    tools: Vec<String>,
    told: Told,
    /// Text not let through yet, after so many bytes that are done with; where a marker was found it begins with that.
    held: String,
    taken: usize,
    state: State,
    place: Place,
    /// Nothing but space stands before the held text in its line.
    line_is_blank: bool,
    /// The held text stands in a line that is quoted.
    line_is_quoted: bool,
    /// How much text was let through.
    prose_bytes: usize,
    /// The character before the held text.
    before: Option<char>,
    /// The text is in a code fence that is none of a call.
    in_fence: bool,
    /// The code that is being read stands in a code fence, of which nothing is shown.
    code_in_fence: bool,
    /// The model has written calls and goes on with what it cannot know.
    is_done: bool,
    /// The model has written that it calls nothing.
    has_called_nothing: bool,
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
    /// Code is being read, with which the held text begins.
    Coding(Code),
    /// Code is shown; the end of the fence around it may follow.
    Unfencing,
}

impl Rescue {
    pub(crate) fn new(tools: impl IntoIterator<Item = impl Into<String>>, told: Told) -> Self {
        Self {
            tools: tools.into_iter().map(Into::into).collect(),
            told,
            held: String::new(),
            taken: 0,
            state: State::Flowing,
            place: Place::Start,
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

    /// The same at the beginning of the text, and what is held of it.
    pub(crate) fn restart(&mut self) -> String {
        let held = self.held.split_off(self.taken);
        *self = Self::new(
            std::mem::take(&mut self.tools),
            std::mem::take(&mut self.told),
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

    /// The text has ended: what is still held is decided now. `is_cut` where the model had not said all.
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
        if self.place == Place::AfterCall && self.rest().trim().is_empty() {
            self.taken = self.held.len();
        }
        self.release(self.rest().len(), out);
        self.held.clear();
        self.taken = 0;
    }

    /// Whether what follows does not matter.
    pub(crate) fn is_done(&self) -> bool {
        self.is_done
    }

    /// Whether all that the model has written is an empty list of calls.
    pub(crate) fn calls_nothing(&self) -> bool {
        self.has_called_nothing && self.place == Place::Start
    }

    fn rest(&self) -> &str {
        &self.held[self.taken..]
    }

    /// One step; says whether another one may follow.
    fn step(&mut self, out: &mut Vec<Piece>) -> bool {
        match std::mem::replace(&mut self.state, State::Flowing) {
            State::Flowing => self.look_for_marker(out),
            State::Opening(Marker::Code) => self.look_for_code(out),
            State::Opening(marker) => self.look_for_json(marker, out),
            State::Inside {
                marker,
                scan,
                calls,
            } => self.read_json(marker, scan, calls, out),
            State::Closing { marker, end, calls } => self.look_for_end(marker, end, calls, out),
            State::Coding(code) => self.read_code(code, out),
            State::Unfencing => self.look_for_fence(),
        }
    }

    fn look_for_marker(&mut self, out: &mut Vec<Piece>) -> bool {
        let rest = self.rest();
        let space = rest.len() - rest.trim_start().len();
        if self.place != Place::InText && space == rest.len() {
            return false;
        }
        if self.place == Place::AfterCall {
            self.taken += space;
        }
        let (at, sight) = self.next_sight();
        // What a model that was told writes before its first word is no text either.
        let is_first = self.place == Place::Start && at == space;
        match sight {
            Some(Sight::Perhaps) if is_first => false,
            Some(Sight::Marker(marker)) => {
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
            Some(Sight::Perhaps) | None => {
                self.release(at, out);
                false
            }
        }
    }

    /// The first place where a marker stands, or may begin; the end of the text where there is none.
    fn next_sight(&self) -> (usize, Option<Sight>) {
        let (rest, mut line_is_blank, mut before) = (self.rest(), self.line_is_blank, self.before);
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
                '{' | '[' if line_is_blank => Some(Sight::Marker(Marker::Line { is_list: false })),
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

    fn look_for_json(&mut self, marker: Marker, out: &mut Vec<Piece>) -> bool {
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
            Some(Sight::Perhaps) => {
                self.state = State::Opening(marker);
                false
            }
            Some(Sight::Marker(code)) => {
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
            Verdict::Undecided if rest.len() - scan.from() > MOST_CALL_BYTES => {
                self.give_up(marker, calls, scan.from()..rest.len(), out);
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
                let size = if scan.size() > MOST_AGAIN_BYTES {
                    scan.size()
                } else {
                    1
                };
                self.give_up(marker, calls, scan.from()..scan.from() + size, out);
            }
            Verdict::Whole(end) => {
                let json = &rest[scan.from()..end];
                let read = match self.is_example(marker, &scan) {
                    true => None,
                    false => {
                        read_told_calls(json, &self.tools).or_else(|| self.corrected(&scan, json))
                    }
                };
                match read {
                    Some(more) => {
                        calls.extend(more);
                        self.state = State::Closing { marker, end, calls };
                    }
                    None => self.give_up(marker, calls, scan.from()..end, out),
                }
            }
        }
        true
    }

    /// Whether what is written like a call stands in words that tell of one. What has the form that the model was told is meant.
    fn is_example(&self, marker: Marker, scan: &Scan) -> bool {
        let is_among_words = match marker {
            Marker::Fence => self.place == Place::InText,
            _ => self.prose_bytes > MAX_PROSE_BYTES,
        };
        is_among_words && !scan.is_list()
    }

    /// A call that cannot be read, where the model is to hear of it.
    fn corrected(&self, scan: &Scan, json: &str) -> Option<Vec<Piece>> {
        (self.told.corrects && scan.is_meant()).then(|| vec![unreadable(json, &self.tools)])
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
                let read = whole.and_then(|json| read_told_calls(&json, &self.tools));
                read.or_else(|| self.corrected(scan, json))
            }
        };
        if read.is_some() || !calls.is_empty() {
            calls.extend(read.into_iter().flatten());
            self.deliver(calls, self.held.len(), out);
        }
    }

    /// What looked like a call is none. Earlier calls stand.
    fn give_up(
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

    /// Hands out calls, which were written in the first `size` bytes of the held text.
    fn deliver(&mut self, calls: Vec<Piece>, size: usize, out: &mut Vec<Piece>) {
        // The model may also write that it calls nothing.
        match calls.is_empty() {
            true => self.has_called_nothing = true,
            false => self.place = Place::AfterCall,
        }
        out.extend(calls);
        self.taken += size.min(self.rest().len());
        (self.line_is_blank, self.line_is_quoted, self.before) = (true, false, None);
    }

    fn look_for_end(
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

    /// Lets the first `size` bytes of the held text through.
    fn release(&mut self, size: usize, out: &mut Vec<Piece>) {
        if size > 0 {
            let text = self.rest()[..size].to_owned();
            self.taken += size;
            self.let_out(text, out);
        }
    }

    /// Gives text out, unless it follows a call: the model has not seen the result, and makes one up.
    fn let_out(&mut self, text: String, out: &mut Vec<Piece>) {
        if self.place == Place::AfterCall {
            self.is_done = true;
            self.taken = self.held.len();
            return;
        }
        let line = text.rsplit('\n').next().unwrap_or_default();
        let is_whole_line = line.len() < text.len();
        let (was_blank, was_quoted) = (
            is_whole_line || self.line_is_blank,
            !is_whole_line && self.line_is_quoted,
        );
        self.line_is_quoted = was_quoted || (was_blank && line.trim_start().starts_with('>'));
        self.line_is_blank = was_blank && line.trim().is_empty();
        self.prose_bytes += text.len();
        self.before = text.chars().next_back();
        self.place = Place::InText;
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
