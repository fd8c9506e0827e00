//! The graph database beside ours, where one is named: it is asked which entities belong together, and what is said of them
//! comes from our rows. So nobody sees more of it than they may read here, nor what is deleted; and where it does not answer,
//! or its copy is not whole yet, the rows answer alone.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use bolt::{Client, Fault, Row, Value};
use domain::{CollectionId, DocumentId, EntityId, LocalizedText};
use store::GraphShare;

use crate::{messages, platform::config::GraphDatabaseSettings};

/// How long a question may take before the rows are asked instead.
const ASKING: Duration = Duration::from_secs(3);

const FIND: &str = "MATCH (e:GlasshouseEntity {collection: $collection}) WHERE e.key CONTAINS $words \
                    OPTIONAL MATCH (e)-[r:SAYS]-() WITH e, count(r) AS said \
                    OPTIONAL MATCH (e)<-[m:MENTIONS]-() WITH e, said, count(m) AS places \
                    RETURN e.id AS id ORDER BY said DESC, places DESC, id LIMIT $limit";
const BESIDE: &str = "MATCH (a:GlasshouseEntity)-[r:SAYS]-(b:GlasshouseEntity) \
                      WHERE a.id IN $from AND NOT b.id IN $seen \
                      RETURN b.id AS id, count(r) AS said ORDER BY said DESC, id LIMIT $limit";

/// A graph database with a copy of our graphs.
pub(crate) struct GraphDatabase {
    pub(super) client: Client,
    /// Whether the last copying succeeded, so that the next one need not prepare the database.
    pub(super) is_prepared: AtomicBool,
    standing: Mutex<ReplicaState>,
}

/// How it stands with the copy.
#[derive(Default)]
struct ReplicaState {
    /// Whether all was compared since it answers.
    compared: bool,
    /// Collections whose copy is older than the rows: since which change, or until another look says otherwise.
    behind: HashMap<CollectionId, Option<u64>>,
    /// Documents whose last pieces were not worth a copy yet, with how many pieces they had.
    left: HashMap<DocumentId, u64>,
    /// Counts the changes that this server made.
    changes: u64,
    /// Why it does not help, in a sentence.
    problem: Option<LocalizedText>,
}

impl GraphDatabase {
    pub(super) fn new(settings: &GraphDatabaseSettings) -> Self {
        let client = Client::new(settings.address.clone(), settings.access.clone());
        Self {
            client,
            is_prepared: AtomicBool::new(false),
            standing: Mutex::default(),
        }
    }

    /// To be called when the rows of a collection's graph have changed.
    pub(super) fn note_change(&self, of: CollectionId) {
        let mut standing = self.standing();
        standing.changes += 1;
        let change = standing.changes;
        standing.behind.insert(of, Some(change));
    }

    /// Why it does not help, and whether its copy of a collection is whole.
    pub(crate) fn state(&self, of: CollectionId) -> (Option<LocalizedText>, bool) {
        let problem = self.standing().problem.clone();
        (problem, self.serves(of))
    }

    /// The number of the latest change, which a look that begins now will see.
    pub(super) fn begin_look(&self) -> u64 {
        self.standing().changes
    }

    /// These are older than the rows.
    pub(super) fn note_behind(&self, collections: impl Iterator<Item = CollectionId>, look: u64) {
        let mut standing = self.standing();
        for collection in collections {
            standing.behind.entry(collection).or_insert(Some(look));
        }
    }

    /// Whether the last look has left this document as it is now.
    pub(super) fn was_left(&self, share: &GraphShare) -> bool {
        self.standing().left.get(&share.document) == Some(&share.done)
    }

    /// All was copied that was seen, but these.
    pub(super) fn end_look(&self, look: u64, left: &[GraphShare]) {
        let mut standing = self.standing();
        standing
            .behind
            .retain(|_, change| change.is_some_and(|change| change > look));
        for share in left {
            standing.behind.entry(share.collection).or_insert(None);
        }
        standing.left = left
            .iter()
            .map(|share| (share.document, share.done))
            .collect();
        standing.compared = true;
        standing.problem = None;
    }

