//! Programs on this machine. Each chat has a working directory on disk, synchronized with the chat's files, and a Python
//! process.

use std::{path::PathBuf, time::Duration};

use sandbox::{Cell, Limits, Outcome, Place, Sandbox, Workdirs, discard};

use super::{
    turn::{COPYING, Turn},
    watched::{Printer, watched},
    workdir::Workdir,
};
use crate::{ToolFailure, tool::ToolContext};

/// The working directories and processes of all chats.
#[derive(Debug)]
pub(super) struct Here {
    workdirs: Workdirs<Workdir>,
    pub(super) limits: Limits,
}

impl Here {
    /// Programs sandboxed by `sandbox`. Chats' working directories are created in `folder`, which is emptied first.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub(super) fn open(sandbox: Sandbox, folder: PathBuf, limits: Limits) -> std::io::Result<Self> {
        let workdirs = Workdirs::open(sandbox, folder)?;
        Ok(Self { workdirs, limits })
    }

    pub(super) fn sandbox(&self) -> &Sandbox {
        self.workdirs.sandbox()
    }

    /// Waits until no other program of the chat runs, on any server, and copies its files into the working directory.
    async fn enter(&self, context: &ToolContext) -> Result<Entered, ToolFailure> {
        let mut place = self.workdirs.enter(context.workspace().name()).await;
        let turn = Turn::begin(context.workspace(), self.longest()).await?;
        let workdir = match place.take() {
            Some(workdir) if !workdir.is_half_done() && turn.follows(workdir.turn()) => workdir,
            other => {
                // Files that a stopped program has left are discarded.
                discard(other);
                let made = self.workdirs.make().await;
                Workdir::new(made.map_err(|error| {
                    ToolFailure(format!("The files could not be laid out: {error}."))
                })?)
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
            .sandbox()
            .shell(entered.workdir()?.inner().folder(), script)
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
        let printer = Printer::default();
        let (shown, print) = (printer.clone(), move |_, text: &str| printer.print(text));
        let running = workdir
            .inner()
            .run_cell(self.sandbox(), &self.limits, code, restart, print);
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

    /// Removes the folders and Python processes of idle chats; their files are kept. To be called periodically.
    pub(super) fn sweep(&self) {
        self.workdirs.sweep();
    }

    /// Removes the folder and the Python process of a deleted chat or run.
    pub(super) fn forget(&self, name: &str) {
        self.workdirs.forget(name);
    }
}

/// A chat's working directory, held for one call.
struct Entered {
    place: Place<Workdir>,
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
