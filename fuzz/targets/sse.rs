//! Fuzzes the target `sse`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("sse", bytes));
