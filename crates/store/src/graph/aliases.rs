//! Aliases of entities, declared by the owner of a graph and applied on read. The extracted data stays unchanged, so
//! that an alias can be removed.

use std::collections::{HashMap, HashSet};

use domain::{CollectionId, EntityId, UserId};

use super::{Entity, GraphQuote, GraphScope, read_quote};
use crate::{Store, StoreError, query::Row};

/// Maximum number of aliases in a collection.
const MAX_ALIASES: u64 = 1_000;

/// An alias of an entity.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GraphAlias {
    /// The entity.
    pub entity: EntityId,
    /// The name of the entity.
    pub entity_name: String,
    /// The alias, itself an extracted entity.
    pub alias: EntityId,
    /// The name of the alias.
    pub alias_name: String,
}

/// The aliases of a collection.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    entity_of: HashMap<EntityId, EntityId>,
    others_of: HashMap<EntityId, Vec<EntityId>>,
}

impl Aliases {
    /// The canonical entity.
    pub(super) fn entity(&self, id: EntityId) -> EntityId {
        self.entity_of.get(&id).copied().unwrap_or(id)
    }

    pub(super) fn is_empty(&self) -> bool {
        self.entity_of.is_empty()
    }

    /// The aliases of this entity.
    pub(super) fn others(&self, of: EntityId) -> &[EntityId] {
        self.others_of.get(&of).map_or(&[], Vec::as_slice)
    }

    /// The entities, each with its aliases.
    pub(super) fn with_others(&self, of: &[EntityId]) -> Vec<EntityId> {
        of.iter()
            .flat_map(|id| std::iter::once(*id).chain(self.others(*id).iter().copied()))
            .collect()
    }
}

