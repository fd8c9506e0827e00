//! A real language model through the whole program. Opt-in: `cargo xtask test --real-model` installs one and
//! names it in GLASSHOUSE_TEST_MODEL_URL.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    runs::events,
    sse::Events,
    web_pages::Desk,
};

#[expect(
    clippy::disallowed_methods,
    reason = "the address of the model comes from whoever starts the test"
)]
fn model_url() -> String {
    let url = std::env::var("GLASSHOUSE_TEST_MODEL_URL").unwrap_or_default();
    assert!(
        !url.is_empty(),
        "no model: run cargo xtask test --real-model"
    );
    url
}

/// A server that knows the real model, and the model's id here.
async fn server_with_model() -> (Server, String, String) {
    let url = model_url();
    let server = Server::start_with(&[("OPENAI_API_BASE_URL", &url)]).await;
    let cookie = server.set_up().await;
    let model = model_of(&server, &cookie).await;
    (server, cookie, model)
}

/// Waits until the real model is known; its id.
async fn model_of(server: &Server, cookie: &str) -> String {
    // Some servers list their models only between answers.
    for _ in 0..600 {
        let models = server.get("/api/v1/models", cookie).await.json();
        if let Some(model) = models["models"]
            .as_array()
            .unwrap()
            .iter()
            .find(|model| model["tour"] == false)
        {
            return model["id"].as_str().unwrap().to_owned();
        }
        tokio::time::sleep(Duration::from_millis(200)).await;
    }
    panic!("the model server offers no model");
}

/// Asks through `POST /chat/stream` and returns all frames.
async fn ask(server: &Server, cookie: &str, model: &str, messages: Value) -> Vec<Value> {
    let body = json!({"model": model, "messages": messages, "chat_id": "real"});
    let request = server
        .request(Method::POST, "/chat/stream", cookie)
        .json(&body);
    let frames = Events::of(request.send().await.unwrap()).rest().await;
    frames.iter().map(crate::sse::Event::json).collect()
}

fn answer(frames: &[Value]) -> String {
    let tokens = frames.iter().filter(|frame| frame["type"] == "token");
    tokens
        .map(|frame| frame["data"]["content"].as_str().unwrap())
        .collect()
}

async fn set_tool_mode(server: &Server, cookie: &str, model: &str, mode: &str) {
    let path = format!("/api/v1/models/{}", model.replace('/', "%2F"));
    let body = json!({"tool_mode": mode, "temperature": 0.0});
    Answer::of(server.request(Method::PUT, &path, cookie).json(&body))
        .await
        .expect(200);
}

#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_holds_a_conversation() {
    let (server, cookie, model) = server_with_model().await;
    set_tool_mode(&server, &cookie, &model, "off").await;
    let question = json!({"role": "user", "content": "My name is Ada. Say hello to me in one short sentence."});
    let first = ask(&server, &cookie, &model, json!([question])).await;
    let hello = answer(&first);
    assert_eq!(
        first.last().unwrap()["data"]["outcome"],
        "completed",
        "{first:?}"
    );
    assert!(hello.len() > 3, "{hello:?}");
    assert!(
        first
            .iter()
            .filter(|frame| frame["type"] == "token")
            .count()
            > 2,
        "it comes in pieces"
    );
    let said = json!({"role": "assistant", "content": hello});
    let next = json!({"role": "user", "content": "What is my name? Answer with the name only."});
    let second = ask(&server, &cookie, &model, json!([question, said, next])).await;
    assert!(answer(&second).contains("Ada"), "{:?}", answer(&second));
}

