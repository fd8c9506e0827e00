//! Copies the graphs to the graph database, document by document.

use std::{
    collections::HashMap,
    sync::{Arc, atomic::Ordering::Relaxed},
    time::Duration,
};

use bolt::{Fault, Value};
use domain::DocumentId;
use store::{GraphShare, SharedEntity, SharedRelation};

use super::{graph_database::GraphDatabase, replica::ReplicaError};
use crate::{
    documents::Documents,
    platform::jobs::{Failure, Next},
};

/// Time limit for one query of the copying.
const COPYING: Duration = Duration::from_secs(60);
/// Number of rows copied per query.
const BATCH: usize = 500;
const RULES: [&str; 3] = [
    "CREATE CONSTRAINT glasshouse_document IF NOT EXISTS FOR (d:GlasshouseDocument) REQUIRE d.id IS UNIQUE",
    "CREATE CONSTRAINT glasshouse_entity IF NOT EXISTS FOR (e:GlasshouseEntity) REQUIRE e.id IS UNIQUE",
    "CREATE INDEX glasshouse_collection IF NOT EXISTS FOR (e:GlasshouseEntity) ON (e.collection)",
];
const COPIED: &str = "MATCH (d:GlasshouseDocument {home: $home}) RETURN d.id, d.version, d.done";
const BEGIN: &str = "MERGE (d:GlasshouseDocument {id: $document}) \
                     SET d.home = $home, d.collection = $collection, d.version = $version, d.done = 0";
const SPEAK: &str = "UNWIND $rows AS row MATCH (d:GlasshouseDocument {id: $document}) \
                     MERGE (e:GlasshouseEntity {id: row.id}) \
                     SET e.home = $home, e.collection = $collection, e.key = row.key, e.name = row.name, e.kind = row.kind \
                     MERGE (e)<-[m:MENTIONS {first: row.first}]-(d) SET m.quote = row.quote";
const SAY: &str = "UNWIND $rows AS row MATCH (a:GlasshouseEntity {id: row.source}) \
                   MATCH (b:GlasshouseEntity {id: row.target}) \
                   MERGE (a)-[r:SAYS {kind: row.kind, document: $document, first: row.first}]->(b) \
                   SET r.quote = row.quote";
const END: &str = "MATCH (d:GlasshouseDocument {id: $document}) SET d.done = $done";
/// A document's statements always start at an entity that it mentions.
const UNSAY: &str = "MATCH (d:GlasshouseDocument {id: $document})-[:MENTIONS]->(e:GlasshouseEntity) \
                     MATCH (e)-[r:SAYS {document: $document}]->() WITH DISTINCT r DELETE r";
const FORGET: &str = "MATCH (d:GlasshouseDocument {id: $document}) DETACH DELETE d";
/// Entities that no document mentions any more, in batches so that each query stays short.
const UNNAMED: &str = "MATCH (e:GlasshouseEntity {home: $home}) WHERE NOT EXISTS { MATCH (e)<-[:MENTIONS]-() } \
                       RETURN e.id LIMIT 1000";
const SWEEP: &str = "UNWIND $ids AS id MATCH (e:GlasshouseEntity {id: id}) \
                     WHERE NOT EXISTS { MATCH (e)<-[:MENTIONS]-() } DETACH DELETE e";

impl From<Fault> for ReplicaError<Fault> {
    fn from(fault: Fault) -> Self {
        Self::There(fault)
    }
}

impl Documents {
    /// Copies what has changed, or everything that differs after a failure.
    pub(crate) async fn mirror_graphs(self: Arc<Self>) -> Result<Next, Failure> {
        let Some(database) = &self.graph_database else {
            return Ok(Next::Done);
        };
        let is_new = !database.is_prepared.swap(false, Relaxed);
        match self.copy_graphs(database, is_new).await {
            Ok(()) => {
                database.is_prepared.store(true, Relaxed);
                Ok(Next::Idle)
            }
            Err(ReplicaError::There(fault)) => {
                database.note_fault(&fault);
                Err(Failure::new(fault))
            }
            Err(ReplicaError::Here(error)) => Err(error.into()),
        }
    }

