//! A directory shared with people and other programs: a file is replaced atomically, and only if it has not changed
//! since it was read.

use std::{
    fs,
    hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState},
    io::{self, Read, Write},
    os::fd::OwnedFd,
    path::Path,
    sync::{
        Arc, LazyLock,
        atomic::{AtomicU64, Ordering},
    },
};

use rustix::{
    fs::{
        AtFlags, FileType, Gid, Mode, OFlags, RenameFlags, Stat, Uid, fchmod, fchown, fstat,
        linkat, openat, renameat, renameat_with, statat, unlinkat,
    },
    io::Errno,
};

use super::{Folder, as_file, disk, missing, split};
use crate::{File, FolderError};

/// Prefix of temporary files, which are never listed, read or written by name.
const DRAFT: &str = ".glasshouse-draft-";
/// Makes the names of drafts unique within this process.
static NUMBER: AtomicU64 = AtomicU64::new(0);
/// Makes them unique across processes that share a directory; in containers, process ids may be equal.
static PROCESS: LazyLock<u64> = LazyLock::new(|| RandomState::new().hash_one(DRAFT));
/// Maximum number of attempts at reading a file that changes meanwhile.
const READS: usize = 3;

/// A directory shared with others. Links are not followed, and nothing outside can be reached. Its functions block on
/// the disk.
#[derive(Debug, Clone)]
pub struct Directory {
    folder: Folder,
    /// Files and folders with these names are hidden.
    left_out: Arc<[String]>,
}

/// A fingerprint of a file's state, which differs after each change.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark(pub u64);

/// The new content of a file. Dropping it discards the change.
#[derive(Debug)]
pub struct Draft {
    folder: OwnedFd,
    name: String,
    draft: String,
    seen: Option<Mark>,
}

impl Directory {
    /// The directory at `path`, which must exist. Names in `left_out` are skipped.
    ///
    /// # Errors
    ///
    /// If it does not exist, or cannot be read.
    pub fn open(path: &Path, left_out: Vec<String>) -> io::Result<Self> {
        Ok(Self {
            folder: Folder::there(path)?,
            left_out: left_out.into(),
        })
    }

    /// All regular files, at most `limit`, sorted by path, and whether there are more or a folder cannot be read.
    ///
    /// # Errors
    ///
    /// If the directory itself cannot be read.
    pub fn list(&self, limit: usize) -> Result<(Vec<(File, Mark)>, bool), FolderError> {
        let wanted = |name: &str| !self.is_left_out(name);
        let (files, more) = self.folder.visit(limit, &wanted, |path, found| {
            Seen(as_file(path, found), mark(found))
        })?;
        Ok((
            files
                .into_iter()
                .map(|Seen(file, mark)| (file, mark))
                .collect(),
            more,
        ))
    }

    /// The content of a file and the mark of its state; `None` if it does not exist.
    ///
    /// # Errors
    ///
    /// If it is not a regular file, has more than `limit_bytes`, or does not stop changing.
    pub fn read(
        &self,
        path: &str,
        limit_bytes: u64,
    ) -> Result<Option<(Vec<u8>, Mark)>, FolderError> {
        let (folders, name) = self.split(path)?;
        let Some(folder) = there(self.folder.walk(path, &folders, false))? else {
            return Ok(None);
        };
        for _ in 0..READS {
            let Some((file, before)) = open_plain(&folder, path, name)? else {
                return Ok(None);
            };
            let mut file = fs::File::from(file);
            let mut bytes = Vec::new();
            (&mut file)
                .take(limit_bytes.saturating_add(1))
                .read_to_end(&mut bytes)?;
            if bytes.len() as u64 > limit_bytes {
                return Err(FolderError::TooLarge { limit_bytes });
            }
            let after = fstat(&file).map_err(disk)?;
            if mark(&before) == mark(&after)
                && u64::try_from(after.st_size).is_ok_and(|size| size == bytes.len() as u64)
            {
                return Ok(Some((bytes, mark(&after))));
            }
        }
        Err(FolderError::Changed(path.to_owned()))
    }

    /// Writes the new content of a file to a temporary file next to it. [`Draft::keep`] moves it into place if the
    /// file's state is still `seen`, or if it still does not exist. The file keeps its permissions. Missing folders are
    /// created.
    ///
    /// # Errors
    ///
    /// If the path is invalid, it is not a regular file, it has changed, or the disk fails.
    pub fn draft(
        &self,
        path: &str,
        bytes: &[u8],
        seen: Option<Mark>,
    ) -> Result<Draft, FolderError> {
        let (folders, name) = self.split(path)?;
        let folder = self.folder.walk(path, &folders, true)?;
        let before = open_plain(&folder, path, name)?.map(|(_, found)| found);
        if before.as_ref().map(mark) != seen {
            return Err(FolderError::Changed(path.to_owned()));
        }
        let draft = format!(
            "{DRAFT}{:016x}-{}",
            *PROCESS,
            NUMBER.fetch_add(1, Ordering::Relaxed)
        );
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&folder, &draft, flags, Mode::from_raw_mode(0o666)).map_err(disk)?;
        // From here on, dropping removes it on failure.
        let kept = Draft {
            folder,
            name: name.to_owned(),
            draft,
            seen,
        };
        kept.look_like(&file, before.as_ref())?;
        let mut file = fs::File::from(file);
        file.write_all(bytes)?;
        // A file that people work with must not be empty after a power failure.
        file.sync_data()?;
        Ok(kept)
    }

    /// Removes a file if its state is still `seen`.
    ///
    /// # Errors
    ///
    /// If it does not exist, or has changed.
    pub fn remove(&self, path: &str, seen: Mark) -> Result<(), FolderError> {
        let (folders, name) = self.split(path)?;
        let folder = self.folder.walk(path, &folders, false)?;
        check(&folder, path, name, Some(seen))?;
        unlinkat(&folder, name, AtFlags::empty()).map_err(|error| missing(path, error))
    }

    /// Moves a file to an unused path if its state is still `seen`; creates missing folders.
    ///
    /// # Errors
    ///
    /// If it does not exist, it has changed, or the other path is in use.
    pub fn rename(&self, from: &str, to: &str, seen: Mark) -> Result<(), FolderError> {
        let (folders, old) = self.split(from)?;
        let here = self.folder.walk(from, &folders, false)?;
        let (folders, new) = self.split(to)?;
        let there = self.folder.walk(to, &folders, true)?;
        check(&here, from, old, Some(seen))?;
        move_into(&here, old, &there, new, to)
    }

    fn split<'a>(&self, path: &'a str) -> Result<(Vec<&'a str>, &'a str), FolderError> {
        if path.split('/').any(|name| self.is_left_out(name)) {
            return Err(FolderError::Path(path.to_owned()));
        }
        split(path)
    }

    fn is_left_out(&self, name: &str) -> bool {
        // Some file systems are case-insensitive.
        name.starts_with(DRAFT)
            || self
                .left_out
                .iter()
                .any(|left_out| left_out.eq_ignore_ascii_case(name))
    }
}

