//! Tidy tests: they hold the shape of the repository. Each failure says what to do.

#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "clippy allows these in tests, but not in the functions tests call"
)]

mod arrows;
mod code;
mod dependencies;
mod documented;
mod links;
mod models_table;
mod project_files;
mod repository;
mod retired_names;
mod rooms;
mod source_documents;
mod workflows;

/// Fails with all faults at once.
#[track_caller]
fn expect_none(faults: Vec<String>) {
    assert!(
        faults.is_empty(),
        "{} to put right:\n- {}",
        faults.len(),
        faults.join("\n- ")
    );
}
