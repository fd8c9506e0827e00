//! Waits for the end of a call that a runner executes, and shows what it prints meanwhile.

use std::time::Duration;

use domain::RunId;
use store::{ProgramCall, ProgramCallState, Store};
use tokio::{
    runtime::Handle,
    sync::Notify,
    time::{Instant, sleep},
};
use tokio_util::sync::CancellationToken;

use super::{
    turn::refused,
    watched::{Printer, tell},
};
use crate::{ToolFailure, tool::ToolContext};

/// How often the state of the call is read when this server does not hear of a change.
const INTERVAL: Duration = Duration::from_millis(200);
/// An expired lease ends the call only after this server has looked for so long: after the server was down, the runner needs a
/// moment to call again.
const PATIENCE: Duration = Duration::from_secs(10);
/// For how long the database may not answer.
const DATABASE_PATIENCE: Duration = Duration::from_secs(60);

const LOST: &str = "The machine that ran this program stopped, so it is not known how far the program came. What it had changed \
    is lost, and so are Python's variables. It was not run again.";
const NO_RUNNER: &str = "No machine that runs programs is connected, so the program was not run. An administrator can start one \
    with “glasshouse runner”.";
const ALL_BUSY: &str = "All machines that run programs were busy for too long, so the program was not run. Try again later.";
const WITHDRAWN: &str = "The program was not run.";

/// A call that a server waits for.
pub(super) struct Waiting<'a> {
    pub(super) context: &'a ToolContext,
    /// How long it may wait for a runner.
    pub(super) wait: Duration,
    /// How long it may take altogether.
    pub(super) longest: Duration,
    pub(super) news: &'a Notify,
    pub(super) stopping: &'a CancellationToken,
}

/// A call that has a result.
pub(super) struct Ended {
    pub(super) state: ProgramCallState,
    pub(super) lease: String,
    pub(super) work: String,
    pub(super) result: String,
    pub(super) lines: String,
}

/// Withdraws the call if dropped, unless the server is stopping.
struct StopGuard {
    store: Store,
    run: RunId,
    call: String,
    stopping: CancellationToken,
    is_over: bool,
}

impl Drop for StopGuard {
    fn drop(&mut self) {
        if self.is_over || self.stopping.is_cancelled() {
            return;
        }
        let Ok(runtime) = Handle::try_current() else {
            return;
        };
        let (store, run, call) = (self.store.clone(), self.run, std::mem::take(&mut self.call));
        runtime.spawn(async move {
            // Otherwise it runs until its end or its limit.
            if let Err(error) = store.stop_program_call(run, &call).await {
                tracing::debug!(%error, "failed to stop a program");
            }
        });
    }
}

impl Waiting<'_> {
    /// Waits until the call has a result.
    pub(super) async fn until_ended(&self) -> Result<Ended, ToolFailure> {
        let store = self.context.workspace().store().clone();
        let mut guard = StopGuard {
            store: store.clone(),
            run: self.context.agent.run.deps.trace.run,
            call: self.context.call.clone(),
            stopping: self.stopping.clone(),
            is_over: false,
        };
        let ended = self.follow(&store).await;
        guard.is_over = true;
        ended
    }

    async fn follow(&self, store: &Store) -> Result<Ended, ToolFailure> {
        let run = self.context.agent.run.deps.trace.run;
        let began = Instant::now();
        let mut answered = began;
        let mut shown = 0;
        // What was printed before is in the log already.
        let mut is_new = !self.context.is_continued;
        let printer = Printer::default();
        loop {
            let news = self.news.notified();
            let mut news = std::pin::pin!(news);
            news.as_mut().enable();
            match store.program_call(run, &self.context.call, shown).await {
                Ok(Some(call)) => {
                    answered = Instant::now();
                    shown += call.output.chars().count() as u64;
                    if is_new {
                        printer.print(&call.output);
                        tell(self.context, &printer).await;
                    }
                    is_new = true;
                    if let Some(ended) = self.look(store, call, began).await? {
                        return Ok(ended);
                    }
                }
                Ok(None) => return Err(ToolFailure(LOST.to_owned())),
                Err(error) if error.may_pass() && answered.elapsed() < DATABASE_PATIENCE => {}
                Err(error) => return Err(refused(error)),
            }
            tokio::select! {
                () = news => {}
                () = sleep(INTERVAL) => {}
            }
        }
    }

    /// What the state of the call means; `None` if it goes on.
    async fn look(
        &self,
        store: &Store,
        call: ProgramCall,
        began: Instant,
    ) -> Result<Option<Ended>, ToolFailure> {
        let run = self.context.agent.run.deps.trace.run;
        let id = &self.context.call;
        match call.state {
            ProgramCallState::Waiting if call.waited_ms >= millis(self.wait) => {
                let withdrawn = store.refuse_program_call(run, id).await;
                if withdrawn.map_err(refused)? {
                    return Err(ToolFailure(self.why_not_run(store).await.to_owned()));
                }
            }
            // A runner that beats but never gives a result.
            ProgramCallState::Leased if call.waited_ms >= millis(self.longest) => {
                store.stop_program_call(run, id).await.map_err(refused)?;
                return Err(ToolFailure(LOST.to_owned()));
            }
            ProgramCallState::Leased if call.is_expired && began.elapsed() >= PATIENCE => {
                store.lose_program_call(run, id).await.map_err(refused)?;
            }
            ProgramCallState::Waiting | ProgramCallState::Leased => {}
            ProgramCallState::Lost => return Err(ToolFailure(LOST.to_owned())),
            ProgramCallState::Refused => return Err(ToolFailure(WITHDRAWN.to_owned())),
            ProgramCallState::Done | ProgramCallState::Taken => {
                return Ok(Some(Ended {
                    state: call.state,
                    lease: call.lease.unwrap_or_default(),
                    work: call.work,
                    result: call.result.unwrap_or_default(),
                    lines: call.lines.unwrap_or_default(),
                }));
            }
        }
        Ok(None)
    }

    async fn why_not_run(&self, store: &Store) -> &'static str {
        match store.runners().await {
            Ok(runners) if runners.iter().any(|runner| runner.is_connected) => ALL_BUSY,
            Ok(_) => NO_RUNNER,
            Err(_) => WITHDRAWN,
        }
    }
}

fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
