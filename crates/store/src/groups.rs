//! Groups, their members, and permissions. The server caches all of it, and checks a change counter.

use domain::{GroupId, InvitationId, UserId};

use crate::{
    Store, StoreError,
    db::Db,
    query::{Row, Tx, readable},
};

/// Maximum number of rows in one statement.
const MAX_ROWS: usize = 256;

/// A group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Group {
    /// Its id.
    pub id: GroupId,
    /// The name; unique, case-insensitively.
    pub name: String,
    /// The description.
    pub description: String,
    /// Its name at the identity provider.
    pub provider_name: Option<String>,
    /// The creation time.
    pub created_at: i64,
}

/// A member of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GroupMember {
    /// The user.
    pub user: UserId,
    /// The name.
    pub name: String,
    /// The e-mail address.
    pub email: String,
    /// Whether an administrator has added them.
    pub by_hand: bool,
    /// Whether the identity provider has.
    pub by_provider: bool,
}

/// A permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PermissionRow {
    /// The kind of resource.
    pub kind: String,
    /// The name of the resource.
    pub name: String,
    /// Whether it is for everybody; `None` if a wider rule applies.
    pub everybody: Option<bool>,
    /// The groups that may use it.
    pub groups: Vec<GroupId>,
}

/// A snapshot of all groups and permissions.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct AllGroups {
    /// Increases with each change.
    pub number: i64,
    /// The groups, by name.
    pub groups: Vec<Group>,
    /// The memberships.
    pub members: Vec<(UserId, GroupId)>,
    /// The resources with their own rules.
    pub permissions: Vec<PermissionRow>,
}

const COLUMNS: &str = "id, name, description, provider_name, created_at";
const CHANGED: &str = "INSERT INTO group_changes (id, number) VALUES (1, 1) \
                       ON CONFLICT (id) DO UPDATE SET number = group_changes.number + 1";
const IS_THERE: &str =
    "SELECT id, name, description, provider_name, created_at FROM user_groups WHERE id = $1";
/// Removes memberships without a source.
const FORGET_IN_GROUP: &str =
    "DELETE FROM group_members WHERE NOT by_hand AND NOT by_provider AND group_id = $1";
const FORGET_OF_MEMBER: &str =
    "DELETE FROM group_members WHERE NOT by_hand AND NOT by_provider AND member = $1";

