//! Collections that are shared with groups and with people by name: what each way to their documents says, and that it ends at
//! once.

use reqwest::Method;
use scripted::{Behaviour, Reply, Request, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    harness::{Answer, Server},
    knowledge::KNOWLEDGE,
    openai::{ask, connect},
};

const BOB: &str = "bob@example.org";

impl Server {
    async fn share(&self, who: &str, collection: &str, groups: &[&str], people: &[&str]) -> Answer {
        let body = json!({"open": false, "groups": groups, "people": people});
        self.put(&format!("{KNOWLEDGE}/{collection}/sharing"), who, &body)
            .await
    }

    async fn group(&self, admin: &str, name: &str, members: &[&str]) -> String {
        let made = self
            .post("/api/v1/groups", admin, &json!({"name": name}))
            .await
            .json();
        let id = made["id"].as_str().unwrap().to_owned();
        if !members.is_empty() {
            let path = format!("/api/v1/groups/{id}/members");
            self.post(&path, admin, &json!({"users": members}))
                .await
                .expect(204);
        }
        id
    }

    /// What a reader meets at each way to the documents of a collection.
    async fn ways(&self, who: &str, collection: &str, document: &str) -> Vec<(&'static str, u16)> {
        let at = format!("{KNOWLEDGE}/{collection}");
        let mut ways = Vec::new();
        for (name, path) in [
            ("documents", format!("{at}/documents")),
            ("text", format!("{at}/documents/{document}")),
            ("file", format!("{at}/documents/{document}/file")),
            ("graph", format!("{at}/graph")),
            ("things", format!("{at}/graph/entities")),
            ("subgraph", format!("{at}/graph/subgraph")),
            ("crawls", format!("{at}/crawls")),
        ] {
            ways.push((name, self.get(&path, who).await.status.as_u16()));
        }
        let named = json!({"query": "walrus", "collections": [collection]});
        ways.push((
            "search",
            self.post(&format!("{KNOWLEDGE}/search"), who, &named)
                .await
                .status
                .as_u16(),
        ));
        ways
    }

    async fn lists(&self, who: &str, collection: &str) -> bool {
        let list = self.get(KNOWLEDGE, who).await.json();
        list["collections"]
            .as_array()
            .unwrap()
            .iter()
            .any(|one| one["id"] == collection)
    }
}

#[tokio::test]
async fn each_way_opens_and_closes_with_the_list() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user(BOB).await;
    let eve = server.key_of_plain_user("eve@example.org").await;
    let work = server.collection(&ada, "Work").await;
    let plan = server
        .read_file(&ada, &work, "plan.md", b"A walrus costs 400 euros.")
        .await;
    let plan = plan["id"].as_str().unwrap();
    let sales = server.group(&ada, "Sales", &[BOB]).await;

    let all = |status: u16, ways: Vec<(&str, u16)>| {
        assert!(
            ways.iter().all(|(_, one)| *one == status),
            "{status} is wanted: {ways:?}"
        );
    };
    for (groups, people) in [(&[][..], &[BOB][..]), (&[sales.as_str()], &[])] {
        all(404, server.ways(&bob, &work, plan).await);
        assert!(!server.lists(&bob, &work).await && server.find(&bob, "walrus").await.is_empty());
        server.share(&ada, &work, groups, people).await.expect(204);
        all(200, server.ways(&bob, &work, plan).await);
        assert!(server.lists(&bob, &work).await && server.find(&bob, "walrus").await.len() == 1);
        all(404, server.ways(&eve, &work, plan).await);
        // To read is neither to change nor to pass on.
        server
            .put_file(&bob, &work, "b.txt", b"x")
            .await
            .expect(404);
        server
            .get(&format!("{KNOWLEDGE}/{work}/sharing"), &bob)
            .await
            .expect(404);
        server
            .share(&bob, &work, &[], &["eve@example.org"])
            .await
            .expect(404);
        server.share(&ada, &work, &[], &[]).await.expect(204);
    }
    // Out of the group is out of the collection.
    server.share(&ada, &work, &[&sales], &[]).await.expect(204);
    all(200, server.ways(&bob, &work, plan).await);
    let members = server
        .get(&format!("/api/v1/groups/{sales}/members"), &ada)
        .await
        .json();
    let member = members["members"][0]["id"].as_str().unwrap();
    server
        .delete(&format!("/api/v1/groups/{sales}/members/{member}"), &ada)
        .await
        .expect(204);
    all(404, server.ways(&bob, &work, plan).await);
    assert!(server.find(&bob, "walrus").await.is_empty());
}