    /// It does not answer, so the rows do until all was compared again.
    pub(super) fn note_fault(&self, fault: &Fault) {
        if let Fault::Refused { code, message } = fault {
            tracing::warn!(code, message, "the graph database refused a query");
        }
        let mut standing = self.standing();
        if standing.problem.is_none() {
            tracing::warn!(%fault, "the graph database does not help; the graphs are read from the rows meanwhile");
        }
        standing.compared = false;
        // Its own words may tell what its machine looks like.
        standing.problem = Some(
            messages::Knowledge::GraphDatabaseAway {
                why: words_of(fault),
            }
            .into(),
        );
    }

    pub(super) fn serves(&self, collection: CollectionId) -> bool {
        let standing = self.standing();
        standing.compared && !standing.behind.contains_key(&collection)
    }

    fn standing(&self) -> MutexGuard<'_, ReplicaState> {
        self.standing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    async fn ask(&self, query: &str, parameters: &[(&str, Value)]) -> Option<Vec<Row>> {
        match self.client.run(query, parameters, ASKING).await {
            Ok(rows) => Some(rows),
            Err(fault) => {
                self.note_fault(&fault);
                None
            }
        }
    }

    pub(super) async fn find(
        &self,
        collection: CollectionId,
        words: &str,
        limit: u32,
    ) -> Option<Vec<EntityId>> {
        let parameters = [
            ("collection", Value::from(collection.to_string())),
            ("words", Value::from(words)),
            ("limit", Value::from(u64::from(limit))),
        ];
        Some(ids(&self.ask(FIND, &parameters).await?))
    }

    /// Step by step, so that no number of ways makes it slow.
    pub(super) async fn around(
        &self,
        of: EntityId,
        (depth, limit): (u32, usize),
    ) -> Option<Vec<EntityId>> {
        let (mut seen, mut last) = (vec![of], vec![of]);
        for _ in 0..depth {
            if last.is_empty() || seen.len() >= limit {
                break;
            }
            let parameters = [
                ("from", texts(&last)),
                ("seen", texts(&seen)),
                ("limit", Value::from((limit - seen.len()) as u64)),
            ];
            last = ids(&self.ask(BESIDE, &parameters).await?);
            seen.extend(&last);
        }
        Some(seen)
    }

    pub(super) async fn way(
        &self,
        (from, to): (EntityId, EntityId),
        most: u32,
    ) -> Option<Vec<EntityId>> {
        if from == to {
            return Some(vec![from]);
        }
        let query = format!(
            "MATCH (a:GlasshouseEntity {{id: $from}}), (b:GlasshouseEntity {{id: $to}}) \
             MATCH p = shortestPath((a)-[:SAYS*1..{most}]-(b)) UNWIND nodes(p) AS n RETURN n.id AS id"
        );
        let parameters = [
            ("from", Value::from(from.to_string())),
            ("to", Value::from(to.to_string())),
        ];
        Some(ids(&self.ask(&query, &parameters).await?))
    }
}

/// What it says of itself, for the page in each language.
fn words_of(fault: &Fault) -> LocalizedText {
    use messages::Knowledge as K;
    match fault {
        Fault::Unreachable => K::GraphUnreachable,
        Fault::Slow => K::GraphSlow,
        Fault::NotBolt => K::GraphNotBolt,
        Fault::NotLetIn => K::GraphNotLetIn,
        Fault::Refused { code, .. } => K::GraphRefused { code: code.clone() },
        Fault::TooLarge => K::GraphAnswerTooLarge,
    }
    .into()
}

/// What is no id of ours is not there.
fn ids(rows: &[Row]) -> Vec<EntityId> {
    rows.iter()
        .filter_map(|row| row.first()?.as_text()?.parse().ok())
        .collect()
}

fn texts(ids: &[EntityId]) -> Value {
    Value::from(ids.iter().map(ToString::to_string).collect::<Vec<String>>())
}
