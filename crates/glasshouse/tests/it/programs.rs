//! Programs that agents run: the sandbox, with the chat's files in it.
#![cfg(target_os = "linux")]

use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    faults::{postgres::Cluster, until},
    harness::{SECRET_KEY, Server},
    openai::connect,
    runs::events,
};

/// The tests' own program is the sandbox's helper; its `main` is not ours, so this runs before it.
#[ctor::ctor(unsafe)]
fn helper() {
    if sandbox::become_helper()
        .or_else(knowledge::become_reader)
        .is_some()
    {
        std::process::exit(0);
    }
}

/// Python's variables are those of the last call, on whichever server of the database that was.
#[tokio::test(flavor = "multi_thread")]
async fn python_of_a_chat_is_not_stale_at_another_server() {
    let Some(cluster) = Cluster::start().await else {
        return;
    };
    let cells = [
        "x = 41; print('set')",
        "print(x)",
        "print('x' in globals()); x = 7",
        "print(x)",
        "x = 8; print(x)",
        "print(x)",
    ];
    let upstream = ScriptedServer::start(Behaviour::answer(move |request| {
        // Each turn is two requests: the cell, and the end.
        match request.number % 2 {
            1 => Reply::calls(&[("python", json!({"code": cells[request.number / 2]}))]),
            _ => Reply::text("Done."),
        }
    }))
    .await
    .unwrap();
    let url = cluster.url();
    let settings = [
        ("GLASSHOUSE_PROGRAMS_ENABLED", "true"),
        ("GLASSHOUSE_DATABASE_URL", url.as_str()),
        ("GLASSHOUSE_SECRET_KEY", SECRET_KEY),
    ];
    let a = Server::start_with(&settings).await;
    let b = Server::start_with(&settings).await;
    let cookie = a.set_up().await;
    connect(&a, &cookie, "Up", &upstream.base_url()).await;
    for server in [&a, &b] {
        wait_for_programs(server, &cookie).await;
        until("the model is known", async || {
            let models = server.get("/api/v1/models", &cookie).await;
            models.text.contains("scripted")
        })
        .await;
    }
    let chat = a.post("/api/v1/chats", &cookie, &json!({})).await.json();
    let chat = chat["id"].as_str().unwrap();
    for (server, shows) in [
        (&a, "set"),
        (&a, "41"),
        (&b, "False"),
        // Not 41, which its own process has, and not 7.
        (&a, "this was a new Python process"),
        (&b, "8"),
        (&b, "8"),
    ] {
        let log = run(server, &cookie, chat).await;
        let [(_, result)] = results(&log)[..] else {
            panic!("{log:?}");
        };
        assert!(result.contains(shows), "{shows}: {result}");
    }
}

/// A server that has found out that programs run, and a chat.
async fn start(
    calls: &'static [fn() -> (&'static str, Value)],
) -> (Server, ScriptedServer, String, String) {
    let upstream = ScriptedServer::start(Behaviour::answer(move |request| {
        match calls.get(request.number - 1) {
            Some(call) => Reply::calls(&[call()]),
            None => Reply::text("Done."),
        }
    }))
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
    (server, upstream, cookie, chat)
}

/// Waits until it is known that programs run.
pub(crate) async fn wait_for_programs(server: &Server, cookie: &str) {
    let mut here = Value::Null;
    for _ in 0..600 {
        here = server.get("/api/v1/programs", cookie).await.json();
        if !here["available"].is_null() {
            break;
        }
        tokio::time::sleep(std::time::Duration::from_millis(50)).await;
    }
    assert_eq!(here["available"], true, "tests need the sandbox: {here}");
}

/// Says something in the chat; returns what the run wrote to its log.
pub(crate) async fn run(server: &Server, cookie: &str, chat: &str) -> Vec<Value> {
    say(
        server,
        cookie,
        chat,
        &json!({"content": "Do it.", "model": "scripted"}),
    )
    .await
}

/// The same with this message.
pub(crate) async fn say(server: &Server, cookie: &str, chat: &str, said: &Value) -> Vec<Value> {
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, said)
        .await;
    sent.expect(200);
    let path = format!("/runs/{}/events", sent.json()["run"].as_str().unwrap());
    events(server, cookie, &path)
        .await
        .rest()
        .await
        .iter()
        .map(|event| event.json()["body"].clone())
        .collect()
}

/// The results of all calls, and whether they failed.
pub(crate) fn results(log: &[Value]) -> Vec<(bool, &str)> {
    let finished = log.iter().filter(|body| body["type"] == "tool_finished");
    finished
        .map(|body| {
            (
                body["error"].as_bool().unwrap(),
                body["result"].as_str().unwrap(),
            )
        })
        .collect()
}

