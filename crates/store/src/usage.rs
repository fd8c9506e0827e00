//! The ledger: what model calls have used, added up by day, account, model, key and person. What runs have used is noted
//! together with how far their logs are noted, so that it counts once, whatever crashes.

use std::collections::{BTreeMap, BTreeSet};

use domain::{ApiKeyId, GroupId, RunId, TokenCount, Usage, UserId};

use crate::{
    Principal, Store, StoreError,
    db::Db,
    query::{Row, Tx, readable},
    sums::{MAX_COUNTER, add_excluded, sum},
};

/// Runs or rows in one statement.
const MOST_ROWS: usize = 256;

/// What is added up together.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct UsageKey {
    /// Days since 1970-01-01 UTC.
    pub day: i64,
    /// Who used it.
    pub principal: Principal,
    /// The model, as its server knows it.
    pub model: String,
}

/// What was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct UsageSum {
    /// Model calls.
    pub requests: u64,
    /// Tokens read.
    pub input_tokens: u64,
    /// Tokens written.
    pub output_tokens: u64,
    /// Millionths of a US dollar, where prices are known.
    pub cost_micro_usd: u64,
    /// Of the tokens read, those that the provider had in its cache.
    pub cached_tokens: u64,
    /// Of the tokens read, those that the provider has put into its cache.
    pub cache_write_tokens: u64,
    /// Of the tokens written, those of reasoning.
    pub reasoning_tokens: u64,
    /// Of the model calls, those whose price is unknown.
    pub unpriced_requests: u64,
    /// Of the model calls, those whose tokens are an estimate.
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
    /// More than any call costs, millionths of a US dollar.
    pub const MAX_CALL_MICRO_USD: u64 = 1_000_000_000_000;

    /// Of one model call: no more than a call can use, whatever its server, its price or an old log say.
    #[must_use]
    pub fn of_call(usage: Usage, cost_micro_usd: Option<u64>) -> Self {
        let most = TokenCount::MAX.get();
        Self {
            requests: 1,
            input_tokens: usage.input_tokens.min(most),
            output_tokens: usage.output_tokens.min(most),
            cost_micro_usd: cost_micro_usd.unwrap_or(0).min(Self::MAX_CALL_MICRO_USD),
            cached_tokens: usage.cached_tokens.min(most),
            cache_write_tokens: usage.cache_write_tokens.min(most),
            reasoning_tokens: usage.reasoning_tokens.min(most),
            unpriced_requests: u64::from(cost_micro_usd.is_none()),
            estimated_requests: u64::from(usage.estimated),
        }
    }

    /// What all calls cost; `None` if no price of them is known.
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

/// What a part of a run's log has used.
#[derive(Debug, Clone, PartialEq)]
pub struct RunUsage {
    /// The run.
    pub run: RunId,
    /// How far the log was noted before, as far as we know.
    pub after: u64,
    /// How far it is then.
    pub upto: u64,
    /// Whether nothing more comes.
    pub is_over: bool,
    /// What was used in between.
    pub sums: Vec<(UsageKey, UsageSum)>,
}

/// What became of a part of a run's log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Outcome {
    /// It is noted.
    Noted,
    /// Somebody is just writing the run: ask again.
    Busy,
    /// Another server has noted the log up to there.
    Elsewhere(u64),
}

/// What goes into the ledger at once, or not at all.
#[derive(Debug, Clone, Default)]
pub struct Booking {
    /// Of no run.
    pub loose: Vec<(UsageKey, UsageSum)>,
    /// Of runs.
    pub runs: Vec<RunUsage>,
}

/// Whose usage is asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum UsageOf {
    /// Everybody's.
    All,
    /// An account's.
    User(UserId),
    /// That of all who are in a group now.
    Group(GroupId),
    /// A key's.
    Key(ApiKeyId),
    /// That of a person of the key's front end.
    Person(ApiKeyId, String),
}

/// What usage is told apart by.
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
    /// People of front ends.
    Person,
}

/// Usage of one of them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    /// Which; empty for no key and no person.
    pub name: String,
    /// What was used.
    pub sum: UsageSum,
}

impl Store {
    /// Adds to the ledger. Tells for each run what became of it, in their order.
    ///
    /// # Errors
    /// Only those of the database; then nothing is noted, unless the connection broke at the end.
    pub async fn book_usage(&self, booking: &Booking) -> Result<Vec<Outcome>, StoreError> {
        let mut tx = self.db().begin().await?;
        let mut sums: BTreeMap<String, (&UsageKey, UsageSum)> = BTreeMap::new();
        let mut outcomes = Vec::with_capacity(booking.runs.len());
        for runs in booking.runs.chunks(MOST_ROWS) {
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
        // Always in the same order, as several servers that lock rows in different orders can block each other.
        let rows: Vec<_> = sums.into_values().collect();
        for rows in rows.chunks(MOST_ROWS) {
            upsert(self.db(), &mut tx, rows).await?;
        }
        tx.commit().await?;
        Ok(outcomes)
    }

    /// What was used on the days from `first_day` to `last_day`, both included, by name; most of it first, but days in
    /// their order.
    ///
    /// # Errors
    /// Only those of the database.
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
        let sums = USAGE_COUNTERS
            .map(|column| format!("{} AS {column}", sum(column)))
            .join(", ");
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
            let sum = UsageSum {
                requests: row.number("requests")?,
                input_tokens: row.number("input_tokens")?,
                output_tokens: row.number("output_tokens")?,
                cost_micro_usd: row.number("cost_micro_usd")?,
                cached_tokens: row.number("cached_tokens")?,
                cache_write_tokens: row.number("cache_write_tokens")?,
                reasoning_tokens: row.number("reasoning_tokens")?,
                unpriced_requests: row.number("unpriced_requests")?,
                estimated_requests: row.number("estimated_requests")?,
            };
            Ok(UsageRow {
                name: row.get("name")?,
                sum,
            })
        };
        Ok(readable(&rows, read))
    }

    /// How far a run's log is in the ledger; nothing where all of it is.
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

    /// Some runs that ended before that and whose logs are not all in the ledger: their server was gone too soon.
    ///
    /// # Errors
    /// Only those of the database.
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

/// Marks the runs' logs as noted, where they are noted as far as we think. Runs that are deleted count as noted.
async fn mark(db: &Db, tx: &mut Tx, runs: &[RunUsage]) -> Result<Vec<Outcome>, StoreError> {
    let (mut sql, mut there) = (
        String::from("SELECT id, booked_seq FROM runs WHERE id IN "),
        BTreeMap::new(),
    );
    db.push_rows(&mut sql, 1, runs.len());
    if let Tx::Postgres(_) = tx {
        // Never waits, so that it cannot block those who write the runs' ends.
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

/// Those of them that are there.
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
