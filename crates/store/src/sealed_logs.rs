//! Seals the logs of ended runs: one compressed row or object holds the whole log in place of its segments.
//!
//! A sealed log is a gzip file of several members, so that part of it can be read. The row has the list of the members.

use std::io::{self, Read, Write};

use domain::RunId;
use flate2::{Compression, read::GzDecoder, write::GzEncoder};
use serde::{Deserialize, Serialize};

use crate::{Segment, Store, StoreError, objects::Held, query::Row};

/// Events of about this size are compressed together: deflate looks back 32 kB only, and a reader wants a part.
const PART_BYTES: usize = 512 * 1024;
/// A part is never larger when it is uncompressed, so that a damaged one cannot fill the memory.
const MAX_PART_BYTES: u64 = 256 * 1024 * 1024;

/// A member of the file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
struct Part {
    /// The number of its first event.
    first_seq: u64,
    /// The number of its last one.
    last_seq: u64,
    /// Where it begins.
    offset: u64,
    /// Its size.
    bytes: u64,
    /// Its uncompressed size.
    raw_bytes: u64,
}

/// A sealed log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sealed {
    /// Its size before.
    pub raw_bytes: u64,
    /// Its size now.
    pub bytes: u64,
}

/// A log that is being compressed.
#[derive(Default)]
struct Sealing {
    parts: Vec<Part>,
    file: Vec<u8>,
    /// Events of the next part.
    lines: String,
    first_seq: u64,
    last_seq: u64,
    /// The number of segments that were read.
    segments: u64,
}

impl Store {
    /// Runs that ended before then and whose logs are to be sealed, the earliest first.
    ///
    /// # Errors
    /// Database errors only.
    pub async fn logs_to_seal(&self, before: i64, most: u32) -> Result<Vec<RunId>, StoreError> {
        let sql = "SELECT id FROM runs WHERE to_seal AND finished_at IS NOT NULL AND finished_at < $1 \
                   ORDER BY finished_at LIMIT $2";
        let query = self.db().read(sql).bind(before).bind(i64::from(most));
        let rows = query.fetch_all().await?;
        rows.iter().map(|row| row.id("id")).collect()
    }

    /// Seals the log of an ended run: compresses it, verifies the result, and replaces the segments by it in one
    /// transaction. `None` if there is nothing to seal: the run is gone, goes on, has no events, or another server was
    /// faster. Of an unreadable log the segments stay.
    ///
    /// # Errors
    /// Database errors, and those of the object storage; then the segments are unchanged.
    pub async fn seal_log(&self, run: RunId) -> Result<Option<Sealed>, StoreError> {
        let sealing = match self.compress(run).await {
            Ok(sealing) if !sealing.parts.is_empty() => sealing,
            Ok(_) => return self.leave_unsealed(run).await,
            Err(StoreError::Corrupt(error)) => {
                tracing::warn!(%run, error, "the log is not sealed, as it cannot be read");
                return self.leave_unsealed(run).await;
            }
            Err(error) => return Err(error),
        };
        let sealed = Sealed {
            raw_bytes: sealing.parts.iter().map(|part| part.raw_bytes).sum(),
            bytes: sealing.file.len() as u64,
        };
        let held = self.hold(&sealing.file).await?;
        if let Some(key) = &held.object {
            // Compared with the hash in its key.
            self.content_of(Held {
                content: Vec::new(),
                object: Some(key.clone()),
            })
            .await?;
        }
        match self.replace_segments(run, &sealing, &held).await {
            Ok(true) => Ok(Some(sealed)),
            outcome => {
                self.abandon(&held).await;
                outcome.map(|_| None)
            }
        }
    }

    async fn leave_unsealed(&self, run: RunId) -> Result<Option<Sealed>, StoreError> {
        let sql =
            "UPDATE runs SET to_seal = FALSE WHERE id = $1 AND to_seal AND finished_at IS NOT NULL";
        self.db().write(sql).id(run).execute().await?;
        Ok(None)
    }

