//! Runs a server as a local program: in its own process group, over standard input and output, killed with all its
//! children.

use std::{
    collections::VecDeque,
    io,
    process::Stdio,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use rmcp::{
    RoleClient,
    service::{RxJsonRpcMessage, TxJsonRpcMessage},
    transport::{Transport, async_rw::AsyncRwTransport},
};
use tokio::{
    io::{AsyncRead, AsyncReadExt, BufReader, Empty},
    process::{Child, ChildStdin, ChildStdout, Command},
    time::timeout,
};
use tokio_util::task::TaskTracker;

use crate::{
    definition::Program,
    lenient::{read, too_long},
    lines::{Line, Lines},
    words::line,
};

/// How long a program may take to exit after its input is closed.
const GRACE: Duration = Duration::from_secs(1);
/// Maximum length of a logged line of standard error, bytes.
const LOG_LINE_LIMIT_BYTES: usize = 2_000;

/// The last line of a program's standard error: often the reason of its exit.
#[derive(Debug, Clone, Default)]
pub(crate) struct LastOutput(Arc<Mutex<String>>);

impl LastOutput {
    pub(crate) fn get(&self) -> String {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    fn set(&self, words: String) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = words;
    }
}

/// A running program and the messages to and from it.
pub(crate) struct ProgramTransport {
    /// Write-only: the program's output is read leniently.
    input: AsyncRwTransport<RoleClient, Empty, ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    ready: VecDeque<RxJsonRpcMessage<RoleClient>>,
    group: Group,
}

/// Starts the program. `server` is its name in the log.
pub(crate) fn start(
    program: &Program,
    server: &str,
    tasks: &TaskTracker,
) -> io::Result<(ProgramTransport, LastOutput)> {
    let mut command = Command::new(&program.command);
    command
        .args(&program.arguments)
        .env_clear()
        .envs(program.environment.iter().cloned());
    command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .kill_on_drop(true);
    if let Some(folder) = &program.folder {
        command.current_dir(folder);
    }
    #[cfg(unix)]
    command.process_group(0);
    let mut child = command.spawn()?;
    let missing = || io::Error::other("a pipe is missing");
    let input = child.stdin.take();
    let output = child.stdout.take();
    let input = input.ok_or_else(missing)?;
    let output = output.ok_or_else(missing)?;
    let last_output = LastOutput::default();
    if let Some(errors) = child.stderr.take() {
        tasks.spawn(log_lines(errors, server.to_owned(), last_output.clone()));
    }
    let transport = ProgramTransport {
        input: AsyncRwTransport::new(tokio::io::empty(), input),
        output: Lines::new(BufReader::new(output), b"\n"),
        ready: VecDeque::new(),
        group: Group::of(child),
    };
    Ok((transport, last_output))
}

impl Transport<RoleClient> for ProgramTransport {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), io::Error>> + Send + 'static {
        self.input.send(message)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            // If it cannot be read, it has ended.
            let messages = match self.output.next().await.ok()?? {
                Line::Whole(line) => read(&line),
                Line::TooLong(outline) => outline.answers().iter().map(too_long).collect(),
            };
            self.ready.extend(
                messages
                    .into_iter()
                    .filter_map(|message| serde_json::from_value(message).ok()),
            );
        }
    }

    async fn close(&mut self) -> Result<(), io::Error> {
        // Closing its input asks a program to exit.
        let _ = timeout(GRACE, self.input.close()).await;
        let _ = timeout(GRACE, self.group.child.wait()).await;
        self.group.kill();
        Ok(())
    }
}

/// The process group of the program. Dropping it kills the group.
struct Group {
    child: Child,
    /// The group's id, which is the program's own; `None` once it was killed.
    #[cfg(unix)]
    id: Option<rustix::process::Pid>,
}

impl Group {
    fn of(child: Child) -> Self {
        #[cfg(unix)]
        let id = child
            .id()
            .and_then(|id| rustix::process::Pid::from_raw(i32::try_from(id).ok()?));
        Self {
            child,
            #[cfg(unix)]
            id,
        }
    }

    fn kill(&mut self) {
        #[cfg(unix)]
        if let Some(id) = self.id.take() {
            // An error means that the group is empty.
            let _ = rustix::process::kill_process_group(id, rustix::process::Signal::KILL);
        }
        let _ = self.child.start_kill();
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        self.kill();
    }
}

/// Logs the program's standard error, line by line.
async fn log_lines(mut errors: impl AsyncRead + Unpin, server: String, last_output: LastOutput) {
    let mut buffer = [0; 4096];
    let mut pending = Vec::new();
    loop {
        let count = match errors.read(&mut buffer).await {
            Ok(0) | Err(_) => return,
            Ok(count) => count,
        };
        for &byte in buffer.get(..count).unwrap_or_default() {
            if byte != b'\n' {
                // The rest of a longer line is dropped.
                if pending.len() < LOG_LINE_LIMIT_BYTES {
                    pending.push(byte);
                }
                continue;
            }
            let words = line(&String::from_utf8_lossy(&pending), LOG_LINE_LIMIT_BYTES);
            pending.clear();
            if !words.is_empty() {
                tracing::debug!(server, "{words}");
                last_output.set(words);
            }
        }
    }
}
