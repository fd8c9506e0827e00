//! Parameters that a model does not accept: they are left out, and the caller is informed.

use domain::{LeftOut, Parameter, ReasoningEffort};
use llm::{
    ProviderKind,
    openai::{Pool, Server, ServerSettings},
};

use super::*;

fn call(model: &ChatModel, parameters: &ModelParameters, extra: Option<&Value>) -> ModelCall {
    model.call(&ChatRequest {
        messages: &[Message::text(Role::User, "Hello")],
        tools: &[tool("ls")],
        tool_mode: ToolMode::Native,
        tool_prompt: None,
        parameters,
        answer_format: None,
        without_thinking: false,
        extra: extra.and_then(Value::as_object),
        trace: None,
        caller: None,
    })
}

/// The answer's text, and the parameters left out.
async fn answer(model: &ChatModel, parameters: &ModelParameters) -> (String, Vec<LeftOut>) {
    let (events, error) = drain(call(model, parameters, None)).await;
    assert_eq!(error, None);
    let left_out = |event: &ModelEvent| match event {
        ModelEvent::ParameterLeftOut(left_out) => Some(*left_out),
        _ => None,
    };
    (
        text_of(&events),
        events.iter().filter_map(left_out).collect(),
    )
}

fn set(effort: ReasoningEffort) -> ModelParameters {
    ModelParameters {
        temperature: Some(0.2),
        seed: Some(7),
        reasoning_effort: Some(effort),
        ..ModelParameters::default()
    }
}

/// Refuses as OpenAI does.
fn refusal(param: &str) -> Reply {
    let message = format!("Unsupported parameter: '{param}' is not supported with this model.");
    let error = json!({"error": {"message": message, "type": "invalid_request_error", "param": param,
        "code": "unsupported_parameter"}});
    Reply::status(
        400,
        &[("content-type", "application/json")],
        &error.to_string(),
    )
}

#[tokio::test]
async fn refused_parameters_are_left_out_and_remembered_per_model() {
    let server = serve(Behaviour::answer(|request| {
        let refused = ["temperature", "seed"]
            .into_iter()
            .find(|name| request.body.get(*name).is_some());
        match refused.filter(|_| request.body["model"] == "tiny") {
            Some(name) => refusal(name),
            None => Reply::text("Hi"),
        }
    }))
    .await;
    let of_tiny = settings(&server.base_url());
    let of_large = OpenAiSettings {
        model: "large".into(),
        ..of_tiny.clone()
    };
    let [tiny, large] = [of_tiny, of_large]
        .map(|settings| ChatModel::openai(settings, &HttpClient::new().unwrap()));
    let left_out = [Parameter::Temperature, Parameter::Seed].map(LeftOut::Parameter);
    for asked in [3, 4] {
        assert_eq!(
            answer(&tiny, &set(ReasoningEffort::Low)).await,
            ("Hi".into(), left_out.to_vec())
        );
        assert_eq!(
            server.requests().len(),
            asked,
            "the second time it is known"
        );
    }
    let last = server.requests().pop().unwrap();
    assert_eq!(
        (last.get("temperature"), &last["reasoning_effort"]),
        (None, &json!("low"))
    );
    assert_eq!(
        answer(&large, &set(ReasoningEffort::Low)).await,
        ("Hi".into(), vec![])
    );
    assert_eq!(server.requests().pop().unwrap()["temperature"], 0.2);
}

#[tokio::test]
async fn a_refused_effort_leaves_the_others() {
    let server = serve(Behaviour::answer(
        |request| match request.body["reasoning_effort"].as_str() {
            Some("minimal") => refusal("reasoning_effort"),
            _ => Reply::text("Hi"),
        },
    ))
    .await;
    let model = model(&server);
    let effort = vec![LeftOut::Parameter(Parameter::ReasoningEffort)];
    for (level, left_out, asked) in [
        (ReasoningEffort::Minimal, effort.clone(), 2),
        (ReasoningEffort::Minimal, effort, 3),
        (ReasoningEffort::High, vec![], 4),
    ] {
        assert_eq!(answer(&model, &set(level)).await, ("Hi".into(), left_out));
        assert_eq!(server.requests().len(), asked);
    }
}

/// A complaint about tools that means the effort costs only the effort.
#[tokio::test]
async fn a_refused_effort_does_not_remove_the_tools() {
    let server = serve(Behaviour::answer(|request| {
        match request.body.get("reasoning_effort") {
            Some(_) => Reply::error(
                400,
                "Function tools with reasoning_effort are not supported in /v1/chat/completions.",
            ),
            None => Reply::text("Hi"),
        }
    }))
    .await;
    let left_out = vec![LeftOut::Parameter(Parameter::ReasoningEffort)];
    assert_eq!(
        answer(&model(&server), &set(ReasoningEffort::High)).await,
        ("Hi".into(), left_out)
    );
    assert!(server.requests().pop().unwrap().get("tools").is_some());
}