    /// Reads and compresses a log, a part at a time.
    async fn compress(&self, run: RunId) -> Result<Sealing, StoreError> {
        let mut sealing = Sealing::default();
        loop {
            let segments = self.events_after(run, sealing.last_seq, PART_BYTES).await?;
            let is_last = segments.is_empty();
            let work = tokio::task::spawn_blocking(move || sealing.add(segments, is_last));
            sealing = work.await.map_err(|error| corrupt(run, &error))??;
            if is_last {
                return Ok(sealing);
            }
        }
    }

    async fn replace_segments(
        &self,
        run: RunId,
        sealing: &Sealing,
        held: &Held,
    ) -> Result<bool, StoreError> {
        let mut tx = self.db().begin().await?;
        let sql = "UPDATE runs SET sealed_seq = $2, to_seal = FALSE \
                   WHERE id = $1 AND to_seal AND finished_at IS NOT NULL RETURNING number";
        let query = tx.query(sql).id(run).number(sealing.last_seq);
        let Some(row) = query.fetch_optional().await? else {
            return Ok(false);
        };
        let number: i64 = row.get("number")?;
        let sql = "INSERT INTO sealed_logs (run, parts, size_bytes, content, object) VALUES ($1, $2, $3, $4, $5)";
        let query = tx.query(sql).bind(number).json(&sealing.parts)?;
        query
            .number(sealing.file.len() as u64)
            .file(&held.content)
            .optional_text(held.object.as_deref())
            .execute()
            .await?;
        let sql = "DELETE FROM segments WHERE run = $1 AND last_seq <= $2";
        let query = tx.query(sql).bind(number).number(sealing.last_seq);
        // Only what was read is deleted.
        if query.execute().await? != sealing.segments {
            return Ok(false);
        }
        tx.commit().await?;
        Ok(true)
    }

    /// The events from `next` on of a sealed log, until their size reaches `limit_bytes`: at least one part.
    pub(crate) async fn sealed_events(
        &self,
        run: RunId,
        next: u64,
        limit_bytes: usize,
    ) -> Result<Vec<Segment>, StoreError> {
        let sql = "SELECT sealed_logs.run AS number, parts, object FROM runs \
                   JOIN sealed_logs ON sealed_logs.run = runs.number WHERE runs.id = $1";
        let Some(row) = self.db().read(sql).id(run).fetch_optional().await? else {
            return Ok(Vec::new());
        };
        let parts: Vec<Part> = row.json("parts")?;
        let mut raw_bytes = 0;
        let wanted = parts.into_iter().filter(|part| part.last_seq >= next);
        let wanted: Vec<Part> = wanted
            .take_while(|part| {
                let is_wanted = raw_bytes < limit_bytes as u64;
                raw_bytes += part.raw_bytes;
                is_wanted
            })
            .collect();
        let (Some(first), Some(last)) = (wanted.first(), wanted.last()) else {
            return Ok(Vec::new());
        };
        let start = first.offset;
        let end = last.offset.saturating_add(last.bytes);
        let bytes = self.sealed_bytes(&row, start, end).await?;
        let work = tokio::task::spawn_blocking(move || {
            let segment = |part: Part| part.read(run, &bytes, start);
            wanted.into_iter().map(segment).collect()
        });
        work.await.map_err(|error| corrupt(run, &error))?
    }

    /// Part of the file. It may have been moved since the row was read.
    async fn sealed_bytes(&self, row: &Row, start: u64, end: u64) -> Result<Vec<u8>, StoreError> {
        if let Some(key) = row.get::<Option<String>>("object")? {
            return Ok(self.object_range(&key, start..end).await?.into());
        }
        let number: i64 = row.get("number")?;
        // SQL counts from 1. On PostgreSQL these are 32-bit numbers.
        let place = |number: u64| i32::try_from(number).unwrap_or(i32::MAX);
        let sql =
            "SELECT SUBSTR(content, $2, $3) AS content, object FROM sealed_logs WHERE run = $1";
        let query = self.db().read(sql).bind(number);
        let query = query.bind(place(start + 1)).bind(place(end - start));
        let held = Held::read(&query.fetch_one().await?)?;
        match held.object {
            None => Ok(held.content),
            Some(key) => Ok(self.object_range(&key, start..end).await?.into()),
        }
    }
}

