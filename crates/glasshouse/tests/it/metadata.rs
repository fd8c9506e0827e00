//! `metadata` of a request: the files that come along, the tools that may be used, and what is switched off, in both doors
//! that take it.

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, EMAIL, PASSWORD},
    openai::{CHAT, Door, ask, connect},
    restart::{Kept, stop},
    runs::events,
};

/// The names of the tools that the model was last told about.
fn tools(upstream: &ScriptedServer) -> Vec<String> {
    let last = upstream.requests().last().cloned().unwrap();
    let tools = last["tools"].as_array().cloned().unwrap_or_default();
    tools
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap().to_owned())
        .collect()
}

/// What the model was told in its last request, as JSON.
fn told(upstream: &ScriptedServer) -> String {
    upstream.requests().last().unwrap()["messages"].to_string()
}

async fn say(door: &Door, metadata: Value) -> Answer {
    let mut body = ask("glasshouse/agent", "Go");
    body["metadata"] = metadata;
    Answer::of(
        door.server
            .request(Method::POST, CHAT, &door.key)
            .json(&body),
    )
    .await
}

fn done() -> Reply {
    Reply::text("Done.")
}

#[tokio::test]
async fn attached_files_are_in_the_workspace_and_told_of() {
    let read = |path: &str| Reply::calls(&[("read_file", json!({ "path": path }))]);
    let write = Reply::calls(&[(
        "write_file",
        json!({"path": "/attachments/plan.md", "content": "# Mine"}),
    )]);
    let replies = vec![
        read("/attachments/plan.md"),
        done(),
        read("/attachments/plan.md"),
        write,
        done(),
        done(),
    ];
    let door = Door::open(Behaviour::sequence(replies)).await;
    let file = |text: &str| {
        json!({"chat_id": "c", "variables": {"{{USER_LANGUAGE}}": "ru-RU"}, "files": [
            {"type": "file", "name": "plan.md", "file": {"data": {"content": text}}},
            {"type": "file", "name": "scan.pdf", "url": "https://chat.test/api/v1/files/8"},
        ]})
    };
    say(&door, file("# Plan of May")).await.expect(200);
    let heard = told(&door.upstream);
    assert!(
        heard.contains("The file /attachments/plan.md, 13 bytes"),
        "{heard}"
    );
    assert!(
        heard.contains("“scan.pdf”: only its name came along"),
        "{heard}"
    );
    assert!(heard.contains("USER_LANGUAGE: ru-RU"), "{heard}");
    assert!(
        heard.matches("# Plan of May").count() == 1,
        "it could be read: {heard}"
    );
    // The agent changes its file, and the program sends the first one again: both are kept.
    say(&door, file("# Plan of May")).await.expect(200);
    say(&door, file("# Plan of May")).await.expect(200);
    let heard = told(&door.upstream);
    let again = heard.split("The file /attachments/").nth(1).unwrap();
    assert!(
        !again.starts_with("plan.md") && again.contains("/plan.md, 13 bytes"),
        "{heard}"
    );
}

#[tokio::test]
async fn files_that_are_too_large_or_misnamed_do_no_harm() {
    let door = Door::open(Behaviour::sequence(vec![done(), done()])).await;
    let named = |name: &str, content: &str| json!({"files": [{"name": name, "content": content}]});
    say(&door, named("../../up.txt", "x")).await.expect(200);
    assert!(told(&door.upstream).contains("/attachments/up.txt"));
    let huge = "x".repeat(10_000_001);
    let refused = say(&door, named("huge.txt", &huge)).await;
    assert!(refused.status.is_client_error(), "{}", refused.status);
    assert_eq!(door.upstream.requests().len(), 1, "nothing was begun");
    say(&door, named(&"x".repeat(300), "x")).await.expect(400);
}

