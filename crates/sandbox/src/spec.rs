//! The messages between the server and its two helpers, one JSON text per message of a socket.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Ended, Limits};

/// Maximum size of a message, in bytes; the kernel accepts little more at once.
pub(crate) const MESSAGE_LIMIT_BYTES: usize = 150 * 1024;

/// The first message from the server. The program's stdin, stdout and stderr are attached.
#[derive(Debug, Serialize, Deserialize)]
pub(crate) struct Spec {
    /// The root of the sandbox.
    pub(crate) view: View,
    /// The host's folder that becomes [`WORK`].
    pub(crate) folder: PathBuf,
    /// A path inside the sandbox.
    pub(crate) program: String,
    pub(crate) args: Vec<String>,
    pub(crate) environment: Vec<(String, String)>,
    pub(crate) limits: Limits,
    /// A session counts CPU time per cell, and is stopped between cells.
    pub(crate) session: bool,
    /// The user to switch to if the server runs as root.
    pub(crate) user: u32,
}

/// What a program can see besides its folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct View {
    /// Mounted read-only: the host's path without symbolic links, and the path in the sandbox.
    pub(crate) shown: Vec<(PathBuf, PathBuf)>,
    /// Covered by an empty folder if it would be visible otherwise.
    pub(crate) hidden: Vec<PathBuf>,
    /// Symbolic links: target and path.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Generated files: path and text.
    pub(crate) files: Vec<(PathBuf, String)>,
}

/// The path of the folder in the sandbox. Hosts do not use this path, since Python is mounted where it is on the host.
pub(crate) const WORK: &str = "/files";
/// The program's user and group id inside.
pub(crate) const INSIDE_ID: u32 = 1000;

/// A command from the server, after the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// A cell begins: everything continues, and CPU time is counted from zero.
    Resume,
    /// A cell has ended: everything is stopped until the next one.
    Pause,
    /// Interrupts, like Ctrl-C.
    Interrupt,
}

/// A message to the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The sandbox could not be set up; nothing ran.
    Failed(String),
    /// The program is running.
    Started,
    /// After [`Order::Pause`], if no limit was exceeded.
    Paused,
    /// The last message.
    Ended(Ended),
}
