//! The machine's clock is set while runs are going on: nobody is signed out, no run ends early, logs go forward.

use scripted::{Behaviour, ScriptedServer};
use serde_json::json;

use super::{whole_log, words};
use crate::{harness::Server, openai::connect, runs::events};

const HOUR_MS: i64 = 3600 * 1000;

#[tokio::test]
async fn a_clock_that_jumps_does_no_harm() {
    for jump_ms in [HOUR_MS, -HOUR_MS] {
        let upstream = ScriptedServer::start(Behaviour::always(words(40, 100.0)))
            .await
            .unwrap();
        // Shorter than the jump: it is work that counts, not the hour on the wall.
        let server = Server::start_with(&[("GLASSHOUSE_LIMITS_SECONDS", "60")]).await;
        let cookie = server.set_up().await;
        connect(&server, &cookie, "Up", &upstream.base_url()).await;
        let made = server
            .post("/api/v1/chats", &cookie, &json!({}))
            .await
            .json();
        let path = format!("/api/v1/chats/{}/messages", made["id"].as_str().unwrap());
        let said = json!({"content": "Hi", "model": "scripted"});
        let begun = server.post(&path, &cookie, &said).await.json();
        let run = format!("/runs/{}", begun["run"].as_str().unwrap());
        let mut watching = events(&server, &cookie, &format!("{run}/events")).await;
        watching
            .until(|event| event["body"]["type"] == "text_delta")
            .await;
        server.clock.advance_ms(jump_ms);
        let end = watching
            .until(|event| event["body"]["type"] == "run_finished")
            .await;
        assert_eq!(end["body"]["outcome"], "completed", "{end}");

        let log = whole_log(&server.get(&format!("{run}/events"), &cookie).await.text);
        assert!(
            log.is_sorted_by_key(|event| event.at),
            "{jump_ms}: time goes back"
        );
        let (first, last) = (log[0].at, log[log.len() - 1].at);
        assert_eq!(last - first, jump_ms.max(0), "{jump_ms}");
        let shown = server.get(&run, &cookie).await.json();
        assert_eq!(shown["state"], "finished");
        assert_eq!(
            server.get("/api/v1/me", &cookie).await.json()["user"]["name"],
            "Ada",
            "still signed in"
        );
        server.post(&path, &cookie, &said).await.expect(200);
    }
}
