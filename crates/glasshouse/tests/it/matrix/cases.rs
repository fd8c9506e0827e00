//! What each route answers to whom: a line for every route, and one for every place in it where an id can stand.

const MESSAGES: &str =
    r#"{"model":"glasshouse/agent","max_tokens":100,"messages":[{"role":"user","content":"Hi"}]}"#;

/// What those get whose things they are not.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Others {
    /// Not found, in the same words as for an id that does not exist.
    Missing,
    /// This status, and the same words as for an id that does not exist.
    Same(u16),
    /// This status, about their own things only; ids of other people's in the body mean nothing.
    Own(u16),
    /// Users are refused, administrators get this status: the things are the server's.
    Admin(u16),
    /// A stream that does not end, of one's own things: what is on it is tested beside the matrix.
    Stream,
    /// Anybody's: no id is in it, or the tests of signing in ask it.
    Public,
}

/// A request. `{name}` stands for an id of the owner's, `{mine}` for a chat of whoever asks.
#[derive(Debug, Clone, Copy)]
pub(super) struct Case {
    pub(super) method: &'static str,
    pub(super) route: &'static str,
    /// The address, with its query.
    pub(super) at: &'static str,
    pub(super) headers: &'static [(&'static str, &'static str)],
    pub(super) body: &'static str,
    pub(super) others: Others,
    /// What the owner gets, who is no administrator.
    pub(super) owner: u16,
    /// Whether somebody whom the chat is shared with gets the same.
    pub(super) readable: bool,
}

const fn case(method: &'static str, route: &'static str, others: Others, owner: u16) -> Case {
    Case {
        method,
        route,
        at: route,
        headers: &[],
        body: "",
        others,
        owner,
        readable: false,
    }
}

impl Case {
    const fn at(self, at: &'static str) -> Self {
        Self { at, ..self }
    }

    const fn sends(self, body: &'static str) -> Self {
        Self { body, ..self }
    }

    const fn for_readers(self) -> Self {
        Self {
            readable: true,
            ..self
        }
    }

    const fn with(self, headers: &'static [(&'static str, &'static str)]) -> Self {
        Self { headers, ..self }
    }
}

use Others::{Admin, Missing, Own, Public, Same, Stream};

const MCP: &[(&str, &str)] = &[
    ("accept", "application/json, text/event-stream"),
    ("mcp-session-id", "{mcp}"),
];
/// What nobody may choose, in any body: it has to be as if it were not there.
const SAID: &str =
    r#"{"messages":[{"role":"user","content":"Hi"}],"model":"scripted","owner":"{owner}"}"#;
const IMPORTED: &str = concat!(
    r#"{"glasshouse_export":{"format":1,"version":"0","made_at":0,"owner":"{owner}"}}"#,
    "\n",
    r#"{"chat":{"id":"{chat}","owner":"{owner}","title":"brought","created_at":1,"updated_at":2}}"#,
    "\n",
    r#"{"end":{"lines":2}}"#
);
/// The tour takes no part in pipelines.
const TASK: &str = r#"{"model":"tour","chat_id":"{chat}"}"#;
const MOA: &str = r#"{"model":"tour","chat_id":"{chat}","prompt":"Hello","responses":["Hi"]}"#;
/// The keys are those of the example of RFC 8291.
pub(super) const PUSH: &str = r#"{"endpoint":"https://push.example.org/of-nobody","owner":"{owner}","keys":{
    "p256dh":"BCVxsr7N_eNgVRqvHtD0zTZsEc6-VV-JvLexhqUzORcxaOzi6-AYWXvTBHm4bjyPjs7Vd8pZGH6SRpkNtoIAiw4",
    "auth":"BTBZMqHH6r4Tts7J_aSIgg"}}"#;
const AG_UI: &str = r#"{"threadId":"{chat}","runId":"r1","protocolVersion":"1.0","tools":[],"context":[],
    "state":{},"forwardedProps":{},"messages":[{"id":"u1","role":"user","content":"Hi"}]}"#;

