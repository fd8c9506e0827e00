//! Logs of runs that the server performs without an agent, such as learning in the background.

use std::sync::{Arc, PoisonError};

use agent::{ApprovalPolicy, Emitter};
use domain::{EventBody, Outcome, Problem, ProblemCode, RunId, Usage};
use store::Principal;
use tokio::{sync::oneshot, task::JoinHandle};

use crate::{
    ActivityState, LiveRun, LogSoFar, Runs,
    live::About,
    recorder::{self, GivenUp},
};

/// Maximum number of events that the work may run ahead of its log.
const CAPACITY: usize = 16;

/// An open log. If dropped before it is finished, it ends as interrupted.
#[derive(Debug)]
pub struct ServerLog {
    emitter: Emitter,
    end: oneshot::Sender<EventBody>,
    kept: JoinHandle<()>,
}

impl Runs {
    /// Records the log of a run whose row is in the database, and publishes it like any other.
    pub async fn keep_log(
        &self,
        run: RunId,
        principal: Principal,
        started: EventBody,
    ) -> ServerLog {
        let before = LogSoFar::default();
        self.0.usage.run_begins(run, 0);
        let about = About {
            run,
            principal,
            chat: None,
            title: String::new(),
            consents: ApprovalPolicy::default(),
        };
        let live = Arc::new(LiveRun::new(about, false, &before));
        self.lock().insert(run, Arc::clone(&live));
        self.0.announce(&live, ActivityState::Running);
        let (emitter, events) = Emitter::channel(CAPACITY);
        emitter.emit(started).await;
        let (end, ended) = oneshot::channel();
        let runs = self.clone();
        let ours = emitter.clone();
        let kept = self.0.tasks.spawn(async move {
            let write = async {
                let end = tokio::select! {
                    end = ended => end.unwrap_or_else(|_| interrupted()),
                    () = runs.0.shutdown.cancelled() => interrupted(),
                };
                ours.close(Outcome::Failed, "It ended before this was done.")
                    .await;
                ours.emit(end).await;
                drop(ours);
            };
            let ((), kept) = tokio::join!(write, recorder::record(&runs.0, &live, events, before));
            runs.0
                .live
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(&run);
            live.close();
            if let Err(GivenUp) = kept {
                runs.0.given_up.push(run);
            }
            if live.has_ended() {
                runs.0.announce(&live, ActivityState::Finished);
                runs.0.tell_end(run);
            }
        });
        ServerLog { emitter, end, kept }
    }
}

impl ServerLog {
    /// Records an event.
    pub async fn emit(&self, body: EventBody) {
        self.emitter.emit(body).await;
    }

    /// Ends the log and waits until it is stored.
    pub async fn finish(
        self,
        outcome: Outcome,
        problem: Option<Problem>,
        usage: Usage,
        cost_micro_usd: Option<u64>,
    ) {
        let Self { emitter, end, kept } = self;
        drop(emitter);
        // If the server is stopping, the log has ended already.
        let _ = end.send(EventBody::RunFinished {
            outcome,
            problem,
            usage,
            cost_micro_usd,
        });
        drop(kept.await);
    }
}

fn interrupted() -> EventBody {
    let problem = Some(Problem::new(
        ProblemCode::Interrupted,
        agent::messages::Runs::Interrupted,
    ));
    EventBody::RunFinished {
        outcome: Outcome::Failed,
        problem,
        usage: Usage::default(),
        cost_micro_usd: None,
    }
}
