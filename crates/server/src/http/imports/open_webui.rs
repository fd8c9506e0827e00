//! Imports chats exported by Open WebUI. An assistant's reasoning and tool calls are stored as the log of a run.

use domain::{ChatId, MessageId, ModelParameters, Part, RunId};
use store::{Chat, ChatMessage, ChatOrganization, EndedRun, Principal, Segment, StoreError};
use tokio::task::spawn_blocking;
use tokio_util::sync::CancellationToken;
use wire::open_webui_chats::{self as there, Element, Elements, as_run};

use super::{chat::short, check_may_go_on, ids::Ids, report::Report, spool::Pieces};
use crate::{
    app::App, error::ApiError, identity::auth::Caller, messages, pipelines::tags::few_tags,
};

/// Maximum size of a chat, bytes: it contains its images as text.
const CHAT_BYTES: usize = 64_000_000;
/// Maximum number of chats that are read.
const MAX_CHATS: u64 = 1_000_000;
/// The name of the model if the file has none.
const SOME_MODEL: &str = "open-webui";

/// Imports the whole file.
///
/// # Errors
/// If the database fails; what was imported before is kept.
pub(super) async fn run(
    app: &App,
    caller: &Caller,
    mut pieces: Pieces,
    ends: CancellationToken,
) -> Result<Report, ApiError> {
    let (mut report, mut elements, mut seen) =
        (Report::new("open_webui"), Elements::new(CHAT_BYTES), 0);
    let ids = Ids(caller.id());
    while let Some(piece) = pieces.next().await? {
        let mut ended = Vec::new();
        elements.feed(&piece, &mut ended);
        for element in ended {
            check_may_go_on(app, &ends)?;
            seen += 1;
            if seen > MAX_CHATS {
                report.leave("chat", "", messages::Imports::TooManyChats);
                continue;
            }
            bring(app, ids, seen, element, &mut report).await?;
        }
    }
    if !elements.is_over() {
        report.leave("line", "", messages::Imports::FileNotWhole);
    }
    Ok(report)
}

/// Imports one chat. If it cannot be read, it is reported by its number.
async fn bring(
    app: &App,
    ids: Ids,
    number: u64,
    element: Element,
    report: &mut Report,
) -> Result<(), ApiError> {
    let Some(json) = element else {
        report.leave(
            "chat",
            &number.to_string(),
            messages::Imports::MoreThanMb {
                limit: CHAT_BYTES as u64 / 1_000_000,
            },
        );
        return Ok(());
    };
    let read = spawn_blocking(move || -> Result<_, String> {
        let chat = there::Chat::read(&json)?;
        // A chat without an id is identified by its whole content.
        let name = if chat.id.is_empty() {
            ids.hash(&String::from_utf8_lossy(&json))
        } else {
            ids.hash(&chat.id)
        };
        Ok((chat, name))
    });
    let (chat, name) = match read.await.map_err(ApiError::internal)? {
        Ok(read) => read,
        Err(why) => {
            report.leave("chat", &number.to_string(), why);
            return Ok(());
        }
    };
    let title = short(&chat.title.split_whitespace().collect::<Vec<_>>().join(" "));
    let brought = Brought::new(&chat, ids, name, title.clone(), app.clock.now_ms())?;
    match app
        .store
        .chat(&Principal::of_account(ids.0), brought.chat.id)
        .await
    {
        Ok(_) => {
            report.here().chats += 1;
            return Ok(());
        }
        Err(StoreError::NotFound) => {}
        Err(error) => return Err(error.into()),
    }
    match brought.keep(app).await {
        Ok(()) => {}
        Err(StoreError::Conflict(_)) => {
            report.leave("chat", &title, messages::Imports::IdTaken);
            return Ok(());
        }
        Err(error) => return Err(error.into()),
    }
    report.made().chats += 1;
    report.made().messages += brought.messages.len() as u64;
    report.made().runs += brought.runs.len() as u64;
    for _ in 0..chat.attachments_left.min(1_000) {
        report.leave("file", &title, messages::Imports::OnlyName);
    }
    for _ in 0..chat.messages_left.min(1_000) {
        report.leave("message", &title, messages::Imports::OtherRole);
    }
    Ok(())
}

