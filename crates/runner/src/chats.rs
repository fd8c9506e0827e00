//! The folders and Python processes of chats on this runner.

use std::{
    collections::{BTreeMap, HashMap},
    io,
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicUsize, Ordering},
    },
    time::Duration,
};

use runner_protocol::Sha256;
use sandbox::{Folder, Sandbox, Session};
use tokio::{
    sync::{Mutex as AsyncMutex, OwnedMutexGuard},
    time::Instant,
};

/// A chat whose programs have been idle this long loses its folder and its Python variables.
const IDLE: Duration = Duration::from_secs(20 * 60);
/// Maximum number of chats with a folder; beyond it, the longest idle are evicted.
const MAX_CHATS: usize = 64;

/// All chats.
#[derive(Debug)]
pub(crate) struct Chats {
    folder: PathBuf,
    slots: Mutex<HashMap<String, Slot>>,
    /// Makes the names of folders unique.
    made: AtomicUsize,
}

#[derive(Debug)]
struct Slot {
    chat: Arc<AsyncMutex<Option<Chat>>>,
    entered: Instant,
}

/// The folder and the Python process of a chat. Taken out of its place while a program runs, so that it is removed if that is
/// stopped.
#[derive(Debug)]
pub(crate) struct Chat {
    path: PathBuf,
    pub(crate) folder: Folder,
    /// The files that the servers know, as they are in the folder.
    pub(crate) known: BTreeMap<String, Known>,
    pub(crate) session: Option<Session>,
    /// The number of the last call.
    pub(crate) turn: u64,
}

/// A file in the folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Known {
    pub(crate) sha256: Sha256,
    pub(crate) size_bytes: u64,
    pub(crate) changed_ms: i64,
}

/// The place of a chat, held during a call.
pub(crate) type Place = OwnedMutexGuard<Option<Chat>>;

impl Chats {
    pub(crate) fn new(folder: PathBuf) -> io::Result<Self> {
        sandbox::remove_folder(&folder)?;
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(true);
        // The files of chats are in it.
        #[cfg(unix)]
        std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
        builder.create(&folder)?;
        Ok(Self {
            folder,
            slots: Mutex::default(),
            made: AtomicUsize::new(0),
        })
    }

    /// Waits until no other call of the chat runs here.
    pub(crate) async fn enter(&self, workspace: &str) -> Place {
        let chat = self.slot(workspace);
        chat.lock_owned().await
    }

    /// An empty folder for a chat.
    pub(crate) fn new_chat(&self, sandbox: &Sandbox) -> io::Result<Chat> {
        let number = self.made.fetch_add(1, Ordering::Relaxed);
        let path = self.folder.join(number.to_string());
        sandbox::remove_folder(&path)?;
        let folder = sandbox.folder(&path)?;
        Ok(Chat {
            path,
            folder,
            known: BTreeMap::new(),
            session: None,
            turn: 0,
        })
    }

    /// Removes idle chats.
    pub(crate) fn sweep(&self) {
        let rests = |_: &String, slot: &mut Slot| {
            Arc::strong_count(&slot.chat) == 1 && slot.entered.elapsed() >= IDLE
        };
        leave(self.slots().extract_if(rests).map(|(_, slot)| slot));
    }

    fn slot(&self, workspace: &str) -> Arc<AsyncMutex<Option<Chat>>> {
        let mut slots = self.slots();
        if slots.len() >= MAX_CHATS && !slots.contains_key(workspace) {
            let resting = slots
                .iter()
                .filter(|(_, slot)| Arc::strong_count(&slot.chat) == 1);
            let oldest = resting.min_by_key(|(_, slot)| slot.entered);
            let oldest = oldest.map(|(name, _)| name.clone());
            leave(oldest.and_then(|oldest| slots.remove(&oldest)));
        }
        let entered = Instant::now();
        let slot = slots.entry(workspace.to_owned()).or_insert_with(|| Slot {
            chat: Arc::default(),
            entered,
        });
        slot.entered = entered;
        Arc::clone(&slot.chat)
    }

    fn slots(&self) -> std::sync::MutexGuard<'_, HashMap<String, Slot>> {
        self.slots.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Chat {
    fn drop(&mut self) {
        self.session = None;
        remove(&self.path);
    }
}

fn remove(path: &Path) {
    if let Err(error) = sandbox::remove_folder(path) {
        tracing::warn!(%error, "failed to remove a chat's folder");
    }
}

/// Removes chats on a blocking thread, since folders may be large.
fn leave(slots: impl IntoIterator<Item = Slot>) {
    let slots: Vec<Slot> = slots.into_iter().collect();
    if !slots.is_empty() {
        tokio::task::spawn_blocking(move || drop(slots));
    }
}

/// Removes a chat's folder on a blocking thread.
pub(crate) fn discard(chat: Option<Chat>) {
    if let Some(chat) = chat {
        tokio::task::spawn_blocking(move || drop(chat));
    }
}
