//! Traverses the graph of a collection: breadth first, with one query per level.

use std::collections::{HashMap, HashSet};

use domain::EntityId;

use super::{
    Entity, GraphScope, Relation, Subgraph, aliases::Aliases, entity_columns, numbered,
    read_entity, read_quote,
};
use crate::{Store, StoreError, query::Row};

/// Maximum number of relations returned for one pair or one entity.
const MAX_RELATIONS: i64 = 400;
/// Maximum number of ids of one statement.
const MAX_IDS: usize = 500;
/// Maximum number of entities visited to find a path.
const MAX_VISITED: usize = 5_000;

/// The visited part of the graph around one end of a path.
struct Frontier {
    /// The predecessor of each entity; the end is its own.
    before: HashMap<EntityId, EntityId>,
    /// The frontier: the entities visited last.
    edge: Vec<EntityId>,
}

impl Frontier {
    fn new(end: EntityId) -> Self {
        Self {
            before: HashMap::from([(end, end)]),
            edge: vec![end],
        }
    }

    /// The path from a visited entity back to the end.
    fn path_to(&self, at: EntityId) -> Vec<EntityId> {
        let before = |at: &EntityId| self.before.get(at).copied().filter(|before| before != at);
        std::iter::successors(Some(at), before).collect()
    }
}

const RELATION: &str =
    "source, target, relations.kind, document, documents.name, first, behind, quote";

