//! Failover between several keys and servers of one model.

use std::{slice::from_ref, sync::Arc, time::Instant};

use llm::openai::{AttemptCounts, Breaker, Pool, Server, ServerSettings};
use scripted::Request;

use super::*;

fn known(name: &str, server: &ScriptedServer, weight: u32, keys: &[&str]) -> Arc<Server> {
    let settings = ServerSettings {
        name: name.to_owned(),
        weight,
        keys: keys.iter().map(|key| (Secret::new(key), 1)).collect(),
        ..ServerSettings::alone(BaseUrl::parse(&server.base_url()).unwrap(), None)
    };
    Arc::new(Server::new(settings, Arc::new(AttemptCounts::default())))
}

fn model_of(servers: &[Arc<Server>]) -> ChatModel {
    let pool = Arc::new(Pool::new(servers.to_vec()).unwrap());
    let retry_wait = Duration::from_millis(2);
    let first_token_timeout = Duration::from_millis(300);
    let settings = OpenAiSettings {
        retry_wait,
        first_token_timeout,
        ..OpenAiSettings::of_pool(pool, "tiny")
    };
    ChatModel::openai(settings, &HttpClient::new().unwrap())
}

fn turns(events: &[ModelEvent]) -> Vec<&str> {
    let reported = events.iter().filter_map(|event| match event {
        ModelEvent::FailedOver { words } => Some(words.message.as_str()),
        _ => None,
    });
    reported.collect()
}

fn keys_sent(server: &ScriptedServer) -> Vec<String> {
    let key = |request: &Request| {
        request
            .header("authorization")
            .unwrap_or_default()
            .to_owned()
    };
    server.received().iter().map(key).collect()
}

/// Refuses the first key in this way, and answers with the second.
fn refuses_first(refusal: Reply) -> Behaviour {
    Behaviour::answer(move |request| match request.header("authorization") {
        Some("Bearer sk-first-key-1") => refusal.clone(),
        _ => Reply::text("Hi"),
    })
}

const KEYS: [&str; 2] = ["sk-first-key-1", "sk-second-key-2"];

#[tokio::test]
async fn a_refused_key_cools_down_and_the_next_is_used_at_once() {
    let slow = Reply::status(429, &[("retry-after", "120")], "{}");
    for refusal in [
        Reply::error(401, "bad sk-first-key-1"),
        Reply::error(403, "no"),
        Reply::error(402, "pay"),
        slow,
    ] {
        let server = serve(refuses_first(refusal)).await;
        let known = known("Mine", &server, 1, &KEYS);
        let started = Instant::now();
        let events = events(&model_of(from_ref(&known)), ToolMode::Native).await;
        assert!(
            started.elapsed() < Duration::from_millis(900),
            "nobody waits where there is another key"
        );
        assert_eq!(text_of(&events), "Hi");
        let reported = turns(&events);
        assert!(
            reported.len() == 1 && reported[0].ends_with("Another key of Mine is used."),
            "{reported:?}"
        );
        assert!(!reported[0].contains("sk-"), "{reported:?}");
        assert_eq!(keys_sent(&server).len(), 2);
        // The next calls do not try it again, and the server is not blamed.
        for _ in 0..3 {
            assert!(
                turns(&super::events(&model_of(from_ref(&known)), ToolMode::Native).await)
                    .is_empty()
            );
        }
        assert_eq!(
            keys_sent(&server)
                .iter()
                .filter(|key| key.ends_with("key-1"))
                .count(),
            1
        );
        let states: Vec<_> = known.keys().collect();
        assert!(states[0].cooldown.is_some() && states[1].cooldown.is_none());
        assert_eq!((states[0].uses, states[1].uses), (0, 4));
        assert_eq!(known.breaker(), Breaker::Closed);
    }
}

#[tokio::test]
async fn keys_rotate() {
    let server = server(Reply::text("Hi")).await;
    let known = known("Mine", &server, 1, &KEYS);
    for _ in 0..6 {
        events(&model_of(from_ref(&known)), ToolMode::Native).await;
    }
    let uses: Vec<_> = known.keys().map(|key| key.uses).collect();
    assert_eq!(uses, [3, 3]);
}

#[tokio::test]
async fn one_run_stays_with_its_key_and_server() {
    let a = server(Reply::text("Hi")).await;
    let b = server(Reply::text("Hi")).await;
    let model = model_of(&[known("A", &a, 1, &KEYS), known("B", &b, 1, &KEYS)]);
    for _ in 0..6 {
        events(&model, ToolMode::Native).await;
    }
    let sent = [keys_sent(&a), keys_sent(&b)].concat();
    assert!(
        sent.len() == 6 && sent.iter().all(|key| *key == sent[0]),
        "{sent:?}"
    );
}

