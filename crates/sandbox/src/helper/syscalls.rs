//! The seccomp filters: the system calls that a program in the sandbox may make.

use std::{collections::BTreeMap, env::consts::ARCH};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter,
    SeccompRule, TargetArch, apply_filter,
};

use super::Fault;

/// The last system call known here: 462 is `mseal`. Later ones do not exist for programs in the sandbox.
const LAST: i64 = 462;

const MEMFD_SECRET: i64 = 447;
const LANDLOCK_CREATE_RULESET: i64 = 444;

/// Refused: they create namespaces and mounts, inspect other processes, or expose parts of the kernel that have been
/// used for sandbox escapes. Programs for data or text do not need them.
const REFUSED: &[i64] = &[
    libc::SYS_unshare,
    libc::SYS_setns,
    // Its flags are in memory and cannot be checked; the C library then falls back to `clone`.
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
    // Memory that belongs to no process or folder and so cannot be accounted.
    libc::SYS_memfd_create,
    MEMFD_SECRET,
    libc::SYS_shmget,
    libc::SYS_semget,
    libc::SYS_msgget,
    // Requests in flight hold files and memory, and their number is limited machine-wide.
    libc::SYS_io_setup,
    // Watches take kernel memory, from a quota of the user.
    libc::SYS_inotify_init1,
    #[cfg(target_arch = "x86_64")]
    libc::SYS_inotify_init,
    // Rules take kernel memory without limit.
    LANDLOCK_CREATE_RULESET,
    // A timer that sends signals could wake a paused session.
    libc::SYS_timer_create,
    // Like `clone3`, its arguments are in memory. The C library does not need it.
    libc::SYS_openat2,
];

/// Refused with `EINVAL`, at which programs fall back to read and write: they pin pages, including huge ones, in pipes
/// and sockets, where they are not accounted to any process.
const SPLICES: [i64; 4] = [
    libc::SYS_splice,
    libc::SYS_tee,
    libc::SYS_vmsplice,
    libc::SYS_sendfile,
];
/// Refused with `EOPNOTSUPP`, as by a file system without extended attributes: access control lists on files in `/tmp`
/// take memory that the limit of `/tmp` does not include.
const ATTRIBUTES: [i64; 3] = [libc::SYS_setxattr, libc::SYS_lsetxattr, libc::SYS_fsetxattr];
/// Socket options that allow a socket to hold more than by default: larger buffers, and filters.
const SOCKET_OPTIONS: [i32; 6] = [
    libc::SO_SNDBUF,
    libc::SO_SNDBUFFORCE,
    libc::SO_ATTACH_FILTER,
    libc::SO_ATTACH_BPF,
    SO_ATTACH_REUSEPORT_CBPF,
    SO_ATTACH_REUSEPORT_EBPF,
];
const SO_ATTACH_REUSEPORT_CBPF: i32 = 51;
const SO_ATTACH_REUSEPORT_EBPF: i32 = 52;
const CLOSE_RANGE_UNSHARE: u64 = 2;

/// Set-user-id and set-group-id bits, through which others on the host could become the server's user.
const SET_ID_BITS: u64 = 0o6000;
const FCHMODAT2: i64 = 452;
const CREATING: i32 = libc::O_CREAT | (libc::O_TMPFILE & !libc::O_DIRECTORY);

/// Socket families confined to the sandbox. Others reach beyond it, such as `AF_VSOCK` to the host of a virtual
/// machine.
const SOCKETS: [i32; 4] = [
    libc::AF_UNIX,
    libc::AF_INET,
    libc::AF_INET6,
    libc::AF_NETLINK,
];

const NAMESPACES: i32 = libc::CLONE_NEWUSER
    | libc::CLONE_NEWNS
    | libc::CLONE_NEWPID
    | libc::CLONE_NEWNET
    | libc::CLONE_NEWIPC
    | libc::CLONE_NEWUTS
    | libc::CLONE_NEWCGROUP;

/// How the memory of the sandbox is accounted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Accounting {
    /// Completely, by a control group.
    Kernel,
    /// By the first process. It cannot see pages of shared anonymous memory that no process currently maps, so such
    /// memory is forbidden.
    FirstProcess,
}

/// Applies permanently to this process and all its descendants.
pub(super) fn restrict(accounting: Accounting) -> Result<(), Fault> {
    for filter in filters(accounting) {
        let filter = filter
            .map_err(|fault| Fault(format!("could not make a filter of system calls: {fault}")))?;
        apply_filter(&filter)
            .map_err(|error| Fault(format!("could not filter system calls: {error}")))?;
    }
    Ok(())
}

type Rules = Vec<(i64, Vec<Vec<Arg>>)>;

/// If several filters apply, the strictest result counts.
fn filters(accounting: Accounting) -> Vec<Result<BpfProgram, String>> {
    let always =
        |numbers: &[i64]| -> Rules { numbers.iter().map(|number| (*number, Vec::new())).collect() };
    // An empty list of rules matches always.
    let mut allowed: BTreeMap<i64, Vec<Vec<Arg>>> = (0..=LAST)
        .filter(|number| !REFUSED.contains(number))
        .map(|number| (number, Vec::new()))
        .collect();
    allowed.extend(conditions());
    let refused = |rules: Rules, error: i32| {
        compile(
            rules,
            SeccompAction::Allow,
            SeccompAction::Errno(error.unsigned_abs()),
        )
    };
    vec![
        // To programs it looks like an older kernel, which they support.
        compile(
            allowed.into_iter().collect(),
            SeccompAction::Errno(libc::ENOSYS.unsigned_abs()),
            SeccompAction::Allow,
        ),
        refused([always(&SPLICES), locks()].concat(), libc::EINVAL),
        refused(always(&ATTRIBUTES), libc::EOPNOTSUPP),
        refused(forbidden(accounting), libc::EPERM),
    ]
}

