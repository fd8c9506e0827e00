//! Embedding progress of documents, as shown to people.

use crate::documents::Documents;
use std::collections::HashMap;

use domain::{CollectionId, DocumentId, MessageCode};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};
use store::{Document, Embedding, StoreError};

/// Embedding progress of the documents of a collection.
#[derive(Debug)]
pub(crate) struct EmbeddingProgress {
    /// By document; `None` if no model is active.
    embeddings: Option<HashMap<DocumentId, Embedding>>,
    /// Why nothing is embedded at the moment.
    no_help: Option<Value>,
}

/// Embedding progress of a document.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "DocumentMeaning")]
pub(crate) struct DocumentEmbedding {
    /// Number of its passages that have vectors.
    done: u64,
    /// Number of its passages.
    chunks: u64,
    /// Why it is not progressing: `code` (`failed`, `late`, `texts`, `limited` or `cancelled`) and `message`.
    #[schemars(with = "Option<DocumentProblem>")]
    problem: Option<Value>,
}

/// Why a document, its embedding or its graph is not ready. For a document, `code` is one of `too_large`,
/// `unpacks_too_large`, `too_much_text`, `too_many_pages`, `too_many_pixels`, `encrypted`, `damaged`, `too_old`, `no_text`,
/// `unknown_format`, `picture`, `no_recognition`, `not_recognized`, `vision_failed`, `vision_late`, `vision_limited`, `recording`, `recording_too_large`,
/// `transcription_failed`, `transcription_limited`, `reader_failed`, `not_converted`, `too_slow`, `too_much_memory`, `fault`
/// and `cancelled`; an image or a recording that waits to be retried has one, too. For an embedding it is `failed`, `late`,
/// `texts`, `limited` or `cancelled`.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "describes what is stored as JSON")]
pub(crate) struct DocumentProblem {
    code: String,
    /// A sentence for people.
    message: String,
    /// The message as a code, for translation.
    #[serde(skip_serializing_if = "Option::is_none")]
    sentence: Option<MessageCode>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_bytes: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit_seconds: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    format: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cause: Option<String>,
    #[serde(flatten)]
    more: Map<String, Value>,
}

impl Documents {
    /// The embedding progress of a collection's documents with the active model.
    pub(crate) async fn far(
        &self,
        collection: CollectionId,
    ) -> Result<EmbeddingProgress, StoreError> {
        let Some(space) = self.space() else {
            return Ok(EmbeddingProgress {
                embeddings: None,
                no_help: None,
            });
        };
        let all = self.store.embeddings(collection).await?.into_iter();
        let of_space = all
            .filter(|far| far.space == space)
            .map(|far| (far.document, far));
        let no_help = self
            .no_help()
            .and_then(|problem| serde_json::from_str(&problem).ok());
        Ok(EmbeddingProgress {
            embeddings: Some(of_space.collect()),
            no_help,
        })
    }
}

impl EmbeddingProgress {
    /// The progress of one document; `None` if no model is active or the document has no text yet.
    pub(crate) fn of(&self, document: &Document) -> Option<DocumentEmbedding> {
        let embeddings = self.embeddings.as_ref().filter(|_| document.version > 0)?;
        let far = embeddings
            .get(&document.id)
            .filter(|far| far.version == document.version);
        let done = far.map_or(0, |far| far.done).min(document.chunks);
        let problem = match far.and_then(|far| far.problem.as_ref()) {
            _ if done >= document.chunks => None,
            Some(problem) => serde_json::from_str(problem).ok(),
            None => self.no_help.clone(),
        };
        Some(DocumentEmbedding {
            done,
            chunks: document.chunks,
            problem,
        })
    }
}
