//! Runs the recognition program on bytes in memory, with limits on time and output.

use std::{
    io::{self, Read, Write},
    path::Path,
    process::{Command, Stdio},
    sync::mpsc,
    thread,
    time::Duration,
};

/// Why there is no output.
#[derive(Debug, thiserror::Error)]
pub(super) enum RunError {
    /// It could not be started.
    #[error("{0}")]
    Start(#[from] io::Error),
    /// It took too long and was killed.
    #[error("it does not answer")]
    TooSlow,
    /// It ended with an error.
    #[error("it ended with an error")]
    Failed,
}

/// Runs a program with `input`, and returns at most `limit_bytes` of its output. It has no environment but the limit to
/// one thread, and uses no files of ours. It inherits this process's resource limits and its process group, which is
/// killed as a whole if the document takes too long.
///
/// # Errors
/// If it does not end well within `time`.
pub(super) fn run(
    program: &Path,
    arguments: &[String],
    input: Vec<u8>,
    time: Duration,
    limit_bytes: u64,
) -> Result<Vec<u8>, RunError> {
    let mut child = Command::new(program)
        .args(arguments)
        .env_clear()
        // More threads make a page hardly faster, but take the other pages' processors.
        .env("OMP_THREAD_LIMIT", "1")
        .current_dir("/")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()?;
    let (send, receive) = mpsc::channel();
    if let (Some(mut stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) {
        // These threads are not joined: another process may hold the pipes open.
        // A program that exits early does not read everything.
        thread::spawn(move || stdin.write_all(&input));
        thread::spawn(move || {
            let mut output = Vec::new();
            let read = stdout.take(limit_bytes).read_to_end(&mut output);
            let _ = send.send(read.map(|_| output));
        });
    }
    let output = receive.recv_timeout(time);
    if output.is_err() {
        // It may have exited meanwhile.
        let _ = child.kill();
    }
    let status = child.wait()?;
    match output {
        Err(_) => Err(RunError::TooSlow),
        Ok(Ok(output)) if status.success() => Ok(output),
        Ok(_) => Err(RunError::Failed),
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;

    fn shell(script: &str, time: Duration) -> Result<String, RunError> {
        let arguments = ["-c", script].map(str::to_owned);
        let output = run(
            Path::new("/bin/sh"),
            &arguments,
            b"input".repeat(100_000),
            time,
            1000,
        )?;
        Ok(String::from_utf8_lossy(&output).into_owned())
    }

    #[test]
    fn output_is_returned_and_bounded() {
        let long = Duration::from_secs(60);
        assert_eq!(shell("head -c 5", long).unwrap(), "input");
        assert_eq!(
            shell("echo $HOME $OMP_THREAD_LIMIT; pwd", long).unwrap(),
            "1\n/\n"
        );
        let endless = shell("yes; true", long);
        assert!(
            endless.is_ok_and(|text| text.len() == 1000),
            "cut, not endless"
        );
        assert!(matches!(shell("exit 1", long), Err(RunError::Failed)));
        assert!(matches!(
            shell("exec sleep 1000", Duration::ZERO),
            Err(RunError::TooSlow)
        ));
    }
}
