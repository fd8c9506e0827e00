//! Whom providers of OpenID Connect know as whom: their name for a person, and the account here.

use domain::UserId;

use crate::{
    Store, StoreError,
    accounts::{Account, read},
    query::Tx,
    users::{NewUser, insert_user},
};

const OF_IDENTITY: &str = "SELECT id, email, name, role, users.created_at, suspended_at, \
                           EXISTS (SELECT 1 FROM second_factors WHERE second_factors.owner = users.id AND confirmed_at IS NOT NULL) AS has_second_factor, \
                   EXISTS (SELECT 1 FROM passkeys WHERE passkeys.owner = users.id) AS has_passkeys \
                           FROM identities JOIN users ON users.id = identities.owner \
                           WHERE issuer = $1 AND subject = $2";

impl Store {
    /// The account of a person that a provider knows by this name.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Lets a person whom a provider knows by this name use an account that is there.
    ///
    /// # Errors
    /// `NotFound` where the account is gone, `Conflict("id")` where the name has one already.
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

    /// Makes an account for a person whom a provider knows by this name, as a whole or not at all.
    ///
    /// # Errors
    /// `Conflict` where somebody has the address, or the name has an account already.
    pub async fn create_user_with_identity(
        &self,
        user: &NewUser,
        issuer: &str,
        subject: &str,
    ) -> Result<Account, StoreError> {
        let mut tx = self.db().begin().await?;
        let user_made = insert_user(&mut tx, user).await?;
        add(&mut tx, issuer, subject, user.id, user.created_at).await?;
        tx.commit().await?;
        Ok(Account {
            user: user_made,
            suspended_at: None,
            has_second_factor: false,
            has_passkeys: false,
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
