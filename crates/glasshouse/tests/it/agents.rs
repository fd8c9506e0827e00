//! Agents that an administrator defines: in the page or in the file, used through every door.
use reqwest::Method;
use scripted::{Behaviour, Reply, Request, ScriptedServer, ServerOptions};
use serde_json::{Value, json};

use crate::{
    harness::{Server, new_folder},
    openai::{ask, connect},
    runs::events,
};

const AGENTS: &str = "/api/v1/agents";

/// A server whose model server offers “scripted” and “other”, with the administrator's cookie.
async fn open(settings: &[(&str, &str)], behaviour: Behaviour) -> (Server, ScriptedServer, String) {
    let models = vec!["scripted".to_owned(), "other".to_owned()];
    let options = ServerOptions {
        models,
        ..ServerOptions::default()
    };
    let upstream = ScriptedServer::start_with(behaviour, options)
        .await
        .unwrap();
    let server = Server::start_with(settings).await;
    let cookie = server.set_up().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    (server, upstream, cookie)
}

fn writer() -> Value {
    json!({"name": "writer", "description": "Writes poems.", "instructions": "You write poems."})
}

fn with(mut definition: Value, changes: Value) -> Value {
    definition
        .as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    definition
}

fn names(request: &Value) -> Vec<&str> {
    let tools = request["tools"].as_array().map_or(&[][..], Vec::as_slice);
    tools
        .iter()
        .filter_map(|tool| tool["function"]["name"].as_str())
        .collect()
}

fn told(request: &Request) -> String {
    request.body["messages"][0]["content"]
        .as_str()
        .unwrap_or_default()
        .to_owned()
}

async fn chat(server: &Server, cookie: &str) -> String {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json();
    chat["id"].as_str().unwrap().to_owned()
}

/// Says it in the chat and reads the run to its end.
async fn say(server: &Server, cookie: &str, chat: &str, model: &str) -> Vec<Value> {
    let body = json!({"content": "Please.", "model": model});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), cookie, &body)
        .await;
    begun.expect(200);
    let path = format!("/runs/{}/events", begun.json()["run"].as_str().unwrap());
    events(server, cookie, &path)
        .await
        .rest()
        .await
        .iter()
        .map(|event| event.json()["body"].clone())
        .collect()
}

