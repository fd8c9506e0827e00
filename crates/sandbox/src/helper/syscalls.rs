//! The kernel's functions that a program in the sandbox may call.

use std::{collections::BTreeMap, env::consts::ARCH};

use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch, apply_filter,
};

use super::Fault;

/// The last function known here: 462 is `mseal`. What comes after does not exist for programs in the sandbox.
const LAST: i64 = 462;

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
];

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
    let rule = |argument, operator, value| {
        let condition = SeccompCondition::new(argument, SeccompCmpArgLen::Dword, operator, value)?;
        SeccompRule::new(vec![condition])
    };
    let no_namespace = SeccompCmpOp::MaskedEq(NAMESPACES.unsigned_abs().into());
    rules.insert(libc::SYS_clone, vec![rule(0, no_namespace, 0).map_err(said)?]);
    let mut sockets = Vec::new();
    for kind in SOCKETS {
        sockets.push(rule(0, SeccompCmpOp::Eq, kind.unsigned_abs().into()).map_err(said)?);
    }
    rules.insert(libc::SYS_socket, sockets);
    // Typing into somebody's terminal.
    let not_typing = rule(1, SeccompCmpOp::Ne, libc::TIOCSTI).map_err(said)?;
    rules.insert(libc::SYS_ioctl, vec![not_typing]);
    // To programs it looks like an older kernel, for which they are prepared.
    let refuse = SeccompAction::Errno(libc::ENOSYS.unsigned_abs());
    let filter = SeccompFilter::new(rules, refuse, SeccompAction::Allow, arch).map_err(said)?;
    filter.try_into().map_err(said)
}
