//! A scripted model server that speaks the OpenAI protocol, well or badly as told, and a web that is closed in itself: for tests
//! and benchmarks.

pub mod body;
pub mod event_stream;
pub mod replay;
pub mod reply;
pub mod scenario;
pub mod server;
pub mod strict;
pub mod vectors;
pub mod web;

pub use reply::{Call, Finish, Reply, Step};
pub use scenario::Scenario;
pub use server::{Behaviour, Request, ScriptedServer, ServerOptions};
