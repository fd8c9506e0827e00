//! Programs that agents run: in the sandbox of this machine, or on runners.

mod apply;
mod here;
mod known_files;
mod remote;
mod result;
mod sync;
mod turn;
mod waiting;
mod watched;
mod workdir;

use std::{path::PathBuf, sync::Arc};

use sandbox::{Cell, Limits, Outcome, Sandbox};

use crate::{ToolFailure, tool::ToolContext, tool::ToolKind};
use here::Here;
pub use remote::{RunnerQueue, RunnerSettings, RunnerSignals};

/// The programs of all chats. Cheap to clone.
#[derive(Debug, Clone)]
pub struct Programs(Place);

#[derive(Debug, Clone)]
enum Place {
    /// In the sandbox of this machine.
    Here(Arc<Here>),
    /// On runners, with what they have.
    Runners(RunnerQueue, Arc<sandbox::Programs>),
}

impl Programs {
    /// Programs sandboxed by `sandbox`. Chats' working directories are created in `folder`, which is emptied first.
    ///
    /// # Errors
    /// If the folder cannot be created.
    pub fn open(sandbox: Sandbox, folder: PathBuf, limits: Limits) -> std::io::Result<Self> {
        Ok(Self(Place::Here(Arc::new(Here::open(
            sandbox, folder, limits,
        )?))))
    }

    /// Programs on runners, which have these.
    #[must_use]
    pub fn on_runners(queue: RunnerQueue, found: sandbox::Programs) -> Self {
        Self(Place::Runners(queue, Arc::new(found)))
    }

    /// The programs available in the sandbox.
    #[must_use]
    pub fn found(&self) -> &sandbox::Programs {
        match &self.0 {
            Place::Here(here) => here.sandbox().programs(),
            Place::Runners(_, found) => found,
        }
    }

    /// How the resource usage of programs is accounted, as a sentence for an administrator.
    #[must_use]
    pub fn accounting(&self) -> String {
        match &self.0 {
            Place::Here(here) => here.sandbox().accounting(),
            Place::Runners(..) => "runners account for them".to_owned(),
        }
    }

    pub(crate) fn limits(&self) -> &Limits {
        match &self.0 {
            Place::Here(here) => &here.limits,
            Place::Runners(queue, _) => queue.limits(),
        }
    }

    /// Whether calls are continued after a crash of the server.
    pub(crate) fn kind(&self) -> ToolKind {
        match self.0 {
            Place::Here(_) => ToolKind::PROGRAM,
            Place::Runners(..) => ToolKind::REMOTE_PROGRAM,
        }
    }

    /// Runs a shell script with the chat's files. Returns how it ended, and the changed files as lines for the model.
    pub(crate) async fn run_script(
        &self,
        context: &ToolContext,
        script: &str,
        variables: &[(&str, &str)],
    ) -> Result<(Outcome, Vec<String>), ToolFailure> {
        match &self.0 {
            Place::Here(here) => here.run_script(context, script, variables).await,
            Place::Runners(queue, _) => queue.run_script(context, script, variables).await,
        }
    }

    /// Runs a piece of Python with the chat's files. Returns whether that was in a new process, how it ended, and the changed
    /// files as lines for the model.
    pub(crate) async fn run_cell(
        &self,
        context: &ToolContext,
        code: &str,
        restart: bool,
    ) -> Result<(bool, Cell, Vec<String>), ToolFailure> {
        match &self.0 {
            Place::Here(here) => here.run_cell(context, code, restart).await,
            Place::Runners(queue, _) => queue.run_cell(context, code, restart).await,
        }
    }

    /// Removes the folders and Python processes of idle chats. To be called periodically.
    pub fn sweep(&self) {
        match &self.0 {
            Place::Here(here) => here.sweep(),
            Place::Runners(queue, _) => queue.sweep(),
        }
    }

    /// Removes the folder and the Python process of a deleted chat or run.
    pub fn forget(&self, name: &str) {
        match &self.0 {
            Place::Here(here) => here.forget(name),
            Place::Runners(queue, _) => queue.forget(name),
        }
    }
}
