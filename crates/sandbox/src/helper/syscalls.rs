//! The kernel's functions that a program in the sandbox may call.

use std::{collections::BTreeMap, env::consts::ARCH};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::Fault;

/// The last function known here: 462 is `mseal`. What comes after does not exist for programs in the sandbox.
const LAST: i64 = 462;

const MEMFD_SECRET: i64 = 447;

/// Refused: they make namespaces and mounts, look into other processes or open parts of the kernel that have been
/// the way out of sandboxes. Nothing a program for data or text needs.
const REFUSED: &[i64] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    // Its flags lie in memory where they cannot be checked; the C library then takes `clone`.
    libc::SYS_clone3,
    libc::SYS_mount,
    libc::SYS_umount2,
    libc::SYS_pivot_root,
    libc::SYS_chroot,
    libc::SYS_open_tree,
    libc::SYS_move_mount,
    libc::SYS_fsopen,
    libc::SYS_fsconfig,
    libc::SYS_fsmount,
    libc::SYS_fspick,
    libc::SYS_mount_setattr,
    libc::SYS_ptrace,
    libc::SYS_process_vm_readv,
    libc::SYS_process_vm_writev,
    libc::SYS_process_madvise,
    libc::SYS_pidfd_getfd,
    libc::SYS_kcmp,
    libc::SYS_bpf,
    libc::SYS_perf_event_open,
    libc::SYS_userfaultfd,
    libc::SYS_io_uring_setup,
    libc::SYS_io_uring_enter,
    libc::SYS_io_uring_register,
    libc::SYS_add_key,
    libc::SYS_request_key,
    libc::SYS_keyctl,
    libc::SYS_name_to_handle_at,
    libc::SYS_open_by_handle_at,
    libc::SYS_fanotify_init,
    libc::SYS_init_module,
    libc::SYS_finit_module,
    libc::SYS_delete_module,
    libc::SYS_kexec_load,
    libc::SYS_reboot,
    libc::SYS_swapon,
    libc::SYS_swapoff,
    libc::SYS_acct,
    libc::SYS_quotactl,
    libc::SYS_syslog,
    libc::SYS_settimeofday,
    libc::SYS_clock_settime,
    libc::SYS_adjtimex,
    libc::SYS_clock_adjtime,
    libc::SYS_vhangup,
    libc::SYS_lookup_dcookie,
    libc::SYS_nfsservctl,
    // Memory that belongs to no process and no folder, so that nobody could count it.
    libc::SYS_memfd_create,
    MEMFD_SECRET,
    libc::SYS_shmget,
    // A clock that sends signals could wake a session that rests.
    libc::SYS_timer_create,
    // As with clone3: what it is to do lies in memory. The C library does not need it.
    libc::SYS_openat2,
];

/// Rights of a file's owner for whoever starts it: a way for others on the host to become the server's user.
const SET_ID_BITS: u64 = 0o6000;
const FCHMODAT2: i64 = 452;
const CREATING: i32 = libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY);

/// Kinds of sockets that end at the sandbox. Others reach past it: `AF_VSOCK` the machine that hosts a virtual one.
const SOCKETS: [i32; 4] = [libc::AF_UNIX, libc::AF_INET, libc::AF_INET6, libc::AF_NETLINK];

const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// Holds for this process and all it starts, for good.
pub(super) fn restrict() -> Result<(), Fault> {
    let filter =
        filter().map_err(|fault| Fault(format!("could not make a filter of system calls: {fault}")))?;
    apply_filter(&filter).map_err(|error| Fault(format!("could not filter system calls: {error}")))
}

fn filter() -> Result<BpfProgram, String> {
    let said = |error: seccompiler::BackendError| error.to_string();
    let arch: TargetArch = ARCH.try_into().map_err(said)?;
    // An empty list of rules means: always.
    let mut rules: BTreeMap<i64, Vec<SeccompRule>> =
        (0..=LAST).filter(|number| !REFUSED.contains(number)).map(|number| (number, Vec::new())).collect();
    for (number, allowed) in conditions() {
        let mut any = Vec::new();
        for all in allowed {
            let all = all.into_iter().map(|Arg(argument, operator, value)| {
                SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
            });
            let all = all.collect::<Result<Vec<_>, _>>().and_then(SeccompRule::new);
            any.push(all.map_err(said)?);
        }
        rules.insert(number, any);
    }
    // To programs it looks like an older kernel, for which they are prepared.
    let refuse = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch).map_err(said)?;
    filter.try_into().map_err(said)
}

/// An argument by its place, and what it has to be.
struct Arg(u8, SeccompCmpOp, u64);

/// Functions that are allowed with some arguments: any of the lists has to hold, with all in it.
fn conditions() -> Vec<(i64, Vec<Vec<Arg>>)> {
    let without = |place, bits: u64| Arg(place, SeccompCmpOp::MaskedEq(bits), 0);
    let is = |place, value: u64| Arg(place, SeccompCmpOp::Eq, value);
    let no_set_id = |place| vec![without(place, SET_ID_BITS)];
    let creates_nothing = |place| vec![without(place, CREATING.unsigned_abs().into())];
    // Programs run as the same user as the first process, and may hinder it as little as others.
    let own = |place| vec![vec![is(place, 0)]];
    let mut conditions = vec![
        (libc::SYS_clone, vec![vec![without(0, NAMESPACES.unsigned_abs().into())]]),
        (libc::SYS_socket, SOCKETS.iter().map(|kind| vec![is(0, kind.unsigned_abs().into())]).collect()),
        // Typing into somebody's terminal.
        (libc::SYS_ioctl, vec![vec![Arg(1, SeccompCmpOp::Ne, libc::TIOCSTI)]]),
        (libc::SYS_prlimit64, own(0)),
        (libc::SYS_sched_setaffinity, own(0)),
        (libc::SYS_sched_setattr, own(0)),
        (libc::SYS_sched_setparam, own(0)),
        (libc::SYS_sched_setscheduler, own(0)),
        (libc::SYS_setpriority, vec![vec![is(0, 0), is(1, 0)]]),
        (libc::SYS_ioprio_set, vec![vec![is(0, 1), is(1, 0)]]),
        (libc::SYS_fchmod, vec![no_set_id(1)]),
        (libc::SYS_fchmodat, vec![no_set_id(2)]),
        (FCHMODAT2, vec![no_set_id(2)]),
        (libc::SYS_mknodat, vec![no_set_id(2)]),
        (libc::SYS_openat, vec![creates_nothing(2), no_set_id(3)]),
    ];
    // Older ones that newer kinds of machines do not have.
    #[cfg(target_arch = "x86_64")]
    conditions.extend([
        (libc::SYS_chmod, vec![no_set_id(1)]),
        (libc::SYS_creat, vec![no_set_id(1)]),
        (libc::SYS_mknod, vec![no_set_id(1)]),
        (libc::SYS_open, vec![creates_nothing(1), no_set_id(2)]),
    ]);
    conditions
}
