//! The usage ledger: model usage, added up by day, account, model, key and person. A run's usage is stored together
//! with its position in the run's log, so that it counts once despite crashes.

use std::{
    collections::{BTreeMap, BTreeSet},
    fmt::Write as _,
};

use domain::{ApiKeyId, GroupId, RunId, TokenCount, Usage, UserId};

use crate::{
    Principal, Store, StoreError,
    db::Db,
    query::{Row, Tx, readable},
    sums::{MAX_COUNTER, add_excluded, sum},
};

/// Maximum number of runs or rows in one statement.
const MAX_ROWS: usize = 256;

/// The dimensions of a ledger row.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UsageKey {
    /// Days since 1970-01-01 UTC.
    pub day: i64,
    /// The principal.
    pub principal: Principal,
    /// The model name at its server.
    pub model: String,
}

/// Totals of usage.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// The number of model calls.
    pub requests: u64,
    /// Input tokens.
    pub input_tokens: u64,
    /// Output tokens.
    pub output_tokens: u64,
    /// Millionths of a US dollar, if prices are known.
    pub cost_micro_usd: u64,
    /// Input tokens that were read from the provider's cache.
    pub cached_tokens: u64,
    /// Input tokens that were written to the provider's cache.
    pub cache_write_tokens: u64,
    /// Output tokens of reasoning.
    pub reasoning_tokens: u64,
    /// Model calls with an unknown price.
    pub unpriced_requests: u64,
    /// Model calls with estimated tokens.
    pub estimated_requests: u64,
}

/// The columns of [`UsageSum`].
pub(crate) const USAGE_COUNTERS: [&str; 9] = [
    "requests",
    "input_tokens",
    "output_tokens",
    "cost_micro_usd",
    "cached_tokens",
    "cache_write_tokens",
    "reasoning_tokens",
    "unpriced_requests",
    "estimated_requests",
];

impl UsageSum {
    /// Maximum plausible cost of a call, millionths of a US dollar.
    pub const MAX_CALL_MICRO_USD: u64 = 1_000_000_000_000;

    /// The usage of one model call, bounded, whatever its server, its price or an old log say.
    #[must_use]
    pub fn of_call(usage: Usage, cost_micro_usd: Option<u64>) -> Self {
        let max = TokenCount::MAX.get();
        Self {
            requests: 1,
            input_tokens: usage.input_tokens.min(max),
            output_tokens: usage.output_tokens.min(max),
            cost_micro_usd: cost_micro_usd.unwrap_or(0).min(Self::MAX_CALL_MICRO_USD),
            cached_tokens: usage.cached_tokens.min(max),
            cache_write_tokens: usage.cache_write_tokens.min(max),
            reasoning_tokens: usage.reasoning_tokens.min(max),
            unpriced_requests: u64::from(cost_micro_usd.is_none()),
            estimated_requests: u64::from(usage.estimated),
        }
    }

    /// The cost of all calls; `None` if no price is known.
    #[must_use]
    pub fn known_cost_micro_usd(&self) -> Option<u64> {
        (self.requests == 0 || self.unpriced_requests < self.requests)
            .then_some(self.cost_micro_usd)
    }

    /// In the order of their columns.
    fn counters(self) -> [u64; USAGE_COUNTERS.len()] {
        [
            self.requests,
            self.input_tokens,
            self.output_tokens,
            self.cost_micro_usd,
            self.cached_tokens,
            self.cache_write_tokens,
            self.reasoning_tokens,
            self.unpriced_requests,
            self.estimated_requests,
        ]
    }
}

impl std::ops::AddAssign for UsageSum {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.input_tokens = self.input_tokens.saturating_add(other.input_tokens);
        self.output_tokens = self.output_tokens.saturating_add(other.output_tokens);
        self.cost_micro_usd = self.cost_micro_usd.saturating_add(other.cost_micro_usd);
        self.cached_tokens = self.cached_tokens.saturating_add(other.cached_tokens);
        self.cache_write_tokens = self
            .cache_write_tokens
            .saturating_add(other.cache_write_tokens);
        self.reasoning_tokens = self.reasoning_tokens.saturating_add(other.reasoning_tokens);
        self.unpriced_requests = self
            .unpriced_requests
            .saturating_add(other.unpriced_requests);
        self.estimated_requests = self
            .estimated_requests
            .saturating_add(other.estimated_requests);
    }
}

