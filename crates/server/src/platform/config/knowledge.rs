//! `[knowledge]`: limits on collections of documents, and the models that search them.

use std::{
    path::{Path, PathBuf},
    time::Duration,
};

use llm::Secret;
use outbound::plain_host;
use reqwest::Url;
use serde::Deserialize;

use super::{
    document_services::{RawReader, ReaderSettings, TranscriptionSettings, transcription},
    graph_database::{self, GraphDatabaseSettings},
};

/// Limits on documents, and the models that search them.
#[derive(Debug, Clone)]
pub struct KnowledgeSettings {
    /// Maximum size of a file.
    pub file_bytes: u64,
    /// Maximum total size of a person's files.
    pub person_bytes: u64,
    /// Memory budget for cached collections.
    pub memory_bytes: usize,
    /// The embedding model, unless an administrator chose one on the page.
    pub embedding: EmbeddingSettings,
    /// The folder of the built-in embedding model's files.
    pub model_folder: PathBuf,
    /// The library that runs it, if a path is set.
    pub onnxruntime: Option<PathBuf>,
    /// Number of threads that it uses.
    pub embedding_threads: usize,
    /// The reranking model.
    pub rerank: Option<RerankSettings>,
    /// The id of the model that describes images; `None` if there is none.
    pub vision_model: Option<String>,
    /// Recognition of text in pictures; `None` if it is turned off.
    pub ocr: Option<OcrSettings>,
    /// The external document reader; `None` if there is none.
    pub reader: Option<ReaderSettings>,
    /// The model that transcribes recordings; `None` if there is none.
    pub transcription: Option<TranscriptionSettings>,
    /// The id of the model that extracts entities and relations; `None` if there are no graphs.
    pub graph_model: Option<String>,
    /// A graph database that holds a copy of the graphs and answers queries about them.
    pub graph_database: Option<GraphDatabaseSettings>,
    /// The database that compares vectors; if `None`, they are compared in memory.
    pub vector_database: Option<VectorDatabaseSettings>,
    /// Folders of the server that administrators may use as sources of collections.
    pub source_folders: Vec<PathBuf>,
}

impl KnowledgeSettings {
    /// Whether the database must be PostgreSQL with the pgvector extension.
    pub(super) fn asks_pgvector(&self) -> bool {
        matches!(self.vector_database, Some(VectorDatabaseSettings::Pgvector))
    }
}

/// Settings of text recognition.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OcrSettings {
    /// Tesseract, as a path or as a name on the server's `PATH`.
    pub program: PathBuf,
    /// The names of the languages to use; if empty, all that are installed.
    pub languages: Vec<String>,
}

/// A database that compares vectors.
#[derive(Debug, Clone)]
pub enum VectorDatabaseSettings {
    /// A Qdrant.
    Qdrant(QdrantSettings),
    /// The pgvector extension of the main PostgreSQL database.
    Pgvector,
}

/// Connection settings of a Qdrant.
#[derive(Debug, Clone)]
pub struct QdrantSettings {
    /// Its URL.
    pub url: Url,
    /// Its host, which may be on any network.
    pub host: String,
    /// The API key.
    pub key: Option<Secret>,
}

/// Settings of the embedding model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EmbeddingSettings {
    /// The model's id on this server; empty if there is none and search uses keywords only.
    pub model: String,
    /// The prefix that the model expects before a question.
    pub query_prefix: String,
    /// The prefix that the model expects before a passage of a document.
    pub passage_prefix: String,
    /// Maximum number of passages per request.
    pub batch: usize,
    /// How long a search waits for the vector of its question.
    pub deadline: Duration,
}