fn compile(
    rules: Rules,
    otherwise: SeccompAction,
    matched: SeccompAction,
) -> Result<BpfProgram, String> {
    let said = |error: seccompiler::BackendError| error.to_string();
    let arch: TargetArch = ARCH.try_into().map_err(said)?;
    let rule = |all: Vec<Arg>| {
        let all = all.into_iter().map(|Arg(argument, operator, value)| {
            SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)
        });
        all.collect::<Result<Vec<_>, _>>()
            .and_then(SeccompRule::new)
    };
    let rules = rules.into_iter().map(|(number, any)| {
        let any = any.into_iter().map(rule).collect::<Result<Vec<_>, _>>()?;
        Ok((number, any))
    });
    let rules = rules.collect::<Result<BTreeMap<_, _>, _>>().map_err(said)?;
    let filter = SeccompFilter::new(rules, otherwise, matched, arch).map_err(said)?;
    filter.try_into().map_err(said)
}

/// An argument's index, and the condition on its value.
#[derive(Clone)]
struct Arg(u8, SeccompCmpOp, u64);

/// Locks of open file descriptions, which belong to no process and so cannot be accounted.
fn locks() -> Rules {
    let is = |value: i32| vec![Arg(1, SeccompCmpOp::Eq, value.unsigned_abs().into())];
    vec![(
        libc::SYS_fcntl,
        vec![is(libc::F_OFD_SETLK), is(libc::F_OFD_SETLKW)],
    )]
}

/// System calls that are refused with `EPERM` for certain arguments.
fn forbidden(accounting: Accounting) -> Rules {
    let is = |place, value: i32| Arg(place, SeccompCmpOp::Eq, value.unsigned_abs().into());
    let options = SOCKET_OPTIONS
        .iter()
        .map(|option| vec![is(1, libc::SOL_SOCKET), is(2, *option)]);
    let mut rules = vec![
        (libc::SYS_setsockopt, options.collect()),
        // More than the sixteen pages of a pipe.
        (libc::SYS_fcntl, vec![vec![is(1, libc::F_SETPIPE_SZ)]]),
        // Files and memory of such a process could not be inspected.
        (
            libc::SYS_prctl,
            vec![vec![
                is(0, libc::PR_SET_DUMPABLE),
                Arg(1, SeccompCmpOp::Ne, 1),
            ]],
        ),
    ];
    if accounting == Accounting::FirstProcess {
        let shared = u64::from((libc::MAP_SHARED | libc::MAP_ANONYMOUS).unsigned_abs());
        rules.push((
            libc::SYS_mmap,
            vec![vec![Arg(3, SeccompCmpOp::MaskedEq(shared), shared)]],
        ));
    }
    rules
}

/// System calls that are allowed for certain arguments: all conditions of at least one list must hold.
fn conditions() -> Rules {
    let without = |place, bits: u64| Arg(place, SeccompCmpOp::MaskedEq(bits), 0);
    let is = |place, value: u64| Arg(place, SeccompCmpOp::Eq, value);
    let no_set_id = |place| vec![without(place, SET_ID_BITS)];
    let creates_nothing = |place| vec![without(place, CREATING.unsigned_abs().into())];
    // Programs run as the same user as the first process, and must not interfere with it.
    let own = |place| vec![vec![is(place, 0)]];
    let namespaces = u64::from(NAMESPACES.unsigned_abs());
    let thread = u64::from(libc::CLONE_THREAD.unsigned_abs());
    let with_files = thread | u64::from(libc::CLONE_FILES.unsigned_abs());
    let mut conditions = vec![
        // Threads with separate file tables would hide what they hold.
        (
            libc::SYS_clone,
            vec![
                vec![without(0, namespaces), without(0, thread)],
                vec![
                    without(0, namespaces),
                    Arg(0, SeccompCmpOp::MaskedEq(with_files), with_files),
                ],
            ],
        ),
        (
            libc::SYS_close_range,
            vec![vec![without(2, CLOSE_RANGE_UNSHARE)]],
        ),
        (
            libc::SYS_socket,
            SOCKETS
                .iter()
                .map(|kind| vec![is(0, kind.unsigned_abs().into())])
                .collect(),
        ),
        // Injecting input into a terminal.
        (
            libc::SYS_ioctl,
            vec![vec![Arg(1, SeccompCmpOp::Ne, libc::TIOCSTI)]],
        ),
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
    // Older calls that newer architectures do not have.
    #[cfg(target_arch = "x86_64")]
    conditions.extend([
        (libc::SYS_chmod, vec![no_set_id(1)]),
        (libc::SYS_creat, vec![no_set_id(1)]),
        (libc::SYS_mknod, vec![no_set_id(1)]),
        (libc::SYS_open, vec![creates_nothing(1), no_set_id(2)]),
    ]);
    conditions
}