/// The usage of a part of a run's log.
#[derive(Debug, Clone, PartialEq)]
pub struct RunUsage {
    /// The run.
    pub run: RunId,
    /// The expected position of the ledger in the log.
    pub after: u64,
    /// The position afterwards.
    pub upto: u64,
    /// Whether the log has ended.
    pub is_over: bool,
    /// The usage in between.
    pub sums: Vec<(UsageKey, UsageSum)>,
}

/// The result of booking a part of a run's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is booked.
    Noted,
    /// The run is just being written: retry.
    Busy,
    /// Another server has booked the log up to there.
    Elsewhere(u64),
}

/// An atomic booking.
#[derive(Debug, Clone, Default)]
pub struct Booking {
    /// Usage without a run.
    pub loose: Vec<(UsageKey, UsageSum)>,
    /// Of runs.
    pub runs: Vec<RunUsage>,
}

/// A filter of usage.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageOf {
    /// All.
    All,
    /// An account.
    User(UserId),
    /// The current members of a group.
    Group(GroupId),
    /// A key.
    Key(ApiKeyId),
    /// A user of the key's front end.
    Person(ApiKeyId, String),
}

/// The grouping of usage.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UsageBy {
    /// Days since 1970-01-01 UTC, as decimal digits.
    Day,
    /// Accounts.
    User,
    /// Models.
    Model,
    /// Keys.
    Key,
    /// Users of front ends.
    Person,
}

/// The usage of one group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// The group's name; empty for no key and no person.
    pub name: String,
    /// The totals.
    pub sum: UsageSum,
}

/// A subject with its index, and the values of the columns that select its usage.
type Wanted<'a> = (usize, String, &'a str);

/// The sums of all counters, as columns of the same names.
fn counter_sums() -> String {
    USAGE_COUNTERS
        .map(|column| format!("{} AS {column}", sum(column)))
        .join(", ")
}

fn read_sum(row: &Row) -> Result<UsageSum, StoreError> {
    Ok(UsageSum {
        requests: row.number("requests")?,
        input_tokens: row.number("input_tokens")?,
        output_tokens: row.number("output_tokens")?,
        cost_micro_usd: row.number("cost_micro_usd")?,
        cached_tokens: row.number("cached_tokens")?,
        cache_write_tokens: row.number("cache_write_tokens")?,
        reasoning_tokens: row.number("reasoning_tokens")?,
        unpriced_requests: row.number("unpriced_requests")?,
        estimated_requests: row.number("estimated_requests")?,
    })
}

impl Store {
    /// Adds to the ledger. Returns the result for each run, in order.
    ///
    /// # Errors
    /// Database errors only; then nothing is booked, unless the connection broke at the end.
    pub async fn book_usage(&self, booking: &Booking) -> Result<Vec<Outcome>, StoreError> {
        let mut tx = self.db().begin().await?;
        let mut sums: BTreeMap<String, (&UsageKey, UsageSum)> = BTreeMap::new();
        let mut outcomes = Vec::with_capacity(booking.runs.len());
        for runs in booking.runs.chunks(MAX_ROWS) {
            let found = mark(self.db(), &mut tx, runs).await?;
            for (run, outcome) in runs.iter().zip(&found) {
                if *outcome == Outcome::Noted {
                    run.sums
                        .iter()
                        .for_each(|(key, sum)| add(&mut sums, key, *sum));
                }
            }
            outcomes.extend(found);
        }
        booking
            .loose
            .iter()
            .for_each(|(key, sum)| add(&mut sums, key, *sum));
        // Always in the same order, as servers that lock rows in different orders can deadlock.
        let rows: Vec<_> = sums.into_values().collect();
        for rows in rows.chunks(MAX_ROWS) {
            upsert(self.db(), &mut tx, rows).await?;
        }
        tx.commit().await?;
        Ok(outcomes)
    }

