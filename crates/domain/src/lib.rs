//! The words of Glasshouse: ids, messages, run events and the laws of the log. No I/O, no async.

pub mod event;
pub mod id;
pub mod laws;
pub mod message;
pub mod open_items;
pub mod problem;
pub mod summary;

pub use event::{AgentPath, EventBody, Outcome, RunEvent, Usage};
pub use id::{ApiKeyId, ChatId, ConnectionId, MessageId, RunId, SessionId, UserId};
pub use message::{Message, Part, Role, ToolCall};
pub use open_items::OpenItems;
pub use problem::{Problem, ProblemCode};
pub use summary::RunSummary;
