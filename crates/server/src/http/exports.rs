//! Exports an account's data as JSON Lines, generated while it is sent: at any time, only one chat's messages, one part
//! of a log or one file is in memory.

use std::{
    collections::{BTreeSet, HashMap},
    io,
    sync::Arc,
};

use axum::{
    body::Body,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use base64::{Engine, engine::general_purpose::STANDARD};
use bytes::Bytes;
use domain::{ChatId, CollectionId, DocumentId, FolderId, RunId};
use futures_util::stream;
use jiff::Timestamp;
use store::{
    Alternatives, Chat, ChatMessage, ChatOrganization, DocumentMetadata, DocumentReaders, Fact,
    Memory, MetadataOrigin, Run, Schedule, StoreError, UserRole, noting_damage,
};
use tokio::sync::mpsc;
use wire::export::{self, Line, are_lines, log_line};

use super::files::content::named;
use crate::{
    app::App, chat::transfer_slots::Held, documents::fields_view, error::ApiError,
    http::extract::Path, http::openapi::Operations, identity::auth::Caller,
};

/// Bytes per chunk of the response, and the number of chunks queued for a slow client.
const PIECE_BYTES: usize = 64_000;
const PIECES: usize = 4;
/// Chats or runs per query.
const PAGE: u32 = 100;
/// Approximate number of bytes of a log per line.
const LOG_BYTES: usize = 1_000_000;
/// Maximum number of damaged records that are listed.
const MAX_DAMAGED: usize = 1_000;
/// Bytes of a document's file in one line.
const PART_BYTES: usize = 6_000_000;

/// `GET /api/v1/me/export`: exports everything of the caller, without secrets.
pub(super) async fn get(State(app): State<Arc<App>>, caller: Caller) -> Result<Response, ApiError> {
    let held = app.transfer_slots.begin(caller.id()).await?;
    let name = format!("glasshouse-{}.jsonl", today(&app)?);
    send(app, caller, What::All, name, held)
}

/// `GET /api/v1/chats/{chat}/export`: exports one of the caller's chats in the format that the import reads.
pub(super) async fn get_one(
    State(app): State<Arc<App>>,
    caller: Caller,
    Path(chat): Path<ChatId>,
) -> Result<Response, ApiError> {
    let chat = app.store.chat(&caller.principal(), chat).await?;
    let held = app.transfer_slots.begin(caller.id()).await?;
    let name = format!("chat-{}.jsonl", today(&app)?);
    send(app, caller, What::Chat(Box::new(chat)), name, held)
}

fn today(app: &App) -> Result<String, ApiError> {
    let now = Timestamp::from_millisecond(app.clock.now_ms()).map_err(ApiError::internal)?;
    Ok(now.strftime("%Y-%m-%d").to_string())
}

/// What to export.
enum What {
    All,
    Chat(Box<Chat>),
}

fn send(
    app: Arc<App>,
    caller: Caller,
    what: What,
    name: String,
    held: Held,
) -> Result<Response, ApiError> {
    let (pieces, receiver) = mpsc::channel(PIECES);
    let ends = app.identity.standing.ends(&caller);
    let folders = HashMap::new();
    let damaged = BTreeSet::new();
    let writing = Export {
        app: app.clone(),
        caller,
        folders,
        pieces,
        piece: Vec::new(),
        lines: 0,
        damaged,
    };
    app.tasks.spawn(async move {
        let _held = held;
        let stopping = writing.app.stopping.clone();
        // If access is revoked or the server stops, the missing last line tells the client that the export is
        // incomplete.
        tokio::select! {
            () = ends.cancelled() => {}
            () = stopping.cancelled() => {}
            () = writing.run(what) => {}
        }
    });
    let body = stream::unfold(receiver, async |mut receiver| {
        Some((receiver.recv().await?, receiver))
    });
    let mut response = Body::from_stream(body).into_response();
    let headers = response.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/x-ndjson"),
    );
    headers.insert(header::CONTENT_DISPOSITION, named("attachment", &name));
    headers.insert(
        header::CACHE_CONTROL,
        HeaderValue::from_static("private, no-store"),
    );
    Ok(response)
}

