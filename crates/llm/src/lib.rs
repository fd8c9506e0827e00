//! Clients for language model servers, and the scripted model.

pub mod chat;

pub use chat::{ChatRequest, FinishReason, ModelError, ModelEvent, ToolMode, ToolSpec};
