//! Filters a search by file type, document name, date, tags and metadata. Models write these in many forms; a value that
//! cannot be parsed is reported, never ignored.

use domain::{CollectionId, DocumentId, UserId};
use jiff::{Span, Timestamp, civil::Date, tz::TimeZone};
use serde::Deserialize;
use serde_json::Value;
use store::{DocumentFilter, FilterScope, Store, StoreError};

use super::metadata_filters::{TagFilters, conditions};

/// Maximum number of extensions, and maximum length of one.
pub(crate) const MAX_ENDINGS: usize = 30;
pub(crate) const ENDING_CHARS: usize = 16;
/// Maximum length of the name filter, characters.
pub(crate) const NAME_CHARS: usize = 200;
/// Numbers from `FIRST_MS` on are milliseconds, from `FIRST_SECOND` on seconds, and smaller ones years.
const FIRST_MS: i64 = 100_000_000_000;
const FIRST_SECOND: i64 = 100_000_000;

/// Common names of file types, and their extensions.
const KINDS: [(&[&str], &[&str]); 8] = [
    (&["word"], &["docx", "docm", "doc", "odt", "rtf"]),
    (
        &[
            "slides",
            "slide",
            "powerpoint",
            "presentation",
            "presentations",
        ],
        &["pptx", "pptm", "ppt", "odp"],
    ),
    (
        &["tables", "table", "excel", "spreadsheet", "spreadsheets"],
        &["xlsx", "xlsm", "xls", "ods", "csv", "tsv"],
    ),
    (
        &["pages", "page", "web", "webpage", "html"],
        &["html", "htm", "xhtml", "mht", "mhtml"],
    ),
    (&["mail", "mails", "email", "emails"], &["eml", "msg"]),
    (
        &["text", "texts", "plain"],
        &["md", "markdown", "txt", "rst"],
    ),
    (&["markdown", "md"], &["md", "markdown"]),
    (
        &["pictures", "picture", "images", "image", "photo", "photos"],
        &["png", "jpg", "jpeg", "webp", "gif"],
    ),
];

/// Words that do not name a type.
const FILLERS: [&str; 6] = ["and", "or", "file", "files", "document", "documents"];

/// The filter arguments that a model writes.
#[derive(Debug, Default, Deserialize)]
pub(super) struct FilterArguments {
    #[serde(default)]
    types: Value,
    #[serde(default)]
    document: Option<String>,
    #[serde(default)]
    since: Value,
    #[serde(default)]
    until: Value,
    #[serde(default)]
    tags: Value,
    #[serde(default)]
    metadata: Value,
}

impl FilterArguments {
    /// The filter.
    ///
    /// # Errors
    /// A sentence for the model if a value cannot be parsed.
    pub(super) fn filter(&self) -> Result<DocumentFilter, String> {
        let name = self
            .document
            .as_deref()
            .unwrap_or_default()
            .trim()
            .to_lowercase();
        if name.chars().count() > NAME_CHARS {
            return Err(format!("`document` may have {NAME_CHARS} characters."));
        }
        let since = period("since", &self.since)?.map(|(first, _)| first);
        let until = period("until", &self.until)?.map(|(_, behind)| behind);
        if since
            .zip(until)
            .is_some_and(|(since, until)| since >= until)
        {
            return Err("`since` must be before `until`.".to_owned());
        }
        let tags = TagFilters {
            all: Some(&self.tags),
            ..TagFilters::default()
        };
        Ok(DocumentFilter {
            endings: endings(&self.types)?,
            name,
            since,
            until,
            metadata: conditions(&tags, &self.metadata).map_err(|problem| problem.words())?,
        })
    }
}

