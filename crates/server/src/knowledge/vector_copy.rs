//! Keeps the copy of our vectors in Qdrant, text by text.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use domain::EmbeddingSpaceId;
use futures_util::FutureExt;
use knowledge::decode_vector;
use store::{EmbeddedDocument, Vectors};

use super::{
    copies::{NoCopy, keep_copying},
    qdrant::{NoAnswer, Qdrant, Text, name_of, point, prefix_of, read_text, text_of},
};
use crate::app::App;

/// So many points are put at a time.
const BATCH: usize = 100;

impl From<NoAnswer> for NoCopy<NoAnswer> {
    fn from(error: NoAnswer) -> Self {
        Self::There(error)
    }
}

/// Copies what is to be copied until the server stops.
pub(crate) async fn keep_vector_copy(app: Arc<App>) {
    let Some(qdrant) = &app.knowledge.qdrant else { return };
    let copy = |_| app.copy_vectors(qdrant).boxed();
    let note = |problem: &NoAnswer| {
        qdrant.note_problem(problem);
    };
    keep_copying(&app, &qdrant.changed, copy, note).await;
}

impl App {
    /// Has Qdrant show what the rows say now.
    async fn copy_vectors(&self, qdrant: &Qdrant) -> Result<(), NoCopy<NoAnswer>> {
        let home = self.home().await?;
        let spaces = self.store.embedding_spaces().await?;
        let known: HashSet<String> = spaces.iter().map(|space| name_of(&home, space.id)).collect();
        let there = qdrant.collections(&prefix_of(&home)).await?;
        for name in there.iter().filter(|name| !known.contains(*name)) {
            qdrant.remove(name).await?;
        }
        let mut copied = HashSet::new();
        for space in spaces {
            let name = name_of(&home, space.id);
            let is_there = there.contains(&name);
            self.copy_space(qdrant, (&name, space.id), is_there, &mut copied).await?;
        }
        qdrant.note_copied(copied);
        self.knowledge.switch_spaces(&self.store).await?;
        Ok(())
    }

    async fn copy_space(
        &self,
        qdrant: &Qdrant,
        (name, space): (&str, EmbeddingSpaceId),
        mut is_there: bool,
        copied: &mut HashSet<(EmbeddingSpaceId, Text)>,
    ) -> Result<(), NoCopy<NoAnswer>> {
        let rows = self.store.embedded_documents(space).await?;
        let there = if is_there { qdrant.texts(name).await? } else { HashMap::new() };
        let wanted: HashSet<Text> = rows.iter().map(|row| (row.document, row.version)).collect();
        for text in there.keys().filter(|text| read_text(text).is_none_or(|text| !wanted.contains(&text))) {
            qdrant.forget(name, text).await?;
        }
        for row in rows {
            let text = (row.document, row.version);
            if there.get(&text_of(text)) != Some(&row.pieces) {
                match self.copy_text(qdrant, (name, space), &row, &mut is_there).await {
                    // Refused are vectors of another length than those before: nothing is to wait for them.
                    Ok(()) | Err(NoCopy::There(NoAnswer::Refused)) => {}
                    Err(error) => return Err(error),
                }
            }
            copied.insert((space, text));
        }
        Ok(())
    }

    async fn copy_text(
        &self,
        qdrant: &Qdrant,
        (name, space): (&str, EmbeddingSpaceId),
        row: &EmbeddedDocument,
        is_there: &mut bool,
    ) -> Result<(), NoCopy<NoAnswer>> {
        let EmbeddedDocument { document, collection, version, .. } = *row;
        let parts = self.store.document_vectors(document, space, version).await?;
        let mut points = Vec::new();
        for Vectors { first, pieces, content } in parts {
            let length = content.len() / usize::try_from(pieces).unwrap_or(usize::MAX).max(1);
            let dimensions = length.saturating_sub(size_of::<f32>());
            if dimensions > 0 && !*is_there {
                qdrant.make(name, dimensions).await?;
                *is_there = true;
            }
            for (piece, vector) in (first..).zip(content.chunks_exact(length.max(1))) {
                let vector = (decode_vector(vector), dimensions);
                points.push(point(collection, (document, version), piece, vector));
                if points.len() >= BATCH {
                    qdrant.put(name, std::mem::take(&mut points)).await?;
                }
            }
        }
        if !points.is_empty() {
            qdrant.put(name, points).await?;
        }
        Ok(())
    }
}
