//! Runs that go on in another server on the same database: what a person wants of them is left there for it.

use serde::{Deserialize, Serialize};
use store::Run;

use super::{AnswerApproval, decide, limited, reply};
use crate::{app::App, consents::not_taken, error::ApiError, runs::LiveRun};

/// What a run's server is told.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Command {
    /// Stop it.
    Cancel,
    /// A person has decided on a call.
    Approve { approval: String, decision: AnswerApproval },
    /// A person has answered.
    Answer { question: String, answer: String },
}

impl Command {
    /// What has to be waiting for it; nothing for what can always be said.
    fn waits_for(&self) -> Option<&str> {
        match self {
            Self::Cancel => None,
            Self::Approve { approval: id, .. } | Self::Answer { question: id, .. } => Some(id),
        }
    }
}

/// Leaves it for the server that has the run; it hears of it within a second. A run that is nowhere going, such as one that
/// has ended, hears nothing.
///
/// # Errors
/// 409 where the run does not wait for this.
pub(super) async fn tell(app: &App, run: &Run, command: &Command) -> Result<(), ApiError> {
    let is_going = app.store.is_shared() && run.finished_at.is_none();
    if let Some(id) = command.waits_for() {
        let waits = is_going && app.runs.left_open(run).await?.0.waits_for(id);
        if !waits {
            return Err(not_taken(agent::AskError::NotWaiting));
        }
    }
    if is_going {
        let command = serde_json::to_string(command).map_err(ApiError::internal)?;
        app.store.leave_command(run.id, &command).await?;
    }
    Ok(())
}

/// Does what was left for the runs of this server.
///
/// # Errors
/// Where the database does not answer.
pub(crate) async fn obey_commands(app: &App) -> Result<(), ApiError> {
    for (number, run, command) in app.store.commands_for_us().await? {
        let live = app.runs.live(run);
        if live.is_none() && app.store.run(run).await?.finished_at.is_none() {
            // It is just being taken over.
            continue;
        }
        app.store.forget_command(number).await?;
        let command = serde_json::from_str::<Command>(&command);
        if let (Some(live), Ok(command)) = (live, command)
            && let Err(error) = obey(app, &live, command).await
        {
            // Somebody else was quicker, or edited what the tool does not take: the run waits on, which they see.
            tracing::info!(%run, %error, "what was told by way of another server could not be done");
        }
    }
    Ok(())
}

async fn obey(app: &App, live: &LiveRun, command: Command) -> Result<(), ApiError> {
    match command {
        Command::Cancel => live.cancel.cancel(),
        Command::Approve { approval, decision } => decide(app, live, &approval, decision).await?,
        Command::Answer { question, answer } => {
            reply(live, &question, limited(answer)?).await?;
        }
    }
    Ok(())
}
