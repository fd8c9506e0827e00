//! Fuzzes the target `event_lines`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("event_lines", bytes));
