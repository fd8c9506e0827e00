//! WebSocket heartbeat: sends pings, and closes the connection if the client sends no pong, no message, or only half a
//! frame.

use std::time::Duration;

use axum::extract::ws::WebSocketUpgrade;
use tokio::time::{Instant, Interval, MissedTickBehavior, interval_at};

use super::KEEP_ALIVE_AFTER;

/// How long the client, which has to answer each ping, may be silent.
const SILENCE_LIMIT: Duration = Duration::from_secs(40);
/// Maximum size of a client's message; their content is ignored.
const MESSAGE_BYTES: usize = 64 * 1024;
/// The buffer size of each socket. The library's default is 128 kB.
const BUFFER_BYTES: usize = 8 * 1024;

/// Configures a send-only socket, with limits for what its client sends.
pub fn send_only(upgrade: WebSocketUpgrade) -> WebSocketUpgrade {
    upgrade
        .max_message_size(MESSAGE_BYTES)
        .max_frame_size(MESSAGE_BYTES)
        .read_buffer_size(BUFFER_BYTES)
        .write_buffer_size(BUFFER_BYTES)
}

/// When to ping, and when the client was last heard.
#[derive(Debug)]
pub struct Heartbeat {
    beats: Interval,
    heard_at: Instant,
}

impl Heartbeat {
    /// For a newly opened socket.
    #[must_use]
    pub fn begin() -> Self {
        let now = Instant::now();
        let mut beats = interval_at(now + KEEP_ALIVE_AFTER, KEEP_ALIVE_AFTER);
        beats.set_missed_tick_behavior(MissedTickBehavior::Delay);
        Self {
            beats,
            heard_at: now,
        }
    }

    /// A complete message was received; pongs count.
    pub fn heard(&mut self) {
        self.heard_at = Instant::now();
    }

    /// Waits until the next ping is due; `false` if the client has been silent for too long.
    pub async fn beat(&mut self) -> bool {
        let now = self.beats.tick().await;
        now.duration_since(self.heard_at) < SILENCE_LIMIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_silent_side_is_given_up_and_one_that_answers_is_not() {
        let mut heartbeat = Heartbeat::begin();
        for _ in 0..100 {
            assert!(heartbeat.beat().await);
            heartbeat.heard();
        }
        assert!(heartbeat.beat().await);
        assert!(heartbeat.beat().await);
        assert!(!heartbeat.beat().await);
    }
}
