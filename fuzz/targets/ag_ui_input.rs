//! Fuzzes the target `ag_ui_input`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("ag_ui_input", bytes));
