//! The logs of runs, stored in segments: one row holds consecutive events as JSON lines. Those of ended runs are sealed
//! later, see `sealed_logs.rs`.

use std::{collections::HashMap, sync::Arc};

use domain::RunId;

use crate::{Store, StoreError, query::Row, writer::Work};

/// Consecutive events of one run.
#[derive(Debug, Clone, PartialEq)]
pub struct Segment {
    /// The run.
    pub run: RunId,
    /// The number of the first event.
    pub first_seq: u64,
    /// The number of the last one.
    pub last_seq: u64,
    /// The events, one JSON line each, every line ended by a line feed.
    pub lines: Arc<str>,
}

impl Segment {
    /// Groups events of a run, each with its number and JSON, into segments of about that size. A gap in the numbers
    /// starts a new segment, since positions within one are counted.
    pub fn cut(
        run: RunId,
        events: impl IntoIterator<Item = (u64, String)>,
        limit_bytes: usize,
    ) -> Vec<Self> {
        let mut segments: Vec<(u64, u64, String)> = Vec::new();
        for (seq, json) in events {
            match segments.last_mut() {
                Some((_, last_seq, lines)) if *last_seq + 1 == seq && lines.len() < limit_bytes => {
                    *last_seq = seq;
                    lines.push_str(&json);
                    lines.push('\n');
                }
                _ => segments.push((seq, seq, json + "\n")),
            }
        }
        let segment = |(first_seq, last_seq, lines): (u64, u64, String)| Self {
            run,
            first_seq,
            last_seq,
            lines: lines.into(),
        };
        segments.into_iter().map(segment).collect()
    }
}

/// The number of segments per query.
const PAGE_SEGMENTS: i64 = 32;

/// How far a log has been read.
#[derive(Debug, Clone, Copy)]
pub struct LogPosition {
    /// The run.
    pub run: RunId,
    /// The number of the last event that is known.
    pub after: u64,
}

/// What a log has beyond a position.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct NewInLog {
    /// The next segments, in order. The first may begin with events that are known.
    pub segments: Vec<Segment>,
    /// Nothing is written any more: the run is finished, or was deleted.
    pub is_over: bool,
}

/// The number of logs, and of segments of each, per query for new events.
const LOGS_AT_ONCE: usize = 500;
const NEW_SEGMENTS: i64 = 8;

impl Store {
    /// Adds a segment to its run's log; returns once it is committed. Many callers share one commit.
    ///
    /// # Errors
    /// `Conflict("seq")` if it does not directly follow the run's last stored event, or does not continue it after a
    /// restart ([`domain::event::seq_after_restart`]), `NotFound` if there is no such run. After `Unavailable` it may
    /// or may not be stored: check [`Store::run`].
    pub async fn append(&self, segment: Segment) -> Result<(), StoreError> {
        self.0.writer.write(Work::Append, segment).await
    }

