//! Every failure that ends a call, and its message.

use std::time::{Duration, Instant};

use llm::{
    ListedModel,
    openai::{ServerSettings, list_models},
};
use scripted::ServerOptions;

use super::*;

async fn check(reply: Reply, code: ProblemCode, words: &str) {
    let server = server(reply).await;
    let (_, error) = failure(&model(&server)).await;
    assert_error(&error, code, words);
}

#[tokio::test]
async fn statuses() {
    let words = |status| Reply::error(status, "the server's words");
    check(
        words(401),
        ProblemCode::ModelUnauthorized,
        "refused the key",
    )
    .await;
    check(words(403), ProblemCode::ModelUnauthorized, "does not allow").await;
    check(words(404), ProblemCode::ModelNotFound, "no model “tiny”").await;
    check(
        words(400),
        ProblemCode::ModelRejected,
        "It says: the server's words",
    )
    .await;
    check(words(413), ProblemCode::ModelRejected, "413").await;
    check(words(402), ProblemCode::ModelRateLimited, "no credit").await;
    check(words(408), ProblemCode::ModelTimeout, "gave up (408)").await;
    let too_long = "This model's maximum context length is 4096 tokens.";
    check(
        Reply::error(400, too_long),
        ProblemCode::ModelContextFull,
        "too long for the model",
    )
    .await;
    // Not as a failure of the server that would be retried.
    check(
        Reply::error(500, "Context size has been exceeded."),
        ProblemCode::ModelContextFull,
        "exceeded",
    )
    .await;
    check(words(501), ProblemCode::ModelFailed, "501").await;
    check(
        Reply::status(404, &[], "not here"),
        ProblemCode::ModelProtocol,
        "no OpenAI-compatible API",
    )
    .await;
    let moved = Reply::status(301, &[("location", "https://example.com/v1")], "");
    check(
        moved,
        ProblemCode::ModelProtocol,
        "redirects to https://example.com/v1",
    )
    .await;
    let no_credit = json!({"error": {"message": "pay", "code": "insufficient_quota"}}).to_string();
    check(
        Reply::status(429, &[], &no_credit),
        ProblemCode::ModelRateLimited,
        "no credit",
    )
    .await;
}

#[tokio::test]
async fn quoted_errors_are_cut_and_redacted() {
    let long = format!("Bad key {KEY}! {}", "blah ".repeat(500));
    let server = server(Reply::error(401, &long)).await;
    let (_, error) = failure(&model(&server)).await;
    assert_error(&error, ProblemCode::ModelUnauthorized, "Bad key [key]!");
    assert!(error.message.chars().count() < 400, "{}", error.message);
}

#[tokio::test]
async fn a_missing_key_is_reported() {
    let server = server(Reply::error(401, "no")).await;
    let keyless = OpenAiSettings::new(BaseUrl::parse(&server.base_url()).unwrap(), None, "tiny");
    let model = ChatModel::openai(keyless, &HttpClient::new().unwrap());
    let (_, error) = failure(&model).await;
    assert_error(&error, ProblemCode::ModelUnauthorized, "requires a key");
    assert_eq!(server.received()[0].header("authorization"), None);
}

#[tokio::test]
async fn nothing_listens() {
    let server = server(Reply::text("x")).await;
    let url = server.base_url();
    server.shutdown().await;
    let model = ChatModel::openai(settings(&url), &HttpClient::new().unwrap());
    let (events, error) = failure(&model).await;
    assert_error(
        &error,
        ProblemCode::ModelUnreachable,
        &format!("Could not connect to {url}"),
    );
    assert_eq!(events.len(), 2, "it was tried three times: {events:?}");
}

#[tokio::test]
async fn an_unknown_model_name() {
    let model = ChatModel::openai(
        settings("http://no-such-host.invalid/v1"),
        &HttpClient::new().unwrap(),
    );
    let (_, error) = failure(&model).await;
    assert_error(
        &error,
        ProblemCode::ModelUnreachable,
        "The host name of http://no-such-host.invalid/v1 could not be resolved",
    );
}

