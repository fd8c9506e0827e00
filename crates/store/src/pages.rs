//! Snapshots of web pages. A snapshot never changes: a changed page is another snapshot.

use domain::{PageId, UserId};

use crate::{Store, StoreError, query::Row};

/// A snapshot of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its id.
    pub id: PageId,
    /// The owner.
    pub owner: UserId,
    /// The final URL, after redirects.
    pub url: String,
    /// The title.
    pub title: String,
    /// The text, as Markdown if it has headings.
    pub content: String,
    /// The `ETag`.
    pub etag: Option<String>,
    /// The `Last-Modified` date.
    pub last_modified: Option<String>,
    /// When this snapshot was taken.
    pub fetched_at: i64,
    /// When the page was last found unchanged.
    pub checked_at: i64,
}

/// A fetched page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPage {
    /// The requested URL.
    pub asked: String,
    /// The snapshot.
    pub page: Page,
}

const PAGE: &str = "id, owner, url, title, content, etag, last_modified, fetched_at, checked_at";

impl Store {
    /// A snapshot of any owner.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn page(&self, id: PageId) -> Result<Page, StoreError> {
        let sql = format!("SELECT {PAGE} FROM pages WHERE id = $1");
        read_page(&self.db().built(sql).id(id).fetch_one().await?)
    }

    /// A user's latest snapshot of a URL.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn latest_page(
        &self,
        owner: UserId,
        asked: &str,
    ) -> Result<Option<Page>, StoreError> {
        let sql = format!(
            "SELECT {PAGE} FROM pages WHERE owner = $1 AND asked = $2 ORDER BY id DESC LIMIT 1"
        );
        self.db()
            .built(sql)
            .id(owner)
            .text(asked)
            .fetch_optional()
            .await?
            .as_ref()
            .map(read_page)
            .transpose()
    }

    /// Stores a snapshot, or records that the latest one of its URL is unchanged. The owner's oldest snapshots are
    /// deleted if all together exceed `most_bytes`. Returns the stored snapshot.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn keep_page(&self, new: &NewPage, most_bytes: u64) -> Result<Page, StoreError> {
        let NewPage { asked, page } = new;
        if let Some(latest) = self.latest_page(page.owner, asked).await?
            && (&latest.content, &latest.title, &latest.url)
                == (&page.content, &page.title, &page.url)
        {
            let etag = page.etag.clone();
            let last_modified = page.last_modified.clone();
            return self
                .page_is_as_it_was(
                    Page {
                        etag,
                        last_modified,
                        ..latest
                    },
                    page.checked_at,
                )
                .await;
        }
        let mut tx = self.db().begin().await?;
        let sql = "INSERT INTO pages (id, owner, asked, url, title, content, size_bytes, etag, last_modified, fetched_at, \
                   checked_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $10)";
        let query = tx
            .query(sql)
            .id(page.id)
            .id(page.owner)
            .text(asked)
            .text(&page.url)
            .text(&page.title);
        let query = query.text(&page.content).number(page.content.len() as u64);
        let query = query
            .optional_text(page.etag.as_deref())
            .optional_text(page.last_modified.as_deref());
        query.bind(page.fetched_at).execute().await?;
        // Ids are ordered by time: snapshots newer than the limit allows for stay.
        let sql = "DELETE FROM pages WHERE owner = $1 AND id <> $3 AND id <= (SELECT MAX(id) FROM \
                   (SELECT id, SUM(size_bytes * 1.0) OVER (ORDER BY id DESC) AS together FROM pages WHERE owner = $1) AS sums \
                   WHERE together > $2)";
        tx.query(sql)
            .id(page.owner)
            .number(most_bytes)
            .id(page.id)
            .execute()
            .await?;
        tx.commit().await?;
        Ok(Page {
            checked_at: page.fetched_at,
            ..page.clone()
        })
    }

    /// Records that a page is unchanged.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn page_is_as_it_was(&self, page: Page, now: i64) -> Result<Page, StoreError> {
        let sql = "UPDATE pages SET checked_at = $2, etag = $3, last_modified = $4 WHERE id = $1";
        let query = self
            .db()
            .write(sql)
            .id(page.id)
            .bind(now)
            .optional_text(page.etag.as_deref());
        query
            .optional_text(page.last_modified.as_deref())
            .execute()
            .await?;
        Ok(Page {
            checked_at: now,
            ..page
        })
    }
}

fn read_page(row: &Row) -> Result<Page, StoreError> {
    Ok(Page {
        id: row.id("id")?,
        owner: row.id("owner")?,
        url: row.get("url")?,
        title: row.get("title")?,
        content: row.get("content")?,
        etag: row.get("etag")?,
        last_modified: row.get("last_modified")?,
        fetched_at: row.get("fetched_at")?,
        checked_at: row.get("checked_at")?,
    })
}
