//! What people write to a run while it goes: the inputs that no agent has read yet. They are in the log before they are
//! accepted, and an agent reads them before one of its steps.

use std::{
    collections::HashSet,
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use domain::{
    EventBody, Outcome, UserId,
    event::{InputMode, ReceivedInput},
};
use tokio::sync::Notify;

use crate::{AgentStops, Emitter, Journal, emitter::WeakEmitter, messages};

/// Maximum number of unread inputs of a run.
const MAX_UNREAD: usize = 100;

/// The result of calls that a person has interrupted.
pub(crate) const INTERRUPTED: &str = "The person interrupted this.";

/// Why an input was not accepted, or not removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The run has ended.
    #[error("{}", messages::Inputs::RunHasEnded)]
    Ended,
    /// The run does not work at the moment: it is starting or hibernated.
    #[error("{}", messages::Inputs::RunNotWorking)]
    NotWorking,
    /// Too many inputs are unread.
    #[error("{}", messages::Inputs::TooManyInputs { count: *count })]
    TooMany {
        /// How many.
        count: u64,
    },
    /// There is no input with this id.
    #[error("{}", messages::Inputs::NoSuchInput)]
    Unknown,
    /// An agent has read it, or it was removed.
    #[error("{}", messages::Inputs::InputWasRead)]
    Read,
}

/// The inputs of one run, shared by the run and by those who deliver them.
#[derive(Debug, Clone, Default)]
pub struct RunInputs(Arc<Shared>);

#[derive(Debug, Default)]
struct Shared {
    /// Held while an event about inputs is stored, so that inputs have one order and none is logged after the end.
    logging: tokio::sync::Mutex<()>,
    state: Mutex<State>,
    /// Notified when the state has changed.
    changed: Notify,
}

#[derive(Debug, Default)]
struct State {
    emitter: WeakEmitter,
    /// Oldest first.
    unread: Vec<ReceivedInput>,
    /// The ids of all inputs.
    received: HashSet<String>,
    /// Whether the current step can be interrupted, because the run can continue from its log.
    can_interrupt: bool,
    /// The step was interrupted: the run has stopped working and continues from its log.
    was_interrupted: bool,
    ended: bool,
}

impl RunInputs {
    /// Logs an input. Repeated with the same id, it is one input.
    ///
    /// # Errors
    /// If the run is not working or has ended, or too many inputs are unread.
    pub async fn receive(&self, input: ReceivedInput) -> Result<(), InputError> {
        let _logging = self.0.logging.lock().await;
        let emitter = {
            let state = self.lock();
            if state.received.contains(&input.input_id) {
                return Ok(());
            }
            let emitter = state.emitter()?;
            if state.unread.len() >= MAX_UNREAD {
                return Err(InputError::TooMany {
                    count: MAX_UNREAD as u64,
                });
            }
            emitter
        };
        let received = EventBody::InputReceived(Box::new(input.clone()));
        if !emitter.try_emit_stored(received).await {
            return Err(InputError::NotWorking);
        }
        let mut state = self.lock();
        state.received.insert(input.input_id.clone());
        state.unread.push(input);
        drop(state);
        self.0.changed.notify_waiters();
        Ok(())
    }

    /// Withdraws an input that no agent has read; if `by` is given, only one of this author.
    ///
    /// # Errors
    /// If there is no such input, it has been read, or the run is not working or has ended.
    pub async fn remove(&self, input_id: &str, by: Option<UserId>) -> Result<(), InputError> {
        let _logging = self.0.logging.lock().await;
        let emitter = {
            let state = self.lock();
            let emitter = state.emitter()?;
            if !state.received.contains(input_id) {
                return Err(InputError::Unknown);
            }
            let mut unread = state.unread.iter();
            let input = unread.find(|input| input.input_id == input_id);
            let input = input.ok_or(InputError::Read)?;
            if by.is_some_and(|author| input.by.id != author) {
                return Err(InputError::Unknown);
            }
            emitter
        };
        let input_id = input_id.to_owned();
        let removed = EventBody::InputRemoved {
            input_id: input_id.clone(),
        };
        if !emitter.try_emit_stored(removed).await {
            return Err(InputError::NotWorking);
        }
        self.lock()
            .unread
            .retain(|input| input.input_id != input_id);
        Ok(())
    }

