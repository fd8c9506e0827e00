//! Messages for people that this crate raises, each with a stable code for translation. Their English texts exist only
//! here.

mod agents;
mod approvals;
mod files;
mod inputs;
mod pipelines;
mod runs;
mod skills;

pub use agents::Agents;
pub use approvals::Approvals;
pub use files::Files;
pub use inputs::Inputs;
pub use pipelines::Pipelines;
pub use runs::Runs;
pub use skills::Skills;
