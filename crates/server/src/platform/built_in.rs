//! Names of what is built in: the tour, and the models below `glasshouse/` that stand for agents.

/// The id of the model that plays the tour.
pub const TOUR: &str = "tour";

/// What the ids of agents begin with where they stand for a model.
pub const AGENT_PREFIX: &str = "glasshouse/";

/// The built-in agent, below [`AGENT_PREFIX`].
pub const BUILT_IN_AGENT: &str = "agent";
