//! The collections that an agent searches, among those its user may search.

use domain::UserId;
use store::{Collection, Store, StoreError};

/// The collections that an agent searches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// The names of the only collections to search; all if `None`.
    pub(crate) only: Option<Vec<String>>,
    /// Attachments of its chat, which are in no list of collections.
    pub(crate) attached: Vec<Collection>,
}

impl Scope {
    /// The collections in their current state.
    pub(crate) async fn collections(
        &self,
        store: &Store,
        owner: UserId,
    ) -> Result<Vec<Collection>, StoreError> {
        let mut collections = store.searchable_collections(owner).await?;
        if let Some(only) = &self.only {
            collections.retain(|collection| only.contains(&collection.name));
        }
        collections.extend(self.attached.iter().cloned());
        Ok(collections)
    }
}
