//! Tests of the counting and the limits of an account.

use super::*;

const WISH: UsageEstimate = UsageEstimate {
    input_tokens: 10,
    max_output_tokens: Some(10),
    prices: None,
};

fn limits(requests: Option<u64>, tokens: Option<u64>) -> Limits {
    Limits {
        day: Most {
            requests,
            tokens,
            usd: None,
        },
        ..Limits::default()
    }
}

fn used(tokens: u64) -> Amount {
    Amount {
        requests: 1,
        tokens,
        micro_usd: 0,
    }
}

#[test]
fn months_have_their_own_lengths() {
    let ms = |text: &str| text.parse::<jiff::Timestamp>().unwrap().as_millisecond();
    for (now, start, end) in [
        (
            "2027-01-15T08:00:00Z",
            "2027-01-01T00:00:00Z",
            "2027-02-01T00:00:00Z",
        ),
        (
            "2028-02-29T23:59:59Z",
            "2028-02-01T00:00:00Z",
            "2028-03-01T00:00:00Z",
        ),
        (
            "2027-12-31T23:59:59Z",
            "2027-12-01T00:00:00Z",
            "2028-01-01T00:00:00Z",
        ),
    ] {
        assert_eq!(month_of(ms(now)), (ms(start), ms(end)));
    }
}

#[test]
fn what_is_under_way_counts() {
    let mut account = Account::new(0);
    let limits = limits(None, Some(50));
    let estimate = account.estimate(0, WISH);
    assert_eq!(estimate.tokens, 20);
    account.begin(estimate);
    account.begin(estimate);
    assert!(account.check(&limits, estimate).is_err());
    account.end(0, estimate, WISH, Some(used(5)));
    assert!(account.check(&limits, estimate).is_ok(), "it used less");
    account.count(0, used(5));
    assert_eq!(account.tokens_left(&limits, 0).unwrap().remaining, 25);
    account.end(0, estimate, WISH, None);
    assert_eq!(account.tokens_left(&limits, 0).unwrap().remaining, 45);
    assert!(account.check(&limits, estimate).is_ok());
    account.roll(DAY_MS);
    assert_eq!(account.tokens_left(&limits, DAY_MS).unwrap().remaining, 50);
}

#[test]
fn requests_count_when_they_begin() {
    let mut account = Account::new(0);
    let limits = Limits {
        minute: Most {
            requests: Some(2),
            ..Most::default()
        },
        ..limits(Some(2), None)
    };
    let estimate = account.estimate(0, WISH);
    account.begin(estimate);
    account.begin(estimate);
    assert!(account.check(&limits, estimate).is_err());
    account.end(0, estimate, WISH, None);
    assert!(
        account.check(&limits, estimate).is_err(),
        "the minute has had two"
    );
    account.roll(MINUTE_MS);
    assert!(
        account.check(&limits, estimate).is_ok(),
        "one of the day's failed"
    );
    account.begin(estimate);
    assert!(account.check(&limits, estimate).is_err());
}

#[test]
fn what_is_larger_than_the_limit_may_be_had_once() {
    let mut account = Account::new(0);
    let estimate = used(100);
    assert!(account.check(&limits(None, Some(50)), estimate).is_ok());
    account.begin(estimate);
    assert!(account.check(&limits(None, Some(50)), used(1)).is_err());
    assert!(
        Account::new(0)
            .check(&limits(Some(0), None), estimate)
            .is_err(),
        "but not of nothing"
    );
}

#[test]
fn what_others_wrote_down_comes_on_top() {
    let mut account = Account::new(0);
    account.begin(used(10));
    account.end(0, used(10), WISH, Some(used(10)));
    account.count(0, used(10));
    account.set(0, used(100), used(300));
    assert_eq!(
        account.windows[1].used,
        Amount {
            requests: 2,
            tokens: 110,
            micro_usd: 0
        }
    );
    account.is_written(used(10));
    account.set(0, used(110), used(310));
    assert_eq!(account.windows[2].used, used(310));
}