#[tokio::test]
async fn a_persistent_refusal_is_an_error_and_is_not_remembered() {
    let server = serve(Behaviour::answer(|request| match request.number {
        1..=2 => refusal("seed"),
        _ => Reply::text("Hi"),
    }))
    .await;
    let model = model(&server);
    let (_, error) = drain(call(&model, &set(ReasoningEffort::Low), None)).await;
    assert_error(&error.unwrap(), ProblemCode::ModelRejected, "'seed'");
    assert_eq!(
        answer(&model, &set(ReasoningEffort::Low)).await,
        ("Hi".into(), vec![])
    );
    assert_eq!(server.requests().pop().unwrap()["seed"], 7);
}

#[tokio::test]
async fn parameters_known_as_unsupported_are_not_sent() {
    let server = server(Reply::text("Hi")).await;
    let settings = settings(&server.base_url());
    let settings = OpenAiSettings {
        unsupported: vec![Parameter::Seed, Parameter::Stop],
        ..settings
    };
    let model = ChatModel::openai(settings, &HttpClient::new().unwrap());
    let left_out = vec![LeftOut::Parameter(Parameter::Seed)];
    assert_eq!(
        answer(&model, &set(ReasoningEffort::Low)).await,
        ("Hi".into(), left_out)
    );
    assert_eq!(server.requests().remove(0).get("seed"), None);
}

#[tokio::test]
async fn the_token_limit_uses_the_name_that_the_server_accepts() {
    let server = serve(Behaviour::answer(|request| match request.body.get("max_tokens") {
        Some(_) => Reply::error(
            400,
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use 'max_completion_tokens' instead.",
        ),
        None => Reply::text("Hi"),
    }))
    .await;
    let model = model(&server);
    let limited = ModelParameters {
        max_output_tokens: Some(9),
        ..ModelParameters::default()
    };
    for asked in [2, 3] {
        assert_eq!(answer(&model, &limited).await, ("Hi".into(), vec![]));
        assert_eq!(server.requests().len(), asked);
        assert_eq!(server.requests().pop().unwrap()["max_completion_tokens"], 9);
    }
    // Even if a program has written it.
    let (_, error) = drain(call(
        &model,
        ModelParameters::unset(),
        Some(&json!({"max_tokens": 7})),
    ))
    .await;
    assert_eq!((error, server.requests().len()), (None, 4));
    assert_eq!(server.requests().pop().unwrap()["max_completion_tokens"], 7);
}

#[tokio::test]
async fn native_formats_remember_refusals() {
    let server = serve(Behaviour::answer(|request| {
        let thinks = request.body.pointer("/generationConfig/thinkingConfig").is_some();
        match (thinks, request.body.pointer("/generationConfig/temperature").is_some()) {
            (true, true) => {
                Reply::error(400, "Thinking level is not supported for this model.")
            }
            _ => Reply::status(
                200,
                &[("content-type", "application/json")],
                r#"{"candidates":[{"content":{"parts":[{"text":"Hi"}],"role":"model"},"finishReason":"STOP"}]}"#,
            ),
        }
    }))
    .await;
    let base_url = BaseUrl::parse_of(ProviderKind::Gemini, &server.base_url()).unwrap();
    let of_server = ServerSettings {
        kind: ProviderKind::Gemini,
        ..ServerSettings::alone(base_url, None)
    };
    assert_eq!(of_server.unsupported_parameters("gemini-3-pro"), []);
    assert_eq!(
        of_server.unsupported_parameters("gemma-3"),
        [Parameter::ReasoningEffort]
    );
    let pool = Pool::new(vec![std::sync::Arc::new(Server::new(
        of_server,
        Default::default(),
    ))])
    .unwrap();
    let settings = OpenAiSettings::of_pool(std::sync::Arc::new(pool), "gemini-3-pro");
    let model = ChatModel::openai(settings, &HttpClient::new().unwrap());
    let left_out = vec![LeftOut::Parameter(Parameter::ReasoningEffort)];
    for asked in [2, 3] {
        assert_eq!(
            answer(&model, &set(ReasoningEffort::Low)).await,
            ("Hi".into(), left_out.clone())
        );
        assert_eq!(server.received().len(), asked);
    }
    assert_eq!(
        server.received().pop().unwrap().body["generationConfig"],
        json!({"temperature": 0.2, "seed": 7})
    );
}