#[tokio::test]
async fn python_keeps_its_variables_and_the_files() {
    let (server, _upstream, cookie, chat) = start(&[
        || ("write_file", json!({"path": "/data/rain.csv", "content": "1\n2\n39\n"})),
        || ("python", json!({"code": "rows = [int(l) for l in open('data/rain.csv')]\nprint('read')\nsum(rows)"})),
        || ("python", json!({"code": "open('total.txt', 'w').write(str(sum(rows)))\nimport os\nos.remove('data/rain.csv')\nopen('.own', 'w').close()"})),
        || ("read_file", json!({"path": "/total.txt"})),
        || ("python", json!({"code": "1 / 0"})),
        || ("python", json!({"code": "rows", "restart": true})),
        || ("ls", json!({})),
    ])
    .await;
    let log = run(&server, &cookie, &chat).await;
    let results = results(&log);
    assert_eq!(results[1], (false, "read\n42"));
    assert!(
        results[2]
            .1
            .ends_with("[files: deleted /data/rain.csv; new /total.txt, 2 bytes]"),
        "{}",
        results[2].1
    );
    assert!(results[3].1.contains("42"), "{}", results[3].1);
    assert!(
        results[4].0 && results[4].1.contains("ZeroDivisionError"),
        "{}",
        results[4].1
    );
    assert!(
        !results[4].1.contains("new Python process"),
        "{}",
        results[4].1
    );
    assert!(
        results[5].0 && results[5].1.contains("NameError"),
        "{}",
        results[5].1
    );
    assert!(
        results[5]
            .1
            .contains("there are no variables of earlier calls"),
        "{}",
        results[5].1
    );
    assert!(
        !results[6].1.contains("rain.csv") && !results[6].1.contains(".own"),
        "{}",
        results[6].1
    );
    let changed: Vec<&str> = log
        .iter()
        .filter(|body| body["type"] == "file_changed")
        .map(|body| body["path"].as_str().unwrap())
        .collect();
    assert_eq!(changed, ["/data/rain.csv", "/data/rain.csv", "/total.txt"]);
}

#[tokio::test]
async fn a_shell_shows_what_it_prints_while_it_runs() {
    let (server, _upstream, cookie, chat) = start(&[
        || {
            (
                "shell",
                json!({"command": "echo first; sleep 0.5; echo second; echo wrong >&2; exit 3"}),
            )
        },
        || {
            (
                "shell",
                json!({"command": "env | grep -c GLASSHOUSE; cat /etc/shadow; ls /home"}),
            )
        },
        || ("latex", json!({"path": "/none.tex"})),
    ])
    .await;
    let log = run(&server, &cookie, &chat).await;
    let printed: Vec<&str> = log
        .iter()
        .filter(|body| body["type"] == "tool_output" && body["call"] == log_call(&log, 0))
        .map(|body| body["text"].as_str().unwrap())
        .collect();
    assert!(
        printed.len() >= 2 && printed[0] == "first\n",
        "in pieces, as they came: {printed:?}"
    );
    let results = results(&log);
    assert_eq!(
        results[0].1,
        "first\nsecond\n[standard error]\nwrong\n[it ended with exit code 3]"
    );
    assert!(!results[1].1.contains("daemon"), "{}", results[1].1);
    assert!(
        results[1].1.starts_with("0\n"),
        "nothing of the server's environment: {}",
        results[1].1
    );
    assert!(results[2].0, "{}", results[2].1);
}

/// The id of a finished call.
fn log_call(log: &[Value], number: usize) -> Value {
    log.iter()
        .filter(|body| body["type"] == "tool_finished")
        .nth(number)
        .unwrap()["call"]
        .clone()
}

#[tokio::test]
async fn hidden_files_stay_and_what_stands_in_the_way_is_told() {
    let (server, _upstream, cookie, chat) = start(&[
        || ("write_file", json!({"path": "/.gitignore", "content": "x"})),
        || ("write_file", json!({"path": "/keep/a.txt", "content": "a"})),
        || ("shell", json!({"command": "mkdir in-the-way.txt; mkdir closed; touch closed/b; chmod 0 closed; cat .gitignore"})),
        || ("write_file", json!({"path": "/in-the-way.txt", "content": "text"})),
        || ("shell", json!({"command": "ls -d keep/a.txt; echo y >> .gitignore"})),
        || ("ls", json!({})),
    ])
    .await;
    let log = run(&server, &cookie, &chat).await;
    let results = results(&log);
    assert!(results[2].1.starts_with('x'), "{}", results[2].1);
    assert!(!results[2].1.contains("deleted"), "{}", results[2].1);
    assert!(results[4].1.starts_with("keep/a.txt"), "{}", results[4].1);
    assert!(
        results[4].1.contains("/in-the-way.txt was not laid out"),
        "{}",
        results[4].1
    );
    assert!(
        results[4].1.contains("changed /.gitignore, 3 bytes"),
        "{}",
        results[4].1
    );
    for name in [".gitignore", "keep/", "in-the-way.txt"] {
        assert!(results[5].1.contains(name), "{name} in {}", results[5].1);
    }
}

