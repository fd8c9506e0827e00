//! The audit log of changes to accounts, keys and settings. Entries are only added, and removed after the retention
//! period.

use domain::{ApiKeyId, AuditEntryId, UserId};
use serde_json::{Map, Value};

use crate::{
    Store, StoreError,
    query::{Row, readable},
    search::{earlier_pattern, fold, pattern},
};

/// An entry.
#[derive(Debug, Clone, PartialEq)]
pub struct AuditEntry {
    /// Its id; later ones sort after earlier ones.
    pub id: AuditEntryId,
    /// The time.
    pub at: i64,
    /// The acting user; `None` if not signed in.
    pub actor: Option<UserId>,
    /// Their address at the time.
    pub actor_email: Option<String>,
    /// The API key, if one was used.
    pub key: Option<ApiKeyId>,
    /// The client's IP address.
    pub address: Option<String>,
    /// The request's id.
    pub request: Option<String>,
    /// The action, such as `user.create`.
    pub action: String,
    /// The id or name of the changed object.
    pub subject: Option<String>,
    /// The name of that object at the time.
    pub subject_name: Option<String>,
    /// Details, without secrets.
    pub details: Option<Map<String, Value>>,
}

/// A filter of entries; `None` matches all.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct AuditFilter {
    /// A prefix of the action: `user.` for all changes of accounts.
    pub action: Option<String>,
    /// Words in an address, an action or a changed object; case-insensitive.
    pub text: Option<String>,
    /// From this time on.
    pub from: Option<i64>,
    /// Before this time.
    pub to: Option<i64>,
    /// Only lines older than this one.
    pub before: Option<AuditEntryId>,
}

impl AuditEntry {
    /// The searchable text.
    fn words(&self) -> String {
        let ids = [
            self.actor.map(|id| id.to_string()),
            self.key.map(|id| id.to_string()),
        ];
        let texts = [
            &self.actor_email,
            &self.address,
            &self.request,
            &self.subject,
            &self.subject_name,
        ];
        let texts = texts.into_iter().flatten().chain(ids.iter().flatten());
        texts.fold(self.action.clone(), |words, text| words + "\n" + text)
    }
}

const COLUMNS: &str =
    "id, at, actor, actor_email, key, address, request, action, subject, subject_name, details";
impl Store {
    /// Adds an entry.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn add_to_audit(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let sql = "INSERT INTO audit (id, at, actor, actor_email, key, address, request, action, subject, \
                   subject_name, details, search_text) \
                   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)";
        let query = self
            .db()
            .write(sql)
            .id(entry.id)
            .bind(entry.at)
            .optional_id(entry.actor);
        let query = query
            .optional_text(entry.actor_email.as_deref())
            .optional_id(entry.key);
        let query = query
            .optional_text(entry.address.as_deref())
            .optional_text(entry.request.as_deref());
        let query = query
            .text(&entry.action)
            .optional_text(entry.subject.as_deref());
        let query = query.optional_text(entry.subject_name.as_deref());
        let query = query.optional_json(entry.details.as_ref())?;
        query.text(&fold(&entry.words())).execute().await.map(drop)
    }

    /// The latest matching entries, newest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn audit(
        &self,
        filter: &AuditFilter,
        limit: u32,
    ) -> Result<Vec<AuditEntry>, StoreError> {
        let AuditFilter {
            action,
            text,
            from,
            to,
            before,
        } = filter;
        let mut sql = format!("SELECT {COLUMNS} FROM audit WHERE at >= $1 AND at < $2");
        // Each has a fixed placeholder, used or not, so that the order of values is constant.
        let mut also = |is_used: bool, condition: &str, number: u8| {
            sql += &if is_used {
                format!(" AND {condition}")
            } else {
                format!(" AND ${number} = ''")
            };
        };
        also(before.is_some(), "id < $3", 3);
        also(action.is_some(), r"action LIKE $4 ESCAPE '\'", 4);
        let has_text = r"(search_text LIKE $5 ESCAPE '\' OR search_text LIKE $7 ESCAPE '\')";
        also(text.is_some(), has_text, 5);
        if text.is_none() {
            sql += " AND $7 = ''";
        }
        sql += " ORDER BY id DESC LIMIT $6";
        // A prefix match.
        let action = action
            .as_deref()
            .map(|action| pattern(action)[1..].to_owned());
        let earlier_text = text.as_deref().and_then(earlier_pattern);
        let text = text.as_deref().map(pattern);
        let query = self
            .db()
            .built(sql)
            .bind(from.unwrap_or(i64::MIN))
            .bind(to.unwrap_or(i64::MAX));
        let query = query.text(&before.map(|id| id.to_string()).unwrap_or_default());
        let query = query
            .text(&action.unwrap_or_default())
            .text(&text.unwrap_or_default());
        let query = query
            .bind(i64::from(limit))
            .text(&earlier_text.unwrap_or_default());
        Ok(readable(&query.fetch_all().await?, read))
    }

    /// Removes entries older than `before`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn purge_audit(&self, before: i64) -> Result<u64, StoreError> {
        self.db()
            .write("DELETE FROM audit WHERE at < $1")
            .bind(before)
            .execute()
            .await
    }
}

fn read(row: &Row) -> Result<AuditEntry, StoreError> {
    Ok(AuditEntry {
        id: row.id("id")?,
        at: row.get("at")?,
        actor: row.optional_id("actor")?,
        actor_email: row.get("actor_email")?,
        key: row.optional_id("key")?,
        address: row.get("address")?,
        request: row.get("request")?,
        action: row.get("action")?,
        subject: row.get("subject")?,
        subject_name: row.get("subject_name")?,
        details: row.optional_json("details")?,
    })
}