impl Store {
    /// The change counter of groups and permissions.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn group_changes(&self) -> Result<i64, StoreError> {
        let row = self
            .db()
            .read("SELECT number FROM group_changes")
            .fetch_optional()
            .await?;
        row.map_or(Ok(0), |row| row.get("number"))
    }

    /// The administrators, suspended or not.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn administrators(&self) -> Result<Vec<UserId>, StoreError> {
        let rows = self
            .db()
            .read("SELECT id FROM users WHERE role = 'admin'")
            .fetch_all()
            .await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    /// All groups and permissions. The counter may be older than the data, so that no change is missed.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn all_groups(&self) -> Result<AllGroups, StoreError> {
        let number = self.group_changes().await?;
        let sql = format!("SELECT {COLUMNS} FROM user_groups ORDER BY name_key");
        let groups = self
            .db()
            .built(sql)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect::<Result<_, _>>()?;
        let rows = self
            .db()
            .read("SELECT member, group_id FROM group_members ORDER BY member, group_id");
        let rows = rows.fetch_all().await?;
        let members = rows
            .iter()
            .map(|row| Ok((row.id("member")?, row.id("group_id")?)));
        let members = members.collect::<Result<_, StoreError>>()?;
        Ok(AllGroups {
            number,
            groups,
            members,
            permissions: self.permissions().await?,
        })
    }

    async fn permissions(&self) -> Result<Vec<PermissionRow>, StoreError> {
        let sql = "SELECT kind, name, everybody, NULL AS group_id FROM permissions UNION ALL \
                   SELECT kind, name, NULL AS everybody, group_id FROM group_permissions \
                   ORDER BY kind, name, group_id";
        let mut all: Vec<PermissionRow> = Vec::new();
        for row in self.db().read(sql).fetch_all().await? {
            let (kind, name): (String, String) = (row.get("kind")?, row.get("name")?);
            if all
                .last()
                .is_none_or(|last| (&last.kind, &last.name) != (&kind, &name))
            {
                all.push(PermissionRow {
                    kind,
                    name,
                    everybody: None,
                    groups: Vec::new(),
                });
            }
            if let Some(last) = all.last_mut() {
                last.everybody = last.everybody.or(row.get("everybody")?);
                last.groups.extend(row.optional_id::<GroupId>("group_id")?);
            }
        }
        Ok(all)
    }

    /// Creates a group.
    ///
    /// # Errors
    /// `Conflict("name")` if the name is taken, `Conflict("limit")` if there are already `max`.
    pub async fn create_group(&self, group: &Group, max: i64) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        changed(&mut tx).await?;
        let there = tx
            .query("SELECT COUNT(*) AS there FROM user_groups")
            .fetch_one()
            .await?;
        if there.get::<i64>("there")? >= max {
            return Err(StoreError::Conflict("limit"));
        }
        let sql = "INSERT INTO user_groups (id, name, name_key, description, provider_name, provider_key, created_at) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7)";
        let query = tx
            .query(sql)
            .id(group.id)
            .text(&group.name)
            .text(&group.name.to_lowercase());
        let query = query
            .text(&group.description)
            .optional_text(group.provider_name.as_deref())
            .optional_text(provider_key(group).as_deref());
        query
            .bind(group.created_at)
            .execute()
            .await
            .map_err(name_taken)?;
        tx.commit().await
    }

    /// Changes a group's name, description and provider name. A changed provider name ends the memberships from the
    /// provider.
    ///
    /// # Errors
    /// `NotFound`, `Conflict("name")`.
    pub async fn change_group(&self, group: &Group) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        changed(&mut tx).await?;
        let before = read(&tx.query(IS_THERE).id(group.id).fetch_one().await?)?;
        let sql = "UPDATE user_groups SET name = $2, name_key = $3, description = $4, provider_name = $5, provider_key = $6 \
                   WHERE id = $1";
        let query = tx
            .query(sql)
            .id(group.id)
            .text(&group.name)
            .text(&group.name.to_lowercase());
        let query = query
            .text(&group.description)
            .optional_text(group.provider_name.as_deref())
            .optional_text(provider_key(group).as_deref());
        query.execute().await.map_err(name_taken)?;
        if before.provider_name != group.provider_name {
            let sql =
                "UPDATE group_members SET by_provider = FALSE WHERE group_id = $1 AND by_provider";
            tx.query(sql).id(group.id).execute().await?;
            tx.query(FORGET_IN_GROUP).id(group.id).execute().await?;
        }
        tx.commit().await
    }

    /// Deletes a group, and returns its name. Resources that were only for it are then for administrators only.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_group(&self, id: GroupId) -> Result<String, StoreError> {
        let mut tx = self.db().begin().await?;
        changed(&mut tx).await?;
        let name = read(&tx.query(IS_THERE).id(id).fetch_one().await?)?.name;
        tx.query("DELETE FROM user_groups WHERE id = $1")
            .id(id)
            .execute()
            .await?;
        let sql = "DELETE FROM settings WHERE name = $1 OR name = $2";
        let each = format!("limits:group:{id}");
        let total = format!("limits:group_total:{id}");
        tx.query(sql).text(&each).text(&total).execute().await?;
        tx.commit().await?;
        Ok(name)
    }

    /// The members of a group, by name.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn group_members(&self, id: GroupId) -> Result<Vec<GroupMember>, StoreError> {
        self.db().read(IS_THERE).id(id).fetch_one().await?;
        let sql = "SELECT member, name, email, by_hand, by_provider FROM group_members \
                   JOIN users ON users.id = member WHERE group_id = $1 ORDER BY name, email";
        let rows = self.db().read(sql).id(id).fetch_all().await?;
        let member = |row: &Row| {
            Ok(GroupMember {
                user: row.id("member")?,
                name: row.get("name")?,
                email: row.get("email")?,
                by_hand: row.get("by_hand")?,
                by_provider: row.get("by_provider")?,
            })
        };
        rows.iter().map(member).collect()
    }

    /// Adds people to a group, atomically.
    ///
    /// # Errors
    /// `NotFound` if there is no such group; `Conflict("member")` if one of them has no account.
    pub async fn add_group_members(
        &self,
        id: GroupId,
        people: &[UserId],
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        changed(&mut tx).await?;
        tx.query(IS_THERE).id(id).fetch_one().await?;
        for people in people.chunks(MAX_ROWS) {
            let mut sql = String::from(
                "INSERT INTO group_members (group_id, member, by_hand, by_provider) VALUES ",
            );
            self.db().push_rows(&mut sql, people.len(), 4);
            sql.push_str(" ON CONFLICT (group_id, member) DO UPDATE SET by_hand = TRUE");
            let query = people.iter().fold(tx.built(sql), |query, person| {
                query.id(id).id(person).bind(true).bind(false)
            });
            query.execute().await.map_err(|error| match error {
                StoreError::NotFound | StoreError::Conflict(_) => StoreError::Conflict("member"),
                error => error,
            })?;
        }
        tx.commit().await
    }

    /// Removes a member from a group, whatever the source of the membership.
    ///
    /// # Errors
    /// `NotFound` if the person is not a member.
    pub async fn remove_group_member(&self, id: GroupId, person: UserId) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        changed(&mut tx).await?;
        let sql = "DELETE FROM group_members WHERE group_id = $1 AND member = $2";
        tx.query(sql).id(id).id(person).execute_on_one().await?;
        tx.commit().await
    }

    /// Sets a person's memberships from the provider to the groups with these provider names. Returns whether that
    /// changed anything.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn sync_provider_groups(
        &self,
        person: UserId,
        names: &[String],
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        let rows =
            tx.query("SELECT id, provider_name FROM user_groups WHERE provider_name IS NOT NULL");
        let mut wanted: Vec<GroupId> = Vec::new();
        for row in rows.fetch_all().await? {
            if names.contains(&row.get::<String>("provider_name")?) {
                wanted.push(row.id("id")?);
            }
        }
        let sql = "SELECT group_id FROM group_members WHERE member = $1 AND by_provider";
        let there = tx.query(sql).id(person).fetch_all().await?;
        let there: Vec<GroupId> = there
            .iter()
            .map(|row| row.id("group_id"))
            .collect::<Result<_, _>>()?;
        let new: Vec<&GroupId> = wanted
            .iter()
            .filter(|group| !there.contains(group))
            .collect();
        let gone: Vec<&GroupId> = there
            .iter()
            .filter(|group| !wanted.contains(group))
            .collect();
        if new.is_empty() && gone.is_empty() {
            return Ok(false);
        }
        changed(&mut tx).await?;
        for group in new {
            let sql = "INSERT INTO group_members (group_id, member, by_hand, by_provider) \
                       VALUES ($1, $2, FALSE, TRUE) \
                       ON CONFLICT (group_id, member) DO UPDATE SET by_provider = TRUE";
            tx.query(sql).id(group).id(person).execute().await?;
        }
        for group in gone {
            let sql =
                "UPDATE group_members SET by_provider = FALSE WHERE group_id = $1 AND member = $2";
            tx.query(sql).id(group).id(person).execute().await?;
        }
        tx.query(FORGET_OF_MEMBER).id(person).execute().await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Sets the permission of a resource, replacing its earlier one. With neither field it follows a wider rule.
    ///
    /// # Errors
    /// `Conflict("group")` if one of the groups does not exist, `Conflict("limit")` if there are `max` rules.
    pub async fn put_permission(&self, row: &PermissionRow, max: i64) -> Result<(), StoreError> {
        let PermissionRow {
            kind,
            name,
            everybody,
            groups,
        } = row;
        let mut tx = self.db().begin().await?;
        changed(&mut tx).await?;
        for sql in [
            "DELETE FROM permissions WHERE kind = $1 AND name = $2",
            "DELETE FROM group_permissions WHERE kind = $1 AND name = $2",
        ] {
            tx.query(sql).text(kind).text(name).execute().await?;
        }
        if let Some(everybody) = everybody {
            let sql = "INSERT INTO permissions (kind, name, everybody) VALUES ($1, $2, $3)";
            tx.query(sql)
                .text(kind)
                .text(name)
                .bind(*everybody)
                .execute()
                .await?;
        }
        for group in groups {
            let sql = "INSERT INTO group_permissions (kind, name, group_id) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING";
            tx.query(sql)
                .text(kind)
                .text(name)
                .id(group)
                .execute()
                .await
                .map_err(|error| match error {
                    StoreError::NotFound | StoreError::Conflict(_) => StoreError::Conflict("group"),
                    error => error,
                })?;
        }
        let sql = "SELECT (SELECT COUNT(*) FROM permissions) + (SELECT COUNT(*) FROM group_permissions) AS there";
        if tx.query(sql).fetch_one().await?.get::<i64>("there")? > max {
            return Err(StoreError::Conflict("limit"));
        }
        tx.commit().await
    }
}

