//! Queries the optional graph database. It only selects entities; their data is read from our rows, so nothing deleted
//! or unreadable for the caller is disclosed. If it fails or its copy is incomplete, the rows alone are queried.

use std::{
    collections::HashMap,
    sync::{Mutex, MutexGuard, PoisonError, atomic::AtomicBool},
    time::Duration,
};

use bolt::{Client, Fault, Row, Value};
use domain::{CollectionId, DocumentId, EntityId, LocalizedText};
use store::GraphShare;

use crate::{messages, platform::config::GraphDatabaseSettings};

/// Time limit for a query before falling back to the rows.
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
    /// Whether the last copy succeeded, so that the next one need not create constraints.
    pub(super) is_prepared: AtomicBool,
    standing: Mutex<ReplicaState>,
}

/// State of the copy.
#[derive(Default)]
struct ReplicaState {
    /// Whether a complete comparison has succeeded since the last failure.
    compared: bool,
    /// Collections whose copy is out of date, with the number of the change; `None` until another comparison.
    behind: HashMap<CollectionId, Option<u64>>,
    /// Documents whose latest pieces were not worth a copy yet, with their number of pieces.
    left: HashMap<DocumentId, u64>,
    /// Number of changes made by this server.
    changes: u64,
    /// Why the graph database is not used, as a sentence.
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

    /// Call after the rows of a collection's graph have changed.
    pub(super) fn note_change(&self, of: CollectionId) {
        let mut standing = self.standing();
        standing.changes += 1;
        let change = standing.changes;
        standing.behind.insert(of, Some(change));
    }

    /// Why it is not used, and whether its copy of a collection is complete.
    pub(crate) fn state(&self, of: CollectionId) -> (Option<LocalizedText>, bool) {
        let problem = self.standing().problem.clone();
        (problem, self.serves(of))
    }

    /// The number of the latest change, which a comparison that begins now will include.
    pub(super) fn begin_look(&self) -> u64 {
        self.standing().changes
    }

    /// Marks these collections as out of date.
    pub(super) fn note_behind(&self, collections: impl Iterator<Item = CollectionId>, look: u64) {
        let mut standing = self.standing();
        for collection in collections {
            standing.behind.entry(collection).or_insert(Some(look));
        }
    }

    /// Whether the last comparison skipped this document in its current state.
    pub(super) fn was_left(&self, share: &GraphShare) -> bool {
        self.standing().left.get(&share.document) == Some(&share.done)
    }

    /// Records that everything was copied except these documents.
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

    /// Records a failure: queries use the rows until a complete comparison succeeds.
    pub(super) fn note_fault(&self, fault: &Fault) {
        if let Fault::Refused { code, message } = fault {
            tracing::warn!(code, message, "the graph database refused a query");
        }
        let mut standing = self.standing();
        if standing.problem.is_none() {
            tracing::warn!(%fault, "the graph database is unavailable; falling back to the rows");
        }
        standing.compared = false;
        // The database's own message may disclose details of its machine.
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

    /// Searches breadth-first, one level per query, so that the number of paths does not make it slow.
    pub(super) async fn around(
        &self,
        of: EntityId,
        depth: u32,
        limit: usize,
    ) -> Option<Vec<EntityId>> {
        let mut seen = vec![of];
        let mut last = vec![of];
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
        from: EntityId,
        to: EntityId,
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

/// The fault as a translatable message.
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

/// The ids in these rows. Ids that are not ours are skipped.
fn ids(rows: &[Row]) -> Vec<EntityId> {
    rows.iter()
        .filter_map(|row| row.first()?.as_text()?.parse().ok())
        .collect()
}

fn texts(ids: &[EntityId]) -> Value {
    Value::from(ids.iter().map(ToString::to_string).collect::<Vec<String>>())
}
