//! Working directories by name, such as one for each chat: they and their Python processes are kept between programs, and
//! removed when they are idle.

use std::{
    collections::HashMap,
    fs::DirBuilder,
    io,
    path::PathBuf,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard},
    task::spawn_blocking,
    time::Instant,
};

use crate::{Cell, Error, Folder, Limits, Sandbox, Session, Stream, remove_folder};

/// A working directory that has not been used for this long is removed, and its Python process ends.
const IDLE: Duration = Duration::from_secs(20 * 60);
/// Maximum number of working directories; beyond it, the longest idle is removed.
const MAX_WORKDIRS: usize = 64;

/// A folder for programs, and their Python process. Dropping it removes both, which blocks; see [`discard`].
#[derive(Debug)]
pub struct Workdir {
    path: PathBuf,
    folder: Folder,
    session: Option<Session>,
}

impl Workdir {
    /// The folder as programs see it.
    #[must_use]
    pub fn folder(&self) -> &Folder {
        &self.folder
    }

    /// Runs a cell in the Python process; in a new one if there is none, or on `restart`. Returns whether it was started,
    /// and the outcome of the cell.
    ///
    /// # Errors
    /// If the process cannot be started, or breaks the protocol.
    pub async fn run_cell(
        &mut self,
        sandbox: &Sandbox,
        limits: &Limits,
        code: &str,
        restart: bool,
        on_output: impl FnMut(Stream, &str) + Send,
    ) -> Result<(bool, Cell), Error> {
        // Taken out while it runs: if dropped before the end, the session is killed and not reused.
        let kept = self.session.take();
        let kept = kept.filter(|session| !restart && session.is_alive());
        let (started, mut session) = match kept {
            Some(session) => (false, session),
            None => (true, sandbox.session(&self.folder, limits.clone()).await?),
        };
        let cell = session.run(code, on_output).await?;
        self.session = Some(session).filter(Session::is_alive);
        Ok((started, cell))
    }
}

impl Drop for Workdir {
    fn drop(&mut self) {
        self.session = None;
        // What cannot be removed now is removed at the next start.
        if let Err(error) = remove_folder(&self.path) {
            tracing::warn!(%error, "failed to remove a working directory");
        }
    }
}

/// All working directories, each inside a `W` with what its user knows of it.
#[derive(Debug)]
pub struct Workdirs<W> {
    sandbox: Sandbox,
    folder: PathBuf,
    slots: Mutex<HashMap<String, Slot<W>>>,
    /// Number of folders created so far, which makes their names unique.
    made: AtomicUsize,
}

/// The place of a working directory, held while a program uses it.
pub type Place<W> = OwnedMutexGuard<Option<W>>;

#[derive(Debug)]
struct Slot<W> {
    place: Arc<AsyncMutex<Option<W>>>,
    entered: Instant,
}

impl<W> Slot<W> {
    /// Whether no program is using the working directory.
    fn is_unused(&self) -> bool {
        Arc::strong_count(&self.place) == 1
    }
}

impl<W: Send + 'static> Workdirs<W> {
    /// They are created in `folder`, which is emptied first and only accessible to this user.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn open(sandbox: Sandbox, folder: PathBuf) -> io::Result<Self> {
        if let Err(error) = remove_folder(&folder) {
            // The old folder only takes up space: new folders have other names.
            tracing::warn!(%error, folder = %folder.display(), "failed to remove leftover working directories");
        }
        let folder = folder.join(std::process::id().to_string());
        remove_folder(&folder)?;
        let mut builder = DirBuilder::new();
        builder.recursive(true);
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(Self {
            sandbox,
            folder,
            slots: Mutex::default(),
            made: AtomicUsize::new(0),
        })
    }

    /// What confines the programs.
    #[must_use]
    pub fn sandbox(&self) -> &Sandbox {
        &self.sandbox
    }

    /// Waits until no other program uses the working directory of this name. The place is empty if there is none yet; what
    /// is taken out of it and dropped, because a program was stopped, is not used again.
    pub async fn enter(&self, name: &str) -> Place<W> {
        let place = self.place(name);
        place.lock_owned().await
    }

    /// An empty working directory.
    ///
    /// # Errors
    /// If it cannot be created.
    pub async fn make(&self) -> io::Result<Workdir> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let (path, sandbox) = (self.folder.join(number.to_string()), self.sandbox.clone());
        let making = spawn_blocking(move || {
            remove_folder(&path)?;
            let folder = sandbox.folder(&path)?;
            Ok(Workdir {
                path,
                folder,
                session: None,
            })
        });
        making.await.map_err(io::Error::other)?
    }

    /// Removes idle working directories. To be called periodically.
    pub fn sweep(&self) {
        let is_idle =
            |_: &String, slot: &mut Slot<W>| slot.is_unused() && slot.entered.elapsed() >= IDLE;
        discard(self.slots().extract_if(is_idle));
    }

    /// Removes the working directory of this name.
    pub fn forget(&self, name: &str) {
        discard(self.slots().remove(name));
    }

    fn place(&self, name: &str) -> Arc<AsyncMutex<Option<W>>> {
        let mut slots = self.slots();
        if slots.len() >= MAX_WORKDIRS && !slots.contains_key(name) {
            let unused = slots.iter().filter(|(_, slot)| slot.is_unused());
            let oldest = unused.min_by_key(|(_, slot)| slot.entered);
            let oldest = oldest.map(|(name, _)| name.clone());
            discard(oldest.and_then(|oldest| slots.remove(&oldest)));
        }
        let entered = Instant::now();
        let slot = slots.entry(name.to_owned()).or_insert_with(|| Slot {
            place: Arc::default(),
            entered,
        });
        slot.entered = entered;
        Arc::clone(&slot.place)
    }

    fn slots(&self) -> MutexGuard<'_, HashMap<String, Slot<W>>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Drops working directories on a blocking thread, since their folders may be large.
pub fn discard<T: Send + 'static>(workdirs: impl IntoIterator<Item = T>) {
    let workdirs: Vec<T> = workdirs.into_iter().collect();
    if !workdirs.is_empty() {
        spawn_blocking(move || drop(workdirs));
    }
}
