//! Document 001, its list of events: how a run begins and ends, what is written and thought, and what a model costs.

use reqwest::Method;
use scripted::{Behaviour, Call, Finish, Reply, Step};
use serde_json::{Value, json};

use super::{frames, log, say};
use crate::{
    openai::{Door, text},
    runs::events,
    sse::Events,
};

#[tokio::test]
async fn document_001_a_run_begins_and_ends_with_an_event() {
    let endless = || Reply::stream(&[text("Once"), Step::Silence]);
    let ls = || Reply::calls(&[("ls", json!({}))]);
    for (outcome, behaviour) in [
        ("completed", Behaviour::always(Reply::text("Done."))),
        (
            "failed",
            Behaviour::always(Reply::error(400, "out of order")),
        ),
        ("cancelled", Behaviour::always(endless())),
        (
            "limited",
            Behaviour::answer(move |request| match request.body["tools"].is_array() {
                true => ls(),
                false => Reply::text("This far."),
            }),
        ),
    ] {
        let door = Door::open_with(behaviour, &[("GLASSHOUSE_LIMITS_STEPS", "2")]).await;
        let request = door
            .server
            .request(Method::POST, "/chat/stream", &door.key)
            .json(&say("Work"));
        let response = request.send().await.unwrap();
        let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
        let mut stream = Events::of(response);
        if outcome == "cancelled" {
            stream.until(|frame| frame["type"] == "token").await;
            door.server
                .post(&format!("/runs/{run}/cancel"), &door.key, &Value::Null)
                .await
                .expect(204);
        }
        stream.rest().await;
        let log = log(&door, &run).await;
        assert_eq!(log[0].1["type"], "run_started", "{outcome}");
        let last = &log.last().unwrap().1;
        assert_eq!(
            (&last["type"], &last["outcome"]),
            (&json!("run_finished"), &json!(outcome)),
            "{last}"
        );
        assert_eq!(
            last["problem"]["message"].is_string(),
            ["failed", "limited"].contains(&outcome),
            "{last}"
        );
    }
}

#[tokio::test]
async fn document_001_native_events_tell_text_reasoning_and_model_calls() {
    let reasoning = || Step::Reasoning {
        text: "They want a file.".into(),
        tokens_per_second: None,
    };
    let usage = |input_tokens| Step::Usage {
        input_tokens,
        output_tokens: 5,
    };
    let calls = Step::Calls {
        calls: vec![Call {
            name: "write_file".into(),
            arguments: json!({"path": "/a.md", "content": "x"}),
        }],
    };
    let door = Door::open(Behaviour::sequence(vec![
        Reply::stream(&[
            reasoning(),
            text("I write it."),
            calls,
            usage(10),
            Step::Finish {
                reason: Finish::ToolCalls,
            },
        ]),
        Reply::stream(&[
            text("It is written."),
            usage(20),
            Step::Finish {
                reason: Finish::Stop,
            },
        ]),
    ]))
    .await;
    let (run, _) = frames(&door, "", &say("Write")).await;
    let log: Vec<Value> = log(&door, &run)
        .await
        .into_iter()
        .map(|(_, body)| body)
        .collect();
    let of = |kind: &str| {
        log.iter()
            .filter(|body| body["type"] == kind)
            .collect::<Vec<_>>()
    };
    // What is thought: its beginning, its pieces, and the whole with the time that it took.
    assert_eq!(of("reasoning_started").len(), 1);
    let pieces: String = of("reasoning_delta")
        .iter()
        .map(|body| body["delta"].as_str().unwrap())
        .collect();
    assert_eq!(pieces, "They want a file.");
    let thought = of("reasoning_finished");
    assert_eq!(
        (thought.len(), &thought[0]["text"]),
        (1, &json!("They want a file."))
    );
    assert!(thought[0]["duration_ms"].is_u64(), "{}", thought[0]);
    // What is written: words on the way are told from the answer.
    let texts: Vec<_> = of("text_finished")
        .iter()
        .map(|body| (body["text"].clone(), body["answer"].clone()))
        .collect();
    let expected = [
        (json!("I write it."), json!(false)),
        (json!("It is written."), json!(true)),
    ];
    assert_eq!(texts, expected);
    assert_eq!(of("text_started").len(), 2);
    // Each call of the model: when it begins, and what it took.
    let steps: Vec<&Value> = of("step_started")
        .iter()
        .map(|body| &body["step"])
        .collect();
    assert_eq!(steps, [&json!(1), &json!(2)]);
    let models = of("model_called");
    let inputs: Vec<&Value> = models
        .iter()
        .map(|body| &body["usage"]["input_tokens"])
        .collect();
    assert_eq!(inputs, [&json!(10), &json!(20)]);
    for called in models {
        assert!(
            called["duration_ms"].is_u64() && called["first_token_ms"].is_u64(),
            "{called}"
        );
    }
}

