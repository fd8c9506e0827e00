//! Programs that agents run. Each chat has a working directory on disk, synchronized with the chat's files, and a Python process.

mod sync;
mod turn;
mod watched;
mod workdir;

use std::{
    collections::HashMap,
    io::ErrorKind,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sandbox::{Limits, Outcome, Sandbox};
use tokio::{sync::Mutex as AsyncMutex, time::Instant};

use crate::{ToolFailure, tool::ToolContext};
use turn::Turn;

pub(crate) use watched::{Printer, watched};
pub(crate) use workdir::Workdir;

/// A chat whose programs have been idle this long loses its folder and its Python variables; its files are kept.
const IDLE: Duration = Duration::from_secs(20 * 60);
/// Maximum number of chats with a folder; beyond it, the longest idle are evicted.
const MAX_WORKDIRS: usize = 64;

/// The working directories and processes of all chats. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Programs(Arc<Inner>);

#[derive(Debug)]
struct Inner {
    sandbox: Sandbox,
    folder: PathBuf,
    limits: Limits,
    workdirs: Mutex<HashMap<String, Slot>>,
    /// Number of folders created so far, which makes their names unique.
    made: AtomicUsize,
}

/// A chat's working directory, and when it was last entered.
#[derive(Debug)]
struct Slot {
    workdir: Arc<AsyncMutex<Option<Workdir>>>,
    entered: Instant,
}

impl Programs {
    /// Programs sandboxed by `sandbox`. Chats' working directories are created in `folder`, which is emptied first.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn open(sandbox: Sandbox, folder: PathBuf, limits: Limits) -> std::io::Result<Self> {
        if let Err(error) = clear(&folder) {
            // The old folder only takes up space: new folders have other names.
            tracing::warn!(%error, folder = %folder.display(), "failed to remove leftover working directories");
        }
        let folder = folder.join(std::process::id().to_string());
        clear(&folder)?;
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        // The files of chats are copied into it.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        let made = AtomicUsize::new(0);
        Ok(Self(Arc::new(Inner {
            sandbox,
            folder,
            limits,
            workdirs: Mutex::default(),
            made,
        })))
    }

    /// The programs available in the sandbox.
    #[must_use]
    pub fn found(&self) -> &sandbox::Programs {
        self.0.sandbox.programs()
    }

    /// How the resource usage of programs is accounted, as a sentence for an administrator.
    #[must_use]
    pub fn accounting(&self) -> String {
        self.0.sandbox.accounting()
    }

    /// Waits until no other program of the chat runs, on any server, and copies its files into the working directory.
    pub(crate) async fn enter(&self, context: &ToolContext) -> Result<Entered, ToolFailure> {
        let name = context.workspace().name().to_owned();
        let slot = self.slot(&name);
        let mut place = slot.lock_owned().await;
        let turn = Turn::begin(context.workspace(), &self.0.limits).await?;
        let workdir = match place.take() {
            Some(workdir) if !workdir.is_half_done() && turn.follows(workdir.turn()) => workdir,
            other => {
                // Files that a stopped program has left are discarded.
                discard(other);
                let number = self.0.made.fetch_add(1, Ordering::Relaxed);
                let sandbox = self.0.sandbox.clone();
                let path = self.0.folder.join(number.to_string());
                workdir::blocking(move || Workdir::make(&sandbox, &path)).await?
            }
        };
        let workdir = place.insert(workdir);
        workdir.begin_turn(turn.number());
        workdir.lay_out(context.workspace()).await?;
        Ok(Entered { place, _turn: turn })
    }

    /// Runs a shell script with the chat's files. Returns how it ended, and the changed files as lines for the model.
    pub(crate) async fn run_script(
        &self,
        context: &ToolContext,
        script: &str,
        variables: &[(&str, &str)],
    ) -> Result<(Outcome, Vec<String>), ToolFailure> {
        let mut entered = self.enter(context).await?;
        let command = self
            .sandbox()
            .shell(entered.workdir()?.folder(), script)
            .limits(self.limits().clone());
        let command = variables
            .iter()
            .fold(command, |command, (name, value)| command.env(name, value));
        let printer = Printer::default();
        let (shown, print) = (printer.clone(), move |_, text: &str| printer.print(text));
        let outcome = watched(context, &shown, command.run(print)).await;
        let outcome =
            outcome.map_err(|error| ToolFailure(format!("It could not be run: {error}.")))?;
        Ok((outcome, entered.take_over(context).await?))
    }

    fn slot(&self, name: &str) -> Arc<AsyncMutex<Option<Workdir>>> {
        let mut workdirs = self
            .0
            .workdirs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let now = Instant::now();
        if workdirs.len() >= MAX_WORKDIRS && !workdirs.contains_key(name) {
            let resting = workdirs
                .iter()
                .filter(|(_, slot)| Arc::strong_count(&slot.workdir) == 1);
            let oldest = resting
                .min_by_key(|(_, slot)| slot.entered)
                .map(|(name, _)| name.clone());
            leave(oldest.and_then(|oldest| workdirs.remove(&oldest)));
        }
        let slot = workdirs.entry(name.to_owned()).or_insert_with(|| Slot {
            workdir: Arc::default(),
            entered: now,
        });
        slot.entered = now;
        Arc::clone(&slot.workdir)
    }

    /// Removes the folders and Python processes of idle chats. To be called periodically.
    pub fn sweep(&self) {
        let mut workdirs = self
            .0
            .workdirs
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        // A program is running in one of the working directories.
        let rests = |_: &String, slot: &mut Slot| {
            Arc::strong_count(&slot.workdir) == 1 && slot.entered.elapsed() >= IDLE
        };
        leave(workdirs.extract_if(rests).map(|(_, slot)| slot));
    }

    /// Removes the folder and the Python process of a deleted chat or run.
    pub fn forget(&self, name: &str) {
        leave(
            self.0
                .workdirs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(name),
        );
    }

    pub(crate) fn sandbox(&self) -> &Sandbox {
        &self.0.sandbox
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.0.limits
    }
}

