//! Administration of accounts. At least one administrator who can sign in always remains.

use domain::{ChatId, UserId};

use crate::{
    Store, StoreError,
    query::{Row, Tx, readable},
    sessions::end_all,
    transaction::despite_deadlocks,
    users::{User, UserRole, read_user, role_name},
};

/// An account as administrators see it.
#[derive(Debug, Clone, PartialEq)]
pub struct Account {
    /// The user.
    pub user: User,
    /// When it was suspended; `None` if it is active.
    pub suspended_at: Option<i64>,
    /// Whether a second factor is required.
    pub has_second_factor: bool,
    /// Whether the person has passkeys.
    pub has_passkeys: bool,
    /// Whether the address is not checked to be theirs.
    pub email_unproven: bool,
}

/// Changes to an account. Fields that are `None` stay unchanged.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct AccountChange {
    /// Another address, or the same to confirm it: it counts as proven.
    pub email: Option<String>,
    /// Another name.
    pub name: Option<String>,
    /// The new role.
    pub role: Option<UserRole>,
    /// Whether it is suspended. Suspending ends all sessions of the person.
    pub suspended: Option<bool>,
}

impl Store {
    /// All accounts, by name.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn accounts(&self) -> Result<Vec<Account>, StoreError> {
        let sql = "SELECT id, email, name, role, created_at, suspended_at, email_unproven, \
                   EXISTS (SELECT 1 FROM second_factors WHERE owner = users.id AND confirmed_at IS NOT NULL) AS has_second_factor, \
                   EXISTS (SELECT 1 FROM passkeys WHERE passkeys.owner = users.id) AS has_passkeys \
                   FROM users ORDER BY name, id";
        Ok(readable(&self.db().read(sql).fetch_all().await?, read))
    }

    /// Whether the account exists and is not suspended.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn is_active(&self, id: UserId) -> Result<bool, StoreError> {
        let sql = "SELECT id FROM users WHERE id = $1 AND suspended_at IS NULL";
        Ok(self.db().read(sql).id(id).fetch_optional().await?.is_some())
    }

    /// The accounts that are suspended since that time, or later.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn suspended_users(&self, since: i64) -> Result<Vec<UserId>, StoreError> {
        let rows = self
            .db()
            .watch("SELECT id FROM users WHERE suspended_at >= $1")
            .bind(since)
            .fetch_all()
            .await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    /// Changes an account atomically.
    ///
    /// # Errors
    /// `NotFound`; `Conflict("email")` if the address is taken, `Conflict("last administrator")` if no administrator
    /// who can sign in would remain. Concurrent callers see each other's changes.
    pub async fn change_account(
        &self,
        id: UserId,
        change: &AccountChange,
        now: i64,
    ) -> Result<Account, StoreError> {
        let mut tx = self.begin_alone().await?;
        let Account {
            user, suspended_at, ..
        } = account(&mut tx, id).await?;
        let email = change.email.clone().unwrap_or(user.email);
        let name = change.name.clone().unwrap_or(user.name);
        let role = change.role.unwrap_or(user.role);
        let suspended_at = match change.suspended {
            Some(true) => suspended_at.or(Some(now)),
            Some(false) => None,
            None => suspended_at,
        };
        let sql = "UPDATE users SET email = $2, email_key = $3, name = $4, role = $5, suspended_at = $6, \
                   email_unproven = (email_unproven AND NOT $7) \
                   WHERE id = $1 RETURNING id, email, name, role, created_at, suspended_at, email_unproven, \
                   EXISTS (SELECT 1 FROM second_factors WHERE owner = users.id AND confirmed_at IS NOT NULL) AS has_second_factor, \
                   EXISTS (SELECT 1 FROM passkeys WHERE passkeys.owner = users.id) AS has_passkeys";
        let query = tx
            .query(sql)
            .id(id)
            .text(&email)
            .text(&email.to_lowercase())
            .text(&name);
        let row = match query
            .text(role_name(role))
            .bind(suspended_at)
            .bind(change.email.is_some())
            .fetch_one()
            .await
        {
            Err(StoreError::Conflict(_)) => return Err(StoreError::Conflict("email")),
            row => row?,
        };
        let takes_away = change.role == Some(UserRole::User) || change.suspended == Some(true);
        if takes_away && user.role == UserRole::Admin {
            check_admin_left(&mut tx).await?;
        }
        if change.suspended == Some(true) {
            end_all(&mut tx, id, None, now).await?;
        }
        tx.commit().await?;
        read(&row)
    }

    /// Deletes a suspended account with all its data, and returns the ids of its chats. Its runs must have ended.
    ///
    /// # Errors
    /// `NotFound`; `Conflict("account")` if it is not suspended: only then have all its activities ended.
    pub async fn delete_account(&self, id: UserId) -> Result<Vec<ChatId>, StoreError> {
        despite_deadlocks(|| async {
            let mut tx = self.begin_alone().await?;
            if account(&mut tx, id).await?.suspended_at.is_none() {
                return Err(StoreError::Conflict("account"));
            }
            let chats = tx
                .query("SELECT id FROM chats WHERE owner = $1")
                .id(id)
                .fetch_all()
                .await?;
            let chats = chats.iter().map(|row| row.id("id"));
            let chats = chats.collect::<Result<_, _>>()?;
            // No foreign key deletes files.
            let files = "DELETE FROM files WHERE workspace IN (SELECT id FROM chats WHERE owner = $1 \
                         UNION ALL SELECT id FROM runs WHERE owner = $1 \
                         UNION ALL SELECT workspace FROM runs WHERE owner = $1 AND workspace IS NOT NULL)";
            tx.query(files).id(id).execute().await?;
            let user = tx.query("DELETE FROM users WHERE id = $1").id(id);
            user.execute().await?;
            tx.commit().await?;
            Ok(chats)
        })
        .await
    }

    /// A transaction that excludes other changes of accounts.
    async fn begin_alone(&self) -> Result<Tx, StoreError> {
        let mut tx = self.db().begin().await?;
        if let Tx::Postgres(_) = tx {
            // SQLite has only one writer.
            tx.query("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE")
                .execute()
                .await?;
        }
        Ok(tx)
    }
}

