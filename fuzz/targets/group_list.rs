//! Fuzzes the target `group_list`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("group_list", bytes));