/// A chat's working directory, held for one call.
pub(crate) struct Entered {
    place: tokio::sync::OwnedMutexGuard<Option<Workdir>>,
    _turn: Turn,
}

impl Entered {
    /// The working directory.
    pub(crate) fn workdir(&mut self) -> Result<&mut Workdir, ToolFailure> {
        self.place
            .as_mut()
            .ok_or_else(|| ToolFailure("The chat's folder is gone. Run it again.".to_owned()))
    }

    /// Copies files changed by programs into the chat. Returns the changes as lines for the model.
    pub(crate) async fn take_over(
        &mut self,
        context: &ToolContext,
    ) -> Result<Vec<String>, ToolFailure> {
        self.workdir()?.take_over(context).await
    }
}

fn discard(workdir: Option<Workdir>) {
    if let Some(workdir) = workdir {
        tokio::task::spawn_blocking(move || drop(workdir));
    }
}

/// Removes working directories on a blocking thread, since folders may be large.
fn leave(slots: impl IntoIterator<Item = Slot>) {
    let slots: Vec<Slot> = slots.into_iter().collect();
    if !slots.is_empty() {
        tokio::task::spawn_blocking(move || drop(slots));
    }
}

/// Removes a folder with all its contents, including what a program has made unreadable.
fn clear(folder: &Path) -> std::io::Result<()> {
    match std::fs::remove_dir_all(folder) {
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(()),
        Err(error) if error.kind() == ErrorKind::PermissionDenied => {
            open_up(folder);
            std::fs::remove_dir_all(folder)
        }
        result => result,
    }
}

/// Restores the permissions of the subfolders of a folder in which no program runs.
fn open_up(folder: &Path) {
    let mut folders = vec![folder.to_owned()];
    while let Some(folder) = folders.pop() {
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt;
            drop(std::fs::set_permissions(
                &folder,
                std::fs::Permissions::from_mode(0o700),
            ));
        }
        let entries = std::fs::read_dir(&folder).into_iter().flatten().flatten();
        // The type of the entry itself, even if it is a symbolic link.
        folders.extend(
            entries
                .filter(|it| it.file_type().is_ok_and(|kind| kind.is_dir()))
                .map(|it| it.path()),
        );
    }
}

#[cfg(test)]
mod tests {
    #[test]
    #[cfg(unix)]
    fn what_is_closed_to_everybody_is_removed_too() {
        use std::{fs, os::unix::fs::PermissionsExt};
        let folder = std::env::temp_dir().join(format!("glasshouse-clear-{}", std::process::id()));
        fs::create_dir_all(folder.join("a/b")).unwrap();
        fs::write(folder.join("a/b/c"), "x").unwrap();
        fs::set_permissions(folder.join("a/b"), fs::Permissions::from_mode(0o000)).unwrap();
        super::open_up(&folder);
        let mode = fs::metadata(folder.join("a/b"))
            .unwrap()
            .permissions()
            .mode();
        assert_eq!(mode & 0o777, 0o700);
        super::clear(&folder).unwrap();
        assert!(!folder.exists());
        super::clear(&folder).unwrap();
    }
}
