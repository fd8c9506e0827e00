//! Crawls: web pages that become documents of a collection, with the queue of URLs. All state is stored, so that
//! another server can continue.

use domain::{CollectionId, CrawlId, DocumentId, UserId};

use crate::{
    Store, StoreError,
    collection_readers::may_read,
    document_readers::may_read_document,
    query::{Row, readable},
};

/// The state of a crawl.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, schemars::JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrawlState {
    /// There may be URLs left.
    Running,
    /// All allowed pages are done.
    Done,
    /// Its owner has cancelled it.
    Cancelled,
}

/// A crawl with its counts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crawl {
    /// Its id.
    pub id: CrawlId,
    /// The target collection.
    pub collection: CollectionId,
    /// The start URL.
    pub url: String,
    /// Maximum number of links from the start; 0 for that page alone.
    pub depth: u64,
    /// Maximum number of pages.
    pub most_pages: u64,
    /// The state.
    pub state: CrawlState,
    /// The creation time.
    pub created_at: i64,
    /// The time of the last change.
    pub updated_at: i64,
    /// The number of queued URLs.
    pub waiting: u64,
    /// The number of pages that became documents.
    pub done: u64,
    /// The number of URLs that failed.
    pub failed: u64,
}

/// A URL of a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawlPage {
    /// Its number, in the order of discovery.
    pub place: u64,
    /// The URL.
    pub url: String,
    /// The number of links from the start.
    pub depth: u64,
    /// The error, if it failed.
    pub problem: Option<String>,
}

/// A document of a crawl.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CrawledPage {
    /// Its collection.
    pub collection: CollectionId,
    /// The document.
    pub document: DocumentId,
    /// The requested URL.
    pub url: String,
}

/// The result of a URL.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Visited {
    /// It is now this document, with this content checksum.
    Done {
        /// The document.
        document: DocumentId,
        /// The checksum of the content.
        content_sum: String,
    },
    /// It was skipped as a duplicate of another URL.
    Skipped,
    /// It failed for this reason.
    Failed(String),
}

const CRAWL: &str = "id, collection, url, depth, most_pages, state, created_at, updated_at, \
    (SELECT COUNT(*) FROM crawl_pages WHERE crawl = crawls.id AND state = 'waiting') AS waiting, \
    (SELECT COUNT(*) FROM crawl_pages WHERE crawl = crawls.id AND state = 'done') AS done, \
    (SELECT COUNT(*) FROM crawl_pages WHERE crawl = crawls.id AND state = 'failed') AS failed";

