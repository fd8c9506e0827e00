//! The ledger.

use domain::{ApiKeyId, RunId, RunSummary, UserId};
use store::{
    Booking, BookingOutcome, Principal, RunUsage, Store, UsageBy, UsageKey, UsageOf, UsageSum,
};

use crate::{
    collection_readers::group,
    fixtures::{add_run, add_user},
};

on_every_database!(
    adds_up_and_tells_apart,
    a_log_counts_once,
    what_is_left_is_found,
    deleted_runs_count,
    many_subjects_at_once
);

fn key(day: i64, principal: &Principal, model: &str) -> UsageKey {
    UsageKey {
        day,
        principal: principal.clone(),
        model: model.to_owned(),
    }
}

fn sum(requests: u64) -> UsageSum {
    UsageSum {
        requests,
        input_tokens: requests * 10,
        output_tokens: requests,
        cost_micro_usd: requests * 7,
        cached_tokens: requests * 9,
        cache_write_tokens: requests * 2,
        reasoning_tokens: requests * 3,
        unpriced_requests: requests * 4,
        estimated_requests: requests * 5,
    }
}

async fn requests(store: &Store, of: UsageOf, by: UsageBy) -> Vec<(String, u64)> {
    let rows = store.usage(&of, by, 0, 100).await.unwrap();
    rows.into_iter()
        .map(|row| {
            assert_eq!(row.sum, sum(row.sum.requests));
            (row.name, row.sum.requests)
        })
        .collect()
}

async fn adds_up_and_tells_apart(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let api_key = ApiKeyId::generate();
    let of_ann = Principal::of_account(ann);
    let of_bob = Principal::of_account(bob);
    let eve = Principal {
        account: ann,
        key: Some(api_key),
        person: Some("eve\0".to_owned()),
    };
    let loose = vec![
        (key(9, &of_ann, "a"), sum(1)),
        (key(10, &of_ann, "a"), sum(2)),
        (key(10, &of_ann, "a"), sum(3)),
        (key(10, &eve, "b"), sum(4)),
        (key(10, &of_bob, "b"), sum(5)),
    ];
    let booking = Booking {
        loose,
        runs: Vec::new(),
    };
    store.book_usage(&booking).await.unwrap();
    store.book_usage(&booking).await.unwrap();
    let days = [("9".to_owned(), 2), ("10".to_owned(), 28)];
    assert_eq!(requests(&store, UsageOf::All, UsageBy::Day).await, days);
    let users = [(ann.to_string(), 20), (bob.to_string(), 10)];
    assert_eq!(requests(&store, UsageOf::All, UsageBy::User).await, users);
    let models = [("a".to_owned(), 12), ("b".to_owned(), 8)];
    assert_eq!(
        requests(&store, UsageOf::User(ann), UsageBy::Model).await,
        models
    );
    assert_eq!(
        requests(&store, UsageOf::Key(api_key), UsageBy::Day).await,
        [("10".to_owned(), 8)]
    );
    let person = UsageOf::Person(api_key, "eve\0".to_owned());
    assert_eq!(
        requests(&store, person, UsageBy::Day).await,
        [("10".to_owned(), 8)]
    );
    assert_eq!(
        store
            .usage(&UsageOf::All, UsageBy::Day, 11, 12)
            .await
            .unwrap(),
        []
    );
}

fn part(run: RunId, owner: UserId, after: u64, upto: u64) -> RunUsage {
    let sums = vec![(
        key(1, &Principal::of_account(owner), "m"),
        sum(upto - after),
    )];
    RunUsage {
        run,
        after,
        upto,
        is_over: false,
        sums,
    }
}

async fn book(store: &Store, part: RunUsage) -> BookingOutcome {
    store
        .book_usage(&Booking {
            loose: Vec::new(),
            runs: vec![part],
        })
        .await
        .unwrap()[0]
}

