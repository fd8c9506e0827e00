//! The pipelines around a chat: what is written beside it, by which model, and what happens where a model cannot do it.

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use scripted::{Behaviour, Reply, ScriptedServer, Step};
use serde_json::{Value, json};

use crate::{harness::Server, openai::connect, runs::events};

const ON: [(&str, &str); 3] = [
    ("GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION", "true"),
    ("GLASSHOUSE_PIPELINES_ENABLE_TAGS_GENERATION", "true"),
    ("GLASSHOUSE_PIPELINES_ENABLE_FOLLOW_UP_GENERATION", "true"),
];
const ALL: &str =
    r#"{"title": "🌱 How Plants Grow", "tags": ["science"], "follow_ups": ["Why?", "How much?"]}"#;

/// A server whose model answers people with a word, and tasks as it is told to.
struct World {
    server: Server,
    ada: String,
    upstream: ScriptedServer,
    replies: Arc<Mutex<Vec<Reply>>>,
}

fn is_task(request: &Value) -> bool {
    request["messages"][0]["content"]
        .to_string()
        .contains("### Task:")
}

impl World {
    async fn new() -> Self {
        Self::with(&[]).await
    }

    async fn with(settings: &[(&str, &str)]) -> Self {
        let replies: Arc<Mutex<Vec<Reply>>> = Arc::default();
        let tasks = Arc::clone(&replies);
        let behaviour = Behaviour::answer(move |request| match is_task(&request.body) {
            true => tasks
                .lock()
                .unwrap()
                .pop()
                .unwrap_or_else(|| Reply::error(500, "nothing to say")),
            false if request.body.to_string().contains("Break it.") => Reply::error(400, "No."),
            false => Reply::text("By eating light."),
        });
        let upstream = ScriptedServer::start(behaviour).await.unwrap();
        let server = Server::start_with(&[&ON[..], settings].concat()).await;
        let ada = server.set_up().await;
        connect(&server, &ada, "Up", &upstream.base_url()).await;
        Self {
            server,
            ada,
            upstream,
            replies,
        }
    }

    fn will_answer(&self, mut replies: Vec<Reply>) {
        replies.reverse();
        *self.replies.lock().unwrap() = replies;
    }

    /// Says it in a chat, a new one where none is given, and waits for the answer. The chat and the run.
    async fn say(&self, chat: Option<&str>, text: &str) -> (String, String) {
        let (chat, parent) = match chat {
            Some(chat) => {
                let messages = self.chat(chat).await["messages"]
                    .as_array()
                    .unwrap()
                    .clone();
                (chat.to_owned(), messages.last().unwrap()["id"].clone())
            }
            None => {
                let made = self
                    .server
                    .post("/api/v1/chats", &self.ada, &json!({}))
                    .await
                    .json();
                (made["id"].as_str().unwrap().to_owned(), Value::Null)
            }
        };
        let said = json!({"content": text, "model": "scripted", "parent": parent});
        let sent = self
            .server
            .post(&format!("/api/v1/chats/{chat}/messages"), &self.ada, &said)
            .await;
        sent.expect(200);
        let run = sent.json()["run"].as_str().unwrap().to_owned();
        events(&self.server, &self.ada, &format!("/runs/{run}/events"))
            .await
            .rest()
            .await;
        (chat, run)
    }

    async fn chat(&self, chat: &str) -> Value {
        self.server
            .get(&format!("/api/v1/chats/{chat}"), &self.ada)
            .await
            .json()
    }

