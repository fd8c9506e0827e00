//! Models that cannot call tools: they are told of them in words, and what they write becomes the same calls.
#![cfg(target_os = "linux")]

use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{
    harness::Server,
    openai::connect,
    programs::{results, run, say, wait_for_programs},
    runs::events,
};

/// A server whose model writes these answers, one for each call, and a chat. It refuses tools of the protocol.
async fn start(
    answers: Vec<Reply>,
    settings: &[(&str, &str)],
) -> (Server, ScriptedServer, String, String) {
    let behaviour = Behaviour::answer(move |request| {
        if request.body.get("tools").is_some() {
            return Reply::error(400, "This model does not support tools.");
        }
        let said = request.body["messages"].as_array().unwrap();
        let answered = said
            .iter()
            .filter(|message| message["role"] == "assistant")
            .count();
        answers
            .get(answered)
            .cloned()
            .unwrap_or_else(|| Reply::text("No more."))
    });
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let server = Server::start_with(settings).await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json()["id"]
        .as_str()
        .unwrap()
        .to_owned();
    (server, upstream, cookie, chat)
}

fn texts(answers: &[&str]) -> Vec<Reply> {
    answers.iter().map(|text| Reply::text(text)).collect()
}

fn write_file(path: &str) -> String {
    let call = json!({"name": "write_file", "parameters": {"path": path, "content": "x"}});
    json!({"tool_calls": [call]}).to_string()
}

/// All that people read, as it came.
fn shown(log: &[Value]) -> String {
    let finished = log.iter().filter(|body| body["type"] == "text_finished");
    finished
        .map(|body| body["text"].as_str().unwrap())
        .collect::<Vec<_>>()
        .join("|")
}

