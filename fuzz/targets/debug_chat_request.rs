//! Fuzzes the target `debug_chat_request`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("debug_chat_request", bytes));
