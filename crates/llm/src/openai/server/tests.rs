//! Breakers and keys of one server.

use super::*;

fn server() -> Server {
    Server::alone(
        BaseUrl::parse("localhost").unwrap(),
        Some(Secret::new("sk-1234567890abcd")),
    )
}

fn fault(code: ProblemCode, retry: Retry) -> Fault {
    Fault {
        retry,
        ..Fault::new(code, "No.")
    }
}

fn fail(server: &Server) {
    server.note_fault(0, &fault(ProblemCode::ModelFailed, Retry::Soon));
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_lets_one_try_and_closes() {
    let server = server();
    for _ in 0..4 {
        fail(&server);
    }
    server.note_answer(0);
    for _ in 0..4 {
        fail(&server);
    }
    assert_eq!(
        server.breaker(),
        Breaker::Closed,
        "only failures in a row count"
    );
    fail(&server);
    assert_eq!(server.breaker(), Breaker::Open(FIRST_OPEN));
    assert!(!server.admits());
    tokio::time::advance(FIRST_OPEN).await;
    assert_eq!(server.breaker(), Breaker::HalfOpen);
    assert!(server.admits() && !server.admits(), "one call tries");
    fail(&server);
    assert_eq!(server.breaker(), Breaker::Open(FIRST_OPEN * 2));
    tokio::time::advance(FIRST_OPEN * 2).await;
    assert!(server.admits());
    // Whoever tried has left: somebody else may.
    tokio::time::advance(PROBE).await;
    assert!(server.admits());
    server.note_answer(0);
    assert_eq!(
        (server.breaker(), server.failures_in_row()),
        (Breaker::Closed, 0)
    );
    assert_eq!(server.last_failure().unwrap().words.message, "No.");
    assert_eq!(server.counts.opened.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn the_breaker_does_not_stay_open_for_long() {
    let server = server();
    for _ in 0..40 {
        fail(&server);
    }
    assert_eq!(
        server.breaker(),
        Breaker::Open(FIRST_OPEN),
        "these were under way when it opened"
    );
    for _ in 0..20 {
        tokio::time::advance(LONGEST_OPEN).await;
        assert!(server.admits());
        fail(&server);
    }
    assert_eq!(server.breaker(), Breaker::Open(LONGEST_OPEN));
}

#[tokio::test(start_paused = true)]
async fn a_check_lets_a_call_through_and_no_more() {
    let server = server();
    for _ in 0..5 {
        fail(&server);
    }
    tokio::time::advance(Duration::from_millis(10)).await;
    server.note_check(None);
    assert_eq!(server.breaker(), Breaker::HalfOpen);
    server.note_check(Some("Still down.".into()));
    assert!(matches!(server.breaker(), Breaker::Open(_)));
}

#[tokio::test(start_paused = true)]
async fn a_key_rests_as_long_as_it_is_told_within_bounds() {
    for (retry, rests) in [
        (Retry::After(Duration::from_secs(7)), Duration::from_secs(7)),
        (Retry::After(Duration::ZERO), SHORTEST_REST),
        (Retry::After(Duration::MAX), LONGEST_REST),
        (Retry::Soon, SLOWED_RESTS),
        (Retry::No, REFUSED_RESTS),
    ] {
        let server = server();
        server.note_fault(0, &fault(ProblemCode::ModelRateLimited, retry));
        assert_eq!(server.key_rests(0), Some(rests));
        assert_eq!(server.breaker(), Breaker::Closed, "the server is well");
        tokio::time::advance(rests).await;
        assert_eq!(server.key_rests(0), None);
    }
}

#[tokio::test]
async fn keys_show_their_end_only() {
    let states: Vec<KeyState> = server().keys().collect();
    assert_eq!(states[0].ending.as_deref(), Some("abcd"));
}
