//! An answer whose form the caller asks for.

use super::*;

fn request<'a>(messages: &'a [Message], format: &'a Value) -> ChatRequest<'a> {
    ChatRequest {
        messages,
        tools: &[],
        tool_mode: ToolMode::Native,
        temperature: None,
        max_output_tokens: None,
        answer_format: Some(format),
        extra: None,
        trace: None,
    }
}

#[tokio::test]
async fn the_server_is_told_and_a_server_that_knows_no_forms_is_asked_without() {
    let server = serve(Behaviour::answer(|request| match request.body.get("response_format") {
        Some(_) if request.number > 1 => Reply::error(400, "no formats here"),
        _ => Reply::text("{}"),
    }))
    .await;
    let (model, format) = (model(&server), json!({"type": "json_object"}));
    let messages = [Message::text(Role::User, "As JSON")];
    for asked in [1, 3] {
        let (events, error) = drain(model.call(&request(&messages, &format))).await;
        assert_eq!((text_of(&events), error), ("{}".to_owned(), None));
        assert_eq!(server.requests().len(), asked);
    }
    let forms: Vec<Option<Value>> =
        server.requests().into_iter().map(|request| request.get("response_format").cloned()).collect();
    assert_eq!(forms, [Some(format.clone()), Some(format), None]);
}
