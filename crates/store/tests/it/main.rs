//! The storage tests: one suite, run on SQLite in memory, SQLite in a file, and PostgreSQL.
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::print_stdout,
    clippy::unwrap_used,
    reason = "clippy allows these in tests, but not in the functions tests call"
)]

#[macro_use]
mod database;

mod accounts;
mod agents;
mod allowed_calls;
mod api_keys;
mod audit;
mod chat_organization;
mod chat_search;
mod chats;
mod collection_readers;
mod connections;
mod copies;
mod counted_together;
mod damage;
mod document_copies;
mod document_metadata;
mod document_readers;
mod doors;
mod embeddings;
mod events;
mod file_versions;
mod files;
mod fixtures;
mod forks;
mod graph;
mod groups;
mod hook_inputs;
mod identities;
mod imports;
mod knowledge;
mod learning;
mod leases;
mod log_partitions;
mod mcp_servers;
mod mcp_sign_ins;
mod memories;
mod messages;
mod migrating;
mod objects;
mod opening;
mod pages;
mod passkeys;
mod pauses;
mod pgvector;
mod pipelines;
mod principals;
mod program_calls;
mod queued_turns;
mod rereading;
mod run_inputs;
mod runs;
mod schedules;
mod schemas;
mod sealed_logs;
mod search;
mod second_factors;
mod sessions;
mod settings;
mod sharing;
mod syncs;
mod usage;
mod users;
mod webhooks;
mod writer;
