//! The program started again as a single-threaded helper, which the kernel requires for setting up a sandbox.
//!
//! The *keeper* stays outside, creates the namespaces, starts the *init* as their first process, and kills it when the
//! server is gone. The init builds the root, drops its privileges, starts the program and enforces its limits. When the
//! init ends, the kernel kills everything else in the sandbox.

mod held;
mod init;
mod keeper;
mod processes;
mod processor;
mod root;
mod syscalls;
mod usage;
mod walk;
mod watch;

use std::{
    fs,
    io::{self, IoSliceMut},
    mem::MaybeUninit,
    os::fd::{AsFd, OwnedFd},
    process::ExitCode,
};

use rustix::{
    cmsg_space,
    net::{RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, SendFlags, recvmsg, send},
};

use crate::spec::{MESSAGE_LIMIT_BYTES, Report, Spec};

/// The first argument of the keeper.
pub(crate) const KEEPER: &str = "glasshouse-sandbox-keeper";
/// The first argument of the init.
const INIT: &str = "glasshouse-sandbox-init";

/// Options that keep the allocator from starting threads, since a process with threads cannot create a user namespace.
pub(crate) const ALLOCATOR_OPTIONS: (&str, &str) = ("_RJEM_MALLOC_CONF", "background_thread:false");

/// Becomes the helper if this process was started as one. Returns the exit code.
pub(crate) fn become_helper() -> Option<ExitCode> {
    let work = match std::env::args_os().nth(1)?.to_str()? {
        KEEPER => keeper::run,
        INIT => init::run,
        _ => return None,
    };
    // An error can only be reported to the server.
    if let Err(fault) = work() {
        tell(&Report::Failed(fault.0));
    }
    Some(ExitCode::SUCCESS)
}

/// Why the sandbox could not be set up, as a sentence for an administrator.
struct Fault(String);

/// Adds the failed step to an error.
trait During<T> {
    fn during(self, step: impl FnOnce() -> String) -> Result<T, Fault>;
}

impl<T, E: Into<io::Error>> During<T> for Result<T, E> {
    fn during(self, step: impl FnOnce() -> String) -> Result<T, Fault> {
        self.map_err(|error| Fault(format!("could not {}: {}", step(), error.into())))
    }
}

/// The socket to the server is at standard input.
fn tell(report: &Report) {
    let Ok(text) = serde_json::to_vec(report) else {
        return;
    };
    // If the server is gone, the keeper ends everything.
    let _ = send(io::stdin(), &text, SendFlags::NOSIGNAL);
}

/// The first message, with the program's stdin, stdout and stderr, and the control group's CPU statistics if there are
/// any.
fn receive_spec() -> Result<(Spec, [OwnedFd; 3], Option<OwnedFd>), Fault> {
    let mut text = vec![0; MESSAGE_LIMIT_BYTES];
    let mut space = [MaybeUninit::uninit(); cmsg_space!(ScmRights(4))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let message = recvmsg(
        io::stdin().as_fd(),
        &mut [IoSliceMut::new(&mut text)],
        &mut ancillary,
        RecvFlags::CMSG_CLOEXEC,
    )
    .during(|| "hear from the server".into())?;
    let mut streams = Vec::new();
    for part in ancillary.drain() {
        if let RecvAncillaryMessage::ScmRights(files) = part {
            streams.extend(files);
        }
    }
    let spec = serde_json::from_slice(&text[..message.bytes])
        .map_err(|error| Fault(format!("could not read what to run: {error}")))?;
    let account = (streams.len() > 3).then(|| streams.pop()).flatten();
    let streams = streams
        .try_into()
        .map_err(|_| Fault("the program's streams are missing".into()))?;
    Ok((spec, streams, account))
}

/// Maps the id `inside` to this process's user and group; mapping ranges would require root.
fn map_user(inside: u32, outside_user: u32, outside_group: u32) -> Result<(), Fault> {
    for (file, text) in [
        ("setgroups", "deny".to_owned()),
        ("uid_map", format!("{inside} {outside_user} 1")),
        ("gid_map", format!("{inside} {outside_group} 1")),
    ] {
        fs::write(format!("/proc/self/{file}"), text).during(|| format!("write {file}"))?;
    }
    Ok(())
}

fn check_single_thread() -> Result<(), Fault> {
    let threads = fs::read_dir("/proc/self/task")
        .during(|| "list threads".into())?
        .count();
    if threads == 1 {
        Ok(())
    } else {
        Err(Fault(format!(
            "its helper has {threads} threads instead of one"
        )))
    }
}
