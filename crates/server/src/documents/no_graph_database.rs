//! Replaces the graph database in a program that is built without the feature `graph-database`.

use std::sync::Arc;

use domain::{CollectionId, EntityId, LocalizedText};

use crate::{
    documents::Documents,
    platform::{
        config::GraphDatabaseSettings,
        jobs::{Failure, Next},
    },
};

/// Uninhabited: the settings cannot name a database.
pub(crate) enum GraphDatabase {}

impl GraphDatabase {
    pub(super) fn new(settings: &GraphDatabaseSettings) -> Self {
        match *settings {}
    }

    pub(super) fn note_change(&self, _: CollectionId) {
        match *self {}
    }

    pub(crate) fn state(&self, _: CollectionId) -> (Option<LocalizedText>, bool) {
        match *self {}
    }

    pub(super) fn serves(&self, _: CollectionId) -> bool {
        match *self {}
    }

    pub(super) async fn find(&self, _: CollectionId, _: &str, _: u32) -> Option<Vec<EntityId>> {
        match *self {}
    }

    pub(super) async fn around(&self, _: EntityId, _: u32, _: usize) -> Option<Vec<EntityId>> {
        match *self {}
    }

    pub(super) async fn way(&self, _: EntityId, _: EntityId, _: u32) -> Option<Vec<EntityId>> {
        match *self {}
    }
}

impl Documents {
    /// Does nothing.
    pub(crate) async fn mirror_graphs(self: Arc<Self>) -> Result<Next, Failure> {
        Ok(Next::Done)
    }
}
