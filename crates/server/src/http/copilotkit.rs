//! The four endpoints of a CopilotKit runtime that its browser packages call, so that no Node runtime is needed.

use std::sync::Arc;

use axum::{
    extract::State,
    http::{HeaderMap, StatusCode},
    response::Response,
};
use serde_json::{Map, Value, json};
use wire::ag_ui::{AgUiEncoder, ClientRun, ThreadInput};

use super::{
    ag_ui::{self, AgUiQuery, DEFAULT_AGENT, Leaving, thread},
    threads,
};
use crate::{
    app::App,
    error::ApiError,
    gateway::{
        Gateway,
        agents::DefinedAgents,
        models::{Model, Models},
    },
    http::{
        extract::{Json, Path, Query, RawJson},
        streams::{Contents, RunFiles, whole},
    },
    identity::{auth::Caller, groups::Resource},
};

/// `GET /copilotkit/info`: lists the agents. Each model is one, in addition to the default and the defined ones.
pub(super) async fn info(
    State(defined_agents): State<Arc<DefinedAgents>>,
    State(gateway): State<Arc<Gateway>>,
    State(models): State<Arc<Models>>,
    caller: Caller,
) -> Json<Value> {
    models.first_look().await;
    let agent = |name: &str, description: String| json!({"name": name, "description": description, "className": "HttpAgent", "capabilities": capabilities()});
    let mut agents = Map::new();
    let default = "Plans, works with files, and hands work to sub-agents. Uses the default model.";
    agents.insert(
        DEFAULT_AGENT.to_owned(),
        agent(DEFAULT_AGENT, default.to_owned()),
    );
    let permit = gateway.permit_of(&caller);
    let is_for = |model: &&Model| {
        caller.check_model(&model.id).is_ok() && permit.allows(Resource::Model(&model.id))
    };
    for defined in defined_agents.usable(&permit) {
        agents.insert(
            defined.name.clone(),
            agent(&defined.name, defined.description.clone()),
        );
    }
    for model in models.catalogue().models.iter().filter(is_for) {
        // CopilotKit puts the name into a URL without escaping it.
        if !model.id.contains(['/', '?', '#', '%']) && !agents.contains_key(&model.id) {
            agents.insert(
                model.id.clone(),
                agent(&model.id, format!("The same with {}.", model.name)),
            );
        }
    }
    Json(json!({
        "version": env!("CARGO_PKG_VERSION"),
        "agents": agents,
        "mode": "sse",
        "audioFileTranscriptionEnabled": false,
        "a2uiEnabled": false,
        "openGenerativeUIEnabled": false,
    }))
}

fn capabilities() -> Value {
    json!({
        "transport": {"streaming": true, "resumable": true},
        "tools": {"supported": true, "clientProvided": true, "parallelCalls": true},
        "state": {"snapshots": true, "deltas": true},
        "multiAgent": {"supported": true, "delegation": true},
        "reasoning": {"supported": true, "streaming": true},
        "multimodal": {"input": {"image": true}},
        "humanInTheLoop": {"supported": true, "approvals": true, "interrupts": true},
    })
}

/// `POST /copilotkit/agent/{agent}/run`: like `/ag-ui/{agent}`, but the run continues when the page is closed, as the
/// client can reconnect and has a request to stop it.
pub(super) async fn run(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(agent): Path<String>,
    Query(query): Query<AgUiQuery>,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Response, ApiError> {
    ag_ui::run(
        &app,
        &caller,
        &agent,
        &body,
        &headers,
        &query,
        Leaving::RunsOn,
    )
    .await
}

/// `POST /copilotkit/agent/{agent}/connect`: sends the thread's messages, then streams the live run.
pub(super) async fn connect(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(agent): Path<String>,
    Query(query): Query<AgUiQuery>,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Response, ApiError> {
    thread::model(&app, &caller, &agent, None).await?;
    let input = ThreadInput::decode(&body).map_err(|error| ApiError::invalid(error.to_string()))?;
    let ThreadInput {
        thread_id,
        run_id,
        version,
    } = input;
    let client_run = ClientRun {
        thread_id,
        run_id,
        version,
        sub_agents: query.sub_agents(),
        state: Map::new(),
    };
    let now = app.clock.now_ms();
    let Some(chat) = threads::find(&app, &caller, &client_run.thread_id).await? else {
        return Ok(whole(
            &wire::ag_ui::Transcript::default().replay(&client_run, now),
        ));
    };
    let shown = thread::show(&app, &chat).await?;
    let client_run = ClientRun {
        state: shown.state,
        ..client_run
    };
    let opening = shown.transcript.replay(&client_run, now);
    match shown.live {
        None => Ok(whole(&opening)),
        Some((run, run_id)) => {
            let encoder = AgUiEncoder::new(ClientRun {
                run_id,
                ..client_run
            });
            let files = RunFiles::new(&app, run, &headers, Contents::Linked);
            Ok(ag_ui::stream(
                &app,
                files,
                run,
                0,
                encoder,
                opening,
                Leaving::RunsOn,
            ))
        }
    }
}

/// `POST /copilotkit/agent/{agent}/stop/{thread}`: stops the thread's runs.
pub(super) async fn stop(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path((_, thread)): Path<(String, String)>,
) -> Result<(StatusCode, Json<Value>), ApiError> {
    let chat = threads::find(&app, &caller, &thread).await?;
    let stopped = match chat {
        Some(chat) => app.commands.stop_in(chat.id).await?,
        None => false,
    };
    Ok((StatusCode::OK, Json(json!({"stopped": stopped}))))
}
