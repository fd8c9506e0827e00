//! What is known of documents: files as text, cut into chunks, and found again by words and by meaning.
//!
//! - [`ReadingProcess::read`] makes a [`Document`] of a file of others, in a process of its own; [`read`] does it here.
//! - [`cut`] makes [`Chunk`]s of it, each with its page, its headings and its exact place. They are the truth: what follows
//!   is built from them.
//! - [`Index`] is what a collection's chunks are searched with, in memory: [`Index::put`], [`Index::remove`]. A clone is
//!   cheap, and changing it leaves those who read the other alone.
//! - [`search`] asks some indexes at once, and says for each [`Hit`] why it stands where it stands.
//!
//! Nothing here knows a database, a socket or a clock.

mod chunks;
mod document;
mod index;
mod picture;
mod process;
mod read;
mod search;
mod unreadable;
mod words;

pub use chunks::{Chunk, Sizes, cut};
pub use document::{Document, Heading, Page};
pub use index::{ChunkToIndex, Index, ToIndex, decode_vector, encode_vector};
pub use picture::Picture;
pub use process::{ReadingProcess, become_reader};
pub use read::{Format, read};
pub use search::{Hit, Meaning, Query, Scores, search};
pub use unreadable::{Limits, Unreadable};
pub use words::{Term, Terms, is_unspaced};