#[tokio::test]
async fn connections_that_close() {
    let closing = serve(Behaviour::CloseAtAccept).await;
    let (_, error) = failure(&model(&closing)).await;
    assert_error(
        &error,
        ProblemCode::ModelUnreachable,
        "closed the connection before it answered",
    );
    assert_eq!(closing.connections(), 3);
    check(
        Reply::close(),
        ProblemCode::ModelUnreachable,
        "closed the connection before it answered",
    )
    .await;
}

#[tokio::test]
async fn an_answer_cut_in_the_middle_keeps_its_text() {
    let half = Step::Raw {
        text: "data: {\"choices\":[{\"delta\":{\"cont".into(),
    };
    let tails = [
        vec![Step::Cut],
        vec![],
        vec![
            Step::Pause { ms: 5 },
            half.clone(),
            Step::Pause { ms: 5 },
            Step::Cut,
        ],
    ];
    for tail in tails {
        let steps = [vec![text_step("Once upon "), Step::Pause { ms: 5 }], tail].concat();
        let server = server(Reply::stream(&steps)).await;
        let (events, error) = failure(&model(&server)).await;
        assert_eq!(text_of(&events), "Once upon ");
        assert_error(
            &error,
            ProblemCode::ModelProtocol,
            "in the middle of the answer",
        );
        assert_eq!(
            server.requests().len(),
            1,
            "it is not asked again once text has come"
        );
    }
    let server = server(Reply::stream(&[text_step("Once "), half])).await;
    let (events, error) = failure(&model(&server)).await;
    assert_eq!(text_of(&events), "Once ");
    assert_error(
        &error,
        ProblemCode::ModelProtocol,
        "not the OpenAI protocol",
    );
}

#[tokio::test]
async fn text_held_back_is_not_lost_when_the_answer_is_cut() {
    let steps = [
        text_step("Look: ```json\n{\"name\":"),
        Step::Pause { ms: 5 },
        Step::Cut,
    ];
    let server = server(Reply::stream(&steps)).await;
    let (events, _) = failure(&model(&server)).await;
    assert_eq!(text_of(&events), "Look: ```json\n{\"name\":");
}

#[tokio::test]
async fn a_line_without_end() {
    let steps = [
        text_step("Hi"),
        Step::Raw {
            text: "data: ".into(),
        },
        Step::Flood {
            size_bytes: 64 << 20,
        },
    ];
    let server = server(Reply::stream(&steps)).await;
    let (events, error) = failure(&model(&server)).await;
    assert_eq!(text_of(&events), "Hi");
    assert_error(&error, ProblemCode::ModelProtocol, "more than 32 MB");
    server.until_open_requests(0).await;
}

/// A runaway model is answered like any other.
#[tokio::test]
async fn too_many_calls() {
    let many = (0..200).map(|index| {
        chunk(json!({"tool_calls": [{"index": index, "function": {"name": "ls", "arguments": "{}"}}]}))
    });
    let steps: Vec<Step> = many.chain([end()]).collect();
    let found = events(
        &model(&server(Reply::stream(&steps)).await),
        ToolMode::Native,
    )
    .await;
    assert_eq!(calls_of(&found).len(), 128);
}

#[tokio::test]
async fn a_call_without_a_name() {
    let nameless = chunk(json!({"tool_calls": [{"index": 0, "function": {"arguments": "{}"}}]}));
    let server = server(Reply::stream(&[text_step("Hi"), nameless, end()])).await;
    let found = events(&model(&server), ToolMode::Native).await;
    let call = ("call_0".into(), llm::openai::UNREADABLE.into(), "{}".into());
    assert_eq!(
        (text_of(&found), calls_of(&found)),
        ("Hi".into(), vec![call])
    );
}

#[tokio::test]
async fn errors_inside_the_stream() {
    let error = Step::Error {
        message: "out of memory".into(),
    };
    let server = server(Reply::stream(&[text_step("Hi"), error])).await;
    let (events, error) = failure(&model(&server)).await;
    assert_eq!(text_of(&events), "Hi");
    assert_error(&error, ProblemCode::ModelFailed, "out of memory");
}

