//! Dates and CSV fields, shared by the lists that are filtered by day and exported as CSV.

use crate::{error::ApiError, messages};

pub(super) const DAY_MS: i64 = 86_400_000;

/// Parses a date to days since 1970-01-01.
///
/// # Errors
/// 400 that names `field`.
pub(super) fn day(field: &'static str, text: &str) -> Result<i64, ApiError> {
    let date: Option<jiff::civil::Date> = text.parse().ok();
    let at = date.and_then(|date| date.to_zoned(jiff::tz::TimeZone::UTC).ok());
    let at =
        at.ok_or_else(|| ApiError::invalid(messages::Requests::BadDay).with_field(Some(field)))?;
    Ok(at.timestamp().as_millisecond().div_euclid(DAY_MS))
}

/// Formats a day as a date, such as `2026-11-23`.
pub(super) fn date(day: i64) -> String {
    let at = jiff::Timestamp::from_millisecond(day.saturating_mul(DAY_MS)).unwrap_or_default();
    at.to_zoned(jiff::tz::TimeZone::UTC).date().to_string()
}

/// A quoted CSV field that spreadsheets do not interpret as a formula.
pub(super) fn csv_field(text: &str) -> String {
    let guard = if text.starts_with(['=', '+', '-', '@', '\t', '\r']) {
        "'"
    } else {
        ""
    };
    format!("\"{guard}{}\"", text.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_read_and_written() {
        assert_eq!(date(day("from", "2026-11-23").unwrap()), "2026-11-23");
        assert_eq!(day("from", "1970-01-02").unwrap(), 1);
        for bad in [
            "",
            "23.11.2026",
            "2026-13-01",
            "2026-11-23T00:00:00Z'",
            "9999999-01-01",
        ] {
            assert!(day("from", bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn no_field_is_a_formula() {
        assert_eq!(csv_field("a\"b,c"), "\"a\"\"b,c\"");
        assert_eq!(csv_field("=1+1"), "\"'=1+1\"");
    }
}
