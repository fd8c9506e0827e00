//! A scripted model server that speaks the OpenAI protocol, correctly or not as configured, and a self-contained web,
//! for tests and benchmarks.

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