#[tokio::test]
async fn an_agent_of_the_page_answers_with_its_model_instructions_and_tools() {
    let (server, upstream, cookie) = open(&[], Behaviour::always(Reply::text("A rose."))).await;
    let changes = json!({"model": "other", "tools": ["write_file", "read_*"]});
    let made = server.post(AGENTS, &cookie, &with(writer(), changes)).await;
    made.expect(200);
    assert_eq!(
        (&made.json()["from_file"], &made.json()["warnings"]),
        (&json!(false), &json!([]))
    );
    let key = server.key_of_plain_user("bob@example.org").await;
    // People see its title, once it has one; requests keep its name.
    let shown = async || {
        let models = server.get("/api/v1/models", &key).await.json();
        let agent = &models["agents"][0];
        (agent["id"].clone(), agent["name"].clone())
    };
    assert_eq!(shown().await, (json!("glasshouse/writer"), json!("writer")));
    let titled = |title: &str| {
        let changes = json!({"model": "other", "tools": ["write_file", "read_*"], "title": title});
        with(writer(), changes)
    };
    for bad in ["", " ", "two\nlines", &"x".repeat(101)] {
        let refused = server
            .put("/api/v1/agents/writer", &cookie, &titled(bad))
            .await;
        refused.expect(400);
        assert!(refused.text.contains("bad_agent_title"), "{bad}");
    }
    server
        .put(
            "/api/v1/agents/writer",
            &cookie,
            &titled("Dichter & Denker"),
        )
        .await
        .expect(200);
    let expected = (json!("glasshouse/writer"), json!("Dichter & Denker"));
    assert_eq!(shown().await, expected);
    let mut untitled = titled("");
    untitled.as_object_mut().unwrap().remove("title");
    server
        .put("/api/v1/agents/writer", &cookie, &untitled)
        .await
        .expect(200);
    let listed = server.get("/v1/models", &key).await.json();
    let mut listed = listed["data"]
        .as_array()
        .unwrap()
        .iter()
        .map(|model| &model["id"]);
    assert!(listed.any(|id| id == "glasshouse/writer"));
    let chosen = server.get("/api/v1/models", &key).await.json()["agents"].clone();
    let shown = json!([{"id": "glasshouse/writer", "name": "writer", "description": "Writes poems.", "model": "other"}]);
    assert_eq!(chosen, shown);

    let answer = server
        .post(
            "/v1/chat/completions",
            &key,
            &ask("glasshouse/writer", "Hi"),
        )
        .await
        .json();
    assert_eq!(answer["choices"][0]["message"]["content"], "A rose.");
    let response = json!({"model": "glasshouse/writer", "input": "Hi"});
    server
        .post("/v1/responses", &key, &response)
        .await
        .expect(200);
    let stream = json!({"model": "glasshouse/writer", "messages": [{"role": "user", "content": "Hi"}], "stream": false});
    server.post("/chat/stream", &key, &stream).await.expect(200);
    let chat = chat(&server, &cookie).await;
    say(&server, &cookie, &chat, "glasshouse/writer").await;
    let message = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json()["messages"][1]
        .clone();
    assert_eq!(message["model"], "glasshouse/writer");
    let ag_ui = json!({"threadId": "t", "runId": "r", "messages": [{"id": "1", "role": "user", "content": "Hi"}],
        "tools": [], "context": [], "state": {}, "forwardedProps": {}});
    let response = server
        .request(Method::POST, "/ag-ui/writer", &key)
        .json(&ag_ui)
        .send()
        .await
        .unwrap();
    assert!(response.text().await.unwrap().contains("RUN_FINISHED"));
    let info = server.get("/copilotkit/info", &key).await.json();
    assert_eq!(info["agents"]["writer"]["description"], "Writes poems.");

    let requests = upstream.received();
    assert_eq!(requests.len(), 5);
    for request in requests {
        assert_eq!(request.body["model"], "other");
        assert_eq!(names(&request.body), ["read_file", "write_file"]);
        assert!(
            told(&request).starts_with("You write poems."),
            "{}",
            told(&request)
        );
    }
}