impl Draft {
    /// Moves it into place atomically.
    ///
    /// # Errors
    ///
    /// If the file has changed since it was read.
    pub fn keep(self) -> Result<(), FolderError> {
        check(&self.folder, &self.name, &self.name, self.seen)?;
        if self.seen.is_some() {
            return renameat(&self.folder, &self.draft, &self.folder, &self.name).map_err(disk);
        }
        move_into(
            &self.folder,
            &self.draft,
            &self.folder,
            &self.name,
            &self.name,
        )
    }

    /// Copies the permissions of the replaced file and, if running as root, its owner, or else the folder's.
    fn look_like(&self, file: &OwnedFd, before: Option<&Stat>) -> Result<(), FolderError> {
        let Some(before) = before else {
            return belongs_as(file, &fstat(&self.folder).map_err(disk)?);
        };
        belongs_as(file, before)?;
        fchmod(file, Mode::from_raw_mode(before.st_mode & 0o777)).map_err(disk)
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        // It no longer exists if it was kept.
        unlinkat(&self.folder, &self.draft, AtFlags::empty()).unwrap_or_default();
    }
}

/// If running as root, gives a new file or folder the owner of an existing one.
pub(super) fn belongs_as(new: &OwnedFd, there: &Stat) -> Result<(), FolderError> {
    if !rustix::process::geteuid().is_root() {
        return Ok(());
    }
    fchown(
        new,
        Some(Uid::from_raw(there.st_uid)),
        Some(Gid::from_raw(there.st_gid)),
    )
    .map_err(disk)
}

struct Seen(File, Mark);

impl AsRef<File> for Seen {
    fn as_ref(&self) -> &File {
        &self.0
    }
}

fn mark(found: &Stat) -> Mark {
    let mut hasher = DefaultHasher::new();
    (found.st_dev, found.st_ino, found.st_size).hash(&mut hasher);
    (found.st_mtime, found.st_mtime_nsec).hash(&mut hasher);
    Mark(hasher.finish())
}

/// Turns a missing file into `None`.
fn there<T>(found: Result<T, FolderError>) -> Result<Option<T>, FolderError> {
    match found {
        Ok(found) => Ok(Some(found)),
        Err(FolderError::Missing(_)) => Ok(None),
        Err(error) => Err(error),
    }
}

/// A regular file; `None` if it does not exist.
fn open_plain(
    folder: &OwnedFd,
    path: &str,
    name: &str,
) -> Result<Option<(OwnedFd, Stat)>, FolderError> {
    // Opening a pipe would block until there is a writer; opening a device may have side effects.
    match statat(folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(found) if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile => {
            return Err(FolderError::Path(path.to_owned()));
        }
        Ok(_) => {}
        Err(Errno::NOENT) => return Ok(None),
        Err(error) => return Err(missing(path, error)),
    }
    let flags =
        OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
    let Some(file) =
        there(openat(folder, name, flags, Mode::empty()).map_err(|error| missing(path, error)))?
    else {
        return Ok(None);
    };
    let found = fstat(&file).map_err(disk)?;
    if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
        return Err(FolderError::Path(path.to_owned()));
    }
    Ok(Some((file, found)))
}

fn check(folder: &OwnedFd, path: &str, name: &str, seen: Option<Mark>) -> Result<(), FolderError> {
    let now = open_plain(folder, path, name)?.map(|(_, found)| mark(&found));
    if now == seen {
        Ok(())
    } else {
        Err(FolderError::Changed(path.to_owned()))
    }
}

/// Moves to an unused name.
fn move_into(
    from: &OwnedFd,
    old: &str,
    to: &OwnedFd,
    new: &str,
    path: &str,
) -> Result<(), FolderError> {
    match renameat_with(from, old, to, new, RenameFlags::NOREPLACE) {
        // Not every file system can do this in one step. With two steps, the worst outcome is a file under both names.
        Err(Errno::INVAL | Errno::NOSYS) => {
            linkat(from, old, to, new, AtFlags::empty()).map_err(|error| taken(path, error))?;
            unlinkat(from, old, AtFlags::empty()).map_err(disk)
        }
        result => result.map_err(|error| taken(path, error)),
    }
}

fn taken(path: &str, error: Errno) -> FolderError {
    if error == Errno::EXIST {
        FolderError::Changed(path.to_owned())
    } else {
        disk(error)
    }
}
