//! Usage reports: of all accounts for administrators, of their own account for others; as JSON or CSV.

use std::{collections::HashMap, fmt::Write as _, sync::Arc};

use axum::{
    extract::State,
    http::header,
    response::{IntoResponse, Response},
};
use domain::LocalizedText;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use store::{UsageBy, UsageOf, UsageRow, UsageSum, UserRole};

use super::lists::{DAY_MS, csv_field, date, day};
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Json, Query},
        openapi::Operations,
    },
    identity::auth::Caller,
    messages,
};

/// Maximum number of days in a report.
const MAX_DAYS: i64 = 3_660;
/// Default number of days.
const DAYS: i64 = 30;

/// The filter and the grouping of a usage report.
#[derive(Debug, Deserialize, JsonSchema)]
#[schemars(rename = "UsageQuery")]
pub(super) struct Asked {
    /// `day`, `user`, `model`, `key` or `person`.
    by: Option<String>,
    /// The first day, such as `2026-11-23`, UTC; by default the last 30 days.
    from: Option<String>,
    /// The last day.
    to: Option<String>,
    /// `csv` for a file.
    format: Option<String>,
    /// `own` for an administrator's own usage. Others only see their own.
    of: Option<String>,
}

/// A usage report.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UsageReport")]
struct View {
    from: String,
    to: String,
    total: Sum,
    rows: Vec<RowView>,
}

/// The usage of one day, account, model, key or person.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UsageRow")]
struct RowView {
    /// A day such as `2026-11-23`, a model's name, or an id; empty if there is no key or person.
    name: String,
    /// Its display name, if different.
    #[serde(skip_serializing_if = "Option::is_none")]
    label: Option<String>,
    #[serde(flatten)]
    sum: Sum,
}

/// Sums of model calls.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "UsageSum")]
struct Sum {
    requests: u64,
    input_tokens: u64,
    output_tokens: u64,
    /// The sum of the known costs in millionths of a US dollar; `null` if [no price](docs/models/prices.md) of the
    /// calls is known.
    cost_micro_usd: Option<u64>,
    cached_tokens: u64,
    cache_write_tokens: u64,
    reasoning_tokens: u64,
    /// Calls that `cost_micro_usd` leaves out.
    unpriced_requests: u64,
    /// Calls for which the provider reported no token counts.
    estimated_requests: u64,
}

impl From<UsageSum> for Sum {
    fn from(sum: UsageSum) -> Self {
        Self {
            requests: sum.requests,
            input_tokens: sum.input_tokens,
            output_tokens: sum.output_tokens,
            cost_micro_usd: sum.known_cost_micro_usd(),
            cached_tokens: sum.cached_tokens,
            cache_write_tokens: sum.cache_write_tokens,
            reasoning_tokens: sum.reasoning_tokens,
            unpriced_requests: sum.unpriced_requests,
            estimated_requests: sum.estimated_requests,
        }
    }
}

/// `GET /api/v1/usage`.
pub(super) async fn get(
    State(app): State<Arc<App>>,
    caller: Caller,
    Query(asked): Query<Asked>,
) -> Result<Response, ApiError> {
    let by = match asked.by.as_deref().unwrap_or("day") {
        "day" => UsageBy::Day,
        "user" => UsageBy::User,
        "model" => UsageBy::Model,
        "key" => UsageBy::Key,
        "person" => UsageBy::Person,
        _ => return Err(bad("by", "`by` is day, user, model, key or person.")),
    };
    let today = app.clock.now_ms().div_euclid(DAY_MS);
    let to = asked
        .to
        .as_deref()
        .map_or(Ok(today), |text| day("to", text))?;
    let from = asked
        .from
        .as_deref()
        .map_or(Ok(to - DAYS + 1), |text| day("from", text))?;
    if from > to || to - from >= MAX_DAYS {
        return Err(bad("from", messages::Requests::BadDays));
    }
    let of = match asked.of.as_deref() {
        None | Some("all") if caller.user.role == UserRole::Admin => UsageOf::All,
        None | Some("own") => UsageOf::User(caller.id()),
        Some("all") => return Err(ApiError::forbidden(messages::Accounts::OnlyOwnUsage)),
        Some(_) => return Err(bad("of", "`of` is all or own.")),
    };
    app.usage.write_down().await?;
    let rows = app.store.usage(&of, by, from, to).await?;
    let labels = labels(&app, &caller, by, &rows).await?;
    let mut total = UsageSum::default();
    rows.iter().for_each(|row| total += row.sum);
    let row = |UsageRow { name, sum }: UsageRow| {
        let name = match by {
            UsageBy::Day => name.parse().map_or(name, date),
            _ => name,
        };
        RowView {
            label: labels.get(&name).cloned(),
            name,
            sum: sum.into(),
        }
    };
    let rows = rows.into_iter().map(row).collect();
    let view = View {
        from: date(from),
        to: date(to),
        total: total.into(),
        rows,
    };
    match asked.format.as_deref() {
        None | Some("json") => Ok(Json(view).into_response()),
        Some("csv") => Ok(csv(&view)),
        Some(_) => Err(bad("format", "`format` is json or csv.")),
    }
}

