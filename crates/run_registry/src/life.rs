//! The lifecycle of one run in this process: alternates between work and hibernation, and continues from its log after
//! an interruption.

use std::{
    sync::{Arc, PoisonError},
    time::Duration,
};

use agent::{Emitted, Emitter, StopSignals};
use store::StoreError;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use crate::{
    ActivityState, Inner, LiveRun, Resume,
    recorder::{self, GivenUp},
    run_log,
};

/// How far an agent may run ahead of its log, events.
const EMITTER_CAPACITY: usize = 256;
/// The pause before reading a log again after a failure: first and maximum.
const FIRST_PAUSE: Duration = Duration::from_millis(100);
const MAX_PAUSE: Duration = Duration::from_secs(5);

/// Runs one run until it or the lease ends, with hibernation in between. State needed only for working or waking up is
/// boxed, as ten thousand of these may be hibernated.
pub(crate) async fn live_through(
    runs: Arc<Inner>,
    live: Arc<LiveRun>,
    lease: CancellationToken,
    mut log: Box<Resume>,
) {
    let mut given_up = false;
    loop {
        if let Err(GivenUp) = Box::pin(work(&runs, &live, &lease, log)).await {
            given_up = true;
            break;
        }
        let is_interrupted = live.inputs.take_interruption();
        if live.has_ended() || !is_interrupted && !live.pending_input.rests() {
            break;
        }
        live.pending_input.is_dropped();
        live.forget_tail();
        let next = tokio::select! {
            // A run that is handed over has no one to wake it.
            biased;
            () = runs.draining.cancelled() => None,
            () = lease.cancelled() => None,
            next = wake(&runs, &live, is_interrupted) => next,
        };
        let Some(next) = next else { break };
        log = next;
    }
    runs.live
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .remove(&live.id);
    if runs.draining.is_cancelled() && !live.has_ended() && !given_up {
        Box::pin(release(&runs, &live)).await;
    }
    live.close();
    if given_up {
        runs.given_up.push(live.id);
    }
    if live.has_ended() {
        runs.announce(&live, ActivityState::Finished);
        runs.tell_end(live.id);
    }
}

/// Releases the run to other servers, whose log here is complete. A run that they have taken over already stays theirs.
async fn release(runs: &Inner, live: &LiveRun) {
    if let Err(error) = runs.store.release_run(live.id).await {
        tracing::warn!(run = %live.id, %error, "failed to release a run; other servers wait until this one has stopped");
    }
}

/// Runs the agent and records its log until the run ends or hibernates.
async fn work(
    runs: &Arc<Inner>,
    live: &Arc<LiveRun>,
    lease: &CancellationToken,
    log: Box<Resume>,
) -> Result<(), GivenUp> {
    match *log {
        Resume::Continue(mut prepared, before) => {
            let (emitter, events) = Emitter::channel(EMITTER_CAPACITY);
            let outlives_server = prepared.spec.outlives_server();
            let hand_over = match outlives_server {
                true => runs.draining.clone(),
                // No other server could continue it.
                false => CancellationToken::new(),
            };
            let stop = StopSignals {
                cancel: live.cancel.clone(),
                finish: live.finish.clone(),
                hand_over,
                shutdown: lease.child_token(),
                agents: live.agents.clone(),
                inputs: live.inputs.clone(),
            };
            live.allow_hibernation(outlives_server.then(|| stop.shutdown.clone()));
            prepared.deps.approval_policy = live.consents.clone();
            let about = run_log::span(live, &prepared);
            about.in_scope(|| run_log::note_research(&prepared));
            let agent = agent::run(*prepared, emitter, live.pending_input.clone(), stop)
                .instrument(about.clone());
            // Two tasks, so that recording an event does not wake the agent.
            let agent = runs.tasks.spawn(agent);
            let recorded = recorder::record(runs, live, events, before)
                .instrument(about)
                .await;
            if recorded.is_err() {
                // No other server may continue the run while this agent is still working. The agent catches its own
                // panics.
                drop(agent.await);
            }
            recorded
        }
        Resume::End(before, mut past, why) => {
            let end = past.end(why);
            let (sender, events) = mpsc::channel(end.len());
            for (agent, body) in end {
                // The channel has room for all of them.
                drop(sender.try_send(Emitted {
                    agent,
                    body,
                    stored: None,
                    detail: None,
                }));
            }
            drop(sender);
            recorder::record(runs, live, events, before).await
        }
    }
}

/// Waits until a hibernated run has to wake up, and reads its log; an interrupted one continues at once. `None` if that
/// is not possible.
async fn wake(runs: &Inner, live: &LiveRun, is_interrupted: bool) -> Option<Box<Resume>> {
    if !is_interrupted {
        live.wanted(&runs.clock).await;
    }
    Box::pin(read(runs, live)).await
}

async fn read(runs: &Inner, live: &LiveRun) -> Option<Box<Resume>> {
    let read_log = runs.hibernation.read_log.get()?;
    let mut pause = FIRST_PAUSE;
    loop {
        let read = async {
            let _turn = runs.hibernation.reading.acquire().await?;
            read_log(live.id).await
        };
        match read.await {
            Ok(log) => {
                live.pending_input.wake(live.waiting().len());
                return Some(Box::new(log));
            }
            // Its chat was deleted on another server.
            Err(error) if error.downcast_ref() == Some(&StoreError::NotFound) => return None,
            Err(error) => {
                tracing::warn!(run = %live.id, %error, "failed to wake a hibernated run; retrying")
            }
        }
        tokio::time::sleep(pause).await;
        pause = (pause * 2).min(MAX_PAUSE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_resting_run_keeps_of_its_life_is_small() {
        // No future is created: its size follows from the function's type.
        fn bytes<F, A, B, C, D>(_: fn(A, B, C, D) -> F) -> usize {
            size_of::<F>()
        }
        let bytes = bytes(live_through);
        assert!(
            bytes <= 640,
            "{bytes} bytes for each of ten thousand runs that rest"
        );
    }
}
