//! Schema mode: for small models without native tool calls.

use super::*;

fn is_object_form(body: &Value) -> bool {
    body["response_format"]["type"] == "json_object"
}

#[tokio::test]
async fn a_forced_call() {
    let server = server(Reply::text(
        r#"{"action":"call","name":"ls","arguments":{"path":"/"}}"#,
    ))
    .await;
    let events = events(&model(&server), ToolMode::Schema).await;
    assert_eq!(
        calls_of(&events),
        [("call_0".into(), "ls".into(), "{\"path\":\"/\"}".into())]
    );
    assert_eq!(
        (text_of(&events), finish_of(&events).0),
        (String::new(), FinishReason::ToolCalls)
    );
    let body = server.requests().remove(0);
    assert_eq!(body.get("tools"), None);
    let schema = &body["response_format"]["json_schema"]["schema"];
    assert_eq!(
        schema["oneOf"][1]["properties"]["name"],
        json!({"const": "ls"})
    );
    assert!(
        body["messages"][0]["content"]
            .as_str()
            .unwrap()
            .contains("- ls: Does ls.")
    );
}

/// Our schema replaces the caller's settings for format and tools.
#[tokio::test]
async fn schema_mode_overrides_the_callers_format() {
    let server = server(Reply::text(r#"{"action":"reply","text":"Hi"}"#)).await;
    let extra = json!({"response_format": {"type": "json_object"}, "tool_choice": "required", "top_p": 0.5});
    let request = ChatRequest {
        messages: &[Message::text(Role::User, "Hello")],
        tools: &[tool("ls")],
        tool_mode: ToolMode::Schema,
        tool_prompt: None,
        parameters: ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: extra.as_object(),
        trace: None,
        caller: None,
    };
    drain(model(&server).call(&request)).await;
    let body = server.requests().remove(0);
    assert_eq!(
        (&body["response_format"]["type"], &body["top_p"]),
        (&json!("json_schema"), &json!(0.5))
    );
    assert_eq!(body.get("tool_choice"), None);
}

#[tokio::test]
async fn a_forced_reply_is_shown_while_it_comes() {
    let begin = text_step(r#"{"action": "reply", "text": "Hello \u00e9"#);
    let server = server(Reply::stream(&[begin, Step::Silence])).await;
    let mut call = ask(&model(&server), ToolMode::Schema);
    let mut seen = String::new();
    while seen != "Hello é" {
        match call.next().await {
            Some(Ok(ModelEvent::TextDelta(text))) => seen.push_str(&text),
            other => panic!("{other:?}"),
        }
    }
}

#[tokio::test]
async fn a_server_that_knows_only_the_other_form() {
    knows_only_the_other_form(422, "response_format.type must be json_object").await;
    // In the words of llama-cpp-python.
    let words =
        "1 validation error: {'loc': ('body', 'response_format', 'type'), 'input': 'json_schema'}";
    knows_only_the_other_form(500, words).await;
}

async fn knows_only_the_other_form(status: u16, words: &'static str) {
    let server = serve(Behaviour::answer(move |request| {
        if is_object_form(&request.body) {
            Reply::text(r#"{"action":"reply","text":"Hi"}"#)
        } else {
            Reply::error(status, words)
        }
    }))
    .await;
    let model = model(&server);
    for _ in 0..2 {
        let events = events(&model, ToolMode::Schema).await;
        assert_eq!(
            events[0],
            ModelEvent::TextDelta("Hi".into()),
            "nobody needs to know of the first form"
        );
    }
    let forms: Vec<bool> = server.requests().iter().map(is_object_form).collect();
    assert_eq!(forms, [false, true, true], "the second call knows better");
    assert_eq!(
        server.requests()[1]["response_format"]["schema"]["oneOf"][0]["type"],
        "object"
    );
}

#[tokio::test]
async fn a_server_that_takes_neither_form() {
    let server = server(Reply::error(400, "no formats here")).await;
    let (_, error) = drain(ask(&model(&server), ToolMode::Schema)).await;
    assert_error(
        &error.expect("an error"),
        ProblemCode::ModelRejected,
        "no formats here",
    );
    assert_eq!(server.requests().len(), 2);
}
