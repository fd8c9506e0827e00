//! Answers in a format that the caller requires.

use super::*;

fn request<'a>(messages: &'a [Message], format: &'a Value) -> ChatRequest<'a> {
    ChatRequest {
        messages,
        tools: &[],
        tool_mode: ToolMode::Native,
        tool_prompt: None,
        parameters: ModelParameters::unset(),
        answer_format: Some(format),
        without_thinking: false,
        extra: None,
        trace: None,
        caller: None,
    }
}

#[tokio::test]
async fn the_answer_format_is_sent_and_dropped_if_refused() {
    let server = serve(Behaviour::answer(|request| {
        match request.body.get("response_format") {
            Some(_) if request.number > 1 => Reply::error(400, "no formats here"),
            _ => Reply::text("{}"),
        }
    }))
    .await;
    let model = model(&server);
    let format = json!({"type": "json_object"});
    let messages = [Message::text(Role::User, "As JSON")];
    for asked in [1, 3] {
        let (events, error) = drain(model.call(&request(&messages, &format))).await;
        assert_eq!((text_of(&events), error), ("{}".to_owned(), None));
        assert_eq!(server.requests().len(), asked);
    }
    let forms: Vec<Option<Value>> = server
        .requests()
        .into_iter()
        .map(|request| request.get("response_format").cloned())
        .collect();
    assert_eq!(forms, [Some(format.clone()), Some(format), None]);
}

#[tokio::test]
async fn thinking_is_disabled_as_far_as_the_server_supports_it() {
    let server = serve(Behaviour::answer(|request| {
        match request.body.get("chat_template_kwargs") {
            Some(_) => Reply::error(
                400,
                "Unrecognized request argument supplied: chat_template_kwargs",
            ),
            None => Reply::text("{}"),
        }
    }))
    .await;
    let model = model(&server);
    let format = json!({"type": "json_object"});
    let messages = [Message::text(Role::User, "As JSON")];
    for asked in [2, 3] {
        let quick = ChatRequest {
            without_thinking: true,
            ..request(&messages, &format)
        };
        let (events, error) = drain(model.call(&quick)).await;
        assert_eq!((text_of(&events), error), ("{}".to_owned(), None));
        // The second time it is known that the server refuses the schema and accepts the form.
        assert_eq!(server.requests().len(), asked);
    }
    let seen: Vec<(bool, bool)> = server
        .requests()
        .into_iter()
        .map(|request| {
            (
                request.get("chat_template_kwargs").is_some(),
                request.get("response_format").is_some(),
            )
        })
        .collect();
    assert_eq!(seen, [(true, true), (false, true), (false, true)]);
}

#[tokio::test]
async fn a_request_refused_in_every_form_is_not_remembered() {
    let server = serve(Behaviour::answer(|request| match request.number {
        1..=3 => Reply::error(400, "too long"),
        _ => Reply::text("{}"),
    }))
    .await;
    let model = model(&server);
    let format = json!({"type": "json_object"});
    let messages = [Message::text(Role::User, "As JSON")];
    let quick = ChatRequest {
        without_thinking: true,
        ..request(&messages, &format)
    };
    assert!(drain(model.call(&quick)).await.1.is_some());
    assert_eq!(drain(model.call(&quick)).await.1, None);
    let last = server.requests().pop().unwrap();
    assert_eq!(
        last["chat_template_kwargs"],
        json!({"enable_thinking": false})
    );
}

#[tokio::test]
async fn the_older_schema_form_is_used_where_required() {
    let server = serve(Behaviour::answer(|request| {
        match &request.body["response_format"]["type"] {
            Value::String(form) if form == "json_schema" => {
                Reply::error(422, "Input should be 'text' or 'json_object'")
            }
            _ => Reply::text("{}"),
        }
    }))
    .await;
    let schema = json!({"type": "object", "properties": {"title": {"type": "string"}}});
    let model = model(&server);
    let format =
        json!({"type": "json_schema", "json_schema": {"name": "answer", "schema": schema}});
    let messages = [Message::text(Role::User, "As JSON")];
    let quick = ChatRequest {
        without_thinking: true,
        ..request(&messages, &format)
    };
    for asked in [3, 4] {
        assert_eq!(drain(model.call(&quick)).await.1, None);
        assert_eq!(server.requests().len(), asked);
    }
    let last = server.requests().pop().unwrap();
    assert_eq!(
        last["response_format"],
        json!({"type": "json_object", "schema": schema})
    );
}