/// Why an export ends early.
enum Stop {
    /// The client disconnected.
    Left,
    /// The database does not respond.
    Failed(ApiError),
}

impl<E: Into<ApiError>> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Failed(error.into())
    }
}

/// An export in progress.
struct Export {
    app: Arc<App>,
    caller: Caller,
    /// The names of the folders.
    folders: HashMap<FolderId, String>,
    pieces: mpsc::Sender<io::Result<Bytes>>,
    piece: Vec<u8>,
    lines: u64,
    /// The records that could not be read, without duplicates.
    damaged: BTreeSet<(String, String)>,
}

impl Export {
    async fn run(mut self, what: What) {
        let written = match what {
            What::All => self.write().await,
            What::Chat(chat) => self.write_one(*chat).await,
        };
        match written {
            Ok(()) | Err(Stop::Left) => {}
            Err(Stop::Failed(error)) => {
                tracing::warn!(%error, "failed to write an export");
                _ = self
                    .pieces
                    .send(Err(io::Error::other("the export broke off")))
                    .await;
            }
        }
    }

    /// Writes one chat between the first and the last line.
    async fn write_one(&mut self, chat: Chat) -> Result<(), Stop> {
        self.head().await?;
        self.chat(chat).await?;
        self.end().await
    }

    async fn head(&mut self) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let folders = self
            .readable("folders", app.store.folders(self.caller.id()))
            .await?;
        self.folders = folders
            .into_iter()
            .map(|folder| (folder.id, folder.name))
            .collect();
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let made_at = self.app.clock.now_ms();
        self.line(&Line::GlasshouseExport(export::Head {
            format: export::FORMAT,
            version,
            made_at,
        }))
        .await
    }

    async fn end(&mut self) -> Result<(), Stop> {
        for (of, why) in std::mem::take(&mut self.damaged) {
            self.line(&Line::Damaged(export::Damaged { of, why }))
                .await?;
        }
        self.line(&Line::End(export::End { lines: self.lines }))
            .await?;
        self.send().await
    }

    /// Returns what can be read. Damaged records are listed at the end of the file, and do not prevent the rest from
    /// being exported.
    async fn readable<T: Default>(
        &mut self,
        of: &str,
        asking: impl Future<Output = Result<T, StoreError>>,
    ) -> Result<T, Stop> {
        let (answer, left_out) = noting_damage(asking).await;
        left_out
            .iter()
            .for_each(|error| self.note_damage(of, error));
        match answer {
            Err(error @ StoreError::Corrupt(_)) => {
                self.note_damage(of, &error);
                Ok(T::default())
            }
            answer => Ok(answer?),
        }
    }

    fn note_damage(&mut self, of: &str, error: &StoreError) {
        tracing::error!(of, %error, "skipping damaged data in an export");
        if self.damaged.len() < MAX_DAMAGED {
            self.damaged.insert((of.to_owned(), error.to_string()));
        }
    }

    async fn write(&mut self) -> Result<(), Stop> {
        self.head().await?;
        let user = Arc::clone(&self.caller.user);
        let role = if user.role == UserRole::Admin {
            "admin"
        } else {
            "user"
        };
        let email = user.email.clone();
        let name = user.name.clone();
        let role = role.to_owned();
        let created_at = user.created_at;
        let groups = self.app.groups.known().names_of(user.id);
        self.line(&Line::Profile(export::Profile {
            email,
            name,
            role,
            created_at,
            groups,
        }))
        .await?;
        self.chats().await?;
        self.runs_without_chat().await?;
        let app = Arc::clone(&self.app);
        let owner = user.id;
        for memory in self.readable("memories", app.store.memories(owner)).await? {
            self.line(&memory_line(memory)).await?;
        }
        for fact in self.readable("facts", app.store.facts(owner)).await? {
            self.line(&fact_line(fact)).await?;
        }
        for schedule in self
            .readable("schedules", app.store.schedules(owner))
            .await?
        {
            self.line(&schedule_line(schedule)).await?;
        }
        self.collections().await?;
        for key in self.readable("keys", app.store.api_keys(owner)).await? {
            let name = key.name;
            let created_at = key.created_at;
            let expires_at = key.rights.expires_at;
            self.line(&Line::Key(export::Key {
                name,
                created_at,
                expires_at,
            }))
            .await?;
        }
        if user.role == UserRole::Admin {
            for (name, definition) in self.readable("agents", app.store.agents()).await? {
                self.line(&Line::Agent(export::Agent { name, definition }))
                    .await?;
            }
        }
        self.end().await
    }

    async fn chats(&mut self) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let mut after = None;
        loop {
            let asking = app.store.chats_made_after(self.caller.id(), after, PAGE);
            let page = self.readable("chats", asking).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some(last.id);
            for chat in page {
                self.chat(chat).await?;
            }
        }
    }

    async fn chat(&mut self, chat: Chat) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let id = chat.id;
        let is_directory = chat.directory.is_some();
        let Chat {
            title,
            current,
            directory,
            parameters,
            created_at,
            updated_at,
            unread,
            order,
            ..
        } = chat;
        let ChatOrganization {
            pinned,
            archived,
            folder,
            tags,
        } = order;
        let folder = folder.and_then(|folder| self.folders.get(&folder).cloned());
        let chat = export::Chat {
            id,
            title,
            current,
            created_at,
            updated_at,
            unread,
            directory,
            pinned,
            archived,
            folder,
            tags,
            parameters,
        };
        self.line(&Line::Chat(chat)).await?;
        let of = format!("chat {id}");
        let mut beside = self
            .readable(&of, app.store.alternative_answers(id))
            .await?;
        for message in self.readable(&of, app.store.messages(id)).await? {
            let beside = beside.remove(&message.id);
            self.line(&message_line(message, beside)).await?;
        }
        for run in self.readable(&of, app.store.runs_in(id)).await? {
            self.run_with_log(run).await?;
        }
        // For a directory only earlier versions of its files are stored; the files themselves stay on the machine.
        if is_directory {
            Ok(())
        } else {
            self.files(&id.to_string()).await
        }
    }

    async fn runs_without_chat(&mut self) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let mut after = None;
        loop {
            let asking = app
                .store
                .runs_without_chat_after(self.caller.id(), after, PAGE);
            let page = self.readable("runs", asking).await?;
            let Some(last) = page.last() else {
                return Ok(());
            };
            after = Some(last.id);
            for run in page {
                let workspace = run.id.to_string();
                self.run_with_log(run).await?;
                self.files(&workspace).await?;
            }
        }
    }

    async fn run_with_log(&mut self, run: Run) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let Run {
            id,
            chat,
            message,
            model,
            started_at,
            finished_at,
            summary,
            ..
        } = run;
        let run = export::Run {
            id,
            chat,
            message,
            model,
            started_at,
            finished_at,
            summary,
        };
        self.line(&Line::Run(run)).await?;
        let of = format!("log of {id}");
        let mut after = 0;
        loop {
            let mut segments = self
                .readable(&of, app.store.events_after(id, after, LOG_BYTES))
                .await?;
            // Segments after a gap are not part of the log.
            let whole = segments
                .iter()
                .take_while(|segment| are_lines(&segment.lines))
                .count();
            let is_damaged = whole < segments.len();
            segments.truncate(whole);
            if let Some(last) = segments.last() {
                after = last.last_seq;
                let stored: String = segments.iter().map(|segment| &*segment.lines).collect();
                self.log(id, &stored).await?;
            }
            if is_damaged {
                let error =
                    StoreError::Corrupt(format!("events from {} on are no JSON", after + 1));
                self.note_damage(&of, &error);
            }
            if is_damaged || segments.is_empty() {
                return Ok(());
            }
        }
    }

    /// Writes the stored lines, split into as many export lines as needed to keep each close to `LOG_BYTES`.
    async fn log(&mut self, run: RunId, mut stored: &str) -> Result<(), Stop> {
        while !stored.is_empty() {
            let enough = stored.len().min(LOG_BYTES);
            let end = stored.as_bytes()[enough - 1..]
                .iter()
                .position(|byte| *byte == b'\n');
            let (now, later) = stored.split_at(end.map_or(stored.len(), |end| enough + end));
            self.text(&log_line(run, now)).await?;
            stored = later;
        }
        Ok(())
    }

    async fn files(&mut self, workspace: &str) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        for row in self
            .readable(&format!("files of {workspace}"), app.store.files(workspace))
            .await?
        {
            let of = format!("file {} of {workspace}", row.path);
            // The file may have been deleted or rewritten in the meantime.
            let reading = app.store.read_file(workspace, &row.path);
            let Some(file) = self.readable(&of, reading).await? else {
                continue;
            };
            let base64 = STANDARD.encode(file.content);
            let workspace = workspace.to_owned();
            let path = row.path;
            let changed_at = row.changed_at;
            let file = export::File {
                workspace,
                path,
                version: file.version,
                changed_at,
                base64,
            };
            self.line(&Line::File(file)).await?;
        }
        Ok(())
    }

    async fn collections(&mut self) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let owner = self.caller.id();
        for listed in self
            .readable("collections", app.store.collections(owner))
            .await?
        {
            let store::Collection {
                id,
                owner: of,
                name,
                description,
                open,
                ..
            } = listed.collection;
            if of != owner {
                continue;
            }
            let collection = export::Collection {
                id,
                name,
                description,
                open,
                chat: None,
            };
            self.collection(collection).await?;
        }
        for store::Attachment {
            collection: id,
            name,
            chat,
        } in self
            .readable("collections", app.store.attachments(owner))
            .await?
        {
            let chat = Some(chat);
            self.collection(export::Collection {
                id,
                name,
                description: String::new(),
                open: false,
                chat,
            })
            .await?;
        }
        Ok(())
    }

    async fn collection(&mut self, collection: export::Collection) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let id = collection.id;
        let is_attachment = collection.chat.is_some();
        self.line(&Line::Collection(collection)).await?;
        let of = format!("collection {id}");
        let mut origins = Origins::default();
        if !is_attachment {
            origins = self.origins(id).await?;
            self.sources(id).await?;
        }
        let source = app.store.metadata_of_origin(id, MetadataOrigin::Source);
        let mut source = self.readable(&of, source).await?;
        let people = app.store.metadata_of_origin(id, MetadataOrigin::Person);
        let mut people = self.readable(&of, people).await?;
        for document in self.readable(&of, app.store.documents(id)).await? {
            let of = format!("document {}", document.id);
            let reading = async {
                match app.store.document_file(document.id).await {
                    // Deleted in the meantime.
                    Err(StoreError::NotFound) => Ok(None),
                    file => file.map(Some),
                }
            };
            let Some(file) = self.readable(&of, reading).await? else {
                continue;
            };
            let store::Document {
                id,
                collection,
                name,
                ..
            } = document;
            let size_bytes = file.len() as u64;
            self.line(&Line::Document(export::Document {
                id,
                collection,
                name,
                size_bytes,
                readers: origins.readers.remove(&id).map(readers),
                source: origins.items.remove(&id),
                from_source: tags(source.remove(&id)),
                from_people: tags(people.remove(&id)),
            }))
            .await?;
            for part in file.chunks(PART_BYTES) {
                let part = export::DocumentPart {
                    document: id,
                    base64: STANDARD.encode(part),
                };
                self.line(&Line::DocumentPart(part)).await?;
            }
        }
        Ok(())
    }

    /// The sources of a collection, without their secrets.
    async fn sources(&mut self, collection: CollectionId) -> Result<(), Stop> {
        let app = Arc::clone(&self.app);
        let of = format!("sources of {collection}");
        for (source, _) in self.readable(&of, app.store.sources(collection)).await? {
            self.line(&Line::Source(export::Source {
                id: source.id,
                collection,
                name: source.name,
                settings: source.settings,
                every_minutes: source.every_minutes,
            }))
            .await?;
        }
        Ok(())
    }

    /// Where the documents of a collection come from, and who may read them.
    async fn origins(&mut self, collection: CollectionId) -> Result<Origins, Stop> {
        let app = Arc::clone(&self.app);
        let of = format!("sources of {collection}");
        let reading = app.store.document_readers(collection);
        let readers = self.readable(&of, reading).await?;
        let reading = app.store.synced_documents(collection);
        let synced = self.readable(&of, reading).await?;
        let items = synced.into_iter().map(|synced| {
            let item = export::OfSource {
                source: synced.source,
                id: synced.item.id,
                name: synced.item.name,
                version: synced.item.version,
                modified_at: synced.item.modified_at,
                url: synced.item.url,
            };
            (synced.document, item)
        });
        Ok(Origins {
            readers,
            items: items.collect(),
        })
    }

    async fn line(&mut self, line: &Line) -> Result<(), Stop> {
        let text = serde_json::to_string(line).map_err(ApiError::internal)?;
        self.text(&text).await
    }

    async fn text(&mut self, line: &str) -> Result<(), Stop> {
        self.lines += 1;
        self.piece.extend_from_slice(line.as_bytes());
        self.piece.push(b'\n');
        if self.piece.len() < PIECE_BYTES {
            Ok(())
        } else {
            self.send().await
        }
    }

    async fn send(&mut self) -> Result<(), Stop> {
        let piece = Bytes::from(std::mem::take(&mut self.piece));
        self.pieces.send(Ok(piece)).await.map_err(|_| Stop::Left)
    }
}

