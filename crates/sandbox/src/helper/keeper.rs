//! The helper outside of the sandbox: creates the namespaces, starts the init in them, and kills it when the server is
//! gone.

use std::{
    fs, io,
    path::PathBuf,
    process::{Child, Command, Stdio},
};

use nix::sched::{CloneFlags, unshare};
use rustix::{
    event::{PollFd, PollFlags, poll},
    process::{Pid, PidfdFlags, getegid, geteuid, pidfd_open, setsid},
};

use super::{ALLOCATOR_OPTIONS, During, Fault, INIT, check_single_thread, map_user};

/// Returns when the sandbox has ended, or ends it when the server closes its socket.
pub(super) fn run() -> Result<(), Fault> {
    check_single_thread()?;
    close_others()?;
    // A separate session: no terminal, and no signals meant for the server.
    let _ = setsid();
    if let Some(group) = std::env::args_os().nth(2) {
        let processes = PathBuf::from(group).join("cgroup.procs");
        fs::write(processes, "0").during(|| "enter its control group".into())?;
    }
    let user = geteuid();
    let group = getegid();
    if !user.is_root() {
        unshare(CloneFlags::CLONE_NEWUSER).during(|| "make a user namespace".into())?;
        map_user(0, user.as_raw(), group.as_raw())?;
    }
    let others = CloneFlags::CLONE_NEWPID
        | CloneFlags::CLONE_NEWNET
        | CloneFlags::CLONE_NEWIPC
        | CloneFlags::CLONE_NEWUTS
        | CloneFlags::CLONE_NEWCGROUP;
    unshare(others).during(|| "make namespaces".into())?;
    // `exe` is the running program, even if its file has been replaced.
    let (name, options) = ALLOCATOR_OPTIONS;
    let mut init = Command::new("/proc/self/exe")
        .arg(INIT)
        .env_clear()
        .env(name, options)
        .stdin(Stdio::inherit())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .during(|| "start the first process in it".into())?;
    let watched = watch(&init);
    // The server is gone, or the init has already ended.
    let _ = init.kill();
    let _ = init.wait();
    watched
}

/// Returns when the init has ended or the server has closed its end.
fn watch(init: &Child) -> Result<(), Fault> {
    let init =
        pidfd_open(Pid::from_child(init), PidfdFlags::empty()).during(|| "watch it".into())?;
    let server = io::stdin();
    let mut watched = [
        PollFd::new(&init, PollFlags::IN),
        PollFd::new(&server, PollFlags::empty()),
    ];
    loop {
        match poll(&mut watched, None) {
            Ok(_) => return Ok(()),
            Err(rustix::io::Errno::INTR) => {}
            Err(error) => return Err(error).during(|| "wait for it".into()),
        }
    }
}

/// Closes descriptors that the server had open without close-on-exec, so that none of them reaches a program.
fn close_others() -> Result<(), Fault> {
    let mut open: Vec<i32> = Vec::new();
    for entry in fs::read_dir("/proc/self/fd").during(|| "list open files".into())? {
        let name = entry.during(|| "list open files".into())?.file_name();
        open.extend(
            name.to_str()
                .and_then(|name| name.parse::<i32>().ok())
                .filter(|number| *number > 2),
        );
    }
    for number in open {
        // The directory handle of the list is included, and already closed.
        let _ = nix::unistd::close(number);
    }
    Ok(())
}
