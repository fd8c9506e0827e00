//! Programs on runners: a call is a row in the database, which a runner leases. The server that asked waits for the result,
//! and applies it to the chat's files; if it stops, the one that continues the run does so.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use runner_protocol::{CallResult, Outcome, Program, Work};
use sandbox::Limits;
use store::{NewProgramCall, ProgramCallState};
use tokio::{
    sync::{Mutex as AsyncMutex, Notify},
    time::Instant,
};
use tokio_util::sync::CancellationToken;

use super::{
    known_files::{KnownFiles, manifest},
    result::{Applying, apply, told_before},
    turn::{COPYING, Turn, refused},
    waiting::{Ended, Waiting},
};
use crate::{ToolFailure, calls::IN_DOUBT, tool::ToolContext, workspace::BYTES_LIMIT};

/// The hashes of the files of a chat that was idle this long are forgotten.
const IDLE: Duration = Duration::from_secs(20 * 60);

/// The queue of calls for runners. Cheap to clone.
#[derive(Debug, Clone)]
pub struct RunnerQueue(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    settings: RunnerSettings,
    signals: RunnerSignals,
    chats: Mutex<HashMap<String, Slot>>,
}

/// The settings of calls for runners.
#[derive(Debug, Clone)]
pub struct RunnerSettings {
    /// The limits of each program.
    pub limits: Limits,
    /// How long a call waits for a runner.
    pub wait: Duration,
    /// Cancelled when this server stops: another one continues the calls.
    pub stopping: CancellationToken,
}

/// Wakes those who wait at this server, so that they look at once and not at the next interval.
#[derive(Debug, Clone, Default)]
pub struct RunnerSignals {
    /// A call was queued.
    pub queued: Arc<Notify>,
    /// There is news of a call.
    pub news: Arc<Notify>,
}

/// What is known of a chat. Its programs run one at a time.
#[derive(Debug)]
struct Slot {
    files: Arc<AsyncMutex<KnownFiles>>,
    entered: Instant,
}

impl RunnerQueue {
    /// A queue with these settings.
    #[must_use]
    pub fn new(settings: RunnerSettings, signals: RunnerSignals) -> Self {
        Self(Arc::new(Inner {
            settings,
            signals,
            chats: Mutex::default(),
        }))
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.0.settings.limits
    }

    /// Runs a shell script, like [`super::Programs::run_script`].
    pub(super) async fn run_script(
        &self,
        context: &ToolContext,
        script: &str,
        variables: &[(&str, &str)],
    ) -> Result<(sandbox::Outcome, Vec<String>), ToolFailure> {
        let owned = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        let program = Program::Script {
            script: script.to_owned(),
            variables: variables.iter().map(owned).collect(),
        };
        match self.run(context, program).await? {
            (Outcome::Script(outcome), lines) => Ok((outcome, lines)),
            (other, _) => Err(failed(other)),
        }
    }

    /// Runs a piece of Python, like [`super::Programs::run_cell`].
    pub(super) async fn run_cell(
        &self,
        context: &ToolContext,
        code: &str,
        restart: bool,
    ) -> Result<(bool, sandbox::Cell, Vec<String>), ToolFailure> {
        let program = Program::Cell {
            code: code.to_owned(),
            restart,
        };
        match self.run(context, program).await? {
            (Outcome::Cell { started, cell }, lines) => Ok((started, cell, lines)),
            (other, _) => Err(failed(other)),
        }
    }

