//! Sends an agent's events over a bounded channel to the recorder of the log.

use std::sync::{
    Arc, Mutex, PoisonError,
    atomic::{AtomicBool, Ordering},
};

use domain::{AgentPath, EventBody, OpenItems, Outcome};
use serde_json::Value;
use tokio::sync::{mpsc, oneshot};

use crate::cited::SourceNumbers;

/// An event on its way to the log, not yet numbered.
#[derive(Debug)]
pub struct Emitted {
    /// Who did it.
    pub agent: AgentPath,
    /// What happened.
    pub body: EventBody,
    /// Notified once the event is stored.
    pub stored: Option<oneshot::Sender<()>>,
    /// Debugging data that goes with the event. It is never stored.
    pub detail: Option<Arc<Value>>,
}

/// One agent's end of the channel. Cloning is cheap.
#[derive(Debug, Clone)]
pub struct Emitter {
    agent: AgentPath,
    shared: Arc<Shared>,
}

#[derive(Debug)]
struct Shared {
    events: mpsc::Sender<Emitted>,
    /// The items that a sudden end would have to close. Never locked across an await.
    open: Mutex<OpenItems>,
    answered: AtomicBool,
    /// The sources in the log.
    sources: Mutex<SourceNumbers>,
}

impl Emitter {
    /// The main agent's emitter, and the end to read from. `capacity` bounds how far the agent may run ahead
    /// of the log, in events.
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

    /// Hands over an event; waits only while the channel is full.
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

    /// Ends an item with all that was written of it. That is moved into the event: a long answer is not held twice.
    pub(crate) async fn finish_written(
        &self,
        item: &str,
        finish: impl FnOnce(String) -> EventBody,
    ) {
        // The place in the channel comes first: a caller dropped while it waits has taken nothing.
        if let Ok(place) = self.shared.events.reserve().await {
            let body = self.open_items(|open| {
                let body = finish(open.take_text(item));
                open.push(&self.agent, &body);
                body
            });
            self.send_to(place, self.agent.clone(), body, None);
        }
    }

    /// The text so far of an open item.
    pub(crate) fn with_written<T>(&self, item: &str, use_it: impl FnOnce(&str) -> T) -> T {
        self.open_items(|open| use_it(open.text(item)))
    }

    /// Hides the agent's status line, if it shows one.
    pub async fn hide_status(&self) {
        if let Some(hidden) = self.open_items(|open| open.hide_status(&self.agent)) {
            self.emit(hidden).await;
        }
    }

    /// Hands over an event and waits until it is stored.
    pub async fn emit_stored(&self, body: EventBody) {
        // The log is closed: work that depends on the event being stored must not happen. The run is about to be dropped.
        if !self.try_emit_stored(body).await {
            std::future::pending::<()>().await;
        }
    }

    /// Emits an event and waits until it is stored. False if the log is closed.
    pub(crate) async fn try_emit_stored(&self, body: EventBody) -> bool {
        let (stored, done) = oneshot::channel();
        self.send(self.agent.clone(), body, Some(stored)).await;
        done.await.is_ok()
    }

    /// Continues a log that has these items open and gets these events first; the items that they close are removed from
    /// the open ones.
    pub(crate) async fn take_over(&self, open: OpenItems, events: Vec<(AgentPath, EventBody)>) {
        self.open_items(|ours| *ours = open);
        for (agent, body) in events {
            self.send(agent, body, None).await;
        }
    }

    /// Closes everything this agent and its sub-agents have left open, the sub-agent itself included.
    pub async fn close(&self, outcome: Outcome, reason: &str) {
        // One after the other, and the place in the channel comes first: a caller dropped while it waits has closed nothing
        // that it does not tell.
        while let Ok(place) = self.shared.events.reserve().await {
            let closing = self.open_items(|open| open.close_last(&self.agent, outcome, reason));
            let Some((agent, body)) = closing else { return };
            self.send_to(place, agent, body, None);
        }
    }

    /// Closes everything that the run's work has left open; what follows it may be open yet.
    pub(crate) async fn close_work(&self, outcome: Outcome, reason: &str) {
        let closing = self.open_items(|open| open.close_work(outcome, reason));
        for (agent, body) in closing {
            self.send(agent, body, None).await;
        }
    }

    /// Uses the numbers of the run's sources.
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

    /// Whether the main agent has written an answer, or the beginning of one that was cut off.
    pub(crate) fn has_answered(&self) -> bool {
        self.shared.answered.load(Ordering::Relaxed)
    }

    async fn send(&self, agent: AgentPath, body: EventBody, stored: Option<oneshot::Sender<()>>) {
        // The place in the channel comes first: a caller dropped while it waits has then noted nothing.
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
