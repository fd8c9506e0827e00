//! OAuth client: discovery of authorization servers, client registration and tokens, for MCP servers and for sign-in to
//! this server. Stateless and independent of users.

mod client;
mod discovery;
mod tokens;
mod web;

pub(crate) use client::{Client, register};
pub(crate) use discovery::{Found, discover};
pub(crate) use tokens::{Desk, NoToken, Tokens};
pub(crate) use web::{Web, chosen_hosts, same_server};
