//! The first process in the sandbox: builds its root, drops its privileges, starts the program and monitors it.

use std::{
    fs,
    os::unix::process::CommandExt,
    process::{Command, Stdio},
};

use nix::{
    sched::{CloneFlags, unshare},
    unistd::{Gid, Uid, setgroups, setresgid, setresuid},
};
use rustix::{
    param::{clock_ticks_per_second, page_size},
    process::{
        DumpableBehavior, Pid, Resource, Rlimit, Signal, getegid, geteuid, set_dumpable_behavior,
        set_parent_process_death_signal, setpriority_process, setrlimit, setsid,
    },
    system::sethostname,
    thread::{CapabilitySet, remove_capability_from_bounding_set, set_no_new_privs},
};

use super::{
    During, Fault, check_single_thread, map_user, receive_spec, root,
    syscalls::{self, Accounting},
    tell,
    watch::Watch,
};
use crate::{
    Limits,
    spec::{INSIDE_ID, Report, Spec, WORK},
};

/// Runs the program to completion and reports the result. All remaining processes then end with this one.
pub(super) fn run() -> Result<(), Fault> {
    check_single_thread()?;
    // Kernels before 6.4 provide these only in a file of `/proc/self`, which this process will not be able to read.
    let _ = (page_size(), clock_ticks_per_second());
    let _ = setsid();
    die_with_keeper()?;
    let (spec, streams, account) = receive_spec()?;
    sethostname(b"sandbox").during(|| "name it".into())?;
    unshare(CloneFlags::CLONE_NEWNS).during(|| "make a mount namespace".into())?;
    root::build(&spec)?;
    drop_rights(
        &spec,
        if account.is_some() {
            Accounting::Kernel
        } else {
            Accounting::FirstProcess
        },
    )?;
    let [stdin, stdout, stderr] = streams;
    let program = start(&spec, [stdin.into(), stdout.into(), stderr.into()])?;
    tell(&Report::Started);
    let ended = Watch::new(&spec, program, account.map(Into::into))?.wait()?;
    tell(&Report::Ended(ended));
    Ok(())
}

fn die_with_keeper() -> Result<(), Fault> {
    set_parent_process_death_signal(Some(Signal::KILL)).during(|| "tie it to its keeper".into())
}

/// From here on, this process has no more privileges than the program, except for monitoring it.
fn drop_rights(spec: &Spec, accounting: Accounting) -> Result<(), Fault> {
    if geteuid().is_root() && spec.user != 0 && is_real_root()? {
        let user = Uid::from_raw(spec.user);
        let group = Gid::from_raw(spec.user);
        setgroups(&[]).during(|| "give up root's groups".into())?;
        setresgid(group, group, group).during(|| "give up root's group".into())?;
        setresuid(user, user, user).during(|| "stop being root".into())?;
    }
    // A separate user namespace for the program: it owns none of the mounts, and its processes are counted separately.
    let user = geteuid();
    let group = getegid();
    own_dumpable(DumpableBehavior::Dumpable)?;
    unshare(CloneFlags::CLONE_NEWUSER).during(|| "make a user namespace".into())?;
    own_dumpable(DumpableBehavior::Dumpable)?;
    map_user(INSIDE_ID, user.as_raw(), group.as_raw())?;
    // This process must not be readable through /proc: its executable is the server's program.
    own_dumpable(DumpableBehavior::NotDumpable)?;
    // Changing the user has cleared it.
    die_with_keeper()?;
    for capability in CapabilitySet::all().iter() {
        // The kernel may not know the newest ones.
        let _ = remove_capability_from_bounding_set(capability);
    }
    // The server and other processes take precedence, also when the machine is out of memory. This is not always
    // permitted.
    let _ = fs::write("/proc/self/oom_score_adj", "1000");
    setpriority_process(None, 10).during(|| "put it behind others".into())?;
    set_no_new_privs(true).during(|| "forbid new rights".into())?;
    set_limits(&spec.limits, spec.session)?;
    syscalls::restrict(accounting)
}

fn own_dumpable(behavior: DumpableBehavior) -> Result<(), Fault> {
    set_dumpable_behavior(behavior).during(|| "hide the first process".into())
}

/// Whether this is root of the machine, or only of a user namespace created by the keeper.
fn is_real_root() -> Result<bool, Fault> {
    let map = fs::read_to_string("/proc/self/uid_map").during(|| "read uid_map".into())?;
    // The keeper's map has a single id. A larger range is the machine's or a container's, which has other users to
    // switch to.
    Ok(map.split_whitespace().nth(2) != Some("1"))
}

/// Maximum number of queued signals with data.
const SIGNALS: u64 = 1024;

fn set_limits(limits: &Limits, session: bool) -> Result<(), Fault> {
    let cpu_seconds = (!session).then_some(limits.cpu_seconds);
    for (resource, limit) in [
        (Resource::Data, Some(limits.memory_bytes)),
        // Programs reserve far more than they use: Node does not start with 4 GB.
        (Resource::As, Some(limits.memory_bytes.saturating_mul(8))),
        (Resource::Cpu, cpu_seconds),
        (Resource::Nproc, Some(limits.processes)),
        (Resource::Fsize, Some(limits.file_bytes)),
        (Resource::Nofile, Some(limits.open_files)),
        (Resource::Memlock, Some(0)),
        (Resource::Msgqueue, Some(0)),
        (Resource::Sigpending, Some(SIGNALS)),
        (Resource::Rtprio, Some(0)),
        (Resource::Nice, Some(0)),
        // With 0 the kernel would still pass the memory of a crashed program to a handler of the host.
        (Resource::Core, Some(1)),
    ] {
        // At the soft limit the program receives a signal, at the hard limit it is killed.
        let maximum = if resource == Resource::Cpu {
            limit.map(|seconds| seconds.saturating_add(1))
        } else {
            limit
        };
        let limit = Rlimit {
            current: limit,
            maximum,
        };
        setrlimit(resource, limit).during(|| format!("limit {resource:?}"))?;
    }
    Ok(())
}

fn start(spec: &Spec, [stdin, stdout, stderr]: [Stdio; 3]) -> Result<Pid, Fault> {
    let child = Command::new(&spec.program)
        .args(&spec.args)
        .env_clear()
        .envs(spec.environment.iter().map(|(name, value)| (name, value)))
        .current_dir(WORK)
        .process_group(0)
        .stdin(stdin)
        .stdout(stdout)
        .stderr(stderr)
        .spawn()
        .during(|| format!("start {}", spec.program))?;
    Ok(Pid::from_child(&child))
}