    /// Runs a program on a runner, or waits for the one that an earlier server has queued for this call.
    async fn run(
        &self,
        context: &ToolContext,
        program: Program,
    ) -> Result<(Outcome, Vec<String>), ToolFailure> {
        let run = &context.agent.run;
        // The run must not be hibernated while it waits for a runner.
        let _at_work = run.begin_work().await;
        let _busy = run.active_time.busy();
        let workspace = context.workspace();
        let files = self.files(workspace.name());
        let mut known = files.lock().await;
        let _turn = Turn::begin(workspace, self.longest()).await?;
        if !context.is_continued {
            self.queue(context, program, &mut known).await?;
        } else if !self.is_queued(context).await? {
            // The server stopped before it was queued, or while it ran on the server's own machine.
            return Err(ToolFailure(IN_DOUBT.to_owned()));
        }
        let waiting = Waiting {
            context,
            wait: self.0.settings.wait,
            longest: self.longest(),
            news: &self.0.signals.news,
            stopping: &self.0.settings.stopping,
        };
        let Ended {
            state,
            lease,
            work,
            result,
            lines,
        } = waiting.until_ended().await?;
        let work: Work = read(&work)?;
        let result: CallResult = read(&result)?;
        if state == ProgramCallState::Taken {
            return Ok((result.outcome, told_before(&lines)));
        }
        let applying = Applying {
            context,
            lease: &lease,
            work: &work,
        };
        apply(&applying, result, &mut known).await
    }

    async fn is_queued(&self, context: &ToolContext) -> Result<bool, ToolFailure> {
        let store = context.workspace().store();
        let run = context.agent.run.deps.trace.run;
        let call = store.program_call(run, &context.call, 0).await;
        Ok(call.map_err(refused)?.is_some())
    }

    async fn queue(
        &self,
        context: &ToolContext,
        program: Program,
        known: &mut KnownFiles,
    ) -> Result<(), ToolFailure> {
        let workspace = context.workspace();
        let (files, left_out) = manifest(workspace, known).await?;
        let work = Work {
            program,
            files,
            limits: self.0.settings.limits.clone(),
            max_file_bytes: BYTES_LIMIT as u64,
            left_out,
        };
        let work = serde_json::to_string(&work).map_err(|error| unreadable(&error))?;
        let directory = workspace.directory()?;
        let call = NewProgramCall {
            run: context.agent.run.deps.trace.run,
            call: &context.call,
            workspace: workspace.name(),
            directory: directory.map(|directory| directory.name()),
            work: &work,
        };
        let queued = workspace.store().queue_program_call(&call).await;
        queued.map_err(refused)?;
        self.0.signals.queued.notify_waiters();
        Ok(())
    }

    /// How long a call may take.
    fn longest(&self) -> Duration {
        let settings = &self.0.settings;
        let limits = &settings.limits;
        let runs = limits.wall_ms.saturating_add(limits.interrupt_grace_ms);
        settings.wait + Duration::from_millis(runs) + COPYING
    }

    fn files(&self, name: &str) -> Arc<AsyncMutex<KnownFiles>> {
        let entered = Instant::now();
        let mut chats = self.chats();
        let slot = chats.entry(name.to_owned()).or_insert_with(|| Slot {
            files: Arc::default(),
            entered,
        });
        slot.entered = entered;
        Arc::clone(&slot.files)
    }

    /// Forgets the hashes of idle chats.
    pub(super) fn sweep(&self) {
        self.chats()
            .retain(|_, slot| Arc::strong_count(&slot.files) > 1 || slot.entered.elapsed() < IDLE);
    }

    /// Forgets a deleted chat.
    pub(super) fn forget(&self, name: &str) {
        self.chats().remove(name);
    }

    fn chats(&self) -> std::sync::MutexGuard<'_, HashMap<String, Slot>> {
        self.0.chats.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn read<T: serde::de::DeserializeOwned>(text: &str) -> Result<T, ToolFailure> {
    serde_json::from_str(text).map_err(|error| unreadable(&error))
}

fn unreadable(error: &serde_json::Error) -> ToolFailure {
    ToolFailure(format!("The program's call cannot be read: {error}."))
}

fn failed(outcome: Outcome) -> ToolFailure {
    ToolFailure(match outcome {
        Outcome::Failed(why) => why,
        Outcome::Script(_) | Outcome::Cell { .. } => {
            "The runner gave the result of another program.".to_owned()
        }
    })
}
