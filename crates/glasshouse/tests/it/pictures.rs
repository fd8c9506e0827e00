//! Pictures as documents: looked at by a model that sees, beside all else; and what is ended by who sent it.

use reqwest::Method;
use scripted::{Behaviour, Reply, Request, ScriptedServer};
use serde_json::{Value, json};

use crate::{
    faults::until,
    harness::{Answer, Server},
    knowledge::KNOWLEDGE,
    openai::connect,
};

const SIGHT: [(&str, &str); 1] = [("GLASSHOUSE_KNOWLEDGE_VISION_MODEL", "scripted")];
const SEEN: &str =
    "## Text\n\nWALRUS 400 EUR\n\n## Picture\n\nA sign at the harbour with a price on it.";

/// A picture of that size, as far as its first bytes say.
fn png(width: u32, height: u32) -> Vec<u8> {
    let sides = [width.to_be_bytes(), height.to_be_bytes()].concat();
    [
        b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR",
        &sides[..],
        &[8, 2, 0, 0, 0],
    ]
    .concat()
}

async fn begin(behaviour: Behaviour) -> (ScriptedServer, Server, String, String) {
    let upstream = ScriptedServer::start(behaviour).await.unwrap();
    let server = Server::start_with(&SIGHT).await;
    let ada = server.set_up().await;
    connect(&server, &ada, "Up", &upstream.base_url()).await;
    let work = server.collection(&ada, "Work").await;
    (upstream, server, ada, work)
}

impl Server {
    async fn document(&self, who: &str, collection: &str, id: &Value) -> Value {
        let all = self
            .get(&format!("{KNOWLEDGE}/{collection}/documents"), who)
            .await
            .json();
        all["documents"]
            .as_array()
            .unwrap()
            .iter()
            .find(|one| one["id"] == *id)
            .unwrap()
            .clone()
    }

    async fn do_with(&self, who: &str, collection: &str, id: &Value, what: &str) -> Answer {
        let path = format!(
            "{KNOWLEDGE}/{collection}/documents/{}/{what}",
            id.as_str().unwrap()
        );
        Answer::of(self.request(Method::POST, &path, who)).await
    }
}

