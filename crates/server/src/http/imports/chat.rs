//! Writes a surveyed chat in one transaction, with its own ids and the importing user as its owner.

use domain::{
    EventBody, MessageId, Part, RunEvent, RunId,
    event::{Author, Forked},
};
use store::{
    Alternatives, Chat, ChatImport, ChatMessage, ChatOrganization, EndedRun, Principal, Segment,
    StoreError,
};
use wire::export::{self, Line};

use super::{
    ids::Ids,
    report::Report,
    spool::Lines,
    survey::{Survey, read_file},
};
use crate::{
    app::App,
    error::ApiError,
    http::chat_order::{MAX_FOLDERS, checked_name},
    pipelines::tags::few_tags,
};

/// Maximum length of a title or of the name of a model or schedule, characters.
const NAME_CHARS: usize = 200;
/// Maximum version number of a file that is kept.
const MAX_VERSIONS: u64 = 1_000_000_000;

/// Imports the chat whose lines end at `to`. Returns whether it did; it does not if its ids are taken.
///
/// # Errors
/// If the database fails.
pub(super) async fn bring(
    app: &App,
    ids: Ids,
    survey: &Survey,
    lines: &mut Lines,
    to: u64,
    report: &mut Report,
) -> Result<bool, ApiError> {
    let work = Bringing {
        app,
        ids,
        survey,
        now: app.clock.now_ms(),
    };
    let messages = work.messages().await?;
    let mut import = match app.store.import_chat(work.chat().await?, &messages).await {
        Err(StoreError::Conflict(_)) => return Ok(false),
        begun => begun?,
    };
    match work.rest(&mut import, lines, to).await {
        Ok(()) => {
            import.commit().await?;
            report.made().chats += 1;
            report.made().messages += messages.len() as u64;
            report.made().runs += survey.runs.len() as u64;
            report.made().files += survey.files.len() as u64;
            Ok(true)
        }
        Err(Stop::Taken) => Ok(false),
        Err(Stop::Failed(error)) => Err(error),
    }
}

/// Why a chat is not imported.
enum Stop {
    /// An id is taken.
    Taken,
    Failed(ApiError),
}

impl From<StoreError> for Stop {
    fn from(error: StoreError) -> Self {
        match error {
            StoreError::Conflict(_) => Self::Taken,
            error => Self::Failed(error.into()),
        }
    }
}

impl From<ApiError> for Stop {
    fn from(error: ApiError) -> Self {
        Self::Failed(error)
    }
}

struct Bringing<'a> {
    app: &'a App,
    ids: Ids,
    survey: &'a Survey,
    now: i64,
}

