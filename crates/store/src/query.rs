//! A statement builder for both databases: `db.read("…").bind(x).fetch_all()`.

use std::{cell::RefCell, fmt::Display, sync::Arc, time::Duration};

use serde::{Serialize, de::DeserializeOwned};
use sqlx::{
    AssertSqlSafe, Database, Decode, Encode, Executor, IntoArguments, Postgres, Row as _, Sqlite,
    Type, database::HasStatementCache, postgres::PgRow, query::Query as Prepared,
    sqlite::SqliteRow,
};

use crate::{
    StoreError,
    pool::{Pool, PooledConnection, within},
    transaction::Transaction,
};

/// A statement with its values and its connection. Placeholders are `$1`, `$2` … on both.
pub(crate) enum Query<'a> {
    Sqlite(
        Prepared<'static, Sqlite, <Sqlite as Database>::Arguments>,
        On<'a, Sqlite>,
    ),
    Postgres(
        Prepared<'static, Postgres, <Postgres as Database>::Arguments>,
        On<'a, Postgres>,
    ),
}

/// Where a statement runs, and for how long at most.
pub(crate) struct On<'a, DB: Database> {
    connection: Connection<'a, DB>,
    /// A limit other than the usual one of the pool.
    limit: Option<Duration>,
    /// The size of the values.
    bytes: usize,
}

/// Any free connection, or that of a transaction.
enum Connection<'a, DB: Database> {
    Any(&'a Pool<DB>),
    Tx(&'a mut PooledConnection<DB>),
}

impl<'a, DB: Database> On<'a, DB> {
    /// This SQL on any free connection.
    pub(crate) fn any(pool: &'a Pool<DB>, sql: &str) -> Self {
        Self {
            connection: Connection::Any(pool),
            limit: limit_of(sql),
            bytes: 0,
        }
    }

    fn tx(pooled: &'a mut PooledConnection<DB>, sql: &str) -> Self {
        Self {
            connection: Connection::Tx(pooled),
            limit: limit_of(sql),
            bytes: 0,
        }
    }

    /// Whether the statement is a transaction by itself.
    fn is_single(&self) -> bool {
        matches!(self.connection, Connection::Any(_))
    }

    fn with_more(self, bytes: usize) -> Self {
        let bytes = self.bytes + bytes;
        Self { bytes, ..self }
    }

    /// The connection; one that is borrowed for this statement is kept in `free` and returned from there.
    async fn pooled(
        self,
        free: &'a mut Option<PooledConnection<DB>>,
    ) -> Result<&'a mut PooledConnection<DB>, sqlx::Error> {
        match self.connection {
            Connection::Any(pool) => Ok(free.insert(pool.acquire().await?)),
            Connection::Tx(pooled) => Ok(pooled),
        }
    }
}

/// The limit of a deletion, which includes everything that belongs to the row, and of a new index.
const LONG: Duration = Duration::from_secs(5 * 60);

fn limit_of(sql: &str) -> Option<Duration> {
    ["DELETE", "CREATE INDEX"]
        .iter()
        .any(|start| sql.starts_with(start))
        .then_some(LONG)
}

