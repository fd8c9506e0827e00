//! Successful answers in all their forms.

use std::time::Duration;

use scripted::{Call, Scenario};

use super::*;

fn call(name: &str, arguments: Value) -> Call {
    Call {
        name: name.into(),
        arguments,
    }
}

#[tokio::test]
async fn text_reasoning_and_usage() {
    let reply = Reply::stream(&[
        Step::Reasoning {
            text: "They greet me.".into(),
            tokens_per_second: None,
        },
        text_step("Hello you é✓😀."),
        Step::Usage {
            input_tokens: 12,
            output_tokens: 5,
        },
        end(),
    ]);
    let server = server(reply).await;
    let events = events(&model(&server), ToolMode::Native).await;
    assert_eq!(reasoning_of(&events), "They greet me.");
    assert_eq!(text_of(&events), "Hello you é✓😀.");
    let usage = Usage::of(12, 5);
    assert_eq!(finish_of(&events), (FinishReason::Stop, Some(usage)));
}

#[tokio::test]
async fn reasoning_left_in_the_text() {
    let server = server(Reply::text("<think>They greet me.</think>\n\nHello.")).await;
    let events = events(&model(&server), ToolMode::Native).await;
    assert_eq!(
        (reasoning_of(&events), text_of(&events)),
        ("They greet me.".into(), "Hello.".into())
    );
}

#[tokio::test]
async fn a_scenario_depends_on_the_turn() {
    let scenario: Scenario = serde_json::from_value(json!({"cases": [
        {"contains": "elsewhere", "turns": [{"status": 400, "body": "wrong case"}]},
        {"turns": [
            {"steps": [{"type": "calls", "calls": [{"name": "ls", "arguments": {}}]},
                       {"type": "finish", "reason": "tool_calls"}]},
            {"steps": [{"type": "text", "text": "One file.", "tokens_per_second": 500},
                       {"type": "usage", "input_tokens": 3, "output_tokens": 4},
                       {"type": "finish", "reason": "stop"}]}]}]}))
    .unwrap();
    let server = serve(scenario.behaviour()).await;
    let model = model(&server);
    let first = events(&model, ToolMode::Native).await;
    assert_eq!(
        calls_of(&first),
        [("call_0".into(), "ls".into(), "{}".into())]
    );
    let call = domain::ToolCall {
        id: "call_0".into(),
        name: "ls".into(),
        arguments: "{}".into(),
    };
    let messages = [
        Message::text(Role::User, "Hello"),
        Message {
            tool_calls: vec![call],
            ..Message::text(Role::Assistant, "")
        },
        Message::tool_result("call_0", "a.txt"),
    ];
    let request = ChatRequest {
        messages: &messages,
        tools: &[],
        tool_mode: ToolMode::Off,
        tool_prompt: None,
        parameters: ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: None,
        trace: None,
        caller: None,
    };
    let (second, error) = drain(model.call(&request)).await;
    assert_eq!((text_of(&second), error), ("One file.".into(), None));
    assert_eq!(finish_of(&second).1, Some(Usage::of(3, 4)));
}

#[tokio::test]
async fn usage_may_follow_the_reason() {
    let finish = json!({"choices": [{"delta": {}, "finish_reason": "length"}]}).to_string();
    let usage = Step::Usage {
        input_tokens: 1,
        output_tokens: 2,
    };
    let steps = [
        text_step("Cut"),
        Step::Event { data: finish },
        usage,
        Step::Event {
            data: "[DONE]".into(),
        },
    ];
    let server = server(Reply::stream(&steps)).await;
    let events = events(&model(&server), ToolMode::Off).await;
    let usage = Usage::of(1, 2);
    assert_eq!(finish_of(&events), (FinishReason::Length, Some(usage)));
}

#[tokio::test]
async fn parallel_calls() {
    let a = json!({"path": "/a/rather/long/path"});
    let b = json!({"path": "/b/é"});
    let calls = vec![call("ls", a.clone()), call("cat", b.clone())];
    let finish = Step::Finish {
        reason: Finish::ToolCalls,
    };
    let server = server(Reply::stream(&[
        text_step("I look."),
        Step::Calls { calls },
        finish,
    ]))
    .await;
    let events = events(&model(&server), ToolMode::Native).await;
    assert_eq!(text_of(&events), "I look.");
    assert_eq!(
        calls_of(&events),
        [
            ("call_0".into(), "ls".into(), a.to_string()),
            ("call_1".into(), "cat".into(), b.to_string())
        ]
    );
    assert_eq!(finish_of(&events).0, FinishReason::ToolCalls);
}

