//! `[knowledge]`: how much people may put into their collections of documents.

use serde::Deserialize;

/// Sizes of documents.
#[derive(Debug, Clone, Copy)]
pub struct KnowledgeSettings {
    /// The largest file.
    pub file_bytes: u64,
    /// All files of a person together.
    pub person_bytes: u64,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKnowledge {
    file_mb: u64,
    person_mb: u64,
}

impl RawKnowledge {
    pub(super) fn check(self) -> anyhow::Result<KnowledgeSettings> {
        // A file is read as a whole.
        anyhow::ensure!((1..=500).contains(&self.file_mb), "knowledge.file_mb must be 1 to 500");
        anyhow::ensure!(self.person_mb <= 1_000_000, "knowledge.person_mb must be at most 1000000");
        Ok(KnowledgeSettings {
            file_bytes: self.file_mb * 1_000_000,
            person_bytes: self.person_mb * 1_000_000,
        })
    }
}
