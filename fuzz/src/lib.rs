//! The targets of the fuzzer: the functions that the tests of `crates/wire` ask too, so that there is one of each.

#[path = "../../crates/wire/tests/hostile/targets/mod.rs"]
pub mod targets;

pub use targets::ask;
