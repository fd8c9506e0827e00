//! Imports collections of documents: each document is stored once its file is complete, and is parsed again here.

use std::collections::{HashMap, HashSet};

use base64::{Engine, engine::general_purpose::STANDARD};
use domain::{ChatId, CollectionId, DocumentId};
use store::{Collection, Principal, StoreError};
use wire::export;

use super::{ids::Ids, report::Report};
use crate::{
    app::App,
    error::ApiError,
    http::knowledge::{self, attachments, documents},
    identity::auth::Caller,
    messages,
};

/// Maximum number of attachments without a chat during an import.
pub(super) const MAX_ATTACHED: u32 = 1_000;

/// The imported collections, and the document whose file is being received.
#[derive(Default)]
pub(super) struct Documents {
    /// The collections of the file, with their ids and the names of their documents here.
    collections: HashMap<CollectionId, Here>,
    open: Option<Open>,
}

struct Here {
    id: CollectionId,
    names: HashSet<String>,
}

struct Open {
    id: DocumentId,
    /// Its id on this server.
    here: DocumentId,
    collection: CollectionId,
    name: String,
    size_bytes: u64,
    file: Vec<u8>,
}

impl Documents {
    /// Imports a collection: uses the existing one, or creates one that only its owner can see.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn collection(
        &mut self,
        app: &App,
        caller: &Caller,
        ids: Ids,
        there: export::Collection,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let owner = caller.id();
        for id in [there.id, ids.collection(there.id)] {
            match app.store.readable_collection(owner, id).await {
                Ok(here) if here.owner == owner => {
                    report.here().collections += 1;
                    let documents = app.store.documents(id).await?;
                    let names = documents
                        .into_iter()
                        .map(|document| document.name)
                        .collect();
                    self.collections.insert(there.id, Here { id, names });
                    return Ok(());
                }
                Ok(_) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        let id = ids.collection(there.id);
        let made = match there.chat {
            // The collection is not open: the file must not decide who else may see it.
            None => knowledge::make(app, id, owner, &there.name, &there.description, false).await,
            Some(chat) => attach(app, id, ids, chat, &there.name).await,
        };
        match made {
            Ok(_) => {
                report.made().collections += 1;
                self.collections.insert(
                    there.id,
                    Here {
                        id,
                        names: HashSet::new(),
                    },
                );
                Ok(())
            }
            Err(refused) if refused.is_ours() => Err(refused),
            Err(refused) => {
                report.leave("collection", &there.name, refused.problem().clone().words());
                Ok(())
            }
        }
    }

    /// A document whose file follows.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn document(
        &mut self,
        app: &App,
        ids: Ids,
        there: export::Document,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let export::Document {
            id,
            collection,
            name,
            size_bytes,
        } = there;
        let most = app.config.now().knowledge.file_bytes;
        match self.collections.get(&collection) {
            None => report.leave("document", &name, messages::Imports::CollectionNotHere),
            Some(here) if here.names.contains(&name) => report.here().documents += 1,
            Some(_) if size_bytes > most => {
                report.leave(
                    "document",
                    &name,
                    messages::Imports::FileOver {
                        limit: most / 1_000_000,
                    },
                );
            }
            Some(here) => {
                let here_id = ids.document(id);
                self.open = Some(Open {
                    id,
                    here: here_id,
                    collection: here.id,
                    name,
                    size_bytes,
                    file: Vec::new(),
                });
            }
        }
        Ok(())
    }

    /// Adds a part to the document's file and stores the document after the last one. Parts of skipped documents are
    /// ignored.
    ///
    /// # Errors
    /// If the database fails.
    pub(super) async fn part(
        &mut self,
        app: &App,
        caller: &Caller,
        part: &export::DocumentPart,
        report: &mut Report,
    ) -> Result<(), ApiError> {
        let Some(mut open) = self.open.take_if(|open| open.id == part.document) else {
            return Ok(());
        };
        let is_room = |open: &Open, more: usize| (open.file.len() + more) as u64 <= open.size_bytes;
        match STANDARD.decode(&part.base64) {
            Ok(bytes) if is_room(&open, bytes.len()) => open.file.extend(bytes),
            _ => {
                report.leave("document", &open.name, messages::Imports::Damaged);
                return Ok(());
            }
        }
        if (open.file.len() as u64) < open.size_bytes {
            self.open = Some(open);
            return Ok(());
        }
        let Open {
            here,
            collection,
            name,
            file,
            ..
        } = open;
        match documents::keep(app, caller.id(), collection, here, &name, &file).await {
            Ok(_) => report.made().documents += 1,
            Err(refused) if refused.is_ours() => return Err(refused),
            Err(refused) => report.leave("document", &name, refused.problem().clone().words()),
        }
        Ok(())
    }

    /// Ends the current document when another line follows: an incomplete file will not be completed.
    pub(super) fn end(&mut self, report: &mut Report) {
        if let Some(open) = self.open.take() {
            report.leave("document", &open.name, messages::Imports::DocumentNotWhole);
        }
    }
}

/// Creates the collection of a file that was attached to a message. Its chat was imported before or still exists.
async fn attach(
    app: &App,
    id: CollectionId,
    ids: Ids,
    chat: ChatId,
    name: &str,
) -> Result<Collection, ApiError> {
    let owner = ids.0;
    for chat in [chat, ids.chat(chat)] {
        match app.store.chat(&Principal::of_account(owner), chat).await {
            Ok(_) => {
                let new = attachments::collection(id, owner, name, app.clock.now_ms());
                app.store.create_collection(&new, MAX_ATTACHED).await?;
                app.store.assign_attachment(owner, id, chat).await?;
                return Ok(new);
            }
            Err(StoreError::NotFound) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(ApiError::not_found(messages::Imports::ChatNotHere))
}
