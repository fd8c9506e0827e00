//! Reads a program's two output streams as they arrive.

use std::{io, time::Duration};

use tokio::{net::unix::pipe::Receiver, time::timeout};

use crate::{Collected, Stream, collector::Collector};

/// The maximum pipe capacity for an unprivileged user, in bytes.
const PIPE_BYTES: usize = 1024 * 1024;
/// Maximum time for the output to end after all writers were killed.
const END: Duration = Duration::from_secs(5);

/// One output stream; its pipe is `None` once it has ended.
#[derive(Debug)]
struct Output {
    stream: Stream,
    pipe: Option<Receiver>,
    collector: Collector,
}

/// Both outputs of a program.
#[derive(Debug)]
pub(crate) struct Streams {
    stdout: Output,
    stderr: Output,
    limit_bytes: usize,
}

impl Streams {
    pub(crate) fn new(stdout: Receiver, stderr: Receiver, limit_bytes: usize) -> Self {
        let output = |stream, pipe| Output {
            stream,
            pipe: Some(pipe),
            collector: Collector::new(limit_bytes),
        };
        Self {
            stdout: output(Stream::Stdout, stdout),
            stderr: output(Stream::Stderr, stderr),
            limit_bytes,
        }
    }

    /// Whether both have ended.
    pub(crate) fn ended(&self) -> bool {
        self.stdout.pipe.is_none() && self.stderr.pipe.is_none()
    }

    /// Passes on output until both streams have ended. Cancel-safe.
    pub(crate) async fn pump(&mut self, on_output: &mut (impl FnMut(Stream, &str) + Send)) {
        let mut buffer = vec![0; 16 * 1024];
        while !self.ended() {
            let output = tokio::select! {
                () = readable(&self.stdout) => &mut self.stdout,
                () = readable(&self.stderr) => &mut self.stderr,
            };
            output.read(&mut buffer, on_output);
        }
    }

    /// Reads to the end after all writers were killed.
    pub(crate) async fn drain(&mut self, on_output: &mut (impl FnMut(Stream, &str) + Send)) {
        // No process is left that could keep a pipe open.
        let _ = timeout(END, self.pump(on_output)).await;
    }

    /// Reads what is currently in the pipes, while there is no active writer.
    pub(crate) fn sweep(&mut self, on_output: &mut (impl FnMut(Stream, &str) + Send)) {
        let mut buffer = vec![0; 16 * 1024];
        // A pipe holds no more than this; a writer may be active.
        for output in [&mut self.stdout, &mut self.stderr] {
            for _ in 0..PIPE_BYTES / buffer.len() {
                if !output.read_now(&mut buffer, on_output) {
                    break;
                }
            }
        }
    }

    /// Takes the output since the last call.
    pub(crate) fn take(
        &mut self,
        on_output: &mut (impl FnMut(Stream, &str) + Send),
    ) -> (Collected, Collected) {
        let limit_bytes = self.limit_bytes;
        let [stdout, stderr] = [&mut self.stdout, &mut self.stderr].map(|output| {
            let collector = std::mem::replace(&mut output.collector, Collector::new(limit_bytes));
            collector.finish(|text| on_output(output.stream, text))
        });
        (stdout, stderr)
    }
}

async fn readable(output: &Output) {
    match &output.pipe {
        // An error is reported by the read.
        Some(pipe) => drop(pipe.readable().await),
        None => std::future::pending().await,
    }
}

impl Output {
    /// Reads once, even if the runtime has not seen the pipe become readable yet.
    fn read_now(
        &mut self,
        buffer: &mut [u8],
        on_output: &mut (impl FnMut(Stream, &str) + Send),
    ) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        match rustix::io::read(pipe, &mut *buffer) {
            Ok(length) if length > 0 => {
                self.collector
                    .push(&buffer[..length], |text| on_output(self.stream, text));
                true
            }
            // The end of the stream is handled by the waiting reader.
            _ => false,
        }
    }

    /// Reads once. Returns whether there was data.
    fn read(
        &mut self,
        buffer: &mut [u8],
        on_output: &mut (impl FnMut(Stream, &str) + Send),
    ) -> bool {
        let Some(pipe) = &self.pipe else { return false };
        match pipe.try_read(buffer) {
            Ok(length) if length > 0 => {
                self.collector
                    .push(&buffer[..length], |text| on_output(self.stream, text));
                true
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => false,
            _ => {
                self.pipe = None;
                false
            }
        }
    }
}
