//! Fuzzes the target `export_line`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("export_line", bytes));