impl Query<'_> {
    /// Lets the database take that long to answer, instead of the usual limit.
    pub(crate) fn within(self, limit: Duration) -> Self {
        let limit = Some(limit);
        match self {
            Self::Sqlite(query, on) => Self::Sqlite(query, On { limit, ..on }),
            Self::Postgres(query, on) => Self::Postgres(query, On { limit, ..on }),
        }
    }

    /// Binds the next placeholder. For text use [`Query::text`] or [`Query::id`].
    pub(crate) fn bind<'t, T>(self, value: T) -> Self
    where
        T: Encode<'t, Sqlite> + Type<Sqlite> + Encode<'t, Postgres> + Type<Postgres>,
    {
        match self {
            Self::Sqlite(query, on) => Self::Sqlite(query.bind(value), on),
            Self::Postgres(query, on) => Self::Postgres(query.bind(value), on),
        }
    }

    /// Binds text. U+0000, which PostgreSQL cannot store, becomes U+FFFD on both databases.
    pub(crate) fn text(self, text: &str) -> Self {
        let query = self.noting(text.len());
        match text.contains('\0') {
            true => query.bind(storable(text)),
            false => query.bind(text),
        }
    }

    /// Binds a long shared text without copying.
    pub(crate) fn shared_text(self, text: &Arc<str>) -> Self {
        let query = self.noting(text.len());
        match text.contains('\0') {
            true => query.bind(storable(text)),
            false => query.bind(Arc::clone(text)),
        }
    }

    /// Binds the content of a file.
    pub(crate) fn file(self, content: &[u8]) -> Self {
        self.noting(content.len()).bind(content)
    }

    /// Adds to the size of the values, for which the database has more time.
    fn noting(self, bytes: usize) -> Self {
        match self {
            Self::Sqlite(query, on) => Self::Sqlite(query, on.with_more(bytes)),
            Self::Postgres(query, on) => Self::Postgres(query, on.with_more(bytes)),
        }
    }

    /// Binds an optional text.
    pub(crate) fn optional_text(self, text: Option<&str>) -> Self {
        match text {
            Some(text) => self.text(text),
            None => self.bind(None::<&str>),
        }
    }

    /// Binds an id as its text.
    pub(crate) fn id(self, id: impl Display) -> Self {
        self.bind(id.to_string())
    }

    /// Binds an optional id.
    pub(crate) fn optional_id(self, id: Option<impl Display>) -> Self {
        self.bind(id.map(|id| id.to_string()))
    }

    /// Binds a count or position; databases have signed numbers only, and ours are far below the maximum.
    pub(crate) fn number(self, number: u64) -> Self {
        self.bind(i64::try_from(number).unwrap_or(i64::MAX))
    }

    /// Binds a list of texts. SQLite has no lists: there the statement fails.
    pub(crate) fn texts(self, texts: Vec<String>) -> Self {
        match self {
            Self::Sqlite(..) => self,
            Self::Postgres(query, on) => Self::Postgres(query.bind(texts), on),
        }
    }

    /// Binds a list of counts or positions. SQLite has no lists: there the statement fails.
    pub(crate) fn numbers(self, numbers: Vec<u64>) -> Self {
        match self {
            Self::Sqlite(..) => self,
            Self::Postgres(query, on) => {
                let signed = numbers
                    .into_iter()
                    .map(|number| i64::try_from(number).unwrap_or(i64::MAX));
                Self::Postgres(query.bind(signed.collect::<Vec<i64>>()), on)
            }
        }
    }

    /// Binds a value as JSON text.
    pub(crate) fn json<T: Serialize + ?Sized>(self, value: &T) -> Result<Self, StoreError> {
        Ok(self.bind(to_json(value)?))
    }

    /// Binds an optional value as JSON text.
    pub(crate) fn optional_json<T: Serialize>(self, value: Option<&T>) -> Result<Self, StoreError> {
        match value {
            Some(value) => self.json(value),
            None => Ok(self.bind(None::<&str>)),
        }
    }

    /// Executes it; returns the number of changed rows.
    pub(crate) async fn execute(self) -> Result<u64, StoreError> {
        Ok(match self {
            Self::Sqlite(query, on) => execute(query, on).await?.rows_affected(),
            Self::Postgres(query, on) => execute(query, on).await?.rows_affected(),
        })
    }

    /// Executes it on exactly one row: `NotFound` if it changed none.
    pub(crate) async fn execute_on_one(self) -> Result<(), StoreError> {
        match self.execute().await? {
            0 => Err(StoreError::NotFound),
            _ => Ok(()),
        }
    }

    /// Executes it; returns all rows.
    pub(crate) async fn fetch_all(self) -> Result<Vec<Row>, StoreError> {
        Ok(match self {
            Self::Sqlite(query, on) => fetch_all(query, on)
                .await?
                .into_iter()
                .map(Row::Sqlite)
                .collect(),
            Self::Postgres(query, on) => fetch_all(query, on)
                .await?
                .into_iter()
                .map(Row::Postgres)
                .collect(),
        })
    }

    /// Executes it; returns one row or none.
    pub(crate) async fn fetch_optional(self) -> Result<Option<Row>, StoreError> {
        Ok(self.fetch_all().await?.pop())
    }

    /// Executes it; returns its row, or `NotFound` if there is none.
    pub(crate) async fn fetch_one(self) -> Result<Row, StoreError> {
        self.fetch_optional().await?.ok_or(StoreError::NotFound)
    }
}

/// The text in its stored form: without U+0000.
pub(crate) fn storable(text: &str) -> String {
    text.replace('\0', "\u{fffd}")
}

/// The same for a value with a text of about this many bytes: reallocation would leave as much garbage.
pub(crate) fn long_json<T: Serialize + ?Sized>(
    value: &T,
    text_bytes: usize,
) -> Result<Arc<str>, StoreError> {
    let mut json = Vec::with_capacity(text_bytes + text_bytes / 16 + JSON_AROUND_BYTES);
    serde_json::to_writer(&mut json, value)
        .map_err(|error| StoreError::Corrupt(error.to_string()))?;
    let json = str::from_utf8(&json).map_err(|error| StoreError::Corrupt(error.to_string()))?;
    Ok(json.into())
}

