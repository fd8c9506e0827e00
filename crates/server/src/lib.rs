//! The Glasshouse server: services and the HTTP API.

pub mod app;
pub mod chat;
pub mod cli;
mod documents;
pub mod error;
pub mod gateway;
pub mod http;
pub mod identity;
pub mod messages;
pub mod pipelines;
pub mod platform;
pub mod runtime;
pub mod start;
pub mod tools;
mod web;