async fn account(tx: &mut Tx, id: UserId) -> Result<Account, StoreError> {
    let sql = "SELECT id, email, name, role, created_at, suspended_at, email_unproven, \
               EXISTS (SELECT 1 FROM second_factors WHERE owner = users.id AND confirmed_at IS NOT NULL) AS has_second_factor, \
                   EXISTS (SELECT 1 FROM passkeys WHERE passkeys.owner = users.id) AS has_passkeys \
               FROM users WHERE id = $1";
    read(&tx.query(sql).id(id).fetch_one().await?)
}

/// An administrator without a password counts if no account has one: then there is no sign-in, and everybody acts as
/// that account.
async fn check_admin_left(tx: &mut Tx) -> Result<(), StoreError> {
    let sql = "SELECT id FROM users WHERE role = 'admin' AND suspended_at IS NULL \
               AND (password_hash <> '' OR NOT EXISTS \
               (SELECT 1 FROM users WHERE password_hash <> '')) LIMIT 1";
    match tx.query(sql).fetch_optional().await? {
        Some(_) => Ok(()),
        None => Err(StoreError::Conflict("last administrator")),
    }
}

/// Reads the columns `id, email, name, role, created_at, suspended_at, has_second_factor, has_passkeys,
/// email_unproven`.
pub(crate) fn read(row: &Row) -> Result<Account, StoreError> {
    Ok(Account {
        user: read_user(row)?,
        suspended_at: row.get("suspended_at")?,
        has_second_factor: row.get("has_second_factor")?,
        has_passkeys: row.get("has_passkeys")?,
        email_unproven: row.get("email_unproven")?,
    })
}