/// Labels for rows whose names are ids.
async fn labels(
    app: &App,
    caller: &Caller,
    by: UsageBy,
    rows: &[UsageRow],
) -> Result<HashMap<String, String>, ApiError> {
    let mut labels = HashMap::new();
    match by {
        UsageBy::User => {
            for row in rows {
                let Ok(id) = row.name.parse() else { continue };
                // A deleted account has only its id.
                if let Ok(user) = app.store.user(id).await {
                    labels.insert(row.name.clone(), user.email);
                }
            }
        }
        UsageBy::Key => {
            for key in app.store.api_keys(caller.id()).await? {
                labels.insert(key.id.to_string(), key.name);
            }
        }
        UsageBy::Day | UsageBy::Model | UsageBy::Person => {}
    }
    Ok(labels)
}

fn bad(field: &'static str, message: impl Into<LocalizedText>) -> ApiError {
    ApiError::invalid(message).with_field(Some(field))
}

fn csv(view: &View) -> Response {
    let mut out = String::from(
        "name,label,requests,input_tokens,output_tokens,cost_usd,cached_tokens,cache_write_tokens,reasoning_tokens,\
         unpriced_requests,estimated_requests\r\n",
    );
    for RowView { name, label, sum } in &view.rows {
        let Sum {
            requests,
            input_tokens,
            output_tokens,
            cost_micro_usd,
            ..
        } = sum;
        let Sum {
            cached_tokens,
            cache_write_tokens,
            reasoning_tokens,
            ..
        } = sum;
        let Sum {
            unpriced_requests,
            estimated_requests,
            ..
        } = sum;
        let name = csv_field(name);
        let label = csv_field(label.as_deref().unwrap_or_default());
        let cost =
            cost_micro_usd.map(|cost| format!("{}.{:06}", cost / 1_000_000, cost % 1_000_000));
        let cost = cost.unwrap_or_default();
        // Writing to a `String` cannot fail.
        _ = write!(
            out,
            "{name},{label},{requests},{input_tokens},{output_tokens},{cost},{cached_tokens},{cache_write_tokens},\
             {reasoning_tokens},{unpriced_requests},{estimated_requests}\r\n"
        );
    }
    let disposition = format!(
        "attachment; filename=\"usage-{}-{}.csv\"",
        view.from, view.to
    );
    let headers = [
        (header::CONTENT_TYPE, "text/csv; charset=utf-8".to_owned()),
        (header::CONTENT_DISPOSITION, disposition),
    ];
    (headers, out).into_response()
}

/// Describes the operations of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler("GET /api/v1/usage", get, "Returns what was used, by day, user, model, key or person")
        .details("Administrators see those of all accounts, others their own. Impossible figures (more than 1,000,000,000 \
         tokens in a call) are replaced by estimates, and sums saturate at 9·10¹⁵.")
        .answers::<View>(200)
        .answers_media(200, &["text/csv"]);
}