/// Settings of the reranking model.
#[derive(Debug, Clone)]
pub struct RerankSettings {
    /// The model's id on this server.
    pub model: String,
    /// How long a search waits for it.
    pub deadline: Duration,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawKnowledge {
    file_mb: u64,
    person_mb: u64,
    memory_mb: usize,
    embedding_model: String,
    query_prefix: String,
    passage_prefix: String,
    embedding_batch: usize,
    embedding_seconds: u64,
    embedding_threads: usize,
    onnxruntime: String,
    rerank_model: String,
    rerank_seconds: u64,
    vision_model: String,
    ocr: bool,
    ocr_program: String,
    ocr_languages: Vec<String>,
    reader_url: String,
    reader_kind: String,
    reader_key: String,
    reader_files: String,
    reader_seconds: u64,
    transcription_model: String,
    transcription_mb: u64,
    transcription_seconds: u64,
    graph_model: String,
    graph_url: String,
    graph_user: String,
    graph_password: String,
    graph_database: String,
    qdrant_url: String,
    qdrant_key: String,
    pgvector: bool,
    source_folders: Vec<PathBuf>,
}

impl RawKnowledge {
    pub(super) fn check(self, data_dir: &Path) -> anyhow::Result<KnowledgeSettings> {
        // Files are read into memory as a whole.
        anyhow::ensure!(
            (1..=500).contains(&self.file_mb),
            "knowledge.file_mb must be 1 to 500"
        );
        anyhow::ensure!(
            self.person_mb <= 1_000_000,
            "knowledge.person_mb must be at most 1000000"
        );
        anyhow::ensure!(
            self.memory_mb <= 1_000_000,
            "knowledge.memory_mb must be at most 1000000"
        );
        anyhow::ensure!(
            (1..=1000).contains(&self.embedding_batch),
            "knowledge.embedding_batch must be 1 to 1000"
        );
        // Each thread takes as much memory again.
        anyhow::ensure!(
            (1..=32).contains(&self.embedding_threads),
            "knowledge.embedding_threads must be 1 to 32"
        );
        for (name, seconds) in [
            ("embedding_seconds", self.embedding_seconds),
            ("rerank_seconds", self.rerank_seconds),
        ] {
            anyhow::ensure!(
                (1..=60).contains(&seconds),
                "knowledge.{name} must be 1 to 60"
            );
        }
        for (name, prefix) in [
            ("query_prefix", &self.query_prefix),
            ("passage_prefix", &self.passage_prefix),
        ] {
            let fits = prefix.chars().count() <= 1000 && !prefix.contains('\0');
            anyhow::ensure!(
                fits,
                "knowledge.{name} must have at most 1000 characters, and no NUL"
            );
        }
        let graph_database = graph_database::named(
            self.graph_url.trim(),
            self.graph_user,
            self.graph_password,
            self.graph_database,
        )?;
        let reader = RawReader {
            url: &self.reader_url,
            kind: &self.reader_kind,
            key: &self.reader_key,
            files: &self.reader_files,
            seconds: self.reader_seconds,
        };
        let reader = reader.check()?;
        let transcription = transcription(
            &self.transcription_model,
            self.transcription_mb,
            self.transcription_seconds,
        )?;
        let model = self.embedding_model.trim();
        let reranker = self.rerank_model.trim();
        let embedding = EmbeddingSettings {
            model: model.to_owned(),
            query_prefix: self.query_prefix,
            passage_prefix: self.passage_prefix,
            batch: self.embedding_batch,
            deadline: Duration::from_secs(self.embedding_seconds),
        };
        let rerank = (!reranker.is_empty()).then(|| RerankSettings {
            model: reranker.to_owned(),
            deadline: Duration::from_secs(self.rerank_seconds),
        });
        Ok(KnowledgeSettings {
            file_bytes: self.file_mb * 1_000_000,
            person_bytes: self.person_mb * 1_000_000,
            memory_bytes: self.memory_mb * 1_000_000,
            embedding,
            model_folder: data_dir.join("models").join("all-MiniLM-L6-v2"),
            onnxruntime: (!self.onnxruntime.is_empty()).then(|| data_dir.join(self.onnxruntime)),
            embedding_threads: self.embedding_threads,
            rerank,
            vision_model: named(&self.vision_model),
            ocr: self.ocr.then(|| OcrSettings {
                program: match self.ocr_program.trim() {
                    "" => PathBuf::from("tesseract"),
                    program => PathBuf::from(program),
                },
                languages: self.ocr_languages,
            }),
            reader,
            transcription,
            graph_model: named(&self.graph_model),
            graph_database,
            vector_database: match (qdrant(&self.qdrant_url, self.qdrant_key)?, self.pgvector) {
                (Some(_), true) => {
                    anyhow::bail!(
                        "knowledge.pgvector and knowledge.qdrant_url are both set: one compares the vectors"
                    )
                }
                (qdrant, false) => qdrant.map(VectorDatabaseSettings::Qdrant),
                (None, true) => Some(VectorDatabaseSettings::Pgvector),
            },
            source_folders: self
                .source_folders
                .iter()
                .map(|folder| data_dir.join(folder))
                .collect(),
        })
    }
}

fn named(model: &str) -> Option<String> {
    Some(model.trim().to_owned()).filter(|model| !model.is_empty())
}

fn qdrant(url: &str, key: String) -> anyhow::Result<Option<QdrantSettings>> {
    let url = url.trim();
    if url.is_empty() {
        return Ok(None);
    }
    let parsed: Option<Url> = url.parse().ok().filter(|url: &Url| {
        let is_plain =
            url.username().is_empty() && url.password().is_none() && url.query().is_none();
        matches!(url.scheme(), "http" | "https") && is_plain
    });
    let parsed = parsed.and_then(|url| Some((plain_host(&url)?, url)));
    let (host, url) = parsed.ok_or_else(|| {
        anyhow::anyhow!(
            "knowledge.qdrant_url must be an address such as http://127.0.0.1:6333, without a user name in it"
        )
    })?;
    Ok(Some(QdrantSettings {
        url,
        host,
        key: (!key.is_empty()).then(|| Secret::new(key)),
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_qdrant_is_named_by_its_address() {
        let host = |url| qdrant(url, String::new()).map(|it| it.map(|it| it.host));
        assert_eq!(host(" ").unwrap(), None);
        assert_eq!(host("http://127.0.0.1:6333").unwrap().unwrap(), "127.0.0.1");
        for bad in ["qdrant:6333", "http://u:p@a", "ftp://a", "http://a/?x=1"] {
            assert!(
                host(bad)
                    .unwrap_err()
                    .to_string()
                    .contains("knowledge.qdrant_url"),
                "{bad}"
            );
        }
    }
}
