//! Sends an agent's events to the log recorder over a bounded channel.

use std::sync::{
    Arc, Mutex, PoisonError, Weak,
    atomic::{AtomicBool, Ordering},
};

use domain::{AgentPath, EventBody, MainStep, OpenItems, Outcome};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::cited::SourceNumbers;

/// An event on its way to the log, not yet numbered.
#[derive(Debug)]
pub struct Emitted {
    /// The agent that emitted it.
    pub agent: AgentPath,
    /// The event itself.
    pub body: EventBody,
    /// Notified once the event is stored.
    pub stored: Option<oneshot::Sender<()>>,
    /// Debugging data that goes with the event. It is never stored.
    pub detail: Option<Arc<Value>>,
}

/// One agent's sending end of the channel. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Emitter {
    agent: AgentPath,
    shared: Arc<Shared>,
}

/// The main agent's emitter as long as the run works: it does not keep the channel open.
#[derive(Debug, Clone, Default)]
pub(crate) struct WeakEmitter(Weak<Shared>);

impl WeakEmitter {
    /// The emitter, unless the run has stopped working.
    pub(crate) fn upgrade(&self) -> Option<Emitter> {
        Some(Emitter {
            agent: AgentPath::main(),
            shared: self.0.upgrade()?,
        })
    }
}

#[derive(Debug)]
struct Shared {
    events: mpsc::Sender<Emitted>,
    /// The items that would have to be closed on an abrupt end. Never locked across an await.
    open: Mutex<OpenItems>,
    answered: AtomicBool,
    /// The sources in the log.
    sources: Mutex<SourceNumbers>,
}

impl Emitter {
    /// The main agent's emitter, and the receiver. `capacity` limits how many events the agent may be ahead of the log.
    #[must_use]
    pub fn channel(capacity: usize) -> (Self, mpsc::Receiver<Emitted>) {
        let (events, receiver) = mpsc::channel(capacity);
        let shared = Shared {
            events,
            open: Mutex::default(),
            answered: AtomicBool::new(false),
            sources: Mutex::default(),
        };
        let shared = Arc::new(shared);
        (
            Self {
                agent: AgentPath::main(),
                shared,
            },
            receiver,
        )
    }

    /// The agent whose events these are.
    #[must_use]
    pub fn agent(&self) -> &AgentPath {
        &self.agent
    }

    /// The same channel for another agent of the run.
    #[must_use]
    pub fn for_agent(&self, agent: AgentPath) -> Self {
        Self {
            agent,
            shared: Arc::clone(&self.shared),
        }
    }

    pub(crate) fn downgrade(&self) -> WeakEmitter {
        WeakEmitter(Arc::downgrade(&self.shared))
    }

    /// The main agent's current step.
    pub(crate) fn main_step(&self) -> MainStep {
        self.open_items(|open| open.main_step())
    }

    /// Sends an event; waits only while the channel is full.
    pub async fn emit(&self, body: EventBody) {
        self.send(self.agent.clone(), body, None).await;
    }

    /// Emits an event with debugging data.
    pub(crate) async fn emit_with(&self, body: EventBody, detail: Value) {
        if let Ok(place) = self.shared.events.reserve().await {
            self.open_items(|open| open.push(&self.agent, &body));
            place.send(Emitted {
                agent: self.agent.clone(),
                body,
                stored: None,
                detail: Some(Arc::new(detail)),
            });
        }
    }

    /// Ends an item with its full text, which is moved into the event so that a long answer is not held twice.
    pub(crate) async fn finish_written(
        &self,
        item: &str,
        finish: impl FnOnce(String) -> EventBody,
    ) {
        // Reserve capacity first, so that a caller dropped while waiting has not taken anything.
        if let Ok(place) = self.shared.events.reserve().await {
            let body = self.open_items(|open| {
                let body = finish(open.take_text(item));
                open.push(&self.agent, &body);
                body
            });
            self.send_to(place, self.agent.clone(), body, None);
        }
    }

