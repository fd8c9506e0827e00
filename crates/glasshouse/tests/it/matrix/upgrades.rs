//! Every address asked for a WebSocket: whoever is refused without the upgrade is refused with it.

use reqwest::{Method, RequestBuilder};
use serde_json::json;

use super::{
    Ids,
    cases::CASES,
    world::{By, World},
};

/// The same request, for a WebSocket.
fn upgraded(request: RequestBuilder) -> RequestBuilder {
    request
        .header("connection", "upgrade")
        .header("upgrade", "websocket")
        .header("sec-websocket-version", "13")
        .header("sec-websocket-key", "AAAAAAAAAAAAAAAAAAAAAA==")
}

async fn status(request: RequestBuilder) -> u16 {
    // The body may be a stream without an end.
    request.send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn an_upgrade_opens_no_address_to_others() {
    let world = World::make().await;
    let server = &world.server;
    let key = async |scope: &str| {
        let body = json!({"name": scope, "scopes": [scope]});
        let made = server
            .post("/api/v1/keys", world.owner.credential(By::Session), &body)
            .await
            .json();
        made["secret"].as_str().unwrap().to_owned()
    };
    let (reading, writing, chatting) = (key("read").await, key("write").await, key("chat").await);
    let callers = [
        ("nobody", ""),
        (
            "a suspended account",
            world.suspended.credential(By::Session),
        ),
        (
            "a suspended account's key",
            world.suspended.credential(By::Key),
        ),
        ("another account", world.other.credential(By::Session)),
        ("another account's key", world.other.credential(By::Key)),
        ("a key for reading", &reading),
        ("a key for writing", &writing),
        ("a key for chats", &chatting),
    ];
    let mut wrong = Vec::new();
    for case in CASES {
        let method: Method = case.method.parse().unwrap();
        for (who, credential) in callers {
            let request = |path: &str| {
                let path = world.fill(path, &world.other.mine, Ids::Real);
                let request = server.request(method.clone(), &path, credential);
                // What ends something is asked without what it needs, so that all are asked of the same world.
                request.header("content-type", "application/json").body("{")
            };
            // The page is everybody's; its socket is that of `/ws`.
            let twin = if case.route == "/" { "/ws" } else { case.at };
            if case.method == "DELETE"
                && case.route != "/mcp"
                && who.starts_with("a key for writing")
            {
                continue;
            }
            let plain = status(request(twin)).await;
            if matches!(plain, 401 | 403 | 404) {
                let with_upgrade = status(upgraded(request(case.at))).await;
                if with_upgrade != plain {
                    wrong.push(format!(
                        "{who}: {} {} {plain}, with Upgrade {with_upgrade}",
                        case.method, case.at
                    ));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
