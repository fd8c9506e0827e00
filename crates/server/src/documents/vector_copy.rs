//! Copies the vectors to the vector database, text by text.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use domain::EmbeddingSpaceId;
use knowledge::decode_vector;
use store::{EmbeddedDocument, VectorPoint, Vectors};

use super::{
    replica::ReplicaError,
    vector_database::{NoAnswer, Text, VectorDatabase},
};
use crate::{
    documents::Documents,
    platform::jobs::{Failure, Next},
};

/// Number of points per request.
const BATCH: usize = 100;

impl From<NoAnswer> for ReplicaError<NoAnswer> {
    fn from(error: NoAnswer) -> Self {
        Self::There(error)
    }
}

impl Documents {
    /// Copies the vectors that differ.
    pub(crate) async fn mirror_vectors(self: Arc<Self>) -> Result<Next, Failure> {
        let Some(database) = &self.vector_database else {
            return Ok(Next::Done);
        };
        match self.copy_vectors(database).await {
            Ok(()) => Ok(Next::Idle),
            Err(ReplicaError::There(problem)) => Err(Failure::new(database.note_problem(&problem))),
            Err(ReplicaError::Here(error)) => Err(error.into()),
        }
    }

    /// Updates the vector database to match the rows.
    async fn copy_vectors(
        self: &Arc<Self>,
        database: &VectorDatabase,
    ) -> Result<(), ReplicaError<NoAnswer>> {
        let home = self.home().await?;
        let spaces = self.store.embedding_spaces().await?;
        let known: HashSet<String> = spaces
            .iter()
            .map(|space| database.name_of(&home, space.id))
            .collect();
        let there = database.spaces(&home).await?;
        for name in there.iter().filter(|name| !known.contains(*name)) {
            database.remove(name).await?;
        }
        let mut copied = HashSet::new();
        for space in spaces {
            let name = database.name_of(&home, space.id);
            let is_there = there.contains(&name);
            self.copy_space(database, &name, space.id, is_there, &mut copied)
                .await?;
        }
        database.note_copied(copied);
        self.switch_spaces().await?;
        Ok(())
    }

    async fn copy_space(
        &self,
        database: &VectorDatabase,
        name: &str,
        space: EmbeddingSpaceId,
        mut is_there: bool,
        copied: &mut HashSet<(EmbeddingSpaceId, Text)>,
    ) -> Result<(), ReplicaError<NoAnswer>> {
        let rows = self.store.embedded_documents(space).await?;
        let there = if is_there {
            database.texts(name).await?
        } else {
            HashMap::new()
        };
        let wanted: HashSet<Text> = rows.iter().map(|row| (row.document, row.version)).collect();
        for text in there.keys().filter(|text| !wanted.contains(*text)) {
            database.forget(name, *text).await?;
        }
        for row in rows {
            let text = (row.document, row.version);
            if there.get(&text) != Some(&row.pieces) {
                match self
                    .copy_text(database, name, space, &row, &mut is_there)
                    .await
                {
                    // Vectors whose length differs from earlier ones are refused; a retry would not help.
                    Ok(()) | Err(ReplicaError::There(NoAnswer::Refused)) => {}
                    Err(error) => return Err(error),
                }
            }
            copied.insert((space, text));
        }
        Ok(())
    }

    async fn copy_text(
        &self,
        database: &VectorDatabase,
        name: &str,
        space: EmbeddingSpaceId,
        row: &EmbeddedDocument,
        is_there: &mut bool,
    ) -> Result<(), ReplicaError<NoAnswer>> {
        let EmbeddedDocument {
            document,
            collection,
            version,
            ..
        } = *row;
        let parts = self
            .store
            .document_vectors(document, space, version)
            .await?;
        let mut points = Vec::new();
        for Vectors {
            first,
            pieces,
            content,
        } in parts
        {
            let length = content.len() / usize::try_from(pieces).unwrap_or(usize::MAX).max(1);
            let dimensions = length.saturating_sub(size_of::<f32>());
            if dimensions > 0 && !*is_there {
                database.make(name, dimensions).await?;
                *is_there = true;
            }
            for (piece, vector) in (first..).zip(content.chunks_exact(length.max(1))) {
                let vector = decode_vector(vector);
                points.push(VectorPoint {
                    collection,
                    document,
                    version,
                    piece,
                    vector,
                });
                if points.len() >= BATCH {
                    database
                        .put(name, &std::mem::take(&mut points), dimensions)
                        .await?;
                }
            }
            if !points.is_empty() {
                database
                    .put(name, &std::mem::take(&mut points), dimensions)
                    .await?;
            }
        }
        Ok(())
    }
}
