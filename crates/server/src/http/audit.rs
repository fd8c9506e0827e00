//! The audit log for administrators, as pages or as one CSV file.

use std::{fmt::Write as _, sync::Arc};

use axum::{
    body::{Body, Bytes},
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::{ApiKeyId, AuditEntryId, UserId};
use futures_util::stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use store::{AuditEntry, AuditFilter};

use super::lists::{DAY_MS, csv_field, day};
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Query},
        openapi::Operations,
    },
    identity::auth::Admin,
    messages,
    platform::client_info::ClientInfo,
};

/// Maximum number of entries per page and per database query.
const PAGE: u32 = 200;
const MAX_TEXT_CHARS: usize = 200;

/// Filters for the audit log.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[schemars(rename = "AuditQuery")]
pub(super) struct Asked {
    /// A prefix of the action, such as `user.`.
    action: Option<String>,
    /// Matches an address, an action, a request's id or an object.
    query: Option<String>,
    /// The first day, such as `2026-11-23`, UTC.
    from: Option<String>,
    /// The last day.
    to: Option<String>,
    /// The id of the last entry of the previous page.
    before: Option<AuditEntryId>,
    /// 50 by default, at most 200.
    limit: Option<u32>,
    /// `csv` for a file of all entries.
    format: Option<String>,
}

/// An entry of the audit log: who did what.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuditEntry")]
struct View {
    id: AuditEntryId,
    at: i64,
    /// The account that did it.
    actor: Option<UserId>,
    actor_email: Option<String>,
    /// The API key it was done with.
    key: Option<ApiKeyId>,
    address: Option<String>,
    request_id: Option<String>,
    action: String,
    /// The id or name of the object.
    subject: Option<String>,
    subject_name: Option<String>,
    /// What was changed.
    details: Option<Map<String, Value>>,
}

impl From<AuditEntry> for View {
    fn from(entry: AuditEntry) -> Self {
        let AuditEntry {
            id,
            at,
            actor,
            actor_email,
            key,
            address,
            request,
            action,
            ..
        } = entry;
        let AuditEntry {
            subject,
            subject_name,
            details,
            ..
        } = entry;
        let request_id = request;
        Self {
            id,
            at,
            actor,
            actor_email,
            key,
            address,
            request_id,
            action,
            subject,
            subject_name,
            details,
        }
    }
}

/// Entries, the newest first. They are kept for `audit_days`.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "AuditPage")]
struct Page {
    entries: Vec<View>,
    /// Whether there are older ones.
    more: bool,
}

/// `GET /api/v1/audit`: the newest matching entries. Exporting them as a file is itself audited.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    Admin(caller): Admin,
    place: ClientInfo,
    Query(asked): Query<Asked>,
) -> Result<Response, ApiError> {
    let from = asked
        .from
        .as_deref()
        .map(|text| day("from", text))
        .transpose()?
        .map(|day| day * DAY_MS);
    let to = asked
        .to
        .as_deref()
        .map(|text| day("to", text))
        .transpose()?
        .map(|day| (day + 1) * DAY_MS);
    let given = |text: Option<String>| text.filter(|text| !text.is_empty());
    let action = given(asked.action);
    let text = given(asked.query);
    if [&action, &text]
        .into_iter()
        .flatten()
        .any(|text| text.chars().count() > MAX_TEXT_CHARS)
    {
        return Err(ApiError::invalid(messages::Requests::LongSearch {
            limit: MAX_TEXT_CHARS as u64,
        }));
    }
    let filter = AuditFilter {
        action,
        text,
        from,
        to,
        before: asked.before,
    };
    match asked.format.as_deref() {
        None | Some("json") => {
            let limit = asked.limit.unwrap_or(50).clamp(1, PAGE);
            // Query one more than requested to know whether there are more.
            let mut entries = app.store.audit(&filter, limit + 1).await?;
            let more = entries.len() > limit as usize;
            entries.truncate(limit as usize);
            Ok(Json(Page {
                entries: entries.into_iter().map(View::from).collect(),
                more,
            })
            .into_response())
        }
        Some("csv") => {
            let mut details = Map::new();
            for (name, value) in [("from", &asked.from), ("to", &asked.to)] {
                details.extend(value.clone().map(|value| (name.to_owned(), value.into())));
            }
            let subject = "audit".to_owned();
            let name = String::new();
            app.identity
                .note_look("audit.export", &caller, &place, subject, name, details)
                .await?;
            Ok(csv(app, filter))
        }
        Some(_) => Err(ApiError::invalid("`format` is json or csv.").with_field(Some("format"))),
    }
}

/// All matching entries as CSV, queried page by page while the response is sent.
fn csv(app: Arc<App>, filter: AuditFilter) -> Response {
    let head =
        "at,actor,actor_email,key,address,request_id,action,subject,subject_name,details\r\n";
    let begin = Some((app, filter, Some(head)));
    let lines = stream::try_unfold(begin, |state| async move {
        let Some((app, mut filter, head)) = state else {
            return Ok(None);
        };
        let entries = app.store.audit(&filter, PAGE).await.inspect_err(|error| {
            tracing::warn!(%error, "failed to read the audit log; its export is truncated");
        })?;
        let mut out = head.unwrap_or_default().to_owned();
        entries.iter().for_each(|entry| write_line(&mut out, entry));
        let next = entries
            .last()
            .filter(|_| entries.len() == PAGE as usize)
            .map(|last| {
                filter.before = Some(last.id);
                (app, filter, None)
            });
        Ok::<_, store::StoreError>(Some((Bytes::from(out), next)))
    });
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8"),
        (
            header::CONTENT_DISPOSITION,
            "attachment; filename=\"audit.csv\"",
        ),
    ];
    (headers, Body::from_stream(lines)).into_response()
}

fn write_line(out: &mut String, entry: &AuditEntry) {
    let at = jiff::Timestamp::from_millisecond(entry.at)
        .map(|at| at.to_string())
        .unwrap_or_default();
    let details = entry
        .details
        .as_ref()
        .map(|details| Value::from(details.clone()).to_string());
    let actor = entry.actor.map(|id| id.to_string());
    let key = entry.key.map(|id| id.to_string());
    let text = |text: &Option<String>| csv_field(text.as_deref().unwrap_or_default());
    let fields = [
        csv_field(&at),
        text(&actor),
        text(&entry.actor_email),
        text(&key),
        text(&entry.address),
        text(&entry.request),
        csv_field(&entry.action),
        text(&entry.subject),
        text(&entry.subject_name),
        text(&details),
    ];
    // Writing to a String cannot fail.
    _ = write!(out, "{}\r\n", fields.join(","));
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/audit", get, "Lists [who did what](docs/decisions/0042-declare-audit-entries-in-the-route-table.md), the \
         newest first")
        .answers::<Page>(200)
        .answers_media(200, &["text/csv"]);
}