    /// The usage from `first_day` to `last_day`, inclusive, by group; largest first, but days in order.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn usage(
        &self,
        of: &UsageOf,
        by: UsageBy,
        first_day: i64,
        last_day: i64,
    ) -> Result<Vec<UsageRow>, StoreError> {
        let (name, order) = match by {
            UsageBy::Day => ("CAST(day AS TEXT)", "MIN(day)"),
            UsageBy::User => ("owner", "tokens DESC, owner"),
            UsageBy::Model => ("model", "tokens DESC, model"),
            UsageBy::Key => ("api_key", "tokens DESC, api_key"),
            UsageBy::Person => ("person", "tokens DESC, person"),
        };
        let whose = match of {
            UsageOf::All => "",
            UsageOf::User(_) => "AND owner = $3",
            UsageOf::Group(_) => {
                "AND owner IN (SELECT member FROM group_members WHERE group_id = $3)"
            }
            UsageOf::Key(_) => "AND api_key = $3",
            UsageOf::Person(..) => "AND api_key = $3 AND person = $4",
        };
        let sums = counter_sums();
        let sql = format!(
            "SELECT {name} AS name, {sums}, {} AS tokens FROM usage WHERE day BETWEEN $1 AND $2 {whose} \
             GROUP BY {name} ORDER BY {order}",
            sum("input_tokens * 1.0 + output_tokens"),
        );
        let query = self.db().built(sql).bind(first_day).bind(last_day);
        let query = match of {
            UsageOf::All => query,
            UsageOf::User(user) => query.id(user),
            UsageOf::Group(group) => query.id(group),
            UsageOf::Key(key) => query.id(key),
            UsageOf::Person(key, person) => query.id(key).text(person),
        };
        let rows = query.fetch_all().await?;
        let read = |row: &Row| {
            Ok(UsageRow {
                name: row.get("name")?,
                sum: read_sum(row)?,
            })
        };
        Ok(readable(&rows, read))
    }

    /// The usage of several subjects by day, each as its index in `of`, with one statement per kind of subject.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn usage_by_day(
        &self,
        of: &[UsageOf],
        first_day: i64,
        last_day: i64,
    ) -> Result<Vec<(usize, i64, UsageSum)>, StoreError> {
        let mut kinds: [(&str, Vec<Wanted>); 5] = [
            ("JOIN usage ON TRUE", Vec::new()),
            ("JOIN usage ON owner = first", Vec::new()),
            (
                "JOIN group_members ON group_id = first JOIN usage ON owner = member",
                Vec::new(),
            ),
            ("JOIN usage ON api_key = first", Vec::new()),
            (
                "JOIN usage ON api_key = first AND person = second",
                Vec::new(),
            ),
        ];
        for (index, subject) in of.iter().enumerate() {
            let (kind, first, second) = match subject {
                UsageOf::All => (0, String::new(), ""),
                UsageOf::User(user) => (1, user.to_string(), ""),
                UsageOf::Group(group) => (2, group.to_string(), ""),
                UsageOf::Key(key) => (3, key.to_string(), ""),
                UsageOf::Person(key, person) => (4, key.to_string(), person.as_str()),
            };
            kinds[kind].1.push((index, first, second));
        }
        let mut found = Vec::new();
        for (join, wanted) in &kinds {
            for wanted in wanted.chunks(MAX_ROWS) {
                let mut sql = String::from("WITH wanted (number, first, second) AS (VALUES ");
                self.db().push_rows(&mut sql, wanted.len(), 3);
                // Writing to a String cannot fail.
                _ = write!(
                    sql,
                    ") SELECT number, day, {} FROM wanted {join} AND day BETWEEN {first_day} AND {last_day} \
                     GROUP BY number, day",
                    counter_sums()
                );
                let query = self.db().built_to_read(sql);
                let query = wanted.iter().fold(query, |query, (index, first, second)| {
                    query.number(*index as u64).text(first).text(second)
                });
                for row in &query.fetch_all().await? {
                    let index = usize::try_from(row.number("number")?).unwrap_or(usize::MAX);
                    found.push((index, row.get("day")?, read_sum(row)?));
                }
            }
        }
        Ok(found)
    }

    /// The position of the ledger in a run's log; `None` if all of it is booked.
    ///
    /// # Errors
    /// `NotFound`.
    pub async fn booked_seq(&self, run: RunId) -> Result<Option<u64>, StoreError> {
        let row = self
            .db()
            .read("SELECT booked_seq FROM runs WHERE id = $1")
            .id(run)
            .fetch_one()
            .await?;
        Ok(row
            .get::<Option<i64>>("booked_seq")?
            .and_then(|seq| u64::try_from(seq).ok()))
    }

    /// Some runs that ended before that time and whose logs are not completely booked: their server stopped too early.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn unbooked_runs(&self, ended_before: i64) -> Result<Vec<RunId>, StoreError> {
        let sql = "SELECT id FROM runs WHERE booked_seq IS NOT NULL AND finished_at IS NOT NULL \
                   AND finished_at < $1 ORDER BY finished_at LIMIT 100";
        Ok(readable(
            &self.db().read(sql).bind(ended_before).fetch_all().await?,
            |row| row.id("id"),
        ))
    }
}

fn add<'a>(
    sums: &mut BTreeMap<String, (&'a UsageKey, UsageSum)>,
    key: &'a UsageKey,
    sum: UsageSum,
) {
    let UsageKey {
        day,
        principal,
        model,
    } = key;
    let place = format!("{day:020}\0{model}\0{principal:?}");
    sums.entry(place).or_insert((key, UsageSum::default())).1 += sum;
}

