//! The sandbox's root file system: the required parts of the host, read-only, and generated files.

use std::{
    fs, io,
    os::unix::fs::{DirBuilderExt, symlink},
    path::{Path, PathBuf},
};

use rustix::{
    fs::Mode,
    mount::{
        MountFlags, MountPropagationFlags, UnmountFlags, mount, mount_bind, mount_bind_recursive,
        mount_change, mount_remount, unmount,
    },
    process::{Resource, chdir, getrlimit, pivot_root, umask},
};

use super::{During, Fault};
use crate::spec::{Spec, View, WORK};

/// Where the new root is built after the first pivot.
const NEW: &str = "/new";
/// Where the host's root is after it.
const OLD: &str = "/old";

const DEVICES: [&str; 4] = ["null", "full", "random", "urandom"];
/// Replaces `/dev/zero`: an endless sparse file. The device itself, if mapped, would be shared memory that cannot be
/// accounted.
const ZERO_BYTES: u64 = i64::MAX as u64;
const DEVICE_LINKS: [(&str, &str); 4] = [
    ("/proc/self/fd", "/dev/fd"),
    ("/proc/self/fd/0", "/dev/stdin"),
    ("/proc/self/fd/1", "/dev/stdout"),
    ("/proc/self/fd/2", "/dev/stderr"),
];

/// Switches to the sandbox's root, and detaches the host's.
pub(super) fn build(spec: &Spec) -> Result<(), Fault> {
    umask(Mode::from_raw_mode(0o022));
    leave_host()?;
    make_devices()?;
    for (path, size_bytes, files) in [
        ("/tmp", spec.limits.tmp_bytes, spec.limits.folder_files),
        ("/dev/shm", spec.limits.tmp_bytes, 1000),
    ] {
        let options = format!("size={size_bytes},nr_inodes={},mode=1777", files.max(16));
        mount_new(
            "tmpfs",
            &inside(path)?,
            MountFlags::NOSUID | MountFlags::NODEV,
            &options,
        )?;
    }
    // What is shown may be below `/tmp`.
    show(&spec.view)?;
    bind(&spec.folder, Path::new(WORK), Access::Write)?;
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    mount_new("proc", &inside("/proc")?, flags, "")?;
    enter()
}

/// Pivots to an empty root, so that none of our mounts covers a path that is to be shown.
fn leave_host() -> Result<(), Fault> {
    let private = MountPropagationFlags::PRIVATE | MountPropagationFlags::REC;
    mount_change("/", private).during(|| "part its mounts from the host's".into())?;
    let base = ["/tmp", "/run", "/mnt"]
        .into_iter()
        .find(|path| Path::new(path).is_dir());
    let base = PathBuf::from(
        base.ok_or_else(|| Fault("there is no /tmp, /run or /mnt to mount on".into()))?,
    );
    mount_new(
        "tmpfs",
        &base,
        MountFlags::NOSUID | MountFlags::NODEV,
        "size=64k,mode=0755",
    )?;
    let old = base.join("old");
    let new = base.join("new");
    for path in [&old, &new] {
        fs::create_dir(path).during(|| "make a folder".into())?;
    }
    mount_new(
        "tmpfs",
        &new,
        MountFlags::NOSUID | MountFlags::NODEV,
        "size=4m,mode=0755",
    )?;
    pivot_root(&base, &old).during(|| "change the root".into())?;
    chdir("/").during(|| "enter the root".into())
}

fn enter() -> Result<(), Fault> {
    chdir(NEW).during(|| "enter the new root".into())?;
    pivot_root(".", ".").during(|| "change to the new root".into())?;
    unmount(".", UnmountFlags::DETACH).during(|| "let the host's root go".into())?;
    chdir("/").during(|| "enter the root".into())?;
    let flags = MountFlags::BIND | MountFlags::RDONLY | MountFlags::NOSUID | MountFlags::NODEV;
    mount_remount("/", flags, "").during(|| "make the root read-only".into())?;
    let flags = flags | MountFlags::NOEXEC;
    mount_remount("/dev", flags, "").during(|| "make /dev read-only".into())
}

fn show(view: &View) -> Result<(), Fault> {
    for (source, target) in &view.shown {
        bind(source, target, Access::Read)?;
    }
    for path in &view.hidden {
        let target = under_new(path);
        if target.is_dir() {
            mount_new(
                "tmpfs",
                &target,
                MountFlags::RDONLY | MountFlags::NOSUID,
                "size=4k,mode=0555",
            )?;
        }
    }
    for (text, path) in &view.links {
        let path = under_new(path);
        make_folder(path.parent().unwrap_or(Path::new(NEW)))?;
        symlink(text, &path).during(|| format!("make the link {}", path.display()))?;
    }
    for (path, text) in &view.files {
        let path = under_new(path);
        make_folder(path.parent().unwrap_or(Path::new(NEW)))?;
        fs::write(&path, text).during(|| format!("write {}", path.display()))?;
    }
    Ok(())
}

