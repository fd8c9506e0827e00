//! The activity that a server reports while it works on an answer.

use super::*;

fn status(data: &Value) -> Step {
    Step::Event {
        data: json!({"type": "status", "data": data}).to_string(),
    }
}

fn description(event: &ModelEvent) -> Option<&str> {
    match event {
        ModelEvent::Status { description, .. } => Some(description),
        _ => None,
    }
}

fn descriptions(events: &[ModelEvent]) -> Vec<&str> {
    events.iter().filter_map(description).collect()
}

#[tokio::test]
async fn document_003_a_server_is_asked_by_a_header_and_by_no_field() {
    let server = server(Reply::text("Hi")).await;
    let model = model(&server);
    drain(ask(&model, ToolMode::Native)).await;
    drain(ask(&model, ToolMode::Native).with_status()).await;
    let [plain, asking] = &server.received()[..] else {
        panic!("two requests")
    };
    assert_eq!(
        plain.body, asking.body,
        "a server may refuse a field that it does not know"
    );
    assert_eq!(
        (
            plain.header("x-include-status"),
            asking.header("x-include-status")
        ),
        (None, Some("true"))
    );
}

#[tokio::test]
async fn a_reported_activity_extends_the_timeout() {
    let pause = || Step::Pause { ms: 900 };
    let comment = Step::Raw {
        text: ": keep-alive\n\n".into(),
    };
    let steps = [
        status(&json!({"description": "Reading"})),
        pause(),
        comment,
        pause(),
        text_step("Hi"),
        end(),
    ];
    let server = server(Reply::stream(&steps)).await;
    let settings = OpenAiSettings {
        first_token_timeout: Duration::from_millis(1500),
        ..settings(&server.base_url())
    };
    let model = ChatModel::openai(settings, &HttpClient::new().unwrap());
    let events = events(&model, ToolMode::Native).await;
    assert_eq!(
        (descriptions(&events), text_of(&events).as_str()),
        (vec!["Reading"], "Hi")
    );
    assert_eq!(server.requests().len(), 1, "it was not asked again");
}

#[tokio::test]
async fn a_status_is_not_part_of_the_answer() {
    let broken = Reply::stream(&[
        status(&json!({"description": "Reading"})),
        Step::Pause { ms: 5 },
        Step::Cut,
    ]);
    let server = serve(Behaviour::sequence(vec![broken, Reply::text("Hi")])).await;
    let events = events(&model(&server), ToolMode::Native).await;
    assert_eq!(
        (descriptions(&events), text_of(&events).as_str()),
        (vec!["Reading"], "Hi")
    );
    assert!(
        !events[0].is_of_answer() && matches!(events[1], ModelEvent::Retrying { .. }),
        "{events:?}"
    );
    let alone = self::server(Reply::stream(&[status(&json!({"description": "Reading"}))])).await;
    let (events, error) = failure(&model(&alone)).await;
    assert_eq!(text_of(&events), "");
    assert_error(
        &error,
        ProblemCode::ModelProtocol,
        "in the middle of the answer",
    );
}
