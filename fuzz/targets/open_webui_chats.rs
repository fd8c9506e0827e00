//! Fuzzes the target `open_webui_chats`.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| fuzz::ask("open_webui_chats", bytes));
