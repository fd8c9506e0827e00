//! Readers of a collection besides its owner: everybody, groups, and individual people.

use domain::{CollectionId, GroupId, UserId};

use crate::{
    Store, StoreError,
    users::{User, read_user},
};

/// The readers of a collection.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct CollectionReaders {
    /// All users.
    pub open: bool,
    /// All members of these groups, with names.
    pub groups: Vec<(GroupId, String)>,
    /// These people, in the order they were added.
    pub people: Vec<User>,
}

/// The complete new list of readers.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReadersChange {
    /// All users.
    pub open: bool,
    /// All members of these groups.
    pub groups: Vec<GroupId>,
    /// These people.
    pub people: Vec<UserId>,
}

/// The SQL condition on a row of `collections` under which a user may read it. It is evaluated with each query, so
/// that removal from the list or from a group takes effect at once.
pub(crate) fn may_read(reader: &str) -> String {
    format!(
        "(collections.owner = {reader} OR collections.open \
         OR collections.id IN (SELECT collection FROM collection_readers WHERE reader = {reader}) \
         OR collections.id IN (SELECT collection_groups.collection FROM collection_groups \
         JOIN group_members ON group_members.group_id = collection_groups.group_id WHERE member = {reader}))"
    )
}

impl Store {
    /// The readers of a collection.
    ///
    /// # Errors
    /// `NotFound`, also for an attachment: it is visible where its chat is.
    pub async fn collection_readers(
        &self,
        id: CollectionId,
    ) -> Result<CollectionReaders, StoreError> {
        let sql = "SELECT open FROM collections WHERE id = $1 AND NOT attached";
        let open = self.db().read(sql).id(id).fetch_one().await?.get("open")?;
        let sql = "SELECT user_groups.id, user_groups.name FROM collection_groups \
                   JOIN user_groups ON user_groups.id = group_id WHERE collection = $1 ORDER BY name_key, user_groups.id";
        let groups = self.db().read(sql).id(id).fetch_all().await?;
        let sql = "SELECT users.id, email, name, role, users.created_at FROM collection_readers \
                   JOIN users ON users.id = reader WHERE collection = $1 ORDER BY since, users.id";
        let people = self.db().read(sql).id(id).fetch_all().await?;
        Ok(CollectionReaders {
            open,
            groups: groups
                .iter()
                .map(|row| Ok((row.id("id")?, row.get("name")?)))
                .collect::<Result<_, StoreError>>()?,
            people: people.iter().map(read_user).collect::<Result<_, _>>()?,
        })
    }

    /// Replaces the readers of a collection. Deleted groups and people are ignored.
    ///
    /// # Errors
    /// `NotFound`, also for an attachment.
    pub async fn set_collection_readers(
        &self,
        id: CollectionId,
        change: &ReadersChange,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        // Also serializes concurrent changes.
        let sql =
            "UPDATE collections SET open = $2, updated_at = $3 WHERE id = $1 AND NOT attached";
        tx.query(sql)
            .id(id)
            .bind(change.open)
            .bind(now)
            .execute_on_one()
            .await?;
        tx.query("DELETE FROM collection_groups WHERE collection = $1")
            .id(id)
            .execute()
            .await?;
        for group in &change.groups {
            let sql = "INSERT INTO collection_groups (collection, group_id) SELECT $1, id FROM user_groups WHERE id = $2 \
                       ON CONFLICT DO NOTHING";
            tx.query(sql).id(id).id(*group).execute().await?;
        }
        // Remaining readers keep their time.
        let kept: Vec<UserId> = {
            let sql = "SELECT reader FROM collection_readers WHERE collection = $1";
            let rows = tx.query(sql).id(id).fetch_all().await?;
            rows.iter()
                .map(|row| row.id("reader"))
                .collect::<Result<_, _>>()?
        };
        for gone in kept.iter().filter(|reader| !change.people.contains(reader)) {
            let sql = "DELETE FROM collection_readers WHERE collection = $1 AND reader = $2";
            tx.query(sql).id(id).id(*gone).execute().await?;
        }
        for reader in change.people.iter().filter(|reader| !kept.contains(reader)) {
            let sql = "INSERT INTO collection_readers (collection, reader, since) SELECT $1, id, $3 FROM users WHERE id = $2 \
                       ON CONFLICT DO NOTHING";
            tx.query(sql).id(id).id(*reader).bind(now).execute().await?;
        }
        tx.commit().await
    }
}
