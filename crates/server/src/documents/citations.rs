//! Sources that lead to documents, whose texts are kept as they were cited.

use std::collections::HashSet;

use domain::{CollectionId, DocumentId, event::Source};

use super::{Documents, Found, tool::title};

/// Length of a passage's quote in the list of sources, characters.
const QUOTE_CHARS: usize = 500;

impl Documents {
    /// The sources of passages. The texts that they are of are kept if they change.
    pub(crate) async fn cite(&self, found: &[Found]) -> Vec<Source> {
        let texts: Vec<_> = found
            .iter()
            .map(|found| (found.document, found.version))
            .collect();
        let current = self.note_citations(&texts).await;
        found
            .iter()
            .map(|found| source(found, current.contains(&(found.document, found.version))))
            .collect()
    }

    /// The address of a whole document with this version of its text, which is kept if it changes.
    pub(crate) async fn cite_document(
        &self,
        collection: CollectionId,
        document: DocumentId,
        version: u64,
    ) -> String {
        let current = self.note_citations(&[(document, version)]).await;
        let version = (!current.is_empty()).then_some(version);
        address(collection, document, None, version)
    }

    /// Those of these texts that are the current ones. None on a database error: a source then leads to the text of its
    /// document as it is when it is opened.
    async fn note_citations(&self, texts: &[(DocumentId, u64)]) -> HashSet<(DocumentId, u64)> {
        let noted = self.store.note_citations(texts).await;
        noted.unwrap_or_else(|error| {
            tracing::warn!(%error, "failed to record which documents are cited");
            HashSet::new()
        })
    }
}

/// The source of a passage. Its id depends on the position in the document only, so the same passage is always the same
/// source.
fn source(found: &Found, is_current: bool) -> Source {
    let Found {
        collection,
        document,
        version,
        start,
        end,
        text,
        ..
    } = found;
    let version = is_current.then_some(*version);
    let quote = text.chars().take(QUOTE_CHARS).collect();
    Source::new(
        format!("{document}.{start}"),
        title(found),
        address(*collection, *document, Some((*start, *end)), version),
        Some(quote),
    )
}

/// The local address of a document, maybe at a passage in characters.
fn address(
    collection: CollectionId,
    document: DocumentId,
    passage: Option<(usize, usize)>,
    version: Option<u64>,
) -> String {
    let passage = passage.map(|(start, end)| format!("from={start}&to={end}"));
    let version = version.map(|version| format!("version={version}"));
    let query: Vec<String> = passage.into_iter().chain(version).collect();
    let sign = if query.is_empty() { "" } else { "?" };
    format!(
        "/knowledge/{collection}/{document}{sign}{}",
        query.join("&")
    )
}
