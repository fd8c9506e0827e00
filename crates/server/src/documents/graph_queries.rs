//! Queries of a collection's graph, answered by the graph database if its copy is complete, otherwise by the rows.

use domain::{CollectionId, EntityId};
use store::{Entity, StoreError, Subgraph};

use super::graph_database::GraphDatabase;
use crate::documents::Documents;

impl Documents {
    /// The graph database to query for a collection. Its copy does not know merged names, so it is skipped if the
    /// collection has any.
    async fn graph_database_of(
        &self,
        collection: CollectionId,
    ) -> Result<Option<&GraphDatabase>, StoreError> {
        let database = self
            .graph_database
            .as_ref()
            .filter(|database| database.serves(collection));
        match database {
            Some(_) if !self.store.graph_aliases(collection).await?.is_empty() => Ok(None),
            database => Ok(database),
        }
    }

    /// The entities whose name contains the given text, those with the most relations first. The caller must have
    /// checked access.
    pub(crate) async fn graph_entities(
        &self,
        collection: CollectionId,
        words: &str,
        limit: u32,
    ) -> Result<Vec<Entity>, StoreError> {
        if let Some(database) = self.graph_database_of(collection).await?
            && let Some(ids) = database.find(collection, words, limit).await
        {
            return self.store.entities_of(collection, &ids).await;
        }
        self.store.entities(collection, words, limit).await
    }

    /// Like [`store::Store::neighbours`].
    pub(crate) async fn graph_neighbours(
        &self,
        collection: CollectionId,
        of: EntityId,
        depth: u32,
        limit: usize,
    ) -> Result<Subgraph, StoreError> {
        if let Some(database) = self.graph_database_of(collection).await?
            && let Some(ids) = database.around(of, depth, limit).await
        {
            let graph = self.store.among(collection, &ids).await?;
            let is_there = graph.entities.first().is_some_and(|entity| entity.id == of);
            return if is_there {
                Ok(graph)
            } else {
                Err(StoreError::NotFound)
            };
        }
        self.store.neighbours(collection, of, depth, limit).await
    }

    /// Like [`store::Store::path`].
    pub(crate) async fn graph_path(
        &self,
        collection: CollectionId,
        from: EntityId,
        to: EntityId,
        most: u32,
    ) -> Result<Subgraph, StoreError> {
        if let Some(database) = self.graph_database_of(collection).await?
            && let Some(ids) = database.way(from, to, most).await
            && !ids.is_empty()
        {
            let graph = self.store.among(collection, &ids).await?;
            // The path is gone if one of its entities was just deleted.
            if graph.entities.len() == ids.len() {
                return Ok(graph);
            }
        }
        self.store.path(collection, from, to, most).await
    }

    /// Like [`store::Store::subgraph`].
    pub(crate) async fn graph_subgraph(
        &self,
        collection: CollectionId,
        limit: u32,
    ) -> Result<Subgraph, StoreError> {
        if let Some(database) = self.graph_database_of(collection).await?
            && let Some(ids) = database.find(collection, "", limit).await
        {
            return self.store.among(collection, &ids).await;
        }
        self.store.subgraph(collection, limit).await
    }
}
