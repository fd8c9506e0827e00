//! The permission table: every route, and who may call it.

use reqwest::Method;
use server::{http::table, identity::auth::Access};

use crate::harness::{Answer, Server};

/// Written out a second time on purpose: opening a route to more people must be done in two places.
const PERMISSIONS: &[(&str, &str, Access)] = &[
    ("GET", "/healthz", Access::Public),
    ("GET", "/readyz", Access::Public),
    ("GET", "/openapi.json", Access::Public),
    ("GET", "/metrics", Access::Admin),
    ("GET", "/api/v1/me", Access::Public),
    ("POST", "/api/v1/setup", Access::Public),
    ("POST", "/api/v1/login", Access::Public),
    ("POST", "/api/v1/login/code", Access::Public),
    ("POST", "/api/v1/login/passkey/challenge", Access::Public),
    ("POST", "/api/v1/login/passkey", Access::Public),
    ("POST", "/api/v1/logout", Access::Public),
    ("PATCH", "/api/v1/me", Access::Account),
    ("DELETE", "/api/v1/me", Access::Account),
    ("PUT", "/api/v1/me/password", Access::Account),
    ("GET", "/api/v1/me/second-factor", Access::Account),
    ("POST", "/api/v1/me/second-factor", Access::Account),
    ("POST", "/api/v1/me/second-factor/confirm", Access::Account),
    (
        "POST",
        "/api/v1/me/second-factor/recovery-codes",
        Access::Account,
    ),
    ("DELETE", "/api/v1/me/second-factor", Access::Account),
    ("GET", "/api/v1/me/passkeys", Access::Account),
    ("POST", "/api/v1/me/passkeys/challenge", Access::Account),
    ("POST", "/api/v1/me/passkeys", Access::Account),
    ("DELETE", "/api/v1/me/passkeys/{passkey}", Access::Account),
    ("POST", "/api/v1/password-reset", Access::Public),
    ("POST", "/api/v1/password-reset/request", Access::Public),
    ("POST", "/api/v1/password-reset/check", Access::Public),
    ("POST", "/api/v1/sign-up", Access::Public),
    ("POST", "/api/v1/sign-up/check", Access::Public),
    ("GET", "/oauth/login", Access::Public),
    ("GET", "/oauth/login/callback", Access::Public),
    ("GET", "/api/v1/me/sessions", Access::Account),
    ("DELETE", "/api/v1/me/sessions", Access::Account),
    ("DELETE", "/api/v1/me/sessions/{session}", Access::Account),
    ("GET", "/api/v1/me/export", Access::Account),
    ("POST", "/api/v1/me/import", Access::Account),
    ("GET", "/api/v1/keys", Access::User),
    ("POST", "/api/v1/keys", Access::Account),
    ("POST", "/api/v1/keys/{key}/rotate", Access::Account),
    ("DELETE", "/api/v1/keys/{key}", Access::Account),
    ("GET", "/api/v1/users", Access::Admin),
    ("POST", "/api/v1/users", Access::Admin),
    ("PATCH", "/api/v1/users/{user}", Access::Admin),
    ("DELETE", "/api/v1/users/{user}", Access::Admin),
    ("GET", "/api/v1/users/{user}/chats", Access::Admin),
    ("POST", "/api/v1/users/{user}/password-reset", Access::Admin),
    (
        "DELETE",
        "/api/v1/users/{user}/second-factor",
        Access::Admin,
    ),
    ("DELETE", "/api/v1/users/{user}/passkeys", Access::Admin),
    ("GET", "/api/v1/settings/sign-up", Access::Admin),
    ("PUT", "/api/v1/settings/sign-up", Access::Admin),
    ("GET", "/api/v1/invitations", Access::Admin),
    ("POST", "/api/v1/invitations", Access::Admin),
    (
        "POST",
        "/api/v1/invitations/{invitation}/link",
        Access::Admin,
    ),
    ("DELETE", "/api/v1/invitations/{invitation}", Access::Admin),
    ("GET", "/api/v1/audit", Access::Admin),
    ("GET", "/api/v1/settings", Access::Admin),
    ("PATCH", "/api/v1/settings", Access::Admin),
    (
        "POST",
        "/api/v1/settings/sign-in-provider/test",
        Access::Admin,
    ),
    ("POST", "/api/v1/settings/mail/test", Access::Admin),
    ("GET", "/api/v1/jobs", Access::Admin),
    ("GET", "/api/v1/groups", Access::Admin),
    ("POST", "/api/v1/groups", Access::Admin),
    ("PATCH", "/api/v1/groups/{group}", Access::Admin),
    ("DELETE", "/api/v1/groups/{group}", Access::Admin),
    ("GET", "/api/v1/groups/{group}/members", Access::Admin),
    ("POST", "/api/v1/groups/{group}/members", Access::Admin),
    (
        "DELETE",
        "/api/v1/groups/{group}/members/{user}",
        Access::Admin,
    ),
    ("GET", "/api/v1/permissions", Access::Admin),
    ("PUT", "/api/v1/permissions", Access::Admin),
    ("GET", "/api/v1/usage", Access::User),
    ("GET", "/api/v1/limits/own", Access::User),
    ("GET", "/api/v1/limits", Access::Admin),
    ("PUT", "/api/v1/limits", Access::Admin),
    ("GET", "/api/v1/models", Access::Chat),
    ("PUT", "/api/v1/models/{model}", Access::Admin),
    ("PUT", "/api/v1/settings/default-model", Access::Admin),
    ("GET", "/api/v1/settings/model-aliases", Access::Admin),
    ("PUT", "/api/v1/settings/model-aliases", Access::Admin),
    ("GET", "/api/v1/connections", Access::Admin),
    ("POST", "/api/v1/connections", Access::Admin),
    ("POST", "/api/v1/connections/test", Access::Admin),
    ("GET", "/api/v1/connections/discover", Access::Admin),
    (
        "POST",
        "/api/v1/connections/{connection}/refresh",
        Access::Admin,
    ),
    (
        "POST",
        "/api/v1/connections/{connection}/test",
        Access::Admin,
    ),
    ("PATCH", "/api/v1/connections/{connection}", Access::Admin),
    ("DELETE", "/api/v1/connections/{connection}", Access::Admin),
    (
        "POST",
        "/api/v1/connections/{connection}/keys",
        Access::Admin,
    ),
    (
        "PATCH",
        "/api/v1/connections/{connection}/keys/{key}",
        Access::Admin,
    ),
    (
        "DELETE",
        "/api/v1/connections/{connection}/keys/{key}",
        Access::Admin,
    ),
    ("GET", "/api/v1/embedding", Access::Admin),
    ("PUT", "/api/v1/embedding", Access::Admin),
    ("POST", "/api/v1/embedding/test", Access::Admin),
    ("GET", "/api/v1/text-recognition", Access::Admin),
    ("GET", "/api/v1/document-reader", Access::Admin),
    ("GET", "/api/v1/pipelines", Access::Admin),
    ("PUT", "/api/v1/pipelines/{pipeline}", Access::Admin),
    (
        "POST",
        "/api/v1/pipelines/{pipeline}/preview",
        Access::Admin,
    ),
    ("GET", "/api/v1/runs/{run}/pipelines", Access::User),
    ("GET", "/api/v1/tasks/config", Access::Chat),
    ("POST", "/api/v1/tasks/config/update", Access::Admin),
    ("POST", "/api/v1/tasks/title/completions", Access::Chat),
    ("POST", "/api/v1/tasks/tags/completions", Access::Chat),
    ("POST", "/api/v1/tasks/follow_up/completions", Access::Chat),
    ("POST", "/api/v1/tasks/queries/completions", Access::Chat),
    ("POST", "/api/v1/tasks/auto/completions", Access::Chat),
    ("POST", "/api/v1/tasks/moa/completions", Access::Chat),
    ("POST", "/tasks/title/completions", Access::Chat),
    ("POST", "/tasks/tags/completions", Access::Chat),
    ("POST", "/tasks/follow_up/completions", Access::Chat),
    ("POST", "/tasks/queries/completions", Access::Chat),
    ("POST", "/tasks/auto/completions", Access::Chat),
    ("POST", "/tasks/moa/completions", Access::Chat),
    ("GET", "/api/v1/agents", Access::Admin),
    ("POST", "/api/v1/agents", Access::Admin),
    ("PUT", "/api/v1/agents/{agent}", Access::Admin),
    ("DELETE", "/api/v1/agents/{agent}", Access::Admin),
    ("GET", "/api/v1/programs", Access::User),
    ("POST", "/api/v1/runner/beat", Access::Runner),
    ("POST", "/api/v1/runner/lease", Access::Runner),
    (
        "GET",
        "/api/v1/runner/calls/{lease}/files/{sha256}",
        Access::Runner,
    ),
    (
        "PUT",
        "/api/v1/runner/calls/{lease}/files/{sha256}",
        Access::Runner,
    ),
    (
        "POST",
        "/api/v1/runner/calls/{lease}/output",
        Access::Runner,
    ),
    (
        "POST",
        "/api/v1/runner/calls/{lease}/result",
        Access::Runner,
    ),
    ("GET", "/api/v1/hooks", Access::Admin),
    ("GET", "/api/v1/mcp-servers", Access::Admin),
    ("POST", "/api/v1/mcp-servers", Access::Admin),
    ("POST", "/api/v1/mcp-servers/test", Access::Admin),
    ("POST", "/api/v1/mcp-servers/{server}/test", Access::Admin),
    ("PATCH", "/api/v1/mcp-servers/{server}", Access::Admin),
    ("DELETE", "/api/v1/mcp-servers/{server}", Access::Admin),
    ("GET", "/api/v1/web-search", Access::Admin),
    ("PUT", "/api/v1/web-search", Access::Admin),
    ("POST", "/api/v1/web-search/test", Access::Admin),
    ("GET", "/api/v1/workspaces", Access::User),
    ("GET", "/api/v1/mcp-sign-ins", Access::User),
    ("POST", "/api/v1/mcp-sign-ins/{server}", Access::User),
    ("PUT", "/api/v1/mcp-sign-ins/{server}", Access::User),
    ("DELETE", "/api/v1/mcp-sign-ins/{server}", Access::User),
    ("GET", "/oauth/mcp/callback", Access::Public),
    ("GET", "/api/v1/chats", Access::User),
    ("POST", "/api/v1/chats", Access::User),
    ("GET", "/api/v1/chats/search", Access::User),
    ("POST", "/api/v1/chats/order", Access::User),
    ("POST", "/api/v1/chats/delete", Access::User),
    ("GET", "/api/v1/chats/{chat}", Access::User),
    ("PATCH", "/api/v1/chats/{chat}", Access::User),
    ("DELETE", "/api/v1/chats/{chat}", Access::User),
    ("POST", "/api/v1/chats/{chat}/read", Access::User),
    ("GET", "/api/v1/chats/{chat}/export", Access::User),
    ("PUT", "/api/v1/chats/{chat}/tags", Access::User),
    ("GET", "/api/v1/folders", Access::User),
    ("POST", "/api/v1/folders", Access::User),
    ("PATCH", "/api/v1/folders/{folder}", Access::User),
    ("DELETE", "/api/v1/folders/{folder}", Access::User),
    ("GET", "/api/v1/tags", Access::User),
    ("GET", "/api/v1/chats/{chat}/sharing", Access::User),
    ("PUT", "/api/v1/chats/{chat}/sharing", Access::User),
    ("POST", "/api/v1/chats/{chat}/readers", Access::User),
    (
        "DELETE",
        "/api/v1/chats/{chat}/readers/{reader}",
        Access::User,
    ),
    ("GET", "/api/v1/shared-chats", Access::User),
    ("POST", "/api/v1/chats/{chat}/messages", Access::User),
    (
        "POST",
        "/api/v1/chats/{chat}/messages/{message}/regenerate",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/chats/{chat}/messages/{message}/others",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/chats/{chat}/messages/{message}/merge",
        Access::User,
    ),
    ("GET", "/api/v1/chats/{chat}/files", Access::User),
    ("GET", "/api/v1/chats/{chat}/files/content", Access::User),
    ("PUT", "/api/v1/chats/{chat}/files/content", Access::User),
    ("DELETE", "/api/v1/chats/{chat}/files/content", Access::User),
    ("GET", "/files/{token}/{name}", Access::Public),
    ("GET", "/api/v1/chats/{chat}/files/zip", Access::User),
    ("GET", "/api/v1/chats/{chat}/files/versions", Access::User),
    ("GET", "/api/v1/chats/{chat}/files/diff", Access::User),
    ("POST", "/api/v1/chats/{chat}/files/restore", Access::User),
    ("POST", "/api/v1/runs/{run}/fork", Access::User),
    ("GET", "/api/v1/activity", Access::User),
    ("GET", "/api/v1/inbox", Access::User),
    ("GET", "/api/v1/allowed-calls", Access::User),
    ("DELETE", "/api/v1/allowed-calls/{allowed}", Access::User),
    ("GET", "/api/v1/schedules", Access::User),
    ("POST", "/api/v1/schedules", Access::User),
    ("PUT", "/api/v1/schedules/{schedule}", Access::User),
    ("DELETE", "/api/v1/schedules/{schedule}", Access::User),
    ("POST", "/api/v1/schedules/{schedule}/run", Access::User),
    ("GET", "/api/v1/webhooks", Access::User),
    ("POST", "/api/v1/webhooks", Access::User),
    ("DELETE", "/api/v1/webhooks/{webhook}", Access::User),
    ("POST", "/api/v1/webhooks/{webhook}/test", Access::User),
    ("GET", "/api/v1/push-subscriptions", Access::User),
    ("POST", "/api/v1/push-subscriptions", Access::User),
    (
        "DELETE",
        "/api/v1/push-subscriptions/{subscription}",
        Access::User,
    ),
    ("GET", "/api/v1/memory-use", Access::User),
    ("PUT", "/api/v1/memory-use", Access::User),
    ("GET", "/api/v1/memories", Access::User),
    ("POST", "/api/v1/memories", Access::User),
    ("PUT", "/api/v1/memories/{memory}", Access::User),
    ("DELETE", "/api/v1/memories/{memory}", Access::User),
    ("GET", "/api/v1/facts", Access::User),
    ("DELETE", "/api/v1/facts", Access::User),
    ("PUT", "/api/v1/facts/{fact}", Access::User),
    ("DELETE", "/api/v1/facts/{fact}", Access::User),
    ("GET", "/api/v1/knowledge", Access::User),
    ("POST", "/api/v1/knowledge", Access::User),
    ("POST", "/api/v1/knowledge/search", Access::User),
    ("GET", "/api/v1/knowledge/metadata", Access::User),
    ("PATCH", "/api/v1/knowledge/{collection}", Access::User),
    (
        "GET",
        "/api/v1/knowledge/{collection}/sharing",
        Access::User,
    ),
    (
        "PUT",
        "/api/v1/knowledge/{collection}/sharing",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/documents",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/documents",
        Access::User,
    ),
    (
        "PATCH",
        "/api/v1/knowledge/{collection}/documents",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/documents/{document}",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/documents/{document}/copy",
        Access::User,
    ),
    (
        "DELETE",
        "/api/v1/knowledge/{collection}/documents/{document}/copy",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/documents/{document}/file",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/documents/{document}/retry",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/documents/{document}/cancel",
        Access::User,
    ),
    (
        "DELETE",
        "/api/v1/knowledge/{collection}/documents/{document}",
        Access::User,
    ),
    ("GET", "/api/v1/knowledge/{collection}/crawls", Access::User),
    (
        "POST",
        "/api/v1/knowledge/{collection}/crawls",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/crawls/{crawl}/cancel",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/crawls/{crawl}/retry",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/crawls/{crawl}/dismiss",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/sources",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/sources",
        Access::User,
    ),
    (
        "PUT",
        "/api/v1/knowledge/{collection}/sources/{source}",
        Access::User,
    ),
    (
        "DELETE",
        "/api/v1/knowledge/{collection}/sources/{source}",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/sources/{source}/sync",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/sources/{source}/syncs",
        Access::User,
    ),
    ("POST", "/api/v1/knowledge/{collection}/sync", Access::User),
    (
        "GET",
        "/api/v1/knowledge/{collection}/sync/{sync}",
        Access::User,
    ),
    (
        "PUT",
        "/api/v1/knowledge/{collection}/sync/{sync}/document",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/sync/{sync}/complete",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/sync/{sync}/cancel",
        Access::User,
    ),
    ("GET", "/api/v1/knowledge/{collection}/graph", Access::User),
    ("PUT", "/api/v1/knowledge/{collection}/graph", Access::User),
    (
        "POST",
        "/api/v1/knowledge/{collection}/graph/documents/{document}/cancel",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/graph/documents/{document}/retry",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/graph/entities",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/graph/entities/{entity}",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/graph/neighbours",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/graph/path",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/graph/subgraph",
        Access::User,
    ),
    (
        "GET",
        "/api/v1/knowledge/{collection}/graph/aliases",
        Access::User,
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/graph/aliases",
        Access::User,
    ),
    (
        "DELETE",
        "/api/v1/knowledge/{collection}/graph/aliases/{entity}",
        Access::User,
    ),
    ("DELETE", "/api/v1/knowledge/{collection}", Access::User),
    ("POST", "/api/v1/attachments", Access::User),
    ("GET", "/api/v1/pages/{page}", Access::User),
    ("POST", "/api/v1/images", Access::User),
    ("GET", "/runs/{run}", Access::Chat),
    ("GET", "/runs/{run}/events", Access::Chat),
    ("GET", "/runs/{run}/calls/{call}", Access::Chat),
    ("POST", "/runs/{run}/cancel", Access::Chat),
    ("POST", "/runs/{run}/finish", Access::Chat),
    ("POST", "/runs/{run}/agents/{agent}/stop", Access::Chat),
    ("POST", "/runs/{run}/input", Access::Chat),
    ("DELETE", "/runs/{run}/input/{input}", Access::Chat),
    ("POST", "/runs/{run}/approvals/{approval}", Access::Chat),
    ("POST", "/runs/{run}/questions/{question}", Access::Chat),
    ("POST", "/chat/stream", Access::Chat),
    ("POST", "/api/config", Access::Admin),
    ("POST", "/api/chat", Access::Chat),
    ("GET", "/ws", Access::Chat),
    ("GET", "/", Access::Public),
    ("POST", "/api/ui-message-stream", Access::Chat),
    ("GET", "/api/ui-message-stream/{chat}/stream", Access::Chat),
    ("POST", "/api/ui-message-stream/{chat}/stop", Access::Chat),
    ("POST", "/ag-ui", Access::Chat),
    ("POST", "/ag-ui/{agent}", Access::Chat),
    ("GET", "/copilotkit/info", Access::Chat),
    ("POST", "/copilotkit/agent/{agent}/run", Access::Chat),
    ("POST", "/copilotkit/agent/{agent}/connect", Access::Chat),
    (
        "POST",
        "/copilotkit/agent/{agent}/stop/{thread}",
        Access::Chat,
    ),
    ("POST", "/mcp", Access::Chat),
    ("GET", "/mcp", Access::Chat),
    ("DELETE", "/mcp", Access::Chat),
    ("POST", "/v1/chat/completions", Access::Chat),
    ("POST", "/v1/responses", Access::Chat),
    ("GET", "/v1/responses/{response}", Access::Chat),
    ("DELETE", "/v1/responses/{response}", Access::Chat),
    ("POST", "/v1/responses/{response}/cancel", Access::Chat),
    ("GET", "/v1/responses/{response}/input_items", Access::Chat),
    ("POST", "/v1/embeddings", Access::Chat),
    ("POST", "/v1/messages", Access::Chat),
    ("POST", "/v1/messages/count_tokens", Access::Chat),
    ("GET", "/v1/models", Access::Chat),
    ("GET", "/v1/models/{*model}", Access::Chat),
];

