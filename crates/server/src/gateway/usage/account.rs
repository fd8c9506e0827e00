//! Usage of one subject in the current minute, day and month, and by running calls.

use std::ops::AddAssign;

use agent::{Prices, call_cost};
use domain::{LocalizedText, Usage};
use schemars::JsonSchema;
use serde::Serialize;
use store::{MinuteUsage, UsageSum};

use super::{
    Refused,
    limits::{Limits, Most, Subject},
};
use crate::messages;

pub(super) const DAY_MS: i64 = 86_400_000;
const MINUTE_MS: i64 = 60_000;
/// How long an account counts as in use after its last use.
const IN_USE_MS: i64 = 120_000;
/// The expected output of the first call, in tokens.
const FIRST_GUESS: f64 = 500.0;
/// The upper bound of the expected output, in tokens.
const MAX_GUESS: u64 = 200_000;
/// The weight of a new observation in the moving average of the expected output.
const WEIGHT: f64 = 0.2;

/// A number of requests, tokens and money.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Amount {
    /// Model calls.
    pub requests: u64,
    /// Input and output tokens.
    pub tokens: u64,
    /// Millionths of a US dollar.
    pub micro_usd: u64,
}

impl AddAssign for Amount {
    fn add_assign(&mut self, other: Self) {
        self.requests = self.requests.saturating_add(other.requests);
        self.tokens = self.tokens.saturating_add(other.tokens);
        self.micro_usd = self.micro_usd.saturating_add(other.micro_usd);
    }
}

impl From<Amount> for MinuteUsage {
    fn from(amount: Amount) -> Self {
        Self {
            requests: amount.requests,
            tokens: amount.tokens,
            cost_micro_usd: amount.micro_usd,
        }
    }
}

impl From<MinuteUsage> for Amount {
    fn from(used: MinuteUsage) -> Self {
        Self {
            requests: used.requests,
            tokens: used.tokens,
            micro_usd: used.cost_micro_usd,
        }
    }
}

impl Amount {
    /// The amount of a ledger entry.
    #[must_use]
    pub fn of(sum: UsageSum) -> Self {
        let tokens = sum.input_tokens.saturating_add(sum.output_tokens);
        Self {
            requests: sum.requests,
            tokens,
            micro_usd: sum.cost_micro_usd,
        }
    }

    /// One call.
    #[must_use]
    pub fn of_call(usage: Usage, cost_micro_usd: Option<u64>) -> Self {
        Self::of(UsageSum::of_call(usage, cost_micro_usd))
    }

    pub(super) fn times(self, count: u64) -> Self {
        Self {
            requests: self.requests.saturating_mul(count),
            tokens: self.tokens.saturating_mul(count),
            micro_usd: self.micro_usd.saturating_mul(count),
        }
    }

    fn take(&mut self, other: Self) {
        self.requests = self.requests.saturating_sub(other.requests);
        self.tokens = self.tokens.saturating_sub(other.tokens);
        self.micro_usd = self.micro_usd.saturating_sub(other.micro_usd);
    }
}

/// The expected usage of a call before it is made.
#[derive(Debug, Clone, Copy)]
pub struct UsageEstimate {
    /// The approximate number of input tokens.
    pub input_tokens: u64,
    /// The maximum number of output tokens.
    pub max_output_tokens: Option<u64>,
    /// The prices, if known.
    pub prices: Option<Prices>,
}

impl UsageEstimate {
    /// The estimate for a call of which nothing is known yet.
    #[must_use]
    pub fn nothing() -> Self {
        Self {
            input_tokens: 0,
            max_output_tokens: Some(0),
            prices: None,
        }
    }
}

/// The time window of a limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, JsonSchema)]
#[schemars(rename = "LimitSpan")]
#[serde(rename_all = "snake_case")]
pub enum Span {
    /// A minute of the clock.
    Minute,
    /// A day in UTC.
    Day,
    /// A calendar month in UTC.
    Month,
}