/// The extensions named by a value: `pdf`, `.PDF`, `word`, `["md", "txt"]`, `pdf, docx`.
fn endings(types: &Value) -> Result<Vec<String>, String> {
    let not_words =
        || "`types` must be kinds of files, such as \"pdf\" or [\"word\", \"md\"].".to_owned();
    let said: Vec<&str> = match types {
        Value::Null => Vec::new(),
        Value::String(words) => vec![words],
        Value::Array(all) => {
            let words = all.iter().map(Value::as_str).collect::<Option<_>>();
            words.ok_or_else(not_words)?
        }
        _ => return Err(not_words()),
    };
    let words = said
        .iter()
        .flat_map(|words| words.split([',', ';', '|', ' ', '\n']));
    let mut endings: Vec<String> = Vec::new();
    for word in words.map(|word| word.trim_start_matches(['*', '.']).to_lowercase()) {
        if word.is_empty() || FILLERS.contains(&word.as_str()) {
            continue;
        }
        if matches!(word.as_str(), "all" | "any") {
            return Ok(Vec::new());
        }
        match KINDS
            .iter()
            .find(|(names, _)| names.contains(&word.as_str()))
        {
            Some((_, of_kind)) => endings.extend(of_kind.iter().map(|&ending| ending.to_owned())),
            None if is_ending(&word) => endings.push(word),
            None => return Err(format!("“{}” is no kind of files.", shortened(&word))),
        }
        if endings.len() > MAX_ENDINGS {
            return Err(format!("`types` may name {MAX_ENDINGS} kinds of files."));
        }
    }
    Ok(endings)
}

/// Whether a text is a valid extension.
pub(crate) fn is_ending(ending: &str) -> bool {
    (1..=ENDING_CHARS).contains(&ending.chars().count())
        && ending.chars().all(char::is_alphanumeric)
}

/// The period of a value, from its first millisecond to the first one after it: a year, a month, a day, or an instant.
/// Days are in UTC.
fn period(field: &str, value: &Value) -> Result<Option<(i64, i64)>, String> {
    let wrong =
        || format!("`{field}` must be a day, such as \"2026-05-31\", or a month or a year.");
    let said = match value {
        Value::Null => return Ok(None),
        Value::String(words) => words.trim().to_owned(),
        Value::Number(number) => number.to_string(),
        _ => return Err(wrong()),
    };
    if said.is_empty() {
        return Ok(None);
    }
    if let Ok(number) = said.parse::<i64>()
        && number >= FIRST_SECOND
    {
        let ms = if number >= FIRST_MS {
            number
        } else {
            number * 1000
        };
        return Ok(Some((ms, ms.saturating_add(1))));
    }
    let found = period_of(&said).filter(|(first, _)| *first >= 0);
    found.map(Some).ok_or_else(wrong)
}

/// The period of a year, a month, a day or an instant, from its first millisecond to the first one after it, in UTC.
pub(super) fn period_of(said: &str) -> Option<(i64, i64)> {
    let moment = || {
        said.parse::<Timestamp>()
            .ok()
            .map(|at| (at.as_millisecond(), at.as_millisecond() + 1))
    };
    days(said).or_else(moment)
}

/// A year, a month or a day, in milliseconds.
fn days(said: &str) -> Option<(i64, i64)> {
    // A time without a time zone counts as its whole day.
    let said = match said.split_once(['T', ' ']) {
        Some((day, time)) if !time.contains(['Z', 'z', '+', '-']) => day,
        _ => said,
    };
    let mut parts = said.splitn(3, ['-', '/', '.']);
    let number = |part: Option<&str>| part.map(str::parse::<i16>).transpose().ok();
    let year = number(parts.next())??;
    let month = number(parts.next())?;
    let day = number(parts.next())?;
    if year < 1000 {
        return None;
    }
    let small = |part: Option<i16>| i8::try_from(part.unwrap_or(1)).ok();
    let first = Date::new(year, small(month)?, small(day)?).ok()?;
    let length = match (month, day) {
        (None, _) => Span::new().years(1),
        (_, None) => Span::new().months(1),
        _ => Span::new().days(1),
    };
    let behind = first.checked_add(length).ok()?;
    let ms = |date: Date| {
        Some(
            date.to_zoned(TimeZone::UTC)
                .ok()?
                .timestamp()
                .as_millisecond(),
        )
    };
    Some((ms(first)?, ms(behind)?))
}

fn shortened(word: &str) -> String {
    word.chars().take(40).collect()
}

