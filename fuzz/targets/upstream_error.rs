//! Fuzzes the target `upstream_error`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("upstream_error", bytes));
