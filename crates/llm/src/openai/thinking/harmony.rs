//! The harmony format of gpt-oss, for servers that do not parse it: messages in channels, between special tokens.

use super::{Segment, reason};

const START: &str = "<|start|>";
const CHANNEL: &str = "<|channel|>";
const MESSAGE: &str = "<|message|>";

/// The tokens that end a message.
const ENDS: [&str; 5] = ["<|end|>", "<|call|>", "<|return|>", START, CHANNEL];

/// Maximum length of a message's head, bytes.
const MAX_HEAD_BYTES: usize = 300;

/// Whether an answer begins with a message in this format.
pub(super) fn is_harmony(text: &str) -> bool {
    text.starts_with(CHANNEL) || text.starts_with(START)
}

/// Whether it may begin so once more text has come.
pub(super) fn may_be_harmony(text: &str) -> bool {
    CHANNEL.starts_with(text) || START.starts_with(text)
}

/// The position in the format.
#[derive(Debug, Default)]
pub(super) enum Harmony {
    /// Before the text of a message.
    #[default]
    Head,
    Analysis,
    /// In a message for the person.
    Final,
    /// In the arguments of a call.
    Call {
        name: String,
        arguments: String,
    },
}

impl Harmony {
    /// Reads as much as possible; returns whether there may be more to read.
    pub(super) fn step(&mut self, held: &mut String, out: &mut Vec<Segment>) -> bool {
        if matches!(self, Self::Head) {
            return self.read_head(held, out);
        }
        let (size, token) = next_token(held);
        self.add(&held[..size], out);
        held.drain(..size);
        let Some(token) = token else { return false };
        if !matches!(token, START | CHANNEL) {
            held.drain(..token.len());
        }
        self.end(out);
        true
    }

    /// The answer has ended with this text.
    pub(super) fn finish(&mut self, held: &str, out: &mut Vec<Segment>) {
        match self {
            Self::Head if held.trim().is_empty() => {}
            Self::Head => out.push(Segment::Answer(held.to_owned())),
            _ => self.add(held, out),
        }
        self.end(out);
    }

    fn read_head(&mut self, held: &mut String, out: &mut Vec<Segment>) -> bool {
        let Some(at) = held.find(MESSAGE) else {
            if held.len() > MAX_HEAD_BYTES {
                out.push(Segment::Answer(std::mem::take(held)));
                *self = Self::Final;
            }
            return false;
        };
        *self = of_head(&held[..at]);
        held.drain(..at + MESSAGE.len());
        true
    }

    fn add(&mut self, text: &str, out: &mut Vec<Segment>) {
        match self {
            Self::Head => {}
            Self::Analysis => reason(text, out),
            Self::Final if text.is_empty() => {}
            Self::Final => out.push(Segment::Answer(text.to_owned())),
            Self::Call { arguments, .. } => arguments.push_str(text),
        }
    }

    fn end(&mut self, out: &mut Vec<Segment>) {
        if let Self::Call { name, arguments } = std::mem::take(self) {
            out.push(Segment::Call { name, arguments });
        }
    }
}

fn of_head(head: &str) -> Harmony {
    let recipient = head.split_once("to=").map(|(_, to)| to);
    let name = recipient.map(|to| to.split([' ', '<']).next().unwrap_or_default());
    match name.filter(|name| !name.is_empty()) {
        Some(name) => {
            let name = name.strip_prefix("functions.").unwrap_or(name).to_owned();
            Harmony::Call {
                name,
                arguments: String::new(),
            }
        }
        None if head.contains("analysis") => Harmony::Analysis,
        None => Harmony::Final,
    }
}

/// The length of the text before the next token or a possible one, and that token.
fn next_token(text: &str) -> (usize, Option<&'static str>) {
    for (at, _) in text.match_indices('<') {
        let here = &text[at..];
        if let Some(token) = ENDS.into_iter().find(|token| here.starts_with(token)) {
            return (at, Some(token));
        }
        if ENDS.iter().any(|token| token.starts_with(here)) {
            return (at, None);
        }
    }
    (text.len(), None)
}
