//! An assistant's answer, and the sources and token counts in it.

use domain::{TokenCount, Usage, event::Source};
use serde_json::Value;

use super::fields::short;

/// Maximum number of sources and steps of an answer.
pub(super) const MAX_SOURCES: usize = 200;
pub(super) const MAX_PIECES: usize = 2_000;
/// Maximum number of pictures of a message, and of its other files.
pub(super) const MAX_PICTURES: usize = 40;
/// Maximum length of an error message or quote, and of the name of a model or tool, characters.
pub(super) const FAULT_CHARS: usize = 500;
pub(super) const NAME_CHARS: usize = 200;

/// An assistant's answer with all its pieces in order.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Answer {
    /// Reasoning, calls and texts.
    pub pieces: Vec<Piece>,
    /// Its sources.
    pub sources: Vec<Source>,
    /// Token usage, if known.
    pub usage: Option<Usage>,
    /// The error, if there was one.
    pub fault: Option<String>,
}

/// A piece of an answer.
#[derive(Debug, Clone, PartialEq)]
pub enum Piece {
    /// Text.
    Text(String),
    /// Reasoning.
    Reasoning {
        /// The complete text.
        text: String,
        /// Its duration, milliseconds.
        duration_ms: u64,
    },
    /// A tool call.
    Call {
        /// Its name.
        name: String,
        /// Its arguments.
        arguments: Value,
        /// Its result; `None` if unknown.
        result: Option<String>,
    },
}

impl Answer {
    /// Its texts, as a chat shows them.
    pub(super) fn said(&self) -> String {
        let texts = self.pieces.iter().filter_map(|piece| match piece {
            Piece::Text(text) => Some(text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n\n")
    }

    /// Whether it has more than text.
    pub(super) fn is_worth_a_log(&self) -> bool {
        !self.sources.is_empty()
            || self.usage.is_some()
            || self.fault.is_some()
            || self
                .pieces
                .iter()
                .any(|piece| !matches!(piece, Piece::Text(_)))
    }

    /// Adds a piece unless it is an empty text or there are too many. Returns whether it fits.
    pub(super) fn add(&mut self, piece: Piece) -> bool {
        if matches!(&piece, Piece::Text(text) if text.trim().is_empty()) {
            return true;
        }
        if self.pieces.len() == MAX_PIECES {
            return false;
        }
        self.pieces.push(piece);
        true
    }

    /// Gives the result to the last call of this name that has none; without such a call, it becomes one. A further
    /// result of the same call is appended to the first.
    pub(super) fn add_result(&mut self, name: &str, result: String) -> bool {
        let calls = self
            .pieces
            .iter_mut()
            .rev()
            .filter_map(|piece| match piece {
                Piece::Call {
                    name: called,
                    result,
                    ..
                } => Some((called, result)),
                _ => None,
            });
        let mut calls = calls.filter(|(called, _)| name.is_empty() || *called == name);
        match calls.next() {
            Some((_, slot @ None)) => *slot = Some(result),
            _ if result.is_empty() => {}
            Some((_, Some(before))) => {
                before.push_str("\n\n");
                before.push_str(&result);
            }
            None => {
                let name = if name.is_empty() { "tool" } else { name };
                return self.add(Piece::call(
                    name,
                    Value::Object(serde_json::Map::new()),
                    Some(result),
                ));
            }
        }
        true
    }

    /// Adds a source unless it is known or has neither title nor web address. Returns the number it is cited by.
    pub(super) fn cite(&mut self, title: &str, url: &str, quote: Option<&str>) -> Option<usize> {
        let url = if is_web_address(url) { url } else { "" };
        let title = short(if title.is_empty() { url } else { title }, NAME_CHARS);
        if title.is_empty() {
            return None;
        }
        let known =
            |source: &Source| source.url == url && (!url.is_empty() || source.title == title);
        if let Some(at) = self.sources.iter().position(known) {
            return Some(at + 1);
        }
        if self.sources.len() == MAX_SOURCES {
            return None;
        }
        let number = self.sources.len() + 1;
        let quote = quote.filter(|quote| !quote.is_empty());
        let quote = quote.map(|quote| short(quote, FAULT_CHARS));
        self.sources.push(Source::new(
            number.to_string(),
            title,
            url.to_owned(),
            quote,
        ));
        Some(number)
    }
}

impl Piece {
    pub(super) fn call(name: &str, arguments: Value, result: Option<String>) -> Self {
        Self::Call {
            name: short(name, NAME_CHARS),
            arguments,
            result,
        }
    }
}

pub(super) fn is_web_address(text: &str) -> bool {
    text.starts_with("https://") || text.starts_with("http://")
}

/// Token usage in the forms of many servers.
pub(super) fn usage_of(usage: &Value) -> Option<Usage> {
    let count = |names: [&str; 3]| {
        let number = |name: &&str| usage.get(*name).and_then(Value::as_f64);
        let tokens = names
            .iter()
            .find_map(number)
            .filter(|tokens| *tokens >= 0.0)?;
        #[expect(
            clippy::cast_possible_truncation,
            clippy::cast_sign_loss,
            reason = "casts saturate"
        )]
        let tokens = tokens as u64;
        Some(tokens.min(TokenCount::MAX.get()))
    };
    let input = count(["prompt_tokens", "input_tokens", "prompt_eval_count"]);
    let output = count(["completion_tokens", "output_tokens", "eval_count"]);
    if input.is_none() && output.is_none() {
        return None;
    }
    Some(Usage::of(input.unwrap_or(0), output.unwrap_or(0)))
}
