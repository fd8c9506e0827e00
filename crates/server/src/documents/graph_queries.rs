//! Queries of a collection's graph, answered by the graph database if its copy is complete, otherwise by the rows.

use domain::EntityId;
use store::{Entity, GraphScope, StoreError, Subgraph};

use super::graph_database::GraphDatabase;
use crate::documents::Documents;

impl Documents {
    /// The graph database to query for a graph. Its copy knows neither merged names nor who may read a document, so it
    /// is skipped if the collection has any of the former, or hides any of the latter.
    async fn graph_database_of(
        &self,
        scope: &GraphScope,
    ) -> Result<Option<&GraphDatabase>, StoreError> {
        let database = self
            .graph_database
            .as_ref()
            .filter(|database| scope.is_whole() && database.serves(scope.collection()));
        match database {
            Some(_) if !self.store.graph_aliases(scope).await?.is_empty() => Ok(None),
            database => Ok(database),
        }
    }

    /// The entities whose name contains the given text, those with the most relations first.
    pub(crate) async fn graph_entities(
        &self,
        scope: &GraphScope,
        words: &str,
        limit: u32,
    ) -> Result<Vec<Entity>, StoreError> {
        if let Some(database) = self.graph_database_of(scope).await?
            && let Some(ids) = database.find(scope.collection(), words, limit).await
        {
            return self.store.entities_of(scope, &ids).await;
        }
        self.store.entities(scope, words, limit).await
    }

    /// Like [`store::Store::neighbours`].
    pub(crate) async fn graph_neighbours(
        &self,
        scope: &GraphScope,
        of: EntityId,
        depth: u32,
        limit: usize,
    ) -> Result<Subgraph, StoreError> {
        if let Some(database) = self.graph_database_of(scope).await?
            && let Some(ids) = database.around(of, depth, limit).await
        {
            let graph = self.store.among(scope, &ids).await?;
            let is_there = graph.entities.first().is_some_and(|entity| entity.id == of);
            return if is_there {
                Ok(graph)
            } else {
                Err(StoreError::NotFound)
            };
        }
        self.store.neighbours(scope, of, depth, limit).await
    }

    /// Like [`store::Store::path`].
    pub(crate) async fn graph_path(
        &self,
        scope: &GraphScope,
        from: EntityId,
        to: EntityId,
        most: u32,
    ) -> Result<Subgraph, StoreError> {
        if let Some(database) = self.graph_database_of(scope).await?
            && let Some(ids) = database.way(from, to, most).await
            && !ids.is_empty()
        {
            let graph = self.store.among(scope, &ids).await?;
            // The path is gone if one of its entities was just deleted.
            if graph.entities.len() == ids.len() {
                return Ok(graph);
            }
        }
        self.store.path(scope, from, to, most).await
    }

    /// Like [`store::Store::subgraph`].
    pub(crate) async fn graph_subgraph(
        &self,
        scope: &GraphScope,
        limit: u32,
    ) -> Result<Subgraph, StoreError> {
        if let Some(database) = self.graph_database_of(scope).await?
            && let Some(ids) = database.find(scope.collection(), "", limit).await
        {
            return self.store.among(scope, &ids).await;
        }
        self.store.subgraph(scope, limit).await
    }
}
