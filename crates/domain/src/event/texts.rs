//! Texts of events for people, constructors of events with messages, and the sequence numbers after a restart.

use super::{EventBody, NoticeLevel, RunEvent};
use crate::LocalizedText;

/// The text of [`RunResumed`](super::EventBody::RunResumed), for people.
pub const RESUMED: &str = "The server was restarted; the run goes on from where it was.";

/// The text of [`RunForked`](super::EventBody::RunForked), for people.
pub const FORKED: &str = "What is above was done by another run; this one goes on from here.";

/// The text of [`InputApplied`](super::EventBody::InputApplied), for people.
pub const INPUT_READ: &str = "The agent has read the new message.";

/// The text of [`ContextCompacted`](super::EventBody::ContextCompacted), for people.
#[must_use]
pub fn compacted(summary: &str, tokens_before: u64, tokens_after: u64) -> String {
    let what = if summary.is_empty() {
        "left out"
    } else {
        "summarised"
    };
    format!(
        "Older steps were {what}: {} → {} tokens",
        grouped(tokens_before),
        grouped(tokens_after)
    )
}

impl EventBody {
    /// A notice with this message.
    pub fn notice(level: NoticeLevel, words: impl Into<LocalizedText>) -> Self {
        let LocalizedText { message, sentence } = words.into();
        Self::Notice {
            level,
            message,
            sentence,
            failed_try: false,
        }
    }

    /// A notice that an attempt of a model call has failed, and how it continues.
    pub fn failed_try(words: impl Into<LocalizedText>) -> Self {
        let LocalizedText { message, sentence } = words.into();
        Self::Notice {
            level: NoticeLevel::Warning,
            message,
            sentence,
            failed_try: true,
        }
    }

    /// The end of a memory update that changed nothing.
    pub fn memory_update_failed(
        call: Option<String>,
        name: Option<String>,
        why: impl Into<String>,
    ) -> Self {
        Self::MemoryUpdateCompleted {
            call,
            name,
            only_for: None,
            version: None,
            deleted: false,
            added_lines: None,
            removed_lines: None,
            facts: None,
            error: Some(why.into()),
        }
    }

    /// A status line.
    pub fn status(words: impl Into<LocalizedText>) -> Self {
        let LocalizedText {
            message: description,
            sentence,
        } = words.into();
        Self::Status {
            description,
            done: false,
            hidden: false,
            sentence,
        }
    }
}

impl RunEvent {
    /// Whether it is the log's last event.
    #[must_use]
    pub fn is_end(&self) -> bool {
        matches!(self.body, EventBody::RunFinished { .. })
    }
}

/// A number with thousands separators.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let groups: Vec<&str> = digits
        .as_bytes()
        .rchunks(3)
        .rev()
        .filter_map(|g| str::from_utf8(g).ok())
        .collect();
    groups.join(",")
}

/// The number of the first event that another process writes to a log after event `last`: the next million, and one.
/// Readers may have seen a few deltas that were not stored when the first process died, and numbers must stay unique.
#[must_use]
pub fn seq_after_restart(last: u64) -> u64 {
    const STEP: u64 = 1_000_000;
    if last == 0 {
        1
    } else {
        (last / STEP + 1) * STEP + 1
    }
}

#[cfg(test)]
mod tests {
    use super::compacted;

    #[test]
    fn sizes_are_read_at_a_glance() {
        assert_eq!(
            compacted("a", 1_248_000, 999),
            "Older steps were summarised: 1,248,000 → 999 tokens"
        );
        assert_eq!(
            compacted("", 1_000, 0),
            "Older steps were left out: 1,000 → 0 tokens"
        );
    }
}