impl Bringing<'_> {
    /// Clamps a time to the past.
    fn past(&self, at: i64) -> i64 {
        at.clamp(0, self.now.max(0))
    }

    async fn chat(&self) -> Result<Chat, ApiError> {
        let export::Chat {
            id,
            title,
            current,
            created_at,
            updated_at,
            unread,
            ..
        } = &self.survey.chat;
        Ok(Chat {
            id: self.ids.chat(*id),
            principal: Principal::of_account(self.ids.0),
            title: short(&title.split_whitespace().collect::<Vec<_>>().join(" ")),
            current: current.map(|current| self.ids.message(current)),
            // A file must not decide which directories exist here and who may work in them.
            directory: None,
            parameters: self.survey.chat.parameters.clone(),
            created_at: self.past(*created_at),
            updated_at: self.past(*updated_at),
            unread: *unread,
            expires_at: None,
            order: self.order().await?,
        })
    }

    /// The chat's organization. Its folder is found by name, and created if it does not exist.
    async fn order(&self) -> Result<ChatOrganization, ApiError> {
        let export::Chat {
            pinned,
            archived,
            folder,
            tags,
            ..
        } = &self.survey.chat;
        let folder = match folder.as_deref().map(checked_name) {
            Some(Ok(name)) => {
                self.app
                    .store
                    .folder_named(self.ids.0, &name, MAX_FOLDERS)
                    .await?
            }
            _ => None,
        };
        Ok(ChatOrganization {
            pinned: *pinned,
            archived: *archived,
            folder,
            tags: few_tags(tags),
        })
    }

    async fn messages(&self) -> Result<Vec<ChatMessage>, ApiError> {
        let mut messages = Vec::with_capacity(self.survey.messages.len());
        for message in &self.survey.messages {
            let run = match message.run {
                Some(run) => self.run_here(run).await?,
                None => None,
            };
            messages.push(ChatMessage {
                id: self.ids.message(message.id),
                chat: self.ids.chat(self.survey.chat.id),
                parent: message.parent.map(|parent| self.ids.message(parent)),
                role: message.role,
                content: self.content(&message.content).await?,
                created_at: self.past(message.created_at),
                model: message.model.as_deref().map(short),
                run,
                summary: message.summary.clone(),
                schedule: message.schedule.as_deref().map(short),
                author: message.author.clone().map(|author| Author {
                    name: short(&author.name),
                    ..author
                }),
            });
        }
        Ok(messages)
    }

    /// The content of a message. References to collections that the user can read are kept; the others get the ids that
    /// the file's collections have here.
    async fn content(&self, content: &[Part]) -> Result<Vec<Part>, ApiError> {
        let mut content = content.to_vec();
        for part in &mut content {
            let (Part::Collection { collection, .. } | Part::Document { collection, .. }) = part
            else {
                continue;
            };
            match self
                .app
                .store
                .readable_collection(self.ids.0, *collection)
                .await
            {
                Ok(_) => continue,
                Err(StoreError::NotFound) => *collection = self.ids.collection(*collection),
                Err(error) => return Err(error.into()),
            }
            if let Part::Document { document, .. } = part {
                *document = self.ids.document(*document);
            }
        }
        Ok(content)
    }

    /// The run of a message: of this chat, or of another that was imported before. A model sees its log, so it must
    /// belong to the same user.
    async fn run_here(&self, run: RunId) -> Result<Option<RunId>, ApiError> {
        if self.survey.names(run) {
            return Ok(self
                .survey
                .runs
                .contains_key(&run)
                .then(|| self.ids.run(run)));
        }
        for id in [self.ids.run(run), run] {
            match self.app.store.run(id).await {
                Ok(found) if found.principal.account == self.ids.0 => return Ok(Some(id)),
                Ok(_) | Err(StoreError::NotFound) => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(None)
    }

    /// Adds alternatives, runs, their logs and the files.
    async fn rest(&self, import: &mut ChatImport, lines: &mut Lines, to: u64) -> Result<(), Stop> {
        for message in &self.survey.messages {
            let Some(first) = message.beside else {
                continue;
            };
            let made_of = message
                .made_of
                .iter()
                .map(|part| self.ids.message(*part))
                .collect();
            let beside = Alternatives {
                first: self.ids.message(first),
                made_of,
            };
            import
                .add_alternatives(self.ids.message(message.id), &beside)
                .await?;
        }
        let mut seen = 0;
        while lines.place() < to {
            let Some(found) = lines.next().await? else {
                break;
            };
            let Some(Ok(line)) = found.line.as_deref().map(Line::read) else {
                continue;
            };
            match line {
                Line::Run(run) if self.survey.runs.contains_key(&run.id) => {
                    self.run(import, run).await?
                }
                Line::Log(log) => {
                    if let Some(run) = self.survey.runs.get(&log.run) {
                        for segment in self.segments(run, log.events)? {
                            import.add_log(&segment).await?;
                        }
                    }
                }
                Line::File(file) => {
                    seen += 1;
                    if !self.survey.files.contains(&seen) {
                        continue;
                    }
                    let Ok((path, content)) = read_file(&file) else {
                        continue;
                    };
                    let version = file.version.clamp(1, MAX_VERSIONS);
                    import
                        .add_file(path.as_str(), version, self.past(file.changed_at), &content)
                        .await?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    async fn run(&self, import: &mut ChatImport, run: export::Run) -> Result<(), Stop> {
        let Some((finished_at, summary)) = run.finished_at.zip(run.summary) else {
            return Ok(());
        };
        let run = EndedRun {
            id: self.ids.run(run.id),
            message: run.message.map(|message| self.ids.message(message)),
            model: short(&run.model),
            started_at: self.past(run.started_at),
            finished_at: self.past(finished_at),
            summary,
        };
        Ok(import.add_run(&run).await?)
    }

    /// The events with the ids that they have here. A gap in their numbers starts a new segment.
    fn segments(&self, run: &export::Run, events: Vec<RunEvent>) -> Result<Vec<Segment>, Stop> {
        let json = |event: RunEvent| {
            let event = self.event(run, event);
            Ok((
                event.seq,
                serde_json::to_string(&event).map_err(ApiError::internal)?,
            ))
        };
        let events: Vec<(u64, String)> = events
            .into_iter()
            .map(json)
            .collect::<Result<_, ApiError>>()?;
        Ok(Segment::cut(self.ids.run(run.id), events, usize::MAX))
    }

    fn event(&self, run: &export::Run, mut event: RunEvent) -> RunEvent {
        event.run = self.ids.run(run.id);
        event.at = self.past(event.at);
        match &mut event.body {
            EventBody::RunStarted { chat, message, .. } => {
                *chat = Some(self.ids.chat(self.survey.chat.id));
                *message = run
                    .message
                    .map(|message: MessageId| self.ids.message(message));
            }
            EventBody::RunForked(Forked { from, .. }) => *from = self.ids.run(*from),
            _ => {}
        }
        event
    }
}

/// Truncates a name to the maximum length.
pub(super) fn short(name: &str) -> String {
    name.chars().take(NAME_CHARS).collect()
}