/// The approximate size of the JSON around a long text, bytes.
const JSON_AROUND_BYTES: usize = 512;

/// A value as JSON text.
pub(crate) fn to_json<T: Serialize + ?Sized>(value: &T) -> Result<String, StoreError> {
    serde_json::to_string(value).map_err(|error| StoreError::Corrupt(error.to_string()))
}

async fn execute<DB>(
    query: Prepared<'static, DB, DB::Arguments>,
    on: On<'_, DB>,
) -> Result<DB::QueryResult, sqlx::Error>
where
    DB: Database + HasStatementCache,
    DB::Arguments: IntoArguments<DB>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let (own, bytes, is_single, mut free) = (on.limit, on.bytes, on.is_single(), None);
    let pooled = on.pooled(&mut free).await?;
    let limit = pooled.limit(own, bytes);
    let query = kept_if_possible(query, pooled);
    let begin = pooled.begin().filter(|_| is_single);
    let connection = pooled.connection()?;
    let statement = async {
        begin_alone::<DB>(connection, begin).await?;
        let outcome = query.execute(&mut *connection).await;
        end_alone::<DB, _>(connection, begin, outcome).await
    };
    let (asked, outcome) = within(limit, statement).await;
    pooled.note(asked, outcome)
}

async fn fetch_all<DB>(
    query: Prepared<'static, DB, DB::Arguments>,
    on: On<'_, DB>,
) -> Result<Vec<DB::Row>, sqlx::Error>
where
    DB: Database + HasStatementCache,
    DB::Arguments: IntoArguments<DB>,
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    let (own, bytes, is_single, mut free) = (on.limit, on.bytes, on.is_single(), None);
    let pooled = on.pooled(&mut free).await?;
    let limit = pooled.limit(own, bytes);
    let query = kept_if_possible(query, pooled);
    let begin = pooled.begin().filter(|_| is_single);
    let connection = pooled.connection()?;
    let statement = async {
        begin_alone::<DB>(connection, begin).await?;
        let outcome = query.fetch_all(&mut *connection).await;
        end_alone::<DB, _>(connection, begin, outcome).await
    };
    let (asked, outcome) = within(limit, statement).await;
    pooled.note(asked, outcome)
}

/// Keeps no statement prepared in a session that others use next.
fn kept_if_possible<DB: Database + HasStatementCache>(
    query: Prepared<'static, DB, DB::Arguments>,
    pooled: &PooledConnection<DB>,
) -> Prepared<'static, DB, DB::Arguments> {
    match pooled.begin() {
        None => query,
        Some(_) => query.persistent(false),
    }
}

/// Begins a transaction around a single statement: a pooler could give its parts to different sessions.
async fn begin_alone<DB: Database>(
    connection: &mut DB::Connection,
    begin: Option<&'static str>,
) -> Result<(), sqlx::Error>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    if let Some(begin) = begin {
        connection.execute(begin).await?;
    }
    Ok(())
}

/// Ends it.
async fn end_alone<DB: Database, T>(
    connection: &mut DB::Connection,
    begin: Option<&'static str>,
    outcome: Result<T, sqlx::Error>,
) -> Result<T, sqlx::Error>
where
    for<'c> &'c mut DB::Connection: Executor<'c, Database = DB>,
{
    if begin.is_some() {
        let end = if outcome.is_ok() {
            "COMMIT"
        } else {
            "ROLLBACK"
        };
        connection.execute(end).await?;
    }
    outcome
}

/// A read-write transaction. Dropped without [`Tx::commit`], it rolls back.
pub(crate) enum Tx {
    Sqlite(Transaction<Sqlite>),
    Postgres(Transaction<Postgres>),
}

impl Tx {
    /// A statement inside the transaction.
    pub(crate) fn query(&mut self, sql: &'static str) -> Query<'_> {
        match self {
            Self::Sqlite(tx) => Query::Sqlite(sqlx::query(sql), On::tx(tx.pooled(), sql)),
            Self::Postgres(tx) => Query::Postgres(sqlx::query(sql), On::tx(tx.pooled(), sql)),
        }
    }

    /// A statement inside the transaction, with SQL built from constant pieces and placeholders.
    pub(crate) fn built(&mut self, sql: String) -> Query<'_> {
        match self {
            Self::Sqlite(tx) => {
                let on = On::tx(tx.pooled(), &sql);
                Query::Sqlite(sqlx::query(AssertSqlSafe(sql)).persistent(false), on)
            }
            Self::Postgres(tx) => {
                let on = On::tx(tx.pooled(), &sql);
                Query::Postgres(sqlx::query(AssertSqlSafe(sql)).persistent(false), on)
            }
        }
    }