/// Where the documents of a collection come from.
#[derive(Default)]
struct Origins {
    readers: HashMap<DocumentId, DocumentReaders>,
    items: HashMap<DocumentId, export::OfSource>,
}

fn readers(readers: DocumentReaders) -> export::Readers {
    export::Readers {
        people: readers.people,
        groups: readers.groups,
        domains: readers.domains,
    }
}

fn tags(of: Option<DocumentMetadata>) -> export::DocumentTags {
    let DocumentMetadata { tags, fields } = of.unwrap_or_default();
    export::DocumentTags {
        tags,
        metadata: fields_view(&fields),
    }
}

fn message_line(message: ChatMessage, beside: Option<Alternatives>) -> Line {
    let ChatMessage {
        id,
        chat,
        parent,
        role,
        content,
        created_at,
        model,
        run,
        summary,
        schedule,
        author,
    } = message;
    let (beside, made_of) = beside
        .map(|Alternatives { first, made_of }| (first, made_of))
        .unzip();
    let made_of = made_of.unwrap_or_default();
    Line::Message(export::Message {
        id,
        chat,
        parent,
        role,
        content,
        created_at,
        model,
        run,
        summary,
        schedule,
        author,
        beside,
        made_of,
    })
}

fn memory_line(memory: Memory) -> Line {
    let Memory {
        id,
        content,
        changed_at,
        ..
    } = memory;
    let store::MemoryContent {
        agent,
        name,
        description,
        text,
        pinned,
    } = content;
    Line::Memory(export::Memory {
        id,
        agent,
        name,
        description,
        text,
        pinned,
        changed_at,
    })
}

