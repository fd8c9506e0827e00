//! The Glasshouse server: configuration, users, models, runs, the HTTP API and the embedded web app.

pub mod agents;
pub mod api_key;
pub mod app;
pub mod auth;
pub mod cli;
pub mod clock;
pub mod config;
mod consents;
pub mod discover;
pub mod error;
pub mod extract;
mod going_on;
pub mod handed_over;
pub mod http;
mod learning;
pub mod listen;
pub mod mcp_servers;
mod memory;
pub mod metrics;
pub mod models;
pub mod programs;
pub mod runs;
pub mod secret;
pub mod skills;
pub mod start;
pub mod streams;
pub mod turns;
