//! Fuzzes the target `openai_responses`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("openai_responses", bytes));
