//! A database with a copy of the vectors that compares them: Qdrant, or pgvector in our own PostgreSQL.

use std::{
    collections::{HashMap, HashSet},
    future::Future,
    sync::{Mutex, MutexGuard, PoisonError},
    time::Duration,
};

use domain::{CollectionId, DocumentId, EmbeddingSpaceId};
use store::{Store, StoreError, VectorMatch, VectorPoint};
use tokio::time::timeout;

use super::qdrant::Qdrant;

/// Time limit for a query during a search.
pub(super) const ASKING: Duration = Duration::from_secs(3);
/// Number of nearest passages requested; all others count as no nearer than these.
pub(super) const NEAREST: u32 = 400;
/// Time limit for a step of the copying. A space is copied before it is queried, so building an index may take a while.
const MAKING: Duration = Duration::from_secs(60);

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum NoAnswer {
    /// There is no such collection.
    Missing,
    /// It rejected the request.
    Refused,
    /// Any other error, phrased to follow a colon.
    Failed(String),
}

/// A version of a document's text.
pub(super) type Text = (DocumentId, u64);

/// A passage near to a question.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) document: DocumentId,
    pub(super) version: u64,
    pub(super) piece: u32,
    /// Cosine similarity.
    pub(super) score: f32,
}

/// The collections and documents to search.
#[derive(Debug, Default)]
pub(super) struct Within {
    pub(super) collections: Vec<CollectionId>,
    pub(super) documents: Vec<DocumentId>,
}

/// The database.
pub(super) struct VectorDatabase {
    kind: Kind,
    standing: Mutex<ReplicaState>,
}

enum Kind {
    Qdrant(Qdrant),
    Pgvector(Store),
}

/// State of the copy.
#[derive(Default)]
struct ReplicaState {
    /// The texts it contains; `None` if unknown.
    copied: Option<HashSet<(EmbeddingSpaceId, Text)>>,
    /// Why it is not used.
    problem: Option<String>,
}

impl VectorDatabase {
    pub(super) fn qdrant(qdrant: Qdrant) -> Self {
        Self::of(Kind::Qdrant(qdrant))
    }

    /// pgvector in the main database.
    pub(super) fn pgvector(store: Store) -> Self {
        Self::of(Kind::Pgvector(store))
    }

    fn of(kind: Kind) -> Self {
        Self {
            kind,
            standing: Mutex::default(),
        }
    }

    fn standing(&self) -> MutexGuard<'_, ReplicaState> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Why it is not queried at the moment; `None` if it is.
    pub(super) fn problem(&self) -> Option<String> {
        self.standing().problem.clone()
    }

    pub(super) fn note_problem(&self, problem: &NoAnswer) -> String {
        let name = match self.kind {
            Kind::Qdrant(_) => "Qdrant",
            Kind::Pgvector(_) => "pgvector",
        };
        let message = format!("{name} does not help: {}", words(problem));
        let before = self.standing().problem.replace(message.clone());
        if before.is_none() {
            tracing::warn!(problem = message, "falling back to keyword search");
        }
        message
    }

    /// Records the texts that it was seen to contain.
    pub(super) fn note_copied(&self, copied: HashSet<(EmbeddingSpaceId, Text)>) {
        *self.standing() = ReplicaState {
            copied: Some(copied),
            problem: None,
        };
    }

    /// Whether it contains a text's vectors; also true if unknown.
    pub(super) fn has(&self, space: EmbeddingSpaceId, text: Text) -> bool {
        self.standing()
            .copied
            .as_ref()
            .is_none_or(|copied| copied.contains(&(space, text)))
    }

    /// A space's name there. A Qdrant may be shared with others; `home` tells our spaces from theirs.
    pub(super) fn name_of(&self, home: &str, space: EmbeddingSpaceId) -> String {
        format!("{}{space}", self.prefix_of(home))
    }

    fn prefix_of(&self, home: &str) -> String {
        match self.kind {
            Kind::Qdrant(_) => format!("glasshouse-{home}-"),
            Kind::Pgvector(_) => String::new(),
        }
    }

