//! Connections to MCP servers: what tools they offer now, and calls of them. Knows nothing of agents and runs. Whatever
//! a server sends is hostile: it is bounded in size, checked, and told in words.

mod bearer;
mod call;
mod connection;
mod definition;
mod faults;
mod handler;
mod http;
mod json;
mod lenient;
mod lines;
mod names;
mod offer;
mod problem;
mod process;
mod result;
mod server;
mod sse;
mod words;

pub use bearer::{Bearer, NoBearer};
pub use call::{Call, CallError, News};
pub use definition::{Definition, Program, Site, Way};
pub use handler::{Question, Reply};
pub use names::name_for_models;
pub use offer::OfferedTool;
pub use problem::{Fault, LeftOut, Problem};
pub use result::{Answer, Media, Piece};
pub use server::{Server, State, Status};