#[test]
fn the_table_is_the_permission_table() {
    let routes = table();
    let table: Vec<_> = routes
        .iter()
        .map(|r| (r.method.as_str(), r.path, r.access))
        .collect();
    assert_eq!(table, PERMISSIONS);
}

/// What leaves a line in the audit log though it is neither an administrator's nor about an account's own doors.
const NOTED_BESIDE: &[(&str, &str)] = &[
    ("POST", "/api/v1/setup"),
    ("POST", "/api/v1/login"),
    ("POST", "/api/v1/login/code"),
    ("POST", "/api/v1/login/passkey"),
    ("POST", "/api/v1/logout"),
    ("POST", "/api/v1/password-reset"),
    ("POST", "/api/v1/sign-up"),
    ("GET", "/oauth/login/callback"),
    ("PUT", "/api/v1/chats/{chat}/sharing"),
    ("POST", "/api/v1/chats/{chat}/readers"),
    ("DELETE", "/api/v1/chats/{chat}/readers/{reader}"),
    ("PUT", "/api/v1/knowledge/{collection}/sharing"),
    ("POST", "/api/v1/knowledge/{collection}/sources"),
    ("PUT", "/api/v1/knowledge/{collection}/sources/{source}"),
    ("DELETE", "/api/v1/knowledge/{collection}/sources/{source}"),
    (
        "POST",
        "/api/v1/knowledge/{collection}/sources/{source}/sync",
    ),
    (
        "POST",
        "/api/v1/knowledge/{collection}/sync/{sync}/complete",
    ),
    ("POST", "/api/v1/knowledge/{collection}/sync/{sync}/cancel"),
    ("PATCH", "/api/v1/knowledge/{collection}/documents"),
    ("GET", "/api/v1/me/export"),
];

