//! All files of a chat as one ZIP archive, made while it is sent: one file at a time is in memory. What could not be read
//! is named in a text of the archive.

use std::{
    io::{self, Write},
    mem,
    sync::{Arc, Mutex, PoisonError},
    vec::IntoIter,
};

use agent::{
    Workspace,
    workspace::{FileProblem, Path as FilePath},
};
use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use bytes::Bytes;
use domain::{ChatId, ProblemCode};
use flate2::{Compression, write::DeflateEncoder};
use futures_util::stream;
use rawzip::{CompressionMethod, ZipArchiveWriter, time::UtcDateTime};
use store::FileRow;
use tokio::task::spawn_blocking;

use super::{content::named, readable};
use crate::{
    app::App, chat::access::Viewer, error::ApiError, http::extract::Path,
    http::openapi::Operations, messages,
};

/// Names are cut to what a header and a file system take.
const NAME_LIMIT_CHARS: usize = 60;

/// `GET /api/v1/chats/{chat}/files/zip`: all files.
pub(in crate::http) async fn get(
    State(app): State<Arc<App>>,
    viewer: Viewer,
    Path(chat): Path<ChatId>,
) -> Result<Response, ApiError> {
    let (shown, files) = readable(&app, &viewer, chat).await?;
    let (rows, more) = files.rows().await?;
    if more {
        return Err(ApiError::new(
            ProblemCode::TooLarge,
            messages::Chats::TooManyForArchive,
        ));
    }
    let mut response = Body::from_stream(archive(files, rows, app.clock.now_ms())).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/zip"),
    );
    headers.insert(
        header::CONTENT_DISPOSITION,
        named("attachment", &archive_name(&shown.chat.title)),
    );
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-store"),
    );
    Ok(response)
}

/// The chat's title as the name of a file.
fn archive_name(title: &str) -> String {
    let title: String = title.chars().take(NAME_LIMIT_CHARS).map(safe).collect();
    let title = title.trim().replace('/', "_");
    if title.is_empty() {
        "files.zip".to_owned()
    } else {
        format!("{title}.zip")
    }
}

/// The archive as far as it is written.
struct Archive {
    writer: ZipArchiveWriter<Piece>,
    piece: Piece,
}

/// What was written and not sent yet; the archive's writer and who sends share it.
#[derive(Debug, Clone, Default)]
struct Piece(Arc<Mutex<Vec<u8>>>);

impl Piece {
    fn take(&self) -> Bytes {
        mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner)).into()
    }
}

impl Write for Piece {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Archive {
    fn new() -> Self {
        let piece = Piece::default();
        Self {
            writer: ZipArchiveWriter::new(piece.clone()),
            piece,
        }
    }

    /// Adds a file; gives the bytes to send.
    fn add(mut self, file: &FileRow, content: &[u8]) -> io::Result<(Self, Bytes)> {
        let name: String = file
            .path
            .trim_start_matches('/')
            .chars()
            .map(safe)
            .collect();
        let entry = self
            .writer
            .new_file(&name)
            .compression_method(CompressionMethod::DEFLATE);
        // Also says that the names are of Unix: some programs read those of others in an old code page.
        let entry = entry
            .unix_permissions(0o644)
            .last_modified(UtcDateTime::from_unix(file.changed_at / 1000));
        let (mut entry, config) = entry.start().map_err(io::Error::other)?;
        let mut writer = config.wrap(DeflateEncoder::new(&mut entry, Compression::fast()));
        writer.write_all(content)?;
        let (encoder, descriptor) = writer.finish().map_err(io::Error::other)?;
        encoder.finish()?;
        entry.finish(descriptor).map_err(io::Error::other)?;
        let piece = self.piece.take();
        Ok((self, piece))
    }

    /// The end, with the list of all files.
    fn finish(self) -> io::Result<Bytes> {
        self.writer.finish().map_err(io::Error::other)?;
        Ok(self.piece.take())
    }
}

/// Characters that mean something else to one system or another do not come into a name. The paths themselves are
/// normalised and lead nowhere else.
fn safe(char: char) -> char {
    if char.is_control() || matches!(char, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|') {
        '_'
    } else {
        char
    }
}

/// What is left to do.
struct Rest {
    archive: Archive,
    rows: IntoIter<FileRow>,
    left_out: LeftOut,
}

/// The files that could not be read, and why.
struct LeftOut {
    /// The text that names them; no file of the chat has this path.
    row: FileRow,
    text: String,
}

impl LeftOut {
    fn new(rows: &[FileRow], now_ms: i64) -> Self {
        let mut path = "/NOT-IN-THIS-ARCHIVE.txt".to_owned();
        while rows.iter().any(|row| row.path.eq_ignore_ascii_case(&path)) {
            path.insert(1, '_');
        }
        let row = FileRow {
            path,
            size_bytes: 0,
            version: 0,
            changed_at: now_ms,
        };
        Self {
            row,
            text: String::new(),
        }
    }

    fn note(&mut self, path: &FilePath, why: &FileProblem) {
        if self.text.is_empty() {
            self.text
                .push_str("These files could not be read, so they are not in this archive:\n\n");
        }
        self.text.push_str(&format!("{path}\n    {why}\n"));
    }
}

/// The archive's bytes, a piece for each file. An error breaks it off, which programs notice: its end is missing.
fn archive(
    files: Workspace,
    rows: Vec<FileRow>,
    now_ms: i64,
) -> impl futures_util::Stream<Item = io::Result<Bytes>> {
    let left_out = LeftOut::new(&rows, now_ms);
    let rest = Rest {
        archive: Archive::new(),
        rows: rows.into_iter(),
        left_out,
    };
    stream::try_unfold(Some(rest), move |rest| {
        let files = files.clone();
        async move {
            let Some(Rest {
                archive,
                mut rows,
                mut left_out,
            }) = rest
            else {
                return Ok(None);
            };
            loop {
                let Some(row) = rows.next() else {
                    let LeftOut { row, text } = left_out;
                    if text.is_empty() {
                        return Ok(Some((archive.finish()?, None)));
                    }
                    let (archive, piece) = archive.add(&row, text.as_bytes())?;
                    let end = archive.finish()?;
                    return Ok(Some(([piece, end].concat().into(), None)));
                };
                let Ok(path) = FilePath::parse_file(&row.path) else {
                    continue;
                };
                let content = match files.peek(&path).await {
                    Ok(content) => content,
                    // Deleted meanwhile.
                    Err(FileProblem::Missing(_)) => continue,
                    Err(why) => {
                        left_out.note(&path, &why);
                        continue;
                    }
                };
                let (archive, piece) = spawn_blocking(move || archive.add(&row, &content))
                    .await
                    .map_err(io::Error::other)??;
                return Ok(Some((
                    piece,
                    Some(Rest {
                        archive,
                        rows,
                        left_out,
                    }),
                )));
            }
        }
    })
}

/// Describes the calls of this file.
pub(in crate::http) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/chats/{chat}/files/zip",
        get,
        "Returns all files as one ZIP archive",
    )
    .details(
        "What cannot be read, such as a file of a directory that is too large, is listed in \
         `NOT-IN-THIS-ARCHIVE.txt`. 413 if there are more files than are listed.",
    )
    .answers_media(200, &["application/zip"])
    .errors(&[413]);
}
