//! Identities at OpenID Connect providers, linked to accounts.

use domain::UserId;

use crate::{
    Store, StoreError,
    accounts::{Account, read},
    query::Tx,
    users::{AddressProof, NewUser, insert_user},
};

const OF_IDENTITY: &str = "SELECT id, email, name, role, users.created_at, suspended_at, email_unproven, \
                           EXISTS (SELECT 1 FROM second_factors WHERE second_factors.owner = users.id AND confirmed_at IS NOT NULL) AS has_second_factor, \
                   EXISTS (SELECT 1 FROM passkeys WHERE passkeys.owner = users.id) AS has_passkeys \
                           FROM identities JOIN users ON users.id = identities.owner \
                           WHERE issuer = $1 AND subject = $2";

impl Store {
    /// The account of this identity at a provider.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn identity(
        &self,
        issuer: &str,
        subject: &str,
    ) -> Result<Option<Account>, StoreError> {
        let row = self
            .db()
            .read(OF_IDENTITY)
            .text(issuer)
            .text(subject)
            .fetch_optional()
            .await?;
        row.as_ref().map(read).transpose()
    }

    /// Links an identity to an existing account.
    ///
    /// # Errors
    /// `NotFound` if the account is gone, `Conflict("id")` if the identity is already linked.
    pub async fn add_identity(
        &self,
        issuer: &str,
        subject: &str,
        owner: UserId,
        now: i64,
    ) -> Result<Account, StoreError> {
        let mut tx = self.db().begin().await?;
        add(&mut tx, issuer, subject, owner, now).await?;
        let row = tx
            .query(OF_IDENTITY)
            .text(issuer)
            .text(subject)
            .fetch_one()
            .await?;
        tx.commit().await?;
        read(&row)
    }

    /// Creates an account for an identity, atomically. `proof` is whether the provider has verified the address.
    ///
    /// # Errors
    /// `Conflict` if the address is taken, or the identity is already linked.
    pub async fn create_user_with_identity(
        &self,
        user: &NewUser,
        proof: AddressProof,
        issuer: &str,
        subject: &str,
    ) -> Result<Account, StoreError> {
        let mut tx = self.db().begin().await?;
        let user_made = insert_user(&mut tx, user, proof).await?;
        add(&mut tx, issuer, subject, user.id, user.created_at).await?;
        tx.commit().await?;
        Ok(Account {
            user: user_made,
            suspended_at: None,
            has_second_factor: false,
            has_passkeys: false,
            email_unproven: proof == AddressProof::Unproven,
        })
    }
}

async fn add(
    tx: &mut Tx,
    issuer: &str,
    subject: &str,
    owner: UserId,
    now: i64,
) -> Result<(), StoreError> {
    let sql = "INSERT INTO identities (issuer, subject, owner, created_at) VALUES ($1, $2, $3, $4)";
    tx.query(sql)
        .text(issuer)
        .text(subject)
        .id(owner)
        .bind(now)
        .execute()
        .await
        .map(drop)
}