/// Applies the filter: the collections with matching documents that the user may read, and those documents; `None` if
/// nothing matches. The caller must have checked access to the collections.
///
/// Only database errors.
pub(crate) async fn narrow(
    store: &Store,
    reader: UserId,
    searched: &[CollectionId],
    filter: &DocumentFilter,
) -> Result<Option<(Vec<CollectionId>, Vec<DocumentId>)>, StoreError> {
    let scope = FilterScope::Searchable;
    let found = store
        .filtered_documents(reader, searched, filter, scope)
        .await?;
    // A collection without a match is not searched at all.
    let mut collections: Vec<CollectionId> = Vec::new();
    let mut documents = Vec::with_capacity(found.len());
    for (collection, document) in found {
        if collections.last() != Some(&collection) {
            collections.push(collection);
        }
        documents.push(document);
    }
    collections.sort_unstable();
    collections.dedup();
    Ok((!collections.is_empty()).then_some((collections, documents)))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filter(arguments: Value) -> Result<DocumentFilter, String> {
        serde_json::from_value::<FilterArguments>(arguments)
            .unwrap()
            .filter()
    }

    #[track_caller]
    fn check_types(types: Value, expected: &[&str]) {
        assert_eq!(
            filter(json!({ "types": types })).unwrap().endings,
            expected,
            "{types}"
        );
    }

    #[track_caller]
    fn check_time(said: Value, expected_since: &str, expected_until: &str) {
        let found = filter(json!({ "since": said })).unwrap().since;
        let behind = filter(json!({ "until": said })).unwrap().until;
        let ms = |text: &str| text.parse::<Timestamp>().unwrap().as_millisecond();
        assert_eq!(
            (found, behind),
            (Some(ms(expected_since)), Some(ms(expected_until))),
            "{said}"
        );
    }

    #[test]
    fn kinds_are_understood_as_people_call_them() {
        check_types(json!(null), &[]);
        check_types(json!(""), &[]);
        check_types(json!("any"), &[]);
        check_types(json!("documents"), &[]);
        check_types(json!("pdf"), &["pdf"]);
        check_types(json!(".PDF"), &["pdf"]);
        check_types(json!("*.rs, toml"), &["rs", "toml"]);
        check_types(
            json!(["PDF files", "Word"]),
            &["pdf", "docx", "docm", "doc", "odt", "rtf"],
        );
        check_types(json!("pdf or markdown"), &["pdf", "md", "markdown"]);
    }

    #[test]
    fn times_are_years_months_days_and_moments() {
        check_time(json!(2026), "2026-01-01T00:00:00Z", "2027-01-01T00:00:00Z");
        check_time(
            json!("2026-02"),
            "2026-02-01T00:00:00Z",
            "2026-03-01T00:00:00Z",
        );
        check_time(
            json!("2026-12-31"),
            "2026-12-31T00:00:00Z",
            "2027-01-01T00:00:00Z",
        );
        check_time(
            json!("2026/5/3"),
            "2026-05-03T00:00:00Z",
            "2026-05-04T00:00:00Z",
        );
        check_time(
            json!("2026-05-03 10:30"),
            "2026-05-03T00:00:00Z",
            "2026-05-04T00:00:00Z",
        );
        check_time(
            json!("2026-05-03T10:30:00Z"),
            "2026-05-03T10:30:00Z",
            "2026-05-03T10:30:00.001Z",
        );
        check_time(
            json!("2026-05-03T10:30:00+02:00"),
            "2026-05-03T08:30:00Z",
            "2026-05-03T08:30:00.001Z",
        );
        check_time(
            json!(1_777_777_777),
            "2026-05-03T03:09:37Z",
            "2026-05-03T03:09:37.001Z",
        );
        check_time(
            json!(1_777_777_777_000_i64),
            "2026-05-03T03:09:37Z",
            "2026-05-03T03:09:37.001Z",
        );
    }

    #[test]
    fn what_cannot_be_understood_is_told() {
        for wrong in [
            json!({"types": 7}),
            json!({"types": [7]}),
            json!({"types": "../etc"}),
            json!({"types": "x".repeat(17)}),
            json!({"types": vec!["a"; 31]}),
            json!({"since": "last week"}),
            json!({"since": "2026-13-01"}),
            json!({"since": "2026-02-30"}),
            json!({"since": "1026"}),
            json!({"since": -5}),
            json!({"until": {"day": 1}}),
            json!({"since": "2026-06", "until": "2026-05"}),
            json!({"document": "x".repeat(201)}),
            json!({"tags": 7}),
            json!({"metadata": {"author": {"near": "Ada"}}}),
        ] {
            assert!(filter(wrong.clone()).is_err(), "{wrong}");
        }
    }

    #[test]
    fn what_is_left_empty_narrows_nothing() {
        let empty = json!({
            "types": "", "document": " ", "since": "", "until": null, "tags": [], "metadata": {},
        });
        assert_eq!(filter(empty), Ok(DocumentFilter::default()));
    }
}
