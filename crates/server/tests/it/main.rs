//! Tests of the whole server, in process on a real loopback socket, with a database in memory.
#![expect(clippy::unwrap_used, clippy::panic, reason = "clippy spares only the test functions themselves")]

mod ag_ui;
mod agents;
mod bad_input;
mod chat_stream;
mod chats;
mod connection;
mod connections;
mod debug_chat;
mod fallbacks;
mod files;
mod formats;
mod handed_over;
mod harness;
mod inbox;
mod keys;
mod long_runs;
mod mcp;
mod learning;
mod memories;
mod openai;
mod passing;
mod program;
mod programs;
mod readers;
mod real_model;
mod responses;
mod restart;
mod resting;
mod routes;
mod runs;
mod setup;
mod sites;
mod skills;
mod sse;
mod web;
