//! Spools an upload to an unnamed temporary file, so that a slow client holds no other resources, and a chat can be
//! checked before it is written.

use std::{
    collections::VecDeque,
    fs::File,
    io::{self, BufRead, BufReader, Read, Seek, SeekFrom, Write},
    path::Path,
};

use axum::extract::Request;
use tokio::task::spawn_blocking;

use crate::{
    error::ApiError,
    http::body::{check_head, discard, next_data},
};

/// Bytes per write, and approximately per read.
const PIECE_BYTES: usize = 1_000_000;
/// Bytes that are inspected to detect the format.
const BEGINNING_BYTES: u64 = 1_000;

/// An uploaded file.
#[derive(Debug)]
pub(super) struct Spool {
    file: File,
    beginning: Vec<u8>,
}

impl Spool {
    /// Receives the body of a request, at most `limit_bytes`, into a file in `folder`.
    ///
    /// # Errors
    /// 413 if it is too long, 507 if there is no space for it.
    pub(super) async fn receive(
        request: Request,
        limit_bytes: u64,
        folder: &Path,
    ) -> Result<Self, ApiError> {
        let too_large = || ApiError::too_large(usize::try_from(limit_bytes).unwrap_or(usize::MAX));
        if let Err(refused) = check_head(request.headers(), limit_bytes) {
            discard(request.into_body()).await;
            return Err(refused);
        }
        let folder = folder.to_owned();
        let mut file = blocking(move || tempfile::tempfile_in(folder)).await?;
        let mut body = request.into_body();
        let mut waiting = Vec::new();
        let mut size_bytes = 0;
        while let Some(data) = next_data(&mut body).await? {
            size_bytes += data.len() as u64;
            if size_bytes > limit_bytes {
                discard(body).await;
                return Err(too_large());
            }
            // Copied, as a chunk holds a whole buffer of the connection, even for a single byte.
            waiting.extend_from_slice(&data);
            if waiting.len() >= PIECE_BYTES {
                file = append(file, std::mem::take(&mut waiting)).await?;
            }
        }
        file = append(file, waiting).await?;
        let (file, beginning) = blocking(move || {
            let mut beginning = Vec::new();
            file.seek(SeekFrom::Start(0))?;
            (&file).take(BEGINNING_BYTES).read_to_end(&mut beginning)?;
            file.seek(SeekFrom::Start(0))?;
            Ok((file, beginning))
        })
        .await?;
        Ok(Self { file, beginning })
    }

    /// The first bytes, to detect the format.
    pub(super) fn beginning(&self) -> &[u8] {
        &self.beginning
    }

    /// Its lines. Of a line longer than the limit, only the position is returned.
    pub(super) fn lines(self, limit_bytes: usize) -> Lines {
        Lines {
            reader: Some(BufReader::new(self.file)),
            ready: VecDeque::new(),
            at: 0,
            limit_bytes,
        }
    }

    /// Its bytes in chunks, from the beginning.
    pub(super) fn pieces(self) -> Pieces {
        Pieces {
            reader: Some(Box::new(self.file)),
            is_unpacked: false,
        }
    }

    /// The file itself.
    pub(super) fn into_file(self) -> File {
        self.file
    }
}

/// The bytes of a file, or of an entry of an archive.
pub(super) struct Pieces {
    reader: Option<Box<dyn Read + Send>>,
    /// Whether an error is one of the file's content, not of the disk.
    is_unpacked: bool,
}

impl Pieces {
    /// The bytes of an entry. They end where it is damaged.
    pub(super) fn unpacking(reader: Box<dyn Read + Send>) -> Self {
        Self {
            reader: Some(reader),
            is_unpacked: true,
        }
    }

    /// The next chunk.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) async fn next(&mut self) -> Result<Option<Vec<u8>>, ApiError> {
        let Some(mut reader) = self.reader.take() else {
            return Ok(None);
        };
        let is_unpacked = self.is_unpacked;
        let (reader, piece) = blocking(move || {
            let mut piece = Vec::new();
            let read = (&mut reader)
                .take(PIECE_BYTES as u64)
                .read_to_end(&mut piece);
            match read {
                Err(_) if is_unpacked => Ok((None, piece)),
                read => read.map(|_| (Some(reader), piece)),
            }
        })
        .await?;
        self.reader = reader;
        Ok((!piece.is_empty()).then_some(piece))
    }
}

async fn append(mut file: File, bytes: Vec<u8>) -> Result<File, ApiError> {
    blocking(move || {
        file.write_all(&bytes)?;
        Ok(file)
    })
    .await
}

pub(super) async fn blocking<T: Send + 'static>(
    work: impl FnOnce() -> io::Result<T> + Send + 'static,
) -> Result<T, ApiError> {
    spawn_blocking(work)
        .await
        .map_err(ApiError::internal)?
        .map_err(|error| match error.kind() {
            io::ErrorKind::StorageFull => store::StoreError::Full(error.to_string()).into(),
            _ => ApiError::internal(error),
        })
}

/// A line with its offset.
#[derive(Debug)]
pub(super) struct Found {
    pub(super) at: u64,
    /// `None` if it is too long.
    pub(super) line: Option<Vec<u8>>,
}

/// Reads line by line, from any offset.
#[derive(Debug)]
pub(super) struct Lines {
    reader: Option<BufReader<File>>,
    ready: VecDeque<Found>,
    /// The offset of the line after those in `ready`.
    at: u64,
    limit_bytes: usize,
}