fn make_devices() -> Result<(), Fault> {
    let folder = inside("/dev")?;
    mount_new("tmpfs", &folder, MountFlags::NOSUID, "size=64k,mode=0755")?;
    for name in DEVICES {
        let source = format!("{OLD}/dev/{name}");
        let target = folder.join(name);
        fs::write(&target, "").during(|| format!("make /dev/{name}"))?;
        mount_bind(&source, &target).during(|| format!("show /dev/{name}"))?;
    }
    let zero = fs::File::create(folder.join("zero")).during(|| "make /dev/zero".into())?;
    let zero_bytes = getrlimit(Resource::Fsize)
        .current
        .unwrap_or(ZERO_BYTES)
        .min(ZERO_BYTES);
    zero.set_len(zero_bytes)
        .during(|| "make /dev/zero".into())?;
    for (text, path) in DEVICE_LINKS {
        symlink(text, under_new(Path::new(path))).during(|| format!("make {path}"))?;
    }
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Access {
    Read,
    Write,
}

/// Bind-mounts a folder or a file of the host with all mounts below it.
fn bind(source: &Path, target: &Path, access: Access) -> Result<(), Fault> {
    let from = under(OLD, source);
    let to = under_new(target);
    let shown = || format!("show {}", source.display());
    if fs::symlink_metadata(&from).during(shown)?.is_dir() {
        make_folder(&to)?;
    } else {
        make_folder(to.parent().unwrap_or(Path::new(NEW)))?;
        fs::write(&to, "").during(shown)?;
    }
    mount_bind_recursive(&from, &to).during(shown)?;
    // A bind mount inherits the flags of its source. They are set in a second step, separately for each mount.
    let mounts =
        fs::read_to_string(format!("{OLD}/proc/self/mountinfo")).during(|| "list mounts".into())?;
    for (path, flags) in mounts
        .lines()
        .filter_map(parse_mount)
        .filter(|(path, _)| path.starts_with(&to))
    {
        let read_only = if access == Access::Read {
            MountFlags::RDONLY
        } else {
            MountFlags::empty()
        };
        let flags = flags | MountFlags::BIND | MountFlags::NOSUID | MountFlags::NODEV | read_only;
        mount_remount(&path, flags, "").during(|| format!("protect {}", source.display()))?;
    }
    Ok(())
}

/// The path and flags of a mount from a line of mountinfo. The kernel refuses to clear flags that the host has set.
fn parse_mount(line: &str) -> Option<(PathBuf, MountFlags)> {
    let mut fields = line.split(' ').skip(4);
    let path = unescape(fields.next()?);
    let mut flags = MountFlags::empty();
    for option in fields.next()?.split(',') {
        flags |= match option {
            "ro" => MountFlags::RDONLY,
            "noexec" => MountFlags::NOEXEC,
            "noatime" => MountFlags::NOATIME,
            "nodiratime" => MountFlags::NODIRATIME,
            "relatime" => MountFlags::RELATIME,
            "nosymfollow" => MountFlags::NOSYMFOLLOW,
            _ => continue,
        };
    }
    Some((path.into(), flags))
}

/// Spaces and similar characters are written as `\040`.
fn unescape(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut plain = parts.next().unwrap_or("").to_owned();
    for part in parts {
        match part
            .get(..3)
            .and_then(|digits| u8::from_str_radix(digits, 8).ok())
        {
            Some(code) => {
                plain.push(char::from(code));
                plain.push_str(&part[3..]);
            }
            None => plain.push_str(part),
        }
    }
    plain
}

fn mount_new(kind: &str, target: &Path, flags: MountFlags, options: &str) -> Result<(), Fault> {
    let options = std::ffi::CString::new(options).unwrap_or_default();
    mount(kind, target, kind, flags, options.as_c_str())
        .during(|| format!("mount {kind} on {}", target.display()))
}

/// Creates a folder of the sandbox. Returns its current path.
fn inside(path: &str) -> Result<PathBuf, Fault> {
    let path = under_new(Path::new(path));
    make_folder(&path)?;
    Ok(path)
}

fn make_folder(path: &Path) -> Result<(), Fault> {
    match fs::DirBuilder::new()
        .recursive(true)
        .mode(0o755)
        .create(path)
    {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
            Err(error).during(|| format!("make the folder {}", path.display()))
        }
        _ => Ok(()),
    }
}

fn under_new(path: &Path) -> PathBuf {
    under(NEW, path)
}

fn under(base: &str, path: &Path) -> PathBuf {
    Path::new(base).join(path.strip_prefix("/").unwrap_or(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mounts_are_read_with_their_flags() {
        let line = "36 35 98:0 /a /mnt/my\\040disk\\134x rw,nosuid,noexec,relatime shared:1 - ext4 /dev/sda rw";
        let (path, flags) = parse_mount(line).unwrap();
        assert_eq!(path, Path::new("/mnt/my disk\\x"));
        assert_eq!(flags, MountFlags::NOEXEC | MountFlags::RELATIME);
        assert_eq!(parse_mount("36 35"), None);
    }
}
