//! Documents: extracting text from files, splitting it into chunks, and searching them by words and by meaning.
//!
//! - [`ReadingProcess::read`] extracts a [`Document`] from an untrusted file in a separate process; [`read`] does so in
//!   this one. [`Recognizer`] is the installed program that reads the text in pictures of pages.
//! - [`Recording`] tells recordings, and [`transcript`] makes a [`Document`] of what a model heard in one. A file that
//!   another program has converted is read by [`ReadingProcess::read_converted_until`].
//! - [`cut`] splits it into [`Chunk`]s, each with its page, headings and exact position. They are the source data from
//!   which everything else is derived.
//! - [`Index`] is the in-memory search index of a collection's chunks: [`Index::put`], [`Index::remove`]. A clone is
//!   cheap, and changing it does not affect readers of the original.
//! - [`search`] queries several indexes at once, and returns for each [`Hit`] the scores that determine its rank.
//!
//! Independent of databases, sockets and clocks.

mod chunks;
mod document;
mod index;
mod picture;
mod process;
mod properties;
mod read;
mod recognition;
mod recording;
mod search;
mod transcript;
mod unreadable;
mod words;

pub use chunks::{Chunk, Sizes, cut};
pub use document::{Document, Heading, Moment, Page, UnreadPage};
pub use index::{ChunkToIndex, Index, ToIndex, decode_vector, encode_vector};
pub use picture::Picture;
pub use process::{ReadingProcess, become_reader};
pub use properties::Properties;
pub use read::{Converter, Format, READER_VERSION, decode, read};
pub use recognition::{NoRecognizer, RecognitionLimits, Recognizer, UnreadReason};
pub use recording::Recording;
pub use search::{Hit, Meaning, Query, Scores, search};
pub use transcript::{Utterance, time, transcript};
pub use unreadable::{Limits, Unreadable};
pub use words::{Languages, QueryWord, Term, Terms, is_unspaced};