    pub(crate) async fn commit(self) -> Result<(), StoreError> {
        match self {
            Self::Sqlite(tx) => tx.commit().await?,
            Self::Postgres(tx) => tx.commit().await?,
        }
        Ok(())
    }
}

/// A row of either database.
pub(crate) enum Row {
    Sqlite(SqliteRow),
    Postgres(PgRow),
}

impl Row {
    /// A column's value, unchanged.
    pub(crate) fn get<T>(&self, column: &'static str) -> Result<T, StoreError>
    where
        T: for<'r> Decode<'r, Sqlite>
            + Type<Sqlite>
            + for<'r> Decode<'r, Postgres>
            + Type<Postgres>,
    {
        Ok(match self {
            Self::Sqlite(row) => row.try_get(column)?,
            Self::Postgres(row) => row.try_get(column)?,
        })
    }

    /// A count or position.
    pub(crate) fn number(&self, column: &'static str) -> Result<u64, StoreError> {
        let number = match self {
            // SQLite stores a REAL in any column; one that is integral is accepted.
            Self::Sqlite(row) => row.try_get::<i64, _>(column).or_else(|error| {
                let real: f64 = row.try_get(column).map_err(|_| error)?;
                #[expect(clippy::cast_possible_truncation, reason = "a float cast saturates")]
                let number = real as i64;
                Ok::<_, sqlx::Error>(number)
            })?,
            Self::Postgres(row) => row.try_get(column)?,
        };
        u64::try_from(number).map_err(|_| corrupt(column, "is negative"))
    }

    /// An id, or another parsed text.
    pub(crate) fn id<T: std::str::FromStr<Err: Display>>(
        &self,
        column: &'static str,
    ) -> Result<T, StoreError> {
        self.get::<String>(column)?
            .parse()
            .map_err(|error| corrupt(column, error))
    }

    /// An optional id.
    pub(crate) fn optional_id<T: std::str::FromStr<Err: Display>>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let text = self.get::<Option<String>>(column)?;
        text.map(|text| text.parse().map_err(|error| corrupt(column, error)))
            .transpose()
    }

    /// A value stored as JSON.
    pub(crate) fn json<T: DeserializeOwned>(&self, column: &'static str) -> Result<T, StoreError> {
        let text = self.get::<String>(column)?;
        serde_json::from_str(&text).map_err(|error| corrupt(column, error))
    }

    /// An optional value stored as JSON.
    pub(crate) fn optional_json<T: DeserializeOwned>(
        &self,
        column: &'static str,
    ) -> Result<Option<T>, StoreError> {
        let text = self.get::<Option<String>>(column)?;
        text.map(|text| serde_json::from_str(&text).map_err(|error| corrupt(column, error)))
            .transpose()
    }
}

tokio::task_local! {
    /// The damaged rows that were left out, if requested.
    static LEFT_OUT: RefCell<Vec<StoreError>>;
}

/// Runs an operation of the store; also returns the rows that it left out because they are damaged.
pub async fn noting_damage<T>(asking: impl Future<Output = T>) -> (T, Vec<StoreError>) {
    LEFT_OUT
        .scope(RefCell::default(), async {
            let answer = asking.await;
            (answer, LEFT_OUT.with(RefCell::take))
        })
        .await
}

/// The readable rows. The others are left out and logged: one damaged value is no reason to refuse the rest of a list.
/// Not for rows that forbid something.
pub(crate) fn readable<T>(rows: &[Row], read: impl Fn(&Row) -> Result<T, StoreError>) -> Vec<T> {
    let mut found = Vec::with_capacity(rows.len());
    for row in rows {
        match read(row) {
            Ok(row) => found.push(row),
            Err(error) => {
                let which = row
                    .get::<String>("id")
                    .map_or_else(|_| String::new(), |id| format!("{id}: "));
                let error = StoreError::Corrupt(format!("{which}{error}"));
                tracing::error!(%error, "left a damaged row out of a list");
                // Outside of `noting_damage`.
                _ = LEFT_OUT.try_with(|left_out| left_out.borrow_mut().push(error));
            }
        }
    }
    found
}

fn corrupt(column: &str, what: impl Display) -> StoreError {
    StoreError::Corrupt(format!("column {column}: {what}"))
}