#[tokio::test]
async fn task_hands_work_to_an_agent_with_another_model() {
    let (server, upstream, cookie) = open(
        &[],
        Behaviour::answer(
            |request| match (request.body["model"].as_str(), request.number) {
                (Some("scripted"), 1) => Reply::calls(&[(
                    "task",
                    json!({"description": "A poem.", "subagent_type": "writer"}),
                )]),
                (Some("other"), _) => Reply::text("A rose."),
                _ => Reply::text("It is done."),
            },
        ),
    )
    .await;
    server
        .post(
            AGENTS,
            &cookie,
            &with(writer(), json!({"model": "other", "tools": []})),
        )
        .await
        .expect(200);
    let hidden = json!({"name": "hidden", "may_be_called": false});
    server
        .post(AGENTS, &cookie, &with(writer(), hidden))
        .await
        .expect(200);
    // Prices make the cost of each call visible.
    let price = json!({"input_usd_per_million": 1.0});
    server
        .put("/api/v1/models/other", &cookie, &price)
        .await
        .expect(200);
    let chat = chat(&server, &cookie).await;
    let log = say(&server, &cookie, &chat, "scripted").await;
    let called: Vec<(&str, bool)> = log
        .iter()
        .filter(|body| body["type"] == "model_called")
        .map(|body| {
            (
                body["model"].as_str().unwrap(),
                body["cost_micro_usd"].is_number(),
            )
        })
        .collect();
    assert_eq!(
        called,
        [("scripted", false), ("other", true), ("scripted", false)],
        "only one has a price"
    );
    let requests = upstream.received();
    let tools = requests[0].body["tools"].as_array().unwrap();
    let task = tools
        .iter()
        .find(|tool| tool["function"]["name"] == "task")
        .unwrap();
    let types = &task["function"]["parameters"]["properties"]["subagent_type"]["enum"];
    assert_eq!(*types, json!(["general", "explore", "writer"]));
    assert!(
        task["function"]["description"]
            .as_str()
            .unwrap()
            .contains("writer (Writes poems.)")
    );
    assert!(
        told(&requests[1]).contains("You are a sub-agent")
            && told(&requests[1]).contains("You write poems.")
    );
    assert_eq!(names(&requests[1].body), [""; 0]);
    let result = requests[2].body["messages"][3]["content"].as_str().unwrap();
    assert!(
        result.starts_with("A rose.\n\n(To continue this sub-agent: "),
        "{result}"
    );
    // People are shown the answer alone, in every format.
    let run = server
        .app
        .store
        .runs_answering_in(chat.parse().unwrap())
        .await
        .unwrap()[0];
    for format in [
        "chat",
        "tool_calls",
        "markup",
        "details",
        "ag_ui",
        "ui_message_stream",
    ] {
        let path = format!("/runs/{run}/events?format={format}");
        let shown = server.get(&path, &cookie).await.text;
        assert!(shown.contains("A rose."), "{format}: {shown}");
        assert!(
            !shown.contains("To continue this sub-agent"),
            "{format}: {shown}"
        );
    }
    let finished = log
        .iter()
        .find(|body| body["type"] == "tool_finished")
        .unwrap();
    assert_eq!(finished["result"], "A rose.");
    assert!(
        finished["model_note"]
            .as_str()
            .unwrap()
            .starts_with("(To continue"),
        "{finished}"
    );
    // A later turn tells the model again.
    let parent = server
        .get(&format!("/api/v1/chats/{chat}"), &cookie)
        .await
        .json()["current"]
        .clone();
    let next = json!({"content": "And now?", "model": "scripted", "parent": parent});
    let next = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &next)
        .await
        .json();
    events(
        &server,
        &cookie,
        &format!("/runs/{}/events", next["run"].as_str().unwrap()),
    )
    .await
    .rest()
    .await;
    let requests = upstream.received();
    let earlier = requests[3].body["messages"].to_string();
    assert!(
        earlier.contains("A rose.\\n\\n(To continue this sub-agent: "),
        "{earlier}"
    );
}