/// Small models write calls into code fences or not at all; forced by a schema they manage.
#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_calls_a_real_tool() {
    let (server, cookie, model) = server_with_model().await;
    if model.contains("smollm2") {
        eprintln!("{model} is too small for tool calls; start a larger one");
        return;
    }
    set_tool_mode(&server, &cookie, &model, "schema").await;
    let question = "Use the tool write_file to write the text hello into the file /hello.txt.";
    let frames = ask(
        &server,
        &cookie,
        &model,
        json!([{"role": "user", "content": question}]),
    )
    .await;
    let written = frames
        .iter()
        .find(|frame| frame["type"] == "tool_end" && frame["data"]["name"] == "write_file");
    let written = written.unwrap_or_else(|| panic!("no call of write_file in {frames:#?}"));
    assert_eq!(written["data"]["error"], false, "{written}");
    assert_eq!(frames.last().unwrap()["type"], "done");
}

/// A chat as the page has it, with the real model.
struct Talk<'a> {
    server: &'a Server,
    cookie: &'a str,
    model: &'a str,
    chat: String,
}

impl<'a> Talk<'a> {
    async fn begin(server: &'a Server, cookie: &'a str, model: &'a str) -> Self {
        let made = server
            .post("/api/v1/chats", cookie, &json!({}))
            .await
            .json();
        Self {
            server,
            cookie,
            model,
            chat: made["id"].as_str().unwrap().to_owned(),
        }
    }

    async fn post(&self, path: &str, body: &Value) -> Value {
        let answer = self
            .server
            .post(
                &format!("/api/v1/chats/{}/{path}", self.chat),
                self.cookie,
                body,
            )
            .await;
        answer.expect(200);
        answer.json()
    }

    /// Says it after all that was said. The answer's id, its run, and what the run wrote into its log.
    async fn say(&self, content: Value, mode: &str) -> (String, String, Vec<Value>) {
        let parent = self.view().await["current"].clone();
        let body = json!({"content": content, "model": self.model, "mode": mode, "parent": parent});
        let sent = self.post("messages", &body).await;
        let log = self.log(&sent["run"]).await;
        let id = |value: &Value| value.as_str().unwrap().to_owned();
        (id(&sent["assistant"]["id"]), id(&sent["run"]), log)
    }

    async fn log(&self, run: &Value) -> Vec<Value> {
        let path = format!("/runs/{}/events", run.as_str().unwrap());
        let log = events(self.server, self.cookie, &path).await.rest().await;
        let log: Vec<Value> = log
            .iter()
            .map(|event| event.json()["body"].clone())
            .collect();
        assert_eq!(log.last().unwrap()["outcome"], "completed", "{log:#?}");
        log
    }

    async fn view(&self) -> Value {
        self.server
            .get(&format!("/api/v1/chats/{}", self.chat), self.cookie)
            .await
            .json()
    }

    /// What was asked beside the run, once so much of it is over.
    async fn beside(&self, run: &str) -> Vec<Value> {
        let path = format!("/api/v1/runs/{run}/pipelines");
        for _ in 0..600 {
            let calls = self.server.get(&path, self.cookie).await.json()["calls"]
                .as_array()
                .unwrap()
                .clone();
            if !calls.is_empty() {
                return calls;
            }
            tokio::time::sleep(Duration::from_millis(100)).await;
        }
        panic!("nothing was asked beside the run");
    }

    async fn task(&self, name: &str, body: Value) -> Value {
        let path = format!("/api/v1/tasks/{name}/completions");
        let answer = self.server.post(&path, self.cookie, &body).await;
        answer.expect(200);
        let text = answer.json()["choices"][0]["message"]["content"]
            .as_str()
            .unwrap()
            .to_owned();
        serde_json::from_str(&text).unwrap_or(Value::String(text))
    }
}

/// All that people read of it.
fn shown(log: &[Value]) -> String {
    let finished = log.iter().filter(|body| body["type"] == "text_finished");
    finished
        .map(|body| body["text"].as_str().unwrap())
        .collect()
}

fn finished<'a>(log: &'a [Value], tool: &str) -> Vec<&'a Value> {
    log.iter()
        .filter(|body| body["type"] == "tool_finished" && body["name"] == tool)
        .collect()
}

fn sources(log: &[Value]) -> Vec<Value> {
    let found = log.iter().filter(|body| body["type"] == "sources_found");
    found
        .flat_map(|body| body["sources"].as_array().unwrap().clone())
        .collect()
}

