//! AG-UI 1.0, compatible with 0.x clients: the input, the events, and the replay of a thread.

mod calls;
mod encoder;
mod event;
mod ids;
mod messages;
mod request;
mod transcript;
mod waiting;

pub use encoder::{AgUiEncoder, ClientRun, SubAgents};
pub use ids::{InterruptId, outer_call_id, run_of_call};
pub use request::{Answer, ClientTool, Resume, RunInput, ThreadInput, Version};
pub use transcript::Transcript;
pub use waiting::{Ask, AskKind};
