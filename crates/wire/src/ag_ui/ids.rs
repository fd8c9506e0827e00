//! The ids of our items for AG-UI clients: unique in a thread, the same in a stream and in a snapshot.

use std::{fmt, str::FromStr};

use domain::{AgentPath, RunId};
use serde::{Serialize, Serializer};

/// The run's id without its prefix: model servers limit call ids to 40 characters.
pub(super) fn stem(run: RunId) -> String {
    let id = run.to_string();
    id.strip_prefix("run_").unwrap_or(&id).to_owned()
}

/// The id of a run's item, or of a part of it.
#[derive(Debug, Clone, Copy)]
pub(super) struct Id<'a> {
    pub(super) stem: &'a str,
    pub(super) item: &'a str,
    /// Distinguishes the messages that come from one item.
    pub(super) suffix: &'static str,
}

impl fmt::Display for Id<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}{}", self.stem, self.item, self.suffix)
    }
}

impl Serialize for Id<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// The run and the item of one of our ids; `None` for ids of others.
pub(super) fn parse(id: &str) -> Option<(RunId, &str)> {
    let (stem, item) = id.split_once('-')?;
    let run = format!("run_{stem}").parse().ok()?;
    Some((run, item))
}

/// The id of a run's call for its client.
#[must_use]
pub fn outer_call_id(run: RunId, call: &str) -> String {
    Id {
        stem: &stem(run),
        item: call,
        suffix: "",
    }
    .to_string()
}

/// The run of a call, if the id is one of ours.
#[must_use]
pub fn run_of_call(id: &str) -> Option<RunId> {
    parse(id).map(|(run, _)| run)
}

/// Whether one of our ids belongs to a sub-agent's item.
pub(super) fn is_of_sub_agent(id: &str) -> bool {
    parse(id).is_some_and(|(_, item)| {
        item.strip_prefix('a')
            .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
    })
}

/// A step's name: unique across agents, as old clients do not distinguish agents.
#[derive(Debug, Clone, Copy)]
pub(super) struct StepName<'a> {
    pub(super) agent: &'a AgentPath,
    pub(super) step: u32,
}

impl Serialize for StepName<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.agent.id() {
            Some(agent) => serializer.collect_str(&format_args!("{agent} step {}", self.step)),
            None => serializer.collect_str(&format_args!("step {}", self.step)),
        }
    }
}

/// Identifies an approval or a question, and the position in the log at which the client's stream ended to wait for it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InterruptId {
    /// The waiting run.
    pub run: RunId,
    /// The approval or question.
    pub ask: String,
    /// The last event the client has.
    pub seq: u64,
}

/// The text is not one of our interrupts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("not an interrupt of ours")]
pub struct UnknownInterrupt;

impl fmt::Display for InterruptId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}-{}", stem(self.run), self.ask, self.seq)
    }
}

impl FromStr for InterruptId {
    type Err = UnknownInterrupt;

    fn from_str(text: &str) -> Result<Self, UnknownInterrupt> {
        let (rest, seq) = text.rsplit_once('-').ok_or(UnknownInterrupt)?;
        let (run, ask) = parse(rest).ok_or(UnknownInterrupt)?;
        let seq = seq.parse().map_err(|_| UnknownInterrupt)?;
        Ok(Self {
            run,
            ask: ask.to_owned(),
            seq,
        })
    }
}

impl Serialize for InterruptId {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_can_be_read_back() {
        let run: RunId = "run_0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d".parse().unwrap();
        let stem = stem(run);
        let id = Id {
            stem: &stem,
            item: "a1.t2",
            suffix: "",
        }
        .to_string();
        assert_eq!(id, "0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d-a1.t2");
        assert_eq!(parse(&id), Some((run, "a1.t2")));
        assert!(is_of_sub_agent(&id));
        for other in ["0192f0c1d2e3f4a5b6c7d8e9fa0b1c2d-t1", "a1.t2", "x-a1", ""] {
            assert!(!is_of_sub_agent(other), "{other}");
        }
        let interrupt = InterruptId {
            run,
            ask: "a1.p3".into(),
            seq: 17,
        };
        assert_eq!(interrupt.to_string().parse(), Ok(interrupt));
        assert_eq!("p1-17".parse::<InterruptId>(), Err(UnknownInterrupt));
    }
}
