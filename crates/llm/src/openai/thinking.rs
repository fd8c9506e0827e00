//! Separates reasoning from an answer whose server leaves it in the text: between tags at the beginning, before a
//! closing tag whose opening one was in the prompt, or in the channels of the harmony format.

mod harmony;

use harmony::{Harmony, is_harmony, may_be_harmony};

/// The tags of models and their templates.
const TAGS: [(&str, &str); 9] = [
    ("<think>", "</think>"),
    ("<thinking>", "</thinking>"),
    ("<thought>", "</thought>"),
    ("<reasoning>", "</reasoning>"),
    ("<seed:think>", "</seed:think>"),
    ("[THINK]", "[/THINK]"),
    ("<|begin_of_thought|>", "<|end_of_thought|>"),
    ("<|START_THINKING|>", "<|END_THINKING|>"),
    ("◁think▷", "◁/think▷"),
];

/// How many of the closing tags are recognized without an opening one: those of templates that put it into the prompt.
const LONE_TAGS: usize = 2;

/// A classified piece of text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    Reasoning(String),
    Answer(String),
    /// All text emitted so far is reasoning.
    WasReasoning,
    /// A call in its own channel.
    Call {
        name: String,
        arguments: String,
    },
}

/// Splits the text of one answer.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    state: State,
    /// Text that may be a tag or its beginning.
    held: String,
    /// The character before the held text of the answer.
    before: Option<char>,
    fence: Fence,
    /// Text was emitted as part of the answer.
    has_answered: bool,
    /// Set if the model is known to start inside its reasoning: the text since then.
    presumed: Option<String>,
    /// Whether the model started inside its reasoning without a tag.
    begins_inside: Option<bool>,
}

/// Tracks whether the text is in a code block.
#[derive(Debug, Clone, Copy, Default)]
struct Fence {
    is_open: bool,
    /// Trailing backticks.
    ticks: u8,
}

impl Fence {
    fn read(&mut self, text: &str) {
        if self.ticks == 0 && !text.contains('`') {
            return;
        }
        for byte in text.bytes() {
            self.ticks = if byte == b'`' {
                self.ticks.saturating_add(1)
            } else {
                0
            };
            self.is_open ^= self.ticks == 3;
        }
    }

    fn after(mut self, text: &str) -> Self {
        self.read(text);
        self
    }
}

#[derive(Debug, Default)]
enum State {
    /// Only white space so far.
    #[default]
    Start,
    /// After an opening tag, up to the closing one.
    Inside(&'static str),
    /// After the tag; the following white space belongs to neither.
    Closed,
    /// In the answer, which is reclassified as reasoning if a closing tag follows.
    Answer,
    /// In an answer that mentions the tags.
    Prose,
    Harmony(Harmony),
}

impl Thinking {
    /// For a model that is known to start inside its reasoning.
    pub(crate) fn presumed() -> Self {
        Self {
            presumed: Some(String::new()),
            ..Self::default()
        }
    }

    /// Whether the model started inside its reasoning without a tag. `None` if unknown.
    pub(crate) fn begins_inside(&self) -> Option<bool> {
        self.begins_inside
    }

    /// Reads more text.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Segment>) {
        if matches!(self.state, State::Answer | State::Prose)
            && self.held.is_empty()
            && !text.contains('<')
        {
            return self.answer(text.to_owned(), out);
        }
        self.held.push_str(text);
        while self.step(out) {}
    }

    /// The answer has ended: held text is classified as it is. `is_whole` if the model has finished without a call.
    pub(crate) fn finish(&mut self, is_whole: bool, out: &mut Vec<Segment>) {
        let held = std::mem::take(&mut self.held);
        match &mut self.state {
            State::Inside(_) => {
                reason(&held, out);
                // It did not reason this time.
                if let Some(mut presumed) = self.presumed.take().filter(|_| is_whole) {
                    presumed.push_str(&held);
                    self.begins_inside = Some(false);
                    self.answer(presumed, out);
                }
            }
            State::Closed if held.trim().is_empty() => {}
            State::Start | State::Closed | State::Answer | State::Prose => self.answer(held, out),
            State::Harmony(harmony) => harmony.finish(&held, out),
        }
    }

    fn answer(&mut self, text: String, out: &mut Vec<Segment>) {
        if !text.is_empty() {
            self.has_answered |= !text.trim().is_empty();
            self.before = text.chars().next_back();
            self.fence.read(&text);
            out.push(Segment::Answer(text));
        }
    }

    /// One step; returns whether another one may follow.
    fn step(&mut self, out: &mut Vec<Segment>) -> bool {
        match &mut self.state {
            State::Start => self.start(),
            State::Inside(close) => {
                let close = *close;
                self.read_reasoning(close, out)
            }
            State::Closed => self.go_on(out),
            State::Answer => self.find_lone_tag(out),
            State::Prose => {
                let text = std::mem::take(&mut self.held);
                self.answer(text, out);
                false
            }
            State::Harmony(harmony) => harmony.step(&mut self.held, out),
        }
    }

