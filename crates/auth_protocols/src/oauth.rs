//! OAuth client: discovery of authorization servers, client registration and tokens. Stateless and
//! independent of users.

mod client;
mod discovery;
mod tokens;
mod web;

pub use client::{Client, register};
pub use discovery::{AuthorizationServer, discover};
pub use tokens::{TokenEndpoint, TokenError, Tokens};
pub use web::{Web, chosen_hosts, same_server};