impl Store {
    /// Starts a crawl into a person's collection with its first URL.
    ///
    /// # Errors
    /// `NotFound` if it is not their collection; `Conflict("crawls")` if `max` of theirs are running.
    pub async fn begin_crawl(
        &self,
        owner: UserId,
        new: &Crawl,
        max: u64,
    ) -> Result<Crawl, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE collections SET updated_at = $3 WHERE id = $1 AND owner = $2";
        tx.query(sql)
            .id(new.collection)
            .id(owner)
            .bind(new.created_at)
            .execute_on_one()
            .await?;
        let sql = "SELECT COUNT(*) AS crawls FROM crawls WHERE state = 'running' \
                   AND collection IN (SELECT id FROM collections WHERE owner = $1)";
        if tx
            .query(sql)
            .id(owner)
            .fetch_one()
            .await?
            .number("crawls")?
            >= max
        {
            return Err(StoreError::Conflict("crawls"));
        }
        let sql = "INSERT INTO crawls (id, collection, url, depth, most_pages, state, claimed_until, created_at, updated_at) \
                   VALUES ($1, $2, $3, $4, $5, 'running', 0, $6, $6)";
        let query = tx
            .query(sql)
            .id(new.id)
            .id(new.collection)
            .text(&new.url)
            .number(new.depth);
        query
            .number(new.most_pages)
            .bind(new.created_at)
            .execute()
            .await?;
        let sql = "INSERT INTO crawl_pages (crawl, place, url, depth, state) VALUES ($1, 0, $2, 0, 'waiting')";
        tx.query(sql).id(new.id).text(&new.url).execute().await?;
        tx.commit().await?;
        self.crawl(new.id).await
    }

    /// A crawl.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn crawl(&self, id: CrawlId) -> Result<Crawl, StoreError> {
        let sql = format!("SELECT {CRAWL} FROM crawls WHERE id = $1");
        read_crawl(&self.db().built(sql).id(id).fetch_one().await?)
    }

    /// A collection's crawls without dismissed ones, latest first, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn crawls(
        &self,
        collection: CollectionId,
        limit: u32,
    ) -> Result<Vec<Crawl>, StoreError> {
        let sql = format!(
            "SELECT {CRAWL} FROM crawls WHERE collection = $1 AND dismissed_at IS NULL ORDER BY id DESC LIMIT $2"
        );
        let query = self.db().built(sql).id(collection).bind(i64::from(limit));
        Ok(readable(&query.fetch_all().await?, read_crawl))
    }

    /// The failed URLs of a crawl, at most `limit`.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn failed_pages(
        &self,
        crawl: CrawlId,
        limit: u32,
    ) -> Result<Vec<CrawlPage>, StoreError> {
        let sql = "SELECT place, url, depth, problem FROM crawl_pages WHERE crawl = $1 AND state = 'failed' \
                   ORDER BY place LIMIT $2";
        let rows = self
            .db()
            .read(sql)
            .id(crawl)
            .bind(i64::from(limit))
            .fetch_all()
            .await?;
        Ok(readable(&rows, read_page))
    }

    /// Cancels a crawl; its documents stay.
    ///
    /// # Errors
    /// `NotFound` if it is not in that collection of theirs, or is not running.
    pub async fn cancel_crawl(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: CrawlId,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE crawls SET state = 'cancelled', updated_at = $4 WHERE id = $1 AND collection = $2 \
                   AND state = 'running' AND collection IN (SELECT id FROM collections WHERE owner = $3)";
        self.db()
            .write(sql)
            .id(id)
            .id(collection)
            .id(owner)
            .bind(now)
            .execute_on_one()
            .await
    }

    /// Removes a finished crawl from the list. It stays stored, as the source of its documents.
    ///
    /// # Errors
    /// `NotFound` if it is not in that collection of theirs, is not listed, or is still running.
    pub async fn dismiss_crawl(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: CrawlId,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE crawls SET dismissed_at = $4 WHERE id = $1 AND collection = $2 AND state <> 'running' \
                   AND dismissed_at IS NULL AND collection IN (SELECT id FROM collections WHERE owner = $3)";
        self.db()
            .write(sql)
            .id(id)
            .id(collection)
            .id(owner)
            .bind(now)
            .execute_on_one()
            .await
    }

    /// Resumes and lists a finished crawl, with its queued and failed URLs.
    ///
    /// # Errors
    /// `NotFound` if it is not in that collection of theirs, or is still running.
    pub async fn go_on_crawling(
        &self,
        owner: UserId,
        collection: CollectionId,
        id: CrawlId,
        now: i64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE crawls SET state = 'running', claimed_until = 0, updated_at = $4, dismissed_at = NULL \
                   WHERE id = $1 AND collection = $2 AND state <> 'running' AND collection IN (SELECT id FROM collections WHERE owner = $3)";
        tx.query(sql)
            .id(id)
            .id(collection)
            .id(owner)
            .bind(now)
            .execute_on_one()
            .await?;
        let sql = "UPDATE crawl_pages SET state = 'waiting', problem = NULL WHERE crawl = $1 AND state = 'failed'";
        tx.query(sql).id(id).execute().await?;
        tx.commit().await
    }

    /// Claims a running crawl until `until` whose start URL is `wanted`; returns it with the owner of its collection.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn claim_crawl(
        &self,
        now: i64,
        until: i64,
        wanted: impl Fn(&str) -> bool,
    ) -> Result<Option<(Crawl, UserId)>, StoreError> {
        // The one that has waited longest, so that several take turns.
        let sql = "SELECT crawls.id, url, owner FROM crawls JOIN collections ON collections.id = collection \
                   WHERE state = 'running' AND claimed_until <= $1 ORDER BY crawls.updated_at, crawls.id LIMIT 1000";
        for row in &self.db().read(sql).bind(now).fetch_all().await? {
            if !wanted(&row.get::<String>("url")?) {
                continue;
            }
            let id: CrawlId = row.id("id")?;
            let sql = "UPDATE crawls SET claimed_until = $3, updated_at = $2 \
                       WHERE id = $1 AND state = 'running' AND claimed_until <= $2";
            if self
                .db()
                .write(sql)
                .id(id)
                .bind(now)
                .bind(until)
                .execute()
                .await?
                == 0
            {
                continue;
            }
            match self.crawl(id).await {
                // It was just deleted.
                Err(StoreError::NotFound) => {}
                crawl => return Ok(Some((crawl?, row.id("owner")?))),
            }
        }
        Ok(None)
    }

    /// The next URL of a crawl.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn next_to_crawl(&self, id: CrawlId) -> Result<Option<CrawlPage>, StoreError> {
        let sql = "SELECT place, url, depth, problem FROM crawl_pages WHERE crawl = $1 AND state = 'waiting' \
                   ORDER BY place LIMIT 1";
        self.db()
            .read(sql)
            .id(id)
            .fetch_optional()
            .await?
            .as_ref()
            .map(read_page)
            .transpose()
    }

    /// Whether a URL of a crawl became a document with this content checksum.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn has_crawled(&self, id: CrawlId, content_sum: &str) -> Result<bool, StoreError> {
        let sql = "SELECT place FROM crawl_pages WHERE crawl = $1 AND content_sum = $2 LIMIT 1";
        Ok(self
            .db()
            .read(sql)
            .id(id)
            .text(content_sum)
            .fetch_optional()
            .await?
            .is_some())
    }

    /// The documents from crawls that a user may read, the latest crawl of one last.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn crawled_pages(&self, reader: UserId) -> Result<Vec<CrawledPage>, StoreError> {
        let sql = format!(
            "SELECT crawls.collection, crawl_pages.document, crawl_pages.url FROM crawl_pages \
             JOIN crawls ON crawls.id = crawl_pages.crawl \
             JOIN documents ON documents.id = crawl_pages.document \
             JOIN collections ON collections.id = crawls.collection \
             WHERE {} AND {} AND NOT collections.attached ORDER BY crawls.id, crawl_pages.place",
            may_read("$1"),
            may_read_document("$1")
        );
        let read = |row: &Row| {
            let collection = row.id("collection")?;
            let document = row.id("document")?;
            Ok(CrawledPage {
                collection,
                document,
                url: row.get("url")?,
            })
        };
        Ok(readable(
            &self.db().built(sql).id(reader).fetch_all().await?,
            read,
        ))
    }

    /// Records the result of a URL, and queues its links at one more level. Known URLs are not queued again, and at
    /// most `max` in total.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn settle_crawled(
        &self,
        id: CrawlId,
        page: &CrawlPage,
        visited: &Visited,
        links: &[String],
        max: u64,
    ) -> Result<(), StoreError> {
        let mut tx = self.db().begin().await?;
        let (state, problem, is_now) = match visited {
            Visited::Done {
                document,
                content_sum,
            } => ("done", None, Some((document, content_sum))),
            Visited::Skipped => ("skipped", None, None),
            Visited::Failed(problem) => ("failed", Some(problem.as_str()), None),
        };
        let sql = "UPDATE crawl_pages SET state = $3, problem = $4, document = $5, content_sum = $6 \
                   WHERE crawl = $1 AND place = $2";
        let query = tx
            .query(sql)
            .id(id)
            .number(page.place)
            .text(state)
            .optional_text(problem);
        let query = query.optional_id(is_now.map(|(document, _)| document));
        query
            .optional_text(is_now.map(|(_, sum)| sum.as_str()))
            .execute()
            .await?;
        if !links.is_empty() {
            let sql = "SELECT MAX(place) AS last FROM crawl_pages WHERE crawl = $1";
            let mut place = tx.query(sql).id(id).fetch_one().await?.number("last")?;
            for link in links {
                if place + 1 >= max {
                    break;
                }
                let sql = "INSERT INTO crawl_pages (crawl, place, url, depth, state) VALUES ($1, $2, $3, $4, 'waiting') \
                           ON CONFLICT (crawl, url) DO NOTHING";
                let query = tx
                    .query(sql)
                    .id(id)
                    .number(place + 1)
                    .text(link)
                    .number(page.depth + 1);
                place += query.execute().await?;
            }
        }
        tx.commit().await
    }

    /// Releases a crawl to be continued; or marks it as done.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn leave_crawl(
        &self,
        id: CrawlId,
        is_done: bool,
        now: i64,
    ) -> Result<(), StoreError> {
        let sql = "UPDATE crawls SET claimed_until = 0, updated_at = $3, \
                   state = CASE WHEN state = 'running' AND $2 THEN 'done' ELSE state END WHERE id = $1";
        self.db()
            .write(sql)
            .id(id)
            .bind(is_done)
            .bind(now)
            .execute()
            .await?;
        Ok(())
    }
}

fn read_crawl(row: &Row) -> Result<Crawl, StoreError> {
    let state = match row.get::<String>("state")?.as_str() {
        "running" => CrawlState::Running,
        "done" => CrawlState::Done,
        "cancelled" => CrawlState::Cancelled,
        other => return Err(StoreError::Corrupt(format!("a crawl's state is {other}"))),
    };
    Ok(Crawl {
        id: row.id("id")?,
        collection: row.id("collection")?,
        url: row.get("url")?,
        depth: row.number("depth")?,
        most_pages: row.number("most_pages")?,
        state,
        created_at: row.get("created_at")?,
        updated_at: row.get("updated_at")?,
        waiting: row.number("waiting")?,
        done: row.number("done")?,
        failed: row.number("failed")?,
    })
}

fn read_page(row: &Row) -> Result<CrawlPage, StoreError> {
    let place = row.number("place")?;
    let depth = row.number("depth")?;
    Ok(CrawlPage {
        place,
        depth,
        url: row.get("url")?,
        problem: row.get("problem")?,
    })
}
