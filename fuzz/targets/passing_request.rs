//! Fuzzes the target `passing_request`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("passing_request", bytes));