#[tokio::test]
async fn calls_without_ids_and_with_absurd_numbers() {
    let piece = |call: Value| chunk(json!({ "tool_calls": [call] }));
    let steps = [
        piece(
            json!({"index": 4_000_000_000_u64, "function": {"name": "ls", "arguments": "{\"a\""}}),
        ),
        piece(json!({"index": 4_000_000_000_u64, "function": {"arguments": ":1}"}})),
        piece(json!({"index": u64::MAX, "function": {"name": "cat", "arguments": "{}"}})),
        end(),
    ];
    let server = server(Reply::stream(&steps)).await;
    let events = events(&model(&server), ToolMode::Native).await;
    assert_eq!(
        calls_of(&events),
        [
            ("call_0".into(), "ls".into(), "{\"a\":1}".into()),
            ("call_1".into(), "cat".into(), "{}".into())
        ]
    );
    assert_eq!(
        finish_of(&events).0,
        FinishReason::ToolCalls,
        "whatever reason the server gives"
    );
}

#[tokio::test]
async fn carriage_returns() {
    let server = server(Reply::crlf_stream(&[text_step("a b c"), end()])).await;
    assert_eq!(
        text_of(&events(&model(&server), ToolMode::Native).await),
        "a b c"
    );
}

#[tokio::test]
async fn characters_cut_in_two() {
    let line = "data: {\"choices\":[{\"delta\":{\"content\":\"é✓😀\"}}]}\n\n".as_bytes();
    let bytes = line.chunks(1).map(|byte| Step::Bytes {
        bytes: byte.to_vec(),
    });
    let steps: Vec<Step> = bytes.chain([end()]).collect();
    let server = server(Reply::stream(&steps)).await;
    assert_eq!(
        text_of(&events(&model(&server), ToolMode::Native).await),
        "é✓😀"
    );
}

#[tokio::test]
async fn bytes_that_are_not_text() {
    let bytes = b"data: {\"choices\":[{\"delta\":{\"content\":\"a\xFFb\"}}]}\n\n".to_vec();
    let server = server(Reply::stream(&[Step::Bytes { bytes }, end()])).await;
    assert_eq!(
        text_of(&events(&model(&server), ToolMode::Native).await),
        "a\u{FFFD}b"
    );
}

#[tokio::test]
async fn a_server_that_does_not_stream() {
    let reply = Reply::json(&json!({
        "object": "chat.completion",
        "choices": [{"index": 0, "finish_reason": "tool_calls", "message": {
            "role": "assistant", "content": "I look.", "reasoning_content": "hm",
            "tool_calls": [{"id": "x", "type": "function", "function": {"name": "ls", "arguments": "{}"}}]}}],
        "usage": {"prompt_tokens": 3, "completion_tokens": 4, "total_tokens": 7},
    }));
    let server = server(reply).await;
    let events = events(&model(&server), ToolMode::Native).await;
    assert_eq!(
        (reasoning_of(&events), text_of(&events)),
        ("hm".into(), "I look.".into())
    );
    assert_eq!(calls_of(&events), [("x".into(), "ls".into(), "{}".into())]);
    let usage = Usage::of(3, 4);
    assert_eq!(finish_of(&events), (FinishReason::ToolCalls, Some(usage)));
}

/// A model whose server does not parse its template.
#[tokio::test]
async fn an_answer_that_is_all_markup_is_calls_and_a_fence_is_text() {
    let call = "{\"name\": \"ls\", \"arguments\": {\"path\": \"/\"}}";
    let markup = format!("<tool_call>\n{call}\n</tool_call>");
    let marked = server(Reply::text(&markup)).await;
    let found = events(&model(&marked), ToolMode::Native).await;
    assert_eq!(text_of(&found), "");
    assert_eq!(
        calls_of(&found),
        [("call_0".into(), "ls".into(), "{\"path\":\"/\"}".into())]
    );
    assert_eq!(finish_of(&found).0, FinishReason::ToolCalls);
    let off = events(&model(&marked), ToolMode::Off).await;
    assert_eq!(
        text_of(&off),
        markup,
        "nothing is rescued where no tool is offered"
    );
    for written in [
        format!("```json\n{call}\n```"),
        format!("I look.\n{markup}"),
        call.to_owned(),
    ] {
        let found = events(
            &model(&server(Reply::text(&written)).await),
            ToolMode::Native,
        )
        .await;
        assert_eq!((text_of(&found), calls_of(&found)), (written, vec![]));
    }
}

