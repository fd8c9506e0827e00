//! Imports exported data into the caller's account: chat by chat, each in full or not at all, with a report of what was
//! created and what was skipped. Data that exists already is not created again.

mod archive;
mod chat;
mod chats;
mod collections;
mod ids;
mod media;
mod own;
mod report;
mod spool;
mod survey;

use std::sync::Arc;

use axum::extract::{Request, State};
use domain::{LocalizedText, ProblemCode};
use tokio_util::sync::CancellationToken;

use self::{own::Own, report::Report, spool::Spool};
use crate::{
    app::App,
    error::ApiError,
    http::{extract::Json, openapi::Operations},
    identity::{audit::Noted, auth::Caller},
    messages,
};

/// Maximum length of a line, in addition to the largest body: a file of a chat has 10 MB, a third more in base64.
const LINE_BYTES: usize = 16_000_000;

/// The format of a file, detected by its beginning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Format {
    /// JSON Lines exported by Glasshouse.
    Own,
    /// Chats of another product: a list, one chat, or one per line.
    Chats,
    /// An object that contains a list of chats.
    WrappedChats,
    /// A ZIP archive of chats.
    Archive,
}

/// Stops the import between two chats if the server is stopping or the caller's access was revoked.
fn check_may_go_on(app: &App, ends: &CancellationToken) -> Result<(), ApiError> {
    if app.stopping.is_cancelled() {
        let message = messages::Chats::StoppingImport;
        return Err(ApiError::new(ProblemCode::Unavailable, message));
    }
    match ends.is_cancelled() {
        true => Err(ApiError::unauthenticated(false)),
        false => Ok(()),
    }
}

/// `POST /api/v1/me/import`: imports the body. It can be repeated: existing data is not created again.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    caller: Caller,
    noted: Noted,
    request: Request,
) -> Result<Json<Report>, ApiError> {
    let limit = app.config.now().import_limit_bytes;
    if limit == 0 {
        return Err(ApiError::forbidden(messages::Chats::ImportingIsOff));
    }
    let _held = app.transfer_slots.begin(caller.id()).await?;
    let ends = app.identity.standing.ends(&caller);
    let spool = Spool::receive(request, limit, &app.config.now().data_dir).await?;
    let format = format(spool.beginning())?;
    let _turn = app.transfer_slots.turn().await?;
    let report = match format {
        Format::Own => {
            let lines = spool.lines(LINE_BYTES + app.config.now().body_limit_bytes);
            Own::new(&app, &caller, lines, ends).run().await
        }
        Format::Chats => chats::run(&app, &caller, spool.pieces(), false, ends).await,
        Format::WrappedChats => chats::run(&app, &caller, spool.pieces(), true, ends).await,
        Format::Archive => chats::run_archive(&app, &caller, spool.into_file(), ends).await,
    };
    let report = report?;
    noted.with("made", report.made_counts());
    Ok(Json(report))
}

/// Keys of which a single chat has one near its beginning.
const CHAT_KEYS: [&str; 8] = [
    "\"chat\"",
    "\"history\"",
    "\"messages\"",
    "\"mapping\"",
    "\"conversation_id\"",
    "\"conversationId\"",
    "\"chat_messages\"",
    "\"uuid\"",
];

fn format(beginning: &[u8]) -> Result<Format, ApiError> {
    let text = beginning
        .strip_prefix(b"\xef\xbb\xbf")
        .unwrap_or(beginning)
        .trim_ascii_start();
    if text.starts_with(b"{\"glasshouse_export\"") {
        return Ok(Format::Own);
    }
    if text.starts_with(b"PK\x03\x04") || text.starts_with(b"PK\x05\x06") {
        return Ok(Format::Archive);
    }
    if is_wrapped(text) {
        return Ok(Format::WrappedChats);
    }
    // A single chat can start in many ways, a list of them in only one.
    let is_list = text
        .strip_prefix(b"[")
        .is_some_and(|rest| matches!(rest.trim_ascii_start(), [b'{' | b']', ..]));
    let names = |key: &str| text.windows(key.len()).any(|part| part == key.as_bytes());
    if is_list || (text.starts_with(b"{") && CHAT_KEYS.into_iter().any(names)) {
        return Ok(Format::Chats);
    }
    Err(ApiError::invalid(match beginning {
        [] => LocalizedText::from(messages::Knowledge::EmptyFile),
        [0x1f, 0x8b, ..] => messages::Chats::CompressedFile.into(),
        _ => messages::Chats::NoImportableFile.into(),
    }))
}

/// Whether it begins like `{"conversations": [`, as some programs write ChatGPT's chats.
fn is_wrapped(text: &[u8]) -> bool {
    let mut rest = text;
    for token in [&b"{"[..], b"\"conversations\"", b":", b"["] {
        match rest.trim_ascii_start().strip_prefix(token) {
            Some(after) => rest = after,
            None => return false,
        }
    }
    true
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("POST /api/v1/me/import", post, "Imports an export, or [chats of other products](docs/team/your-data.md#chats-from-other-products)")
        .details("400 if it is none of these, 413 over [`import_limit_mb`](docs/reference/configuration.md#the-server), \
         403 if that is 0. 409 while another export or import of the caller is in progress, 429 while \
         too many others are. An import whose file has arrived continues if the client disconnects.")
        .body_of("application/octet-stream")
        .errors(&[409, 429]);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_known_by_how_it_begins() {
        assert_eq!(
            format(b"{\"glasshouse_export\":{\"format\":1}}").unwrap(),
            Format::Own
        );
        assert_eq!(
            format(b"\xef\xbb\xbf {\"glasshouse_export\":").unwrap(),
            Format::Own
        );
        for list in [
            &b"[{\"id\":\"c\""[..],
            b" [\n { ",
            b"[]",
            b"{\"title\":\"T\",\"history\":{}}",
            b"{\"title\":\"T\",\"mapping\":{}}",
            b"{\"uuid\":\"u\",\"name\":\"N\"}",
            b"{\"conversationId\":\"c\"}\n{\"conversationId\":\"d\"}",
        ] {
            assert_eq!(format(list).unwrap(), Format::Chats);
        }
        let wrapped = b"{ \"conversations\" :[\n{}";
        assert_eq!(format(wrapped).unwrap(), Format::WrappedChats);
        for archive in [b"PK\x03\x04", b"PK\x05\x06"] {
            assert_eq!(format(archive).unwrap(), Format::Archive);
        }
        for (bad, words) in [
            (&b""[..], "empty"),
            (b"[1,2]", "cannot be imported"),
            (b"PK", "cannot be imported"),
            (b"\x1f\x8b\x08", "compressed"),
            (b"\xef\xbb\xbf", "cannot be imported"),
            (b"{\"a\":1}", "cannot be imported"),
            (b"<html>", "cannot be imported"),
        ] {
            let refused = format(bad).unwrap_err();
            assert!(refused.problem().message.contains(words), "{refused}");
        }
    }
}
