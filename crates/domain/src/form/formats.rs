//! Validates formatted texts, as far as that catches typing errors.

use super::TextFormat;
use super::messages::Forms;

/// The expected format.
pub(super) fn words(format: TextFormat) -> Forms {
    match format {
        TextFormat::Email => Forms::AnEmailAddress,
        TextFormat::Uri => Forms::AWebAddress,
        TextFormat::Date => Forms::ADate,
        TextFormat::DateTime => Forms::ATime,
    }
}

/// Whether the text matches the format.
pub(super) fn fits(text: &str, format: TextFormat) -> bool {
    match format {
        TextFormat::Email => is_email(text),
        TextFormat::Uri => is_uri(text),
        TextFormat::Date => is_date(text),
        TextFormat::DateTime => is_date_time(text),
    }
}

fn is_email(text: &str) -> bool {
    let has_gap = text.chars().any(|c| c.is_whitespace() || c.is_control());
    let parts = text.rsplit_once('@');
    !has_gap
        && parts.is_some_and(|(name, host)| {
            !name.is_empty() && !host.is_empty() && !host.starts_with('.')
        })
}

fn is_uri(text: &str) -> bool {
    let Some((scheme, rest)) = text.split_once(':') else {
        return false;
    };
    let is_scheme = scheme.starts_with(|c: char| c.is_ascii_alphabetic())
        && scheme
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || "+-.".contains(c));
    is_scheme
        && !rest.trim_matches('/').is_empty()
        && !rest.chars().any(|c| c.is_whitespace() || c.is_control())
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    let [year, month, day] = parts.as_slice() else {
        return false;
    };
    let (Some(year), Some(month), Some(day)) = (digits(year, 4), digits(month, 2), digits(day, 2))
    else {
        return false;
    };
    let is_leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        1 | 3 | 5 | 7 | 8 | 10 | 12 => 31,
        4 | 6 | 9 | 11 => 30,
        2 if is_leap => 29,
        2 => 28,
        _ => 0,
    };
    (1..=days).contains(&day)
}

/// According to RFC 3339: with seconds and with an offset.
fn is_date_time(text: &str) -> bool {
    let Some((date, time)) = text.split_once(['T', 't', ' ']) else {
        return false;
    };
    let Some(at) = time.find(['Z', 'z', '+', '-']) else {
        return false;
    };
    let (time, offset) = time.split_at(at);
    let (time, fraction) = time.split_once('.').unwrap_or((time, "0"));
    let is_offset = match offset.split_at(1) {
        ("Z" | "z", rest) => rest.is_empty(),
        (_, rest) => clock(rest).is_some_and(|parts| matches!(parts.as_slice(), [0..=23, 0..=59])),
    };
    let is_time =
        clock(time).is_some_and(|parts| matches!(parts.as_slice(), [0..=23, 0..=59, 0..=60]));
    let is_fraction = !fraction.is_empty() && fraction.bytes().all(|byte| byte.is_ascii_digit());
    is_date(date) && is_time && is_fraction && is_offset
}

fn clock(text: &str) -> Option<Vec<u32>> {
    text.split(':').map(|part| digits(part, 2)).collect()
}

fn digits(text: &str, count: usize) -> Option<u32> {
    let is_number = text.len() == count && text.bytes().all(|byte| byte.is_ascii_digit());
    text.parse().ok().filter(|_| is_number)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(format: TextFormat, good: &[&str], bad: &[&str]) {
        good.iter()
            .for_each(|text| assert!(fits(text, format), "{format:?} {text}"));
        bad.iter()
            .for_each(|text| assert!(!fits(text, format), "{format:?} {text}"));
    }

    #[test]
    fn slips_are_seen() {
        check(
            TextFormat::Email,
            &["a@b", "a.b+c@d.org"],
            &["ab", "@b", "a@", "a b@c", "a@.b"],
        );
        check(
            TextFormat::Uri,
            &["https://a/?b=c", "mailto:a@b"],
            &["a b", "example.org", "https://", "1a:b"],
        );
        check(
            TextFormat::Date,
            &["2026-01-31", "2024-02-29", "2000-02-29"],
            &[
                "2026-02-29",
                "1900-02-29",
                "2026-13-01",
                "2026-1-1",
                "31.01.2026",
                "2026-00-10",
                "+026-01-01",
            ],
        );
        check(
            TextFormat::DateTime,
            &[
                "2026-01-31T12:00:00Z",
                "2026-01-31t12:00:00.25+02:00",
                "2026-01-31T23:59:60-11:30",
            ],
            &[
                "2026-01-31",
                "2026-01-31T12:00:00",
                "2026-01-31T24:00:00Z",
                "2026-01-31T12:00Z",
                "2026-01-31T12:00:00.Z",
                "2026-01-31T12:00:00Zz",
                "2026-01-31T12:00:00+2",
            ],
        );
    }
}