    /// The text written so far of an open item.
    pub(crate) fn with_written<T>(&self, item: &str, use_it: impl FnOnce(&str) -> T) -> T {
        self.open_items(|open| use_it(open.text(item)))
    }

    /// Hides the agent's status line, if it shows one.
    pub async fn hide_status(&self) {
        if let Some(hidden) = self.open_items(|open| open.hide_status(&self.agent)) {
            self.emit(hidden).await;
        }
    }

    /// Emits an event and waits until it is stored.
    pub async fn emit_stored(&self, body: EventBody) {
        // The log is closed: work that depends on the stored event must not happen. The run is about to be dropped.
        if !self.try_emit_stored(body).await {
            std::future::pending::<()>().await;
        }
    }

    /// Emits an event and waits until it is stored. `false` if the log is closed.
    pub(crate) async fn try_emit_stored(&self, body: EventBody) -> bool {
        let (stored, done) = oneshot::channel();
        self.send(self.agent.clone(), body, Some(stored)).await;
        done.await.is_ok()
    }

    /// Continues a log that has these open items and first gets these events, which close some of them.
    pub(crate) async fn take_over(&self, open: OpenItems, events: Vec<(AgentPath, EventBody)>) {
        self.open_items(|ours| *ours = open);
        for (agent, body) in events {
            self.send(agent, body, None).await;
        }
    }

    /// Closes everything that this agent and its sub-agents have left open, including the sub-agents themselves.
    pub async fn close(&self, outcome: Outcome, reason: &str) {
        // One at a time, reserving capacity first, so that a caller dropped while waiting has closed nothing without
        // emitting it.
        while let Ok(place) = self.shared.events.reserve().await {
            let closing = self.open_items(|open| open.close_last(&self.agent, outcome, reason));
            let Some((agent, body)) = closing else { return };
            self.send_to(place, agent, body, None);
        }
    }

    /// Closes everything that the run's work has left open, but not what follows the work.
    pub(crate) async fn close_work(&self, outcome: Outcome, reason: &str) {
        let closing = self.open_items(|open| open.close_work(outcome, reason));
        for (agent, body) in closing {
            self.send(agent, body, None).await;
        }
    }

    /// Calls the function with the numbers of the run's sources.
    pub(crate) fn with_source_numbers<T>(
        &self,
        use_them: impl FnOnce(&mut SourceNumbers) -> T,
    ) -> T {
        use_them(
            &mut self
                .shared
                .sources
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }

    /// Whether the main agent has written an answer, or the beginning of an interrupted one.
    pub(crate) fn has_answered(&self) -> bool {
        self.shared.answered.load(Ordering::Relaxed)
    }

    async fn send(&self, agent: AgentPath, body: EventBody, stored: Option<oneshot::Sender<()>>) {
        // Reserve capacity first, so that a caller dropped while waiting has recorded nothing.
        if let Ok(place) = self.shared.events.reserve().await {
            self.open_items(|open| open.push(&agent, &body));
            if let EventBody::SourcesFound { sources } = &body {
                self.with_source_numbers(|numbers| {
                    numbers.know(sources.iter().map(|source| &*source.id))
                });
            }
            self.send_to(place, agent, body, stored);
        }
    }

    fn send_to(
        &self,
        place: mpsc::Permit<'_, Emitted>,
        agent: AgentPath,
        body: EventBody,
        stored: Option<oneshot::Sender<()>>,
    ) {
        let is_answer =
            matches!(&body, EventBody::TextFinished { text, answer: true, .. } if !text.is_empty());
        if is_answer && agent.is_main() {
            self.shared.answered.store(true, Ordering::Relaxed);
        }
        place.send(Emitted {
            agent,
            body,
            stored,
            detail: None,
        });
    }

    fn open_items<T>(&self, use_them: impl FnOnce(&mut OpenItems) -> T) -> T {
        use_them(
            &mut self
                .shared
                .open
                .lock()
                .unwrap_or_else(PoisonError::into_inner),
        )
    }
}
