//! How the text of an answer is to be read, which depends on how the model was told of tools.

use super::{
    rescue::{Piece, Rescue},
    schema_reader::SchemaReader,
};

/// How the answer's text is to be read.
#[derive(Debug)]
pub(crate) enum TextReader {
    /// As it is.
    Plain,
    /// As it is, from a server that does not take the text for a message.
    Continuing,
    /// Looking for calls written as text.
    Rescue(Rescue),
    /// As the object that schema mode forces.
    Schema(SchemaReader),
}

impl TextReader {
    /// Reads more text.
    pub(crate) fn push(&mut self, text: String) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match self {
            Self::Plain | Self::Continuing => pieces.push(Piece::Text(text)),
            Self::Rescue(rescue) => rescue.push(&text, &mut pieces),
            Self::Schema(reader) => reader.push(&text, &mut pieces),
        }
        pieces
    }

    /// The text has ended. `is_cut` where the model had not said all.
    pub(crate) fn finish(&mut self, is_cut: bool) -> Vec<Piece> {
        let mut pieces = Vec::new();
        match self {
            Self::Plain | Self::Continuing => {}
            Self::Rescue(rescue) => rescue.finish(is_cut, &mut pieces),
            Self::Schema(reader) => reader.finish(&mut pieces),
        }
        pieces
    }

    /// Once it is finished: whether it is nothing but an empty list of calls.
    pub(crate) fn calls_nothing(&self) -> bool {
        matches!(self, Self::Rescue(rescue) if rescue.calls_nothing())
    }

    /// Whether what follows does not matter.
    pub(crate) fn is_done(&self) -> bool {
        matches!(self, Self::Rescue(rescue) if rescue.is_done())
    }
}
