//! `/v1`: agents read by our own client of the format, and what is refused.

use std::time::Duration;

use domain::{Message, Part, Role, ToolCall};
use llm::{
    BaseUrl, ChatModel, ChatRequest, FinishReason, HttpClient, ModelEvent, OpenAiSettings, Secret,
};
use llm::{ToolMode, ToolSpec};
use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    sse::{Event, Events},
};

pub(crate) const CHAT: &str = "/v1/chat/completions";

/// A server with a scripted model connected, and keys of an administrator (cookie) and of a plain user.
pub(crate) struct Door {
    pub(crate) server: Server,
    pub(crate) upstream: ScriptedServer,
    pub(crate) cookie: String,
    pub(crate) key: String,
}

impl Door {
    pub(crate) async fn open(behaviour: Behaviour) -> Self {
        Self::open_with(behaviour, &[]).await
    }

    pub(crate) async fn open_with(behaviour: Behaviour, settings: &[(&str, &str)]) -> Self {
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let server = Server::start_with(settings).await;
        let cookie = server.set_up().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        let key = server.key_of_plain_user("bob@example.org").await;
        Self {
            server,
            upstream,
            cookie,
            key,
        }
    }

    pub(crate) async fn post(&self, body: &Value) -> Answer {
        self.server.post(CHAT, &self.key, body).await
    }

    pub(crate) async fn stream(&self, body: &Value) -> Vec<Event> {
        let request = self
            .server
            .request(Method::POST, CHAT, &self.key)
            .json(body);
        Events::of(request.send().await.unwrap()).rest().await
    }

    /// Our own client, as any program would reach the agent.
    pub(crate) fn client(&self) -> ChatModel {
        let base_url = BaseUrl::parse(&self.server.url("/v1")).unwrap();
        let key = Some(Secret::new(&self.key));
        let settings = OpenAiSettings {
            attempts: 1,
            ..OpenAiSettings::new(base_url, key, "glasshouse/agent")
        };
        ChatModel::openai(settings, &HttpClient::new().unwrap())
    }
}

pub(crate) async fn connect(server: &Server, cookie: &str, name: &str, base_url: &str) {
    let body = json!({ "name": name, "base_url": base_url, "api_key": "sk-upstream" });
    server
        .post("/api/v1/connections", cookie, &body)
        .await
        .expect(200);
}

pub(crate) fn ask(model: &str, text: &str) -> Value {
    json!({"model": model, "messages": [{"role": "user", "content": text}]})
}

pub(crate) fn streaming(model: &str, text: &str) -> Value {
    let mut body = ask(model, text);
    body["stream"] = json!(true);
    body
}

/// What our client makes of an answer.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Heard {
    pub(crate) text: String,
    reasoning: String,
    pub(crate) calls: Vec<ToolCall>,
    reason: Option<FinishReason>,
    error: Option<String>,
}

pub(crate) async fn hear(model: &ChatModel, messages: &[Message], tools: &[ToolSpec]) -> Heard {
    let tool_mode = ToolMode::Native;
    let mut call = model.call(&ChatRequest {
        messages,
        tools,
        tool_mode,
        tool_prompt: None,
        parameters: domain::ModelParameters::unset(),
        answer_format: None,
        without_thinking: false,
        extra: None,
        trace: None,
        caller: None,
    });
    let mut heard = Heard::default();
    while let Some(event) = call.next().await {
        match event {
            Ok(ModelEvent::TextDelta(delta)) => heard.text.push_str(&delta),
            Ok(ModelEvent::ReasoningDelta(delta)) => heard.reasoning.push_str(&delta),
            Ok(ModelEvent::TextWasReasoning) => {
                heard.reasoning.push_str(&std::mem::take(&mut heard.text))
            }
            Ok(ModelEvent::ToolCallStarted { id, name, .. }) => {
                heard.calls.push(ToolCall {
                    id,
                    name,
                    arguments: String::new(),
                });
            }
            Ok(ModelEvent::ToolArgumentsDelta { index, delta }) => {
                heard.calls[index].arguments.push_str(&delta)
            }
            Ok(
                ModelEvent::Retrying { .. }
                | ModelEvent::FailedOver { .. }
                | ModelEvent::ToolsRefused { .. },
            ) => {
                panic!("asked once")
            }
            Ok(
                ModelEvent::Status { .. }
                | ModelEvent::ProviderData { .. }
                | ModelEvent::Citations(_)
                | ModelEvent::ServerTool(_)
                | ModelEvent::ParameterLeftOut(_),
            ) => {}
            Ok(ModelEvent::Finished { reason, .. }) => heard.reason = Some(reason),
            Err(error) => heard.error = Some(error.message),
        }
    }
    heard
}

