//! Takes the reasoning out of an answer whose server leaves it in the text: between tags at the beginning, before a closing
//! tag whose opening one stood in the prompt, or in the channels of the harmony format.

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

/// The closing tags that are known without their opening one: those of the templates that put that into the prompt.
const LONE_TAGS: usize = 2;

/// What a piece of text turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Said {
    Reasoning(String),
    Answer(String),
    /// All that was said to be the answer so far is reasoning.
    WasReasoning,
    /// A call in a channel of its own.
    Call {
        name: String,
        arguments: String,
    },
}

/// Splits the text of one answer.
#[derive(Debug, Default)]
pub(crate) struct Thinking {
    place: Place,
    /// Text that may be a tag or its beginning.
    held: String,
    /// The character before the held text of the answer.
    before: Option<char>,
    fence: Fence,
    /// Something was said to be the answer.
    has_answered: bool,
    /// The model is known to begin in its reasoning, and what it has written since then.
    presumed: Option<String>,
    /// Whether the model has begun in its reasoning without a tag.
    begins_inside: Option<bool>,
}

/// Whether the text is in a block of code.
#[derive(Debug, Clone, Copy, Default)]
struct Fence {
    is_open: bool,
    /// Backticks at the end.
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
enum Place {
    /// Nothing but white space has come.
    #[default]
    Start,
    /// Behind an opening tag, up to the closing one.
    Inside(&'static str),
    /// Behind the tag; the white space that follows it belongs to neither.
    Closed,
    /// In the answer, which turns out to be reasoning if a closing tag follows.
    Answer,
    /// In an answer that speaks of the tags.
    Prose,
    Harmony(Harmony),
}

impl Thinking {
    /// For a model that has begun in its reasoning before.
    pub(crate) fn presumed() -> Self {
        Self {
            presumed: Some(String::new()),
            ..Self::default()
        }
    }

    /// Whether the model has begun in its reasoning without a tag. `None` if that cannot be said.
    pub(crate) fn begins_inside(&self) -> Option<bool> {
        self.begins_inside
    }

    /// Reads more text.
    pub(crate) fn push(&mut self, text: &str, out: &mut Vec<Said>) {
        if matches!(self.place, Place::Answer | Place::Prose)
            && self.held.is_empty()
            && !text.contains('<')
        {
            return self.answer(text.to_owned(), out);
        }
        self.held.push_str(text);
        while self.step(out) {}
    }

    /// The answer has ended: what is held is what it looks like. `is_whole` if the model has said all and called nothing.
    pub(crate) fn finish(&mut self, is_whole: bool, out: &mut Vec<Said>) {
        let held = std::mem::take(&mut self.held);
        match &mut self.place {
            Place::Inside(_) => {
                reason(&held, out);
                // It has not reasoned this time.
                if let Some(mut presumed) = self.presumed.take().filter(|_| is_whole) {
                    presumed.push_str(&held);
                    self.begins_inside = Some(false);
                    self.answer(presumed, out);
                }
            }
            Place::Closed if held.trim().is_empty() => {}
            Place::Start | Place::Closed | Place::Answer | Place::Prose => self.answer(held, out),
            Place::Harmony(harmony) => harmony.finish(&held, out),
        }
    }

    fn answer(&mut self, text: String, out: &mut Vec<Said>) {
        if !text.is_empty() {
            self.has_answered |= !text.trim().is_empty();
            self.before = text.chars().next_back();
            self.fence.read(&text);
            out.push(Said::Answer(text));
        }
    }

    /// One step; says whether another one may follow.
    fn step(&mut self, out: &mut Vec<Said>) -> bool {
        match &mut self.place {
            Place::Start => self.start(),
            Place::Inside(close) => {
                let close = *close;
                self.read_reasoning(close, out)
            }
            Place::Closed => self.go_on(out),
            Place::Answer => self.look_for_lone_tag(out),
            Place::Prose => {
                let text = std::mem::take(&mut self.held);
                self.answer(text, out);
                false
            }
            Place::Harmony(harmony) => harmony.step(&mut self.held, out),
        }
    }