const PIPELINES_ON: [(&str, &str); 6] = [
    ("GLASSHOUSE_PIPELINES_ENABLE_TITLE_GENERATION", "true"),
    ("GLASSHOUSE_PIPELINES_ENABLE_TAGS_GENERATION", "true"),
    ("GLASSHOUSE_PIPELINES_ENABLE_FOLLOW_UP_GENERATION", "true"),
    (
        "GLASSHOUSE_PIPELINES_ENABLE_SEARCH_QUERY_GENERATION",
        "true",
    ),
    (
        "GLASSHOUSE_PIPELINES_ENABLE_RETRIEVAL_QUERY_GENERATION",
        "true",
    ),
    (
        "GLASSHOUSE_PIPELINES_ENABLE_AUTOCOMPLETE_GENERATION",
        "true",
    ),
];

/// What is written beside a chat is in its form, or the chat has what it would have without.
#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_writes_what_stands_around_a_chat() {
    let url = model_url();
    let server =
        Server::start_with(&[&PIPELINES_ON[..], &[("OPENAI_API_BASE_URL", &url)]].concat()).await;
    let cookie = server.set_up().await;
    let model = model_of(&server, &cookie).await;
    set_tool_mode(&server, &cookie, &model, "off").await;
    let talk = Talk::begin(&server, &cookie, &model).await;
    let (answer, run, log) = talk
        .say(json!("How do plants make food out of light?"), "chat")
        .await;
    assert!(shown(&log).len() > 20, "{log:#?}");
    let calls = talk.beside(&run).await;
    eprintln!("beside the chat: {calls:#?}");
    let view = talk.view().await;
    let title = view["title"].as_str().unwrap();
    assert!((3..=80).contains(&title.chars().count()), "{title:?}");
    assert!(view["tags"].as_array().unwrap().len() <= 3, "{view}");
    let of_answer = view["messages"]
        .as_array()
        .unwrap()
        .iter()
        .find(|it| it["id"] == answer)
        .unwrap();
    assert!(
        of_answer["follow_ups"].as_array().unwrap().len() <= 5,
        "{view}"
    );

    let messages = json!([
        {"role": "user", "content": "How tall is the Eiffel Tower?"},
        {"role": "assistant", "content": "330 metres."},
        {"role": "user", "content": "Which building was the tallest before it?"},
    ]);
    let wish = json!({"model": model, "messages": messages, "type": "web_search"});
    let queries = talk.task("queries", wish).await;
    eprintln!("queries: {queries}");
    let queries = queries["queries"].as_array().unwrap();
    assert!(
        queries.len() <= 3
            && queries
                .iter()
                .all(|query| !query.as_str().unwrap().trim().is_empty())
    );
    let written = json!({"model": model, "messages": [], "prompt": "The capital of France is", "type": "search query"});
    let text = talk.task("auto", written).await;
    assert!(text["text"].as_str().unwrap().contains("Paris"), "{text}");
    let several = json!({"model": model, "prompt": "What is 2 + 2?", "responses": ["It is 4.", "Four.", "5"]});
    let merged = talk.task("moa", several).await;
    assert!(
        merged.to_string().contains('4') || merged.to_string().to_lowercase().contains("four"),
        "{merged}"
    );
}