pub(crate) fn text(text: &str) -> Step {
    Step::Text {
        text: text.to_owned(),
        tokens_per_second: None,
    }
}

pub(crate) fn finish() -> Step {
    Step::Finish {
        reason: scripted::Finish::Stop,
    }
}

/// OpenAI's error object with these values.
#[track_caller]
pub(crate) fn assert_error(answer: &Answer, status: u16, code: &str, param: Option<&str>) {
    assert_eq!(answer.expect(status), code, "{}", answer.text);
    let error = &answer.json()["error"];
    assert!(error["type"].is_string(), "{error}");
    assert_eq!(error["param"].as_str(), param, "{error}");
}

#[tokio::test]
async fn our_client_hears_what_the_agent_said() {
    let reasoning = Step::Reasoning {
        text: "They greet me.".into(),
        tokens_per_second: None,
    };
    let door = Door::open(Behaviour::sequence(vec![
        Reply::stream(&[
            text("Let me look."),
            Step::Calls {
                calls: vec![scripted::Call {
                    name: "ls".into(),
                    arguments: json!({"path": "/"}),
                }],
            },
            Step::Finish {
                reason: scripted::Finish::ToolCalls,
            },
        ]),
        Reply::stream(&[reasoning, text("Nothing </here> \"yet\" é\n✓."), finish()]),
    ]))
    .await;
    let heard = hear(&door.client(), &[Message::text(Role::User, "Hello")], &[]).await;
    assert_eq!(
        heard,
        Heard {
            text: "Let me look.\n\nNothing </here> \"yet\" é\n✓.".into(),
            reasoning: "They greet me.".into(),
            reason: Some(FinishReason::Stop),
            ..Heard::default()
        }
    );
    let collected = door.post(&ask("glasshouse/agent", "Hello")).await;
    collected.expect(200);
    let answer = collected.json();
    assert_eq!(answer["object"], "chat.completion");
    assert_eq!(
        answer["choices"][0]["message"]["content"],
        "Nothing </here> \"yet\" é\n✓."
    );
    assert_eq!(
        answer["choices"][0]["message"]["reasoning_content"],
        "They greet me."
    );
    assert_eq!(answer["model"], "glasshouse/agent");
    assert!(
        collected.headers["x-run-id"]
            .to_str()
            .unwrap()
            .starts_with("run_")
    );
}

pub(crate) fn weather() -> ToolSpec {
    ToolSpec {
        name: "weather".into(),
        description: "Tells the weather.".into(),
        parameters: json!({"type": "object", "properties": {"city": {"type": "string"}}}).into(),
    }
}

#[tokio::test]
async fn the_callers_tools_are_handed_over_and_the_run_goes_on() {
    let note = json!({"path": "/note.md", "content": "kept"});
    let (paris, rome) = (json!({"city": "Paris"}), json!({"city": "Rome"}));
    let door = Door::open(Behaviour::sequence(vec![
        Reply::calls(&[
            ("write_file", note),
            ("weather", paris.clone()),
            ("weather", rome.clone()),
        ]),
        Reply::calls(&[("read_file", json!({"path": "/note.md"}))]),
        Reply::text("Sun and rain."),
    ]))
    .await;
    let (client, tools) = (door.client(), [weather()]);
    let mut messages = vec![Message::text(Role::User, "How is it?")];
    let heard = hear(&client, &messages, &tools).await;
    assert_eq!(heard.reason, Some(FinishReason::ToolCalls));
    let calls: Vec<(&str, Value)> = heard
        .calls
        .iter()
        .map(|call| {
            (
                call.name.as_str(),
                serde_json::from_str(&call.arguments).unwrap(),
            )
        })
        .collect();
    assert_eq!(
        calls,
        [("weather", paris), ("weather", rome)],
        "only the caller's own, both at once"
    );
    let results: Vec<Message> = heard
        .calls
        .iter()
        .map(|call| Message::tool_result(&call.id, "fine"))
        .collect();
    messages.push(Message {
        content: Vec::new(),
        tool_calls: heard.calls,
        ..Message::text(Role::Assistant, "")
    });
    messages.extend(results);
    let heard = hear(&client, &messages, &tools).await;
    assert_eq!(
        (heard.text.as_str(), heard.reason),
        ("Sun and rain.", Some(FinishReason::Stop))
    );
    let requests = door.upstream.requests();
    let names: Vec<&str> = requests[0]["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    assert!(
        names.contains(&"weather") && names.contains(&"ls"),
        "{names:?}"
    );
    let read = requests[2]["messages"].as_array().unwrap().last().unwrap();
    assert!(
        read["content"].as_str().unwrap().contains("kept"),
        "the files are still there: {read}"
    );
}

