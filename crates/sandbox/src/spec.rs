//! What the server and its two helpers say to each other, as one JSON text in each message of a socket.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::{Ended, Limits};

/// The longest message, in bytes: the kernel takes little more at once.
pub(crate) const MESSAGE_LIMIT_BYTES: usize = 150 * 1024;

/// The first message, from the server: with it come the program's input, output and errors.
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
    /// A session counts each cell's processor time by itself, and sleeps between cells.
    pub(crate) session: bool,
    /// Whom a server that is root becomes.
    pub(crate) user: u32,
}

/// What a program can see beside its folder.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub(crate) struct View {
    /// Shown read-only: the host's path without symbolic links, and the path in the sandbox.
    pub(crate) shown: Vec<(PathBuf, PathBuf)>,
    /// Covered by an empty folder where it would be shown otherwise.
    pub(crate) hidden: Vec<PathBuf>,
    /// Symbolic links: what they say, and their path.
    pub(crate) links: Vec<(PathBuf, PathBuf)>,
    /// Files with this text: path and text.
    pub(crate) files: Vec<(PathBuf, String)>,
}

/// Where the folder is in the sandbox. A path that hosts do not use, as Python is shown where it is on the host.
pub(crate) const WORK: &str = "/files";
/// The program's user and group as it sees them.
pub(crate) const INSIDE_ID: u32 = 1000;

/// From the server, after the first message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Order {
    /// A cell begins: everything goes on, and processor time counts from nothing.
    Resume,
    /// A cell ended: everything stops until the next one.
    Pause,
    /// As Ctrl-C does.
    Interrupt,
}

/// To the server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Report {
    /// The sandbox could not be made; nothing ran.
    Failed(String),
    /// The program runs.
    Started,
    /// After [`Order::Pause`], where no limit was broken.
    Paused,
    /// The last message.
    Ended(Ended),
}
