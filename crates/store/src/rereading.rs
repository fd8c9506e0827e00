//! Documents whose text an earlier version of the reader extracted. They are read again in the background, and stay
//! searchable meanwhile. A reading that finds the same text changes nothing.

use domain::DocumentId;

use crate::{
    MetadataOrigin, ReadingResult, ReadingTask, Store, StoreError, document_metadata::set_metadata,
};

impl Store {
    /// Claims a document that a version of the reader before `reader` has read, until `until`: then its holder is
    /// presumed dead.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_outdated_document(
        &self,
        reader: u64,
        now: i64,
        until: i64,
    ) -> Result<Option<ReadingTask>, StoreError> {
        let sql = "SELECT id, upload FROM documents WHERE state = 'ready' AND reader < $1 AND claimed_until <= $2 \
                   ORDER BY reader, id LIMIT 8";
        let outdated = self.db().read(sql).number(reader).bind(now);
        for row in &outdated.fetch_all().await? {
            let (id, upload): (DocumentId, _) = (row.id("id")?, row.number("upload")?);
            let sql = "UPDATE documents SET claimed_until = $5 WHERE id = $1 AND upload = $2 \
                       AND state = 'ready' AND reader < $3 AND claimed_until <= $4 RETURNING name";
            let claim = self.db().write(sql).id(id).number(upload).number(reader);
            let claimed = claim.bind(now).bind(until).fetch_optional().await?;
            if let Some(claimed) = claimed {
                return Ok(Some(ReadingTask {
                    id,
                    name: claimed.get("name")?,
                    upload,
                    is_reread: true,
                }));
            }
        }
        Ok(None)
    }

    /// Whether a document has a different text now. One that was read again and cannot be read now keeps its text.
    pub(crate) async fn changes_text(
        &self,
        of: &ReadingTask,
        read: &ReadingResult,
    ) -> Result<bool, StoreError> {
        let ReadingResult::Text {
            content, structure, ..
        } = read
        else {
            return Ok(!of.is_reread);
        };
        let sql = "SELECT 1 AS same FROM document_texts JOIN documents ON id = document \
                   WHERE document = $1 AND version > 0 AND content = $2 AND structure = $3";
        let same = self.db().read(sql).id(of.id).text(content).text(structure);
        Ok(same.fetch_optional().await?.is_none())
    }

    /// Records that a document needs no other reading, and releases it. Its vectors and its part of the graph stay, too; if
    /// a new file was read, what failed of them is tried again. What the file says of itself may be new.
    pub(crate) async fn keep_earlier_text(
        &self,
        of: &ReadingTask,
        read: &ReadingResult,
        reader: Option<u64>,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE documents SET state = 'ready', picture = FALSE, remote = FALSE, problem = NULL, reader = $4, claimed_until = 0 \
                   WHERE id = $1 AND upload = $2 AND state = $3";
        let kept = tx.query(sql).id(of.id).number(of.upload).text(of.state());
        let is_still_it = kept.bind(column(reader)).execute().await? == 1;
        if let ReadingResult::Text { metadata, .. } = read
            && is_still_it
        {
            set_metadata(&mut tx, of.id, MetadataOrigin::File, metadata).await?;
        }
        if is_still_it && !of.is_reread {
            for sql in [
                "UPDATE document_embeddings SET failures = 0, problem = NULL, due_at = 0 \
                 WHERE document = $1 AND problem IS NOT NULL",
                "UPDATE document_graphs SET failures = 0, problem = NULL, due_at = 0 \
                 WHERE document = $1 AND problem IS NOT NULL",
            ] {
                tx.query(sql).id(of.id).execute().await?;
            }
        }
        tx.commit().await
    }
}

/// A version of the reader as stored.
pub(crate) fn column(reader: Option<u64>) -> Option<i64> {
    reader.map(|version| i64::try_from(version).unwrap_or(i64::MAX))
}
