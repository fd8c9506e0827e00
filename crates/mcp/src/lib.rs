//! Client connections to MCP servers: discovers their tools, and calls them. Independent of agents and runs. All data
//! from servers is untrusted: it is bounded in size, validated, and converted to text.

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
pub use call::{Call, CallError, CallEvent};
pub use definition::{Definition, Endpoint, Program, Transport};
pub use handler::{Question, Reply};
pub use names::name_for_models;
pub use offer::OfferedTool;
pub use problem::{Fault, LeftOut, Problem};
pub use result::{Answer, Media, Piece};
pub use server::{Server, State, Status};