/// Advances the position of the runs' logs, if it is as expected. Deleted runs count as booked.
async fn mark(db: &Db, tx: &mut Tx, runs: &[RunUsage]) -> Result<Vec<Outcome>, StoreError> {
    let mut sql = String::from("SELECT id, booked_seq FROM runs WHERE id IN ");
    let mut there = BTreeMap::new();
    db.push_rows(&mut sql, 1, runs.len());
    if let Tx::Postgres(_) = tx {
        // Does not wait, so that it cannot block the writers of the runs' ends.
        sql.push_str(" FOR NO KEY UPDATE SKIP LOCKED");
    }
    for row in runs
        .iter()
        .fold(tx.built(sql), |query, run| query.id(run.run))
        .fetch_all()
        .await?
    {
        there.insert(
            row.id::<RunId>("id")?.to_string(),
            row.get::<Option<i64>>("booked_seq")?,
        );
    }
    let busy = busy(
        db,
        tx,
        runs.iter()
            .filter(|run| !there.contains_key(&run.run.to_string())),
    )
    .await?;
    let outcomes: Vec<Outcome> = runs
        .iter()
        .map(|run| match there.get(&run.run.to_string()) {
            Some(booked) if *booked == i64::try_from(run.after).ok() => Outcome::Noted,
            Some(booked) => Outcome::Elsewhere(
                booked
                    .and_then(|seq| seq.try_into().ok())
                    .unwrap_or(u64::MAX),
            ),
            None if busy.contains(&run.run.to_string()) => Outcome::Busy,
            None => Outcome::Noted,
        })
        .collect();
    let noted = runs
        .iter()
        .zip(&outcomes)
        .filter(|(_, outcome)| **outcome == Outcome::Noted);
    let noted: Vec<&RunUsage> = noted.map(|(run, _)| run).collect();
    if noted.is_empty() {
        return Ok(outcomes);
    }
    let mut sql =
        String::from("UPDATE runs SET booked_seq = NULLIF(noted.column2, -1) FROM (VALUES ");
    db.push_rows(&mut sql, noted.len(), 2);
    sql.push_str(") AS noted WHERE id = noted.column1");
    let upto = |run: &RunUsage| {
        if run.is_over {
            -1
        } else {
            i64::try_from(run.upto).unwrap_or(i64::MAX)
        }
    };
    noted
        .iter()
        .fold(tx.built(sql), |query, run| {
            query.id(run.run).bind(upto(run))
        })
        .execute()
        .await?;
    Ok(outcomes)
}

/// Those of them that exist.
async fn busy<'a>(
    db: &Db,
    tx: &mut Tx,
    missing: impl Iterator<Item = &'a RunUsage>,
) -> Result<BTreeSet<String>, StoreError> {
    let missing: Vec<&RunUsage> = missing.collect();
    if missing.is_empty() {
        return Ok(BTreeSet::new());
    }
    let mut sql = String::from("SELECT id FROM runs WHERE id IN ");
    db.push_rows(&mut sql, 1, missing.len());
    let rows = missing
        .iter()
        .fold(tx.built(sql), |query, run| query.id(run.run))
        .fetch_all()
        .await?;
    rows.iter().map(|row| row.get("id")).collect()
}

async fn upsert(db: &Db, tx: &mut Tx, rows: &[(&UsageKey, UsageSum)]) -> Result<(), StoreError> {
    let columns = USAGE_COUNTERS.join(", ");
    let mut sql =
        format!("INSERT INTO usage (day, owner, model, api_key, person, {columns}) VALUES ");
    db.push_rows(&mut sql, rows.len(), 5 + USAGE_COUNTERS.len());
    let added = USAGE_COUNTERS
        .map(|column| add_excluded("usage", column))
        .join(", ");
    sql.push_str(" ON CONFLICT (day, owner, model, api_key, person) DO UPDATE SET ");
    sql.push_str(&added);
    let query = rows.iter().fold(tx.built(sql), |query, (key, sum)| {
        let principal = &key.principal;
        let api_key = principal.key.map(|key| key.to_string()).unwrap_or_default();
        let query = query
            .bind(key.day)
            .id(principal.account)
            .text(&key.model)
            .text(&api_key);
        let query = query.text(principal.person.as_deref().unwrap_or_default());
        sum.counters().into_iter().fold(query, |query, counter| {
            query.number(counter.min(MAX_COUNTER))
        })
    });
    query.execute().await.map(drop)
}
