//! Runs untrusted programs: commands and Python sessions, confined by the kernel. `docs/decisions/0014-*` describes
//! what this protects from and what not.
//!
//! - [`Sandbox::find`] is called once, at server start; it runs a program to verify that everything works. If the
//!   sandbox is not available, [`Unavailable`] says why.
//! - A [`Folder`] is writable by programs. [`Folder::put`] and [`Folder::collect`] move files in and out.
//! - A [`Directory`] is shared with people; programs only see copies of its files.
//! - [`Sandbox::command`] runs one program; [`Sandbox::session`] keeps a Python process between the cells of a chat.
//! - [`Workdirs`] keeps folders and sessions of chats between their programs.
//! - The server's program has to call [`become_helper`] before anything else.
//!
//! Dropping a running program kills it with all its descendants.

mod ended;
mod limits;
mod output;
mod removal;
mod workdirs;

#[cfg(target_os = "linux")]
mod collector;
#[cfg(target_os = "linux")]
mod command;
#[cfg(not(target_os = "linux"))]
mod elsewhere;
#[cfg(target_os = "linux")]
mod find;
#[cfg(target_os = "linux")]
mod folder;
#[cfg(target_os = "linux")]
mod groups;
#[cfg(target_os = "linux")]
mod helper;
#[cfg(target_os = "linux")]
mod python;
#[cfg(target_os = "linux")]
mod running;
#[cfg(target_os = "linux")]
mod session;
#[cfg(target_os = "linux")]
mod spec;
#[cfg(target_os = "linux")]
mod streams;
#[cfg(target_os = "linux")]
mod view;

#[cfg(target_os = "linux")]
pub use command::Command;
#[cfg(not(target_os = "linux"))]
pub use elsewhere::{Command, Directory, Draft, Folder, Mark, Sandbox, Session};
pub use ended::{
    Cell, CellEnd, Error, File, FolderError, Options, Outcome, Programs, Raised, Unavailable,
};
#[cfg(target_os = "linux")]
pub use find::Sandbox;
#[cfg(target_os = "linux")]
pub use folder::{Directory, Draft, Folder, Mark};
pub use limits::{Ended, Limit, Limits};
pub use output::{Collected, Stream};
pub use removal::remove_folder;
#[cfg(target_os = "linux")]
pub use session::Session;
pub use workdirs::{Place, Workdir, Workdirs, discard};

/// Must be called first in the server's `main`, before threads are started: if this process was started as a helper of
/// the sandbox, it becomes one, and `main` returns the exit code.
#[must_use]
pub fn become_helper() -> Option<std::process::ExitCode> {
    #[cfg(target_os = "linux")]
    return helper::become_helper();
    #[cfg(not(target_os = "linux"))]
    None
}

#[cfg(target_os = "linux")]
fn millis(time: std::time::Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}
