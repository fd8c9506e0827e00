//! The files of chats that other products export: pictures become parts of their message, other files are attached to it
//! as if the person had uploaded them.

mod naming;

use std::collections::HashSet;

use agent::workspace::{BYTES_LIMIT, FILES_LIMIT, Path as FilePath};
use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{CollectionId, DocumentId, Part, Role, UserId};
use wire::chat_exports as there;

use self::naming::{Kind, file_name, kind_of, text_name};
use super::{
    archive::{Archive, Unpacked},
    collections::MAX_ATTACHED,
    report::Report,
};
use crate::{
    app::App,
    error::ApiError,
    http::knowledge::{attachments, documents},
    messages,
};

/// Maximum size of a picture, bytes.
const PICTURE_BYTES: usize = 10_000_000;
/// Maximum size of all files of a chat, bytes: they are in memory until it is stored.
const CHAT_FILES_BYTES: u64 = 100_000_000;
/// The folder of attached files in a workspace.
const FOLDER: &str = "/attachments";

/// The files of an import.
pub(super) struct Media<'a> {
    app: &'a App,
    owner: UserId,
    archive: Option<Archive>,
}

/// The files of a chat that is about to be stored.
pub(super) struct Prepared {
    /// The parts that each message has besides its text.
    pub(super) parts: Vec<Vec<Part>>,
    /// The files for the chat's workspace.
    pub(super) files: Vec<PlacedFile>,
    /// The collections of attachments, which belong to no chat yet.
    pub(super) collections: Vec<CollectionId>,
    paths: HashSet<String>,
    left_bytes: u64,
}

pub(super) struct PlacedFile {
    /// The index of its message.
    pub(super) message: usize,
    pub(super) path: String,
    pub(super) bytes: Vec<u8>,
}

impl<'a> Media<'a> {
    pub(super) fn new(app: &'a App, owner: UserId, archive: Option<Archive>) -> Self {
        Self {
            app,
            owner,
            archive,
        }
    }

    /// Reads the files that a chat mentions.
    ///
    /// # Errors
    /// If the database or the disk fails.
    pub(super) async fn prepare(
        &mut self,
        chat: &there::Chat,
        title: &str,
        report: &mut Report,
    ) -> Result<Prepared, ApiError> {
        let mut prepared = Prepared {
            parts: vec![Vec::new(); chat.messages.len()],
            files: Vec::new(),
            collections: Vec::new(),
            paths: HashSet::new(),
            left_bytes: CHAT_FILES_BYTES,
        };
        let done = self.files(chat, title, &mut prepared, report).await;
        if done.is_err() {
            self.discard(&prepared).await?;
        }
        done.map(|()| prepared)
    }

    async fn files(
        &mut self,
        chat: &there::Chat,
        title: &str,
        prepared: &mut Prepared,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        for (at, message) in chat.messages.iter().enumerate() {
            for asset in &message.assets {
                let limit = self
                    .app
                    .config
                    .now()
                    .knowledge
                    .file_bytes
                    .max(PICTURE_BYTES as u64);
                let limit = limit.min(prepared.left_bytes);
                let unpacked = match &mut self.archive {
                    Some(archive) => archive.file(&asset.id, limit).await?,
                    None => Unpacked::Missing,
                };
                let named = if asset.name.is_empty() {
                    title
                } else {
                    &asset.name
                };
                match unpacked {
                    Unpacked::File { name, bytes } => {
                        let name = if asset.name.is_empty() {
                            &name
                        } else {
                            &asset.name
                        };
                        self.file(at, message.role, name, bytes, prepared, report)
                            .await?;
                    }
                    Unpacked::Missing => report.leave("file", named, messages::Imports::OnlyName),
                    Unpacked::Damaged => report.leave("file", named, messages::Imports::Damaged),
                    Unpacked::TooLarge => {
                        report.leave("file", named, messages::Imports::NoRoomInChat);
                    }
                }
            }
            for text in &message.texts {
                let name = text_name(&text.name);
                let bytes = text.text.clone().into_bytes();
                self.file(at, message.role, &name, bytes, prepared, report)
                    .await?;
            }
        }
        Ok(())
    }