#[tokio::test]
async fn its_limits_end_it() {
    let again = Behaviour::answer(|request| match names(&request.body).is_empty() {
        true => Reply::text("This far."),
        false => Reply::calls(&[("ls", json!({}))]),
    });
    let (server, upstream, cookie) = open(&[], again).await;
    let definition = with(writer(), json!({"limits": {"steps": 3}}));
    server.post(AGENTS, &cookie, &definition).await.expect(200);
    let chat = chat(&server, &cookie).await;
    let log = say(&server, &cookie, &chat, "glasshouse/writer").await;
    let end = log.last().unwrap();
    assert_eq!(end["outcome"], "limited", "{end}");
    assert!(
        end["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("3 steps"),
        "{end}"
    );
    assert_eq!(upstream.requests().len(), 3);
    let tokens = with(writer(), json!({"limits": {"tokens": 1}}));
    server
        .put("/api/v1/agents/writer", &cookie, &tokens)
        .await
        .expect(200);
    let log = say(&server, &cookie, &chat, "glasshouse/writer").await;
    assert!(
        log.last().unwrap()["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("limit is 1"),
        "{log:?}"
    );
}

#[tokio::test]
async fn it_may_hand_work_to_those_only_that_it_names() {
    let (server, upstream, cookie) = open(&[], Behaviour::always(Reply::text("Yes."))).await;
    let none = with(writer(), json!({"sub_agents": []}));
    server.post(AGENTS, &cookie, &none).await.expect(200);
    let one = with(
        writer(),
        json!({"name": "editor", "sub_agents": ["writer"]}),
    );
    server.post(AGENTS, &cookie, &one).await.expect(200);
    for agent in ["writer", "editor"] {
        server
            .post(
                "/v1/chat/completions",
                &cookie,
                &ask(&format!("glasshouse/{agent}"), "Hi"),
            )
            .await
            .expect(200);
    }
    let requests = upstream.requests();
    assert!(
        !names(&requests[0]).contains(&"task"),
        "it has nobody to call"
    );
    let tools = requests[1]["tools"].as_array().unwrap();
    let task = tools
        .iter()
        .find(|tool| tool["function"]["name"] == "task")
        .unwrap();
    assert_eq!(
        task["function"]["parameters"]["properties"]["subagent_type"]["enum"],
        json!(["writer"])
    );
}

#[tokio::test]
async fn bad_definitions_are_refused_in_words() {
    let (server, _upstream, cookie) = open(&[], Behaviour::always(Reply::text("Yes."))).await;
    let key = server.key_of_plain_user("bob@example.org").await;
    server.post(AGENTS, &key, &writer()).await.expect(403);
    for (changes, word) in [
        (json!({"name": "Big"}), "`name`"),
        (json!({"name": "general"}), "`name`"),
        (json!({"description": ""}), "`description`"),
        (json!({"instructions": ""}), "`instructions`"),
        (json!({"tools": ["*x"]}), "`tools`"),
        (json!({"limits": {"usd": -1}}), "`limits.usd`"),
        (json!({"limits": {"steps": -1}}), "-1"),
        (json!({"colour": "red"}), "colour"),
        (json!({"tools": "ls"}), "expected a sequence"),
    ] {
        let refused = server.post(AGENTS, &cookie, &with(writer(), changes)).await;
        assert_eq!(refused.expect(400), "invalid_request");
        assert!(refused.text.contains(word), "{}", refused.text);
    }
    server.post(AGENTS, &cookie, &writer()).await.expect(200);
    assert_eq!(
        server.post(AGENTS, &cookie, &writer()).await.expect(409),
        "conflict"
    );
    let renamed = with(writer(), json!({"name": "poet"}));
    assert_eq!(
        server
            .put("/api/v1/agents/writer", &cookie, &renamed)
            .await
            .expect(400),
        "invalid_request"
    );
    assert_eq!(
        server
            .put("/api/v1/agents/poet", &cookie, &renamed)
            .await
            .expect(404),
        "not_found"
    );
    assert_eq!(
        server
            .delete("/api/v1/agents/poet", &cookie)
            .await
            .expect(404),
        "not_found"
    );
    let odd = json!({"model": "gone", "tools": ["telepathy", "ls"], "sub_agents": ["nobody"], "limits": {"steps": 99_999}});
    let odd = server
        .put("/api/v1/agents/writer", &cookie, &with(writer(), odd))
        .await
        .json();
    let warnings = odd["warnings"].as_array().unwrap();
    for word in ["“gone”", "“telepathy”", "“nobody”", "`task`", "`steps`"] {
        assert!(
            warnings
                .iter()
                .any(|said| said["message"].as_str().unwrap().contains(word)),
            "{word} {warnings:?}"
        );
    }
    let refused = server
        .post(
            "/v1/chat/completions",
            &cookie,
            &ask("glasshouse/writer", "Hi"),
        )
        .await;
    assert!(
        refused.text.contains("uses the model “gone”"),
        "{}",
        refused.text
    );
}

#[tokio::test]
async fn a_chat_whose_agent_is_gone_says_so_and_goes_on_with_another() {
    let (server, _upstream, cookie) = open(&[], Behaviour::always(Reply::text("Yes."))).await;
    server.post(AGENTS, &cookie, &writer()).await.expect(200);
    let chat = chat(&server, &cookie).await;
    say(&server, &cookie, &chat, "glasshouse/writer").await;
    server
        .put(
            "/api/v1/agents/writer",
            &cookie,
            &with(writer(), json!({"enabled": false})),
        )
        .await
        .expect(200);
    let path = format!("/api/v1/chats/{chat}/messages");
    let body = json!({"content": "Again.", "model": "glasshouse/writer"});
    assert_eq!(
        server.post(&path, &cookie, &body).await.expect(404),
        "model_not_found"
    );
    server
        .put("/api/v1/agents/writer", &cookie, &writer())
        .await
        .expect(200);
    say(&server, &cookie, &chat, "glasshouse/writer").await;
    server
        .delete("/api/v1/agents/writer", &cookie)
        .await
        .expect(204);
    let refused = server.post(&path, &cookie, &body).await;
    assert_eq!(refused.expect(404), "model_not_found");
    assert!(
        refused.text.contains("Agent not found: “writer”"),
        "{}",
        refused.text
    );
    assert_eq!(
        server.get("/api/v1/models", &cookie).await.json()["agents"],
        json!([])
    );
    let log = say(&server, &cookie, &chat, "scripted").await;
    assert_eq!(log.last().unwrap()["outcome"], "completed");
}

#[tokio::test]
async fn agents_of_the_file_are_there_and_cannot_be_changed() {
    let folder = new_folder();
    std::fs::write(folder.join("writer.md"), "You write from a file.").unwrap();
    let instructions = folder.join("writer.md");
    let text = format!(
        "[[agents]]\nname = 'writer'\ndescription = 'Writes.'\ninstructions_file = '{}'\n",
        instructions.display()
    );
    let file = folder.join("config.toml");
    std::fs::write(&file, text).unwrap();
    let settings = [("GLASSHOUSE_CONFIG", file.to_str().unwrap())];
    let (server, upstream, cookie) = open(&settings, Behaviour::always(Reply::text("Yes."))).await;
    let listed = server.get(AGENTS, &cookie).await.json();
    assert_eq!(listed["agents"][0]["from_file"], true, "{listed}");
    assert!(
        listed["tools"]
            .as_array()
            .unwrap()
            .contains(&json!("write_file"))
    );
    assert_eq!(
        server.post(AGENTS, &cookie, &writer()).await.expect(409),
        "conflict"
    );
    assert_eq!(
        server
            .put("/api/v1/agents/writer", &cookie, &writer())
            .await
            .expect(409),
        "conflict"
    );
    assert_eq!(
        server
            .delete("/api/v1/agents/writer", &cookie)
            .await
            .expect(409),
        "conflict"
    );
    server
        .post(
            "/v1/chat/completions",
            &cookie,
            &ask("glasshouse/writer", "Hi"),
        )
        .await
        .expect(200);
    assert!(told(&upstream.received()[0]).starts_with("You write from a file."));
}

#[tokio::test]
async fn a_run_goes_on_with_the_agent_as_it_was() {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("ask_user", json!({"question": "Which?"}))]),
        _ => Reply::text("This one then."),
    });
    let folder = new_folder();
    let database = format!("sqlite://{}", folder.join("test.db").display());
    let data = folder.join("data");
    let settings = [
        ("GLASSHOUSE_DATABASE_URL", database.as_str()),
        ("GLASSHOUSE_DATA_DIR", data.to_str().unwrap()),
    ];
    let (first, upstream, cookie) = open(&settings, behaviour).await;
    let definition = with(writer(), json!({"model": "other", "tools": ["ask_user"]}));
    first.post(AGENTS, &cookie, &definition).await.expect(200);
    let chat = chat(&first, &cookie).await;
    let body = json!({"content": "Please.", "model": "glasshouse/writer"});
    let begun = first
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &body)
        .await
        .json();
    let run = begun["run"].as_str().unwrap().to_owned();
    let path = format!("/runs/{run}/events");
    let mut reader = events(&first, &cookie, &path).await;
    while reader.next().await.unwrap().json()["body"]["type"] != "question_asked" {}
    first
        .delete("/api/v1/agents/writer", &cookie)
        .await
        .expect(204);
    first.app.runs.drain(std::future::ready(())).await;
    first.app.stopping.cancel();
    first.stopped().await;
    first.app.close().await;
    drop(first);

    let second = Server::start_with(&settings).await;
    second
        .post(
            &format!("/runs/{run}/questions/q2"),
            &cookie,
            &json!({"answer": "This"}),
        )
        .await
        .expect(204);
    let log = events(&second, &cookie, &path).await.rest().await;
    assert_eq!(
        log.last().unwrap().json()["body"]["outcome"],
        "completed",
        "{log:?}"
    );
    let requests = upstream.received();
    assert_eq!(requests.len(), 2);
    assert_eq!(requests[1].body["model"], "other");
    assert_eq!(told(&requests[1]), told(&requests[0]));
    assert_eq!(names(&requests[1].body), ["ask_user"]);
}