#[tokio::test]
async fn pictures_reach_the_model() {
    let door = Door::open(Behaviour::always(Reply::text("A dot."))).await;
    let url = "data:image/png;base64,AAAA";
    let picture = vec![
        Part::Text {
            text: "What is it?".into(),
        },
        Part::Image { url: url.into() },
    ];
    let said = Message {
        content: picture,
        ..Message::text(Role::User, "")
    };
    assert_eq!(hear(&door.client(), &[said], &[]).await.text, "A dot.");
    let requests = door.upstream.requests();
    let sent = requests[0]["messages"].as_array().unwrap().last().unwrap();
    assert_eq!(sent["content"][1]["image_url"]["url"], url);
}

#[tokio::test]
async fn a_failing_model_is_an_error_in_both_shapes() {
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("Once upon"),
        Step::Error {
            message: "out of memory".into(),
        },
    ])))
    .await;
    let heard = hear(&door.client(), &[Message::text(Role::User, "Hi")], &[]).await;
    assert_eq!(heard.text, "Once upon");
    assert!(
        heard
            .error
            .is_some_and(|error| error.contains("out of memory"))
    );
    let answer = door.post(&ask("glasshouse/agent", "Hi")).await;
    assert_error(&answer, 502, "model_failed", None);
}

#[tokio::test]
async fn what_is_refused_is_worded_as_openai_does() {
    let door = Door::open(Behaviour::always(Reply::text("no"))).await;
    let with = |field: &str, value: Value| {
        let mut body = ask("glasshouse/agent", "Hi");
        body[field] = value;
        body
    };
    for (body, status, code, param) in [
        (
            json!({"messages": []}),
            400,
            "invalid_request",
            Some("model"),
        ),
        (
            with("messages", json!("Hi")),
            400,
            "invalid_request",
            Some("messages"),
        ),
        (with("n", json!(2)), 400, "invalid_request", Some("n")),
        (
            with(
                "response_format",
                json!({"type": "json_schema", "json_schema": {"schema": {"$ref": "#/a"}}}),
            ),
            400,
            "invalid_request",
            Some("response_format.json_schema.schema"),
        ),
        (
            with("model", json!("none-such")),
            404,
            "model_not_found",
            Some("model"),
        ),
        (
            with("model", json!("glasshouse/deeper")),
            404,
            "model_not_found",
            Some("model"),
        ),
    ] {
        assert_error(&door.post(&body).await, status, code, param);
    }
    let none = door.server.post(CHAT, "", &ask("scripted", "Hi")).await;
    assert_error(&none, 401, "unauthenticated", None);
    assert_eq!(none.json()["error"]["type"], "authentication_error");
    assert_error(
        &door.server.post("/v1/nothing", &door.key, &json!({})).await,
        404,
        "not_found",
        None,
    );
    let large = "x".repeat(door.server.app.config.now().body_limit_bytes);
    assert_error(
        &door.post(&ask("scripted", &large)).await,
        413,
        "too_large",
        None,
    );
    assert!(
        door.upstream.requests().is_empty(),
        "nothing of it reached the model"
    );
}

