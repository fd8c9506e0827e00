//! Scenario logs through each encoder, compared with golden files. To renew them after a wanted change:
//! `INSTA_UPDATE=always cargo test -p wire --test golden`, and read the difference.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod ag_ui;
mod ag_ui_client;
mod answers;
mod anthropic;
mod any_log;
mod bedrock;
mod chat_stream;
mod citations;
mod column;
mod debug_events;
mod gemini;
mod given_back;
mod native;
mod openai;
mod openai_responses;
mod pictures;
mod recorded;
mod responses;
mod scenarios;
mod texts;
mod tool_calls;
mod ui_message_stream;
