//! Fuzzes the target `tool_schema`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("tool_schema", bytes));
