//! Texts that are continued instead of answered.

use scripted::ServerOptions;

use super::*;

async fn continued(
    completions: Option<Reply>,
) -> (ScriptedServer, Vec<ModelEvent>, Option<ModelError>) {
    let completions = completions.map(Behaviour::always);
    let options = ServerOptions {
        completions,
        ..ServerOptions::default()
    };
    let server = ScriptedServer::start_with(Behaviour::always(Reply::text("An answer.")), options)
        .await
        .unwrap();
    let model = model(&server).continuing().unwrap();
    let messages = [Message::text(Role::User, "What is the")];
    let parameters = ModelParameters {
        temperature: Some(0.5),
        max_output_tokens: Some(9),
        ..ModelParameters::default()
    };
    let request = ChatRequest {
        messages: &messages,
        tools: &[],
        tool_mode: ToolMode::Off,
        tool_prompt: None,
        parameters: &parameters,
        answer_format: None,
        without_thinking: true,
        extra: None,
        trace: None,
        caller: None,
    };
    let (events, error) = drain(model.call(&request)).await;
    (server, events, error)
}

fn said(text: &str, more: Value) -> Step {
    let mut data = json!({"object": "text_completion", "choices": [{"index": 0, "text": text}]});
    data.as_object_mut()
        .unwrap()
        .extend(more.as_object().unwrap().clone());
    Step::Event {
        data: data.to_string(),
    }
}

#[tokio::test]
async fn only_the_text_is_sent_and_its_continuation_returned() {
    let finish = json!({"choices": [{"text": "", "finish_reason": "stop"}], "usage": {"prompt_tokens": 3, "completion_tokens": 2}});
    let reply = Reply::stream(&[
        said(" cap", json!({})),
        said("ital?", json!({})),
        Step::Event {
            data: finish.to_string(),
        },
    ]);
    let (server, events, error) = continued(Some(reply)).await;
    assert_eq!((text_of(&events), error), (" capital?".to_owned(), None));
    assert_eq!(finish_of(&events).1, Some(Usage::of(3, 2)));
    let sent = server.requests().pop().unwrap();
    let expected = json!({"model": "tiny", "prompt": "What is the", "max_tokens": 9, "temperature": 0.5, "stop": ["\n"],
        "stream": true, "stream_options": {"include_usage": true}});
    assert_eq!(sent, expected);
}

#[tokio::test]
async fn continuing_on_an_unsupported_server_fails() {
    let (_, events, error) = continued(None).await;
    assert_error(
        &error.unwrap(),
        ProblemCode::ModelNotFound,
        "There is nothing here.",
    );
    assert_eq!(text_of(&events), "");
    // It would take the text for a question.
    let reply = Reply::stream(&[said("Paris.", json!({"system_fingerprint": "fp_ollama"}))]);
    let (_, events, error) = continued(Some(reply)).await;
    assert_error(
        &error.unwrap(),
        ProblemCode::ModelRejected,
        "but not text completion",
    );
    assert_eq!(text_of(&events), "");
}
