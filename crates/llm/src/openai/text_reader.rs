//! Chooses how the text of an answer is read, depending on the tool mode.

use super::{
    schema_reader::SchemaReader,
    template_calls::TemplateCalls,
    text_calls::{Piece, TextCallParser},
};
use crate::meant_tool;

/// The reader for an answer's text.
#[derive(Debug)]
pub(crate) enum TextReader {
    /// Plain text.
    Plain,
    /// Plain text from a server that does not take the prompt for a message.
    Continuing,
    /// Plain text, unless all of it is calls in the markup of the model's template.
    Native(TemplateCalls),
    /// Text that may contain calls as instructed.
    Instructed(TemplateCalls, TextCallParser),
    /// The object that schema mode forces.
    Schema(SchemaReader),
}

impl TextReader {
    /// Reads more text.
    pub(crate) fn push(&mut self, text: String, pieces: &mut Vec<Piece>) {
        match self {
            Self::Plain | Self::Continuing => pieces.push(Piece::Text(text)),
            Self::Native(calls) => pieces.extend(calls.push(text).map(Piece::Text)),
            Self::Instructed(calls, parser) => {
                if let Some(text) = calls.push(text) {
                    parser.push(&text, pieces);
                }
            }
            Self::Schema(reader) => reader.push(&text, pieces),
        }
    }

    /// The text has ended. `is_cut` if the answer was truncated.
    pub(crate) fn finish(&mut self, is_cut: bool, pieces: &mut Vec<Piece>) {
        match self {
            Self::Plain | Self::Continuing => {}
            Self::Native(calls) => match calls.finish(is_cut) {
                Ok(calls) => pieces.extend(calls),
                Err(text) => pieces.extend((!text.is_empty()).then_some(Piece::Text(text))),
            },
            Self::Instructed(calls, parser) => match calls.finish(is_cut) {
                Ok(calls) => pieces.extend(calls),
                Err(text) => {
                    parser.push(&text, pieces);
                    parser.finish(is_cut, pieces);
                }
            },
            Self::Schema(reader) => reader.finish(pieces),
        }
    }

    /// The text so far was not part of the answer: restarts, and returns the held text.
    pub(crate) fn restart(&mut self) -> String {
        match self {
            Self::Plain | Self::Continuing | Self::Schema(_) => String::new(),
            Self::Native(calls) => calls.restart(),
            Self::Instructed(calls, parser) => calls.restart() + &parser.restart(),
        }
    }

    /// The tool that a call in its own channel names, if it may be called there.
    pub(crate) fn tool(&self, name: &str) -> Option<&str> {
        let (Self::Native(calls) | Self::Instructed(calls, _)) = self else {
            return None;
        };
        let names: Vec<&str> = calls.tools().iter().map(String::as_str).collect();
        meant_tool(name, &names)
    }

    /// After the end: whether the answer is only an empty list of calls.
    pub(crate) fn calls_nothing(&self) -> bool {
        matches!(self, Self::Instructed(_, parser) if parser.calls_nothing())
    }

    /// Whether further text does not matter.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Instructed(_, parser) if parser.is_done())
    }
}
