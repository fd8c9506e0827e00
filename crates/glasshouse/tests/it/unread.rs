//! A chat in which a run has ended that its owner has not looked at.

use reqwest::Method;
use scripted::{Behaviour, Reply, ScriptedServer};
use serde_json::{Value, json};

use crate::{harness::Server, openai::connect, runs::events, sse::Events};

struct Talk {
    server: Server,
    cookie: String,
    chat: String,
    activity: Events,
    _upstream: ScriptedServer,
}

async fn talk(reply: Reply) -> Talk {
    let upstream = ScriptedServer::start(Behaviour::always(reply))
        .await
        .unwrap();
    let (server, cookie) = Server::start_signed_in().await;
    connect(&server, &cookie, "Up", &upstream.base_url()).await;
    let chat = server
        .post("/api/v1/chats", &cookie, &json!({}))
        .await
        .json();
    assert_eq!(chat["unread"], false);
    let chat = chat["id"].as_str().unwrap().to_owned();
    let activity = events(&server, &cookie, "/api/v1/activity").await;
    Talk {
        server,
        cookie,
        chat,
        activity,
        _upstream: upstream,
    }
}

impl Talk {
    async fn say(&self) -> String {
        let path = format!("/api/v1/chats/{}/messages", self.chat);
        let said = json!({"content": "Hi", "model": "scripted"});
        let begun = self.server.post(&path, &self.cookie, &said).await.json();
        begun["run"].as_str().unwrap().to_owned()
    }

    async fn unread(&self) -> Value {
        self.server.get("/api/v1/chats", &self.cookie).await.json()["chats"][0]["unread"].clone()
    }

    fn is(&self, state: &str) -> impl Fn(&Value) -> bool + use<> {
        let (chat, state) = (self.chat.clone(), state.to_owned());
        move |activity| activity["state"] == *state && activity["chat"] == *chat
    }
}

#[tokio::test]
async fn a_chat_is_unread_from_a_runs_end_until_it_is_looked_at() {
    let mut talk = talk(Reply::text("Hello.")).await;
    talk.say().await;
    let ended = talk.activity.until(talk.is("finished")).await;
    assert_eq!(ended["outcome"], "completed");
    assert_eq!(talk.unread().await, true);

    let path = format!("/api/v1/chats/{}/read", talk.chat);
    let other = talk.server.key_of_plain_user("bob@example.org").await;
    talk.server
        .post(&path, &other, &json!({}))
        .await
        .expect(404);
    assert_eq!(talk.unread().await, true);
    for _ in 0..2 {
        talk.server
            .post(&path, &talk.cookie, &json!({}))
            .await
            .expect(204);
    }
    let told = talk.activity.until(talk.is("read")).await;
    assert_eq!(told["run"], Value::Null);
    assert_eq!(talk.unread().await, false);
    talk.say().await;
    let next = talk.activity.until(|_| true).await;
    assert_eq!(next["state"], "running", "it is told once: {next}");
    talk.activity.until(talk.is("finished")).await;
    assert_eq!(talk.unread().await, true);
}

#[tokio::test]
async fn what_somebody_stopped_is_no_news() {
    let mut talk = talk(crate::faults::words(600, 20.0)).await;
    let run = talk.say().await;
    talk.activity.until(talk.is("running")).await;
    let path = format!("/runs/{run}/cancel");
    let request = talk
        .server
        .request(Method::POST, &path, &talk.cookie)
        .json(&json!({}));
    assert_eq!(request.send().await.unwrap().status(), 204);
    let ended = talk.activity.until(talk.is("finished")).await;
    assert_eq!(ended["outcome"], "cancelled");
    assert_eq!(talk.unread().await, false);
}