    fn start(&mut self) -> bool {
        let begin = self.held.trim_start();
        if is_harmony(begin) {
            self.held = begin.to_owned();
            self.place = Place::Harmony(Harmony::default());
        } else if let Some((open, close)) = opened(begin) {
            self.held = begin[open.len()..].to_owned();
            self.presumed = None;
            self.place = Place::Inside(close);
        } else if may_be_harmony(begin) || may_open(begin) {
            return false;
        } else if self.presumed.is_some() {
            self.place = Place::Inside(TAGS[0].1);
        } else {
            self.place = Place::Answer;
        }
        true
    }

    fn read_reasoning(&mut self, close: &'static str, out: &mut Vec<Said>) -> bool {
        let end = self.held.find(close);
        let size = end.unwrap_or_else(|| self.held.len() - half_at_end(&self.held, close));
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
        self.place = Place::Closed;
        true
    }

    fn go_on(&mut self, out: &mut Vec<Said>) -> bool {
        self.held = self.held.trim_start().to_owned();
        if let Some((open, close)) = opened(&self.held) {
            self.held.drain(..open.len());
            reason("\n\n", out);
            self.place = Place::Inside(close);
            return true;
        }
        if may_open(&self.held) {
            return false;
        }
        self.place = Place::Answer;
        true
    }

    fn look_for_lone_tag(&mut self, out: &mut Vec<Said>) -> bool {
        let lone = &TAGS[..LONE_TAGS];
        let mut from = 0;
        while let Some(offset) = self.held[from..].find('<') {
            let at = from + offset;
            let here = &self.held[at..];
            if let Some((_, close)) = lone.iter().find(|(_, close)| here.starts_with(close)) {
                match self.held[..at].chars().next_back().or(self.before) {
                    _ if self.fence.after(&self.held[..at]).is_open => self.place = Place::Prose,
                    Some('`' | '"' | '\'' | '“' | '«') => self.place = Place::Prose,
                    _ => self.turn_into_reasoning(at, close.len(), out),
                }
                return true;
            }
            if lone.iter().any(|(open, _)| here.starts_with(open)) {
                self.place = Place::Prose;
                return true;
            }
            if lone
                .iter()
                .any(|(open, close)| open.starts_with(here) || close.starts_with(here))
            {
                return self.let_out(at, out);
            }
            from = at + 1;
        }
        self.let_out(self.held.len(), out)
    }

    /// Lets the first `size` bytes of the held text through; there is no further step.
    fn let_out(&mut self, size: usize, out: &mut Vec<Said>) -> bool {
        let text = self.held.drain(..size).collect();
        self.answer(text, out);
        false
    }

    /// A closing tag stands at byte `at` of the held text.
    fn turn_into_reasoning(&mut self, at: usize, tag: usize, out: &mut Vec<Said>) {
        if self.has_answered {
            out.push(Said::WasReasoning);
        }
        let text = &self.held[..at];
        if self.has_answered || !text.trim().is_empty() {
            self.begins_inside = Some(true);
        }
        reason(text, out);
        self.has_answered = false;
        self.fence = Fence::default();
        self.held.drain(..at + tag);
        self.place = Place::Closed;
    }
}

fn reason(text: &str, out: &mut Vec<Said>) {
    if !text.is_empty() {
        out.push(Said::Reasoning(text.to_owned()));
    }
}

/// The tags with whose opening one the text begins.
fn opened(text: &str) -> Option<(&'static str, &'static str)> {
    TAGS.into_iter().find(|(open, _)| text.starts_with(open))
}

/// Whether the text is the beginning of an opening tag, or empty.
fn may_open(text: &str) -> bool {
    TAGS.iter().any(|(open, _)| open.starts_with(text))
}

/// So many bytes at the end of the text are the beginning of the tag.
fn half_at_end(text: &str, tag: &str) -> usize {
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
