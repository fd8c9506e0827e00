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
    server.record_fault(0, &fault(ProblemCode::ModelFailed, Retry::Soon));
}

#[tokio::test(start_paused = true)]
async fn the_breaker_opens_probes_and_closes() {
    let server = server();
    for _ in 0..4 {
        fail(&server);
    }
    server.record_success(0);
    for _ in 0..4 {
        fail(&server);
    }
    assert_eq!(
        server.breaker(),
        Breaker::Closed,
        "only failures in a row count"
    );
    fail(&server);
    assert_eq!(server.breaker(), Breaker::Open(INITIAL_OPEN_TIME));
    assert!(!server.admits());
    tokio::time::advance(INITIAL_OPEN_TIME).await;
    assert_eq!(server.breaker(), Breaker::HalfOpen);
    assert!(server.admits() && !server.admits(), "one call tries");
    fail(&server);
    assert_eq!(server.breaker(), Breaker::Open(INITIAL_OPEN_TIME * 2));
    tokio::time::advance(INITIAL_OPEN_TIME * 2).await;
    assert!(server.admits());
    // The probing call was dropped: another may probe.
    tokio::time::advance(PROBE_TIMEOUT).await;
    assert!(server.admits());
    server.record_success(0);
    assert_eq!(
        (server.breaker(), server.failures_in_row()),
        (Breaker::Closed, 0)
    );
    assert_eq!(server.last_failure().unwrap().words.message, "No.");
    assert_eq!(server.counts.opened.load(Relaxed), 1);
}

#[tokio::test(start_paused = true)]
async fn the_breaker_reopens_for_a_bounded_time() {
    let server = server();
    for _ in 0..40 {
        fail(&server);
    }
    assert_eq!(
        server.breaker(),
        Breaker::Open(INITIAL_OPEN_TIME),
        "these were under way when it opened"
    );
    for _ in 0..20 {
        tokio::time::advance(MAX_OPEN_TIME).await;
        assert!(server.admits());
        fail(&server);
    }
    assert_eq!(server.breaker(), Breaker::Open(MAX_OPEN_TIME));
}

#[tokio::test(start_paused = true)]
async fn a_successful_check_admits_one_call() {
    let server = server();
    for _ in 0..5 {
        fail(&server);
    }
    tokio::time::advance(Duration::from_millis(10)).await;
    server.record_check(None);
    assert_eq!(server.breaker(), Breaker::HalfOpen);
    server.record_check(Some("Still down.".into()));
    assert!(matches!(server.breaker(), Breaker::Open(_)));
}

#[tokio::test(start_paused = true)]
async fn a_cooldown_follows_retry_after_within_bounds() {
    for (retry, cooldown) in [
        (Retry::After(Duration::from_secs(7)), Duration::from_secs(7)),
        (Retry::After(Duration::ZERO), MIN_COOLDOWN),
        (Retry::After(Duration::MAX), MAX_COOLDOWN),
        (Retry::Soon, RATE_LIMITED_COOLDOWN),
        (Retry::No, REFUSED_KEY_COOLDOWN),
    ] {
        let server = server();
        server.record_fault(0, &fault(ProblemCode::ModelRateLimited, retry));
        assert_eq!(server.key_cooldown(0), Some(cooldown));
        assert_eq!(server.breaker(), Breaker::Closed, "the server is well");
        tokio::time::advance(cooldown).await;
        assert_eq!(server.key_cooldown(0), None);
    }
}

#[tokio::test]
async fn keys_show_only_their_last_characters() {
    let states: Vec<KeyState> = server().keys().collect();
    assert_eq!(states[0].ending.as_deref(), Some("abcd"));
}
