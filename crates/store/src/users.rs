//! Accounts. E-mail addresses are unique, case-insensitively.

use domain::UserId;

use crate::{
    Store, StoreError,
    query::{Query, Row, Tx},
};

/// A role.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize, schemars::JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum UserRole {
    /// Everything, including settings and connections.
    Admin,
    /// Own chats and keys.
    User,
}

/// An account.
#[derive(Debug, Clone, PartialEq)]
pub struct User {
    /// Its id.
    pub id: UserId,
    /// The address as typed.
    pub email: String,
    /// The name.
    pub name: String,
    /// The role.
    pub role: UserRole,
    /// The creation time.
    pub created_at: i64,
}

/// An account to be created.
#[derive(Debug, Clone, PartialEq)]
pub struct NewUser {
    /// Its id.
    pub id: UserId,
    /// The address as typed.
    pub email: String,
    /// The name.
    pub name: String,
    /// The role.
    pub role: UserRole,
    /// The password hash with its parameters.
    pub password_hash: String,
    /// The current time.
    pub created_at: i64,
}

/// An account with its password hash.
#[derive(Debug, Clone, PartialEq)]
pub struct UserWithPassword {
    /// The account.
    pub user: User,
    /// The password hash with its parameters.
    pub password_hash: String,
    /// Whether an administrator has suspended it.
    pub suspended: bool,
}

/// Whether anyone has checked that the address of an account belongs to its holder. The readers of a document are found
/// by addresses, and an address that nobody has checked finds none.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressProof {
    /// An administrator, an invitation for the address, a mail to it, or a sign-in provider.
    Proven,
    /// The holder chose it.
    Unproven,
}

const INSERT: &str = "INSERT INTO users (id, email, email_key, name, role, password_hash, created_at, email_unproven) \
                      VALUES ($1, $2, $3, $4, $5, $6, $7, $8) \
                      RETURNING id, email, name, role, created_at";

const ANY_WITH_PASSWORD: &str = "SELECT id FROM users WHERE password_hash <> '' LIMIT 1";

const FIRST_ADMIN: &str = "SELECT id, email, name, role, created_at FROM users \
                           WHERE role = 'admin' AND suspended_at IS NULL ORDER BY created_at, id LIMIT 1";

const TAKE_OVER: &str = "UPDATE users SET email = $2, email_key = $3, name = $4, role = $5, password_hash = $6, \
                         created_at = $7, email_unproven = $8 WHERE id = $1 RETURNING id, email, name, role, created_at";

impl Store {
    /// Creates the first account, always as an administrator. An account without a password, which cannot be used to
    /// sign in, is taken over with all its data; it keeps its id.
    ///
    /// # Errors
    /// `Conflict("admin")` if there is any account with a password; of concurrent callers only one succeeds.
    pub async fn create_first_admin(&self, user: &NewUser) -> Result<User, StoreError> {
        let mut tx = self.db().begin().await?;
        if let Tx::Postgres(_) = tx {
            // Prevents inserts between our check and our insert; SQLite has only one writer.
            tx.query("LOCK TABLE users IN SHARE ROW EXCLUSIVE MODE")
                .execute()
                .await?;
        }
        if tx
            .query(ANY_WITH_PASSWORD)
            .fetch_optional()
            .await?
            .is_some()
        {
            return Err(StoreError::Conflict("admin"));
        }
        let local = tx.query(FIRST_ADMIN).fetch_optional().await?;
        let row = match local {
            Some(local) => {
                let id = local.id("id")?;
                let created_at = local.get("created_at")?;
                let taken_over = NewUser {
                    id,
                    created_at,
                    ..user.clone()
                };
                bind_user(
                    tx.query(TAKE_OVER),
                    &taken_over,
                    UserRole::Admin,
                    AddressProof::Proven,
                )
                .fetch_one()
                .await?
            }
            None => {
                bind_user(
                    tx.query(INSERT),
                    user,
                    UserRole::Admin,
                    AddressProof::Proven,
                )
                .fetch_one()
                .await?
            }
        };
        tx.commit().await?;
        read_user(&row)
    }

    /// Creates an account for a person whose address is known.
    ///
    /// # Errors
    /// `Conflict("email")` if the address is taken, case-insensitively.
    pub async fn create_user(&self, user: &NewUser) -> Result<User, StoreError> {
        self.insert(user, AddressProof::Proven).await
    }