    /// Adds a file to its message.
    async fn file(
        &self,
        message: usize,
        role: Role,
        name: &str,
        bytes: Vec<u8>,
        prepared: &mut Prepared,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let Some(left_bytes) = prepared.left_bytes.checked_sub(bytes.len() as u64) else {
            report.leave("file", name, messages::Imports::NoRoomInChat);
            return Ok(());
        };
        match kind_of(&bytes) {
            Kind::Picture(kind) if bytes.len() <= PICTURE_BYTES => {
                prepared.left_bytes = left_bytes;
                let url = format!("data:{kind};base64,{}", STANDARD.encode(&bytes));
                prepared.parts[message].push(Part::Image { url });
                return Ok(());
            }
            Kind::Recording => {
                report.leave("file", "", messages::Imports::RecordingsStay);
                return Ok(());
            }
            Kind::Picture(_) | Kind::Other => {}
        }
        let name = file_name(name);
        let path = prepared.free_path(&name, bytes.len());
        if role == Role::User {
            match self.attach(&name, &bytes, prepared).await {
                Ok((collection, document)) => prepared.parts[message].push(Part::Document {
                    collection,
                    document,
                    name: name.clone(),
                    path: path.clone(),
                }),
                Err(refused) if refused.is_ours() => return Err(refused),
                Err(refused) => {
                    report.leave("file", &name, refused.problem().clone().words());
                    return Ok(());
                }
            }
        } else if path.is_none() {
            report.leave("file", &name, messages::Imports::NoRoomInChat);
        }
        prepared.left_bytes = left_bytes;
        if let Some(path) = path {
            prepared.paths.insert(path.clone());
            prepared.files.push(PlacedFile {
                message,
                path,
                bytes,
            });
        }
        Ok(())
    }

    /// Stores an attachment that belongs to no chat yet: if the import ends here, it is deleted after a day.
    async fn attach(
        &self,
        name: &str,
        bytes: &[u8],
        prepared: &mut Prepared,
    ) -> Result<(CollectionId, DocumentId), ApiError> {
        let (id, document) = (CollectionId::generate(), DocumentId::generate());
        let now = self.app.clock.now_ms();
        let collection = attachments::collection(id, self.owner, name, now);
        self.app
            .store
            .create_collection(&collection, MAX_ATTACHED)
            .await?;
        match documents::keep(self.app, self.owner, id, document, name, bytes).await {
            Ok(_) => {
                prepared.collections.push(id);
                Ok((id, document))
            }
            Err(refused) => {
                self.app.store.delete_collection(self.owner, id).await?;
                Err(refused)
            }
        }
    }

    /// Deletes the attachments of a chat that was not stored.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn discard(&self, prepared: &Prepared) -> Result<(), ApiError> {
        for collection in &prepared.collections {
            self.app
                .store
                .delete_collection(self.owner, *collection)
                .await?;
        }
        Ok(())
    }

    /// Reports the entries of the archive that were not needed.
    pub(super) fn leave_rest(&self, report: &mut Report) {
        let Some(archive) = &self.archive else {
            return;
        };
        for name in archive.others() {
            report.leave("file", name, messages::Imports::NotChats);
        }
        if archive.unused() > 0 {
            report.leave_some(
                "file",
                "",
                messages::Imports::NotMentioned,
                archive.unused(),
            );
        }
    }
}

impl Prepared {
    /// A path for a file of this name; `None` if the workspace has no room for it.
    fn free_path(&self, name: &str, size_bytes: usize) -> Option<String> {
        if size_bytes > BYTES_LIMIT || self.files.len() == FILES_LIMIT {
            return None;
        }
        let paths = (1..=FILES_LIMIT + 1).map(|number| match number {
            1 => format!("{FOLDER}/{name}"),
            number => format!("{FOLDER}/{number}/{name}"),
        });
        let free = paths.into_iter().find(|path| !self.paths.contains(path))?;
        Some(FilePath::parse_file(&free).ok()?.to_string())
    }
}