impl Sealing {
    /// Adds segments, and ends the file if these are the last ones.
    fn add(mut self, segments: Vec<Segment>, is_last: bool) -> Result<Self, StoreError> {
        for segment in segments {
            let count = segment.last_seq.saturating_sub(segment.first_seq) + 1;
            let lines = segment.lines.matches('\n').count() as u64;
            if lines != count || !segment.lines.ends_with('\n') {
                let text = format!(
                    "the segment from event {} on has {lines} lines",
                    segment.first_seq
                );
                return Err(StoreError::Corrupt(text));
            }
            // Positions in a part are counted.
            if segment.first_seq != self.last_seq + 1 {
                self.end_part()?;
            }
            if self.lines.is_empty() {
                self.first_seq = segment.first_seq;
            }
            self.lines.push_str(&segment.lines);
            self.last_seq = segment.last_seq;
            self.segments += 1;
            if self.lines.len() >= PART_BYTES {
                self.end_part()?;
            }
        }
        if is_last {
            self.end_part()?;
        }
        Ok(self)
    }

    fn end_part(&mut self) -> Result<(), StoreError> {
        if self.lines.is_empty() {
            return Ok(());
        }
        let offset = self.file.len();
        compress(&self.lines, &mut self.file)
            .map_err(|error| StoreError::Full(error.to_string()))?;
        let raw_bytes = self.lines.len() as u64;
        let written = &self.file[offset..];
        if decompress(written, raw_bytes).as_ref() != Some(&self.lines) {
            let text = "a compressed log is not what was compressed";
            return Err(StoreError::Corrupt(text.to_owned()));
        }
        self.parts.push(Part {
            first_seq: self.first_seq,
            last_seq: self.last_seq,
            offset: offset as u64,
            bytes: written.len() as u64,
            raw_bytes,
        });
        self.lines.clear();
        Ok(())
    }
}

impl Part {
    /// The events, from bytes of the file that begin at `start`.
    fn read(&self, run: RunId, bytes: &[u8], start: u64) -> Result<Segment, StoreError> {
        let place = |number: u64| usize::try_from(number).ok();
        let from = self.offset.checked_sub(start).and_then(place);
        let to = from
            .zip(place(self.bytes))
            .and_then(|(from, bytes)| from.checked_add(bytes));
        let member = from.zip(to).and_then(|(from, to)| bytes.get(from..to));
        let lines = member.and_then(|member| decompress(member, self.raw_bytes));
        let count = (self.last_seq.checked_sub(self.first_seq)).map(|last| last + 1);
        match lines {
            Some(lines) if Some(lines.matches('\n').count() as u64) == count => Ok(Segment {
                run,
                first_seq: self.first_seq,
                last_seq: self.last_seq,
                lines: lines.into(),
            }),
            _ => Err(corrupt(run, &format!("from event {} on", self.first_seq))),
        }
    }
}

fn compress(lines: &str, to: &mut Vec<u8>) -> io::Result<()> {
    let mut encoder = GzEncoder::new(to, Compression::best());
    encoder.write_all(lines.as_bytes())?;
    encoder.finish().map(drop)
}

/// `None` if it is damaged: a member has a checksum. No more than the expected size is read.
fn decompress(member: &[u8], raw_bytes: u64) -> Option<String> {
    let mut lines = String::new();
    let limit = raw_bytes.min(MAX_PART_BYTES) + 1;
    GzDecoder::new(member)
        .take(limit)
        .read_to_string(&mut lines)
        .ok()?;
    (lines.len() as u64 == raw_bytes).then_some(lines)
}

fn corrupt(run: RunId, what: &dyn std::fmt::Display) -> StoreError {
    StoreError::Corrupt(format!("the sealed log of {run}: {what}"))
}
