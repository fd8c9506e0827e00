//! Pure codecs for the protocols served to clients: no clock, no sockets, no database.

pub mod ag_ui;
pub mod anthropic;
pub mod chat_exports;
pub mod chat_stream;
mod cited;
pub mod conversation;
pub mod debug_chat;
pub mod debug_events;
pub mod details;
mod escape;
pub mod export;
mod file_change;
mod file_part;
mod frames;
pub mod gateway;
pub mod group_list;
mod hook_event;
mod input_event;
pub mod markup;
mod media;
mod memory_update;
mod notice;

pub mod openai;
pub mod otlp;
mod paragraphs;
mod request_metadata;
mod request_parameters;
pub mod responses;
mod sealed;
pub mod tool_calls;
mod tool_files;
mod tool_result;
pub mod ui_message_stream;

pub use conversation::InvalidRequest;
pub use request_metadata::{AttachedFile, Features, RequestMetadata, passed_on};
