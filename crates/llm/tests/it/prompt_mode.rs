//! Prompt mode: tools described in text, for servers and models without tool support.

use llm::{CodePrompt, ToolPrompt};

use super::*;

/// The template of prompt mode.
fn prompt() -> ToolPrompt {
    let text = |words: &str| vec![format!("{words} "), String::new()];
    ToolPrompt {
        tools: text("Tools:"),
        code: Some(CodePrompt {
            tool: "python".into(),
            text: text("Code:"),
            not_run: None,
        }),
    }
}

async fn reported(model: &ChatModel, tool_mode: ToolMode) -> (Vec<ModelEvent>, Option<ModelError>) {
    let code = json!({"type": "object", "properties": {"code": {"type": "string"}}});
    let python = ToolSpec {
        parameters: code.into(),
        ..tool("python")
    };
    let tools = [tool("ls"), python];
    let prompt = prompt();
    let extra = json!({"tool_choice": "required", "top_p": 0.5});
    drain(model.call(&ChatRequest {
        messages: &[Message::text(Role::User, "Hello")],
        tools: &tools,
        tool_mode,
        tool_prompt: Some(&prompt),
        parameters: ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: extra.as_object(),
        trace: None,
        caller: None,
    }))
    .await
}

const WRITTEN: &str = "I look.\n```json\n{\"tool_calls\": [{\"name\": \"ls\", \"parameters\": {\"path\": \"/\"}}]}\n```\n";

#[tokio::test]
async fn calls_are_written_and_read() {
    let server = server(Reply::text(WRITTEN)).await;
    let (events, _) = reported(&model(&server), ToolMode::Prompt).await;
    assert_eq!(
        calls_of(&events),
        [("call_0".into(), "ls".into(), "{\"path\":\"/\"}".into())]
    );
    assert_eq!(
        (text_of(&events), finish_of(&events).0),
        ("I look.\n".into(), FinishReason::ToolCalls)
    );
    let body = server.requests().remove(0);
    assert_eq!(
        (body.get("tools"), body.get("tool_choice"), &body["top_p"]),
        (None, None, &json!(0.5))
    );
    let system = body["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.contains("Tools: [{\"name\":\"ls\"") && system.ends_with("Code: Does python."),
        "{system}"
    );
    assert_eq!(body["messages"][1]["content"], "Hello");
}

/// Otherwise the missing answer to the person would go unnoticed.
#[tokio::test]
async fn an_empty_call_list_is_reported_as_such() {
    for (written, reason, said) in [
        ("{\"tool_calls\": []}", FinishReason::CallsNothing, ""),
        (
            "```json\n{\"tool_calls\": []}\n```",
            FinishReason::CallsNothing,
            "",
        ),
        (
            "{\"tool_calls\": []}\n\nHello.",
            FinishReason::Stop,
            "Hello.",
        ),
        ("Hello. {\"tool_calls\": []}", FinishReason::Stop, "Hello. "),
        ("", FinishReason::Stop, ""),
    ] {
        let server = server(Reply::text(written)).await;
        let (events, _) = reported(&model(&server), ToolMode::Prompt).await;
        assert_eq!(calls_of(&events), [], "{written}");
        assert_eq!(
            (finish_of(&events).0, text_of(&events).as_str()),
            (reason, said),
            "{written}"
        );
    }
}

/// Text after a call is made up, and may never end.
#[tokio::test]
async fn text_after_a_call_is_not_awaited() {
    let steps = [
        text_step("<code_interpreter>1 + 1</code_inter"),
        text_step("preter>\nIt is 2"),
        Step::Silence,
    ];
    let server = server(Reply::stream(&steps)).await;
    let (events, error) = reported(&model(&server), ToolMode::Prompt).await;
    assert_eq!(error, None);
    assert_eq!(
        calls_of(&events),
        [(
            "call_0".into(),
            "python".into(),
            "{\"code\":\"1 + 1\"}".into()
        )]
    );
    assert_eq!(
        (text_of(&events), finish_of(&events).0),
        (String::new(), FinishReason::ToolCalls)
    );
}

#[tokio::test]
async fn a_server_that_refuses_tools_gets_them_in_the_prompt() {
    for (status, words) in [
        (
            400,
            "registry.ollama.ai/library/gemma:2b does not support tools",
        ),
        (
            400,
            "\"auto\" tool choice requires --enable-auto-tool-choice and --tool-call-parser to be set",
        ),
        (404, "No endpoints found that support tool use."),
        (500, "tools param requires --jinja flag"),
    ] {
        let server = serve(Behaviour::answer(move |request| {
            if request.body.get("tools").is_some() {
                Reply::error(status, words)
            } else {
                Reply::text(WRITTEN)
            }
        }))
        .await;
        let model = model(&server);
        for _ in 0..2 {
            let (events, _) = reported(&model, ToolMode::Native).await;
            assert_eq!(calls_of(&events).len(), 1, "{words}: {events:?}");
        }
        let native: Vec<bool> = server
            .requests()
            .iter()
            .map(|body| body.get("tools").is_some())
            .collect();
        assert_eq!(
            native,
            [true, false, false],
            "the second call knows better: {words}"
        );
    }
}

#[tokio::test]
async fn one_invalid_tool_is_no_refusal_of_tools() {
    // It is retried with a plainer schema of that tool, of all, and without it.
    let bad_tool = "Invalid schema for function 'ls' in tools: x is not supported.";
    for (words, asked) in [(bad_tool, 4), ("no such model setting", 1)] {
        let server = server(Reply::error(400, words)).await;
        let (_, error) = reported(&model(&server), ToolMode::Native).await;
        assert_error(&error.expect("an error"), ProblemCode::ModelRejected, words);
        let requests = server.requests();
        assert_eq!(requests.len(), asked);
        let others = requests
            .iter()
            .map(|body| body["tools"].as_array().map_or(0, Vec::len));
        assert!(others.min() >= Some(1), "the other tool is still told");
    }
    // A server that has accepted tools is not asked otherwise later.
    let server = serve(Behaviour::sequence(vec![
        Reply::text("Hi"),
        Reply::error(400, "tools are not supported"),
    ]))
    .await;
    let model = model(&server);
    assert_eq!(reported(&model, ToolMode::Native).await.1, None);
    let (_, error) = reported(&model, ToolMode::Native).await;
    assert_error(
        &error.expect("an error"),
        ProblemCode::ModelRejected,
        "not supported",
    );
    assert_eq!(server.requests().len(), 2);
}

/// Without a template there are no tools, and a refusal is final.
#[tokio::test]
async fn without_a_template_tools_are_not_described() {
    let server = server(Reply::text(WRITTEN)).await;
    let events = events(&model(&server), ToolMode::Prompt).await;
    assert_eq!(text_of(&events), WRITTEN);
    assert_eq!(
        server.requests()[0]["messages"].as_array().map(Vec::len),
        Some(1)
    );
}
