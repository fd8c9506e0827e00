//! Control groups (cgroup v2), one per sandbox, if this process may create them. They account all memory, including the
//! kernel's, and all CPU time, and end whatever exceeds the limits.

use std::{
    fmt,
    fs::{self, File},
    io,
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::Limits;

/// Memory used by the helper itself, and by the kernel for files and mounts, in bytes.
const OWN_BYTES: u64 = 64 * 1024 * 1024;
/// The group into which this process moves, since only groups without processes may have limited child groups.
const HOME: &str = "glasshouse";
const PREFIX: &str = "glasshouse-sandbox-";

/// A group in which this process may create others.
#[derive(Debug, Clone)]
pub(crate) struct Groups {
    base: PathBuf,
    /// Groups in which processes were still ending when they were dropped.
    left: Left,
}

type Left = Arc<Mutex<Vec<PathBuf>>>;

/// The group of one sandbox. It is removed when dropped, or else when the next one is created.
#[derive(Debug)]
pub(crate) struct Group {
    path: PathBuf,
    left: Left,
}

impl fmt::Display for Groups {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.base.display().fmt(to)
    }
}

impl Groups {
    /// Finds the groups. The error is a reason without a full stop.
    pub(crate) fn find() -> Result<Self, String> {
        let mounts = fs::read_to_string("/proc/self/mountinfo").unwrap_or_default();
        let own = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
        let here = place(&mounts, &own).ok_or("no cgroup v2 is mounted")?;
        let parent = here.parent().map(Path::to_path_buf);
        // Under a delegated parent there may be sibling groups, for example with systemd's DelegateSubgroup.
        let mut reasons = Vec::new();
        for base in [parent, Some(here.clone())].into_iter().flatten() {
            match prepare(&base, &here) {
                Ok(()) => {
                    let groups = Self {
                        base,
                        left: Left::default(),
                    };
                    groups.clear();
                    return Ok(groups);
                }
                Err(why) => reasons.push(why),
            }
        }
        Err(reasons.pop().unwrap_or_default())
    }

    /// Creates a group with these limits.
    pub(crate) fn make(&self, limits: &Limits) -> io::Result<Group> {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let mut left = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        left.retain(|path| fs::remove_dir(path).is_err() && path.exists());
        drop(left);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = self
            .base
            .join(format!("{PREFIX}{}-{number}", std::process::id()));
        fs::create_dir(&path)?;
        let group = Group {
            path,
            left: self.left.clone(),
        };
        let memory = limits.memory_bytes.saturating_add(OWN_BYTES);
        group.set("memory.max", &memory.to_string())?;
        group.set("memory.oom.group", "1")?;
        // The keeper counts here but not towards the program's limit.
        group.set("pids.max", &limits.processes.saturating_add(1).to_string())?;
        // Not every kernel supports swap or CPU weights.
        let _ = group.set("memory.swap.max", "0");
        let _ = group.set("cpu.weight", "20");
        Ok(group)
    }

    /// Removes leftover groups that have become empty.
    fn clear(&self) {
        let is_left = |entry: &fs::DirEntry| {
            entry
                .file_name()
                .to_str()
                .is_some_and(|name| name.starts_with(PREFIX))
        };
        for entry in fs::read_dir(&self.base)
            .into_iter()
            .flatten()
            .flatten()
            .filter(is_left)
        {
            let _ = fs::remove_dir(entry.path());
        }
    }
}

impl Group {
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Its CPU time statistics.
    pub(crate) fn processor_account(&self) -> io::Result<File> {
        File::open(self.path.join("cpu.stat"))
    }

    /// Whether the kernel has killed processes because it exceeded its memory limit.
    pub(crate) fn ran_out_of_memory(&self) -> bool {
        let events = fs::read_to_string(self.path.join("memory.events")).unwrap_or_default();
        let killed = events
            .lines()
            .find_map(|line| line.strip_prefix("oom_kill "));
        killed.is_some_and(|count| count.trim() != "0")
    }

    fn set(&self, file: &str, value: &str) -> io::Result<()> {
        fs::write(self.path.join(file), value)
    }
}

impl Drop for Group {
    fn drop(&mut self) {
        if fs::remove_dir(&self.path).is_err() {
            self.left
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .push(std::mem::take(&mut self.path));
        }
    }
}

