//! `[research]`: how long research goes on, and how much it reads.

use serde::Deserialize;

/// How research goes. What a run may use holds for it too.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ResearchSettings {
    /// How often it searches and reads, at most.
    pub turns: u32,
    /// The same of deep research.
    pub deep_turns: u32,
    /// Most queries of a turn.
    pub queries: usize,
    /// Most sources read in a turn.
    pub sources: usize,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct RawResearch {
    turns: u32,
    deep_turns: u32,
    queries: usize,
    sources: usize,
}

impl RawResearch {
    pub(super) fn check(self) -> anyhow::Result<ResearchSettings> {
        let Self { turns, deep_turns, queries, sources } = self;
        anyhow::ensure!((1..=20).contains(&turns), "research.turns must be 1 to 20");
        anyhow::ensure!((1..=20).contains(&deep_turns), "research.deep_turns must be 1 to 20");
        anyhow::ensure!((1..=10).contains(&queries), "research.queries must be 1 to 10");
        anyhow::ensure!((1..=30).contains(&sources), "research.sources must be 1 to 30");
        Ok(ResearchSettings { turns, deep_turns, queries, sources })
    }
}