/// Half a call shows while the model is still writing it, to who asks for that.
#[tokio::test]
async fn document_001_arguments_are_shown_as_they_are_written_where_asked_for() {
    let half = json!({"choices": [{"index": 0, "delta": {"tool_calls": [{"index": 0, "id": "c", "type": "function",
        "function": {"name": "write_file", "arguments": "{\"path\": \"/a.md\", \"con"}}]}}]});
    let silent = Reply::stream(&[
        Step::Event {
            data: half.to_string(),
        },
        Step::Silence,
    ]);
    let door = Door::open(Behaviour::always(silent)).await;
    let mut body = say("Write");
    body["events"] = json!(["tool_args_delta"]);
    let request = door
        .server
        .request(Method::POST, "/chat/stream", &door.key)
        .json(&body);
    let response = request.send().await.unwrap();
    let run = response.headers()["x-run-id"].to_str().unwrap().to_owned();
    let mut stream = Events::of(response);
    let start = stream.until(|frame| frame["type"] == "tool_start").await;
    let delta = stream
        .until(|frame| frame["type"] == "tool_args_delta")
        .await;
    assert_eq!(delta["data"]["tool_id"], start["data"]["tool_id"]);
    assert_eq!(delta["data"]["delta"], r#"{"path": "/a.md", "con"#);
    door.server
        .post(&format!("/runs/{run}/cancel"), &door.key, &Value::Null)
        .await
        .expect(204);
    stream.rest().await;
    // Who does not ask for it is told of the call only.
    let frames = events(
        &door.server,
        &door.key,
        &format!("/runs/{run}/events?format=chat"),
    )
    .await
    .rest()
    .await;
    let kinds: Vec<Value> = frames
        .iter()
        .map(|frame| frame.json()["type"].clone())
        .collect();
    assert!(
        kinds.contains(&json!("tool_start")) && !kinds.contains(&json!("tool_args_delta")),
        "{kinds:?}"
    );
}

/// The summary of a session: a status when it begins, and an event with it when it is done.
#[tokio::test]
async fn document_001_a_summary_is_told_when_it_begins_and_when_it_is_done() {
    let door = Door::open(Behaviour::answer(|request| {
        let first = request.body["messages"][0]["content"].to_string();
        if first.contains("You sum up the older part") {
            return Reply::text("Files were written.");
        }
        if request.number > 20 {
            return Reply::text("All written.");
        }
        let file =
            json!({"path": format!("/{}.md", request.number), "content": "word ".repeat(1_500)});
        Reply::calls(&[("write_file", file)])
    }))
    .await;
    let window = json!({"context_tokens": 16_000});
    door.server
        .put("/api/v1/models/scripted", &door.cookie, &window)
        .await
        .expect(200);
    let (run, _) = frames(&door, "", &say("Write all the files")).await;
    let log: Vec<Value> = log(&door, &run)
        .await
        .into_iter()
        .map(|(_, body)| body)
        .collect();
    let done = log
        .iter()
        .position(|body| body["type"] == "context_compacted")
        .unwrap();
    assert_eq!(log[done]["summary"], "Files were written.");
    let begun = &log[..done]
        .iter()
        .rfind(|body| body["type"] == "status")
        .unwrap()["description"];
    assert_eq!(begun, "Summarizing older steps…");
    assert_eq!(log.last().unwrap()["outcome"], "completed");
}