/// Text with a required format is never a call.
#[tokio::test]
async fn under_a_form_markup_is_text() {
    let markup = "<tool_call>{\"name\": \"ls\", \"arguments\": {}}</tool_call>";
    let server = server(Reply::text(markup)).await;
    let extra = json!({"response_format": {"type": "json_object"}});
    let request = ChatRequest {
        messages: &[Message::text(Role::User, "Hello")],
        tools: &[tool("ls")],
        tool_mode: ToolMode::Native,
        tool_prompt: None,
        parameters: ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: extra.as_object(),
        trace: None,
        caller: None,
    };
    let (events, error) = drain(model(&server).call(&request)).await;
    assert_eq!(
        (text_of(&events), calls_of(&events), error),
        (markup.into(), vec![], None)
    );
}

/// The template of such models has the opening tag in the prompt.
#[tokio::test]
async fn a_model_that_only_closes_its_reasoning() {
    let server = server(Reply::text("They greet me.\n</think>\n\nHello.")).await;
    let model = model(&server);
    let first = events(&model, ToolMode::Native).await;
    let was_reasoning = first
        .iter()
        .position(|event| *event == ModelEvent::TextWasReasoning);
    let after = was_reasoning.map(|at| text_of(&first[at..]));
    assert_eq!(after.unwrap_or_else(|| text_of(&first)), "Hello.");
    let second = events(&model, ToolMode::Native).await;
    assert_eq!(
        (reasoning_of(&second), text_of(&second)),
        ("They greet me.\n".into(), "Hello.".into())
    );
    assert!(
        !second.contains(&ModelEvent::TextWasReasoning),
        "it is known by now"
    );
}

#[tokio::test]
async fn text_arrives_while_it_is_generated() {
    let server = server(Reply::stream(&[text_step("Hello "), Step::Silence])).await;
    let mut call = ask(&model(&server), ToolMode::Native);
    assert_eq!(
        call.next().await,
        Some(Ok(ModelEvent::TextDelta("Hello ".into())))
    );
}

#[tokio::test]
async fn dropping_a_call_closes_the_connection() {
    for steps in [
        vec![Step::Silence],
        vec![text_step("Hello "), Step::Silence],
    ] {
        let server = server(Reply::stream(&steps)).await;
        let mut call = ask(&model(&server), ToolMode::Native);
        if steps.len() > 1 {
            call.next().await;
        } else {
            tokio::select! {
                event = call.next() => panic!("{event:?} out of silence"),
                () = server.until_open_requests(1) => {}
            }
        }
        assert_eq!(server.open_requests(), 1);
        drop(call);
        let closed = server.until_open_requests(0);
        tokio::time::timeout(Duration::from_secs(1), closed)
            .await
            .expect("closed within a second");
    }
}

#[tokio::test]
async fn a_cancelled_wait_loses_nothing() {
    let words = "one two three four five six seven eight nine ten";
    let text = Step::Text {
        text: words.into(),
        tokens_per_second: Some(300.0),
    };
    let server = server(Reply::stream(&[text, end()])).await;
    let mut call = ask(&model(&server), ToolMode::Native);
    let mut seen = Vec::new();
    loop {
        match tokio::time::timeout(Duration::from_millis(1), call.next()).await {
            Err(_) => {}
            Ok(Some(event)) => seen.push(event.unwrap()),
            Ok(None) => break,
        }
    }
    assert_eq!(text_of(&seen), words);
}

#[tokio::test]
async fn connections_are_reused() {
    let server = server(Reply::text("Hi")).await;
    let model = model(&server);
    for _ in 0..5 {
        events(&model, ToolMode::Native).await;
    }
    assert_eq!(server.connections(), 1);
}
