//! Stands in for the graph database in a program that is built without the feature `graph-database`: there is none.

use domain::{CollectionId, EntityId, Words};

use crate::platform::config::GraphDatabaseSettings;

/// Has no values, as the settings cannot name one.
pub(crate) enum GraphDatabase {}

impl GraphDatabase {
    pub(super) fn new(settings: &GraphDatabaseSettings) -> Self {
        match *settings {}
    }

    pub(super) fn note_change(&self, _: CollectionId) {
        match *self {}
    }

    pub(crate) fn state(&self, _: CollectionId) -> (Option<Words>, bool) {
        match *self {}
    }

    pub(super) fn serves(&self, _: CollectionId) -> bool {
        match *self {}
    }

    pub(super) async fn find(&self, _: CollectionId, _: &str, _: u32) -> Option<Vec<EntityId>> {
        match *self {}
    }

    pub(super) async fn around(&self, _: EntityId, _: (u32, usize)) -> Option<Vec<EntityId>> {
        match *self {}
    }

    pub(super) async fn way(&self, _: (EntityId, EntityId), _: u32) -> Option<Vec<EntityId>> {
        match *self {}
    }
}
