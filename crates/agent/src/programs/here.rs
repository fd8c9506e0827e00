//! Programs on this machine. Each chat has a working directory on disk, synchronized with the chat's files, and a Python
//! process.

use std::{
    collections::HashMap,
    path::PathBuf,
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use sandbox::{Cell, Limits, Outcome, Sandbox};
use tokio::{sync::Mutex as AsyncMutex, time::Instant};

use super::{
    turn::{COPYING, Turn},
    watched::{Printer, watched},
    workdir::{Workdir, blocking},
};
use crate::{ToolFailure, tool::ToolContext};

/// A chat whose programs have been idle this long loses its folder and its Python variables; its files are kept.
const IDLE: Duration = Duration::from_secs(20 * 60);
/// Maximum number of chats with a folder; beyond it, the longest idle are evicted.
const MAX_WORKDIRS: usize = 64;

/// The working directories and processes of all chats.
#[derive(Debug)]
pub(super) struct Here {
    pub(super) sandbox: Sandbox,
    folder: PathBuf,
    pub(super) limits: Limits,
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

impl Here {
    /// Programs sandboxed by `sandbox`. Chats' working directories are created in `folder`, which is emptied first.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub(super) fn open(sandbox: Sandbox, folder: PathBuf, limits: Limits) -> std::io::Result<Self> {
        if let Err(error) = sandbox::remove_folder(&folder) {
            // The old folder only takes up space: new folders have other names.
            tracing::warn!(%error, folder = %folder.display(), "failed to remove leftover working directories");
        }
        let folder = folder.join(std::process::id().to_string());
        sandbox::remove_folder(&folder)?;
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        // The files of chats are copied into it.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        let made = AtomicUsize::new(0);
        Ok(Self {
            sandbox,
            folder,
            limits,
            workdirs: Mutex::default(),
            made,
        })
    }

    /// Waits until no other program of the chat runs, on any server, and copies its files into the working directory.
    async fn enter(&self, context: &ToolContext) -> Result<Entered, ToolFailure> {
        let name = context.workspace().name().to_owned();
        let slot = self.slot(&name);
        let mut place = slot.lock_owned().await;
        let turn = Turn::begin(context.workspace(), self.longest()).await?;
        let workdir = match place.take() {
            Some(workdir) if !workdir.is_half_done() && turn.follows(workdir.turn()) => workdir,
            other => {
                // Files that a stopped program has left are discarded.
                discard(other);
                let number = self.made.fetch_add(1, Ordering::Relaxed);
                let sandbox = self.sandbox.clone();
                let path = self.folder.join(number.to_string());
                blocking(move || Workdir::make(&sandbox, &path)).await?
            }
        };
        let workdir = place.insert(workdir);
        workdir.begin_turn(turn.number());
        workdir.lay_out(context.workspace()).await?;
        Ok(Entered { place, _turn: turn })
    }

    /// Runs a shell script with the chat's files. Returns how it ended, and the changed files as lines for the model.
    pub(super) async fn run_script(
        &self,
        context: &ToolContext,
        script: &str,
        variables: &[(&str, &str)],
    ) -> Result<(Outcome, Vec<String>), ToolFailure> {
        let mut entered = self.enter(context).await?;
        let command = self
            .sandbox
            .shell(entered.workdir()?.folder(), script)
            .limits(self.limits.clone());
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

    /// Runs a piece of Python with the chat's files. Returns whether that was in a new process, how it ended, and the changed
    /// files as lines for the model.
    pub(super) async fn run_cell(
        &self,
        context: &ToolContext,
        code: &str,
        restart: bool,
    ) -> Result<(bool, Cell, Vec<String>), ToolFailure> {
        let mut entered = self.enter(context).await?;
        let workdir = entered.workdir()?;
        if restart {
            workdir.end_session();
        }
        let printer = Printer::default();
        let (shown, print) = (printer.clone(), move |_, text: &str| printer.print(text));
        let running = workdir.run_cell(&self.sandbox, &self.limits, code, print);
        let (started, cell) = watched(context, &shown, running)
            .await
            .map_err(|error| ToolFailure(format!("It could not be run: {error}.")))?;
        Ok((started, cell, entered.take_over(context).await?))
    }

    /// How long a call may take.
    fn longest(&self) -> Duration {
        let Limits {
            wall_ms,
            interrupt_grace_ms,
            ..
        } = self.limits;
        Duration::from_millis(wall_ms.saturating_add(interrupt_grace_ms)) + COPYING
    }

    fn slot(&self, name: &str) -> Arc<AsyncMutex<Option<Workdir>>> {
        let mut workdirs = self.workdirs.lock().unwrap_or_else(PoisonError::into_inner);
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
    pub(super) fn sweep(&self) {
        let mut workdirs = self.workdirs.lock().unwrap_or_else(PoisonError::into_inner);
        // A program is running in one of the working directories.
        let rests = |_: &String, slot: &mut Slot| {
            Arc::strong_count(&slot.workdir) == 1 && slot.entered.elapsed() >= IDLE
        };
        leave(workdirs.extract_if(rests).map(|(_, slot)| slot));
    }

    /// Removes the folder and the Python process of a deleted chat or run.
    pub(super) fn forget(&self, name: &str) {
        leave(
            self.workdirs
                .lock()
                .unwrap_or_else(PoisonError::into_inner)
                .remove(name),
        );
    }
}

/// A chat's working directory, held for one call.
struct Entered {
    place: tokio::sync::OwnedMutexGuard<Option<Workdir>>,
    _turn: Turn,
}

impl Entered {
    /// The working directory.
    fn workdir(&mut self) -> Result<&mut Workdir, ToolFailure> {
        self.place
            .as_mut()
            .ok_or_else(|| ToolFailure("The chat's folder is gone. Run it again.".to_owned()))
    }

    /// Copies files changed by programs into the chat. Returns the changes as lines for the model.
    async fn take_over(&mut self, context: &ToolContext) -> Result<Vec<String>, ToolFailure> {
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
