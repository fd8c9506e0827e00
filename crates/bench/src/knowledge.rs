//! What knowledge finds and what that costs: quality on public collections, search among 100,000 chunks with filters, and
//! making text, chunks and the index.

mod collections;
mod quality;
mod speed;

use std::path::PathBuf;

/// Where the collections are; what is not given is not measured.
pub(crate) struct Collections {
    /// A folder with `cran.all.1400`, `cran.qry` and `cranqrel`.
    pub(crate) cranfield: Option<PathBuf>,
    /// A folder with `documents.json.gz` and `tasks.json`.
    pub(crate) banking: Option<PathBuf>,
    /// A folder with the files of the built-in embedding model.
    pub(crate) embedder: Option<PathBuf>,
}

/// Prints the tables.
pub(crate) fn measure(folders: &Collections, quick: bool) -> anyhow::Result<()> {
    quality::measure(folders)?;
    speed::measure(quick)
}
