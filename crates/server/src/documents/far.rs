//! How far documents are embedded, for those who look at them.

use crate::documents::Documents;
use std::collections::HashMap;

use domain::{CollectionId, DocumentId};
use serde::Serialize;
use serde_json::Value;
use store::{Document, Embedding, StoreError};

/// How far the documents of a collection are embedded.
#[derive(Debug)]
pub(crate) struct Far {
    /// By document; nothing where no model embeds.
    embeddings: Option<HashMap<DocumentId, Embedding>>,
    /// Why nothing is embedded at the moment.
    no_help: Option<Value>,
}

/// How far a document is embedded.
#[derive(Debug, Serialize)]
pub(crate) struct Meaning {
    /// How many of its pieces have their vectors.
    done: u64,
    /// Of so many.
    chunks: u64,
    /// Why it goes no further at the moment: `code` and `message`.
    problem: Option<Value>,
}

impl Documents {
    /// How far the documents of a collection are embedded by the model that is set.
    pub(crate) async fn far(&self, collection: CollectionId) -> Result<Far, StoreError> {
        let Some(space) = self.space() else {
            return Ok(Far {
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
        Ok(Far {
            embeddings: Some(of_space.collect()),
            no_help,
        })
    }
}

impl Far {
    /// Of one document; nothing where no model embeds, or there is no text yet.
    pub(crate) fn of(&self, document: &Document) -> Option<Meaning> {
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
        Some(Meaning {
            done,
            chunks: document.chunks,
            problem,
        })
    }
}
