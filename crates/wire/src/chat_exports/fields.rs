//! Reads fields whose type varies between versions.

use serde_json::Value;

/// A text, or an empty one.
pub(super) fn text_of(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}

/// The text of a field, or an empty one.
pub(super) fn text_at<'a>(value: &'a Value, name: &str) -> &'a str {
    value.get(name).and_then(Value::as_str).unwrap_or_default()
}

/// The elements of a field that is a list.
pub(super) fn list_at<'a>(value: &'a Value, name: &str) -> &'a [Value] {
    value
        .get(name)
        .and_then(Value::as_array)
        .map_or(&[], Vec::as_slice)
}

/// Whether it is true. Some versions use numbers.
pub(super) fn is_so(value: &Value) -> bool {
    value
        .as_bool()
        .unwrap_or_else(|| value.as_f64().is_some_and(|number| number != 0.0))
}

pub(super) fn short(text: &str, max_chars: usize) -> String {
    text.chars().take(max_chars).collect()
}

/// Seconds as milliseconds; 0 if invalid.
pub(super) fn milliseconds(seconds: Option<f64>) -> u64 {
    let seconds = seconds
        .filter(|seconds| (0.0..1e9).contains(seconds))
        .unwrap_or(0.0);
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "it is between 0 and 1e12"
    )]
    let ms = (seconds * 1e3) as u64;
    ms
}

/// A time in seconds, milliseconds, microseconds or nanoseconds since 1970, or of ISO 8601, as milliseconds.
pub(super) fn time(value: &Value) -> Option<i64> {
    let number = match value {
        Value::Number(number) => number.as_f64()?,
        Value::String(text) => match text.trim().parse() {
            Ok(number) => number,
            Err(_) => return written_time(text.trim()),
        },
        // As MongoDB writes it.
        Value::Object(fields) => match fields.get("$date")? {
            Value::String(text) => return written_time(text),
            date => date.as_f64()?,
        },
        _ => return None,
    };
    let ms = match number {
        number if !(1.0..1e20).contains(&number) => return None,
        number if number < 1e11 => number * 1e3,
        number if number < 1e14 => number,
        number if number < 1e17 => number / 1e3,
        number => number / 1e6,
    };
    #[expect(clippy::cast_possible_truncation, reason = "it is below 1e14")]
    Some(ms as i64)
}

/// A time without an offset is in UTC.
fn written_time(text: &str) -> Option<i64> {
    if let Ok(time) = text.parse::<jiff::Timestamp>() {
        return Some(time.as_millisecond());
    }
    let time: jiff::civil::DateTime = text.parse().ok()?;
    let time = time.to_zoned(jiff::tz::TimeZone::UTC).ok()?;
    Some(time.timestamp().as_millisecond())
}

/// Between two times; 0 if one is missing.
pub(super) fn milliseconds_between(from: &Value, to: &Value) -> u64 {
    let (Some(from), Some(to)) = (time(from), time(to)) else {
        return 0;
    };
    u64::try_from(to.saturating_sub(from)).unwrap_or(0)
}