impl Span {
    /// The start of the window after the one that contains `now`.
    fn end_after(self, now: i64) -> i64 {
        let of = |length: i64| (now.div_euclid(length) + 1) * length;
        match self {
            Self::Minute => of(MINUTE_MS),
            Self::Day => of(DAY_MS),
            Self::Month => month_of(now).1,
        }
    }
}

/// The start of the month that contains `now` and the start of the next month, in UTC.
pub(super) fn month_of(now: i64) -> (i64, i64) {
    let date = jiff::Timestamp::from_millisecond(now)
        .unwrap_or_default()
        .to_zoned(jiff::tz::TimeZone::UTC)
        .date();
    let first = date.first_of_month();
    let days = i64::from(date.day()) - 1;
    let start = now.div_euclid(DAY_MS) * DAY_MS - days * DAY_MS;
    (start, start + i64::from(first.days_in_month()) * DAY_MS)
}

/// The usage in one time window.
#[derive(Debug)]
struct Window {
    span: Span,
    /// The start of the next window.
    end: i64,
    used: Amount,
}

impl Window {
    fn new(span: Span, now: i64) -> Self {
        Self {
            span,
            end: span.end_after(now),
            used: Amount::default(),
        }
    }

    fn roll(&mut self, now: i64) {
        // A clock that is set back must not restart an earlier window.
        if now >= self.end {
            *self = Self::new(self.span, now);
        }
    }
}

/// The usage of the current minute beyond this process.
#[derive(Debug, Clone, Copy, Default)]
struct SharedMinute {
    /// What the other servers have used.
    elsewhere: Amount,
    /// What the other servers know of ours, and what they do not know yet.
    shared: Amount,
    unshared: Amount,
}

/// The account of one subject.
#[derive(Debug)]
pub(super) struct Account {
    windows: [Window; 3],
    minute: SharedMinute,
    /// The reserved usage of running calls, and the usage of completed calls that is not noted yet. No requests: those
    /// count when a call begins.
    open: Amount,
    /// Usage that counts but is not flushed yet.
    unwritten: Amount,
    /// A moving average of recent output lengths, in tokens; `None` before the first call.
    output: Option<f64>,
    used_at: i64,
    /// Whether stored usage has been loaded.
    is_known: bool,
}

impl Account {
    pub(super) fn new(now: i64) -> Self {
        Self {
            windows: [Span::Minute, Span::Day, Span::Month].map(|span| Window::new(span, now)),
            minute: SharedMinute::default(),
            open: Amount::default(),
            unwritten: Amount::default(),
            output: None,
            used_at: now,
            is_known: false,
        }
    }

    pub(super) fn is_known(&self) -> bool {
        self.is_known
    }

    /// Marks stored usage as stale, because the members of a group have changed.
    pub(super) fn doubt(&mut self) {
        self.is_known = false;
        self.unwritten = Amount::default();
    }

    pub(super) fn is_in_use(&self, now: i64) -> bool {
        let is_settled = self.open == Amount::default() && self.unwritten == Amount::default();
        !is_settled || now - self.used_at < IN_USE_MS
    }

    pub(super) fn roll(&mut self, now: i64) {
        let minute = self.windows[0].end;
        self.windows.iter_mut().for_each(|window| window.roll(now));
        if self.windows[0].end != minute {
            self.minute = SharedMinute::default();
        }
    }

    /// The number of the current minute, and what the other servers do not know yet of its usage, which counts as shared
    /// from here on.
    pub(super) fn share(&mut self, now: i64) -> (i64, Amount) {
        self.roll(now);
        let unshared = std::mem::take(&mut self.minute.unshared);
        self.minute.shared += unshared;
        (self.minute(), unshared)
    }