impl Store {
    /// The entities within `depth` of this one, nearest first, and the relations between them.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn neighbours(
        &self,
        scope: &GraphScope,
        of: EntityId,
        depth: u32,
        limit: usize,
    ) -> Result<Subgraph, StoreError> {
        let aliases = self.aliases(scope).await?;
        let of = self.entity_alone(scope, of).await?.id;
        let mut seen = HashSet::from([of]);
        let mut order = vec![of];
        let mut level = vec![of];
        for _ in 0..depth {
            let mut next_level = Vec::new();
            for part in level.chunks(MAX_IDS) {
                if order.len() >= limit {
                    break;
                }
                let neighbours_of = self.neighbours_of(scope, part, &aliases).await?;
                for next in part.iter().filter_map(|at| neighbours_of.get(at)).flatten() {
                    if order.len() < limit && seen.insert(*next) {
                        order.push(*next);
                        next_level.push(*next);
                    }
                }
            }
            level = next_level;
        }
        self.among(scope, &order).await
    }

    /// The shortest path from one entity to another, over any relation; empty if there is none of at most `max` steps.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn path(
        &self,
        scope: &GraphScope,
        from: EntityId,
        to: EntityId,
        max: u32,
    ) -> Result<Subgraph, StoreError> {
        let aliases = self.aliases(scope).await?;
        let from = self.entity_alone(scope, from).await?.id;
        let to = self.entity_alone(scope, to).await?.id;
        // Searches from both ends until they meet: half the radius covers far fewer entities.
        let mut head = Frontier::new(from);
        let mut tail = Frontier::new(to);
        let mut migrations = 0;
        let meeting = loop {
            let is_head = head.edge.len() <= tail.edge.len();
            let (near, far) = if is_head {
                (&mut head, &tail)
            } else {
                (&mut tail, &head)
            };
            if let Some(at) = near.edge.iter().find(|at| far.before.contains_key(at)) {
                break *at;
            }
            let is_over = migrations == max || near.before.len() + far.before.len() >= MAX_VISITED;
            if is_over || near.edge.is_empty() {
                return Ok(Subgraph::default());
            }
            let mut edge = Vec::new();
            for part in near.edge.chunks(MAX_IDS) {
                let neighbours_of = self.neighbours_of(scope, part, &aliases).await?;
                for at in part {
                    for next in neighbours_of.get(at).into_iter().flatten() {
                        near.before.entry(*next).or_insert_with(|| {
                            edge.push(*next);
                            *at
                        });
                    }
                }
                if edge.iter().any(|at| far.before.contains_key(at)) {
                    break;
                }
            }
            near.edge = edge;
            migrations += 1;
        };
        let mut way = head.path_to(meeting);
        way.reverse();
        way.extend(tail.path_to(meeting).into_iter().skip(1));
        self.among(scope, &way).await
    }

    /// The entities with most relations, and the relations between them.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn subgraph(&self, scope: &GraphScope, limit: u32) -> Result<Subgraph, StoreError> {
        let entities = self.entities(scope, "", limit).await?;
        let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
        let aliases = self.aliases(scope).await?;
        Ok(Subgraph {
            relations: self.said_among(scope, &ids, &aliases).await?,
            entities,
        })
    }

    /// The direct neighbours of these, at most [`MAX_IDS`], those with most relations first. One query for all: a
    /// traversal takes about as many queries as it has levels, not entities.
    async fn neighbours_of(
        &self,
        scope: &GraphScope,
        of: &[EntityId],
        aliases: &Aliases,
    ) -> Result<HashMap<EntityId, Vec<EntityId>>, StoreError> {
        let mut neighbours_of: HashMap<EntityId, Vec<EntityId>> = HashMap::new();
        let mut seen = HashSet::new();
        let of = aliases.with_others(of);
        let ids = numbered(&of);
        let max = of.len() + 1;
        let relations = scope.relations(of.len() + 2);
        let sql = format!(
            "SELECT at, other FROM (SELECT at, other, said, ROW_NUMBER() OVER (PARTITION BY at ORDER BY said DESC, other) \
             AS place FROM (SELECT at, other, COUNT(*) AS said FROM (SELECT source AS at, target AS other FROM {relations} \
             WHERE source IN ({ids}) UNION ALL SELECT target AS at, source AS other FROM {relations} \
             WHERE target IN ({ids})) AS both_ways GROUP BY at, other) AS counted) AS ranked \
             WHERE place <= ${max} ORDER BY at, place"
        );
        let query = of
            .iter()
            .fold(self.db().built(sql), |query, id| query.id(id));
        let query = query.bind(MAX_RELATIONS);
        for row in &scope.bind(query).fetch_all().await? {
            let at = aliases.entity(row.id("at")?);
            let other = aliases.entity(row.id("other")?);
            if at != other && seen.insert((at, other)) {
                neighbours_of.entry(at).or_default().push(other);
            }
        }
        Ok(neighbours_of)
    }

    /// Those of these entities that the graph has, in order, without duplicates.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn entities_of(
        &self,
        scope: &GraphScope,
        ids: &[EntityId],
    ) -> Result<Vec<Entity>, StoreError> {
        let found = self.entities_alone(scope, ids).await?;
        self.as_one(scope, &self.aliases(scope).await?, found).await
    }

    /// The same without resolving aliases.
    pub(super) async fn entities_alone(
        &self,
        scope: &GraphScope,
        ids: &[EntityId],
    ) -> Result<Vec<Entity>, StoreError> {
        let mut found: HashMap<EntityId, Entity> = HashMap::new();
        for ids in ids.chunks(MAX_IDS) {
            let last = ids.len() + 1;
            let sql = format!(
                "SELECT {} FROM {} WHERE entities.id IN ({}) AND collection = ${last}",
                entity_columns(scope, last + 1),
                scope.entities(last + 1),
                numbered(ids)
            );
            let query = ids
                .iter()
                .fold(self.db().built(sql), |query, id| query.id(id));
            let query = query.id(scope.collection());
            for row in &scope.bind(query).fetch_all().await? {
                let entity = read_entity(row)?;
                found.insert(entity.id, entity);
            }
        }
        // One may just have been deleted.
        Ok(ids.iter().filter_map(|id| found.remove(id)).collect())
    }

    /// Those of these entities that the graph has, in order, and the relations between them.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn among(
        &self,
        scope: &GraphScope,
        ids: &[EntityId],
    ) -> Result<Subgraph, StoreError> {
        let entities = self.entities_of(scope, ids).await?;
        let ids: Vec<EntityId> = entities.iter().map(|entity| entity.id).collect();
        let aliases = self.aliases(scope).await?;
        Ok(Subgraph {
            relations: self.said_among(scope, &ids, &aliases).await?,
            entities,
        })
    }

    async fn said_among(
        &self,
        scope: &GraphScope,
        ids: &[EntityId],
        aliases: &Aliases,
    ) -> Result<Vec<Relation>, StoreError> {
        let wanted: HashSet<EntityId> = ids.iter().copied().collect();
        let mut said: HashMap<EntityId, Vec<Relation>> = HashMap::new();
        for ids in aliases.with_others(ids).chunks(MAX_IDS) {
            let list = numbered(ids);
            let max = ids.len() + 1;
            let relations = scope.relations(max + 1);
            let sql = format!(
                "SELECT {RELATION} FROM (SELECT relations.*, ROW_NUMBER() OVER (PARTITION BY source \
                 ORDER BY target, kind, document, first) AS place FROM {relations} WHERE source IN ({list})) AS relations \
                 JOIN documents ON documents.id = relations.document WHERE place <= ${max} ORDER BY source, place"
            );
            let query = ids
                .iter()
                .fold(self.db().built(sql), |query, id| query.id(id));
            let query = query.bind(MAX_RELATIONS);
            for row in &scope.bind(query).fetch_all().await? {
                let found = read_relation(row)?;
                let source = aliases.entity(found.source);
                let target = aliases.entity(found.target);
                let relation = Relation {
                    source,
                    target,
                    ..found
                };
                // A relation of an entity to its own alias is dropped.
                let is_shown = source != target || found.source == found.target;
                let is_new = aliases.is_empty() || !is_duplicate(&said, &relation);
                if is_shown && is_new && wanted.contains(&target) {
                    said.entry(relation.source).or_default().push(relation);
                }
            }
        }
        Ok(ids
            .iter()
            .filter_map(|id| said.remove(id))
            .flatten()
            .collect())
    }
}

/// Whether the same relation with the same quote was already found, through an alias.
fn is_duplicate(said: &HashMap<EntityId, Vec<Relation>>, relation: &Relation) -> bool {
    said.get(&relation.source)
        .is_some_and(|known| known.contains(relation))
}

fn read_relation(row: &Row) -> Result<Relation, StoreError> {
    Ok(Relation {
        source: row.id("source")?,
        target: row.id("target")?,
        kind: row.get("kind")?,
        quote: read_quote(row)?,
    })
}