    fn start(&mut self) -> bool {
        let begin = self.held.trim_start();
        if is_harmony(begin) {
            self.held = begin.to_owned();
            self.state = State::Harmony(Harmony::default());
        } else if let Some((open, close)) = opening_tag(begin) {
            self.held = begin[open.len()..].to_owned();
            self.presumed = None;
            self.state = State::Inside(close);
        } else if may_be_harmony(begin) || may_open(begin) {
            return false;
        } else if self.presumed.is_some() {
            self.state = State::Inside(TAGS[0].1);
        } else {
            self.state = State::Answer;
        }
        true
    }

    fn read_reasoning(&mut self, close: &'static str, out: &mut Vec<Segment>) -> bool {
        let end = self.held.find(close);
        let size = end.unwrap_or_else(|| self.held.len() - partial_tag_len(&self.held, close));
        let text = &self.held[..size];
        reason(text, out);
        if let (Some(presumed), None) = (&mut self.presumed, end) {
            presumed.push_str(text);
        }
        if end.is_none() {
            self.held.drain(..size);
            return false;
        }
        self.held.drain(..size + close.len());
        self.begins_inside = self.begins_inside.or(self.presumed.take().map(|_| true));
        self.state = State::Closed;
        true
    }

    fn go_on(&mut self, out: &mut Vec<Segment>) -> bool {
        self.held = self.held.trim_start().to_owned();
        if let Some((open, close)) = opening_tag(&self.held) {
            self.held.drain(..open.len());
            reason("\n\n", out);
            self.state = State::Inside(close);
            return true;
        }
        if may_open(&self.held) {
            return false;
        }
        self.state = State::Answer;
        true
    }

    fn find_lone_tag(&mut self, out: &mut Vec<Segment>) -> bool {
        let lone = &TAGS[..LONE_TAGS];
        let mut from = 0;
        while let Some(offset) = self.held[from..].find('<') {
            let at = from + offset;
            let here = &self.held[at..];
            if let Some((_, close)) = lone.iter().find(|(_, close)| here.starts_with(close)) {
                match self.held[..at].chars().next_back().or(self.before) {
                    _ if self.fence.after(&self.held[..at]).is_open => self.state = State::Prose,
                    Some('`' | '"' | '\'' | '“' | '«') => self.state = State::Prose,
                    _ => self.turn_into_reasoning(at, close.len(), out),
                }
                return true;
            }
            if lone.iter().any(|(open, _)| here.starts_with(open)) {
                self.state = State::Prose;
                return true;
            }
            if lone
                .iter()
                .any(|(open, close)| open.starts_with(here) || close.starts_with(here))
            {
                return self.emit(at, out);
            }
            from = at + 1;
        }
        self.emit(self.held.len(), out)
    }

    /// Emits the first `size` bytes of the held text; there is no further step.
    fn emit(&mut self, size: usize, out: &mut Vec<Segment>) -> bool {
        let text = self.held.drain(..size).collect();
        self.answer(text, out);
        false
    }

    /// A closing tag is at byte `at` of the held text.
    fn turn_into_reasoning(&mut self, at: usize, tag: usize, out: &mut Vec<Segment>) {
        if self.has_answered {
            out.push(Segment::WasReasoning);
        }
        let text = &self.held[..at];
        if self.has_answered || !text.trim().is_empty() {
            self.begins_inside = Some(true);
        }
        reason(text, out);
        self.has_answered = false;
        self.fence = Fence::default();
        self.held.drain(..at + tag);
        self.state = State::Closed;
    }
}

fn reason(text: &str, out: &mut Vec<Segment>) {
    if !text.is_empty() {
        out.push(Segment::Reasoning(text.to_owned()));
    }
}

/// The tag pair whose opening tag begins the text.
fn opening_tag(text: &str) -> Option<(&'static str, &'static str)> {
    TAGS.into_iter().find(|(open, _)| text.starts_with(open))
}

/// Whether the text is the beginning of an opening tag, or empty.
fn may_open(text: &str) -> bool {
    TAGS.iter().any(|(open, _)| open.starts_with(text))
}

/// How many bytes at the end of the text are the beginning of the tag.
fn partial_tag_len(text: &str, tag: &str) -> usize {
    let sizes = (1..tag.len())
        .rev()
        .filter(|size| tag.is_char_boundary(*size));
    sizes
        .into_iter()
        .find(|size| text.ends_with(&tag[..*size]))
        .unwrap_or(0)
}

#[cfg(test)]
mod tests;