    /// Whether anything was used within the current minute, here or elsewhere.
    pub(super) fn is_used_this_minute(&mut self, now: i64) -> bool {
        self.roll(now);
        let SharedMinute {
            elsewhere,
            shared,
            unshared,
        } = self.minute;
        [elsewhere, shared, unshared]
            .iter()
            .any(|it| *it != Amount::default())
    }

    /// Takes back [`Self::share`]: the other servers did not hear of it.
    pub(super) fn is_not_shared(&mut self, now: i64, minute: i64, amount: Amount) {
        self.roll(now);
        if self.minute() == minute {
            self.minute.shared.take(amount);
            self.minute.unshared += amount;
        }
    }

    /// Takes over what all servers have used within that minute.
    pub(super) fn is_shared(&mut self, now: i64, minute: i64, total: Amount) {
        self.roll(now);
        if self.minute() == minute {
            self.minute.elsewhere = total;
            self.minute.elsewhere.take(self.minute.shared);
        }
    }

    /// Takes back a request that other servers know of; returns the current minute.
    pub(super) fn take_back_request(&mut self, now: i64) -> i64 {
        self.roll(now);
        let request = Amount {
            requests: 1,
            ..Amount::default()
        };
        self.windows[0].used.take(request);
        self.minute.shared.take(request);
        self.minute()
    }

    fn minute(&self) -> i64 {
        self.windows[0].end / MINUTE_MS - 1
    }

    /// The usage that counts in each window.
    fn used(&self) -> [(&Window, Amount); 3] {
        self.windows.each_ref().map(|window| {
            let mut used = window.used;
            if window.span == Span::Minute {
                used += self.minute.elsewhere;
            }
            (window, used)
        })
    }

    /// Checks a call that has begun once more, after the usage of other servers has become known.
    pub(super) fn check_again(&mut self, limits: &Limits, estimate: Amount) -> Result<(), Over> {
        let (open, windows) = (self.open, self.windows.each_ref().map(|window| window.used));
        let request = Amount {
            requests: estimate.requests,
            ..Amount::default()
        };
        self.windows
            .iter_mut()
            .for_each(|window| window.used.take(request));
        self.open.take(Amount {
            requests: 0,
            ..estimate
        });
        let checked = self.check(limits, estimate);
        self.open = open;
        for (window, used) in self.windows.iter_mut().zip(windows) {
            window.used = used;
        }
        checked
    }

    /// Sets the stored usage of the day and the month, and adds what is not flushed yet.
    pub(super) fn set(&mut self, now: i64, day: Amount, month: Amount) {
        self.roll(now);
        let [_, of_day, of_month] = &mut self.windows;
        (of_day.used, of_month.used) = (day, month);
        of_day.used += self.unwritten;
        of_month.used += self.unwritten;
        self.is_known = true;
    }