/// The order is that of the owner's own requests: what ends something comes after what needs it.
pub(super) const CASES: &[Case] = &[
    case("GET", "/healthz", Public, 200),
    case("GET", "/readyz", Public, 200),
    case("GET", "/openapi.json", Public, 200),
    case("GET", "/files/{token}/{name}", Public, 404).at("/files/of-nobody/plot.png"),
    case("GET", "/metrics", Admin(200), 403),
    // Set-up and sign-in
    case("GET", "/api/v1/me", Own(200), 200),
    case("POST", "/api/v1/setup", Public, 409),
    case("POST", "/api/v1/login", Public, 401),
    case("POST", "/api/v1/login/code", Public, 401).sends(r#"{"code":"123456"}"#),
    case("POST", "/api/v1/logout", Public, 204),
    case("PATCH", "/api/v1/me", Own(200), 200).sends(r#"{"name":"Somebody","role":"admin","email":"x@example.org"}"#),
    case("DELETE", "/api/v1/me", Own(400), 400).sends(r#"{"password":"wrong"}"#),
    case("PUT", "/api/v1/me/password", Own(400), 400).sends(r#"{"current":"wrong","new":"also wrong"}"#),
    case("GET", "/api/v1/me/second-factor", Own(200), 200),
    case("POST", "/api/v1/me/second-factor", Own(400), 400).sends(r#"{"current":"wrong","user":"{owner}"}"#),
    case("POST", "/api/v1/me/second-factor/confirm", Own(400), 400).sends(r#"{"code":"x","user":"{owner}"}"#),
    case("POST", "/api/v1/me/second-factor/recovery-codes", Own(400), 400).sends("{}"),
    case("DELETE", "/api/v1/me/second-factor", Own(400), 400).sends("{}"),
    // At an address passkeys cannot be made, so what is asked for is refused; that of others is not found.
    case("POST", "/api/v1/login/passkey/challenge", Public, 409),
    case("POST", "/api/v1/login/passkey", Public, 400).sends("{}"),
    case("GET", "/api/v1/me/passkeys", Own(200), 200),
    case("POST", "/api/v1/me/passkeys/challenge", Own(409), 409).sends(r#"{"current":"wrong","user":"{owner}"}"#),
    case("POST", "/api/v1/me/passkeys", Own(400), 400).sends(r#"{"name":"x","owner":"{owner}"}"#),
    case("DELETE", "/api/v1/me/passkeys/{passkey}", Missing, 204),
    case("POST", "/api/v1/password-reset", Public, 404).sends(r#"{"token":"x","password":"long enough"}"#),
    case("POST", "/api/v1/password-reset/request", Public, 409).sends(r#"{"email":"bob@example.org"}"#),
    case("POST", "/api/v1/password-reset/check", Public, 404).sends(r#"{"token":"x"}"#),
    case("POST", "/api/v1/sign-up", Public, 403)
        .sends(r#"{"email":"e@x","name":"Eve","password":"long enough"}"#),
    case("POST", "/api/v1/sign-up/check", Public, 404).sends(r#"{"token":"x"}"#),
    case("GET", "/oauth/login", Public, 403),
    case("GET", "/oauth/login/callback", Public, 403),
    case("GET", "/api/v1/me/sessions", Own(200), 200),
    case("DELETE", "/api/v1/me/sessions/{session}", Missing, 204),
    case("DELETE", "/api/v1/me/sessions", Own(204), 204),
    case("GET", "/api/v1/me/export", Own(200), 200),
    case("POST", "/api/v1/me/import", Own(200), 200).sends(IMPORTED),
    case("GET", "/api/v1/keys", Own(200), 200),
    case("POST", "/api/v1/keys", Own(200), 200)
        .sends(r#"{"name":"k","owner":"{owner}","owner_id":"{owner}","user":"{owner}","role":"admin"}"#),
    case("POST", "/api/v1/keys/{key}/rotate", Missing, 200).sends("{}"),
    case("DELETE", "/api/v1/keys/{key}", Missing, 204),
    // People, what they use and how much they may
    case("GET", "/api/v1/users", Admin(200), 403),
    case("POST", "/api/v1/users", Admin(400), 403).sends("{}"),
    case("PATCH", "/api/v1/users/{user}", Admin(404), 403)
        .at("/api/v1/users/user_00000000000000000000000000000000")
        .sends("{}"),
    case("DELETE", "/api/v1/users/{user}", Admin(404), 403)
        .at("/api/v1/users/user_00000000000000000000000000000000"),
    case("GET", "/api/v1/users/{user}/chats", Admin(403), 403).at("/api/v1/users/{owner}/chats"),
    case("POST", "/api/v1/users/{user}/password-reset", Admin(404), 403)
        .at("/api/v1/users/user_00000000000000000000000000000000/password-reset"),
    case("DELETE", "/api/v1/users/{user}/second-factor", Admin(404), 403)
        .at("/api/v1/users/user_00000000000000000000000000000000/second-factor"),
    case("DELETE", "/api/v1/users/{user}/passkeys", Admin(404), 403)
        .at("/api/v1/users/user_00000000000000000000000000000000/passkeys"),
    case("GET", "/api/v1/settings/sign-up", Admin(200), 403),
    case("PUT", "/api/v1/settings/sign-up", Admin(204), 403).sends(r#"{"mode":"closed"}"#),
    case("GET", "/api/v1/invitations", Admin(200), 403),
    case("POST", "/api/v1/invitations", Admin(400), 403).sends(r#"{"email":"nobody"}"#),
    case("POST", "/api/v1/invitations/{invitation}/link", Admin(404), 403)
        .at("/api/v1/invitations/inv_00000000000000000000000000000000/link"),
    case("DELETE", "/api/v1/invitations/{invitation}", Admin(404), 403)
        .at("/api/v1/invitations/inv_00000000000000000000000000000000"),
    case("GET", "/api/v1/audit", Admin(200), 403),
    case("GET", "/api/v1/settings", Admin(200), 403),
    case("PATCH", "/api/v1/settings", Admin(200), 403).sends(r#"{"values":{"limits.steps":40}}"#),
    case("POST", "/api/v1/settings/sign-in-provider/test", Admin(400), 403).sends(r#"{"values":{}}"#),
    case("POST", "/api/v1/settings/mail/test", Admin(400), 403).sends(r#"{}"#),
    case("GET", "/api/v1/jobs", Admin(200), 403),
    case("GET", "/api/v1/groups", Admin(200), 403),
    case("POST", "/api/v1/groups", Admin(400), 403).sends("{}"),
    case("PATCH", "/api/v1/groups/{group}", Admin(404), 403)
        .at("/api/v1/groups/group_00000000000000000000000000000000")
        .sends("{}"),
    case("DELETE", "/api/v1/groups/{group}", Admin(404), 403)
        .at("/api/v1/groups/group_00000000000000000000000000000000"),
    case("GET", "/api/v1/groups/{group}/members", Admin(404), 403)
        .at("/api/v1/groups/group_00000000000000000000000000000000/members"),
    case("POST", "/api/v1/groups/{group}/members", Admin(404), 403)
        .at("/api/v1/groups/group_00000000000000000000000000000000/members")
        .sends(r#"{"users":["{owner}"]}"#),
    case("DELETE", "/api/v1/groups/{group}/members/{user}", Admin(404), 403)
        .at("/api/v1/groups/group_00000000000000000000000000000000/members/{owner}"),
    case("GET", "/api/v1/permissions", Admin(200), 403),
    case("PUT", "/api/v1/permissions", Admin(400), 403).sends(r#"{"kind":"right","name":"none"}"#),
    case("GET", "/api/v1/usage", Own(200), 200),
    case("GET", "/api/v1/limits/own", Own(200), 200),
    case("GET", "/api/v1/limits", Admin(200), 403),
    case("PUT", "/api/v1/limits", Admin(400), 403).sends("[]"),
    // Models
    case("GET", "/api/v1/models", Own(200), 200),
    case("PUT", "/api/v1/models/{model}", Admin(200), 403)
        .at("/api/v1/models/scripted")
        .sends(r#"{"temperature":0.5}"#),
    case("PUT", "/api/v1/settings/default-model", Admin(204), 403).sends(r#"{"model":"scripted"}"#),
    case("GET", "/api/v1/settings/model-aliases", Admin(200), 403),
    case("PUT", "/api/v1/settings/model-aliases", Admin(200), 403).sends(r#"{"aliases":{"x":"scripted"}}"#),
    case("GET", "/api/v1/connections", Admin(200), 403),
    case("POST", "/api/v1/connections", Admin(422), 403)
        .sends(r#"{"name":"x","base_url":"http://127.0.0.1:9"}"#),
    case("POST", "/api/v1/connections/test", Admin(422), 403).sends(r#"{"base_url":"http://127.0.0.1:9"}"#),
    case("GET", "/api/v1/connections/discover", Admin(200), 403),
    case("POST", "/api/v1/connections/{connection}/refresh", Admin(200), 403),
    case("PATCH", "/api/v1/connections/{connection}", Admin(200), 403).sends(r#"{"trusted":false}"#),
    case("POST", "/api/v1/connections/{connection}/test", Admin(200), 403).sends("{}"),
    case("DELETE", "/api/v1/connections/{connection}", Admin(404), 403)
        .at("/api/v1/connections/con_00000000000000000000000000000000"),
    case("POST", "/api/v1/connections/{connection}/keys", Admin(400), 403).sends(r#"{"api_key":""}"#),
    case("PATCH", "/api/v1/connections/{connection}/keys/{key}", Admin(404), 403)
        .at("/api/v1/connections/{connection}/keys/ckey_00000000000000000000000000000000")
        .sends(r#"{"weight":2}"#),
    case("DELETE", "/api/v1/connections/{connection}/keys/{key}", Admin(404), 403)
        .at("/api/v1/connections/{connection}/keys/ckey_00000000000000000000000000000000"),
    // What makes vectors of documents
    case("GET", "/api/v1/embedding", Admin(200), 403),
    case("PUT", "/api/v1/embedding", Admin(400), 403).sends(r#"{"model":"nobody"}"#),
    case("POST", "/api/v1/embedding/test", Admin(400), 403).sends(r#"{"model":"nobody"}"#),
    case("GET", "/api/v1/text-recognition", Admin(200), 403),
    case("GET", "/api/v1/document-reader", Admin(200), 403),
    // The small model calls around a chat
    case("GET", "/api/v1/pipelines", Admin(200), 403),
    case("PUT", "/api/v1/pipelines/{pipeline}", Admin(404), 403)
        .at("/api/v1/pipelines/nothing")
        .sends("{}"),
    case("POST", "/api/v1/pipelines/{pipeline}/preview", Admin(404), 403)
        .at("/api/v1/pipelines/title/preview")
        .sends(r#"{"chat":"{chat}"}"#),
    case("GET", "/api/v1/runs/{run}/pipelines", Missing, 200),
    case("GET", "/api/v1/tasks/config", Own(200), 200),
    case("POST", "/api/v1/tasks/config/update", Admin(400), 403).sends(r#"{"TASK_MODEL":7}"#),
    case("POST", "/api/v1/tasks/title/completions", Missing, 400).sends(TASK),
    case("POST", "/api/v1/tasks/tags/completions", Missing, 400).sends(TASK),
    case("POST", "/api/v1/tasks/follow_up/completions", Missing, 400).sends(TASK),
    case("POST", "/api/v1/tasks/queries/completions", Missing, 400).sends(TASK),
    case("POST", "/api/v1/tasks/auto/completions", Missing, 400).sends(TASK),
    case("POST", "/api/v1/tasks/moa/completions", Missing, 400).sends(MOA),
    case("POST", "/api/v1/tasks/title/completions", Own(400), 400).sends(r#"{"model":"tour"}"#),
    case("POST", "/tasks/title/completions", Missing, 400).sends(TASK),
    case("POST", "/tasks/tags/completions", Missing, 400).sends(TASK),
    case("POST", "/tasks/follow_up/completions", Missing, 400).sends(TASK),
    case("POST", "/tasks/queries/completions", Missing, 400).sends(TASK),
    case("POST", "/tasks/auto/completions", Missing, 400).sends(TASK),
    case("POST", "/tasks/moa/completions", Missing, 400).sends(MOA),
    case("POST", "/tasks/title/completions", Own(400), 400).sends(r#"{"model":"tour"}"#),
    // Agents, and what they can do beside their own tools
    case("GET", "/api/v1/agents", Admin(200), 403),
    case("POST", "/api/v1/agents", Admin(400), 403).sends("{}"),
    case("PUT", "/api/v1/agents/{agent}", Admin(400), 403).at("/api/v1/agents/nobody").sends("{}"),
    case("DELETE", "/api/v1/agents/{agent}", Admin(404), 403).at("/api/v1/agents/nobody"),
    case("GET", "/api/v1/programs", Own(200), 200),
    case("GET", "/api/v1/hooks", Admin(200), 403),
    case("GET", "/api/v1/web-search", Admin(200), 403),
    case("PUT", "/api/v1/web-search", Admin(400), 403).sends(r#"{"providers":[{"kind":"brave"}]}"#),
    case("POST", "/api/v1/web-search/test", Admin(400), 403).sends(r#"{"kind":"brave"}"#),
    case("GET", "/api/v1/mcp-servers", Admin(200), 403),
    case("POST", "/api/v1/mcp-servers", Admin(422), 403)
        .sends(r#"{"name":"x","url":"http://127.0.0.1:9/mcp"}"#),
    case("POST", "/api/v1/mcp-servers/test", Admin(422), 403).sends(r#"{"url":"http://127.0.0.1:9/mcp"}"#),
    case("POST", "/api/v1/mcp-servers/{server}/test", Admin(404), 403)
        .at("/api/v1/mcp-servers/nobody/test")
        .sends("{}"),
    case("PATCH", "/api/v1/mcp-servers/{server}", Admin(404), 403)
        .at("/api/v1/mcp-servers/nobody")
        .sends("{}"),
    case("DELETE", "/api/v1/mcp-servers/{server}", Admin(404), 403).at("/api/v1/mcp-servers/nobody"),
    case("GET", "/api/v1/workspaces", Own(200), 200),
    // The tests of signing in to MCP servers have servers; here is none.
    case("GET", "/api/v1/mcp-sign-ins", Own(200), 200),
    case("POST", "/api/v1/mcp-sign-ins/{server}", Own(404), 404).at("/api/v1/mcp-sign-ins/notes"),
    case("PUT", "/api/v1/mcp-sign-ins/{server}", Own(404), 404)
        .at("/api/v1/mcp-sign-ins/notes")
        .sends(r#"{"token":"t"}"#),
    case("DELETE", "/api/v1/mcp-sign-ins/{server}", Own(404), 404).at("/api/v1/mcp-sign-ins/notes"),
    case("GET", "/oauth/mcp/callback", Public, 200),
    // Chats
    case("GET", "/api/v1/chats", Own(200), 200).at("/api/v1/chats?query=kumquat&limit=200"),
    case("POST", "/api/v1/chats", Own(200), 200)
        .sends(r#"{"title":"t","id":"{chat}","owner":"{owner}","owner_id":"{owner}"}"#),
    case("GET", "/api/v1/chats/search", Own(200), 200).at("/api/v1/chats/search?query=kumquat").for_readers(),
    case("POST", "/api/v1/chats/order", Own(200), 200).sends(r#"{"chats":["{chat}"],"pinned":true}"#),
    case("POST", "/api/v1/chats/order", Missing, 200).sends(r#"{"chats":["{mine}"],"folder":"{folder}"}"#),
    case("GET", "/api/v1/chats/{chat}", Missing, 200).for_readers(),
    case("GET", "/api/v1/chats/{chat}/export", Missing, 200),
    case("PUT", "/api/v1/chats/{chat}/tags", Missing, 200).sends(r#"{"tags":["kumquat"]}"#),
    case("GET", "/api/v1/tags", Own(200), 200),
    case("GET", "/api/v1/folders", Own(200), 200),
    case("POST", "/api/v1/folders", Own(200), 200).sends(r#"{"name":"Work","owner":"{owner}"}"#),
    case("PATCH", "/api/v1/folders/{folder}", Missing, 204).sends(r#"{"name":"kumquat again"}"#),
    case("PATCH", "/api/v1/chats/{chat}", Missing, 200).sends(r#"{"pinned":false,"folder":null}"#),
    case("PATCH", "/api/v1/chats/{chat}", Missing, 200).sends(r#"{"title":"kumquat again"}"#),
    case("PATCH", "/api/v1/chats/{chat}", Missing, 200).sends(r#"{"current":"{message}"}"#),
    case("PATCH", "/api/v1/chats/{chat}", Same(409), 409)
        .at("/api/v1/chats/{mine}")
        .sends(r#"{"current":"{message}"}"#),
    case("POST", "/api/v1/chats/{chat}/read", Missing, 204),
    case("GET", "/api/v1/chats/{chat}/sharing", Missing, 200),
    case("PUT", "/api/v1/chats/{chat}/sharing", Missing, 204).sends(r#"{"open":false}"#),
    case("POST", "/api/v1/chats/{chat}/readers", Missing, 200).sends(r#"{"email":"other@example.org"}"#),
    case("DELETE", "/api/v1/chats/{chat}/readers/{reader}", Missing, 204),
    case("GET", "/api/v1/shared-chats", Own(200), 200).for_readers(),
    case("POST", "/api/v1/chats/{chat}/messages", Missing, 200)
        .sends(r#"{"content":"Hi","model":"scripted","parent":"{message}"}"#),
    case("POST", "/api/v1/chats/{chat}/messages", Same(409), 409)
        .at("/api/v1/chats/{mine}/messages")
        .sends(r#"{"content":"Hi","model":"scripted","parent":"{message}"}"#),
    case("POST", "/api/v1/chats/{chat}/messages/{message}/regenerate", Missing, 200)
        .sends(r#"{"model":"scripted"}"#),
    case("POST", "/api/v1/chats/{chat}/messages/{message}/regenerate", Missing, 404)
        .at("/api/v1/chats/{mine}/messages/{message}/regenerate")
        .sends(r#"{"model":"scripted"}"#),
    case("POST", "/api/v1/chats/{chat}/messages/{message}/others", Missing, 200)
        .sends(r#"{"models":["scripted"],"samples":1}"#),
    case("POST", "/api/v1/chats/{chat}/messages/{message}/others", Missing, 404)
        .at("/api/v1/chats/{mine}/messages/{message}/others")
        .sends(r#"{"models":["scripted"],"samples":1}"#),
    case("POST", "/api/v1/chats/{chat}/messages/{message}/merge", Missing, 200).sends(r#"{"model":"scripted"}"#),
    case("POST", "/api/v1/chats/{chat}/messages/{message}/merge", Missing, 404)
        .at("/api/v1/chats/{mine}/messages/{message}/merge")
        .sends(r#"{"model":"scripted"}"#),
    case("GET", "/api/v1/chats/{chat}/files", Missing, 200).for_readers(),
    case("GET", "/api/v1/chats/{chat}/files/content", Missing, 200)
        .at("/api/v1/chats/{chat}/files/content?path=/kept.md")
        .for_readers(),
    case("GET", "/api/v1/chats/{chat}/files/content", Missing, 404)
        .at("/api/v1/chats/{mine}/files/content?path=/../{chat}/kept.md"),
    case("PUT", "/api/v1/chats/{chat}/files/content", Missing, 200)
        .at("/api/v1/chats/{chat}/files/content?path=/kept.md")
        .sends("kumquat twice"),
    case("GET", "/api/v1/chats/{chat}/files/zip", Missing, 200).for_readers(),
    case("GET", "/api/v1/chats/{chat}/files/versions", Missing, 200)
        .at("/api/v1/chats/{chat}/files/versions?path=/kept.md")
        .for_readers(),
    case("GET", "/api/v1/chats/{chat}/files/diff", Missing, 200)
        .at("/api/v1/chats/{chat}/files/diff?path=/kept.md")
        .for_readers(),
    case("POST", "/api/v1/chats/{chat}/files/restore", Missing, 200)
        .sends(r#"{"path":"/kept.md","version":1}"#),
    case("DELETE", "/api/v1/chats/{chat}/files/content", Missing, 204)
        .at("/api/v1/chats/{chat}/files/content?path=/kept.md"),
    case("POST", "/api/v1/runs/{run}/fork", Missing, 200).sends(r#"{"after":{step}}"#),
    case("GET", "/api/v1/activity", Stream, 200),
    case("GET", "/api/v1/inbox", Own(200), 200),
    case("GET", "/api/v1/allowed-calls", Own(200), 200),
    case("DELETE", "/api/v1/allowed-calls/{allowed}", Missing, 204),
    // What is done at set times
    case("GET", "/api/v1/schedules", Own(200), 200),
    case("POST", "/api/v1/schedules", Own(200), 200).sends(
        r#"{"name":"n","prompt":"Report","cron":"0 9 * * *","time_zone":"UTC","chat":"{chat}","owner":"{owner}"}"#,
    ),
    case("PUT", "/api/v1/schedules/{schedule}", Missing, 200)
        .sends(r#"{"name":"n","prompt":"Report","model":"scripted","cron":"0 9 * * *","time_zone":"UTC"}"#),
    case("POST", "/api/v1/schedules/{schedule}/run", Missing, 200),
    case("DELETE", "/api/v1/schedules/{schedule}", Missing, 204),
    case("GET", "/api/v1/webhooks", Own(200), 200),
    case("POST", "/api/v1/webhooks", Own(200), 200).sends(r#"{"url":"https://a.example.org/told"}"#),
    case("POST", "/api/v1/webhooks/{webhook}/test", Missing, 200),
    case("DELETE", "/api/v1/webhooks/{webhook}", Missing, 204),
    case("GET", "/api/v1/push-subscriptions", Own(200), 200),
    // What is a subscription is for sessions only; that one belongs to the caller is tested beside the matrix.
    case("POST", "/api/v1/push-subscriptions", Own(400), 400).sends("{}"),
    case("DELETE", "/api/v1/push-subscriptions/{subscription}", Missing, 204),
    // What is remembered of a person beyond one chat
    case("GET", "/api/v1/memory-use", Own(200), 200),
    case("PUT", "/api/v1/memory-use", Own(200), 200).sends(r#"{"uses_memory":true,"learns":false}"#),
    case("GET", "/api/v1/memories", Own(200), 200),
    case("POST", "/api/v1/memories", Own(201), 201)
        .sends(r#"{"name":"n","text":"t","owner":"{owner}","id":"{memory}"}"#),
    case("PUT", "/api/v1/memories/{memory}", Missing, 200)
        .with(&[("if-match", "\"1\"")])
        .sends(r#"{"name":"m","text":"kumquat"}"#),
    case("DELETE", "/api/v1/memories/{memory}", Missing, 204),
    case("GET", "/api/v1/facts", Own(200), 200),
    case("PUT", "/api/v1/facts/{fact}", Missing, 200).sends(r#"{"text":"kumquat"}"#),
    case("DELETE", "/api/v1/facts/{fact}", Missing, 204),
    case("DELETE", "/api/v1/facts", Own(204), 204),
    // Documents
    case("GET", "/api/v1/knowledge", Own(200), 200),
    case("POST", "/api/v1/knowledge", Own(201), 201)
        .sends(r#"{"name":"n","owner":"{owner}","id":"{collection}","version":7}"#),
    case("POST", "/api/v1/knowledge/search", Own(200), 200).sends(r#"{"query":"kumquat"}"#),
    case("POST", "/api/v1/knowledge/search", Missing, 200)
        .sends(r#"{"query":"kumquat","collections":["{collection}"]}"#),
    case("GET", "/api/v1/knowledge/metadata", Own(200), 200),
    case("PATCH", "/api/v1/knowledge/{collection}/documents", Missing, 204)
        .sends(r#"{"documents":["{document}"],"add_tags":["kumquat"]}"#),
    case("PATCH", "/api/v1/knowledge/{collection}", Missing, 200)
        .sends(r#"{"description":"kumquat","owner":"{owner}"}"#),
    case("GET", "/api/v1/knowledge/{collection}/sharing", Missing, 200),
    case("PUT", "/api/v1/knowledge/{collection}/sharing", Missing, 204)
        .sends(r#"{"open":false,"groups":[],"people":[]}"#),
    case("GET", "/api/v1/knowledge/{collection}/documents", Missing, 200),
    case("POST", "/api/v1/knowledge/{collection}/documents", Missing, 202)
        .at("/api/v1/knowledge/{collection}/documents?name=b.txt")
        .sends("kumquat"),
    case("GET", "/api/v1/knowledge/{collection}/documents/{document}", Missing, 200),
    case("GET", "/api/v1/knowledge/{collection}/documents/{document}/file", Missing, 200),
    // No answer cites it.
    case("GET", "/api/v1/knowledge/{collection}/documents/{document}/copy", Missing, 404)
        .at("/api/v1/knowledge/{collection}/documents/{document}/copy?version=1"),
    case("DELETE", "/api/v1/knowledge/{collection}/documents/{document}/copy", Missing, 404),
    case("POST", "/api/v1/knowledge/{collection}/documents/{document}/retry", Missing, 404),
    // There is nothing that goes on, and nothing that failed.
    case("POST", "/api/v1/knowledge/{collection}/documents/{document}/cancel", Missing, 404),
    case("POST", "/api/v1/knowledge/{collection}/graph/documents/{document}/cancel", Missing, 404),
    case("POST", "/api/v1/knowledge/{collection}/graph/documents/{document}/retry", Missing, 404),
    case("GET", "/api/v1/knowledge/{collection}/graph", Missing, 200),
    case("GET", "/api/v1/knowledge/{collection}/graph/entities", Missing, 200).at("/api/v1/knowledge/{collection}/graph/entities?query=kum"),
    case("GET", "/api/v1/knowledge/{collection}/graph/entities/{entity}", Missing, 200),
    case("GET", "/api/v1/knowledge/{collection}/graph/neighbours", Missing, 200).at("/api/v1/knowledge/{collection}/graph/neighbours?entity={entity}"),
    case("GET", "/api/v1/knowledge/{collection}/graph/path", Missing, 200).at("/api/v1/knowledge/{collection}/graph/path?from={entity}&to={entity}"),
    case("GET", "/api/v1/knowledge/{collection}/graph/subgraph", Missing, 200),
    case("GET", "/api/v1/knowledge/{collection}/graph/aliases", Missing, 200),
    case("POST", "/api/v1/knowledge/{collection}/graph/aliases", Missing, 404)
        .sends(r#"{"entity":"{entity}","alias":"ent_00000000000000000000000000000000"}"#),
    case("DELETE", "/api/v1/knowledge/{collection}/graph/aliases/{entity}", Missing, 404),
    case("PUT", "/api/v1/knowledge/{collection}/graph", Missing, 204).sends(r#"{"on":false}"#),
    case("DELETE", "/api/v1/knowledge/{collection}/documents/{document}", Missing, 204),
    case("GET", "/api/v1/knowledge/{collection}/crawls", Missing, 200),
    case("POST", "/api/v1/knowledge/{collection}/crawls", Missing, 202)
        .sends(r#"{"url":"http://kumquat.invalid/","owner":"{owner}"}"#),
    case("POST", "/api/v1/knowledge/{collection}/crawls/{crawl}/cancel", Missing, 404),
    case("POST", "/api/v1/knowledge/{collection}/crawls/{crawl}/dismiss", Missing, 204),
    case("POST", "/api/v1/knowledge/{collection}/crawls/{crawl}/retry", Missing, 204),
    case("GET", "/api/v1/knowledge/{collection}/sources", Missing, 200),
    // Folders of the server are for administrators.
    case("POST", "/api/v1/knowledge/{collection}/sources", Missing, 403)
        .sends(r#"{"name":"kumquat","settings":{"from":{"kind":"folder","path":"/kumquat"}}}"#),
    // A client sends the documents of this one.
    case("PUT", "/api/v1/knowledge/{collection}/sources/{source}", Missing, 409)
        .sends(r#"{"name":"kumquat","settings":{"from":{"kind":"folder","path":"/kumquat"}}}"#),
    case("POST", "/api/v1/knowledge/{collection}/sources/{source}/sync", Missing, 409),
    case("GET", "/api/v1/knowledge/{collection}/sources/{source}/syncs", Missing, 200),
    case("POST", "/api/v1/knowledge/{collection}/sync", Missing, 201).sends(r#"{"source":"Other kumquats","documents":[]}"#),
    case("GET", "/api/v1/knowledge/{collection}/sync/{sync}", Missing, 200),
    case("PUT", "/api/v1/knowledge/{collection}/sync/{sync}/document", Missing, 404)
        .at("/api/v1/knowledge/{collection}/sync/{sync}/document?id=b").sends("kumquat"),
    case("POST", "/api/v1/knowledge/{collection}/sync/{sync}/complete", Missing, 200).sends("{}"),
    case("POST", "/api/v1/knowledge/{collection}/sync/{sync}/cancel", Missing, 404),
    case("DELETE", "/api/v1/knowledge/{collection}/sources/{source}", Missing, 204),
    case("DELETE", "/api/v1/knowledge/{collection}", Missing, 204),
    case("POST", "/api/v1/attachments", Own(202), 202).at("/api/v1/attachments?name=c.txt").sends("kumquat"),
    // Pages of the web as they were read
    case("GET", "/api/v1/pages/{page}", Missing, 200),
    case("POST", "/api/v1/images", Own(400), 400).sends(r#"{"url":"http://10.0.0.1/{chat}"}"#),
    // Runs
    case("GET", "/runs/{run}", Missing, 200).for_readers(),
    case("GET", "/runs/{run}/events", Missing, 200).for_readers(),
    case("GET", "/runs/{run}/events", Missing, 200)
        .at("/runs/{run}/events?format=responses&after=1")
        .for_readers(),
    case("GET", "/runs/{run}/calls/{call}", Missing, 200).for_readers(),
    case("POST", "/runs/{run}/input", Missing, 202)
        .at("/runs/{waiting}/input")
        .sends(r#"{"id":"m1","content":"Hi"}"#),
    case("DELETE", "/runs/{run}/input/{input}", Missing, 204).at("/runs/{waiting}/input/m1"),
    case("POST", "/runs/{run}/approvals/{approval}", Missing, 204)
        .at("/runs/{waiting}/approvals/{approval}")
        .sends(r#"{"decision":"allow","remember":"always"}"#),
    case("POST", "/runs/{run}/questions/{question}", Missing, 204)
        .at("/runs/{asking}/questions/{question}")
        .sends(r#"{"answer":"This one."}"#),
    case("POST", "/runs/{run}/agents/{agent}/stop", Missing, 204).at("/runs/{loose}/agents/a1/stop"),
    case("POST", "/runs/{run}/cancel", Missing, 204).at("/runs/{loose}/cancel"),
    case("POST", "/runs/{run}/finish", Missing, 204).at("/runs/{loose}/finish"),
    case("POST", "/chat/stream", Own(200), 200).sends(SAID),
    case("POST", "/chat/stream", Missing, 200).sends(
        r#"{"messages":[{"role":"user","content":"Hi"}],"model":"scripted","chat_id":"{chat}","stream":false}"#,
    ),
    // A chat with debug events
    case("POST", "/api/config", Admin(422), 403).sends(r#"{"apiEndpoint":"http://127.0.0.1:9"}"#),
    case("POST", "/api/chat", Missing, 200)
        .sends(r#"{"message":"Hi","conversationId":"{chat}","model":"scripted"}"#),
    case("POST", "/api/chat", Same(409), 409).sends(
        r#"{"message":"Hi","conversationId":"{mine}","parentMessageId":"{message}","model":"scripted"}"#,
    ),
    case("GET", "/ws", Stream, 400),
    case("GET", "/", Public, 200),
    // The AI SDK
    case("POST", "/api/ui-message-stream", Missing, 200).sends(
        r#"{"id":"{chat}","model":"scripted","messages":[{"role":"user","parts":[{"type":"text","text":"Hi"}]}]}"#,
    ),
    case("GET", "/api/ui-message-stream/{chat}/stream", Same(204), 204),
    case("POST", "/api/ui-message-stream/{chat}/stop", Same(204), 204),
    // AG-UI, and CopilotKit's calls around it
    case("POST", "/ag-ui", Missing, 200).sends(AG_UI),
    case("POST", "/ag-ui/{agent}", Missing, 200).at("/ag-ui/default").sends(AG_UI),
    case("GET", "/copilotkit/info", Own(200), 200),
    case("POST", "/copilotkit/agent/{agent}/run", Missing, 200)
        .at("/copilotkit/agent/default/run")
        .sends(AG_UI),
    case("POST", "/copilotkit/agent/{agent}/connect", Same(200), 200)
        .at("/copilotkit/agent/default/connect")
        .sends(AG_UI),
    case("POST", "/copilotkit/agent/{agent}/stop/{thread}", Same(200), 200)
        .at("/copilotkit/agent/default/stop/{chat}"),
    // Our agent as a tool of MCP clients
    case("POST", "/mcp", Missing, 200).with(MCP).sends(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#),
    case("DELETE", "/mcp", Missing, 202).with(MCP),
    // The owner's stream would not end; by now the session has.
    case("GET", "/mcp", Missing, 404).with(MCP),
    // OpenAI's format
    case("POST", "/v1/chat/completions", Own(200), 200).sends(SAID),
    case("POST", "/v1/responses", Own(200), 200)
        .sends(r#"{"model":"glasshouse/agent","input":"Hi","owner":"{owner}"}"#),
    case("POST", "/v1/responses", Missing, 200)
        .sends(r#"{"model":"glasshouse/agent","input":"Hi","previous_response_id":"{response}"}"#),
    case("POST", "/v1/responses", Same(400), 200).sends(
        r#"{"model":"glasshouse/agent","input":[{"type":"item_reference","id":"{item}"},{"role":"user","content":"Hi"}]}"#,
    ),
    case("GET", "/v1/responses/{response}", Missing, 200),
    case("GET", "/v1/responses/{response}", Missing, 200).at("/v1/responses/{response}?stream=true"),
    case("GET", "/v1/responses/{response}/input_items", Missing, 200),
    case("POST", "/v1/responses/{response}/cancel", Missing, 200),
    case("DELETE", "/v1/responses/{response}", Missing, 200),
    case("POST", "/v1/embeddings", Own(404), 404).sends(r#"{"model":"none","input":"Hi"}"#),
    case("POST", "/v1/messages", Own(200), 200).sends(MESSAGES),
    case("POST", "/v1/messages/count_tokens", Own(200), 200).sends(MESSAGES),
    case("GET", "/v1/models", Own(200), 200),
    case("GET", "/v1/models/{*model}", Own(200), 200).at("/v1/models/scripted"),
    // What ends the chat comes last.
    case("DELETE", "/api/v1/folders/{folder}", Missing, 204),
    case("DELETE", "/api/v1/chats/{chat}", Missing, 204),
    case("POST", "/api/v1/chats/delete", Own(200), 200).sends(r#"{"chats":["{chat}"]}"#),
];
