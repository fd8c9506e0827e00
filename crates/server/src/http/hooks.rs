//! The hooks of the configuration file and their status. They can be changed only in that file.

use std::sync::Arc;

use agent::Pattern;
use axum::extract::State;
use domain::event::HookEvent;
use schemars::JsonSchema;
use serde::Serialize;

use crate::{
    app::App, http::extract::Json, http::openapi::Operations, platform::config::HookTransport,
    runtime::hooks::HookNow,
};

/// Hooks, in the order in which they are called.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct HookList {
    hooks: Vec<HookView>,
}

/// A [hook](docs/integrate/hooks.md) of the configuration file.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Hook")]
struct HookView {
    name: String,
    #[schemars(extend("enum" = ["http", "command"]))]
    kind: &'static str,
    /// The address without its query, or the path of the program.
    target: String,
    events: Vec<HookEvent>,
    tools: Vec<String>,
    agents: Vec<String>,
    models: Vec<String>,
    #[schemars(extend("enum" = ["open", "closed"]))]
    fail: &'static str,
    timeout_seconds: u64,
    /// Since the start of the server.
    calls: u64,
    /// Since the start of the server.
    failures: u64,
    last: Option<LastCallView>,
}

/// The last call of a hook.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "LastHookCall")]
struct LastCallView {
    at: i64,
    error: Option<String>,
}

/// `GET /api/v1/hooks`: lists the hooks in the order in which they are called.
pub(super) async fn list(State(app): State<Arc<App>>) -> Json<HookList> {
    Json(HookList {
        hooks: app.hooks.now().into_iter().map(HookView::from).collect(),
    })
}

impl From<HookNow<'_>> for HookView {
    fn from(now: HookNow<'_>) -> Self {
        let HookNow {
            settings,
            calls,
            failures,
            last,
        } = now;
        let (kind, target) = match &settings.way {
            HookTransport::Url { url, .. } => {
                let mut shown = url.clone();
                shown.set_query(None);
                ("http", shown.to_string())
            }
            HookTransport::Command { command, .. } => ("command", command.display().to_string()),
        };
        let written = |patterns: &[Pattern]| patterns.iter().cloned().map(String::from).collect();
        let hook = &settings.hook;
        Self {
            name: hook.name.clone(),
            kind,
            target,
            events: hook.events.clone(),
            tools: written(&hook.tools),
            agents: written(&hook.agents),
            models: written(&hook.models),
            fail: if hook.fail_closed { "closed" } else { "open" },
            timeout_seconds: settings.timeout.as_secs(),
            calls,
            failures,
            last: last.map(|last| LastCallView {
                at: last.at,
                error: last.error,
            }),
        }
    }
}

/// Describes the calls of this file.
pub(super) fn operations(api: &mut Operations) {
    api.handler(
        "GET /api/v1/hooks",
        list,
        "Lists the [hooks](docs/integrate/hooks.md) of the configuration file",
    );
}