/// In both of OpenAI's formats, streamed or not: the answer is the JSON and nothing else.
#[tokio::test]
async fn an_agent_answers_in_the_form_that_is_asked_for() {
    let door = Door::open(Behaviour::answer(|request| {
        let forced = request.body["response_format"]["json_schema"]["name"] == "place";
        Reply::text(if forced {
            r#"{"city":"Rome"}"#
        } else {
            "It is Rome."
        })
    }))
    .await;
    let schema =
        json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
    let mut body = ask("glasshouse/agent", "Where?");
    body["response_format"] =
        json!({"type": "json_schema", "json_schema": {"name": "place", "schema": schema}});
    let whole = door.post(&body).await.json();
    let message = &whole["choices"][0]["message"];
    assert_eq!(message["content"], r#"{"city":"Rome"}"#);
    assert!(
        message["reasoning_content"]
            .as_str()
            .unwrap()
            .starts_with("It is Rome."),
        "{message}"
    );
    body["stream"] = json!(true);
    let streamed: String = door
        .stream(&body)
        .await
        .iter()
        .filter(|event| event.data != "[DONE]")
        .filter_map(|event| {
            event.json()["choices"][0]["delta"]["content"]
                .as_str()
                .map(str::to_owned)
        })
        .collect();
    assert_eq!(streamed, r#"{"city":"Rome"}"#);
    let format = json!({"type": "json_schema", "name": "place", "schema": schema});
    let body = json!({"model": "glasshouse/agent", "input": "Where?", "text": {"format": format}});
    let response = door
        .server
        .post("/v1/responses", &door.key, &body)
        .await
        .json();
    let said = response["output"]
        .as_array()
        .unwrap()
        .iter()
        .find(|item| item["type"] == "message")
        .unwrap();
    assert_eq!(
        said["content"][0]["text"], r#"{"city":"Rome"}"#,
        "{response}"
    );
}

#[tokio::test]
async fn only_who_asks_sees_the_work() {
    let calls = Reply::calls(&[("ls", json!({"path": "/"}))]);
    let replies = [calls, Reply::text("Nothing.")];
    let door = Door::open(Behaviour::answer(move |request| {
        replies[(request.number - 1) % 2].clone()
    }))
    .await;
    let seen = |events: &[Event]| {
        let chunks = events
            .iter()
            .filter(|event| event.data != "[DONE]")
            .map(Event::json);
        let kinds = chunks.filter_map(|chunk| Some(chunk.get("type")?.as_str()?.to_owned()));
        kinds.collect::<Vec<_>>()
    };
    let mut body = streaming("glasshouse/agent", "Look");
    assert_eq!(seen(&door.stream(&body).await), [""; 0]);
    body["stream_options"] = json!({"include_status": true});
    let asked = seen(&door.stream(&body).await);
    assert!(asked.iter().any(|kind| kind == "status"), "{asked:?}");
    assert_eq!(
        asked
            .iter()
            .filter(|kind| *kind == "response.output_item.done")
            .count(),
        2,
        "{asked:?}"
    );
    body["stream_options"] = Value::Null;
    let request = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .header("x-openwebui-user-name", "Ada");
    let events = Events::of(request.json(&body).send().await.unwrap())
        .rest()
        .await;
    assert!(seen(&events).iter().any(|kind| kind == "status"));
    assert!(
        events.iter().all(|event| event.id.is_none()),
        "this format has no ids"
    );
    assert_eq!(events.last().unwrap().data, "[DONE]");
}

/// What is going on shows even where nothing follows it for a long time.
#[tokio::test]
async fn a_status_that_came_too_soon_is_shown_a_little_later() {
    let calls = Reply::calls(&[(
        "task",
        json!({"description": "look", "subagent_type": "explore"}),
    )]);
    let door = Door::open(Behaviour::sequence(vec![
        calls,
        Reply::stream(&[Step::Silence]),
    ]))
    .await;
    let mut body = streaming("glasshouse/agent", "Look");
    body["stream_options"] = json!({"include_status": true});
    let request = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .json(&body);
    let mut events = Events::of(request.send().await.unwrap());
    let waiting = events.until(|chunk| {
        chunk["data"]["description"]
            .as_str()
            .is_some_and(|text| text.contains("Thinking") && text.contains('🤖'))
    });
    tokio::time::timeout(Duration::from_secs(10), waiting)
        .await
        .unwrap();
}

#[tokio::test]
async fn whoever_leaves_stops_the_run() {
    let door = Door::open(Behaviour::always(Reply::stream(&[
        text("a"),
        Step::Silence,
    ])))
    .await;
    let request = door.server.request(Method::POST, CHAT, &door.key);
    let response = request
        .json(&streaming("glasshouse/agent", "Hi"))
        .send()
        .await
        .unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    door.upstream.until_open_requests(1).await;
    drop(response);
    door.upstream.until_open_requests(0).await;
    door.server.app.runs.ended(run.parse().unwrap()).await;
    let run = door
        .server
        .get(&format!("/runs/{run}"), &door.key)
        .await
        .json();
    assert_eq!(run["summary"]["outcome"], "cancelled");
}

#[tokio::test]
async fn nobody_is_asked_who_cannot_answer() {
    let question = Reply::calls(&[("ask_user", json!({"question": "Which?", "options": []}))]);
    let door = Door::open(Behaviour::sequence(vec![
        question,
        Reply::text("Then the first."),
    ]))
    .await;
    let heard = hear(&door.client(), &[Message::text(Role::User, "Choose")], &[]).await;
    assert_eq!(heard.text, "Then the first.");
    let tour = door.post(&ask("tour", "Show me")).await;
    tour.expect(200);
    assert_eq!(tour.json()["choices"][0]["finish_reason"], "stop");
}

#[tokio::test]
async fn background_tasks_are_one_model_call() {
    let door = Door::open(Behaviour::always(Reply::text("{\"title\": \"Hello\"}"))).await;
    let prompt = "### Task:\nGenerate a title.";
    let quoting = "### Task:\nGenerate tags.\n<chat_history>\nUSER: Hi\n</chat_history>";
    for (name, value, prompt) in [
        ("x-openwebui-task", "title_generation", "Any prompt"),
        ("x-openwebui-chat-id", "c1", prompt),
        // A connection that was set up with its address and key only.
        ("x-other", "1", quoting),
    ] {
        let request = door
            .server
            .request(Method::POST, CHAT, &door.key)
            .header(name, value);
        let answer = Answer::of(request.json(&ask("glasshouse/agent", prompt))).await;
        answer.expect(200);
        assert_eq!(
            answer.json()["choices"][0]["message"]["content"],
            "{\"title\": \"Hello\"}"
        );
        assert!(answer.headers.get("x-run-id").is_none(), "no run");
    }
    let requests = door.upstream.requests();
    assert!(
        requests
            .iter()
            .all(|body| body.get("tools").is_none() && body["messages"][0]["role"] == "user")
    );
    // As another Glasshouse asks for it.
    let request = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .header("x-openwebui-task", "tags_generation");
    let mut body = streaming("glasshouse/agent", "Any prompt");
    body["response_format"] = json!({"type": "json_object"});
    let answer = Answer::of(request.json(&body)).await;
    answer.expect(200);
    assert!(
        answer.headers.get("x-run-id").is_none() && answer.text.contains("Hello"),
        "{}",
        answer.text
    );
    let last = door.upstream.requests().pop().unwrap();
    assert_eq!(
        (&last["model"], &last["response_format"]),
        (&json!("scripted"), &body["response_format"])
    );
    let chat = door
        .server
        .request(Method::POST, CHAT, &door.key)
        .header("x-openwebui-task", "None");
    let answer = Answer::of(chat.json(&ask("glasshouse/agent", "Hi"))).await;
    assert!(
        answer.headers.contains_key("x-run-id"),
        "an ordinary message is a run"
    );
    let other = door.post(&ask("glasshouse/agent", prompt)).await;
    assert!(
        other.headers.contains_key("x-run-id"),
        "another program may write so too"
    );
}

#[tokio::test]
async fn a_chat_named_in_the_metadata_keeps_its_files() {
    let write = Reply::calls(&[("write_file", json!({"path": "/note.md", "content": "kept"}))]);
    let read = || Reply::calls(&[("read_file", json!({"path": "/note.md"}))]);
    let done = || Reply::text("Done.");
    let replies = vec![
        write,
        done(),
        read(),
        done(),
        read(),
        done(),
        read(),
        done(),
    ];
    let door = Door::open(Behaviour::sequence(replies)).await;
    let say = async |metadata: Value, header: Option<&str>| {
        let mut body = ask("glasshouse/agent", "Go");
        body["metadata"] = metadata;
        let mut request = door
            .server
            .request(Method::POST, CHAT, &door.key)
            .json(&body);
        if let Some(chat) = header {
            request = request.header("x-openwebui-chat-id", chat);
        }
        Answer::of(request).await.expect(200);
        let requests = door.upstream.requests();
        let messages = requests.last().unwrap()["messages"].as_array().unwrap();
        messages.last().unwrap()["content"].to_string()
    };
    let chat =
        json!({"chat_id": "c 1", "session_id": "s", "tool_ids": [], "features": {"later": true}});
    say(chat.clone(), None).await;
    assert!(say(chat.clone(), None).await.contains("kept"));
    assert!(
        !say(json!({"chat_id": "another"}), None)
            .await
            .contains("kept")
    );
    assert!(
        say(json!({"chat_id": "another"}), Some("c 1"))
            .await
            .contains("kept"),
        "the header wins"
    );
    for bad in [
        json!("x"),
        json!({"chat_id": 7}),
        json!({"chat_id": "x".repeat(5000)}),
    ] {
        let mut body = ask("glasshouse/agent", "Go");
        body["metadata"] = bad;
        door.post(&body).await.expect(400);
    }
}