#[tokio::test]
async fn other_services_are_reported() {
    check(
        Reply::html(),
        ProblemCode::ModelProtocol,
        "answered with a web page",
    )
    .await;
    check(
        Reply::status(200, &[], "Ollama is running"),
        ProblemCode::ModelProtocol,
        "in the middle",
    )
    .await;
    let other = Reply::json(&json!({"hello": "world"}));
    check(other, ProblemCode::ModelProtocol, "not the OpenAI protocol").await;
    check(
        Reply::status(200, &[], ""),
        ProblemCode::ModelProtocol,
        "closed the connection",
    )
    .await;
}

#[tokio::test]
async fn silence() {
    let brief = Duration::from_millis(40);
    for (steps, words) in [
        (vec![Step::Silence], "sent nothing for 40 ms"),
        (
            vec![
                Step::Raw {
                    text: ": wait\n\n".into(),
                },
                Step::Silence,
            ],
            "sent nothing for 40 ms",
        ),
        (
            vec![text_step("Hi"), Step::Silence],
            "stopped in the middle of the answer",
        ),
    ] {
        let server = server(Reply::stream(&steps)).await;
        let settings = OpenAiSettings {
            first_token_timeout: brief,
            idle_timeout: brief,
            ..settings(&server.base_url())
        };
        let started = Instant::now();
        let (_, error) = failure(&ChatModel::openai(settings, &HttpClient::new().unwrap())).await;
        assert_error(&error, ProblemCode::ModelTimeout, words);
        assert!(started.elapsed() >= brief);
        server.until_open_requests(0).await;
        assert_eq!(server.requests().len(), 1);
    }
}

#[tokio::test]
async fn an_answer_that_is_complete_needs_no_formal_end() {
    let finish = json!({"choices": [{"delta": {}, "finish_reason": "stop"}]}).to_string();
    // However long the first-token timeout is.
    let brief = Duration::from_millis(40);
    let long = Duration::from_secs(3_600);
    for (tail, idle_timeout) in [
        (Step::Silence, brief),
        (Step::Silence, long),
        (Step::Cut, long),
    ] {
        let steps = [
            text_step("Hi"),
            Step::Event {
                data: finish.clone(),
            },
            Step::Pause { ms: 5 },
            tail,
        ];
        let server = server(Reply::stream(&steps)).await;
        let settings = OpenAiSettings {
            idle_timeout,
            ..settings(&server.base_url())
        };
        let model = ChatModel::openai(settings, &HttpClient::new().unwrap());
        assert_eq!(text_of(&events(&model, ToolMode::Native).await), "Hi");
    }
}

#[tokio::test]
async fn lists_of_models() {
    let limit = Duration::from_millis(500);
    let http = HttpClient::new().unwrap();
    let list = |reply: Option<Reply>| {
        let http = http.clone();
        async move {
            let models = vec!["a".to_owned(), "b".to_owned()];
            let options = ServerOptions {
                models,
                models_reply: reply,
                ..ServerOptions::default()
            };
            let behaviour = Behaviour::always(Reply::text(""));
            let server = ScriptedServer::start_with(behaviour, options)
                .await
                .unwrap();
            let settings = ServerSettings::alone(BaseUrl::parse(&server.base_url()).unwrap(), None);
            list_models(&settings, Some(&Secret::new(KEY)), &http, limit).await
        }
    };
    assert_eq!(
        list(None).await,
        Ok(vec![ListedModel::named("a"), ListedModel::named("b")])
    );
    for (reply, code, words) in [
        (
            Reply::error(401, "no"),
            ProblemCode::ModelUnauthorized,
            "refused the key",
        ),
        (Reply::html(), ProblemCode::ModelProtocol, "web page"),
        (
            Reply::status(200, &[], "hello"),
            ProblemCode::ModelProtocol,
            "cannot be read",
        ),
        (
            Reply::status(404, &[], "no"),
            ProblemCode::ModelProtocol,
            "often ends in /v1",
        ),
        (
            Reply::error(404, "File Not Found"),
            ProblemCode::ModelProtocol,
            "often ends in /v1",
        ),
        (
            Reply::close(),
            ProblemCode::ModelUnreachable,
            "closed the connection",
        ),
        (
            Reply::stream(&[Step::Silence]),
            ProblemCode::ModelTimeout,
            "did not answer within 0.5 s",
        ),
    ] {
        assert_error(&list(Some(reply)).await.expect_err(words), code, words);
    }
}
