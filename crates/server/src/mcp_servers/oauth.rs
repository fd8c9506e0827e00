//! OAuth as MCP's authorization specification has it, for us as the client: who signs people in to a server, who we are
//! there, and tokens. Keeps nothing, knows no people.

mod client;
mod discovery;
mod tokens;
mod web;

pub(super) use client::{Client, register};
pub(super) use discovery::{Found, discover};
pub(super) use tokens::{Desk, NoToken, Tokens};
pub(super) use web::{Web, chosen_hosts};