    /// The names of existing spaces.
    pub(super) async fn spaces(&self, home: &str) -> Result<Vec<String>, NoAnswer> {
        let prefix = self.prefix_of(home);
        match &self.kind {
            Kind::Qdrant(qdrant) => qdrant.collections(&prefix).await,
            Kind::Pgvector(store) => {
                own(MAKING, store.create_vector_tables()).await?;
                own(ASKING, store.vector_spaces(&prefix)).await
            }
        }
    }

    /// Creates a space for vectors of this length.
    pub(super) async fn make(&self, name: &str, dimensions: usize) -> Result<(), NoAnswer> {
        match &self.kind {
            Kind::Qdrant(qdrant) => qdrant.make(name, dimensions).await,
            Kind::Pgvector(store) => own(MAKING, store.create_vector_space(name, dimensions)).await,
        }
    }

    pub(super) async fn remove(&self, name: &str) -> Result<(), NoAnswer> {
        match &self.kind {
            Kind::Qdrant(qdrant) => qdrant.remove(name).await,
            Kind::Pgvector(store) => own(MAKING, store.delete_vector_space(name)).await,
        }
    }

    /// The number of points of each text.
    pub(super) async fn texts(&self, name: &str) -> Result<HashMap<Text, u64>, NoAnswer> {
        match &self.kind {
            Kind::Qdrant(qdrant) => qdrant.texts(name).await,
            Kind::Pgvector(store) => {
                let texts = own(MAKING, store.indexed_texts(name)).await?;
                let mut counted = HashMap::new();
                for (document, version, pieces) in texts {
                    counted.insert((document, version), pieces);
                }
                Ok(counted)
            }
        }
    }

    /// Adds points to a space whose vectors have this length.
    pub(super) async fn put(
        &self,
        name: &str,
        points: &[VectorPoint],
        dimensions: usize,
    ) -> Result<(), NoAnswer> {
        match &self.kind {
            Kind::Qdrant(qdrant) => qdrant.put(name, points, dimensions).await,
            Kind::Pgvector(store) => own(MAKING, store.index_vectors(name, points)).await,
        }
    }

    /// Deletes all points of a text.
    pub(super) async fn forget(&self, name: &str, text: Text) -> Result<(), NoAnswer> {
        match &self.kind {
            Kind::Qdrant(qdrant) => qdrant.forget(name, text).await,
            Kind::Pgvector(store) => own(MAKING, store.unindex_text(name, text.0, text.1)).await,
        }
    }

    /// The passages nearest to a question.
    pub(super) async fn nearest(
        &self,
        name: &str,
        vector: &[f32],
        within: &Within,
    ) -> Result<Vec<Near>, NoAnswer> {
        match &self.kind {
            Kind::Qdrant(qdrant) => qdrant.nearest(name, vector, within).await,
            Kind::Pgvector(store) => {
                let Within {
                    collections,
                    documents,
                } = within;
                let asked = store.nearest(name, vector, collections, documents, NEAREST);
                let found = own(ASKING, asked).await?;
                Ok(found.into_iter().filter_map(near).collect())
            }
        }
    }
}

/// Runs a query on our own database with a timeout.
async fn own<T>(
    time: Duration,
    asked: impl Future<Output = Result<T, StoreError>>,
) -> Result<T, NoAnswer> {
    let answer = timeout(time, asked).await;
    let answer = answer.map_err(|_| NoAnswer::Failed("it does not answer in time.".to_owned()))?;
    answer.map_err(|error| match error {
        StoreError::NotFound => NoAnswer::Missing,
        StoreError::Conflict(_) => NoAnswer::Refused,
        error => {
            tracing::warn!(%error, "a pgvector query failed");
            NoAnswer::Failed("the database does not do it; the server's log says why.".to_owned())
        }
    })
}

fn near(of: VectorMatch) -> Option<Near> {
    #[expect(clippy::cast_possible_truncation, reason = "seven digits are enough")]
    let score = of.score as f32;
    let piece = u32::try_from(of.piece).ok()?;
    let VectorMatch {
        document, version, ..
    } = of;
    score.is_finite().then_some(Near {
        document,
        version,
        piece,
        score: score.clamp(-1.0, 1.0),
    })
}

fn words(problem: &NoAnswer) -> String {
    match problem {
        NoAnswer::Missing => "it does not have what was put into it.".to_owned(),
        NoAnswer::Refused => "it refuses what it is asked; the server's log says why.".to_owned(),
        NoAnswer::Failed(words) => words.clone(),
    }
}