#[tokio::test]
async fn only_the_named_tools_may_be_used() {
    let sneaky = Reply::calls(&[("write_file", json!({"path": "/a", "content": "x"}))]);
    let door = Door::open(Behaviour::sequence(vec![done(), sneaky, done(), done()])).await;
    say(&door, json!({"tool_ids": []})).await.expect(200);
    assert!(tools(&door.upstream).len() > 8);
    say(
        &door,
        json!({"tool_ids": ["ls", "read_file", "server:weather"]}),
    )
    .await
    .expect(200);
    assert_eq!(tools(&door.upstream), ["ls", "read_file"]);
    let heard = told(&door.upstream);
    assert!(
        heard.contains("write_file") && !heard.contains("/a written"),
        "a call of another fails: {heard}"
    );
    say(
        &door,
        json!({"features": {"memory": false, "web_search": true}}),
    )
    .await
    .expect(200);
    let left = tools(&door.upstream);
    assert!(
        !left.iter().any(|name| name.starts_with("memory_")) && left.len() > 8,
        "{left:?}"
    );
}

#[tokio::test]
async fn sub_agents_have_no_more_than_the_run() {
    let hand_over = Reply::calls(&[(
        "task",
        json!({"description": "Look", "subagent_type": "general"}),
    )]);
    let door = Door::open(Behaviour::sequence(vec![hand_over, done(), done()])).await;
    say(&door, json!({"tool_ids": ["task", "ls"]}))
        .await
        .expect(200);
    let requests = door.upstream.requests();
    let of = |request: &Value| request["tools"].to_string();
    assert!(requests.len() >= 2, "{requests:?}");
    for request in &requests {
        assert!(!of(request).contains("write_file"), "{request}");
    }
}

#[tokio::test]
async fn the_first_door_honours_it_too_and_a_restart_widens_nothing() {
    let kept = Kept::new();
    let ask_me = Reply::calls(&[("ask_user", json!({"question": "Which?"}))]);
    let upstream = ScriptedServer::start(Behaviour::sequence(vec![ask_me, done()]))
        .await
        .unwrap();
    let run = {
        let server = kept.start().await;
        let cookie = server.set_up().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        let body = json!({
            "messages": [{"role": "user", "content": "Go"}], "model": "scripted", "chat_id": "outside",
            "metadata": {"tool_ids": ["ask_user", "ls"], "files": [{"name": "a.txt", "content": "alpha"}]},
        });
        let answer = server
            .request(Method::POST, "/chat/stream", &cookie)
            .json(&body)
            .send()
            .await
            .unwrap();
        let run = answer.headers()["x-run-id"].to_str().unwrap().to_owned();
        let mut reader = events(&server, &cookie, &format!("/runs/{run}/events")).await;
        reader
            .until(|event| event["body"]["type"] == "question_asked")
            .await;
        assert_eq!(tools(&upstream), ["ls", "ask_user"]);
        assert!(told(&upstream).contains("/attachments/a.txt"));
        stop(&server).await;
        run
    };
    let server = kept.start().await;
    let login = server
        .post(
            "/api/v1/login",
            "",
            &json!({"email": EMAIL, "password": PASSWORD}),
        )
        .await;
    let cookie = login.cookie();
    let answer = json!({"answer": "This one"});
    server
        .post(&format!("/runs/{run}/questions/q2"), &cookie, &answer)
        .await
        .expect(204);
    let log = events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    assert_eq!(
        log.last().unwrap().json()["body"]["outcome"],
        "completed",
        "{log:?}"
    );
    assert_eq!(tools(&upstream), ["ls", "ask_user"]);
    assert!(told(&upstream).contains("/attachments/a.txt"));
}

#[tokio::test]
async fn what_it_cannot_mean_is_refused_in_both_doors() {
    let door = Door::open(Behaviour::sequence(vec![done(), done()])).await;
    for bad in [
        json!("x"),
        json!({"tool_ids": [1]}),
        json!({"features": {"memory": "off"}}),
        json!({"files": [{"url": "data:x"}]}),
        json!({"variables": {"a\u{0}": "b"}}),
    ] {
        say(&door, bad.clone()).await.expect(400);
        let body = json!({"messages": [{"role": "user", "content": "x"}], "metadata": bad});
        door.server
            .post("/chat/stream", &door.key, &body)
            .await
            .expect(400);
    }
    assert_eq!(door.upstream.requests().len(), 0);
}
