//! The beginning of what a model is sent stays the same from call to call and from turn to turn, as providers cache it.

use scripted::{Behaviour, Reply, Request, ScriptedServer};
use serde_json::{Value, json};

use crate::{harness::Server, openai::connect, runs::events};

const TURNS: usize = 20;
/// The turn in which the model remembers something.
const REMEMBERS: usize = 10;

fn list<'a>(body: &'a Value, name: &str) -> &'a [Value] {
    body[name].as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A model that writes a file in each turn, remembers something in one of them, and answers.
fn working() -> Behaviour {
    Behaviour::answer(|request: &Request| {
        let messages = list(&request.body, "messages");
        let last = messages.last().unwrap();
        let said = last["content"].to_string();
        let turn = messages
            .iter()
            .filter(|message| message["role"] == "user")
            .count();
        match last["role"].as_str() {
            Some("tool") => Reply::text(&"Done as you said. ".repeat(20)),
            _ if said.contains("Please remember") => Reply::calls(&[(
                "memory_append",
                json!({"name": "likes", "text": "Green tea, every day."}),
            )]),
            _ => {
                let content = format!("{turn} {}", "words of a file ".repeat(30));
                Reply::calls(&[
                    (
                        "write_file",
                        json!({"path": format!("/{turn}.md"), "content": content}),
                    ),
                    ("ls", json!({})),
                ])
            }
        }
    })
}

/// What the model reads first stands first.
fn prompt(body: &Value) -> Vec<String> {
    let tools = json!(body["tools"]).to_string();
    std::iter::once(tools)
        .chain(list(body, "messages").iter().map(Value::to_string))
        .collect()
}

/// How many pieces two prompts have in common at their beginning.
fn common(one: &[String], other: &[String]) -> usize {
    one.iter()
        .zip(other)
        .take_while(|(one, other)| one == other)
        .count()
}

/// Plays the turns. The requests of each.
async fn turns(server: &Server, upstream: &ScriptedServer, cookie: &str) -> Vec<Vec<Vec<String>>> {
    let chat = server
        .post("/api/v1/chats", cookie, &json!({}))
        .await
        .json();
    let path = format!("/api/v1/chats/{}/messages", chat["id"].as_str().unwrap());
    let (mut parent, mut all) = (Value::Null, Vec::new());
    for turn in 1..=TURNS {
        let words = if turn == REMEMBERS {
            "Please remember what I like."
        } else {
            "Please go on."
        };
        let said = json!({"content": format!("{turn}. {}", words.repeat(5)), "model": "scripted", "parent": parent});
        let before = upstream.requests().len();
        let sent = server.post(&path, cookie, &said).await.json();
        events(
            server,
            cookie,
            &format!("/runs/{}/events", sent["run"].as_str().unwrap()),
        )
        .await
        .rest()
        .await;
        parent = sent["assistant"]["id"].clone();
        // Titles and the like are asked for without tools.
        let asked = upstream.requests().split_off(before);
        all.push(
            asked
                .iter()
                .filter(|body| !list(body, "tools").is_empty())
                .map(prompt)
                .collect(),
        );
    }
    all
}

/// The share of all bytes that a cache would have had.
fn cached_share(turns: &[Vec<Vec<String>>]) -> f64 {
    let size = |pieces: &[String]| pieces.iter().map(String::len).sum::<usize>();
    let requests: Vec<&Vec<String>> = turns.iter().flatten().collect();
    let (mut cached, mut all) = (0, 0);
    for (at, request) in requests.iter().enumerate() {
        let known = requests[..at]
            .iter()
            .map(|before| common(before, request))
            .max()
            .unwrap_or(0);
        cached += size(&request[..known]);
        all += size(request);
    }
    cached as f64 / all as f64
}

#[tokio::test]
async fn twenty_turns_with_a_memory_in_the_tenth_never_start_cold() {
    let upstream = ScriptedServer::start(working()).await.unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let memory = json!({"name": "name", "text": "The person is called Ada.", "pinned": true});
    server
        .post("/api/v1/memories", &cookie, &memory)
        .await
        .expect(201);
    let turns = turns(&server, &upstream, &cookie).await;
    let share = cached_share(&turns);
    println!("cached share: {share:.3}");
    let instructions: Value = serde_json::from_str(&turns[0][0][1]).unwrap();
    let last_line = instructions["content"]
        .as_str()
        .unwrap()
        .lines()
        .last()
        .unwrap();
    assert!(
        last_line.starts_with("Today is "),
        "the date changes nothing before it: {instructions}"
    );
    for (number, pair) in turns.windows(2).enumerate() {
        let [turn, next] = pair else { unreachable!() };
        for steps in turn.windows(2) {
            assert_eq!(
                common(&steps[0], &steps[1]),
                steps[0].len(),
                "within turn {}",
                number + 1
            );
        }
        let (last, first) = (turn.last().unwrap(), next.first().unwrap());
        // What is remembered stands with the latest request of the person, and nowhere else.
        let stable = last
            .iter()
            .rposition(|message| message.contains("\"user\""))
            .unwrap();
        assert!(
            common(last, first) >= stable,
            "turn {}: {last:#?}\n{first:#?}",
            number + 2
        );
    }
    assert!(share > 0.8, "{share}");
}