/// The web and documents are told to it before it answers, and it says what stands there.
#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_answers_from_what_was_found() {
    let url = model_url();
    let desk = Desk::open(&[&PIPELINES_ON[..], &[("OPENAI_API_BASE_URL", &url)]].concat()).await;
    let (server, cookie) = (&desk.server, desk.ada.as_str());
    let model = model_of(server, cookie).await;
    set_tool_mode(server, cookie, &model, "off").await;
    let fact = desk
        .web
        .facts()
        .iter()
        .find(|fact| fact.question.contains("high is the Korvel"))
        .unwrap();
    let talk = Talk::begin(server, cookie, &model).await;
    let (_, _, log) = talk.say(json!(fact.question), "web_search").await;
    assert!(
        finished(&log, "fetch_page")
            .iter()
            .any(|call| call["error"] == false),
        "{log:#?}"
    );
    let found = sources(&log);
    let leads = |source: &Value| {
        source["copy"]
            .as_str()
            .is_some_and(|copy| copy.contains("?from="))
    };
    assert!(!found.is_empty() && found.iter().all(leads), "{found:?}");
    assert!(shown(&log).contains(&fact.answer), "{}", shown(&log));

    let collection = server.collection(cookie, "Harbour").await;
    let text = "# Rules of the harbour\n\nA berth for the night costs 47 crowns. Dogs are kept on a lead.\n";
    server
        .read_file(cookie, &collection, "rules.md", text.as_bytes())
        .await;
    let talk = Talk::begin(server, cookie, &model).await;
    let points = json!([
        {"type": "text", "text": "What does a berth for the night cost?"},
        {"type": "collection", "collection": collection, "name": "Harbour"},
    ]);
    let (_, _, log) = talk.say(points, "chat").await;
    assert!(
        sources(&log)[0]["url"]
            .as_str()
            .unwrap()
            .contains(&collection),
        "{log:#?}"
    );
    assert!(shown(&log).contains("47"), "{}", shown(&log));
}

/// Samples stand side by side and become one answer.
#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_is_asked_several_times_and_merges() {
    let (server, cookie, model) = server_with_model().await;
    set_tool_mode(&server, &cookie, &model, "off").await;
    let talk = Talk::begin(&server, &cookie, &model).await;
    let (first, ..) = talk.say(json!("Name one planet. One word."), "chat").await;
    let asked = talk
        .post(
            &format!("messages/{first}/others"),
            &json!({"models": [model], "samples": 2}),
        )
        .await;
    let answers = asked["answers"].as_array().unwrap();
    assert_eq!(answers.len(), 2, "{asked}");
    for answer in answers {
        assert!(!shown(&talk.log(&answer["run"]).await).is_empty());
    }
    let merged = talk
        .post(&format!("messages/{first}/merge"), &json!({"model": model}))
        .await;
    let log = talk.log(&merged["run"]).await;
    assert!(!shown(&log).is_empty(), "{log:#?}");
    let planets = [
        "mercury", "venus", "earth", "mars", "jupiter", "saturn", "uranus", "neptune",
    ];
    let said = shown(&log).to_lowercase();
    assert!(planets.iter().any(|planet| said.contains(planet)), "{said}");
}

/// A model that calls no tools writes Python between tags, hears what it prints, and answers with that.
#[cfg(target_os = "linux")]
#[tokio::test]
#[ignore = "needs a real model: cargo xtask test --real-model"]
async fn real_model_runs_code_in_tags() {
    let url = model_url();
    let settings = [
        ("GLASSHOUSE_PROGRAMS_ENABLED", "true"),
        ("OPENAI_API_BASE_URL", &url),
    ];
    let server = Server::start_with(&settings).await;
    let cookie = server.set_up().await;
    let model = model_of(&server, &cookie).await;
    crate::programs::wait_for_programs(&server, &cookie).await;
    set_tool_mode(&server, &cookie, &model, "prompt").await;
    // Of the other tools it would read for minutes.
    let agent = json!({"name": "clerk", "description": "Calculates.", "instructions": "You answer briefly.",
        "model": model, "tools": ["python"]});
    server
        .post("/api/v1/agents", &cookie, &agent)
        .await
        .expect(200);
    let talk = Talk::begin(&server, &cookie, "glasshouse/clerk").await;
    let (_, _, log) = talk
        .say(json!("What is 1234 * 5678? Run Python for it."), "chat")
        .await;
    let ran = finished(&log, "python");
    assert!(
        ran.iter()
            .any(|call| call["result"].to_string().contains("7006652")),
        "{log:#?}"
    );
    assert!(
        shown(&log).contains("7006652") || shown(&log).contains("7,006,652"),
        "{log:#?}"
    );
}
