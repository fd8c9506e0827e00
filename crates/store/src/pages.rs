//! Copies of pages of the web, as they were read. A copy never changes: a page that has changed is another copy.

use domain::{PageId, UserId};

use crate::{Store, StoreError, query::Row};

/// A copy of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Its id.
    pub id: PageId,
    /// For whom it was read.
    pub owner: UserId,
    /// Where it came from, after redirects.
    pub url: String,
    /// What it calls itself.
    pub title: String,
    /// Its text, Markdown where it has headings.
    pub content: String,
    /// What its server calls this state of it.
    pub etag: Option<String>,
    /// When its server says that it changed.
    pub last_modified: Option<String>,
    /// When this copy was made.
    pub fetched_at: i64,
    /// When the page was last found to be as the copy.
    pub checked_at: i64,
}

/// A page that was read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewPage {
    /// The address that was asked for.
    pub asked: String,
    /// The copy.
    pub page: Page,
}

const PAGE: &str = "id, owner, url, title, content, etag, last_modified, fetched_at, checked_at";

impl Store {
    /// A copy, whoever it was made for.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn page(&self, id: PageId) -> Result<Page, StoreError> {
        let sql = format!("SELECT {PAGE} FROM pages WHERE id = $1");
        read_page(&self.db().built(sql).id(id).fetch_one().await?)
    }

    /// The latest copy that somebody has of an address.
    ///
    /// # Errors
    /// Only those of the database.
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

    /// Keeps a copy, or notes that the latest one of its address is as the page is now. The oldest copies of its owner go
    /// where all together would have more than `most_bytes`. Returns the copy that is kept.
    ///
    /// # Errors
    /// Only those of the database.
    pub async fn keep_page(&self, new: &NewPage, most_bytes: u64) -> Result<Page, StoreError> {
        let NewPage { asked, page } = new;
        if let Some(latest) = self.latest_page(page.owner, asked).await?
            && (&latest.content, &latest.title, &latest.url)
                == (&page.content, &page.title, &page.url)
        {
            let (etag, last_modified) = (page.etag.clone(), page.last_modified.clone());
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
        // Ids are ordered by time: what is as new as this or newer than what fits stays.
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

    /// Notes that a page is still as its copy.
    ///
    /// # Errors
    /// Only those of the database.
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
