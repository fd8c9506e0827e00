//! Invitation links. Only the hash of a link's secret is stored.

use std::collections::HashMap;

use domain::{GroupId, InvitationId};

use crate::{
    Store, StoreError,
    groups::join_invited,
    query::{Row, Tx},
    users::{AddressProof, NewUser, User, UserRole, insert_user, read_role, role_name},
};

/// An invitation to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewInvitation {
    /// Its id.
    pub id: InvitationId,
    /// SHA-256 of the link's secret.
    pub token_hash: [u8; 32],
    /// The only allowed address; `None` for any.
    pub email: Option<String>,
    /// Maximum number of accounts created with it.
    pub most_uses: i64,
    /// The role of these accounts.
    pub role: UserRole,
    /// The groups that they join.
    pub groups: Vec<GroupId>,
    /// The current time.
    pub created_at: i64,
    /// The expiry time.
    pub expires_at: i64,
}

/// An invitation as administrators see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Invitation {
    /// Its id.
    pub id: InvitationId,
    /// The only allowed address; `None` for any.
    pub email: Option<String>,
    /// Maximum number of accounts created with it.
    pub most_uses: i64,
    /// The number of accounts created with it.
    pub uses: i64,
    /// The role of these accounts.
    pub role: UserRole,
    /// The groups that they join, without deleted ones.
    pub groups: Vec<GroupId>,
    /// The creation time of its link.
    pub created_at: i64,
    /// The expiry time.
    pub expires_at: i64,
}

/// An account that was created with an invitation.
#[derive(Debug, Clone, PartialEq)]
pub struct InvitedUser {
    /// The account.
    pub user: User,
    /// The invitation.
    pub invitation: InvitationId,
    /// The groups that it has joined.
    pub groups: Vec<GroupId>,
}

const COLUMNS: &str = "id, email, most_uses, uses, role, created_at, expires_at";

impl Store {
    /// Creates an invitation, which replaces unused ones for the same address, atomically. Returns these.
    ///
    /// # Errors
    /// `Conflict("group")` if one of the groups does not exist.
    pub async fn create_invitation(
        &self,
        new: &NewInvitation,
    ) -> Result<Vec<InvitationId>, StoreError> {
        let mut tx = self.db().begin().await?;
        let key = new.email.as_deref().map(str::to_lowercase);
        if let (Tx::Postgres(_), Some(_)) = (&tx, &key) {
            // Concurrent invitations for an address would not see each other; SQLite has only one writer.
            tx.query("LOCK TABLE invitations IN SHARE ROW EXCLUSIVE MODE")
                .execute()
                .await?;
        }
        let sql = "INSERT INTO invitations \
                   (id, token_hash, email, email_key, most_uses, uses, role, created_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5, 0, $6, $7, $8)";
        tx.query(sql)
            .id(new.id)
            .bind(&new.token_hash[..])
            .optional_text(new.email.as_deref())
            .optional_text(key.as_deref())
            .bind(new.most_uses)
            .text(role_name(new.role))
            .bind(new.created_at)
            .bind(new.expires_at)
            .execute()
            .await?;
        insert_groups(&mut tx, new.id, &new.groups).await?;
        // Last, or it could deadlock with the deletion of a group, which waits for these rows.
        let sql = "DELETE FROM invitations WHERE email_key = $1 AND uses < most_uses AND id <> $2 \
                   RETURNING id";
        let replaced = match key {
            Some(key) => tx.query(sql).text(&key).id(new.id).fetch_all().await?,
            None => Vec::new(),
        };
        tx.commit().await?;
        replaced.iter().map(|row| row.id("id")).collect()
    }

