//! The path that identifies an agent within a run.

use std::{fmt, sync::Arc};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The path from the main agent (empty) to a sub-agent: one id per level. Its length is the depth.
#[derive(
    Clone, PartialEq, Eq, Hash, PartialOrd, Ord, Default, Serialize, Deserialize, JsonSchema,
)]
#[cfg_attr(feature = "typescript", derive(ts_rs::TS), ts(as = "Vec<String>"))]
#[serde(transparent)]
#[schemars(inline)]
pub struct AgentPath(Arc<[Arc<str>]>);

impl AgentPath {
    /// The main agent's path.
    #[must_use]
    pub fn main() -> Self {
        Self::default()
    }

    /// Whether this is the main agent.
    #[must_use]
    pub fn is_main(&self) -> bool {
        self.0.is_empty()
    }

    /// 0 for the main agent, 1 for its sub-agents, and so on.
    #[must_use]
    pub fn depth(&self) -> usize {
        self.0.len()
    }

    /// The path of this agent's sub-agent number `number` (from 1). Its id is unique within the run:
    /// `a2` is the main agent's second sub-agent and `a2.1` that one's first.
    #[must_use]
    pub fn child(&self, number: usize) -> Self {
        let id = match self.id() {
            Some(own) => format!("{own}.{number}"),
            None => format!("a{number}"),
        };
        Self(self.0.iter().cloned().chain([Arc::from(id)]).collect())
    }

    /// The agent's own id; `None` for the main agent.
    #[must_use]
    pub fn id(&self) -> Option<&str> {
        self.0.last().map(AsRef::as_ref)
    }

    /// The path of the agent that started this one; `None` for the main agent.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        self.0.split_last().map(|(_, parents)| Self(parents.into()))
    }

    /// Whether this is `ancestor` itself or one of its sub-agents at any depth.
    #[must_use]
    pub fn is_under(&self, ancestor: &Self) -> bool {
        self.0.starts_with(&ancestor.0)
    }

    /// The ids from the main agent's child down to this one.
    pub fn ids(&self) -> impl Iterator<Item = &str> {
        self.0.iter().map(AsRef::as_ref)
    }
}

impl fmt::Debug for AgentPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id().unwrap_or("main"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_their_agents() {
        let main = AgentPath::main();
        let nested = main.child(2).child(1);
        assert_eq!((nested.depth(), nested.id()), (2, Some("a2.1")));
        assert_eq!(nested.parent(), Some(main.child(2)));
        assert_eq!(serde_json::to_string(&nested).unwrap(), r#"["a2","a2.1"]"#);
    }
}