/// Adds a new account to the groups of its invitation; returns them. Groups that have been deleted are left out.
pub(crate) async fn join_invited(
    tx: &mut Tx,
    invitation: InvitationId,
    person: UserId,
) -> Result<Vec<GroupId>, StoreError> {
    let sql = "SELECT group_id FROM invitation_groups WHERE invitation = $1 LIMIT 1";
    if tx
        .query(sql)
        .id(invitation)
        .fetch_optional()
        .await?
        .is_none()
    {
        return Ok(Vec::new());
    }
    // No group can be deleted from here on.
    changed(tx).await?;
    let sql = "INSERT INTO group_members (group_id, member, by_hand, by_provider) \
               SELECT group_id, $2, TRUE, FALSE FROM invitation_groups WHERE invitation = $1 \
               RETURNING group_id";
    let rows = tx.query(sql).id(invitation).id(person).fetch_all().await?;
    rows.iter().map(|row| row.id("group_id")).collect()
}

/// The provider's name in lower case, as readers of documents are stored: databases fold ASCII letters only.
fn provider_key(group: &Group) -> Option<String> {
    group.provider_name.as_deref().map(str::to_lowercase)
}

/// Folds the provider's names of groups that were stored before they were folded.
pub(crate) async fn fold_provider_names(db: &Db) -> Result<(), StoreError> {
    let sql =
        "SELECT id, provider_name, provider_key FROM user_groups WHERE provider_name IS NOT NULL";
    let rows = db.read(sql).fetch_all().await?;
    let names = readable(&rows, |row| {
        let name: String = row.get("provider_name")?;
        let key: Option<String> = row.get("provider_key")?;
        Ok((row.id::<GroupId>("id")?, name.to_lowercase(), key))
    });
    for (id, folded, key) in names {
        if key.as_ref() != Some(&folded) {
            let sql = "UPDATE user_groups SET provider_key = $2 WHERE id = $1";
            db.write(sql).id(id).text(&folded).execute().await?;
        }
    }
    Ok(())
}

/// First in each transaction, so that changes are serialized.
async fn changed(tx: &mut Tx) -> Result<(), StoreError> {
    tx.query(CHANGED).execute().await.map(drop)
}

fn name_taken(error: StoreError) -> StoreError {
    match error {
        StoreError::Conflict(_) => StoreError::Conflict("name"),
        error => error,
    }
}

fn read(row: &Row) -> Result<Group, StoreError> {
    Ok(Group {
        id: row.id("id")?,
        name: row.get("name")?,
        description: row.get("description")?,
        provider_name: row.get("provider_name")?,
        created_at: row.get("created_at")?,
    })
}
