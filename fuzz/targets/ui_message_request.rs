//! Fuzzes the target `ui_message_request`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("ui_message_request", bytes));