    /// The expected usage of a call, based on previous calls.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "an estimate; a float cast saturates"
    )]
    pub(super) fn estimate(&mut self, now: i64, expected: UsageEstimate) -> Amount {
        self.roll(now);
        self.used_at = now;
        let output_tokens = (self.output.unwrap_or(FIRST_GUESS) as u64)
            .min(expected.max_output_tokens.unwrap_or(u64::MAX));
        let usage = Usage::of(expected.input_tokens, output_tokens);
        Amount::of_call(usage, call_cost(expected.prices, usage))
    }

    /// Checks that a call would not exceed a limit. If nothing was used yet, any call is allowed: otherwise a call that
    /// is larger than its limit could never be made.
    pub(super) fn check(&self, limits: &Limits, estimate: Amount) -> Result<(), Over> {
        for ((window, used), most) in self.used().into_iter().zip(spans(limits)) {
            let Amount {
                requests,
                tokens,
                micro_usd,
            } = used;
            let over = |what, limit, used: u64, open: u64, more: u64| {
                let before = used.saturating_add(open);
                let fits = before.saturating_add(more) <= limit || (before == 0 && limit > 0);
                (!fits).then_some(Over {
                    what,
                    span: window.span,
                    limit,
                    end: window.end,
                })
            };
            let found = most
                .requests
                .and_then(|most| over(What::Requests, most, requests, 0, estimate.requests))
                .or_else(|| {
                    over(
                        What::Tokens,
                        most.tokens?,
                        tokens,
                        self.open.tokens,
                        estimate.tokens.max(1),
                    )
                })
                .or_else(|| {
                    let most = micro_usd_of(most.usd?);
                    // Free calls are allowed even if no money is left.
                    let is_over = micro_usd.saturating_add(self.open.micro_usd) >= most;
                    let more = estimate.micro_usd.max(u64::from(is_over));
                    over(What::Money, most, micro_usd, self.open.micro_usd, more)
                });
            if let Some(over) = found {
                return Err(over);
            }
        }
        Ok(())
    }

    /// Begins a call: counts the request and reserves its estimate.
    pub(super) fn begin(&mut self, estimate: Amount) {
        let request = Amount {
            requests: estimate.requests,
            ..Amount::default()
        };
        self.windows
            .iter_mut()
            .for_each(|window| window.used += request);
        self.minute.unshared += request;
        self.unwritten += request;
        self.open += Amount {
            requests: 0,
            ..estimate
        };
    }

    /// Ends a call: replaces its estimate with the actual usage, or releases it if the call failed.
    #[expect(clippy::cast_precision_loss, reason = "an estimate")]
    pub(super) fn end(
        &mut self,
        now: i64,
        estimate: Amount,
        expected: UsageEstimate,
        used: Option<Amount>,
    ) {
        self.roll(now);
        self.used_at = now;
        self.open.take(Amount {
            requests: 0,
            ..estimate
        });
        match used {
            Some(used) => {
                self.open += Amount {
                    requests: 0,
                    ..used
                };
                // Usage beyond the estimated input counts as output, and is expected of the next call too.
                let beyond = used
                    .tokens
                    .saturating_sub(expected.input_tokens)
                    .min(MAX_GUESS) as f64;
                let before = self.output.unwrap_or(beyond);
                self.output = Some(before + (beyond - before) * WEIGHT);
            }
            None => {
                // The minute keeps the request: limiting rapid retries is the purpose of that limit.
                let request = Amount {
                    requests: estimate.requests,
                    ..Amount::default()
                };
                let [_, day, month] = &mut self.windows;
                day.used.take(request);
                month.used.take(request);
                self.unwritten.take(request);
            }
        }
    }

    /// Counts noted usage. The request was already counted when the call began.
    pub(super) fn count(&mut self, now: i64, used: Amount) {
        self.roll(now);
        let used = Amount {
            requests: 0,
            ..used
        };
        self.open.take(used);
        self.windows
            .iter_mut()
            .for_each(|window| window.used += used);
        self.minute.unshared += used;
        self.unwritten += used;
    }

    pub(super) fn is_written(&mut self, written: Amount) {
        self.unwritten.take(written);
    }

    pub(super) fn requests_left(&self, limits: &Limits, now: i64) -> Option<Allowed> {
        let left = |((window, used), most): ((&Window, Amount), Most)| {
            Some(Allowed::of(most.requests?, used.requests, window.end - now))
        };
        self.used()
            .into_iter()
            .zip(spans(limits))
            .filter_map(left)
            .fold(None, |a, b| Allowed::nearer(a, Some(b)))
    }

    pub(super) fn tokens_left(&self, limits: &Limits, now: i64) -> Option<Allowed> {
        let left = |((window, used), most): ((&Window, Amount), Most)| {
            let used = used.tokens.saturating_add(self.open.tokens);
            Some(Allowed::of(most.tokens?, used, window.end - now))
        };
        self.used()
            .into_iter()
            .zip(spans(limits))
            .filter_map(left)
            .fold(None, |a, b| Allowed::nearer(a, Some(b)))
    }

    pub(super) fn standing(&self, limits: &Limits) -> Vec<LimitStatus> {
        let standing = |((window, mut used), most): ((&Window, Amount), Most)| {
            used += self.open;
            LimitStatus {
                span: window.span,
                most,
                used,
                resets_at: window.end,
            }
        };
        let all = self.used().into_iter().zip(spans(limits)).map(standing);
        all.filter(|standing| standing.most != Most::default())
            .collect()
    }
}

