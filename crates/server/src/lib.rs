//! The Glasshouse server: configuration, users, models, runs, the HTTP API and the embedded web app.

pub mod agents;
pub mod api_key;
pub mod app;
pub mod auth;
pub mod cli;
pub mod clock;
mod commands;
pub mod config;
mod consents;
mod conversation;
pub mod discover;
pub mod error;
pub mod extract;
pub mod forks;
mod going_on;
pub mod handed_over;
pub mod http;
#[cfg(target_os = "linux")]
pub mod init;
mod learning;
mod leases;
pub mod listen;
pub mod mcp_servers;
mod memory;
pub mod metrics;
pub mod models;
mod once;
pub mod programs;
pub mod runs;
pub mod schedules;
pub mod secret;
pub mod skills;
pub mod start;
pub mod streams;
pub mod traces;
pub mod turns;
pub mod workspaces;