#[test]
fn what_changes_accounts_keys_and_settings_is_noted() {
    for route in table() {
        let at = (route.method.as_str(), route.path);
        let changes =
            !route.method.is_safe() && matches!(route.access, Access::Admin | Access::Account);
        assert_eq!(
            route.noted.is_some(),
            changes || NOTED_BESIDE.contains(&at),
            "{at:?}"
        );
    }
}

#[tokio::test]
async fn nobody_gets_further_than_allowed() {
    let (server, cookie) = Server::start_signed_in().await;
    let plain = server.key_of_plain_user("bob@example.org").await;
    for (method, path, access) in PERMISSIONS {
        let method: Method = method.parse().unwrap();
        let path = path.replace(['{', '}'], "");
        let anonymous = Answer::of(server.request(method.clone(), &path, "")).await;
        match access {
            // A wrong token is as good as none.
            Access::Public if path.contains("token") => {
                assert_eq!(anonymous.status, 404, "{method} {path}")
            }
            Access::Public => assert_ne!(anonymous.status, 404, "{method} {path}"),
            _ => assert_eq!(anonymous.expect(401), "unauthenticated", "{method} {path}"),
        }
        if *access == Access::Runner {
            // No account and no key opens these.
            for credential in [&cookie, &plain] {
                let answer = Answer::of(server.request(method.clone(), &path, credential)).await;
                assert_eq!(answer.expect(401), "unauthenticated", "{method} {path}");
            }
        }
        if *access == Access::Admin {
            let answer = Answer::of(server.request(method.clone(), &path, &plain)).await;
            assert_eq!(answer.expect(403), "forbidden", "{method} {path}");
        }
    }
}

