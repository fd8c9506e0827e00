//! The AG-UI protocol adapter (`POST /ag-ui`): maps a client's thread to a chat. A run that waits for a person ends the
//! client's run with an interrupt and continues in the client's next run.

pub(super) mod answers;
pub(super) mod thread;

use std::sync::Arc;

use axum::{extract::State, http::HeaderMap, response::Response};
use domain::RunId;
use schemars::JsonSchema;
use serde::Deserialize;
use sse::Frame;
use wire::ag_ui::{AgUiEncoder, ClientRun, RunInput, SubAgents};

use self::answers::go_on;
use super::threads;
use crate::{
    app::App,
    error::ApiError,
    http::{
        extract::{Path, Query, RawJson},
        streams::{Contents, RunFiles, from_run, pausing},
    },
    identity::auth::Caller,
    runtime::commands::StopsWhenDropped,
};

/// The agent to use if the path names none.
pub(super) const DEFAULT_AGENT: &str = "default";

/// Options of a run.
#[derive(Debug, Default, Deserialize, JsonSchema)]
pub(super) struct AgUiQuery {
    /// `continue` if the run should not end with the connection.
    on_disconnect: Option<String>,
    /// `hidden` for clients that cannot tell agents apart.
    subagents: Option<String>,
}

/// The agent in the path; `None` for `POST /ag-ui`.
#[derive(Debug, Deserialize)]
pub(super) struct Named {
    agent: Option<String>,
}

/// `POST /ag-ui` and `POST /ag-ui/{agent}`: runs the default agent, or the named one.
pub(super) async fn post(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(Named { agent }): Path<Named>,
    Query(query): Query<AgUiQuery>,
    headers: HeaderMap,
    RawJson(body): RawJson,
) -> Result<Response, ApiError> {
    let agent = agent.as_deref().unwrap_or(DEFAULT_AGENT);
    run(
        &app,
        &caller,
        agent,
        &body,
        &headers,
        &query,
        query.leaving(),
    )
    .await
}

impl AgUiQuery {
    /// AG-UI clients can stop a run only by closing the connection.
    fn leaving(&self) -> Leaving {
        match self.on_disconnect.as_deref() {
            Some("continue") => Leaving::RunsOn,
            _ => Leaving::Stops,
        }
    }

    pub(super) fn sub_agents(&self) -> SubAgents {
        match self.subagents.as_deref() {
            Some("hidden") => SubAgents::Hidden,
            _ => SubAgents::Shown,
        }
    }
}

/// What happens to the run when its reader closes the connection.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Leaving {
    /// It is stopped.
    Stops,
    /// It keeps running, so that the client can reconnect.
    RunsOn,
}

/// Starts a run, or continues one that waits for the answers in the input, and streams it.
pub(super) async fn run(
    app: &Arc<App>,
    caller: &Caller,
    agent: &str,
    body: &[u8],
    headers: &HeaderMap,
    query: &AgUiQuery,
    leaving: Leaving,
) -> Result<Response, ApiError> {
    let input = RunInput::decode(body).map_err(|error| ApiError::invalid(error.to_string()))?;
    let model = thread::model(app, caller, agent, input.model.as_deref()).await?;
    let leaving = match input.continue_alone {
        Some(true) => Leaving::RunsOn,
        Some(false) => Leaving::Stops,
        None => leaving,
    };
    let chat = threads::find_or_make(app, caller, &input.thread_id).await?;
    let state = thread::state(app, &chat, input.state.clone()).await?;
    let thread_id = input.thread_id.clone();
    let run_id = input.run_id.clone();
    let client_run = ClientRun {
        thread_id,
        run_id,
        version: input.version,
        sub_agents: query.sub_agents(),
        state,
    };
    if let Some(on) = go_on(app, &chat, &input, &client_run).await? {
        let files = RunFiles::new(app, on.run, headers, Contents::Linked);
        return Ok(stream(
            app, files, on.run, on.after, on.encoder, on.opening, leaving,
        ));
    }
    app.commands.stop_in(chat.id).await?;
    let run = thread::start(app, caller, chat, &input, model).await?;
    let files = RunFiles::new(app, run, headers, Contents::Linked);
    Ok(stream(
        app,
        files,
        run,
        0,
        AgUiEncoder::new(client_run),
        Vec::new(),
        leaving,
    ))
}

/// Streams `opening`, then the run's events after `after`.
pub(super) fn stream(
    app: &Arc<App>,
    files: RunFiles,
    run: RunId,
    after: u64,
    encoder: AgUiEncoder,
    opening: Vec<Frame>,
    leaving: Leaving,
) -> Response {
    let guard = (leaving == Leaving::Stops).then(|| StopsWhenDropped::new(&app.commands, run));
    from_run(
        run,
        pausing(
            app.runs.read(run, after),
            encoder,
            Some(files),
            opening,
            guard,
        ),
    )
}