    /// Replaces the link of an invitation. The new one is valid for as long as the old one was.
    ///
    /// # Errors
    /// `NotFound`; `Conflict("invitation")` if it is used up.
    pub async fn renew_invitation(
        &self,
        id: InvitationId,
        token_hash: &[u8; 32],
        now: i64,
    ) -> Result<Invitation, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = format!(
            "UPDATE invitations \
             SET token_hash = $2, expires_at = $3 + (expires_at - created_at), created_at = $3 \
             WHERE id = $1 AND uses < most_uses RETURNING {COLUMNS}"
        );
        let renewed = tx.built(sql).id(id).bind(&token_hash[..]).bind(now);
        let Some(row) = renewed.fetch_optional().await? else {
            let sql = "SELECT id FROM invitations WHERE id = $1";
            tx.query(sql).id(id).fetch_one().await?;
            return Err(StoreError::Conflict("invitation"));
        };
        let sql = "SELECT group_id FROM invitation_groups WHERE invitation = $1 ORDER BY group_id";
        let groups = tx.query(sql).id(id).fetch_all().await?;
        tx.commit().await?;
        let groups = groups.iter().map(|row| row.id("group_id"));
        read(&row, groups.collect::<Result<_, _>>()?)
    }

    /// All invitations, including used-up and expired ones, newest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn invitations(&self) -> Result<Vec<Invitation>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM invitations ORDER BY created_at DESC, id DESC");
        let rows = self.db().built(sql).fetch_all().await?;
        let sql =
            "SELECT invitation, group_id FROM invitation_groups ORDER BY invitation, group_id";
        let mut groups: HashMap<InvitationId, Vec<GroupId>> = HashMap::new();
        for row in self.db().read(sql).fetch_all().await? {
            let of = groups.entry(row.id("invitation")?).or_default();
            of.push(row.id("group_id")?);
        }
        let read = |row: &Row| {
            let groups = groups.remove(&row.id("id")?).unwrap_or_default();
            read(row, groups)
        };
        rows.iter().map(read).collect()
    }

    /// Revokes an invitation. Its accounts stay.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn delete_invitation(&self, id: InvitationId) -> Result<(), StoreError> {
        self.db()
            .write("DELETE FROM invitations WHERE id = $1")
            .id(id)
            .execute_on_one()
            .await
    }

    /// The only address that the valid invitation with this secret is for; `None` for any.
    ///
    /// # Errors
    /// `NotFound` if it is used up, expired or revoked.
    pub async fn invitee(
        &self,
        token_hash: &[u8; 32],
        now: i64,
    ) -> Result<Option<String>, StoreError> {
        let sql = "SELECT email FROM invitations \
                   WHERE token_hash = $1 AND expires_at > $2 AND uses < most_uses";
        let query = self.db().read(sql).bind(&token_hash[..]).bind(now);
        query.fetch_one().await?.get("email")
    }

    /// Creates an account for an invited person, with the role and the groups of the invitation, and counts the use.
    /// The address is proven if the invitation is for it.
    ///
    /// # Errors
    /// `NotFound` if the invitation is used up, expired, revoked or for another address; `Conflict("email")` if the
    /// address is taken: that counts as a use, too, or a holder of the link could probe which addresses have accounts.
    /// Concurrent callers cannot exceed the number of uses.
    pub async fn create_invited_user(
        &self,
        user: &NewUser,
        token_hash: &[u8; 32],
        now: i64,
    ) -> Result<InvitedUser, StoreError> {
        let mut tx = self.db().begin().await?;
        let key = user.email.to_lowercase();
        let sql = "UPDATE invitations SET uses = uses + 1 \
                   WHERE token_hash = $1 AND expires_at > $2 AND uses < most_uses \
                   AND (email_key IS NULL OR email_key = $3) RETURNING id, role, email_key";
        let query = tx.query(sql).bind(&token_hash[..]).bind(now).text(&key);
        let used = query.fetch_one().await?;
        let sql = "SELECT id FROM users WHERE email_key = $1";
        if tx.query(sql).text(&key).fetch_optional().await?.is_some() {
            tx.commit().await?;
            return Err(StoreError::Conflict("email"));
        }
        let invitation = used.id("id")?;
        let role = read_role(&used)?;
        let proof = match used.get::<Option<String>>("email_key")? {
            Some(_) => AddressProof::Proven,
            None => AddressProof::Unproven,
        };
        let user = insert_user(
            &mut tx,
            &NewUser {
                role,
                ..user.clone()
            },
            proof,
        )
        .await?;
        let groups = join_invited(&mut tx, invitation, user.id).await?;
        tx.commit().await?;
        Ok(InvitedUser {
            user,
            invitation,
            groups,
        })
    }

    /// Deletes the invitations that had expired by `before`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_invitations(&self, before: i64) -> Result<u64, StoreError> {
        self.db()
            .write("DELETE FROM invitations WHERE expires_at <= $1")
            .bind(before)
            .execute()
            .await
    }
}

async fn insert_groups(
    tx: &mut Tx,
    invitation: InvitationId,
    groups: &[GroupId],
) -> Result<(), StoreError> {
    let sql = "INSERT INTO invitation_groups (invitation, group_id) VALUES ($1, $2) \
               ON CONFLICT DO NOTHING";
    for group in groups {
        let added = tx.query(sql).id(invitation).id(group).execute().await;
        added.map_err(|error| match error {
            StoreError::NotFound | StoreError::Conflict(_) => StoreError::Conflict("group"),
            error => error,
        })?;
    }
    Ok(())
}

fn read(row: &Row, groups: Vec<GroupId>) -> Result<Invitation, StoreError> {
    Ok(Invitation {
        id: row.id("id")?,
        email: row.get("email")?,
        most_uses: row.get("most_uses")?,
        uses: row.get("uses")?,
        role: read_role(row)?,
        groups,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
    })
}