#[tokio::test]
async fn written_calls_are_calls_like_any_others() {
    let list = json!({"tool_calls": [
        {"name": "write_file", "parameters": {"path": "/b.md", "content": "b"}},
        {"name": "write_file", "parameters": {"path": "/c.md", "content": "c"}},
        {"name": "no_such_tool", "parameters": {}},
    ]});
    let half = write_file("/e.md");
    let (server, upstream, cookie, chat) = start(
        texts(&[
            &format!("```json\n{}\n```", write_file("/a.md")),
            &format!("Both at once: {list} They are written."),
            &format!("{}\nResult of write_file:\nmade up", write_file("/d.md")),
            &half[..half.len() - 3],
            "{\"tool_calls\": []}\nDone: {\"a\": 1} is JSON.",
        ]),
        &[],
    )
    .await;
    let log = run(&server, &cookie, &chat).await;
    assert_eq!(log.last().unwrap()["outcome"], "completed", "{log:#?}");
    assert_eq!(shown(&log), "Both at once: |Done: {\"a\": 1} is JSON.");
    let failed: Vec<bool> = results(&log).iter().map(|(failed, _)| *failed).collect();
    assert_eq!(
        failed.iter().filter(|failed| **failed).count(),
        1,
        "{:?}",
        results(&log)
    );
    assert_eq!(failed.len(), 6);
    let files = server
        .get(&format!("/api/v1/chats/{chat}/files"), &cookie)
        .await
        .json();
    let files: Vec<&str> = files["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(files, ["/a.md", "/b.md", "/c.md", "/d.md", "/e.md"]);
    let requests = upstream.requests();
    assert!(
        requests[0].get("tools").is_some()
            && requests[1..].iter().all(|body| body.get("tools").is_none())
    );
    let system = requests[1]["messages"][0]["content"].as_str().unwrap();
    assert!(
        system.contains("### Tools:") && system.contains("\"name\":\"write_file\""),
        "{system}"
    );
    let last = requests.last().unwrap()["messages"].as_array().unwrap();
    let last: Vec<&str> = last
        .iter()
        .map(|message| message["content"].as_str().unwrap())
        .collect();
    assert!(
        last[5].starts_with("Result of write_file:\n")
            && last[5].contains("There is no tool no_such_tool")
    );
    assert!(
        !last.concat().contains("made up"),
        "it has not seen the result: {last:?}"
    );
}

#[tokio::test]
async fn a_call_that_cannot_be_read_is_told_once() {
    let broken =
        "{\"tool_calls\": [{\"name\": \"write_file\", \"parameters\": {\"path\": /a.md}}]}";
    let (server, upstream, cookie, chat) =
        start(texts(&[broken, &write_file("/a.md"), broken, broken]), &[]).await;
    let log = run(&server, &cookie, &chat).await;
    let results = results(&log);
    assert_eq!(
        results
            .iter()
            .map(|(failed, _)| *failed)
            .collect::<Vec<_>>(),
        [true, false, true]
    );
    assert!(results[0].1.contains("not valid JSON"), "{}", results[0].1);
    assert_eq!(
        shown(&log),
        broken,
        "what cannot be read again is text, and the run ends"
    );
    assert_eq!(upstream.requests().len(), 5);
}

#[tokio::test]
async fn nothing_comes_after_a_call_and_empty_answers_end() {
    let endless = Reply::stream(&[
        Step::Text {
            text: format!("{} So", write_file("/a.md")),
            tokens_per_second: None,
        },
        Step::Silence,
    ]);
    let (server, _upstream, cookie, chat) = start(vec![endless, Reply::text("")], &[]).await;
    let log = run(&server, &cookie, &chat).await;
    assert_eq!(results(&log).len(), 1);
    assert_eq!(
        (shown(&log), &log.last().unwrap()["outcome"]),
        (String::new(), &json!("completed"))
    );
}

/// What is written waits for consent like any call.
#[tokio::test]
async fn written_calls_wait_for_consent() {
    let code = "<code_interpreter type=\"code\" lang=\"python\">\nopen('canary.txt', 'w').write('x')\n</code_interpreter>";
    let settings = [
        ("GLASSHOUSE_PROGRAMS_ENABLED", "true"),
        ("GLASSHOUSE_APPROVALS", r#"[{tool="python", then="ask"}]"#),
    ];
    let (server, _upstream, cookie, chat) = start(texts(&[code, "Then not."]), &settings).await;
    wait_for_programs(&server, &cookie).await;
    let said = json!({"content": "Do it.", "model": "scripted"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &said)
        .await
        .json();
    let path = format!("/runs/{}", sent["run"].as_str().unwrap());
    let mut reader = events(&server, &cookie, &format!("{path}/events")).await;
    let asked = reader
        .until(|event| event["body"]["type"] == "approval_asked")
        .await;
    assert!(asked.to_string().contains("canary.txt"), "{asked}");
    let answer = format!(
        "{path}/approvals/{}",
        asked["body"]["approval"].as_str().unwrap()
    );
    server
        .post(&answer, &cookie, &json!({"decision": "deny"}))
        .await
        .expect(204);
    reader.rest().await;
    let files = server
        .get(&format!("/api/v1/chats/{chat}/files"), &cookie)
        .await
        .json();
    assert_eq!(files["files"], json!([]), "it was not run");
}

/// A picture of one point.
const DRAW: &str = "import base64\nopen('plot one.png', 'wb').write(base64.b64decode('iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='))";

#[tokio::test]
async fn code_in_tags_is_run_and_its_picture_stands_in_the_answer() {
    let tagged = |code: &str| {
        format!("<code_interpreter type=\"code\" lang=\"python\">\n{code}\n</code_interpreter>")
    };
    let answers = texts(&[
        &format!("I draw.\n{}\nIt prints 7.", tagged(DRAW)),
        &tagged("1 / 0"),
        &tagged("print(6 * 7)"),
        "It is 42.",
    ]);
    let (server, upstream, cookie, chat) =
        start(answers, &[("GLASSHOUSE_PROGRAMS_ENABLED", "true")]).await;
    wait_for_programs(&server, &cookie).await;
    let log = run(&server, &cookie, &chat).await;
    let results = results(&log);
    assert!(
        !results[0].0 && results[0].1.contains("new /plot one.png"),
        "{results:?}"
    );
    assert!(
        results[1].0 && results[1].1.contains("ZeroDivisionError"),
        "{results:?}"
    );
    assert_eq!(results[2], (false, "42"));
    assert_eq!(
        shown(&log),
        "I draw.\n|It is 42.\n\n![plot one](/plot%20one.png)"
    );
    let requested: Vec<&Value> = log
        .iter()
        .filter(|body| body["type"] == "tool_requested")
        .collect();
    assert!(
        requested.len() == 3 && requested.iter().all(|body| body["name"] == "python"),
        "{requested:?}"
    );
    let system = upstream.requests().pop().unwrap()["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        system.contains("### Python:") && !system.contains("\"name\":\"python\""),
        "{system}"
    );
}

/// The same tool called by the protocol: an answer that shows the picture itself is left as it is.
#[tokio::test]
async fn pictures_of_called_code_stand_in_the_answer_once() {
    for (answer, expected) in [
        ("Here.", "Here.\n\n![plot one](/plot%20one.png)"),
        (
            "Here: ![a point](/plot%20one.png)",
            "Here: ![a point](/plot%20one.png)",
        ),
    ] {
        let replies = vec![
            Reply::calls(&[("python", json!({"code": DRAW}))]),
            Reply::text(answer),
        ];
        let upstream = ScriptedServer::start(Behaviour::sequence(replies))
            .await
            .unwrap();
        let server = Server::start_with(&[("GLASSHOUSE_PROGRAMS_ENABLED", "true")]).await;
        let cookie = server.set_up().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        wait_for_programs(&server, &cookie).await;
        let chat = server
            .post("/api/v1/chats", &cookie, &json!({}))
            .await
            .json()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let log = run(&server, &cookie, &chat).await;
        assert_eq!(shown(&log), expected);
    }
}

/// What the model is told behind each result, and people are not.
fn model_notes(log: &[Value]) -> Vec<&str> {
    let ends = log.iter().filter(|body| body["type"] == "tool_finished");
    ends.map(|body| body["model_note"].as_str().unwrap_or_default())
        .collect()
}

#[tokio::test]
async fn code_that_fails_again_and_again_is_not_run_any_more() {
    let failing = "<code_interpreter type=\"code\" lang=\"python\">\n1 / 0\n</code_interpreter>";
    let settings = [
        ("GLASSHOUSE_PROGRAMS_ENABLED", "true"),
        ("CODE_INTERPRETER_MAX_RETRIES", "9"),
    ];
    let (server, upstream, cookie, chat) = start(texts(&[failing; 9]), &settings).await;
    wait_for_programs(&server, &cookie).await;
    // What an administrator sets wins.
    let set = json!({"CODE_INTERPRETER_MAX_RETRIES": 2});
    server
        .post("/api/v1/tasks/config/update", &cookie, &set)
        .await
        .expect(200);
    let log = run(&server, &cookie, &chat).await;
    let results = results(&log);
    assert_eq!(results.len(), 3, "once, and twice again: {results:?}");
    let notes = model_notes(&log);
    assert!(
        notes[2].contains("none is run any more") && !notes[1].contains("none is run"),
        "{notes:?}"
    );
    let block = "```python\n1 / 0\n```\n\n(Not run: code has failed too often in this answer.)";
    assert_eq!(
        shown(&log).trim(),
        block,
        "it is shown now, with the reason"
    );
    let system = upstream.requests().pop().unwrap()["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(!system.contains("### Python:"), "{system}");
}

#[tokio::test]
async fn the_same_code_that_comes_instead_of_an_answer_is_not_run_for_ever() {
    let same =
        "<code_interpreter type=\"code\" lang=\"python\">\nprint(6 * 7)\n</code_interpreter>";
    let settings = [("GLASSHOUSE_PROGRAMS_ENABLED", "true")];
    let (server, upstream, cookie, chat) =
        start(texts(&[same, same, same, "It is 42."]), &settings).await;
    wait_for_programs(&server, &cookie).await;
    let log = run(&server, &cookie, &chat).await;
    let notes = model_notes(&log);
    let says = |words: &str| {
        notes
            .iter()
            .map(|note| note.contains(words))
            .collect::<Vec<_>>()
    };
    assert_eq!(
        says("has just run before"),
        [false, true, false],
        "{notes:?}"
    );
    assert_eq!(
        says("none is run any more"),
        [false, false, true],
        "{notes:?}"
    );
    assert!(shown(&log).ends_with("It is 42."));
    let asked = upstream.requests().pop().unwrap()["messages"].clone();
    assert!(
        !asked[0]["content"]
            .as_str()
            .unwrap()
            .contains("### Python:"),
        "{asked}"
    );
    // What was written stays as it was, and what it printed is told as such.
    assert_eq!(asked[2]["content"], same);
    assert!(
        asked[3]["content"]
            .as_str()
            .unwrap()
            .starts_with("The code printed:\n42"),
        "{asked}"
    );
}

/// Python is the only tool here, and none is left.
#[tokio::test]
async fn code_that_is_not_run_any_more_is_shown_and_not_run_again() {
    let same =
        "<code_interpreter type=\"code\" lang=\"python\">\nprint(6 * 7)\n</code_interpreter>";
    let settings = [("GLASSHOUSE_PROGRAMS_ENABLED", "true")];
    let (server, upstream, cookie, chat) = start(texts(&[same; 9]), &settings).await;
    wait_for_programs(&server, &cookie).await;
    let agent = json!({"name": "clerk", "description": "Counts.", "instructions": "Count.", "tools": ["python"]});
    server
        .post("/api/v1/agents", &cookie, &agent)
        .await
        .expect(200);
    let log = say(
        &server,
        &cookie,
        &chat,
        &json!({"content": "Do it.", "model": "glasshouse/clerk"}),
    )
    .await;
    assert_eq!(results(&log).len(), 3, "{log:#?}");
    assert!(
        shown(&log)
            .trim()
            .ends_with("(Not run: the same code has run again and again in this answer.)"),
        "{}",
        shown(&log)
    );
    let told = upstream.requests().pop().unwrap()["messages"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()["content"]
        .clone();
    assert!(
        told.as_str()
            .unwrap()
            .ends_with("\n\n[Answer the user with this, in words.]"),
        "{told}"
    );
}

#[tokio::test]
async fn administrators_say_how_tools_are_told() {
    let (server, upstream, cookie, chat) = start(texts(&["One.", "Two.", "Three."]), &[]).await;
    let put = async |pipeline: &str, body: Value| {
        server
            .put(&format!("/api/v1/pipelines/{pipeline}"), &cookie, &body)
            .await
    };
    let own = json!({"enabled": null, "template": "For {{USER_NAME}}: {{TOOLS}} {{CURRENT_DATE}}", "model": null,
        "output_tokens": null, "seconds": null});
    put("tools", own).await.expect(200);
    run(&server, &cookie, &chat).await;
    let system = upstream.requests().pop().unwrap()["messages"][0]["content"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(
        system.contains("\n\nFor Ada: [{") && system.contains("] 20"),
        "{system}"
    );
    put("tools", json!({"template": "No tools."}))
        .await
        .expect(400);
    put("code_interpreter", json!({"template": "Write {{TOOLS}}."}))
        .await
        .expect(400);
    // Without words such models have no tools, and one that refuses them refuses the request.
    put("tools", json!({"enabled": false})).await.expect(200);
    let model = json!({"tool_mode": "prompt"});
    server
        .put("/api/v1/models/scripted", &cookie, &model)
        .await
        .expect(200);
    run(&server, &cookie, &chat).await;
    let system = upstream.requests().pop().unwrap()["messages"][0]["content"].to_string();
    assert!(!system.contains("write_file\\\""), "{system}");
}
