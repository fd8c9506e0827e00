//! Names of built-in models and agents: the tour, and the ids below `glasshouse/`.

/// The id of the model that plays the tour.
pub const TOUR: &str = "tour";

/// The prefix of the model ids of agents.
pub const AGENT_PREFIX: &str = "glasshouse/";

/// The built-in agent, below [`AGENT_PREFIX`].
pub const BUILT_IN_AGENT: &str = "agent";
