//! OAuth with us as the client: who signs people in to an MCP server, who we are there, and tokens; and the same for
//! signing in here. Keeps nothing, knows no people.

mod client;
mod discovery;
mod tokens;
mod web;

pub(crate) use client::{Client, register};
pub(crate) use discovery::{Found, discover};
pub(crate) use tokens::{Desk, NoToken, Tokens};
pub(crate) use web::{Web, chosen_hosts, same_server};
