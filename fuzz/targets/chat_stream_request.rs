//! Fuzzes the target `chat_stream_request`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("chat_stream_request", bytes));
