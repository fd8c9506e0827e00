//! The status line that a model's server sends during one call: rate-limited, and removed when the call ends.

use std::time::Duration;

use domain::EventBody;
use tokio::time::Instant;

use crate::turns::AgentContext;

/// Minimum interval between two lines.
const INTERVAL: Duration = Duration::from_millis(100);
/// After this many lines in one call, the interval is longer, since each line is stored in the log.
const QUICK_LINES: u32 = 1_000;
const SLOW_INTERVAL: Duration = Duration::from_secs(2);

/// The progress that the server of one model call reports.
#[derive(Debug, Default)]
pub(crate) struct UpstreamStatus {
    /// The server's line currently shown to readers.
    shown: Option<Line>,
    /// The line that replaces it once the interval is over.
    held: Option<Line>,
    /// When the interval is over; `None` before the first line.
    free_at: Option<Instant>,
    lines: u32,
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Line {
    description: String,
    done: bool,
    hidden: bool,
}

impl UpstreamStatus {
    /// Takes the next line: shows it, or holds it back for a moment.
    pub(crate) async fn push(
        &mut self,
        agent: &AgentContext,
        description: String,
        done: bool,
        hidden: bool,
    ) {
        let hidden = hidden || description.is_empty();
        let line = Line {
            description,
            done,
            hidden,
        };
        let is_news = match self.held.as_ref().or(self.shown.as_ref()) {
            Some(latest) => *latest != line,
            // The server cannot hide our own status.
            None => !hidden,
        };
        if is_news {
            self.held = Some(line);
        }
        if self.free_at.is_none_or(|at| at <= Instant::now()) {
            self.show_held(agent).await;
        }
    }

    /// When the held-back line is to be shown; `None` if there is none.
    pub(crate) fn due(&self) -> Option<Instant> {
        self.free_at.filter(|_| self.held.is_some())
    }

    /// Shows the held-back line.
    pub(crate) async fn show_held(&mut self, agent: &AgentContext) {
        let Some(Line {
            description,
            done,
            hidden,
        }) = self.held.take()
        else {
            return;
        };
        self.lines += 1;
        let interval = if self.lines < QUICK_LINES {
            INTERVAL
        } else {
            SLOW_INTERVAL
        };
        self.free_at = Some(Instant::now() + interval);
        self.shown = (!hidden).then(|| Line {
            description: description.clone(),
            done,
            hidden,
        });
        match (hidden, description.is_empty()) {
            (true, true) => agent.clear_status().await,
            (hidden, _) => {
                let done = done || hidden;
                agent
                    .emitter
                    .emit(EventBody::Status {
                        description,
                        done,
                        hidden,
                        sentence: None,
                    })
                    .await;
            }
        }
    }

    /// Forgets its line. Returns whether readers still see it.
    pub(crate) fn forget(&mut self) -> bool {
        self.held = None;
        self.shown.take().is_some()
    }
}
