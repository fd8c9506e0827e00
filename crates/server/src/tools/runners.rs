//! Runners that execute the programs of agents: their leases of calls, the files and results of these, and what they can run.

mod status;

use std::{
    collections::{HashSet, VecDeque},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use agent::{
    Agents, Programs, RunnerQueue, RunnerSettings, RunnerSignals, ToolFailure,
    workspace::{FileProblem, Path},
};
use runner_protocol::{
    Ask, Beat, BeatReply, Call, CallResult, Outcome, Output, Program, ResultReply, Sha256, Unfit,
    Work, is_secret,
};
use sandbox::Limits;
use store::{LeasedProgramCall, ProgramFileStored, Store, StoreError};
use tokio::time::{Instant, sleep, sleep_until};
use tokio_util::sync::CancellationToken;

use crate::tools::{programs::ProgramsHere, workspaces::ChatFiles};
pub(crate) use status::RunnersStatus;

/// How long a lease holds without a beat.
const LEASE: Duration = Duration::from_secs(15);
/// How long the request for a call waits for one.
const ASK: Duration = Duration::from_secs(20);
/// How often it is looked for calls that other servers have queued.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// Calls whose manifests are kept in memory, since each file is asked for by itself.
const MAX_CALLS: usize = 64;

/// Why a request of a runner is refused.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RunnerError {
    /// The message is not one that a runner may send.
    #[error(transparent)]
    Unfit(#[from] Unfit),
    /// The same, with another reason.
    #[error("{0}")]
    Wrong(&'static str),
    /// The call is over, or another runner has it.
    #[error("the lease has ended")]
    NoLease,
    /// There is no such content.
    #[error("there is no such content in this call")]
    Missing,
    /// The contents of the call take too much space.
    #[error("the files of the call are too large")]
    TooMuch,
    #[error(transparent)]
    Store(#[from] StoreError),
    #[error(transparent)]
    Files(#[from] FileProblem),
}

/// The service for runners.
pub(crate) struct Runners {
    agents: Arc<Agents>,
    chat_files: Arc<ChatFiles>,
    draining: CancellationToken,
    limits: Limits,
    programs: Arc<ProgramsHere>,
    queue: RunnerQueue,
    signals: RunnerSignals,
    store: Store,
    status: Mutex<RunnersStatus>,
    calls: Mutex<VecDeque<(String, Arc<LeasedCall>)>>,
}

/// A leased call, read.
struct LeasedCall {
    row: LeasedProgramCall,
    work: Work,
}

impl std::fmt::Debug for Runners {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Runners").finish_non_exhaustive()
    }
}

impl Runners {
    pub(crate) fn new(
        agents: Arc<Agents>,
        chat_files: Arc<ChatFiles>,
        programs: Arc<ProgramsHere>,
        settings: RunnerSettings,
    ) -> Self {
        let signals = RunnerSignals::default();
        let limits = settings.limits.clone();
        let draining = settings.stopping.clone();
        Self {
            agents,
            draining,
            limits,
            programs,
            queue: RunnerQueue::new(settings, signals.clone()),
            signals,
            store: chat_files.store.clone(),
            chat_files,
            status: Mutex::default(),
            calls: Mutex::default(),
        }
    }

    /// Notes that a runner is there, and renews its leases.
    pub(crate) async fn beat(&self, beat: &Beat) -> Result<BeatReply, RunnerError> {
        beat.check()?;
        let about = serde_json::to_string(&beat.about).map_err(corrupt)?;
        self.store
            .note_runner(&beat.runner, &beat.name, &about, beat.draining)
            .await?;
        let held = self
            .store
            .renew_program_leases(&beat.runner, &beat.leases, LEASE)
            .await?;
        let held: HashSet<&String> = held.iter().collect();
        let ended = beat.leases.iter().filter(|lease| !held.contains(lease));
        Ok(BeatReply {
            ended: ended.cloned().collect(),
        })
    }

    /// Leases a call; waits for one for a while.
    pub(crate) async fn lease(&self, ask: &Ask) -> Result<Option<Call>, RunnerError> {
        if !is_secret(&ask.runner) || !is_secret(&ask.lease) {
            return Err(RunnerError::Wrong("the ID of a runner or lease is no ID"));
        }
        if ask.last {
            let row = self.store.leased_program_call(&ask.lease).await?;
            return row.map(as_call).transpose();
        }
        let deadline = Instant::now() + ASK;
        // The first look also finds what was leased to this request when it was sent before.
        let mut look = true;
        loop {
            let mut queued = std::pin::pin!(self.signals.queued.notified());
            queued.as_mut().enable();
            if look || self.store.has_waiting_program_calls().await? {
                let leased = self
                    .store
                    .lease_program_call(&ask.runner, &ask.lease, LEASE);
                if let Some(row) = leased.await? {
                    return as_call(row).map(Some);
                }
            }
            look = false;
            tokio::select! {
                () = queued => {}
                () = sleep(LOOK_AGAIN) => {}
                () = sleep_until(deadline) => return Ok(None),
                () = self.draining.cancelled() => return Ok(None),
            }
        }
    }

    /// The content of a file of a call.
    pub(crate) async fn content(
        &self,
        lease: &str,
        sha256: Sha256,
    ) -> Result<Vec<u8>, RunnerError> {
        let call = self.call(lease).await?;
        let LeasedProgramCall {
            workspace,
            directory,
            owner,
            ..
        } = &call.row;
        let files = self
            .chat_files
            .workspace(*owner, workspace.clone(), directory.as_deref())
            .await?;
        let is_it = |content: &[u8]| Sha256::of(content) == sha256;
        for file in call.work.files.iter().filter(|it| it.sha256 == sha256) {
            let path = Path::parse_file(&format!("/{}", file.path))?;
            match files.peek(&path).await {
                Ok(content) if is_it(&content) => return Ok(content),
                Ok(_) | Err(FileProblem::Missing(_)) => {}
                Err(problem) => return Err(problem.into()),
            }
            // It was changed since the call was queued.
            if directory.is_none() {
                let before = self
                    .store
                    .read_file_version(workspace, path.as_str(), file.version)
                    .await?;
                if let Some(before) = before.filter(|before| is_it(&before.content)) {
                    return Ok(before.content);
                }
            }
        }
        Err(RunnerError::Missing)
    }

    /// Stores the content of a file that a program has changed.
    pub(crate) async fn store_content(
        &self,
        lease: &str,
        sha256: Sha256,
        content: &[u8],
    ) -> Result<(), RunnerError> {
        if Sha256::of(content) != sha256 {
            return Err(RunnerError::Wrong("the content has another hash"));
        }
        if !is_secret(lease) {
            return Err(RunnerError::NoLease);
        }
        let limit_bytes = self.limits.folder_bytes;
        let stored = self
            .store
            .put_program_file(lease, &sha256.to_string(), content, limit_bytes)
            .await?;
        match stored {
            ProgramFileStored::Stored => Ok(()),
            ProgramFileStored::NoLease => Err(RunnerError::NoLease),
            ProgramFileStored::TooMuch => Err(RunnerError::TooMuch),
        }
    }

    /// Shows output of a program.
    pub(crate) async fn print(&self, lease: &str, output: &Output) -> Result<(), RunnerError> {
        output.check()?;
        if output.from > runner_protocol::MAX_OUTPUT_BYTES as u64 {
            return Err(RunnerError::TooMuch);
        }
        let added = self
            .store
            .add_program_output(lease, output.from, &output.text)
            .await?;
        match added {
            true => {
                self.signals.news.notify_waiters();
                Ok(())
            }
            false => Err(RunnerError::NoLease),
        }
    }

    /// Takes the result of a call, if all contents are stored; otherwise returns those that are missing.
    pub(crate) async fn finish(
        &self,
        lease: &str,
        result: &CallResult,
    ) -> Result<ResultReply, RunnerError> {
        let text = serde_json::to_string(result).map_err(corrupt)?;
        let call = match self.call(lease).await {
            Ok(call) => call,
            // The runner did not get the answer to this result.
            Err(RunnerError::NoLease) => {
                return match self.store.finish_program_call(lease, &text).await? {
                    true => Ok(ResultReply::default()),
                    false => Err(RunnerError::NoLease),
                };
            }
            Err(error) => return Err(error),
        };
        let Work {
            program,
            limits,
            max_file_bytes,
            ..
        } = &call.work;
        result.check(limits.output_bytes, *max_file_bytes)?;
        match (program, &result.outcome) {
            (_, Outcome::Failed(_))
            | (Program::Script { .. }, Outcome::Script(_))
            | (Program::Cell { .. }, Outcome::Cell { .. }) => {}
            _ => return Err(RunnerError::Wrong("the result is of another program")),
        }
        let missing = self.missing(lease, result).await?;
        if !missing.is_empty() {
            return Ok(ResultReply { missing });
        }
        if !self.store.finish_program_call(lease, &text).await? {
            return Err(RunnerError::NoLease);
        }
        self.calls().retain(|(held, _)| held != lease);
        self.signals.news.notify_waiters();
        Ok(ResultReply::default())
    }

    async fn missing(&self, lease: &str, result: &CallResult) -> Result<Vec<Sha256>, RunnerError> {
        let stored = self.store.program_files(lease).await?;
        let mut missing = Vec::new();
        for file in &result.changed {
            let hash = file.sha256.to_string();
            match stored.iter().find(|(stored, _)| *stored == hash) {
                Some((_, bytes)) if *bytes == file.size_bytes => {}
                Some(_) => return Err(RunnerError::Wrong("a file has another size")),
                None if missing.contains(&file.sha256) => {}
                None => missing.push(file.sha256),
            }
        }
        Ok(missing)
    }

    /// The call of a lease that holds.
    async fn call(&self, lease: &str) -> Result<Arc<LeasedCall>, RunnerError> {
        if !is_secret(lease) {
            return Err(RunnerError::NoLease);
        }
        let known = self
            .calls()
            .iter()
            .find(|(held, _)| held == lease)
            .map(|(_, call)| Arc::clone(call));
        if let Some(call) = known {
            return match self.store.holds_program_lease(lease).await? {
                true => Ok(call),
                false => Err(RunnerError::NoLease),
            };
        }
        let row = self.store.leased_program_call(lease).await?;
        let row = row.ok_or(RunnerError::NoLease)?;
        let work = serde_json::from_str(&row.work).map_err(corrupt)?;
        let call = Arc::new(LeasedCall {
            row: LeasedProgramCall {
                work: String::new(),
                ..row
            },
            work,
        });
        let mut calls = self.calls();
        if calls.len() == MAX_CALLS {
            calls.pop_front();
        }
        calls.push_back((lease.to_owned(), Arc::clone(&call)));
        Ok(call)
    }

    fn calls(&self) -> std::sync::MutexGuard<'_, VecDeque<(String, Arc<LeasedCall>)>> {
        self.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The agents with the tools that runners have.
    fn equip(&self, found: sandbox::Programs) -> Result<(Programs, Agents), ToolFailure> {
        let programs = Programs::on_runners(self.queue.clone(), found);
        let agents = programs.equip(&self.agents)?;
        Ok((programs, agents))
    }
}

fn as_call(row: LeasedProgramCall) -> Result<Call, RunnerError> {
    Ok(Call {
        workspace: row.workspace,
        turn: row.turn,
        work: serde_json::from_str(&row.work).map_err(corrupt)?,
    })
}

fn corrupt(error: serde_json::Error) -> StoreError {
    StoreError::Corrupt(error.to_string())
}