impl Store {
    /// The aliases in a graph whose entities both exist.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn graph_aliases(&self, scope: &GraphScope) -> Result<Vec<GraphAlias>, StoreError> {
        let exists = |name: &str| match scope.is_whole() {
            true => "TRUE".to_owned(),
            false => format!(
                "EXISTS (SELECT 1 FROM {} WHERE mentions.entity = {name}.id)",
                scope.mentions(2)
            ),
        };
        let sql = format!(
            "SELECT main.id AS entity, main.name AS entity_name, other.id AS alias, other.name AS alias_name \
             FROM entity_aliases AS said \
             JOIN entities AS main ON main.collection = said.collection AND main.name_key = said.entity_key \
             JOIN entities AS other ON other.collection = said.collection AND other.name_key = said.alias_key \
             WHERE said.collection = $1 AND {} AND {} ORDER BY main.name, other.name, other.id",
            exists("main"),
            exists("other")
        );
        let read = |row: &Row| {
            Ok(GraphAlias {
                entity: row.id("entity")?,
                entity_name: row.get("entity_name")?,
                alias: row.id("alias")?,
                alias_name: row.get("alias_name")?,
            })
        };
        let query = self.db().built_to_read(sql).id(scope.collection());
        let rows = scope.bind(query).fetch_all().await?;
        rows.iter().map(read).collect()
    }

    pub(super) async fn aliases(&self, scope: &GraphScope) -> Result<Aliases, StoreError> {
        let mut aliases = Aliases::default();
        for GraphAlias { entity, alias, .. } in self.graph_aliases(scope).await? {
            aliases.entity_of.insert(alias, entity);
            aliases.others_of.entry(entity).or_default().push(alias);
        }
        Ok(aliases)
    }

    /// Makes `alias` and its aliases aliases of `entity`. Returns false if the limit is reached.
    ///
    /// # Errors
    /// `NotFound` if one of them does not exist, or the collection is another's.
    pub async fn merge_entities(
        &self,
        owner: UserId,
        collection: CollectionId,
        entity: EntityId,
        alias: EntityId,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        // Serializes concurrent merges.
        let sql = "UPDATE collections SET graph = graph WHERE id = $1 AND owner = $2 AND graph";
        tx.query(sql)
            .id(collection)
            .id(owner)
            .execute_on_one()
            .await?;
        let key = "SELECT name_key FROM entities WHERE id = $1 AND collection = $2";
        let named: String = tx
            .query(key)
            .id(entity)
            .id(collection)
            .fetch_one()
            .await?
            .get("name_key")?;
        let alias: String = tx
            .query(key)
            .id(alias)
            .id(collection)
            .fetch_one()
            .await?
            .get("name_key")?;
        let sql = "SELECT entity_key FROM entity_aliases WHERE collection = $1 AND alias_key = $2";
        let main = match tx
            .query(sql)
            .id(collection)
            .text(&named)
            .fetch_optional()
            .await?
        {
            // The target may itself be an alias by now; its own aliases may not.
            Some(row) => row.get::<String>("entity_key")?,
            None => named,
        };
        if main == alias {
            return Ok(true);
        }
        let sql = "SELECT COUNT(*) AS count FROM entity_aliases WHERE collection = $1";
        if tx
            .query(sql)
            .id(collection)
            .fetch_one()
            .await?
            .number("count")?
            >= MAX_ALIASES
        {
            return Ok(false);
        }
        let sql =
            "UPDATE entity_aliases SET entity_key = $3 WHERE collection = $1 AND entity_key = $2";
        tx.query(sql)
            .id(collection)
            .text(&alias)
            .text(&main)
            .execute()
            .await?;
        let sql = "INSERT INTO entity_aliases (collection, alias_key, entity_key) VALUES ($1, $2, $3) \
                   ON CONFLICT (collection, alias_key) DO UPDATE SET entity_key = excluded.entity_key";
        tx.query(sql)
            .id(collection)
            .text(&alias)
            .text(&main)
            .execute()
            .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Makes `alias` a separate entity again.
    ///
    /// # Errors
    /// `NotFound` if it is no alias, or the collection is another's.
    pub async fn part_entity(
        &self,
        owner: UserId,
        collection: CollectionId,
        alias: EntityId,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM entity_aliases WHERE collection = $1 \
                   AND alias_key = (SELECT name_key FROM entities WHERE id = $2 AND collection = $1) \
                   AND EXISTS (SELECT 1 FROM collections WHERE id = $1 AND owner = $3)";
        self.db()
            .write(sql)
            .id(collection)
            .id(alias)
            .id(owner)
            .execute_on_one()
            .await
    }

    /// Quotes that contain brackets, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn bracketed_quotes(
        &self,
        scope: &GraphScope,
        limit: u32,
    ) -> Result<Vec<GraphQuote>, StoreError> {
        let sql = format!(
            "SELECT DISTINCT document, documents.name, first, behind, quote FROM {} \
             JOIN documents ON documents.id = mentions.document WHERE documents.collection = $1 \
             AND quote LIKE '%(%)%' ORDER BY documents.name, document, first, quote LIMIT $2",
            scope.mentions(3)
        );
        let query = self.db().built_to_read(sql).id(scope.collection());
        let query = query.bind(i64::from(limit));
        let rows = scope.bind(query).fetch_all().await?;
        rows.iter().map(read_quote).collect()
    }

    /// The ids and names of the entities with these keys, by key.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn entities_by_keys(
        &self,
        scope: &GraphScope,
        keys: &[String],
    ) -> Result<HashMap<String, (EntityId, String)>, StoreError> {
        let mut found = HashMap::new();
        for keys in keys.chunks(500) {
            let list = (2..=keys.len() + 1)
                .map(|at| format!("${at}"))
                .collect::<Vec<_>>()
                .join(", ");
            let sql = format!(
                "SELECT id, name, name_key FROM {} WHERE collection = $1 AND name_key IN ({list})",
                scope.entities(keys.len() + 2)
            );
            let query = self.db().built(sql).id(scope.collection());
            let query = keys.iter().fold(query, |query, key| query.text(key));
            for row in &scope.bind(query).fetch_all().await? {
                found.insert(row.get("name_key")?, (row.id("id")?, row.get("name")?));
            }
        }
        Ok(found)
    }

    /// The entities without aliases: an alias is replaced by its entity, with all relations of both.
    pub(super) async fn as_one(
        &self,
        scope: &GraphScope,
        aliases: &Aliases,
        found: Vec<Entity>,
    ) -> Result<Vec<Entity>, StoreError> {
        if aliases.is_empty() {
            return Ok(found);
        }
        let mut known: HashMap<EntityId, Entity> =
            found.iter().map(|one| (one.id, one.clone())).collect();
        let mut seen = HashSet::new();
        let order: Vec<EntityId> = found
            .iter()
            .map(|one| aliases.entity(one.id))
            .filter(|id| seen.insert(*id))
            .collect();
        let missing: Vec<EntityId> = aliases
            .with_others(&order)
            .into_iter()
            .filter(|id| !known.contains_key(id))
            .collect();
        for entity in self.entities_alone(scope, &missing).await? {
            known.insert(entity.id, entity);
        }
        let whole = order.into_iter().filter_map(|id| {
            let mut entity = known.get(&id)?.clone();
            for other in aliases
                .others(id)
                .iter()
                .filter_map(|other| known.get(other))
            {
                entity.mentions += other.mentions;
                entity.relations += other.relations;
            }
            Some(entity)
        });
        Ok(whole.collect())
    }
}
