//! A folder writable by programs, with safe ways for the server to put files in and take them out.
//!
//! Its contents are made by untrusted programs: links that lead elsewhere, pipes that never answer, all possibly
//! changing during access. Therefore each path component is opened relative to the one before, and links are not
//! followed.

mod directory;

use std::{
    fs,
    io::{self, Read, Write},
    os::{
        fd::OwnedFd,
        unix::fs::{MetadataExt, PermissionsExt},
    },
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{
        AtFlags, CWD, Dir, FileType, Gid, Mode, OFlags, Stat, Uid, fchown, fstat, mkdirat, openat,
        statat, unlinkat,
    },
    io::Errno,
};

use crate::{File, FolderError};

pub use directory::{Directory, Draft, Mark};

/// Maximum nesting depth of folders that are listed.
const DEPTH_LIMIT: usize = 32;
const PATH_LIMIT_BYTES: usize = 1024;

/// A folder for programs, created by [`Sandbox::folder`](crate::Sandbox::folder). Its functions block on the disk.
#[derive(Debug, Clone)]
pub struct Folder {
    path: Arc<PathBuf>,
    root: Arc<OwnedFd>,
    /// The owner of new files, if this process runs as root.
    owner: Option<u32>,
}

impl Folder {
    pub(crate) fn open(path: &Path, owner: Option<u32>) -> io::Result<Self> {
        match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) => fs::set_permissions(path, fs::Permissions::from_mode(0o700))?,
            Err(_) => {}
        }
        let path = path.canonicalize()?;
        let root = openat(CWD, &path, folder_flags(), Mode::empty())?;
        if let Some(owner) = owner
            && fs::metadata(&path)?.uid() != owner
        {
            give(&root, owner)?;
        }
        Ok(Self {
            path: Arc::new(path),
            root: Arc::new(root),
            owner,
        })
    }

    /// An existing folder, whose ownership is not changed.
    fn there(path: &Path) -> io::Result<Self> {
        let root = openat(CWD, path, folder_flags(), Mode::empty())?;
        Ok(Self {
            path: Arc::new(path.to_owned()),
            root: Arc::new(root),
            owner: None,
        })
    }

    /// The path on the host, without symbolic links.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    pub(crate) fn shared_path(&self) -> Arc<PathBuf> {
        self.path.clone()
    }

    /// Writes a file, replacing an existing one, and creates missing folders.
    ///
    /// # Errors
    ///
    /// If the path is invalid, leads over a link or through a file, or the disk fails.
    pub fn put(&self, path: &str, bytes: &[u8]) -> Result<(), FolderError> {
        let (folders, name) = split(path)?;
        let folder = self.walk(path, &folders, true)?;
        match unlinkat(&folder, name, AtFlags::empty()) {
            Ok(()) | Err(Errno::NOENT) => {}
            Err(Errno::ISDIR | Errno::PERM) => return Err(FolderError::Path(path.to_owned())),
            Err(error) => return Err(disk(error)),
        }
        let flags =
            OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let file = openat(&folder, name, flags, Mode::from_raw_mode(0o644)).map_err(disk)?;
        self.give_away(&file)?;
        fs::File::from(file).write_all(bytes)?;
        Ok(())
    }

    /// The bytes of a regular file.
    ///
    /// # Errors
    ///
    /// If it does not exist, is not a regular file or has more than `limit_bytes`.
    pub fn read(&self, path: &str, limit_bytes: u64) -> Result<Vec<u8>, FolderError> {
        let (file, _) = self.open_file(path)?;
        let mut bytes = Vec::new();
        // The file may grow while it is read.
        fs::File::from(file)
            .take(limit_bytes.saturating_add(1))
            .read_to_end(&mut bytes)?;
        if bytes.len() as u64 > limit_bytes {
            return Err(FolderError::TooLarge { limit_bytes });
        }
        Ok(bytes)
    }

    /// A regular file, as listed by [`Folder::collect`].
    ///
    /// # Errors
    ///
    /// If it does not exist or is not a regular file.
    pub fn look(&self, path: &str) -> Result<File, FolderError> {
        let (_, found) = self.open_file(path)?;
        Ok(as_file(path.to_owned(), &found))
    }

    /// Removes a file or a link.
    ///
    /// # Errors
    ///
    /// If the path is invalid, or is a folder.
    pub fn remove(&self, path: &str) -> Result<(), FolderError> {
        let (folders, name) = split(path)?;
        let folder = self.walk(path, &folders, false)?;
        unlinkat(&folder, name, AtFlags::empty()).map_err(|error| missing(path, error))
    }

    /// Whether it is a regular file with this beginning.
    pub(crate) fn begins(&self, path: &str, beginning: &[u8]) -> bool {
        let Ok((file, _)) = self.open_file(path) else {
            return false;
        };
        let mut bytes = vec![0; beginning.len()];
        fs::File::from(file).read_exact(&mut bytes).is_ok() && bytes == beginning
    }

    /// All regular files, at most `limit`, sorted by path, and whether there are more or a folder cannot be read.
    /// Links, pipes, devices and names that are not UTF-8 are skipped.
    ///
    /// # Errors
    ///
    /// If the folder itself cannot be read.
    pub fn collect(&self, limit: usize) -> Result<(Vec<File>, bool), FolderError> {
        self.visit(limit, &|_| true, as_file)
    }

    /// Like `collect`, for names that are `wanted`; `shown` makes the entries.
    fn visit<T: AsRef<File>>(
        &self,
        limit: usize,
        wanted: &dyn Fn(&str) -> bool,
        shown: fn(String, &Stat) -> T,
    ) -> Result<(Vec<T>, bool), FolderError> {
        let mut files = Vec::new();
        let mut more = false;
        // By path, since keeping each one open would exhaust the server's file descriptors.
        let mut folders = vec![String::new()];
        // Folders count too, even empty ones.
        let mut left = limit.saturating_mul(4).saturating_add(1000);
        while let Some(prefix) = folders.pop() {
            let steps: Vec<&str> = prefix.split('/').filter(|step| !step.is_empty()).collect();
            let folder = match self.walk(&prefix, &steps, false) {
                Ok(folder) => folder,
                Err(error) if prefix.is_empty() => return Err(error),
                // Its contents still exist.
                Err(_) => {
                    more = true;
                    continue;
                }
            };
            let Ok(entries) = Dir::read_from(&folder) else {
                more = true;
                continue;
            };
            for entry in entries {
                let Ok(entry) = entry else {
                    more = true;
                    break;
                };
                let Some(name) = entry
                    .file_name()
                    .to_str()
                    .ok()
                    .filter(|name| !matches!(*name, "." | ".."))
                else {
                    continue;
                };
                left -= 1;
                if left == 0 {
                    return Ok((sorted(files), true));
                }
                if !wanted(name) {
                    continue;
                }
                let path = format!("{prefix}{name}");
                let found = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
                    Ok(found) => found,
                    Err(Errno::NOENT) => continue,
                    // It exists, for example in a folder that may be listed but not entered.
                    Err(_) => {
                        more = true;
                        continue;
                    }
                };
                match FileType::from_raw_mode(found.st_mode) {
                    FileType::RegularFile if files.len() == limit => {
                        return Ok((sorted(files), true));
                    }
                    FileType::RegularFile => files.push(shown(path, &found)),
                    FileType::Directory if split(&path).is_ok() => folders.push(format!("{path}/")),
                    _ => {}
                }
            }
        }
        Ok((sorted(files), more))
    }

    fn open_file(&self, path: &str) -> Result<(OwnedFd, Stat), FolderError> {
        let (folders, name) = split(path)?;
        let folder = self.walk(path, &folders, false)?;
        // Opening a pipe would block until there is a writer.
        let flags =
            OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC | OFlags::NOCTTY;
        let file =
            openat(&folder, name, flags, Mode::empty()).map_err(|error| missing(path, error))?;
        let found = fstat(&file).map_err(disk)?;
        if FileType::from_raw_mode(found.st_mode) != FileType::RegularFile {
            return Err(FolderError::Missing(path.to_owned()));
        }
        Ok((file, found))
    }

    /// Descends folder by folder, never over a link.
    fn walk(&self, path: &str, folders: &[&str], make: bool) -> Result<OwnedFd, FolderError> {
        let mut here = openat(&*self.root, ".", folder_flags(), Mode::empty()).map_err(disk)?;
        for name in folders {
            here = match openat(&here, *name, folder_flags(), Mode::empty()) {
                Err(Errno::NOENT) if make => self.make_folder(&here, name)?,
                Err(error) => return Err(missing(path, error)),
                Ok(inner) => inner,
            };
        }
        Ok(here)
    }

    fn make_folder(&self, parent: &OwnedFd, name: &str) -> Result<OwnedFd, FolderError> {
        match mkdirat(parent, name, Mode::from_raw_mode(0o755)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(error) => return Err(disk(error)),
        }
        let folder = openat(parent, name, folder_flags(), Mode::empty()).map_err(disk)?;
        match self.owner {
            Some(owner) => give(&folder, owner)?,
            None => directory::belongs_as(&folder, &fstat(parent).map_err(disk)?)?,
        }
        Ok(folder)
    }

    fn give_away(&self, file: &OwnedFd) -> Result<(), FolderError> {
        self.owner
            .map_or(Ok(()), |owner| give(file, owner).map_err(FolderError::Disk))
    }
}

