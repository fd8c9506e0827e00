//! Fuzzes the target `usage_watch`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("usage_watch", bytes));