async fn a_log_counts_once(store: Store) {
    let ann = add_user(&store).await;
    let run = add_run(&store, ann).await;
    assert_eq!(store.booked_seq(run).await, Ok(Some(0)));
    assert_eq!(
        book(&store, part(run, ann, 0, 5)).await,
        BookingOutcome::Noted
    );
    // The answer was lost, and it is asked again.
    assert_eq!(
        book(&store, part(run, ann, 0, 5)).await,
        BookingOutcome::Elsewhere(5)
    );
    let rest = RunUsage {
        is_over: true,
        ..part(run, ann, 5, 7)
    };
    assert_eq!(book(&store, rest.clone()).await, BookingOutcome::Noted);
    assert_eq!(
        book(&store, rest).await,
        BookingOutcome::Elsewhere(u64::MAX)
    );
    assert_eq!(store.booked_seq(run).await, Ok(None));
    assert_eq!(
        requests(&store, UsageOf::All, UsageBy::Model).await,
        [("m".to_owned(), 7)]
    );
}

async fn what_is_left_is_found(store: Store) {
    let ann = add_user(&store).await;
    let over = add_run(&store, ann).await;
    let open = add_run(&store, ann).await;
    store
        .finish_run(over, 50, &RunSummary::default())
        .await
        .unwrap();
    assert_eq!(store.unbooked_runs(50).await.unwrap(), []);
    assert_eq!(store.unbooked_runs(51).await.unwrap(), [over]);
    book(
        &store,
        RunUsage {
            is_over: true,
            ..part(over, ann, 0, 1)
        },
    )
    .await;
    book(&store, part(open, ann, 0, 1)).await;
    assert_eq!(store.unbooked_runs(i64::MAX).await.unwrap(), []);
}

async fn deleted_runs_count(store: Store) {
    let ann = add_user(&store).await;
    assert_eq!(
        book(&store, part(RunId::generate(), ann, 0, 3)).await,
        BookingOutcome::Noted
    );
    assert_eq!(
        requests(&store, UsageOf::All, UsageBy::Model).await,
        [("m".to_owned(), 3)]
    );
}

async fn many_subjects_at_once(store: Store) {
    let ann = add_user(&store).await;
    let bob = add_user(&store).await;
    let both = group(&store, "Both", &[ann, bob]).await;
    let api_key = ApiKeyId::generate();
    let eve = Principal {
        account: ann,
        key: Some(api_key),
        person: Some("eve\0".to_owned()),
    };
    let loose = vec![
        (key(9, &Principal::of_account(ann), "a"), sum(1)),
        (key(10, &eve, "b"), sum(4)),
        (key(10, &Principal::of_account(bob), "b"), sum(5)),
        (key(11, &Principal::of_account(bob), "b"), sum(6)),
    ];
    let runs = Vec::new();
    store.book_usage(&Booking { loose, runs }).await.unwrap();
    let mut of = vec![
        UsageOf::Person(api_key, "eve\0".to_owned()),
        UsageOf::User(bob),
        UsageOf::Group(both),
        UsageOf::Key(api_key),
        UsageOf::User(ann),
        UsageOf::Person(api_key, "bob".to_owned()),
        UsageOf::All,
    ];
    // More than fit into one statement.
    of.extend((0..300).map(|_| UsageOf::User(UserId::generate())));
    let mut found = store.usage_by_day(&of, 9, 10).await.unwrap();
    found.sort_by_key(|(index, day, _)| (*index, *day));
    let found: Vec<_> = found
        .into_iter()
        .map(|(index, day, used)| {
            assert_eq!(used, sum(used.requests));
            (index, day, used.requests)
        })
        .collect();
    assert_eq!(
        found,
        [
            (0, 10, 4),
            (1, 10, 5),
            (2, 9, 1),
            (2, 10, 9),
            (3, 10, 4),
            (4, 9, 1),
            (4, 10, 4),
            (6, 9, 1),
            (6, 10, 9)
        ]
    );
    assert_eq!(store.usage_by_day(&[], 9, 10).await, Ok(vec![]));
}
