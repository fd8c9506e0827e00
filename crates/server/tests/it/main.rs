//! Tests of the whole server, in process on a real loopback socket, with a database in memory.

mod bad_input;
mod connection;
mod connections;
mod harness;
mod keys;
mod program;
mod routes;
mod setup;
mod sites;
mod web;