/// A chat with the ids that it has here.
struct Brought {
    chat: Chat,
    messages: Vec<ChatMessage>,
    runs: Vec<(EndedRun, Segment)>,
}

impl Brought {
    fn new(
        chat: &there::Chat,
        ids: Ids,
        name: [u8; 8],
        title: String,
        now: i64,
    ) -> Result<Self, ApiError> {
        let past = |at: i64| at.clamp(0, now.max(0));
        let created_at = past(chat.created_at);
        let updated_at = past(chat.updated_at);
        let id = ChatId::of_elsewhere(created_at, 0, name);
        let hash = |kind: &str, place: usize| ids.hash(&format!("{id} {kind} {place}"));
        let message_id = |at: usize| {
            MessageId::of_elsewhere(past(chat.messages[at].at), place(at), hash("message", at))
        };
        let mut messages = Vec::with_capacity(chat.messages.len());
        let mut runs = Vec::new();
        for (at, message) in chat.messages.iter().enumerate() {
            let there::Message {
                role,
                text,
                pictures,
                model,
                answer,
                ..
            } = message;
            let own_id = message_id(at);
            let time = past(message.at);
            let mut row = ChatMessage {
                id: own_id,
                chat: id,
                parent: message.parent.map(message_id),
                role: *role,
                content: content(text, pictures),
                created_at: time,
                model: model.clone(),
                run: None,
                summary: None,
                schedule: None,
                author: None,
            };
            if let Some(answer) = answer {
                let run = RunId::of_elsewhere(time, place(at), hash("run", at));
                let model = model.as_deref().unwrap_or(SOME_MODEL);
                let (log, summary) = as_run(run, id, own_id, model, time, answer);
                let mut lines = String::new();
                for event in &log {
                    lines.push_str(&serde_json::to_string(event).map_err(ApiError::internal)?);
                    lines.push('\n');
                }
                row.content = content(&summary.answer, pictures);
                (row.run, row.summary) = (Some(run), Some(summary.clone()));
                let message = Some(own_id);
                let model = model.to_owned();
                let started_at = time;
                let finished_at = time;
                let ended = EndedRun {
                    id: run,
                    message,
                    model,
                    started_at,
                    finished_at,
                    summary,
                };
                runs.push((
                    ended,
                    Segment {
                        run,
                        first_seq: 1,
                        last_seq: log.len() as u64,
                        lines: lines.into(),
                    },
                ));
            }
            messages.push(row);
        }
        let current = chat.current.map(message_id);
        let chat = Chat {
            id,
            principal: Principal::of_account(ids.0),
            title,
            current,
            directory: None,
            parameters: ModelParameters::default(),
            created_at,
            updated_at,
            unread: false,
            expires_at: None,
            order: ChatOrganization {
                pinned: chat.pinned,
                archived: chat.archived,
                folder: None,
                tags: few_tags(&chat.tags),
            },
        };
        Ok(Self {
            chat,
            messages,
            runs,
        })
    }

    async fn keep(&self, app: &App) -> Result<(), StoreError> {
        let mut import = app
            .store
            .import_chat(self.chat.clone(), &self.messages)
            .await?;
        for (run, log) in &self.runs {
            import.add_run(run).await?;
            import.add_log(log).await?;
        }
        import.commit().await
    }
}

/// Orders records with the same time; there are fewer messages than that.
fn place(at: usize) -> u16 {
    u16::try_from(at).unwrap_or(u16::MAX)
}

fn content(text: &str, pictures: &[String]) -> Vec<Part> {
    let mut content = Vec::with_capacity(1 + pictures.len());
    if !text.is_empty() || pictures.is_empty() {
        content.push(Part::Text {
            text: text.to_owned(),
        });
    }
    content.extend(pictures.iter().map(|url| Part::Image { url: url.clone() }));
    content
}
