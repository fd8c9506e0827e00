//! Invitation links. Only the hash of a link's secret is stored.

use domain::InvitationId;

use crate::{
    Store, StoreError,
    query::Row,
    users::{NewUser, User, insert_user},
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
    /// The creation time.
    pub created_at: i64,
    /// The expiry time.
    pub expires_at: i64,
}

const COLUMNS: &str = "id, email, most_uses, uses, created_at, expires_at";

impl Store {
    /// Makes an invitation.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn create_invitation(&self, new: &NewInvitation) -> Result<(), StoreError> {
        let sql = "INSERT INTO invitations \
                   (id, token_hash, email, email_key, most_uses, uses, created_at, expires_at) \
                   VALUES ($1, $2, $3, $4, $5, 0, $6, $7)";
        let key = new.email.as_deref().map(str::to_lowercase);
        let query = self.db().write(sql).id(new.id).bind(&new.token_hash[..]);
        let query = query
            .optional_text(new.email.as_deref())
            .optional_text(key.as_deref());
        query
            .bind(new.most_uses)
            .bind(new.created_at)
            .bind(new.expires_at)
            .execute()
            .await
            .map(drop)
    }

    /// All invitations, including used-up and expired ones, newest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn invitations(&self) -> Result<Vec<Invitation>, StoreError> {
        let sql = format!("SELECT {COLUMNS} FROM invitations ORDER BY created_at DESC, id DESC");
        self.db()
            .built(sql)
            .fetch_all()
            .await?
            .iter()
            .map(read)
            .collect()
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

    /// The valid invitation with this secret.
    ///
    /// # Errors
    /// `NotFound` if it is used up, expired or revoked.
    pub async fn invitation(
        &self,
        token_hash: &[u8; 32],
        now: i64,
    ) -> Result<Invitation, StoreError> {
        let sql = format!(
            "SELECT {COLUMNS} FROM invitations WHERE token_hash = $1 AND expires_at > $2 AND uses < most_uses"
        );
        read(
            &self
                .db()
                .built(sql)
                .bind(&token_hash[..])
                .bind(now)
                .fetch_one()
                .await?,
        )
    }

    /// Creates an account for an invited person, and counts the use.
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
    ) -> Result<User, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE invitations SET uses = uses + 1 \
                   WHERE token_hash = $1 AND expires_at > $2 AND uses < most_uses \
                   AND (email_key IS NULL OR email_key = $3)";
        let query = tx
            .query(sql)
            .bind(&token_hash[..])
            .bind(now)
            .text(&user.email.to_lowercase());
        query.execute_on_one().await?;
        let sql = "SELECT id FROM users WHERE email_key = $1";
        if tx
            .query(sql)
            .text(&user.email.to_lowercase())
            .fetch_optional()
            .await?
            .is_some()
        {
            tx.commit().await?;
            return Err(StoreError::Conflict("email"));
        }
        let user = insert_user(&mut tx, user).await?;
        tx.commit().await?;
        Ok(user)
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

fn read(row: &Row) -> Result<Invitation, StoreError> {
    Ok(Invitation {
        id: row.id("id")?,
        email: row.get("email")?,
        most_uses: row.get("most_uses")?,
        uses: row.get("uses")?,
        created_at: row.get("created_at")?,
        expires_at: row.get("expires_at")?,
    })
}
