//! Scenario logs through each encoder, compared with golden files. To renew them after a wanted change:
//! `INSTA_UPDATE=always cargo test -p wire --test golden`, and read the difference.

#![expect(clippy::unwrap_used, reason = "a test may fail loudly")]

mod ag_ui;
mod ag_ui_client;
mod anthropic;
mod any_log;
mod chat_stream;
mod column;
mod debug_events;
mod native;
mod openai;
mod pictures;
mod responses;
mod scenarios;
mod texts;
mod tool_calls;
mod ui_message_stream;

#[path = "../../../provider/tests/golden/answers.rs"]
#[expect(dead_code, reason = "shared with the golden files of `provider`")]
mod answers;
#[path = "../../../provider/tests/golden/recorded.rs"]
#[expect(dead_code, reason = "shared with the golden files of `provider`")]
mod recorded;
