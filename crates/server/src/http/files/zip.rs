//! All files of a chat as one ZIP archive, generated while it is sent: one file at a time is in memory. Files that
//! cannot be read are listed in a text file of the archive.

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

/// Names are cut to a length that headers and file systems accept.
const NAME_LIMIT_CHARS: usize = 60;

/// `GET /api/v1/chats/{chat}/files/zip`: returns all files.
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

/// The chat's title as a file name.
fn archive_name(title: &str) -> String {
    let title: String = title.chars().take(NAME_LIMIT_CHARS).map(safe).collect();
    let title = title.trim().replace('/', "_");
    if title.is_empty() {
        "files.zip".to_owned()
    } else {
        format!("{title}.zip")
    }
}

/// An archive that is being written.
struct Archive {
    writer: ZipArchiveWriter<Piece>,
    piece: Piece,
}

/// The bytes that were written but not sent yet, shared by the archive's writer and the sender.
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

    /// Adds a file and returns the bytes to send.
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
        // Also marks the names as Unix names: some programs read others in a legacy code page.
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

    /// Writes the central directory at the end.
    fn finish(self) -> io::Result<Bytes> {
        self.writer.finish().map_err(io::Error::other)?;
        Ok(self.piece.take())
    }
}

/// Replaces characters that are special on some system. The paths themselves are normalized and do not lead outside.
fn safe(char: char) -> char {
    if char.is_control() || matches!(char, '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|') {
        '_'
    } else {
        char
    }
}

/// The state of the stream: what is still to be written.
struct Rest {
    archive: Archive,
    rows: IntoIter<FileRow>,
    left_out: LeftOut,
}

/// The files that could not be read, with the reasons.
struct LeftOut {
    /// The text file that lists them; no file of the chat has its path.
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

/// The archive's bytes, one chunk per file. An error truncates it, which programs detect by the missing end.
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
                    // Deleted in the meantime.
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
