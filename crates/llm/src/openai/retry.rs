//! Back-off and `Retry-After` for model servers.

use std::time::Duration;

use reqwest::header::{DATE, HeaderMap, RETRY_AFTER};
use ring::rand::{SecureRandom, SystemRandom};

/// If a server asks for a longer wait, there is no retry: the person should decide.
pub(crate) const MAX_RETRY_WAIT: Duration = Duration::from_secs(30);

/// The wait after `failed_attempts` failures: doubling from `first`, at most 8 s, half of it random, so that runs that
/// failed together do not return together.
pub(crate) fn backoff(first: Duration, failed_attempts: u32) -> Duration {
    let doubled = first.saturating_mul(1 << failed_attempts.saturating_sub(1).min(10));
    let whole = doubled.min(Duration::from_secs(8));
    whole.mul_f64(0.5 + 0.5 * random_fraction())
}

/// The wait that a server asked for, plus a random part.
pub(crate) fn hinted_wait(hint: Duration, first: Duration) -> Duration {
    hint + first.mul_f64(0.5 * random_fraction())
}

/// From 0 to 1.
fn random_fraction() -> f64 {
    let mut bytes = [0; 4];
    match SystemRandom::new().fill(&mut bytes) {
        Ok(()) => f64::from(u32::from_le_bytes(bytes)) / f64::from(u32::MAX),
        // Without randomness the waits are only spread less.
        Err(_) => 0.5,
    }
}

/// The wait in `Retry-After`, in seconds or as a date. A date is compared with the server's own clock.
pub(crate) fn retry_after(headers: &HeaderMap) -> Option<Duration> {
    let text = headers.get(RETRY_AFTER)?.to_str().ok()?.trim();
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds).ok();
    }
    let until = httpdate::parse_http_date(text).ok()?;
    let now = httpdate::parse_http_date(headers.get(DATE)?.to_str().ok()?).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hint(retry_after_header: &str) -> Option<Duration> {
        let mut headers = HeaderMap::new();
        headers.insert(DATE, "Sun, 06 Nov 1994 08:49:30 GMT".parse().unwrap());
        headers.insert(RETRY_AFTER, retry_after_header.parse().unwrap());
        retry_after(&headers)
    }

    #[test]
    fn reads_seconds_and_dates() {
        assert_eq!(hint("7"), Some(Duration::from_secs(7)));
        assert_eq!(hint("0.5"), Some(Duration::from_millis(500)));
        assert_eq!(
            hint("Sun, 06 Nov 1994 08:49:37 GMT"),
            Some(Duration::from_secs(7))
        );
        assert_eq!(hint("Sun, 06 Nov 1994 08:49:29 GMT"), Some(Duration::ZERO));
        for bad in ["", "soon", "-1", "NaN", "1e300"] {
            assert_eq!(hint(bad), None, "{bad}");
        }
    }

    #[test]
    fn waits_double_with_jitter() {
        let first = Duration::from_millis(500);
        for (failed, max_ms) in [(1, 500), (2, 1000), (3, 2000), (9, 8000), (u32::MAX, 8000)] {
            let max = Duration::from_millis(max_ms);
            let waits: Vec<Duration> = (0..20).map(|_| backoff(first, failed)).collect();
            assert!(
                waits.iter().all(|wait| *wait >= max / 2 && *wait <= max),
                "{waits:?}"
            );
            assert!(
                waits.iter().any(|wait| *wait != waits[0]),
                "no chance in {waits:?}"
            );
        }
    }
}