impl Lines {
    /// The next line that is not empty.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) async fn next(&mut self) -> Result<Option<Found>, ApiError> {
        if self.ready.is_empty() {
            let Some(mut reader) = self.reader.take() else {
                return Ok(None);
            };
            let mut at = self.at;
            let limit_bytes = self.limit_bytes;
            let (reader, ready, at) = blocking(move || {
                let mut ready = VecDeque::new();
                let begun = at;
                while at - begun < PIECE_BYTES as u64 {
                    let Some((size_bytes, line)) = read_line(&mut reader, limit_bytes)? else {
                        break;
                    };
                    if line
                        .as_ref()
                        .is_none_or(|line| !line.trim_ascii().is_empty())
                    {
                        ready.push_back(Found { at, line });
                    }
                    at += size_bytes;
                }
                Ok((reader, ready, at))
            })
            .await?;
            let is_over = at == self.at;
            (self.reader, self.ready, self.at) = (Some(reader), ready, at);
            if is_over {
                return Ok(None);
            }
        }
        match self.ready.pop_front() {
            None => Box::pin(self.next()).await,
            line => Ok(line),
        }
    }

    /// Pushes back the line that was read last.
    pub(super) fn put_back(&mut self, line: Found) {
        self.ready.push_front(line);
    }

    /// The offset of the next line.
    pub(super) fn place(&self) -> u64 {
        self.ready.front().map_or(self.at, |line| line.at)
    }

    /// Continues from an offset at which a line starts.
    ///
    /// # Errors
    /// If the file cannot be read.
    pub(super) async fn seek(&mut self, to: u64) -> Result<(), ApiError> {
        self.ready.clear();
        self.at = to;
        let Some(mut reader) = self.reader.take() else {
            return Ok(());
        };
        let sought = blocking(move || {
            reader.seek(SeekFrom::Start(to))?;
            Ok(reader)
        });
        self.reader = Some(sought.await?);
        Ok(())
    }
}

/// Reads a line without its line feed, and the number of bytes with it. The line is `None` if it is longer than the
/// limit.
fn read_line(
    reader: &mut BufReader<File>,
    limit_bytes: usize,
) -> io::Result<Option<(u64, Option<Vec<u8>>)>> {
    let mut line = Vec::new();
    let mut read = reader
        .by_ref()
        .take(limit_bytes as u64 + 1)
        .read_until(b'\n', &mut line)? as u64;
    if read == 0 {
        return Ok(None);
    }
    if line.pop_if(|last| *last == b'\n').is_some() || line.len() <= limit_bytes {
        return Ok(Some((read, Some(line))));
    }
    drop(line);
    loop {
        let more = reader.fill_buf()?;
        let end = line_end(more);
        let passed = end.map_or(more.len(), |end| end + 1);
        read += passed as u64;
        reader.consume(passed);
        if end.is_some() || passed == 0 {
            return Ok(Some((read, None)));
        }
    }
}

fn line_end(bytes: &[u8]) -> Option<usize> {
    bytes.iter().position(|byte| *byte == b'\n')
}

#[cfg(test)]
mod tests {
    use axum::body::Body;

    use super::*;

    async fn spool(text: &str, limit_bytes: u64) -> Result<Spool, ApiError> {
        let request = Request::new(Body::from(text.to_owned()));
        Spool::receive(request, limit_bytes, &std::env::temp_dir()).await
    }

    async fn rest(lines: &mut Lines) -> Vec<(u64, Option<String>)> {
        let mut all = Vec::new();
        while let Some(Found { at, line }) = lines.next().await.unwrap() {
            all.push((at, line.map(|line| String::from_utf8(line).unwrap())));
        }
        all
    }

    #[tokio::test]
    async fn lines_are_read_from_any_place() {
        let long = "x".repeat(3_000_000);
        let text = format!("ab\n\n  \nc\n{long}\nd\n{long}\nlast");
        let spool = spool(&text, 10_000_000).await.unwrap();
        assert!(spool.beginning().starts_with(b"ab\n\n"));
        let mut lines = spool.lines(10);
        let some = |at, text: &str| (at, Some(text.to_owned()));
        let after = 9 + 3_000_001;
        let all = [
            some(0, "ab"),
            some(7, "c"),
            (9, None),
            some(after, "d"),
            (after + 2, None),
        ];
        let mut all = all.to_vec();
        all.push(some(after + 2 + 3_000_001, "last"));
        assert_eq!(rest(&mut lines).await, all);
        assert!(lines.next().await.unwrap().is_none());
        lines.seek(after).await.unwrap();
        assert_eq!(lines.place(), after);
        assert_eq!(rest(&mut lines).await, all[3..]);
        lines.seek(7).await.unwrap();
        let first = lines.next().await.unwrap().unwrap();
        lines.put_back(first);
        assert_eq!(lines.place(), 7);
        assert_eq!(rest(&mut lines).await, all[1..]);
    }

    #[tokio::test]
    async fn what_is_too_large_is_refused() {
        let refused = spool("12345", 4).await.unwrap_err();
        assert_eq!(refused.problem().code, domain::ProblemCode::TooLarge);
        assert!(
            rest(&mut spool("", 4).await.unwrap().lines(10))
                .await
                .is_empty()
        );
    }
}