#[tokio::test]
async fn it_is_shared_by_whom_it_belongs_to_and_as_far_as_they_may() {
    let (server, ada) = Server::start_signed_in().await;
    let bob = server.key_of_plain_user(BOB).await;
    _ = server.key_of_plain_user("eve@example.org").await;
    let work = server.collection(&bob, "Work").await;
    let (own, other) = (
        server.group(&ada, "Sales", &[BOB]).await,
        server.group(&ada, "Legal", &[]).await,
    );
    let path = format!("{KNOWLEDGE}/{work}/sharing");
    // An administrator sees no more collections than others.
    server.get(&path, &ada).await.expect(404);
    let state = server.get(&path, &bob).await.json();
    let choice = state["choice"].as_array().unwrap();
    assert_eq!(
        choice.iter().map(|group| &group["id"]).collect::<Vec<_>>(),
        [&json!(own)],
        "their own groups"
    );
    let refused = server.share(&bob, &work, &[&other], &[]).await;
    assert_eq!(
        (refused.status.as_u16(), &refused.json()["error"]["field"]),
        (400, &json!("groups"))
    );
    for nobody in ["nobody@example.org", "", BOB, &"x".repeat(300)] {
        let refused = server.share(&bob, &work, &[], &[nobody]).await;
        assert_eq!(
            (refused.status.as_u16(), &refused.json()["error"]["field"]),
            (400, &json!("people"))
        );
    }
    let many = vec!["eve@example.org"; 101];
    server.share(&bob, &work, &[], &many).await.expect(400);
    server
        .share(&bob, &work, &[&own], &["EVE@example.org "])
        .await
        .expect(204);
    let state = server.get(&path, &bob).await.json();
    assert_eq!(
        (&state["groups"][0]["name"], &state["people"][0]["email"]),
        (&json!("Sales"), &json!("eve@example.org"))
    );
    let listed = server.get(KNOWLEDGE, &bob).await.json();
    assert_eq!(
        (
            &listed["collections"][0]["shared"],
            &listed["collections"][0]["open"]
        ),
        (&json!(true), &json!(false))
    );

    // Without the right to share nothing is added; what is there stays, and can be taken back.
    let rule = |everybody: bool| json!({"kind": "right", "name": "sharing", "everybody": everybody, "groups": []});
    server
        .put("/api/v1/permissions", &ada, &rule(false))
        .await
        .expect(204);
    let eve = state["people"][0]["id"].as_str().unwrap().to_owned();
    server
        .share(&bob, &work, &[&own], &[&eve])
        .await
        .expect(204);
    server.share(&bob, &work, &[], &[&eve]).await.expect(204);
    server
        .share(&bob, &work, &[&own], &[&eve])
        .await
        .expect(403);
    let open = server
        .request(Method::PATCH, &format!("{KNOWLEDGE}/{work}"), &bob)
        .json(&json!({"open": true}));
    Answer::of(open).await.expect(403);
    server
        .post(KNOWLEDGE, &bob, &json!({"name": "Open", "open": true}))
        .await
        .expect(403);
    server
        .put("/api/v1/permissions", &ada, &rule(true))
        .await
        .expect(204);

    // What administrators may read they may close, and it is noted.
    let body = json!({"open": true, "groups": [], "people": []});
    server.put(&path, &bob, &body).await.expect(204);
    server.share(&ada, &work, &[], &[]).await.expect(204);
    server.get(&path, &ada).await.expect(404);
    let lines = server
        .get("/api/v1/audit?action=collection.", &ada)
        .await
        .json();
    let line = &lines["entries"][0];
    assert_eq!(
        (&line["action"], &line["subject_name"]),
        (&json!("collection.share"), &json!("Work")),
        "{line}"
    );
    assert_eq!(line["details"]["open"], false);
    assert_eq!(
        lines["entries"].as_array().unwrap().len(),
        5,
        "those that were done"
    );
}

#[tokio::test]
async fn agents_search_what_is_shared_with_their_person_as_long_as_it_is() {
    let look = || Reply::calls(&[("search_knowledge", json!({"query": "walrus"}))]);
    let replies = vec![
        look(),
        Reply::text("400 euros."),
        Reply::text("I cannot know."),
    ];
    let upstream = ScriptedServer::start(Behaviour::sequence(replies))
        .await
        .unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let bob = server.key_of_plain_user(BOB).await;
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "plan.md", b"A walrus costs 400 euros.")
        .await;
    server.share(&ada, &work, &[], &[BOB]).await.expect(204);
    let question = ask("glasshouse/agent", "What does it cost?");
    server
        .post("/v1/chat/completions", &bob, &question)
        .await
        .expect(200);
    let heard = upstream.requests().last().unwrap()["messages"].to_string();
    assert!(
        heard.contains("[plan.md in Work") && heard.contains("400 euros"),
        "{heard}"
    );

    server.share(&ada, &work, &[], &[]).await.expect(204);
    server
        .post("/v1/chat/completions", &bob, &question)
        .await
        .expect(200);
    let asked: Value = upstream.requests().last().unwrap().clone();
    assert!(
        !asked["tools"].to_string().contains("search_knowledge"),
        "there is nothing to search"
    );
}

#[tokio::test]
async fn a_message_that_points_to_it_gets_nothing_of_what_is_shared_no_longer() {
    let upstream = ScriptedServer::start(Behaviour::answer(|_: &Request| Reply::text("So it is.")))
        .await
        .unwrap();
    let (server, ada) = Server::start_signed_in().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let bob = server.key_of_plain_user(BOB).await;
    let work = server.collection(&ada, "Work").await;
    server
        .read_file(&ada, &work, "plan.md", b"A walrus costs 400 euros.")
        .await;
    for shared in [true, false] {
        let people: &[&str] = if shared { &[BOB] } else { &[] };
        server.share(&ada, &work, &[], people).await.expect(204);
        let content = json!([
            {"type": "collection", "collection": work, "name": "x"}, {"type": "text", "text": "What does a walrus cost?"},
        ]);
        let chat = server.post("/api/v1/chats", &bob, &json!({})).await.json()["id"]
            .as_str()
            .unwrap()
            .to_owned();
        let body = json!({"content": content, "model": "glasshouse/agent"});
        let sent = server
            .post(&format!("/api/v1/chats/{chat}/messages"), &bob, &body)
            .await;
        if shared {
            sent.expect(200);
            let run = sent.json()["run"].as_str().unwrap().to_owned();
            crate::runs::events(&server, &bob, &format!("/runs/{run}/events"))
                .await
                .rest()
                .await;
            let heard = upstream.requests().last().unwrap()["messages"].to_string();
            assert!(heard.contains("400 euros"), "{heard}");
        } else {
            assert!(sent.status.is_client_error(), "{}", sent.text);
        }
    }
}
