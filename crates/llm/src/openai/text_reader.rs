//! How the text of an answer is to be read, which depends on how the model was told of tools.

use super::{
    rescue::{Piece, Rescue},
    schema_reader::SchemaReader,
    template_calls::TemplateCalls,
};
use crate::meant_tool;

/// How the answer's text is to be read.
#[derive(Debug)]
pub(crate) enum TextReader {
    /// As it is.
    Plain,
    /// As it is, from a server that does not take the text for a message.
    Continuing,
    /// As it is, unless all of it is calls in the markup of the model's template.
    Native(TemplateCalls),
    /// Looking for calls that the model was told to write.
    Told(TemplateCalls, Rescue),
    /// As the object that schema mode forces.
    Schema(SchemaReader),
}

impl TextReader {
    /// Reads more text.
    pub(crate) fn push(&mut self, text: String, pieces: &mut Vec<Piece>) {
        match self {
            Self::Plain | Self::Continuing => pieces.push(Piece::Text(text)),
            Self::Native(calls) => pieces.extend(calls.push(text).map(Piece::Text)),
            Self::Told(calls, rescue) => {
                if let Some(text) = calls.push(text) {
                    rescue.push(&text, pieces);
                }
            }
            Self::Schema(reader) => reader.push(&text, pieces),
        }
    }

    /// The text has ended. `is_cut` where the model had not said all.
    pub(crate) fn finish(&mut self, is_cut: bool, pieces: &mut Vec<Piece>) {
        match self {
            Self::Plain | Self::Continuing => {}
            Self::Native(calls) => match calls.finish(is_cut) {
                Ok(calls) => pieces.extend(calls),
                Err(text) => pieces.extend((!text.is_empty()).then_some(Piece::Text(text))),
            },
            Self::Told(calls, rescue) => match calls.finish(is_cut) {
                Ok(calls) => pieces.extend(calls),
                Err(text) => {
                    rescue.push(&text, pieces);
                    rescue.finish(is_cut, pieces);
                }
            },
            Self::Schema(reader) => reader.finish(pieces),
        }
    }

    /// What was read so far was none of the answer's text: reads what follows as its beginning. Returns what was held.
    pub(crate) fn restart(&mut self) -> String {
        match self {
            Self::Plain | Self::Continuing | Self::Schema(_) => String::new(),
            Self::Native(calls) => calls.restart(),
            Self::Told(calls, rescue) => calls.restart() + &rescue.restart(),
        }
    }

    /// The tool that a call in a channel of its own is for, if it may be called there.
    pub(crate) fn tool(&self, name: &str) -> Option<&str> {
        let (Self::Native(calls) | Self::Told(calls, _)) = self else {
            return None;
        };
        let names: Vec<&str> = calls.tools().iter().map(String::as_str).collect();
        meant_tool(name, &names)
    }

    /// Once it is finished: whether it is nothing but an empty list of calls.
    pub(crate) fn calls_nothing(&self) -> bool {
        matches!(self, Self::Told(_, rescue) if rescue.calls_nothing())
    }

    /// Whether what follows does not matter.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Told(_, rescue) if rescue.is_done())
    }
}
