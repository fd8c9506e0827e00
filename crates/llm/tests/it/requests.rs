//! The exact requests sent.

use super::*;

#[tokio::test]
async fn a_request_with_tools() {
    let server = server(Reply::text("Hi")).await;
    let extra = json!({"tool_choice": "required", "top_p": 0.5});
    let parameters = ModelParameters {
        temperature: Some(0.5),
        max_output_tokens: Some(100),
        ..ModelParameters::default()
    };
    let request = ChatRequest {
        messages: &[
            Message::text(Role::System, "Be brief."),
            Message::text(Role::User, "Hello"),
        ],
        tools: &[tool("ls")],
        tool_mode: ToolMode::Native,
        tool_prompt: None,
        parameters: &parameters,
        answer_format: None,
        without_thinking: false,
        extra: extra.as_object(),
        trace: None,
        caller: None,
    };
    drain(model(&server).call(&request)).await;
    let received = server.received().remove(0);
    assert_eq!(
        received.header("authorization"),
        Some(&*format!("Bearer {KEY}"))
    );
    assert_eq!(
        received.body,
        json!({
            "model": "tiny",
            "messages": [{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Hello"}],
            "tools": [{"type": "function", "function": {
                "name": "ls", "description": "Does ls.",
                "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}}],
            "temperature": 0.5,
            "max_tokens": 100,
            "stream": true,
            "stream_options": {"include_usage": true},
            "tool_choice": "required",
            "top_p": 0.5,
        })
    );
}

#[tokio::test]
async fn nothing_is_sent_before_the_first_poll() {
    let server = server(Reply::text("Hi")).await;
    let call = ask(&model(&server), ToolMode::Native);
    drop(call);
    events(&model(&server), ToolMode::Off).await;
    let requests = server.requests();
    assert_eq!(requests.len(), 1);
    assert_eq!(
        requests[0].get("tools"),
        None,
        "no tools in a call without tools"
    );
}

#[tokio::test]
async fn the_url_may_be_typed_in_any_form() {
    let server = server(Reply::text("Hi")).await;
    let bare = server.base_url().replace("/v1", "");
    for url in [
        format!("{bare}/"),
        bare.clone(),
        format!("{bare}/v1/"),
        format!("{bare}/v1/chat/completions"),
    ] {
        let model = ChatModel::openai(settings(&url), &HttpClient::new().unwrap());
        assert_eq!(text_of(&events(&model, ToolMode::Off).await), "Hi", "{url}");
    }
}