/// The path of this process's group.
fn place(mounts: &str, own: &str) -> Option<PathBuf> {
    let group = own.lines().find_map(|line| line.strip_prefix("0::"))?;
    mounts.lines().find_map(|line| {
        let (mount, file_system) = line.split_once(" - ")?;
        let mut fields = mount.split(' ').skip(3);
        let root = fields.next()?;
        let target = fields.next()?;
        if file_system.split(' ').next() != Some("cgroup2") {
            return None;
        }
        let inside = Path::new(group).strip_prefix(root).ok()?;
        // Without the trailing slash that joining an empty path adds.
        Some(Path::new(target).join(inside).components().collect())
    })
}

/// Ensures that limited groups can be created in `base`, if it is ours.
fn prepare(base: &Path, here: &Path) -> Result<(), String> {
    let read = |file: &str| fs::read_to_string(base.join(file)).unwrap_or_default();
    let has_all = |list: &str| {
        ["memory", "pids"]
            .iter()
            .all(|name| list.split_whitespace().any(|it| it == *name))
    };
    if !has_all(&read("cgroup.controllers")) {
        return Err(format!(
            "{} may not limit memory and processes",
            base.display()
        ));
    }
    if !is_ours(base, here) {
        return Err(format!(
            "{} is not given to this server (systemd: Delegate=yes)",
            base.display()
        ));
    }
    let failed = |error: io::Error| format!("{} cannot be used: {error}", base.display());
    let wanted = if read("cgroup.controllers").contains("cpu") {
        "+memory +pids +cpu"
    } else {
        "+memory +pids"
    };
    let switch = || fs::write(base.join("cgroup.subtree_control"), wanted);
    if !has_all(&read("cgroup.subtree_control")) && switch().is_err() {
        // Most likely because it contains processes; our own may move down.
        if base != here {
            return Err(format!("{} has processes of its own", base.display()));
        }
        let home = base.join(HOME);
        let own = std::process::id().to_string();
        match fs::create_dir(&home) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(failed(error));
            }
            _ => {}
        }
        fs::write(home.join("cgroup.procs"), &own).map_err(failed)?;
        if let Err(error) = switch() {
            let _ = fs::write(base.join("cgroup.procs"), &own);
            let _ = fs::remove_dir(&home);
            return Err(failed(error));
        }
    }
    Ok(())
}

/// Whether this group was delegated to us. Root could write to all of them, and most belong to the service manager.
fn is_ours(base: &Path, here: &Path) -> bool {
    let is_marked = |name: &str| {
        let mut mark = [0; 8];
        rustix::fs::getxattr(base, name, &mut mark[..])
            .is_ok_and(|length| mark[..length].starts_with(b"1"))
    };
    if is_marked("user.delegate") || is_marked("trusted.delegate") {
        return true;
    }
    let user = rustix::process::geteuid();
    let is_owned =
        |path: PathBuf| fs::metadata(path).is_ok_and(|found| found.uid() == user.as_raw());
    if !user.is_root() {
        return base == here && is_owned(base.to_owned()) && is_owned(base.join("cgroup.procs"));
    }
    // The root of a container, or of a machine without a service manager.
    let is_root = base
        .parent()
        .is_none_or(|parent| !parent.join("cgroup.procs").exists());
    is_root && !Path::new("/run/systemd/system").exists()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_own_group_is_found_below_its_mount() {
        let check = |mounts: &str, own: &str, expected: Option<&str>| {
            assert_eq!(
                place(mounts, own),
                expected.map(PathBuf::from),
                "{mounts} {own}"
            );
        };
        let host = "30 23 0:26 / /sys/fs/cgroup rw,nosuid - cgroup2 cgroup2 rw,nsdelegate";
        check(
            host,
            "0::/system.slice/glasshouse.service\n",
            Some("/sys/fs/cgroup/system.slice/glasshouse.service"),
        );
        check(host, "4:memory:/\n0::/\n", Some("/sys/fs/cgroup"));
        check(
            "30 23 0:26 /a/b /cg rw - cgroup2 none rw",
            "0::/a/b/c",
            Some("/cg/c"),
        );
        check("30 23 0:26 /a/b /cg rw - cgroup2 none rw", "0::/d", None);
        check(
            "30 23 0:26 / /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory",
            "0::/",
            None,
        );
        check(host, "4:memory:/\n", None);
    }
}
