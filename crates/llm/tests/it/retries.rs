//! Retries: when, how often, and how they are reported.

use super::*;

pub(crate) fn waits(events: &[ModelEvent]) -> Vec<(u32, u64)> {
    let wait = |event: &ModelEvent| match event {
        ModelEvent::Retrying {
            failed_attempts,
            max_attempts,
            wait_ms,
            reason,
        } => {
            assert!(!reason.message.is_empty());
            assert!(failed_attempts < max_attempts);
            Some((*failed_attempts, *wait_ms))
        }
        _ => None,
    };
    events.iter().filter_map(wait).collect()
}

#[tokio::test]
async fn temporary_failures_are_retried() {
    for status in [429, 500, 502, 503, 504] {
        let busy = || Reply::error(status, "busy");
        let server = serve(Behaviour::sequence(vec![busy(), busy(), Reply::text("Hi")])).await;
        let events = events(&model(&server), ToolMode::Native).await;
        let attempts: Vec<u32> = waits(&events)
            .into_iter()
            .map(|(failed, _)| failed)
            .collect();
        assert_eq!(attempts, [1, 2], "{status}");
        assert_eq!(text_of(&events), "Hi");
        let requests = server.requests();
        assert!(
            requests.len() == 3 && requests[0] == requests[2],
            "the same request each time"
        );
    }
}

#[tokio::test]
async fn permanent_failures_are_not_retried() {
    let server = server(Reply::error(503, "busy")).await;
    let (events, error) = failure(&model(&server)).await;
    assert_eq!(waits(&events).len(), 2);
    assert_error(&error, ProblemCode::ModelUnavailable, "It says: busy");
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn permanent_failures_are_reported() {
    for status in [400, 401, 404, 413, 422, 501] {
        let server = server(Reply::error(status, "no")).await;
        let (events, _) = failure(&model(&server)).await;
        assert_eq!((events.len(), server.requests().len()), (0, 1), "{status}");
    }
}

#[tokio::test]
async fn connections_that_break_before_the_first_token() {
    let role = || Step::Event {
        data: json!({"choices": [{"delta": {"role": "assistant"}}]}).to_string(),
    };
    let broken = Reply::stream(&[role(), Step::Pause { ms: 5 }, Step::Cut]);
    let server = serve(Behaviour::sequence(vec![
        Reply::close(),
        broken,
        Reply::text("Hi"),
    ]))
    .await;
    let events = events(&model(&server), ToolMode::Native).await;
    assert_eq!(waits(&events).len(), 2);
    assert_eq!(text_of(&events), "Hi");
}

#[tokio::test]
async fn retry_after_is_respected() {
    let later = "Sun, 06 Nov 1994 08:49:37 GMT";
    let dated = [
        ("retry-after", later),
        ("date", "Sun, 06 Nov 1994 08:49:36 GMT"),
    ];
    for (status, headers, min_ms) in [
        (429, &[("retry-after", "0.2")][..], 200),
        (503, &[("retry-after", "0.1")], 100),
        (429, &dated, 1000),
    ] {
        let busy = Reply::status(status, headers, "{}");
        let server = serve(Behaviour::sequence(vec![busy, Reply::text("Hi")])).await;
        let started = std::time::Instant::now();
        let events = events(&model(&server), ToolMode::Native).await;
        let (_, wait_ms) = waits(&events)[0];
        assert!(
            (min_ms..min_ms + 10).contains(&wait_ms),
            "{headers:?}: {wait_ms} ms"
        );
        assert!(started.elapsed().as_millis() >= u128::from(min_ms));
    }
}

#[tokio::test]
async fn a_too_long_retry_after_is_an_error() {
    let busy = Reply::status(
        429,
        &[("retry-after", "3600")],
        r#"{"error":"Come back later."}"#,
    );
    let server = server(busy).await;
    let (events, error) = failure(&model(&server)).await;
    assert_eq!((events.len(), server.requests().len()), (0, 1));
    assert_error(&error, ProblemCode::ModelRateLimited, "Come back later.");
}