#[tokio::test]
async fn what_a_stopped_program_did_is_undone() {
    let (server, _upstream, cookie, chat) = start(&[
        || {
            (
                "write_file",
                json!({"path": "/plan.md", "content": "the plan"}),
            )
        },
        || {
            (
                "shell",
                json!({"command": "rm plan.md; echo half > out.txt; echo gone; sleep 50"}),
            )
        },
    ])
    .await;
    let said = json!({"content": "Do it.", "model": "scripted"});
    let sent = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &said)
        .await
        .json();
    let run_id = sent["run"].as_str().unwrap();
    let mut stream = events(&server, &cookie, &format!("/runs/{run_id}/events")).await;
    stream
        .until(|event| event["body"]["type"] == "tool_output")
        .await;
    server
        .post(&format!("/runs/{run_id}/cancel"), &cookie, &json!({}))
        .await
        .expect(204);
    stream.rest().await;

    let upstream = ScriptedServer::start(Behaviour::sequence(vec![
        Reply::calls(&[("shell", json!({"command": "cat plan.md; ls"}))]),
        Reply::text("Done."),
    ]))
    .await
    .unwrap();
    connect(&server, &cookie, "Next", &upstream.base_url()).await;
    let models = server.get("/api/v1/models", &cookie).await.json();
    let next = models["models"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| model["id"].as_str().unwrap());
    let next = next
        .rev()
        .find(|id| *id != "scripted" && *id != "tour")
        .unwrap()
        .to_owned();
    let log = say(
        &server,
        &cookie,
        &chat,
        &json!({"content": "Look.", "model": next}),
    )
    .await;
    assert_eq!(results(&log), [(false, "the planplan.md")]);
}

/// The whole test run installs LaTeX; a run without it hears what is missing.
#[tokio::test]
async fn latex_makes_a_pdf() {
    let (server, _upstream, cookie, chat) = start(&[
        || {
            let text = r"\documentclass{article}\begin{document}\section{One}\label{one} See \ref{one}.\end{document}";
            ("write_file", json!({"path": "/paper/main.tex", "content": text}))
        },
        || ("latex", json!({"path": "/paper/main.tex"})),
        || ("write_file", json!({"path": "/paper/bad.tex", "content": r"\documentclass{article}\begin{document}\undefined\end{document}"})),
        || ("latex", json!({"path": "/paper/bad.tex"})),
        || ("latex", json!({"path": "/paper/none.tex"})),
        || ("latex", json!({"path": "/paper/main.pdf"})),
    ])
    .await;
    let here = server.get("/api/v1/programs", &cookie).await.json();
    let log = run(&server, &cookie, &chat).await;
    let results = results(&log);
    assert!(
        results[5].0 && results[5].1.contains("has to end with .tex"),
        "{}",
        results[5].1
    );
    if here["latex"].as_array().unwrap().is_empty() {
        let required = std::env::vars_os().any(|(name, _)| name == "GLASSHOUSE_TEST_REQUIRE");
        assert!(!required, "the whole test run needs LaTeX");
        assert!(
            results[1].0 && results[1].1.starts_with("There is no LaTeX on this server"),
            "{}",
            results[1].1
        );
        return;
    }
    assert!(
        !results[1].0 && results[1].1.contains("new /paper/main.pdf"),
        "{}",
        results[1].1
    );
    assert!(
        results[3].0 && results[3].1.contains("Undefined control sequence"),
        "{}",
        results[3].1
    );
    assert!(
        results[4].0 && results[4].1.contains("There is no file /paper/none.tex"),
        "{}",
        results[4].1
    );
    let path = format!("/api/v1/chats/{chat}/files/content?path=/paper/main.pdf");
    assert!(server.get(&path, &cookie).await.text.starts_with("%PDF"));
    let files = server
        .get(&format!("/api/v1/chats/{chat}/files"), &cookie)
        .await
        .json();
    let paths: Vec<&str> = files["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|file| file["path"].as_str().unwrap())
        .collect();
    assert_eq!(
        paths,
        ["/paper/bad.tex", "/paper/main.pdf", "/paper/main.tex"],
        "nothing else is left"
    );
}

#[tokio::test]
async fn turned_off_there_are_no_such_tools() {
    let (server, cookie) = Server::start_signed_in().await;
    let here = server.get("/api/v1/programs", &cookie).await.json();
    assert_eq!(here["available"], false);
    assert_eq!(
        here["problem"],
        json!({"message": "They are turned off in the configuration.", "sentence": {"code": "programs_off"}})
    );
}