    /// Creates an account for a person who signs up on their own. Nobody has checked the address.
    ///
    /// # Errors
    /// `Conflict("email")` if the address is taken, case-insensitively.
    pub async fn sign_up_user(&self, user: &NewUser) -> Result<User, StoreError> {
        self.insert(user, AddressProof::Unproven).await
    }

    async fn insert(&self, user: &NewUser, proof: AddressProof) -> Result<User, StoreError> {
        let query = bind_user(self.db().write(INSERT), user, user.role, proof);
        made(query.fetch_one().await)
    }

    /// Records that an address belongs to the holder of an account; does nothing if it is not the account's address.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn prove_address(&self, user: UserId, email: &str) -> Result<(), StoreError> {
        let sql = "UPDATE users SET email_unproven = FALSE WHERE id = $1 AND email_key = $2";
        let query = self.db().write(sql).id(user).text(&email.to_lowercase());
        query.execute().await?;
        Ok(())
    }

    /// The account with this id.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user(&self, id: UserId) -> Result<User, StoreError> {
        let sql = "SELECT id, email, name, role, created_at FROM users WHERE id = $1";
        read_user(&self.db().read(sql).id(id).fetch_one().await?)
    }

    /// The account with this address, case-insensitively.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn user_by_email(&self, email: &str) -> Result<UserWithPassword, StoreError> {
        let sql = "SELECT id, email, name, role, created_at, password_hash, suspended_at FROM users \
                   WHERE email_key = $1";
        let row = self
            .db()
            .read(sql)
            .text(&email.to_lowercase())
            .fetch_one()
            .await?;
        let suspended = row.get::<Option<i64>>("suspended_at")?.is_some();
        Ok(UserWithPassword {
            user: read_user(&row)?,
            password_hash: row.get("password_hash")?,
            suspended,
        })
    }

    /// Replaces the hash `old` by another one of the same password; does nothing if the hash is no longer `old`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn replace_password_hash(
        &self,
        user: UserId,
        old: &str,
        new: &str,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE users SET password_hash = $3 WHERE id = $1 AND password_hash = $2";
        self.db()
            .write(sql)
            .id(user)
            .text(old)
            .text(new)
            .execute()
            .await
            .map(drop)
    }

    /// The oldest administrator account.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn first_admin(&self) -> Result<Option<User>, StoreError> {
        self.db()
            .read(FIRST_ADMIN)
            .fetch_optional()
            .await?
            .as_ref()
            .map(read_user)
            .transpose()
    }

    /// Whether any account has a password, and so can be used to sign in.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn has_users(&self) -> Result<bool, StoreError> {
        Ok(self
            .db()
            .read(ANY_WITH_PASSWORD)
            .fetch_optional()
            .await?
            .is_some())
    }
}

/// As [`Store::create_user`].
pub(crate) async fn insert_user(
    tx: &mut Tx,
    user: &NewUser,
    proof: AddressProof,
) -> Result<User, StoreError> {
    let query = bind_user(tx.query(INSERT), user, user.role, proof);
    made(query.fetch_one().await)
}

fn made(row: Result<Row, StoreError>) -> Result<User, StoreError> {
    match row {
        Ok(row) => read_user(&row),
        Err(StoreError::Conflict(_)) => Err(StoreError::Conflict("email")),
        Err(error) => Err(error),
    }
}

fn bind_user<'a>(
    query: Query<'a>,
    user: &NewUser,
    role: UserRole,
    proof: AddressProof,
) -> Query<'a> {
    query
        .id(user.id)
        .text(&user.email)
        .text(&user.email.to_lowercase())
        .text(&user.name)
        .text(role_name(role))
        .text(&user.password_hash)
        .bind(user.created_at)
        .bind(proof == AddressProof::Unproven)
}

/// The stored name of a role.
pub(crate) fn role_name(role: UserRole) -> &'static str {
    match role {
        UserRole::Admin => "admin",
        UserRole::User => "user",
    }
}

/// Reads the column `role`.
pub(crate) fn read_role(row: &Row) -> Result<UserRole, StoreError> {
    match row.get::<String>("role")?.as_str() {
        "admin" => Ok(UserRole::Admin),
        "user" => Ok(UserRole::User),
        other => Err(StoreError::Corrupt(format!("role is {other:?}"))),
    }
}

/// Reads the columns `id, email, name, role, created_at`.
pub(crate) fn read_user(row: &Row) -> Result<User, StoreError> {
    Ok(User {
        id: row.id("id")?,
        email: row.get("email")?,
        name: row.get("name")?,
        role: read_role(row)?,
        created_at: row.get("created_at")?,
    })
}