fn spans(limits: &Limits) -> [Most; 3] {
    [limits.minute, limits.day, limits.month]
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "checked to be 0 to 1e9"
)]
fn micro_usd_of(usd: f64) -> u64 {
    (usd * 1e6).round() as u64
}

/// A limit and its current usage.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct LimitStatus {
    /// The time window.
    pub span: Span,
    /// The limit.
    pub most: Most,
    /// The amount used or reserved.
    pub used: Amount,
    /// When the next window begins.
    pub resets_at: i64,
}

/// The remaining allowance of one limit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Allowed {
    /// The limit.
    pub limit: u64,
    /// The amount left.
    pub remaining: u64,
    /// Milliseconds until the next window begins.
    pub reset_ms: u64,
}

impl Allowed {
    fn of(limit: u64, used: u64, reset_ms: i64) -> Self {
        Self {
            limit,
            remaining: limit.saturating_sub(used),
            reset_ms: reset_ms.try_into().unwrap_or(0),
        }
    }

    /// The one with less remaining.
    pub(super) fn nearer(a: Option<Self>, b: Option<Self>) -> Option<Self> {
        match (a, b) {
            (Some(a), Some(b)) => Some(if b.remaining < a.remaining { b } else { a }),
            (a, b) => a.or(b),
        }
    }
}

/// The unit of a limit.
#[derive(Debug, Clone, Copy)]
enum What {
    Requests,
    Tokens,
    Money,
}

/// A limit that a call would exceed.
#[derive(Debug)]
pub(super) struct Over {
    what: What,
    span: Span,
    limit: u64,
    end: i64,
}

impl Over {
    pub(super) fn refuse(&self, subject: &Subject, now: i64) -> Refused {
        let Self {
            what,
            span,
            limit,
            end,
        } = self;
        let who = match subject {
            Subject::User(_) => messages::Limits::ThisAccount,
            Subject::Group(_) => messages::Limits::GroupOfAccount,
            Subject::Key(_) => messages::Limits::ThisKey,
            Subject::Person(..) => messages::Limits::ThisPerson,
        };
        let most: LocalizedText = match what {
            What::Requests => messages::Limits::Requests { count: *limit }.into(),
            What::Tokens => messages::Limits::Tokens { count: *limit }.into(),
            What::Money => {
                format!("${}.{:02}", limit / 1_000_000, limit % 1_000_000 / 10_000).into()
            }
        };
        let span = match span {
            Span::Minute => messages::Limits::Minute,
            Span::Day => messages::Limits::Day,
            Span::Month => messages::Limits::Month,
        };
        let wait_s = u64::try_from((end - now).max(0))
            .unwrap_or(0)
            .div_ceil(1000)
            .max(1);
        let wait = in_words(wait_s).into();
        let reached = messages::Limits::LimitAccount {
            who: who.into(),
            most,
            span: span.into(),
            wait,
        };
        Refused {
            words: reached.into(),
            wait_s,
        }
    }
}

fn in_words(seconds: u64) -> messages::Limits {
    match seconds {
        0..=119 => messages::Limits::Seconds { count: seconds },
        120..=7_199 => messages::Limits::Minutes {
            count: seconds.div_ceil(60),
        },
        7_200..=172_799 => messages::Limits::Hours {
            count: seconds.div_ceil(3600),
        },
        _ => messages::Limits::Days {
            count: seconds.div_ceil(86_400),
        },
    }
}

#[cfg(test)]
mod tests;
