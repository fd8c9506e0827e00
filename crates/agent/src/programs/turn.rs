//! The turn of this server to run programs of a chat, where several share the database.

use std::time::Duration;

use store::{Store, StoreError};
use tokio::{runtime::Handle, time::sleep};

use crate::{ToolFailure, workspace::Workspace};

/// How often it is looked whether another server's turn has ended.
const LOOK_AGAIN: Duration = Duration::from_millis(250);
/// Added to the time limit of programs, for copying files before and after.
pub(super) const COPYING: Duration = Duration::from_secs(60);

/// A turn, which ends when dropped.
pub(super) struct Turn {
    store: Store,
    workspace: String,
    /// `None` if servers do not share the database.
    number: Option<i64>,
}

impl Turn {
    /// Waits until no other server runs programs of this chat, and begins a turn of at most this length. A server that has
    /// stopped has no turns.
    pub(super) async fn begin(
        workspace: &Workspace,
        longest: Duration,
    ) -> Result<Self, ToolFailure> {
        let store = workspace.store();
        let name = workspace.name();
        let mut number = None;
        if store.is_shared() {
            while number.is_none() {
                number = store
                    .begin_program_turn(name, longest)
                    .await
                    .map_err(refused)?;
                if number.is_none() {
                    sleep(LOOK_AGAIN).await;
                }
            }
        }
        Ok(Self {
            store: store.clone(),
            workspace: name.to_owned(),
            number,
        })
    }

    pub(super) fn number(&self) -> Option<i64> {
        self.number
    }

    /// Whether no other server had a turn after that one: the files of the folder and the Python variables are the latest.
    pub(super) fn follows(&self, last: Option<i64>) -> bool {
        match self.number {
            None => true,
            Some(number) => last.is_some_and(|last| last + 1 == number),
        }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let (Some(number), Ok(runtime)) = (self.number, Handle::try_current()) else {
            return;
        };
        let (store, workspace) = (self.store.clone(), std::mem::take(&mut self.workspace));
        runtime.spawn(async move {
            // Otherwise it ends with its time.
            if let Err(error) = store.end_program_turn(&workspace, number).await {
                tracing::warn!(%error, "failed to end the turn of a program");
            }
        });
    }
}

pub(super) fn refused(error: StoreError) -> ToolFailure {
    ToolFailure(format!("Programs cannot run now: {error}."))
}