    /// What was asked beside a run, once so many calls are over.
    async fn beside(&self, run: &str, calls: usize) -> Vec<Value> {
        for _ in 0..1_000 {
            let path = format!("/api/v1/runs/{run}/pipelines");
            let found = self.server.get(&path, &self.ada).await.json()["calls"]
                .as_array()
                .unwrap()
                .clone();
            if found.len() >= calls {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("{calls} calls do not come");
    }

    fn tasks(&self) -> Vec<Value> {
        self.upstream
            .requests()
            .into_iter()
            .filter(is_task)
            .collect()
    }
}

fn prompt(request: &Value) -> &str {
    request["messages"][0]["content"].as_str().unwrap()
}

/// A chat whose answer has failed or was stopped gets a title too, and nothing else.
#[tokio::test]
async fn a_failed_chat_gets_a_title() {
    let world = World::new().await;
    world.will_answer(vec![Reply::text(r#"{"title": "Breaking Things"}"#)]);
    let (chat, run) = world.say(None, "Break it. How do plants grow?").await;
    let calls = world.beside(&run, 1).await;
    assert_eq!(calls[0]["pipelines"], json!(["title"]));
    let view = world.chat(&chat).await;
    assert_eq!(view["title"], "Breaking Things");
    assert_eq!(view["messages"][1]["summary"]["outcome"], "failed");
}

#[tokio::test]
async fn one_call_writes_the_title_and_what_could_be_said_next() {
    let world = World::new().await;
    world.will_answer(vec![
        Reply::text(ALL),
        Reply::text(r#"{"follow_ups": ["And moss?"]}"#),
    ]);
    let mut changes = world.server.app.runs.subscribe();
    let (chat, run) = world
        .say(None, "How do plants grow? I like {{USER_EMAIL}}.")
        .await;
    let calls = world.beside(&run, 1).await;
    assert_eq!(
        calls[0]["pipelines"],
        json!(["title", "tags", "follow_ups"])
    );
    assert_eq!(
        (&calls[0]["outcome"], &calls[0]["model"]),
        (&json!("done"), &json!("scripted"))
    );
    let view = world.chat(&chat).await;
    assert_eq!(
        (&view["title"], &view["tags"]),
        (&json!("🌱 How Plants Grow"), &json!(["science"]))
    );
    assert_eq!(
        view["messages"][1]["follow_ups"],
        json!(["Why?", "How much?"])
    );
    assert_eq!(
        view["messages"][1]["content"][0]["text"],
        "By eating light."
    );
    // Whoever looks is told.
    let told = async {
        loop {
            let change = serde_json::to_value(changes.recv().await.unwrap()).unwrap();
            if change["state"] == "changed" {
                return change;
            }
        }
    };
    let told = tokio::time::timeout(Duration::from_secs(10), told)
        .await
        .unwrap();
    assert_eq!(
        (&told["chat"], &told["title"]),
        (&json!(chat), &json!("🌱 How Plants Grow"))
    );
    // The person's braces are no variable, and the model is held to its form and asked not to think.
    let task = &world.tasks()[0];
    assert!(
        prompt(task).contains("{{USER_EMAIL}}") && prompt(task).contains("By eating light."),
        "{task}"
    );
    assert_eq!(task["response_format"]["type"], "json_schema");
    assert_eq!(
        task["chat_template_kwargs"],
        json!({"enable_thinking": false})
    );
    // The title is there: later only what could be said next is asked for.
    let (_, run) = world.say(Some(&chat), "And fungi?").await;
    world.beside(&run, 1).await;
    assert!(!prompt(&world.tasks()[1]).contains("- title:"));
    let view = world.chat(&chat).await;
    assert_eq!(view["messages"][3]["follow_ups"], json!(["And moss?"]));
    assert_eq!(view["title"], "🌱 How Plants Grow");
}

#[tokio::test]
async fn what_a_person_has_named_keeps_its_name() {
    let world = World::new().await;
    world.will_answer(vec![Reply::error(404, "no such model"), Reply::text(ALL)]);
    let (chat, run) = world.say(None, "How do plants grow?").await;
    let failed = &world.beside(&run, 1).await[0];
    assert_eq!(
        (&failed["outcome"], &failed["sentence"]["code"]),
        (&json!("failed"), &json!("saying")),
        "{failed}"
    );
    let path = format!("/api/v1/chats/{chat}");
    let named = world
        .server
        .request(reqwest::Method::PATCH, &path, &world.ada)
        .json(&json!({"title": "Mine"}));
    crate::harness::Answer::of(named).await.expect(200);
    let (_, run) = world.say(Some(&chat), "And fungi?").await;
    world.beside(&run, 1).await;
    assert_eq!(world.chat(&chat).await["title"], "Mine");
}

#[tokio::test]
async fn a_model_that_cannot_do_it_leaves_the_first_words() {
    let reasoning = |text: &str| {
        Reply::stream(&[
            Step::Reasoning {
                text: text.to_owned(),
                tokens_per_second: None,
            },
            Step::Finish {
                reason: scripted::Finish::Stop,
            },
        ])
    };
    let endless = || {
        Reply::stream(&[
            Step::Text {
                text: "word ".repeat(40_000),
                tokens_per_second: None,
            },
            Step::Silence,
        ])
    };
    let good = "🌱 How Plants Grow";
    let words = "How do plants grow?";
    let foreign = ALL.replace("How Plants Grow", "Как растут растения");
    let asks = r#"{"follow_ups": ["Why?"]}"#;
    for (name, replies, title, outcome) in [
        (
            "fenced",
            vec![Reply::text(&format!("```json\n{ALL}\n```"))],
            good,
            "done",
        ),
        (
            "chatty",
            vec![Reply::text(&format!(
                "Sure, here you are: {ALL} Anything else?"
            ))],
            good,
            "done",
        ),
        (
            "half",
            vec![Reply::text(&ALL[..34]), Reply::text(&ALL[..34])],
            good,
            "fallback",
        ),
        (
            "half, then nothing",
            vec![Reply::text(&ALL[..34]), Reply::text("No.")],
            good,
            "fallback",
        ),
        (
            "one half, then another",
            vec![Reply::text(&ALL[..34]), Reply::text(asks)],
            good,
            "fallback",
        ),
        (
            "mended",
            vec![Reply::text("I do not know."), Reply::text(ALL)],
            good,
            "done",
        ),
        (
            "another language once",
            vec![Reply::text(&foreign), Reply::text(ALL)],
            good,
            "done",
        ),
        (
            "another language",
            vec![Reply::text(&foreign), Reply::text(&foreign)],
            words,
            "fallback",
        ),
        (
            "reasoning only",
            vec![reasoning(ALL), reasoning(ALL)],
            words,
            "fallback",
        ),
        (
            "empty",
            vec![Reply::text(""), Reply::text("")],
            words,
            "fallback",
        ),
        (
            "refused",
            vec![Reply::error(404, "no such model")],
            words,
            "failed",
        ),
        ("endless", vec![endless(), endless()], words, "fallback"),
    ] {
        let world = World::new().await;
        world.will_answer(replies);
        let (chat, run) = world.say(None, words).await;
        let calls = world.beside(&run, 1).await;
        let view = world.chat(&chat).await;
        assert_eq!(
            (&view["title"], &calls[0]["outcome"]),
            (&json!(title), &json!(outcome)),
            "{name}"
        );
        // Why nothing could be used is said in the reader's language.
        assert!(
            outcome == "done" || calls[0]["sentence"]["code"].is_string(),
            "{name}: {}",
            calls[0]
        );
        // The answer is as it would be without all this.
        assert_eq!(
            view["messages"][1]["content"][0]["text"], "By eating light.",
            "{name}"
        );
        assert_eq!(
            view["messages"][1]["summary"]["outcome"], "completed",
            "{name}"
        );
    }
}

#[tokio::test]
async fn something_new_gives_up_what_is_being_written() {
    let world = World::new().await;
    world.will_answer(vec![Reply::stream(&[Step::Silence]), Reply::text(ALL)]);
    let (chat, first) = world.say(None, "How do plants grow?").await;
    while world.tasks().is_empty() {
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    let (_, second) = world.say(Some(&chat), "And fungi?").await;
    assert_eq!(world.beside(&first, 1).await[0]["outcome"], "cancelled");
    assert_eq!(world.beside(&second, 1).await[0]["outcome"], "done");
    let view = world.chat(&chat).await;
    assert_eq!(view["title"], "🌱 How Plants Grow");
    assert!(view["messages"][1].get("follow_ups").is_none(), "{view}");
}

#[tokio::test]
async fn an_administrator_sets_how_and_whom_it_asks() {
    let world = World::new().await;
    let (server, ada) = (&world.server, world.ada.as_str());
    let title = "/api/v1/pipelines/title";
    for (body, problem) in [
        (
            json!({"template": "Hello\n {{NOBODY}}"}),
            "Line 2, column 2: Unknown variable: NOBODY.",
        ),
        (
            json!({"template": "Say a title."}),
            "Line 1, column 1: The template must contain MESSAGES or prompt",
        ),
        (json!({"model": "nobody"}), "Model not found"),
        (json!({"output_tokens": 0}), "The tokens must be"),
        (json!({"seconds": 100_000}), "The seconds must be"),
    ] {
        let refused = server.put(title, ada, &body).await;
        refused.expect(400);
        assert!(refused.text.contains(problem), "{body}: {}", refused.text);
    }
    server
        .put("/api/v1/pipelines/nothing", ada, &json!({}))
        .await
        .expect(404);
    let own = json!({"template": "### Task: a title for {{prompt}}", "output_tokens": 77});
    let set = server.put(title, ada, &own).await.json();
    assert_eq!(
        (&set["template"], &set["output_tokens"]),
        (&own["template"], &json!(77))
    );
    server
        .put("/api/v1/pipelines/tags", ada, &json!({"enabled": false}))
        .await
        .expect(200);
    world.will_answer(vec![
        Reply::text(r#"{"title": "🍄 Fungi Are Not Plants"}"#),
        Reply::text(ALL),
    ]);
    let (chat, run) = world.say(None, "What are fungi?").await;
    let calls = world.beside(&run, 2).await;
    assert_eq!(calls[0]["pipelines"], json!(["title"]));
    assert_eq!(calls[1]["pipelines"], json!(["follow_ups"]));
    assert_eq!(
        prompt(&world.tasks()[0]),
        "### Task: a title for What are fungi?"
    );
    assert_eq!(world.tasks()[0]["max_tokens"], 77);
    assert_eq!(world.chat(&chat).await["title"], "🍄 Fungi Are Not Plants");
    // What it has come to.
    let list = server.get("/api/v1/pipelines", ada).await.json();
    let of = |name: &str| {
        list["pipelines"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&of("title")["calls"], &of("tags")["calls"]),
        (&json!(1), &json!(0))
    );
    assert_eq!(of("title")["latest"][0]["outcome"], "done");
    assert!(
        of("title")["latest"][0].get("detail").is_none(),
        "what people write is theirs"
    );
    // What it would ask, and what the model says to that.
    world.will_answer(vec![Reply::text(r#"{"title": "🍄 More On Fungi Today"}"#)]);
    let body = json!({"template": "### Task: {{USER_NAME}} {{MESSAGES:END:1}}", "ask": true});
    let preview = server
        .post(&format!("{title}/preview"), ada, &body)
        .await
        .json();
    assert_eq!(
        preview["prompt"],
        "### Task: Ada ASSISTANT: By eating light."
    );
    assert_eq!(
        preview["answer"],
        json!({"title": "🍄 More On Fungi Today"})
    );
    let wrong = json!({"template": "{{NOBODY}}{{prompt}}"});
    server
        .post(&format!("{title}/preview"), ada, &wrong)
        .await
        .expect(400);
    let key = server.key_of_plain_user("bob@example.org").await;
    server.get("/api/v1/pipelines", &key).await.expect(403);
}

#[tokio::test]
async fn the_task_model_of_the_configuration_is_asked() {
    let world = World::with(&[
        ("TASK_MODEL", "scripted"),
        ("ENABLE_TAGS_GENERATION", "True"),
    ])
    .await;
    world.will_answer(vec![Reply::text(ALL)]);
    let (_, run) = world.say(None, "How do plants grow?").await;
    assert_eq!(world.beside(&run, 1).await[0]["model"], "scripted");
    let list = world
        .server
        .get("/api/v1/pipelines", &world.ada)
        .await
        .json();
    assert_eq!(list["task_model"], "scripted");
}

#[tokio::test]
async fn a_front_end_reads_and_sets_it_under_other_names() {
    let world = World::new().await;
    let (server, ada) = (&world.server, world.ada.as_str());
    let bob = server.key_of_plain_user("bob@example.org").await;
    let (config, update) = ("/api/v1/tasks/config", "/api/v1/tasks/config/update");
    let before = server.get(config, &bob).await.json();
    assert_eq!(
        before["TITLE_GENERATION_PROMPT_TEMPLATE"], "",
        "the built-in one"
    );
    assert_eq!(before["ENABLE_TITLE_GENERATION"], true);
    assert_eq!(before["ENABLE_RETRIEVAL_QUERY_GENERATION"], true);
    assert_eq!(
        (
            &before["TASK_MODEL"],
            &before["AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH"]
        ),
        (&json!(""), &json!(-1))
    );
    server.post(update, &bob, &json!({})).await.expect(403);
    for (wrong, problem) in [
        (
            json!({"ENABLE_TITLE_GENERATION": "yes"}),
            "`ENABLE_TITLE_GENERATION` has to be true or false.",
        ),
        (json!({"TASK_MODEL": "nobody"}), "Model not found"),
        (
            json!({"TAGS_GENERATION_PROMPT_TEMPLATE": "{{NOBODY}}"}),
            "Unknown variable: NOBODY",
        ),
        (
            json!({"AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH": "long"}),
            "a whole number",
        ),
        (json!({"RAG_TOP_K": 51}), "`RAG_TOP_K` must be 1 to 50."),
        (json!({"RAG_SYSTEM_CONTEXT": 1}), "true or false"),
        (
            json!({"CODE_INTERPRETER_MAX_RETRIES": 51}),
            "must be 0 to 50.",
        ),
        (
            json!({"CODE_INTERPRETER_MAX_RETRIES": -1}),
            "a whole number",
        ),
    ] {
        let refused = server.post(update, ada, &wrong).await;
        refused.expect(400);
        assert!(refused.text.contains(problem), "{}", refused.text);
    }
    assert_eq!(
        server.get(config, ada).await.json(),
        before,
        "what is refused changes nothing"
    );
    // As the front end sends it: all of it, with what is not known here.
    let mut form = before.clone();
    let changes = json!({
        "ENABLE_TITLE_GENERATION": false, "TASK_MODEL": "scripted", "ENABLE_RETRIEVAL_QUERY_GENERATION": false,
        "TAGS_GENERATION_PROMPT_TEMPLATE": "Tags for {{prompt}}", "AUTOCOMPLETE_GENERATION_INPUT_MAX_LENGTH": 9,
        "RAG_TOP_K": 3, "RAG_SYSTEM_CONTEXT": true, "CODE_INTERPRETER_MAX_RETRIES": 0,
    });
    form.as_object_mut()
        .unwrap()
        .extend(changes.as_object().unwrap().clone());
    form["IMAGE_PROMPT_GENERATION_PROMPT_TEMPLATE"] = json!("x");
    form["TASK_MODEL_EXTERNAL"] = Value::Null;
    let after = server.post(update, ada, &form).await;
    after.expect(200);
    let after = after.json();
    for (name, value) in changes.as_object().unwrap() {
        assert_eq!(&after[name], value, "{name}");
    }
    assert_eq!(after["ENABLE_SEARCH_QUERY_GENERATION"], true);
    assert_eq!(server.get(config, &bob).await.json(), after);
    // They are the settings of the page.
    let list = server.get("/api/v1/pipelines", ada).await.json();
    let of = |name: &str| {
        list["pipelines"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["name"] == name)
            .unwrap()
            .clone()
    };
    assert_eq!(
        (&of("title")["enabled"], &of("tags")["template"]),
        (&json!(false), &json!("Tags for {{prompt}}"))
    );
    assert_eq!(
        (&list["task_model"], &list["retrieval_queries"]),
        (&json!("scripted"), &json!(false))
    );
    let numbers = [
        &list["input_max_length"],
        &list["rag_top_k"],
        &list["code_max_retries"],
    ];
    assert_eq!(
        (numbers, &list["rag_system_context"]),
        ([&json!(9), &json!(3), &json!(0)], &json!(true))
    );
    let ask = json!({"model": "scripted", "prompt": "And the seal?", "type": "retrieval"});
    server
        .post("/api/v1/tasks/queries/completions", ada, &ask)
        .await
        .expect(400);
    // Who turns one kind on after both were turned off in the page gets it.
    server
        .put("/api/v1/pipelines/queries", ada, &json!({"enabled": false}))
        .await
        .expect(200);
    assert_eq!(
        server.get(config, ada).await.json()["ENABLE_SEARCH_QUERY_GENERATION"],
        false
    );
    let on = server
        .post(
            update,
            ada,
            &json!({"ENABLE_SEARCH_QUERY_GENERATION": true}),
        )
        .await
        .json();
    assert_eq!(
        (
            &on["ENABLE_SEARCH_QUERY_GENERATION"],
            &on["ENABLE_RETRIEVAL_QUERY_GENERATION"]
        ),
        (&json!(true), &json!(false))
    );
}

#[tokio::test]
async fn a_front_end_asks_by_itself() {
    let world = World::new().await;
    let (server, ada) = (&world.server, world.ada.as_str());
    let messages = json!([{"role": "user", "content": "How do plants grow, and why?"},
        {"role": "assistant", "content": [{"type": "text", "text": "By eating light."}]}]);
    let ask = async |task: &str, more: Value, reply: &str| {
        world.will_answer(vec![Reply::text(reply), Reply::text(reply)]);
        let mut body =
            json!({"model": "scripted", "messages": messages, "stream": false, "chat_id": "x"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        let answer = server
            .post(&format!("/api/v1/tasks/{task}/completions"), ada, &body)
            .await;
        answer.expect(200);
        let answer = answer.json();
        assert_eq!(answer["object"], "chat.completion");
        let content = answer["choices"][0]["message"]["content"].as_str().unwrap();
        serde_json::from_str::<Value>(content).unwrap()
    };
    assert_eq!(
        ask("title", json!({}), ALL).await,
        json!({"title": "🌱 How Plants Grow"})
    );
    assert_eq!(
        ask("title", json!({}), "").await,
        json!({"title": "How do plants grow, and"})
    );
    assert_eq!(
        ask("tags", json!({}), ALL).await,
        json!({"tags": ["science"]})
    );
    assert_eq!(
        ask("follow_up", json!({}), ALL).await,
        json!({"follow_ups": ["Why?", "How much?"]})
    );
    let web = json!({"type": "web_search"});
    assert_eq!(
        ask("queries", web.clone(), r#"{"queries": []}"#).await,
        json!({"queries": []})
    );
    let asked = ask(
        "queries",
        web.clone(),
        r#"{"queries": ["plants", "Plants"]}"#,
    )
    .await;
    assert_eq!(asked, json!({"queries": ["plants"]}));
    assert_eq!(
        ask("queries", web, "no").await,
        json!({"queries": ["How do plants grow, and why?"]})
    );
    let body = json!({"model": "nobody", "messages": messages});
    server
        .post("/api/v1/tasks/title/completions", ada, &body)
        .await
        .expect(404);
    // Off unless it is turned on.
    let body = json!({"model": "scripted", "prompt": "What is the", "type": "General"});
    let auto = "/api/v1/tasks/auto/completions";
    server.post(auto, ada, &body).await.expect(400);
    assert_eq!(
        server.get("/api/v1/me", ada).await.json()["autocomplete"],
        false
    );
    server
        .put(
            "/api/v1/pipelines/autocomplete",
            ada,
            &json!({"enabled": true}),
        )
        .await
        .expect(200);
    assert_eq!(
        server.get("/api/v1/me", ada).await.json()["autocomplete"],
        true
    );
    let text = ask(
        "auto",
        json!({"prompt": "What is the"}),
        r#"{"text": "the capital?"}"#,
    )
    .await;
    assert_eq!(text, json!({"text": " capital?"}));
    server
        .put("/api/v1/pipelines/title", ada, &json!({"enabled": false}))
        .await
        .expect(200);
    let off = server
        .post(
            "/api/v1/tasks/title/completions",
            ada,
            &json!({"model": "scripted"}),
        )
        .await;
    off.expect(200);
    assert!(off.text.contains("turned off"));
}

#[tokio::test]
async fn a_front_end_that_sends_no_text_is_told_so() {
    let world = World::new().await;
    let (server, ada) = (&world.server, world.ada.as_str());
    server
        .put(
            "/api/v1/pipelines/autocomplete",
            ada,
            &json!({"enabled": true}),
        )
        .await
        .expect(200);
    let ask = async |task: &str, more: &Value| {
        let mut body = json!({"model": "scripted"});
        body.as_object_mut()
            .unwrap()
            .extend(more.as_object().unwrap().clone());
        server
            .post(&format!("/api/v1/tasks/{task}/completions"), ada, &body)
            .await
    };
    let empty = [
        json!({}),
        json!({"messages": [], "prompt": " "}),
        json!({"messages": [{"role": "system", "content": "Be brief."}]}),
        json!({"messages": [{"role": "user", "content": "  "},
            {"role": "assistant", "content": [{"type": "image_url", "image_url": {"url": "data:,"}}]}]}),
    ];
    for (task, field) in [
        ("title", "messages"),
        ("tags", "messages"),
        ("follow_up", "messages"),
        ("queries", "messages"),
        ("auto", "prompt"),
    ] {
        for body in &empty {
            let refused = ask(task, body).await;
            refused.expect(400);
            let error = &refused.json()["error"];
            assert_eq!(
                (&error["code"], &error["field"]),
                (&json!("invalid_request"), &json!(field)),
                "{task} {body}"
            );
        }
    }
    let nothing = ask("moa", &json!({"prompt": "", "responses": [" "]})).await;
    nothing.expect(400);
    assert!(world.upstream.requests().is_empty(), "no model is asked");
    // Front ends of before have sent a title's message so; a message that is a picture has no text, its answers have.
    let asked = async |task: &str, more: &Value, reply: &str| {
        world.will_answer(vec![Reply::text(reply)]);
        let answer = ask(task, more).await;
        answer.expect(200);
        answer.json()["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .to_owned()
    };
    let prompt = json!({"prompt": "How do plants grow?"});
    assert_eq!(
        asked("title", &prompt, ALL).await,
        r#"{"title":"🌱 How Plants Grow"}"#
    );
    assert_eq!(
        asked("queries", &prompt, "no").await,
        r#"{"queries":["How do plants grow?"]}"#
    );
    assert_eq!(
        asked("moa", &json!({"prompt": "", "responses": ["A", "B"]}), "C").await,
        "C"
    );
}
