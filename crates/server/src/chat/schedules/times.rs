//! The times of a schedule: a cron expression in a time zone, or one moment.

use croner::{
    Cron,
    parser::{CronParser, Seconds, Year},
};
use jiff::{Timestamp, Zoned, tz::TimeZone};

use crate::messages;

/// Minimum time between two times of a schedule, minutes.
const MIN_GAP_MINUTES: u32 = 10;
/// How many times are checked for the minimum gap.
const LOOKED_AT: usize = 200;
/// Maximum length of a cron expression, characters.
const LIMIT_CHARS: usize = 100;
/// Maximum number of missed times that are stepped through.
const MAX_MISSED: usize = 2000;

/// When a schedule runs.
#[derive(Debug, Clone)]
pub(crate) enum Times {
    /// Repeatedly.
    Cron(Box<Cron>, TimeZone),
    /// Once, at this time.
    Once(i64),
}

impl Times {
    /// # Errors
    /// A message about what is wrong with the expression or the time zone.
    pub(crate) fn parse(
        cron: Option<&str>,
        once_at: Option<i64>,
        time_zone: &str,
    ) -> Result<Self, messages::Settings> {
        let zone = TimeZone::get(time_zone).map_err(|_| messages::Settings::NoTimeZone {
            name: shortened(time_zone),
        })?;
        match (cron, once_at) {
            (None, Some(at)) => Ok(Self::Once(at)),
            (Some(cron), None) => Ok(Self::Cron(Box::new(parse_cron(cron)?), zone)),
            _ => Err(messages::Settings::CronOrOnce),
        }
    }

    /// The first time after `after`, in milliseconds since 1970; `None` if there is none.
    pub(crate) fn next_after(&self, after: i64) -> Option<i64> {
        match self {
            Self::Once(at) => Some(*at).filter(|at| *at > after),
            Self::Cron(cron, zone) => {
                let after: Zoned = Timestamp::from_millisecond(after)
                    .ok()?
                    .to_zoned(zone.clone());
                let next = cron.find_next_occurrence(&after, false).ok()?;
                Some(next.timestamp().as_millisecond())
            }
        }
    }

    /// The latest time that is due, if `due` is the first that has not been handled.
    pub(crate) fn latest(&self, due: i64, now: i64) -> i64 {
        let later = std::iter::successors(Some(due), |at| self.next_after(*at));
        later
            .take(MAX_MISSED)
            .take_while(|at| *at <= now)
            .last()
            .unwrap_or(due)
    }

    /// # Errors
    /// If there is no time after `now`, or two times are too close to each other.
    pub(crate) fn check(&self, now: i64) -> Result<(), messages::Settings> {
        let Some(first) = self.next_after(now) else {
            return Err(messages::Settings::NoTimeToCome);
        };
        let times: Vec<i64> = std::iter::successors(Some(first), |at| self.next_after(*at))
            .take(LOOKED_AT)
            .collect();
        match times
            .windows(2)
            .any(|pair| pair[1] - pair[0] < i64::from(MIN_GAP_MINUTES) * 60_000)
        {
            true => Err(messages::Settings::TooOften {
                count: MIN_GAP_MINUTES.into(),
            }),
            false => Ok(()),
        }
    }
}

fn parse_cron(cron: &str) -> Result<Cron, messages::Settings> {
    if cron.chars().count() > LIMIT_CHARS {
        return Err(messages::Settings::LongCron {
            limit: LIMIT_CHARS as u64,
        });
    }
    let parser = CronParser::builder()
        .seconds(Seconds::Disallowed)
        .year(Year::Disallowed)
        .build();
    parser
        .parse(cron)
        .map_err(|error| messages::Settings::BadCron {
            cron: cron.to_owned(),
            why: error.to_string(),
        })
}

fn shortened(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ms(text: &str) -> i64 {
        text.parse::<Timestamp>().unwrap().as_millisecond()
    }

    fn cron(cron: &str, zone: &str) -> Times {
        Times::parse(Some(cron), None, zone).unwrap()
    }

    /// Checks the next times after `after`, each as written in UTC.
    fn check(times: &Times, after: &str, expected: &[&str]) {
        let mut at = ms(after);
        for expected in expected {
            at = times.next_after(at).unwrap();
            assert_eq!(
                Timestamp::from_millisecond(at).unwrap().to_string(),
                *expected
            );
        }
    }

    #[test]
    fn weekdays_at_eight() {
        let times = cron("0 8 * * 1-5", "Europe/Moscow");
        check(
            &times,
            "2026-11-20T04:59:00Z",
            &["2026-11-20T05:00:00Z", "2026-11-23T05:00:00Z"],
        );
    }

    #[test]
    fn the_hour_on_the_clock_stays_when_clocks_change() {
        let berlin = cron("0 8 * * *", "Europe/Berlin");
        check(
            &berlin,
            "2026-03-28T00:00:00Z",
            &["2026-03-28T07:00:00Z", "2026-03-29T06:00:00Z"],
        );
        check(
            &berlin,
            "2026-10-24T00:00:00Z",
            &["2026-10-24T06:00:00Z", "2026-10-25T07:00:00Z"],
        );
    }

    #[test]
    fn an_hour_that_is_left_out_is_made_up_for_and_one_that_comes_twice_counts_once() {
        let berlin = cron("30 2 * * *", "Europe/Berlin");
        check(
            &berlin,
            "2026-03-28T12:00:00Z",
            &[
                "2026-03-29T01:00:00Z",
                "2026-03-30T00:30:00Z",
                "2026-03-31T00:30:00Z",
            ],
        );
        check(
            &berlin,
            "2026-10-24T12:00:00Z",
            &["2026-10-25T00:30:00Z", "2026-10-26T01:30:00Z"],
        );
    }

    #[test]
    fn the_last_of_several_missed_times_counts() {
        let daily = cron("0 8 * * *", "UTC");
        let due = ms("2026-11-01T08:00:00Z");
        let now = ms("2026-11-04T09:00:00Z");
        assert_eq!(daily.latest(due, now), ms("2026-11-04T08:00:00Z"));
        assert_eq!(daily.latest(due, due), due);
    }

    #[test]
    fn what_cannot_be_is_refused_in_words() {
        let refused = |cron: Option<&str>, once, zone: &str| {
            let times = Times::parse(cron, once, zone);
            times
                .and_then(|times| times.check(ms("2026-11-22T00:00:00Z")))
                .unwrap_err()
                .to_string()
        };
        assert!(refused(Some("0 8 * *"), None, "UTC").contains("five fields"));
        assert!(refused(Some("0 0 8 * * *"), None, "UTC").contains("five fields"));
        assert!(refused(Some("0 8 * * *"), None, "Mars/Base").contains("time zone"));
        assert!(refused(Some("0 8 * * *"), Some(1), "UTC").contains("either"));
        assert!(refused(Some("*/5 * * * *"), None, "UTC").contains("every 10 minutes"));
        assert!(refused(Some("0,1 8 * * *"), None, "UTC").contains("every 10 minutes"));
        assert!(refused(Some("0 0 30 2 *"), None, "UTC").contains("in the future"));
        assert!(refused(None, Some(1), "UTC").contains("in the future"));
        assert!(refused(Some(&"1".repeat(200)), None, "UTC").contains("100 characters"));
    }
}