#[tokio::test]
async fn a_key_gets_no_further_than_its_scopes() {
    let (server, cookie) = Server::start_signed_in().await;
    let admin = "admin";
    for own in ["chat", "read", "write", admin] {
        let body = serde_json::json!({"name": own, "scopes": [own]});
        let key = server.post("/api/v1/keys", &cookie, &body).await.json();
        let key = key["secret"].as_str().unwrap();
        for (method, path, access) in PERMISSIONS {
            let method: Method = method.parse().unwrap();
            let needed = match (access, method.is_safe()) {
                (Access::Public | Access::Runner, _) => continue,
                (Access::Chat, _) => "chat",
                (Access::User, true) => "read",
                (Access::User, false) => "write",
                (Access::Account, _) => "",
                (Access::Admin, _) => admin,
            };
            if needed != own {
                let path = path.replace(['{', '}'], "");
                let answer = Answer::of(server.request(method.clone(), &path, key)).await;
                assert_eq!(answer.expect(403), "forbidden", "{own}: {method} {path}");
            }
        }
    }
}

#[tokio::test]
async fn health_is_told_to_anybody() {
    let server = Server::start().await;
    assert_eq!(server.get("/healthz", "").await.text, "ok\n");
    assert_eq!(server.get("/readyz", "").await.text, "ok\n");
    server.app.store.close().await;
    assert_eq!(server.get("/healthz", "").await.status, 200);
    assert_eq!(server.get("/readyz", "").await.expect(503), "unavailable");
}