    /// Whether the run accepts inputs now.
    #[must_use]
    pub fn is_open(&self) -> bool {
        self.lock().emitter().is_ok()
    }

    /// Waits until the run accepts inputs or has ended. That may never happen, so the caller has to limit the wait.
    pub async fn opened(&self) {
        self.until(|state| !matches!(state.emitter(), Err(InputError::NotWorking)))
            .await;
    }

    /// Whether the run has stopped working for an interruption since the last call. It continues from its log.
    #[must_use]
    pub fn take_interruption(&self) -> bool {
        std::mem::take(&mut self.lock().was_interrupted)
    }

    /// Begins to accept inputs. `can_interrupt`: whether the run can continue from its log.
    pub(crate) fn open(&self, emitter: &Emitter, journal: &Journal, can_interrupt: bool) {
        let mut state = self.lock();
        state.emitter = emitter.downgrade();
        state.can_interrupt = can_interrupt;
        (state.unread, state.received) = journal.inputs();
        drop(state);
        self.0.changed.notify_waiters();
    }

    /// Waits until a person wants to interrupt the current step.
    pub(crate) async fn interruption(&self) {
        self.until(|state| {
            let mut unread = state.unread.iter();
            // Before the first step, the input is read for that one.
            let has_begun = || {
                let emitter = state.emitter.upgrade();
                emitter.is_some_and(|emitter| emitter.main_step().number > 0)
            };
            state.can_interrupt
                && unread.any(|input| input.mode == InputMode::Interrupt)
                && has_begun()
        })
        .await;
    }

    /// Ends the main agent's current step, which has been dropped: closes what it has left open and lets the agent read
    /// what is for it.
    pub(crate) async fn end_step(&self, emitter: &Emitter, stops: &AgentStops) {
        emitter.close_work(Outcome::Cancelled, INTERRUPTED).await;
        let step = emitter.main_step();
        // A step without output is repeated.
        let next = step.number + u32::from(step.has_output);
        self.read(emitter, stops, next).await;
        self.lock().was_interrupted = true;
    }

    /// Lets the emitter's agent read the inputs that are for it, before this step. Returns their texts for the model.
    pub(crate) async fn read(
        &self,
        emitter: &Emitter,
        stops: &AgentStops,
        step: u32,
    ) -> Vec<String> {
        if self.lock().unread.is_empty() {
            return Vec::new();
        }
        let _logging = self.0.logging.lock().await;
        let agent = emitter.agent();
        let is_for = |input: &ReceivedInput| match (&input.agent, agent.id()) {
            _ if input.mode == InputMode::Queue => false,
            (Some(addressee), Some(own)) => addressee == own,
            (None, Some(_)) => false,
            (None, None) => true,
            // Of a sub-agent that has ended.
            (Some(addressee), None) => !stops.is_at_work(addressee),
        };
        let mine: Vec<ReceivedInput> = {
            let unread = &self.lock().unread;
            unread
                .iter()
                .filter(|input| is_for(input))
                .cloned()
                .collect()
        };
        let mut texts = Vec::new();
        for input in mine {
            let applied = EventBody::InputApplied {
                input_id: input.input_id.clone(),
                step,
            };
            emitter.emit(applied).await;
            self.lock()
                .unread
                .retain(|unread| unread.input_id != input.input_id);
            texts.push(input.text_for_model());
        }
        texts
    }

    /// Accepts no more inputs, since the log is about to end.
    pub(crate) async fn close(&self) {
        let _logging = self.0.logging.lock().await;
        self.lock().ended = true;
        self.0.changed.notify_waiters();
    }

    async fn until(&self, is_so: impl Fn(&State) -> bool) {
        loop {
            let mut changed = std::pin::pin!(self.0.changed.notified());
            changed.as_mut().enable();
            if is_so(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn emitter(&self) -> Result<Emitter, InputError> {
        if self.ended {
            return Err(InputError::Ended);
        }
        self.emitter.upgrade().ok_or(InputError::NotWorking)
    }
}
