//! The sandbox with real programs in it. On Linux these tests fail where it cannot be had.
#![cfg(target_os = "linux")]
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test ends at the first surprise"
)]

mod directory;
mod escapes;
mod folder;
mod killed;
mod limits;
mod pictures;
mod session;
mod shut_in;
mod spoilt;
mod support;
mod unprivileged;
