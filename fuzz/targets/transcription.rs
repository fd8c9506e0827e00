//! Fuzzes the target `transcription`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("transcription", bytes));
