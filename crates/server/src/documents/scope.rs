//! Where an agent searches, of what its person may search.

use domain::UserId;
use store::{Collection, Store, StoreError};

/// Where an agent searches.
#[derive(Debug, Clone, Default)]
pub(crate) struct Scope {
    /// The names of the only collections that it searches; all where nothing.
    pub(crate) only: Option<Vec<String>>,
    /// Files that came with messages of its chat: no list has them.
    pub(crate) attached: Vec<Collection>,
}

impl Scope {
    /// The collections, as they are now.
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