fn fact_line(fact: Fact) -> Line {
    let Fact {
        id,
        text,
        chat,
        message,
        learned_at,
        corrected,
    } = fact;
    Line::Fact(export::Fact {
        id,
        text,
        chat,
        message,
        learned_at,
        corrected,
    })
}

fn schedule_line(schedule: Schedule) -> Line {
    let content = schedule.content;
    Line::Schedule(export::Schedule {
        id: schedule.id,
        name: content.name,
        prompt: content.prompt,
        model: content.model,
        cron: content.cron,
        once_at: content.once_at,
        time_zone: content.time_zone,
        new_chat: content.new_chat,
        enabled: content.enabled,
    })
}

/// Describes the export of an account.
pub(super) fn operations(api: &mut Operations) {
    api.operation("GET /api/v1/me/export", "Exports everything of the caller as [JSON Lines](docs/team/your-data.md)")
        .details("It is created while it is sent; the last line is `end`. A key must have no scopes. 409 while \
         another export or import of the caller is in progress, 429 while too many others are.")
        .answers_media(200, &["application/x-ndjson"])
        .errors(&[409, 429]);
}

/// Describes the export of a chat.
pub(super) fn chat_operations(api: &mut Operations) {
    api.operation("GET /api/v1/chats/{chat}/export", "Exports a chat with its messages, runs, logs and files as [JSON Lines](docs/team/your-data.md)")
        .details("409 while another export or import of the caller is in progress.")
        .answers_media(200, &["application/x-ndjson"])
        .errors(&[409, 429]);
}
