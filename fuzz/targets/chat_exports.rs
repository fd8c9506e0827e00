//! Fuzzes the target `chat_exports`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("chat_exports", bytes));
