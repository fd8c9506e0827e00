//! Runs as process 1 of a container: starts the server as a child, forwards signals to it and reaps all other children.
//! Orphans of agents' programs and MCP servers become children of process 1, and only it can reap them.

use std::process::{Child, Command, ExitCode};

use rustix::process::{Pid, Signal, WaitOptions, getpid, kill_process, wait};
use tokio::signal::unix::{Signal as SignalStream, SignalKind, signal};

/// Signals that are forwarded.
const PASSED_ON: [(SignalKind, Signal); 6] = [
    (SignalKind::terminate(), Signal::TERM),
    (SignalKind::interrupt(), Signal::INT),
    (SignalKind::quit(), Signal::QUIT),
    (SignalKind::hangup(), Signal::HUP),
    (SignalKind::user_defined1(), Signal::USR1),
    (SignalKind::user_defined2(), Signal::USR2),
];

/// If this is process 1, starts the program again and returns its exit code once it has ended. `None` otherwise, or if
/// the child cannot be started; then this process must be the server itself.
#[must_use]
pub fn become_init() -> Option<ExitCode> {
    if !getpid().is_init() {
        return None;
    }
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .ok()?;
    runtime.block_on(async {
        // Before the first child is started, so that no exit is missed.
        let ends = signal(SignalKind::child()).ok()?;
        let signals: Result<Vec<_>, _> = PASSED_ON
            .into_iter()
            .map(|(kind, passed_on)| Ok((signal(kind)?, passed_on)))
            .collect();
        let signals: Vec<(SignalStream, Signal)> =
            signals.map_err(|error: std::io::Error| error).ok()?;
        let server = start_again().ok()?;
        let server = Pid::from_raw(i32::try_from(server.id()).ok()?)?;
        Some(stay(server, ends, signals).await)
    })
}

fn start_again() -> std::io::Result<Child> {
    Command::new(std::env::current_exe()?)
        .args(std::env::args_os().skip(1))
        .spawn()
}

async fn stay(
    server: Pid,
    mut ends: SignalStream,
    mut signals: Vec<(SignalStream, Signal)>,
) -> ExitCode {
    loop {
        let next = std::future::poll_fn(|context| {
            for (signals, passed_on) in &mut signals {
                if signals.poll_recv(context).is_ready() {
                    return std::task::Poll::Ready(Some(*passed_on));
                }
            }
            ends.poll_recv(context).map(|_| None)
        });
        match next.await {
            // It may just have exited, which is reported next.
            Some(passed_on) => drop(kill_process(server, passed_on)),
            None => {
                if let Some(code) = end_of(server) {
                    return code;
                }
            }
        }
    }
}

/// Reaps all children that have exited; returns the server's exit code if it is among them.
fn end_of(server: Pid) -> Option<ExitCode> {
    let mut end = None;
    while let Ok(Some((child, status))) = wait(WaitOptions::NOHANG) {
        if child == server {
            let code = status
                .exit_status()
                .or_else(|| status.terminating_signal().map(|signal| 128 + signal));
            end = Some(
                code.and_then(|code| u8::try_from(code).ok())
                    .map_or(ExitCode::FAILURE, ExitCode::from),
            );
        }
    }
    end
}