    /// The segments with events after number `after`, in order, until their total size reaches `limit_bytes`; at least
    /// one if there is any. The first may begin with events up to `after`, which the caller skips.
    ///
    /// # Errors
    /// Database errors, and those of the object storage that has a sealed log; a missing run has no events.
    pub async fn events_after(
        &self,
        run: RunId,
        after: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Segment>, StoreError> {
        // The subquery finds the segment with the next event, so that the index is entered there.
        // One statement, as segments may be sealed at any time.
        let sql = "SELECT sealed_seq, first_seq, last_seq, lines FROM runs \
                   LEFT JOIN segments ON segments.run = runs.number AND last_seq >= $2 \
                   AND first_seq >= COALESCE((SELECT MAX(earlier.first_seq) FROM segments AS earlier \
                                              WHERE earlier.run = runs.number AND earlier.first_seq <= $2), 0) \
                   WHERE runs.id = $1 ORDER BY first_seq LIMIT $3";
        let mut segments: Vec<Segment> = Vec::new();
        let mut size_bytes = 0;
        loop {
            let next = segments
                .last()
                .map_or(after, |segment| segment.last_seq)
                .saturating_add(1);
            let query = self.db().read(sql).id(run).number(next).bind(PAGE_SEGMENTS);
            let page = query.fetch_all().await?;
            let full = page.len() as i64 == PAGE_SEGMENTS;
            if let Some(row) = page.first()
                && row.number("sealed_seq")? >= next
            {
                let limit = limit_bytes.saturating_sub(size_bytes);
                let sealed = match self.sealed_events(run, next, limit).await {
                    Ok(sealed) => sealed,
                    Err(_) if !segments.is_empty() => return Ok(segments),
                    Err(error) => return Err(error),
                };
                size_bytes += sealed.iter().map(|it| it.lines.len()).sum::<usize>();
                // A run that was deleted meanwhile has none.
                let is_enough = sealed.is_empty() || size_bytes >= limit_bytes;
                segments.extend(sealed);
                match is_enough {
                    true => return Ok(segments),
                    false => continue,
                }
            }
            for row in page {
                if row.get::<Option<i64>>("first_seq")?.is_none() {
                    // There are no more.
                    return Ok(segments);
                }
                let segment = match read_segment(run, &row) {
                    Ok(segment) => segment,
                    // The segments before it are readable; the next query begins with it.
                    Err(_) if !segments.is_empty() => return Ok(segments),
                    Err(error) => return Err(error),
                };
                size_bytes += segment.lines.len();
                segments.push(segment);
                if size_bytes >= limit_bytes {
                    return Ok(segments);
                }
            }
            if !full {
                return Ok(segments);
            }
        }
    }

    /// What logs have beyond these positions, those with something new only: one query for all. It finds nothing if the
    /// database is not shared, since nobody else writes logs then.
    ///
    /// # Errors
    /// Database errors, and `Corrupt`.
    pub async fn new_in_logs(
        &self,
        known: &[LogPosition],
    ) -> Result<HashMap<RunId, NewInLog>, StoreError> {
        let mut found: HashMap<RunId, NewInLog> = HashMap::new();
        if !self.is_shared() {
            return Ok(found);
        }
        // In one statement: what was written before a run was finished is found with it.
        let sql = "SELECT asked.id, runs.id IS NULL OR finished_at IS NOT NULL AS is_over, first_seq, last_seq, lines \
                   FROM UNNEST($1::TEXT[], $2::BIGINT[]) AS asked (id, after) \
                   LEFT JOIN runs ON runs.id = asked.id \
                   LEFT JOIN LATERAL (SELECT first_seq, last_seq, lines FROM segments \
                       WHERE segments.run = runs.number AND last_seq > asked.after \
                       AND first_seq >= COALESCE((SELECT MAX(earlier.first_seq) FROM segments AS earlier \
                           WHERE earlier.run = runs.number AND earlier.first_seq <= asked.after + 1), 0) \
                       ORDER BY first_seq LIMIT $3) AS new ON TRUE \
                   WHERE runs.id IS NULL OR finished_at IS NOT NULL OR first_seq IS NOT NULL \
                   ORDER BY asked.id, first_seq";
        for known in known.chunks(LOGS_AT_ONCE) {
            let runs = known.iter().map(|known| known.run.to_string()).collect();
            let after = known.iter().map(|known| known.after).collect();
            let query = self.db().read(sql).texts(runs).numbers(after);
            for row in query.bind(NEW_SEGMENTS).fetch_all().await? {
                let run = row.id("id")?;
                let log = found.entry(run).or_default();
                log.is_over = row.get("is_over")?;
                if row.get::<Option<i64>>("first_seq")?.is_some() {
                    log.segments.push(read_segment(run, &row)?);
                }
            }
        }
        Ok(found)
    }
}

fn read_segment(run: RunId, row: &Row) -> Result<Segment, StoreError> {
    Ok(Segment {
        run,
        first_seq: row.number("first_seq")?,
        last_seq: row.number("last_seq")?,
        lines: row.get::<String>("lines")?.into(),
    })
}
