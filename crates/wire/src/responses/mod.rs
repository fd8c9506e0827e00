//! OpenAI's Responses API: the request, its items as a conversation, and a run as a response and its events.

mod echo;
pub mod encoder;
mod frame;
mod ids;
pub mod input;
mod item;
mod object;
mod ours;
pub mod request;
mod settings;
mod tools;
mod turn;

pub use encoder::{ResponseEncoder, ResponseOptions};
pub use frame::error_frame;
pub use ids::{own_call_id, response_id, run_of_item, run_of_own_call, run_of_response};
pub use input::{check_conversation, conversation};
pub use ours::needs_this_server;
pub use request::{ResponseRequest, named_items};
