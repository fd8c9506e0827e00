//! Program hooks: started without a shell in their own process group, with JSON on standard input and output, and
//! killed with all child processes.

use std::{io, process::Stdio};

use tokio::{
    io::{AsyncRead, AsyncReadExt, AsyncWriteExt},
    process::{Child, Command},
};

use super::{MAX_ANSWER_BYTES, Said};
use crate::platform::config::HookTransport;

/// How much of its standard error is kept, bytes.
const MAX_ERRORS_BYTES: usize = 8_000;
/// The exit status of a program that denies, with the reason on its standard error.
const DENIES: i32 = 2;

/// Runs the program to its end. Dropping the future kills it.
pub(super) async fn run(way: &HookTransport, body: String) -> Result<Said, String> {
    let mut group = start(way).map_err(|error| format!("it cannot be started: {error}"))?;
    let child = &mut group.child;
    let (Some(mut input), Some(output), Some(errors)) =
        (child.stdin.take(), child.stdout.take(), child.stderr.take())
    else {
        return Err("it has no input or output".to_owned());
    };
    let write = async move {
        // A program that does not read its input has decided without it.
        let _ = input.write_all(body.as_bytes()).await;
        drop(input);
    };
    let end = async {
        let status = group.child.wait().await;
        // Child processes left behind would keep its output open.
        group.kill();
        status
    };
    let (status, (), output, errors) = tokio::join!(
        end,
        write,
        read(output, MAX_ANSWER_BYTES),
        read(errors, MAX_ERRORS_BYTES)
    );
    let status = status.map_err(|error| error.to_string())?;
    let (output, is_whole) = output.map_err(|error| error.to_string())?;
    let errors = errors
        .map(|(errors, _)| String::from_utf8_lossy(&errors).trim().to_owned())
        .unwrap_or_default();
    match status.code() {
        Some(0) if !is_whole => Err(format!("it wrote more than {MAX_ANSWER_BYTES} bytes")),
        Some(0) => String::from_utf8(output)
            .map(Said::Answer)
            .map_err(|_| "its answer is not UTF-8".to_owned()),
        Some(DENIES) => Ok(Said::No(errors)),
        Some(code) => Err(format!("it ended with status {code}. {errors}")),
        None => Err(format!("it was killed. {errors}")),
    }
}

fn start(way: &HookTransport) -> io::Result<Group> {
    let HookTransport::Command {
        command: path,
        arguments,
        environment,
        folder,
    } = way
    else {
        return Err(io::ErrorKind::InvalidInput.into());
    };
    let mut command = Command::new(path);
    command.args(arguments).env_clear();
    command.envs(
        environment
            .iter()
            .map(|(name, value)| (name, value.reveal())),
    );
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(folder) = folder {
        command.current_dir(folder);
    }
    #[cfg(unix)]
    command.process_group(0);
    let child = command.spawn()?;
    #[cfg(target_os = "linux")]
    let id = child
        .id()
        .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
    Ok(Group {
        child,
        #[cfg(target_os = "linux")]
        id,
    })
}

/// The output up to the limit, and whether that is all of it. The rest is drained, so that the program does not block.
async fn read(mut from: impl AsyncRead + Unpin, limit: usize) -> io::Result<(Vec<u8>, bool)> {
    let mut kept = Vec::new();
    let mut buffer = [0; 8192];
    let mut is_whole = true;
    loop {
        let count = from.read(&mut buffer).await?;
        if count == 0 {
            return Ok((kept, is_whole));
        }
        let room = count.min(limit - kept.len());
        kept.extend_from_slice(buffer.get(..room).unwrap_or_default());
        is_whole &= room == count;
    }
}

/// The program with its process group. Dropping it kills all of them, even child processes that outlive the program.
struct Group {
    child: Child,
    #[cfg(target_os = "linux")]
    id: Option<rustix::process::Pid>,
}

impl Group {
    fn kill(&mut self) {
        #[cfg(target_os = "linux")]
        if let Some(id) = self.id.take() {
            // An error means that the process group no longer exists.
            _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        _ = self.child.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}
