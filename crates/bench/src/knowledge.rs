//! Quality and cost of knowledge search: quality on public collections, the built-in model compared with Python,
//! filtered search among 100,000 chunks, and extracting text, chunking and indexing.

mod collections;
mod embedding;
mod manual;
mod quality;
mod speed;

use std::path::{Path, PathBuf};

use embedder::{Embedder, Files, LIBRARY, NETWORK, TOKENIZER};

/// The paths of the collections; those not given are not measured.
pub(crate) struct Collections {
    /// A folder with `cran.all.1400`, `cran.qry` and `cranqrel`.
    pub(crate) cranfield: Option<PathBuf>,
    /// A folder with `documents.json.gz` and `tasks.json`.
    pub(crate) banking: Option<PathBuf>,
    /// A folder with the pages of Perl's manual.
    pub(crate) manual: Option<PathBuf>,
    /// A folder with the files of the built-in embedding model.
    pub(crate) embedder: Option<PathBuf>,
    /// A Python with onnxruntime, tokenizers and numpy.
    pub(crate) python: Option<PathBuf>,
}

/// The server's default.
const THREADS: usize = 2;

/// Prints the tables.
pub(crate) fn measure(
    folders: &Collections,
    quick: bool,
    only_embedding: bool,
) -> anyhow::Result<()> {
    let cranfield = folders
        .cranfield
        .as_deref()
        .map(collections::cranfield)
        .transpose()?;
    let banking = folders
        .banking
        .as_deref()
        .map(collections::banking)
        .transpose()?;
    let manual = folders.manual.as_deref().map(manual::manual).transpose()?;
    let embedder = folders.embedder.as_deref().map(load).transpose()?;
    let all = [
        cranfield
            .as_ref()
            .map(|it| (it, "Cranfield, nDCG@10", Some(0.42))),
        banking
            .as_ref()
            .map(|it| (it, "tau2 banking, nDCG@10", Some(0.32))),
        manual
            .as_ref()
            .map(|it| (it, "Perl FAQ, nDCG@10, unseen", None)),
    ];
    let all: Vec<_> = all.into_iter().flatten().collect();
    if let (Some(embedder), Some(folder), Some((first, ..))) =
        (&embedder, &folders.embedder, all.first())
    {
        embedding::measure(embedder, folder, folders.python.as_deref(), first)?;
    }
    if only_embedding {
        return Ok(());
    }
    quality::measure(&all, embedder.as_ref())?;
    speed::measure(quick)
}

fn load(folder: &Path) -> anyhow::Result<Embedder> {
    let file = |name| folder.join(name);
    let files = Files {
        network: file(NETWORK),
        tokenizer: file(TOKENIZER),
        library: file(LIBRARY),
    };
    Ok(Embedder::load(&files, THREADS)?)
}
