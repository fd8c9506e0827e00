//! Credentials of people for MCP servers, and OAuth sign-ins in progress. All of it is encrypted: this crate cannot
//! read it.

use domain::UserId;

use crate::{Store, StoreError};

/// A pending sign-in.
#[derive(Debug, Clone, PartialEq)]
pub struct McpSignIn {
    /// SHA-256 of the OAuth state.
    pub state_hash: [u8; 32],
    /// The person.
    pub owner: UserId,
    /// The name of the server.
    pub server: String,
    /// The data to complete it, encrypted.
    pub sealed: Vec<u8>,
    /// The expiry time.
    pub expires_at: i64,
}

impl Store {
    /// A person's credential for a server; `None` if not signed in.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn mcp_credential(
        &self,
        owner: UserId,
        server: &str,
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed FROM mcp_credentials WHERE owner = $1 AND server = $2";
        let row = self
            .db()
            .read(sql)
            .id(owner)
            .text(server)
            .fetch_optional()
            .await?;
        row.map(|row| row.get("sealed")).transpose()
    }

    /// Stores a credential, replacing an earlier one.
    ///
    /// # Errors
    /// `NotFound` if the person is gone.
    pub async fn put_mcp_credential(
        &self,
        owner: UserId,
        server: &str,
        sealed: &[u8],
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "INSERT INTO mcp_credentials (owner, server, sealed, changed_at) VALUES ($1, $2, $3, $4) \
                   ON CONFLICT (owner, server) DO UPDATE \
                   SET sealed = excluded.sealed, changed_at = excluded.changed_at";
        let query = self
            .db()
            .write(sql)
            .id(owner)
            .text(server)
            .bind(sealed)
            .bind(now);
        query.execute().await.map(drop)
    }

    /// Replaces `old` by `new`; returns false if `old` is gone. So a sign-out and another server's change are kept.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn replace_mcp_credential(
        &self,
        owner: UserId,
        server: &str,
        old: &[u8],
        new: &[u8],
        now: i64,
    ) -> Result<bool, StoreError> {
        let sql = "UPDATE mcp_credentials SET sealed = $4, changed_at = $5 \
                   WHERE owner = $1 AND server = $2 AND sealed = $3";
        let query = self
            .db()
            .write(sql)
            .id(owner)
            .text(server)
            .bind(old)
            .bind(new)
            .bind(now);
        Ok(query.execute().await? == 1)
    }

    /// Deletes a credential, if there is one.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn delete_mcp_credential(
        &self,
        owner: UserId,
        server: &str,
    ) -> Result<(), StoreError> {
        let sql = "DELETE FROM mcp_credentials WHERE owner = $1 AND server = $2";
        self.db()
            .write(sql)
            .id(owner)
            .text(server)
            .execute()
            .await
            .map(drop)
    }

    /// Our client registration at a server; `None` if there is none.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn mcp_client(&self, server: &str) -> Result<Option<Vec<u8>>, StoreError> {
        let sql = "SELECT sealed FROM mcp_clients WHERE server = $1";
        let row = self.db().read(sql).text(server).fetch_optional().await?;
        row.map(|row| row.get("sealed")).transpose()
    }

    /// Stores our client registration, replacing an earlier one; deletes it if `sealed` is `None`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn put_mcp_client(
        &self,
        server: &str,
        sealed: Option<&[u8]>,
    ) -> Result<(), StoreError> {
        let Some(sealed) = sealed else {
            let sql = "DELETE FROM mcp_clients WHERE server = $1";
            return self.db().write(sql).text(server).execute().await.map(drop);
        };
        let sql = "INSERT INTO mcp_clients (server, sealed) VALUES ($1, $2) \
                   ON CONFLICT (server) DO UPDATE SET sealed = excluded.sealed";
        self.db()
            .write(sql)
            .text(server)
            .bind(sealed)
            .execute()
            .await
            .map(drop)
    }

    /// Starts a sign-in, and deletes expired ones.
    ///
    /// # Errors
    /// `NotFound` if the person is gone, `Conflict("limit")` if they already have `max` pending ones.
    pub async fn begin_mcp_sign_in(
        &self,
        begun: &McpSignIn,
        max: u32,
        now: i64,
    ) -> Result<(), StoreError> {
        self.db()
            .write("DELETE FROM mcp_sign_ins WHERE expires_at <= $1")
            .bind(now)
            .execute()
            .await?;
        let sql = "INSERT INTO mcp_sign_ins (state_hash, owner, server, sealed, expires_at) \
                   SELECT $1, $2, $3, $4, $5 \
                   WHERE (SELECT count(*) FROM mcp_sign_ins WHERE owner = $2) < $6";
        let query = self
            .db()
            .write(sql)
            .bind(&begun.state_hash[..])
            .id(begun.owner)
            .text(&begun.server);
        let query = query
            .bind(&begun.sealed[..])
            .bind(begun.expires_at)
            .bind(i64::from(max));
        match query.execute().await? {
            0 => Err(StoreError::Conflict("limit")),
            _ => Ok(()),
        }
    }

    /// Removes and returns a pending sign-in of this person, so that it is completed once: its server and data.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn take_mcp_sign_in(
        &self,
        state_hash: &[u8; 32],
        owner: UserId,
        now: i64,
    ) -> Result<Option<(String, Vec<u8>)>, StoreError> {
        let sql = "DELETE FROM mcp_sign_ins WHERE state_hash = $1 AND owner = $2 AND expires_at > $3 \
                   RETURNING server, sealed";
        let row = self
            .db()
            .write(sql)
            .bind(&state_hash[..])
            .id(owner)
            .bind(now)
            .fetch_optional()
            .await?;
        row.map(|row| Ok((row.get("server")?, row.get("sealed")?)))
            .transpose()
    }
}