#[tokio::test]
async fn another_server_answers_before_the_first_token() {
    let role = || Step::Event {
        data: json!({"choices": [{"delta": {"role": "assistant"}}]}).to_string(),
    };
    for fault in [
        Reply::error(500, "broken"),
        Reply::error(503, "busy"),
        Reply::error(404, "no such model"),
        Reply::html(),
        Reply::close(),
        Reply::stream(&[role(), Step::Cut]),
        Reply::stream(&[Step::Silence]),
        Reply::stream(&[role(), Step::Silence]),
    ] {
        let bad = server(fault).await;
        let good = server(Reply::text("Hi")).await;
        let a = known("A", &bad, 1, &KEYS);
        let b = known("B", &good, 0, &[]);
        let events = events(&model_of(&[a.clone(), b]), ToolMode::Native).await;
        assert_eq!(text_of(&events), "Hi");
        let reported = turns(&events);
        assert!(
            reported.len() == 1 && reported[0].ends_with("B is used instead."),
            "{reported:?}"
        );
        assert_eq!(bad.requests().len(), 1, "its other key would do no better");
        assert_eq!(bad.requests()[0], good.requests()[0]);
    }
}

#[tokio::test]
async fn no_failover_after_the_first_token() {
    let broken = Reply::stream(&[
        Step::Event {
            data: json!({"choices": [{"delta": {"content": "Once"}}]}).to_string(),
        },
        Step::Pause { ms: 20 },
        Step::Cut,
    ]);
    let bad = server(broken).await;
    let good = server(Reply::text("Hi")).await;
    let model = model_of(&[known("A", &bad, 1, &[]), known("B", &good, 0, &[])]);
    let (events, error) = failure(&model).await;
    assert_eq!(
        (text_of(&events), error.code),
        ("Once".to_owned(), ProblemCode::ModelProtocol)
    );
    assert!(good.requests().is_empty());
}

#[tokio::test]
async fn request_errors_do_not_fail_over() {
    for (status, words) in [
        (400, "no"),
        (422, "no"),
        (400, "maximum context length is 4096 tokens"),
    ] {
        let a = server(Reply::error(status, words)).await;
        let b = server(Reply::text("Hi")).await;
        failure(&model_of(&[
            known("A", &a, 1, &KEYS),
            known("B", &b, 0, &[]),
        ]))
        .await;
        assert_eq!((a.requests().len(), b.requests().len()), (1, 0), "{status}");
    }
}

#[tokio::test]
async fn a_server_that_keeps_failing_is_not_called() {
    let bad = server(Reply::error(500, "broken")).await;
    let good = server(Reply::text("Hi")).await;
    let a = known("A", &bad, 1, &[]);
    let b = known("B", &good, 0, &[]);
    for _ in 0..20 {
        let events = events(&model_of(&[a.clone(), b.clone()]), ToolMode::Native).await;
        assert_eq!(text_of(&events), "Hi");
    }
    assert_eq!(bad.requests().len(), 5);
    assert!(matches!(a.breaker(), Breaker::Open(_)));
    let why = a.last_failure().unwrap().words.message;
    assert!(why.contains("It says: broken"), "{why}");
    // Alone it is not asked either, and its error is reported.
    let alone = model_of(from_ref(&a));
    assert!(alone.is_unavailable());
    let started = Instant::now();
    let mut call = ask(&alone, ToolMode::Native);
    let first = call.next().await.unwrap().unwrap();
    let ModelEvent::Retrying {
        wait_ms, reason, ..
    } = first
    else {
        panic!("{first:?}")
    };
    assert!(
        reason.message.contains("is not used") && reason.message.contains("broken"),
        "{reason}"
    );
    assert!(wait_ms > 1000 && started.elapsed() < Duration::from_secs(1));
    assert_eq!(bad.requests().len(), 5);
}

#[tokio::test]
async fn all_targets_are_retried_after_a_wait() {
    let busy = || Reply::error(503, "busy");
    let a = serve(Behaviour::sequence(vec![busy(), Reply::text("Hi")])).await;
    let b = serve(Behaviour::sequence(vec![busy(), Reply::text("Hi")])).await;
    let events = events(
        &model_of(&[known("A", &a, 1, &[]), known("B", &b, 1, &[])]),
        ToolMode::Native,
    )
    .await;
    assert_eq!(
        (text_of(&events), turns(&events).len()),
        ("Hi".to_owned(), 1)
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ModelEvent::Retrying { .. }))
    );
    assert_eq!(a.requests().len() + b.requests().len(), 3);
}
