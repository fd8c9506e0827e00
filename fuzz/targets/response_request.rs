//! Fuzzes the target `response_request`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("response_request", bytes));