#[tokio::test]
async fn what_a_model_sees_is_found_and_on_the_account_of_who_sent_it() {
    let (upstream, server, ada, work) =
        begin(Behaviour::answer(|_: &Request| Reply::text(SEEN))).await;
    let read = server
        .read_file(&ada, &work, "sign.png", &png(640, 480))
        .await;
    assert_eq!(
        (&read["state"], &read["problem"], &read["picture"]),
        (&json!("ready"), &Value::Null, &json!(false))
    );
    let found = server.find(&ada, "what does the walrus cost").await;
    assert_eq!(found[0]["name"], "sign.png");
    assert!(found[0]["text"].as_str().unwrap().contains("400 EUR"));
    let asked = upstream.requests().last().unwrap().to_string();
    assert!(
        asked.contains("data:image/png;base64,iVBORw0KGgo") && asked.contains("sign.png"),
        "{asked}"
    );
    assert!(
        !asked.contains("\"tools\""),
        "whatever it reads there, it can do nothing"
    );
    let used = server.get("/api/v1/usage", &ada).await.text;
    assert!(used.contains(r#""requests":1,"#), "{used}");
    // Others of its kind and other files are read as ever.
    server.read_file(&ada, &work, "a.txt", b"A seal.").await;
    assert_eq!(upstream.requests().len(), 1);
}

#[tokio::test]
async fn what_is_too_large_is_refused_before_anybody_looks() {
    let (upstream, server, ada, work) =
        begin(Behaviour::answer(|_: &Request| Reply::text(SEEN))).await;
    let large = [png(640, 480), vec![0; 10_000_001]].concat();
    for (name, content, code) in [
        ("bomb.png", &png(60_000, 60_000)[..], "too_many_pixels"),
        (
            "bomb.gif",
            b"GIF89a\xff\xff\xff\xff\0\0\0",
            "too_many_pixels",
        ),
        ("half.jpg", b"\xff\xd8\xff\xe0\x00\x10JFIF", "damaged"),
        ("large.png", &large, "too_large"),
    ] {
        let read = server.read_file(&ada, &work, name, content).await;
        assert_eq!(
            (&read["state"], &read["problem"]["code"]),
            (&json!("failed"), &json!(code)),
            "{name}: {read}"
        );
    }
    assert_eq!(upstream.requests().len(), 0);
}

#[tokio::test]
async fn without_a_model_it_says_what_is_missing() {
    let nowhere = [("GLASSHOUSE_KNOWLEDGE_OCR_PROGRAM", "/no/such/tesseract")];
    let server = Server::start_with(&nowhere).await;
    let ada = server.set_up().await;
    let work = server.collection(&ada, "Work").await;
    let read = server
        .read_file(&ada, &work, "sign.png", &png(640, 480))
        .await;
    assert_eq!(
        (&read["state"], &read["problem"]["code"]),
        (&json!("failed"), &json!("picture"))
    );
    assert!(
        read["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("knowledge.vision_model")
    );
    let state = server.get("/api/v1/text-recognition", &ada).await.json();
    assert_eq!(
        (&state["enabled"], &state["version"]),
        (&json!(true), &Value::Null)
    );
    let problem = state["problem"].as_str().unwrap();
    assert!(problem.contains("/no/such/tesseract"), "{problem}");
}

/// Three sentences about a contract.
const SCAN: &[u8] = include_bytes!("../../../knowledge/tests/data/scans/en.png");

/// Whether Tesseract is installed, which the whole test run requires.
fn recognizes() -> bool {
    let is_there = std::process::Command::new("tesseract")
        .arg("--version")
        .output()
        .is_ok();
    let required = std::env::vars_os().any(|(name, _)| name == "GLASSHOUSE_TEST_REQUIRE");
    assert!(is_there || !required, "Tesseract is not installed");
    is_there
}

#[tokio::test]
async fn text_in_a_picture_is_found_without_a_model() {
    if !recognizes() {
        return;
    }
    let (server, ada) = Server::start_signed_in().await;
    let work = server.collection(&ada, "Work").await;
    let read = server.read_file(&ada, &work, "contract.png", SCAN).await;
    assert_eq!(
        (&read["state"], &read["problem"], &read["picture"]),
        (&json!("ready"), &Value::Null, &json!(false)),
        "{read}"
    );
    let found = server
        .find(&ada, "when was the walrus contract signed")
        .await;
    let text = found[0]["text"].as_str().unwrap();
    assert!(text.contains("signed on Friday by both parties"), "{text}");
    let path = format!(
        "{KNOWLEDGE}/{work}/documents/{}",
        read["id"].as_str().unwrap()
    );
    let document = server.get(&path, &ada).await.json();
    assert_eq!(document["structure"]["recognized"], json!([1]));
    // There is nothing to read again.
    server
        .do_with(&ada, &work, &read["id"], "retry")
        .await
        .expect(404);
    let state = server.get("/api/v1/text-recognition", &ada).await.json();
    assert!(
        state["version"].as_str().unwrap().starts_with("tesseract "),
        "{state}"
    );
    assert_eq!(state["problem"], Value::Null);
}

#[tokio::test]
async fn the_description_of_a_picture_follows_its_recognized_text() {
    if !recognizes() {
        return;
    }
    let (_upstream, server, ada, work) =
        begin(Behaviour::answer(|_: &Request| Reply::text(SEEN))).await;
    let read = server.read_file(&ada, &work, "contract.png", SCAN).await;
    let path = format!(
        "{KNOWLEDGE}/{work}/documents/{}",
        read["id"].as_str().unwrap()
    );
    let document = server.get(&path, &ada).await.json();
    let text = document["text"].as_str().unwrap();
    assert!(text.starts_with("The walrus contract"), "{text}");
    assert!(text.ends_with(SEEN), "{text}");
    assert_eq!(document["structure"]["recognized"], json!([1]));
}

#[tokio::test]
async fn a_model_that_fails_is_told_of_while_it_is_tried_again_and_holds_nothing_up() {
    let sees = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let switch = std::sync::Arc::clone(&sees);
    let behaviour = Behaviour::answer(move |_: &Request| {
        let sees = switch.load(std::sync::atomic::Ordering::SeqCst);
        if sees {
            Reply::text(SEEN)
        } else {
            Reply::error(400, "This model takes no pictures.")
        }
    });
    let (_upstream, server, ada, work) = begin(behaviour).await;
    let put = server
        .put_file(&ada, &work, "sign.png", &png(640, 480))
        .await
        .json();
    let mut picture = Value::Null;
    until("it says why it waits", async || {
        picture = server.document(&ada, &work, &put["id"]).await;
        picture["problem"] != Value::Null
    })
    .await;
    assert_eq!(
        (&picture["state"], &picture["picture"]),
        (&json!("waiting"), &json!(true))
    );
    assert_eq!(picture["problem"]["code"], "vision_failed");
    assert!(
        picture["problem"]["message"]
            .as_str()
            .unwrap()
            .contains("takes no pictures"),
        "{picture}"
    );
    let other = server.read_file(&ada, &work, "a.txt", b"A seal.").await;
    assert_eq!(other["state"], "ready", "others do not wait for it");

    // Its owner ends it, and has it done later.
    let bob = server.key_of_plain_user("bob@example.org").await;
    server
        .do_with(&bob, &work, &put["id"], "cancel")
        .await
        .expect(404);
    server
        .do_with(&ada, &work, &put["id"], "cancel")
        .await
        .expect(204);
    let ended = server.document(&ada, &work, &put["id"]).await;
    assert_eq!(
        (&ended["state"], &ended["problem"]["code"]),
        (&json!("failed"), &json!("cancelled"))
    );
    server
        .do_with(&ada, &work, &put["id"], "cancel")
        .await
        .expect(404);
    sees.store(true, std::sync::atomic::Ordering::SeqCst);
    server
        .do_with(&ada, &work, &put["id"], "retry")
        .await
        .expect(204);
    assert_eq!(
        server.settled(&ada, &work, &put["id"]).await["state"],
        "ready"
    );
    assert_eq!(server.find(&ada, "harbour").await.len(), 1);
}
