//! OAuth client: discovery of authorization servers, client registration and tokens. Stateless and
//! independent of users.

mod client;
mod discovery;
mod tokens;
mod web;

pub use client::{Client, register};
pub use discovery::{Found, discover};
pub use tokens::{Desk, NoToken, Tokens};
pub use web::{Web, chosen_hosts, same_server};