fn give(file: &OwnedFd, owner: u32) -> io::Result<()> {
    fchown(file, Some(Uid::from_raw(owner)), Some(Gid::from_raw(owner))).map_err(io::Error::from)
}

fn folder_flags() -> OFlags {
    OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC
}

/// The folders of a relative path, and the name at its end.
fn split(path: &str) -> Result<(Vec<&str>, &str), FolderError> {
    let mut folders: Vec<&str> = path.split('/').collect();
    let bad =
        |name: &&str| matches!(*name, "" | "." | "..") || name.len() > 255 || name.contains('\0');
    match folders.pop() {
        Some(name)
            if path.len() <= PATH_LIMIT_BYTES
                && folders.len() < DEPTH_LIMIT
                && !folders.iter().any(bad)
                && !bad(&name) =>
        {
            Ok((folders, name))
        }
        _ => Err(FolderError::Path(path.to_owned())),
    }
}

fn sorted<T: AsRef<File>>(mut files: Vec<T>) -> Vec<T> {
    files.sort_by(|a, b| a.as_ref().path.cmp(&b.as_ref().path));
    files
}

fn as_file(path: String, found: &Stat) -> File {
    let nanoseconds = i64::try_from(found.st_mtime_nsec).unwrap_or(0);
    let changed_ms = found
        .st_mtime
        .saturating_mul(1000)
        .saturating_add(nanoseconds / 1_000_000);
    File {
        path,
        size_bytes: u64::try_from(found.st_size).unwrap_or(0),
        changed_ms,
    }
}

fn missing(path: &str, error: Errno) -> FolderError {
    match error {
        Errno::NOENT | Errno::NXIO => FolderError::Missing(path.to_owned()),
        // A link or a file in place of a folder, or a folder in place of a file.
        Errno::LOOP | Errno::NOTDIR | Errno::ISDIR | Errno::PERM => {
            FolderError::Path(path.to_owned())
        }
        error => disk(error),
    }
}

fn disk(error: Errno) -> FolderError {
    FolderError::Disk(error.into())
}