#[tokio::test]
async fn a_fork_of_an_agents_answer_is_still_that_agents() {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[("ls", json!({}))]),
        _ => Reply::text("A rose."),
    });
    let (server, upstream, cookie) = open(&[], behaviour).await;
    server
        .post(AGENTS, &cookie, &with(writer(), json!({"tools": ["ls"]})))
        .await
        .expect(200);
    let chat = chat(&server, &cookie).await;
    let body = json!({"content": "Please.", "model": "glasshouse/writer"});
    let begun = server
        .post(&format!("/api/v1/chats/{chat}/messages"), &cookie, &body)
        .await
        .json();
    let run = begun["run"].as_str().unwrap();
    let log = events(&server, &cookie, &format!("/runs/{run}/events"))
        .await
        .rest()
        .await;
    let second = log
        .iter()
        .map(crate::sse::Event::json)
        .find(|event| event["body"]["step"] == 2)
        .unwrap();
    let after = second["seq"].as_u64().unwrap() - 1;
    for (wish, model) in [
        (json!({}), "scripted"),
        (json!({"model": "other"}), "other"),
    ] {
        let body = with(json!({"after": after}), wish);
        let forked = server
            .post(&format!("/api/v1/runs/{run}/fork"), &cookie, &body)
            .await;
        forked.expect(200);
        let path = format!("/runs/{}/events", forked.json()["run"].as_str().unwrap());
        events(&server, &cookie, &path).await.rest().await;
        let asked = upstream.received().pop().unwrap();
        assert_eq!(asked.body["model"].as_str().unwrap(), model);
        assert!(
            told(&asked).starts_with("You write poems."),
            "{}",
            told(&asked)
        );
        assert_eq!(names(&asked.body), ["ls"]);
    }
}

#[tokio::test]
async fn what_an_agent_keeps_for_itself_is_not_the_main_agents() {
    let behaviour = Behaviour::answer(|request| match request.number {
        1 => Reply::calls(&[(
            "memory_write",
            json!({"name": "rhymes", "text": "moon", "description": "of\n\nmine", "only_for_me": true}),
        )]),
        _ => Reply::text("Kept."),
    });
    let (server, upstream, cookie) = open(&[], behaviour).await;
    server.post(AGENTS, &cookie, &writer()).await.expect(200);
    let chat = chat(&server, &cookie).await;
    say(&server, &cookie, &chat, "glasshouse/writer").await;
    let kept = server.get("/api/v1/memories", &cookie).await.json()["memories"][0].clone();
    assert_eq!(
        (&kept["agent"], &kept["description"]),
        (&json!("writer"), &json!("of mine")),
        "{kept}"
    );
    for (model, knows) in [("glasshouse/writer", true), ("scripted", false)] {
        say(&server, &cookie, &chat, model).await;
        let told = upstream.received().pop().unwrap().body["messages"].to_string();
        assert_eq!(told.contains("- rhymes: of mine"), knows, "{told}");
    }
}