    /// Updates the graph database to match the rows.
    async fn copy_graphs(
        &self,
        database: &GraphDatabase,
        is_new: bool,
    ) -> Result<(), ReplicaError<Fault>> {
        let copy = Copy {
            database,
            home: Value::from(self.home().await?),
        };
        if is_new {
            for rule in RULES {
                copy.run(rule, &[]).await?;
            }
        }
        let look = database.begin_look();
        let rows: HashMap<DocumentId, GraphShare> = self
            .store
            .graph_shares()
            .await?
            .into_iter()
            .map(|share| (share.document, share))
            .collect();
        let copied = copy.copied().await?;
        let is_old = |(document, (version, _)): &(&DocumentId, &(u64, u64))| {
            rows.get(*document)
                .is_none_or(|share| share.version != *version)
        };
        let old: Vec<DocumentId> = copied
            .iter()
            .filter(is_old)
            .map(|(document, _)| *document)
            .collect();
        let done = |share: &GraphShare| match copied.get(&share.document) {
            Some((version, done)) if *version == share.version => *done,
            _ => 0,
        };
        let mut wanted = Vec::new();
        let mut left = Vec::new();
        for share in rows.values().filter(|share| done(share) != share.done) {
            // A growing graph is copied as a whole, each time it has doubled or stopped growing.
            let rests = share.done == share.pieces || database.was_left(share);
            if rests || share.done >= done(share) * 2 {
                wanted.push(*share);
            } else {
                left.push(*share);
            }
        }
        database.note_behind(wanted.iter().map(|share| share.collection), look);
        for document in &old {
            copy.forget(*document).await?;
        }
        for share in &wanted {
            copy.put(share, &self.store.graph_share(share.document).await?)
                .await?;
        }
        if is_new || !old.is_empty() {
            copy.sweep().await?;
        }
        database.end_look(look, &left);
        Ok(())
    }
}

/// This installation's part of the graph database.
struct Copy<'a> {
    database: &'a GraphDatabase,
    home: Value,
}

impl Copy<'_> {
    async fn run(
        &self,
        query: &str,
        parameters: &[(&str, Value)],
    ) -> Result<Vec<bolt::Row>, Fault> {
        self.database.client.run(query, parameters, COPYING).await
    }

    fn home(&self) -> (&'static str, Value) {
        ("home", self.home.clone())
    }

    /// The copied documents, with the version of the text and the number of copied pieces.
    async fn copied(&self) -> Result<HashMap<DocumentId, (u64, u64)>, Fault> {
        let rows = self.run(COPIED, &[self.home()]).await?;
        let read = |row: &bolt::Row| {
            let [document, version, done] = row.as_slice() else {
                return None;
            };
            let document = document.as_text()?.parse().ok()?;
            Some((
                document,
                (
                    version.as_number().unwrap_or(0),
                    done.as_number().unwrap_or(0),
                ),
            ))
        };
        Ok(rows.iter().filter_map(read).collect())
    }

    /// Copies a document. Its progress is written last, so an interrupted copy is repeated.
    async fn put(&self, share: &GraphShare, whole: &store::WholeShare) -> Result<(), Fault> {
        let document = ("document", Value::from(share.document.to_string()));
        let collection = ("collection", Value::from(share.collection.to_string()));
        let around = [document.clone(), collection, self.home()];
        let begin = [&around[..], &[("version", Value::from(share.version))]].concat();
        self.run(BEGIN, &begin).await?;
        for batch in whole.entities.chunks(BATCH) {
            let rows = Value::List(batch.iter().map(entity).collect());
            self.run(SPEAK, &[&around[..], &[("rows", rows)]].concat())
                .await?;
        }
        for batch in whole.relations.chunks(BATCH) {
            let rows = Value::List(batch.iter().map(relation).collect());
            self.run(SAY, &[document.clone(), ("rows", rows)]).await?;
        }
        self.run(END, &[document, ("done", Value::from(share.done))])
            .await?;
        Ok(())
    }

    /// Deletes entities that no document mentions any more.
    async fn sweep(&self) -> Result<(), Fault> {
        let mut before = Vec::new();
        loop {
            let unnamed = self.run(UNNAMED, &[self.home()]).await?;
            // Entities that remain after their deletion are not ours.
            if unnamed.is_empty() || unnamed == before {
                return Ok(());
            }
            let ids = Value::List(unnamed.iter().flatten().cloned().collect());
            self.run(SWEEP, &[("ids", ids)]).await?;
            before = unnamed;
        }
    }

    /// Deletes a document. Entities that only it mentioned are swept later.
    async fn forget(&self, document: DocumentId) -> Result<(), Fault> {
        let document = [("document", Value::from(document.to_string()))];
        self.run(UNSAY, &document).await?;
        self.run(FORGET, &document).await?;
        Ok(())
    }
}

fn entity(
    SharedEntity {
        id,
        key,
        name,
        kind,
        first,
        quote,
    }: &SharedEntity,
) -> Value {
    Value::map([
        ("id", Value::from(id.to_string())),
        ("key", Value::from(key.as_str())),
        ("name", Value::from(name.as_str())),
        ("kind", Value::from(kind.as_str())),
        ("first", Value::from(*first)),
        ("quote", Value::from(quote.as_str())),
    ])
}

fn relation(
    SharedRelation {
        source,
        target,
        kind,
        first,
        quote,
    }: &SharedRelation,
) -> Value {
    Value::map([
        ("source", Value::from(source.to_string())),
        ("target", Value::from(target.to_string())),
        ("kind", Value::from(kind.as_str())),
        ("first", Value::from(*first)),
        ("quote", Value::from(quote.as_str())),
    ])
}
